// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Whole numbers in text: decimal digits only, without sign or blanks. */

#include "base/str.h"

#include <stdint.h>

/** The digits of the longest number, UINT64_MAX. */
#define NUM_DIGITS 20

/**
 * Read @text as a number from 0 to @max into *@out. "007" is 7.
 *
 * Returns 0; -EINVAL if it is empty or contains anything but digits; -ERANGE if it is above @max.
 * On failure *@out is untouched.
 */
int num_read(struct str text, uint64_t max, uint64_t *out);

/** The same for 32 bits, from 0 to UINT32_MAX - 1. UINT32_MAX is left for "unknown". */
int num_read_u32(struct str text, uint32_t *out);
