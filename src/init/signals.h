// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Signal names, as in kill(1). */

#include "base/str.h"

/**
 * Read "TERM", "SIGTERM", "15", "RTMIN", "RTMIN+3" or "RTMAX-1", in upper or lower case. RTMIN is
 * 34, as programs see it. C libraries reserve 32 and 33 for themselves; these have no name.
 *
 * Returns the number, 1 to SIGNAL_MAX; or -EINVAL. Sets @suggestion, if not NULL, to the nearest
 * name or NULL.
 */
int signal_read(struct str text, const char **suggestion);

/** A signal's name without "SIG", or its number. */
struct signal_name {
	char s[12];
};

struct signal_name signal_name(int signal);
