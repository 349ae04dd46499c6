// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Take fewer rights while a file is opened, because the author of a path in a variable may not be root.
 * This changes the ids and capabilities that the kernel checks on file access. The real ids stay, so that
 * we can go back, and so that no other user can send us signals meanwhile.
 */

#include "priv/credentials.h"

/**
 * Take the effective ids and the groups of @to, and its effective capabilities as far as we have them.
 * @now: our present credentials.
 * Returns 0; or a negative errno: then a part may be done, and the caller has to call rights_restore().
 */
int rights_lower(const struct credentials *now, const struct credentials *to, struct err *err);

/** Undo rights_lower(). Returns 0; or a negative errno, and the process must exit. */
int rights_restore(const struct credentials *now, const struct credentials *to, struct err *err);
