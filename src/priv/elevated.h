// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Rights that come from our own file (setuid, setgid, capabilities), not from our caller. distinit
 * runs any command and reads any file, so with them it would hand these rights to anybody.
 */

#include "priv/credentials.h"

/**
 * Check for such rights. Usually this needs no system call: the auxiliary vector has the answer.
 * Capabilities of our own file stop being effective, so that no file is opened with them. They stay
 * permitted, for --cap-keep.
 *
 * Returns 0; -EPERM where real and effective ids differ; a negative errno of the kernel's.
 */
int elevated_check(struct arena *arena, struct err *err);

/** Whether @c has capabilities of our own file: execve() else leaves a user only ambient ones. */
bool elevated_by_file(const struct credentials *c);
