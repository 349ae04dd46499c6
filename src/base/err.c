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

/** Add @c to the @n bytes of @out. */
static size_t put_plain(struct quoted *out, size_t n, unsigned char c) {
	static const char hex[] = "0123456789abcdef";
	if (c < 0x20 || c >= 0x7f) {
		out->s[n++] = '\\';
		out->s[n++] = 'x';
		out->s[n++] = hex[c >> 4];
		out->s[n++] = hex[c & 15];
	} else {
		out->s[n++] = (char)c;
	}
	return n;
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
		if (n + (masked ? mask.len : 4) + 6 > sizeof(out.s)) {
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
			n = put_plain(&out, n, (unsigned char)text.p[i++]);
		}
	}
	out.s[n++] = '\'';
	out.s[n] = '\0';
	return out;
}

struct quoted quote_value(const char *name, struct str value) {
	return value.len && secret_name(str_of(name)) ? quote(STR(SECRET_MASK)) : quote(value);
}
