// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Lengths of time as people write them: "90" and "90s", "500ms", "5m", "1h30m", "2d". */

#include "base/str.h"

#include <stdint.h>

/** The longest that is taken, in milliseconds: ten years. A sum with a clock's time never overflows. */
#define DURATION_MAX_MS ((uint64_t)3650 * 24 * 60 * 60 * 1000)

/** What a duration looks like, for messages. */
#define DURATION_FORM "a duration such as 90, 90s, 500ms, 5m or 1h30m"

/**
 * Read @text into *@out, in milliseconds: whole numbers, each with its unit (d, h, m, s, ms), the larger unit first, none
 * twice. A number alone is in seconds.
 *
 * Returns 0; -EINVAL if it is anything else; -ERANGE if it is above DURATION_MAX_MS. On failure *@out is untouched.
 */
int duration_read(struct str text, uint64_t *out);
