// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Write JSON (RFC 8259) into a buf. In all functions, @key is the member's key; NULL in an array.
 *
 *     struct json json = {.out = &buf};
 *     json_open(&json, NULL, '{');
 *     json_text(&json, "source", name);
 *     json_close(&json, '}');
 */

#include "base/buf.h"

struct json {
	struct buf *out;
	/** The open object or array has a value already, so a comma precedes the next one. */
	bool more;
	/** For json_line(): the indentation + 1; 0: no line break is pending. */
	unsigned line;
	/** The number of open brackets. */
	unsigned depth;
	/** In that many outermost brackets, each member begins a line. */
	unsigned spread;
};

/** Whether @text is valid UTF-8. JSON allows nothing else. */
bool utf8_valid(struct str text);

/** Begin a line, indented for @depth brackets, with the next value or closing bracket. */
void json_line(struct json *json, unsigned depth);

/** Begin an object ('{') or an array ('['); end it with '}' or ']'. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/** Append the string @text. Each byte of invalid UTF-8 becomes U+FFFD. */
void json_string(struct json *json, const char *key, struct str text);

/** The same; null if @text is NULL. */
void json_text(struct json *json, const char *key, const char *text);

/** Append @number; null for UINT32_MAX, which means unknown. */
void json_number(struct json *json, const char *key, uint64_t number);

/** Append a boolean; null if @fact is negative. */
void json_fact(struct json *json, const char *key, int fact);

/** Begin any other value. The caller appends it, as JSON, to the returned buf. */
struct buf *json_value(struct json *json, const char *key);
