// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What went wrong, in one sentence: set where the cause is known, handed up, printed once by cmd/.
 * Lower case, no full stop; it names the variable, file or option, what was found, what was expected and the
 * way out.
 */

#include "base/str.h"

struct err {
	char text[700];
};

/** Set the sentence. Returns -@code, a negative errno, for `return err_set(...)`. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** A text made fit for a message. */
struct quoted {
	char s[120];
};

/**
 * Return @text in single quotes, short enough for one line, with what a terminal might obey as \xNN.
 * Use it inside the call: err_set(err, EINVAL, "%s=%s ...", name, quote(value).s).
 */
struct quoted quote(struct str text);
