// SPDX-License-Identifier: Apache-2.0
#pragma once

/** For the files of this folder: take the program's rights for one file. */

#include "access/access.h"

/**
 * Take the rights of the program, if it has others than we. Returns 0; -EPERM if they are not known or
 * cannot be taken: then nothing has changed, and nothing may be opened.
 */
int access_lower(const struct access *access, struct err *err);

/** Take back ours. Returns @r; or the negative errno if that fails, and then the process must end. */
int access_restore(const struct access *access, int r, struct err *err);
