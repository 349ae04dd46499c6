// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Rights that come from our own file (setuid, setgid, capabilities), not from our caller. distinit
 * runs any command and reads any file. With such rights, it would give them to any user.
 */

#include "priv/credentials.h"

/**
 * Check for such rights. Usually this needs no system call: the auxiliary vector has the answer.
 * Capabilities of our own file become ineffective, so that no file is opened with them. They stay
 * permitted, for --cap-keep.
 *
 * Returns 0; -EPERM if real and effective ids differ; another negative errno from the kernel.
 */
int elevated_check(struct arena *arena, struct err *err);

/**
 * The same for root under SECBIT_NOROOT, whose capabilities come from our file, too. The auxiliary vector
 * does not show that. So this takes root a system call, and is called before the first file is opened,
 * which most starts never do. More calls change nothing.
 *
 * Returns 0; another negative errno from the kernel.
 */
int elevated_lower_root(struct arena *arena, struct err *err);

/** Whether @c has capabilities of our own file. Only ambient ones would pass execve() without root. */
bool elevated_by_file(const struct credentials *c);
