// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Copying this very program to where another container finds it, with nothing but itself: no shell, no cp, no user's name. */

#include "base/err.h"
#include "base/notes.h"

/** What it is called there. */
#define INSTALL_NAME "distinit"

/**
 * Make @folder/distinit a copy of this program, mode 0555, whoever we are and whatever the umask.
 *
 * At any time there is what was there before, or the whole new one: a reader never sees half of it, and one that runs goes on
 * running. Where it is the same already, nothing is written, so that a folder that is read-only by then is fine; but in a sticky folder
 * it has to be ours or root's. What an earlier run left behind that was killed is replaced. @notes gets a warning where nothing can be run from that folder.
 *
 * Returns 1 if it was written; 0 if it was there; the negative errno of what failed, with the way out in @err.
 */
int install_self(const char *folder, struct notes *notes, struct err *err);
