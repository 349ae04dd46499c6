// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * To open files, for a while, with no more rights than the workload will have: what a variable names is the choice of whoever set
 * it, which may be less than root. By the ids and capabilities that the kernel checks access to files with; the others stay, so
 * that the way back is open, and nobody else may send us signals meanwhile.
 */

#include "priv/credentials.h"

/**
 * From @now, which we are, go down to @to: its effective ids, its groups, and of its effective capabilities those that we have.
 * Returns 0; a negative errno, and then rights_restore() leads back all the same.
 */
int rights_lower(const struct credentials *now, const struct credentials *to, struct err *err);

/** Go back. Returns 0; a negative errno, and then this process is fit for nothing but to end. */
int rights_restore(const struct credentials *now, const struct credentials *to, struct err *err);
