// SPDX-License-Identifier: Apache-2.0

#include "base/json_write.h"

/** The length of the UTF-8 sequence at the start of @text, or 0 if it is invalid (RFC 3629). */
static size_t utf8_length(struct str text) {
	const unsigned char *p = (const unsigned char *)text.p;
	size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 4;
	if (n > text.len || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4) {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	// Overlong forms, surrogates, and code points above U+10FFFF.
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f)) {
		return 0;
	}
	return n;
}

bool utf8_valid(struct str text) {
	while (text.len) {
		size_t n = utf8_length(text);
		if (n == 0) {
			return false;
		}
		text = str_from(text, n);
	}
	return true;
}

static void put_escaped(struct buf *buf, unsigned char c) {
	static const char hex[] = "0123456789abcdef";
	char shorthand = c == '\n'		 ? 'n'
			 : c == '\r'		 ? 'r'
			 : c == '\t'		 ? 't'
			 : c < 0x20 || c >= 0x7f ? 0
						 : (char)c;
	if (shorthand) {
		buf_putc(buf, '\\');
		buf_putc(buf, shorthand);
	} else {
		buf_puts(buf, "\\u00");
		buf_putc(buf, hex[c >> 4]);
		buf_putc(buf, hex[c & 15]);
	}
}

void json_put_string(struct buf *buf, struct str text) {
	buf_putc(buf, '"');
	while (text.len) {
		unsigned char c = (unsigned char)text.p[0];
		size_t n = utf8_length(text);
		if (n == 0) {
			buf_puts(buf, "\xef\xbf\xbd");
			n = 1;
		} else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
			put_escaped(buf, c);
		} else if (c == 0xc2 && (unsigned char)text.p[1] < 0xa0) {
			// A C1 control character, which some terminals obey.
			put_escaped(buf, (unsigned char)text.p[1]);
		} else {
			buf_put(buf, (struct str){text.p, n});
		}
		text = str_from(text, n);
	}
	buf_putc(buf, '"');
}

void json_put_text(struct buf *buf, const char *text) {
	if (text) {
		json_put_string(buf, str_of(text));
	} else {
		buf_puts(buf, "null");
	}
}

void json_put_key(struct buf *buf, const char *key) {
	char last = buf->len ? buf->p[buf->len - 1] : '{';
	bool more = last != '{' && last != ' ' && last != '\n';
	buf_putf(buf, "%s\"%s\": ", more ? ", " : "", key);
}

void json_put_member(struct buf *buf, const char *key, const char *text) {
	json_put_key(buf, key);
	json_put_text(buf, text);
}

void json_put_number(struct buf *buf, const char *key, uint64_t number) {
	json_put_key(buf, key);
	if (number == UINT32_MAX) {
		buf_puts(buf, "null");
	} else {
		buf_putu(buf, number);
	}
}

void json_put_fact(struct buf *buf, const char *key, int fact) {
	json_put_key(buf, key);
	buf_puts(buf, fact < 0 ? "null" : fact ? "true" : "false");
}
