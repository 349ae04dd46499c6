// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * An error as one sentence. It is set where the cause is known, passed up, and printed once by
 * cmd/.
 * It is in lower case, without a full stop. It names the variable, file or option, the value found,
 * what was expected, and the way out.
 */

#include "base/str.h"

struct err {
	char text[700];
	/** The errno of the failure. */
	int code;
};

/** Set the sentence. Returns -@code, a negative errno, for `return err_set(...)`. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Text that is safe to show in a message. */
struct quoted {
	char s[120];
};

/**
 * Return @text in single quotes, cut to a length that fits a message. Bytes other than printable ASCII
 * become \xNN, since a terminal may obey control characters. Text that looks secret is always masked
 * (base/secret.h).
 * Use it inside the call: err_set(err, EINVAL, "%s=%s ...", name, quote(value).s).
 */
struct quoted quote(struct str text);
struct quoted quote_text(const char *text);

/**
 * The same for @value of the variable @name. If the name says that it is secret, all of the value is
 * masked.
 */
struct quoted quote_value(const char *name, struct str value);
