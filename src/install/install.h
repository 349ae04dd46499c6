// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Copy this program to where another container finds it, without any other program or user names. */

#include "base/err.h"
#include "base/notes.h"

/** The longest name of a copy. */
#define INSTALL_NAME_MAX 32

/**
 * Make @folder/@name a copy of this program, with mode 0555, whatever our user and umask. The name
 * has at most INSTALL_NAME_MAX bytes.
 *
 * At any time, readers find either the previous file or the complete new one. A running previous
 * program keeps running. If the same file is there already, nothing is written, so a read-only
 * folder is fine then. If the file belongs to another user than us and root, it is always replaced.
 * A file left behind by a killed run is replaced. @notes gets a warning if programs cannot be run from
 * that folder.
 *
 * Returns 1 if it was written; 0 if it was there already; the negative errno of the failure, with
 * the way out in @err.
 */
int install_self(struct arena *arena, const char *folder, const char *name, struct notes *notes,
		 struct err *err);
