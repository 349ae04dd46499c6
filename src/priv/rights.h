// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Open files with fewer rights for a while. What a variable names is the choice of whoever set it, who
 * may not be root. This changes the ids and capabilities by which the kernel checks file access. The
 * real ids stay, so that we can return, and no other user can send us signals meanwhile.
 */

#include "priv/credentials.h"

/**
 * We are @now. Take the effective ids and the groups of @to, and those of its effective capabilities
 * that we have.
 * Returns 0; a negative errno, and then rights_restore() leads back all the same.
 */
int rights_lower(const struct credentials *now, const struct credentials *to, struct err *err);

/** Go back. Returns 0; a negative errno, and then this process is fit for nothing but to end. */
int rights_restore(const struct credentials *now, const struct credentials *to, struct err *err);
