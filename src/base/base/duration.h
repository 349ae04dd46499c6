// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Durations as users write them ("90", "1.5s", ".1", "500ms", "5m", "1h30m", "2d") and as messages show
 * them.
 */

#include "base/num.h"

#include <stdint.h>

/** The longest duration, in milliseconds: ten years. Adding it to a clock's time never overflows. */
#define DURATION_MAX_MS ((uint64_t)3650 * 24 * 60 * 60 * 1000)

/** The form of a duration, for messages. */
#define DURATION_FORM "a duration such as 90, 1.5s, 500ms, 5m or 1h30m"

/**
 * Read @text into *@out, in milliseconds: numbers, each with its unit (d, h, m, s, ms). Larger units
 * come first, and each unit appears at most once. A single number without a unit is in seconds.
 * The last number may have a fraction: a point and at least one digit. It is rounded up to a whole
 * millisecond, so *@out is 0 only if all digits are 0.
 *
 * Returns 0; -EINVAL for anything else; -ERANGE above DURATION_MAX_MS. On failure *@out is
 * untouched.
 */
int duration_read(struct str text, uint64_t *out);

struct duration_text {
	char s[NUM_DIGITS + 6];
};

/** @ms in seconds: "90s", "1.5s", "0.25s". From 1 s on, only tenths are shown, rounded down. */
struct duration_text duration_text(uint64_t ms);
