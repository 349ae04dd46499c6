// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A child process that may block in the kernel, so that nobody may wait for it. */

#include <sys/types.h>

/**
 * As fork(), but the child sends no signal when it ends. waitpid() and waitid() then find it only with
 * __WALL, so --init does not take it for a leftover process, and does not wait for it.
 *
 * The child dies with its parent. Of its descriptors it keeps only @keep: if it blocks, it must not keep connections or pipes
 * open. Returns as fork().
 */
pid_t fork_aside(int keep);
