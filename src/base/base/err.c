// SPDX-License-Identifier: Apache-2.0

#include "base/err.h"

#include "base/secret.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	err->code = code;
	return -code;
}

struct quoted quote(struct str text) {
	const struct str mask = STR(SECRET_MASK);
	struct quoted out;
	struct secret_span secret;
	bool has_secret = secret_find(text, 0, &secret);
	size_t n = 0;
	out.s[n++] = '\'';
	for (size_t i = 0; i < text.len;) {
		bool masked = has_secret && i == secret.at;
		// Leave room for one \xNN or the mask, "...", the quote and the NUL.
		if (n + (masked ? mask.len : PLAIN_MAX) + 6 > sizeof(out.s)) {
			memcpy(out.s + n, "...", 3);
			n += 3;
			break;
		}
		if (masked) {
			memcpy(out.s + n, mask.p, mask.len);
			n += mask.len;
			i = secret.end;
			has_secret = secret_find(text, i, &secret);
		} else {
			n += plain_put(out.s + n, text.p[i++]);
		}
	}
	out.s[n++] = '\'';
	out.s[n] = '\0';
	return out;
}

struct quoted quote_text(const char *text) {
	return quote(str_of(text));
}

struct quoted quote_value(const char *name, struct str value) {
	return value.len && secret_name(str_of(name)) ? quote(STR(SECRET_MASK)) : quote(value);
}
