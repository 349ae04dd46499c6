// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Signal names, as in kill(1). */

#include "base/str.h"

/** The largest signal number. */
#define SIGNAL_MAX 64

/**
 * Read "TERM", "SIGTERM", "15", "RTMIN", "RTMIN+3" or "RTMAX-1", in upper or lower case. RTMIN is 34, as
 * programs see it. 32 and 33, which C libraries reserve, have no names.
 *
 * Returns the number, 1 to SIGNAL_MAX; or -EINVAL. @suggestion, unless it is NULL, is set to the nearest
 * name, or to NULL.
 */
int signal_read(struct str text, const char **suggestion);

/** A signal's name without "SIG", or its number. */
struct signal_name {
	char s[20];
};

struct signal_name signal_name(int signal);
