// SPDX-License-Identifier: Apache-2.0
#pragma once

/** For the files of this room: take the workload's rights while one file is opened. */

#include "access/access.h"

/**
 * Take the workload's rights if they differ from ours.
 * Returns 0; -EPERM if they are not known or cannot be taken: then ours are unchanged, and the caller must
 * not open the file.
 */
int access_lower(const struct access *access, struct err *err);

/**
 * If @r is -EACCES, from a call with the workload's rights, append these to @err. @how: what the caller does with
 * its file, "it is written". Returns @r.
 */
int access_explain(const struct access *access, int r, const char *how, struct err *err);

/** Take back our rights. Returns @r; or, if that fails, a negative errno, and the process must end. */
int access_restore(const struct access *access, int r, struct err *err);
