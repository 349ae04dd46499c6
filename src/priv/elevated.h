// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Rights that this process has by its own file, or by a parent that was setuid, and that whoever started it has not: what would
 * hand them to anybody, since distinit runs any command and reads any file.
 */

#include "priv/credentials.h"

/**
 * Look at what execve() has made of this process. Ordinarily nothing is asked of the kernel: it is in the auxiliary vector.
 * Where our own file has capabilities, they stop being effective, so that no file is opened by them; they stay permitted.
 *
 * Returns 0; -EPERM where real and effective ids differ; a negative errno of the kernel's.
 */
int elevated_check(struct arena *arena, struct err *err);

/** Whether capabilities of @c are those of our own file: execve() leaves a user none but the ambient ones. */
bool elevated_by_file(const struct credentials *c);
