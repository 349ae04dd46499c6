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

static void put_string(struct buf *buf, struct str text) {
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

void json_line(struct json *json, unsigned depth) {
	json->line = 2 * depth + 1;
}

/** Begin a line if one is pending. Returns whether one was. */
static bool put_line(struct json *json) {
	bool wanted = json->line;
	if (wanted) {
		buf_putf(json->out, "\n%*s", (int)json->line - 1, "");
		json->line = 0;
	}
	return wanted;
}

struct buf *json_value(struct json *json, const char *key) {
	if (json->depth && json->depth <= json->spread) {
		json_line(json, json->depth);
	}
	buf_puts(json->out, json->more ? "," : "");
	buf_puts(json->out, !put_line(json) && json->more ? " " : "");
	if (key) {
		put_string(json->out, str_of(key));
		buf_puts(json->out, ": ");
	}
	json->more = true;
	return json->out;
}

void json_open(struct json *json, const char *key, char bracket) {
	buf_putc(json_value(json, key), bracket);
	json->more = false;
	json->depth++;
}

void json_close(struct json *json, char bracket) {
	if (json->depth-- <= json->spread) {
		json_line(json, json->depth);
	}
	put_line(json);
	buf_putc(json->out, bracket);
	json->more = true;
}

void json_string(struct json *json, const char *key, struct str text) {
	put_string(json_value(json, key), text);
}

void json_text(struct json *json, const char *key, const char *text) {
	struct buf *out = json_value(json, key);
	if (text) {
		put_string(out, str_of(text));
	} else {
		buf_puts(out, "null");
	}
}

void json_number(struct json *json, const char *key, uint64_t number) {
	struct buf *out = json_value(json, key);
	if (number == UINT32_MAX) {
		buf_puts(out, "null");
	} else {
		buf_putu(out, number);
	}
}

void json_fact(struct json *json, const char *key, int fact) {
	buf_puts(json_value(json, key), fact < 0 ? "null" : fact ? "true" : "false");
}
