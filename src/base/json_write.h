// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * JSON (RFC 8259), written into a buf. In all functions @key is that of the member; in an array it is
 * NULL.
 *
 *     struct json json = {.out = &buf};
 *     json_open(&json, NULL, '{');
 *     json_text(&json, "source", name);
 *     json_close(&json, '}');
 */

#include "base/buf.h"

struct json {
	struct buf *out;
	/** The object or array that is open has something in it: a comma comes before the next. */
	bool more;
	/** See json_line(): the blanks, and one. 0: it stays on this line. */
	unsigned line;
	/** How many brackets are open, and in how many of the outer ones each member begins a line. */
	unsigned depth, spread;
};

/** Whether @text is valid UTF-8. JSON cannot hold anything else. */
bool utf8_valid(struct str text);

/** What comes next, or the bracket that closes, begins a line, indented as in @depth brackets. */
void json_line(struct json *json, unsigned depth);

/** Begin an object, for '{', or an array, for '['; and end it, for '}' and ']'. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/** @text. Each byte of invalid UTF-8 becomes U+FFFD. */
void json_string(struct json *json, const char *key, struct str text);

/** The same, or null for NULL. */
void json_text(struct json *json, const char *key, const char *text);

/** A number, or null for UINT32_MAX, which stands for unknown. */
void json_number(struct json *json, const char *key, uint64_t number);

/** A fact: 0 is false, and less than that null. */
void json_fact(struct json *json, const char *key, int fact);

/** Anything else: the caller appends the value, which is JSON, to what this returns. */
struct buf *json_value(struct json *json, const char *key);
