// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Open files with fewer rights for a while. A path in a variable is chosen by its author, who may
 * not be root. This changes the ids and capabilities that the kernel checks on file access. The
 * real ids stay: so we can return, and no other user can send us signals meanwhile.
 */

#include "priv/credentials.h"

/**
 * We have the credentials @now. Take the effective ids and the groups of @to, and those of its
 * effective capabilities that we have.
 * Returns 0; or a negative errno, and rights_restore() can still undo it.
 */
int rights_lower(const struct credentials *now, const struct credentials *to, struct err *err);

/** Undo rights_lower(). Returns 0; or a negative errno, and this process must then exit. */
int rights_restore(const struct credentials *now, const struct credentials *to, struct err *err);
