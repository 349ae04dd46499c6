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
 * Whether @c has capabilities of our own file. Otherwise execve() leaves only ambient ones to a
 * user other than root.
 */
bool elevated_by_file(const struct credentials *c);
