// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Rights that come from our own file (setuid, setgid, capabilities), not from our caller. distinit runs
 * any command and opens any file, so it would give such rights to each user who can execute it.
 */

#include "priv/credentials.h"

/**
 * Refuse setuid and setgid, and make capabilities of our own file ineffective, so that no file is opened
 * with them. They stay permitted, for --cap-keep. If there are no such rights, this makes no system call,
 * because the auxiliary vector has the answer.
 *
 * Returns 0; -EPERM if real and effective ids differ; another negative errno from the kernel.
 */
int elevated_check(struct arena *arena, struct err *err);

/**
 * If we are root under SECBIT_NOROOT, make capabilities of our own file ineffective: there, root's come
 * from the file, too. The auxiliary vector does not show this, so root needs a system call. Call this
 * before each file is opened, not at the start, because most runs open none. A second call does nothing.
 *
 * Returns 0 or a negative errno from the kernel.
 */
int elevated_lower_root(struct arena *arena, struct err *err);

/** Whether @c has capabilities of our own file: without root, execve() would have kept only ambient ones. */
bool elevated_by_file(const struct credentials *c);
