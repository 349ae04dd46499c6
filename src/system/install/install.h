// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Copies this program to a folder where another container finds it. Needs no other program, and no user names.
 */

#include "base/err.h"
#include "base/notes.h"

/** The longest name of a copy. */
#define INSTALL_NAME_MAX 32

/**
 * Make @folder/@name a copy of this program, with mode 0555, whatever our user and umask. The name
 * has at most INSTALL_NAME_MAX bytes.
 *
 * At any time, readers find either the previous file or the complete new one. A process that runs the
 * previous file keeps running. If the same file is there already, nothing is written, so the folder may be
 * read-only then. If the file belongs neither to us nor to root, it is always replaced. If the folder is
 * mounted noexec, @notes gets a warning.
 *
 * Returns 1 if the file was written; 0 if it was there already; or a negative errno.
 */
int install_self(struct arena *arena, const char *folder, const char *name, struct notes *notes,
		 struct err *err);
