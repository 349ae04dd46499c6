// SPDX-License-Identifier: Apache-2.0

#include "base/err.h"

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
	static const char hex[] = "0123456789abcdef";
	struct quoted out;
	size_t n = 0;
	out.s[n++] = '\'';
	// Leave room for one \xNN, "...", the quote and the NUL.
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (n > sizeof(out.s) - 10) {
			memcpy(out.s + n, "...", 3);
			n += 3;
			break;
		}
		if (c < 0x20 || c >= 0x7f) {
			out.s[n++] = '\\';
			out.s[n++] = 'x';
			out.s[n++] = hex[c >> 4];
			out.s[n++] = hex[c & 15];
		} else {
			out.s[n++] = (char)c;
		}
	}
	out.s[n++] = '\'';
	out.s[n] = '\0';
	return out;
}
