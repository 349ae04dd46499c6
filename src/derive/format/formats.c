// SPDX-License-Identifier: Apache-2.0

#include "format/format.h"

#include "base/json_write.h"

/** Bytes: docker's reader (bufio.Scanner) fails at this line length. */
#define DOCKER_LINE_BYTES 65536

/** Append a line, with @before and @after around the value. */
static void put_line(struct buf *out, struct str name, const char *before, struct str value,
		     struct str after) {
	buf_put(out, name);
	buf_puts(out, before);
	buf_put(out, value);
	buf_put(out, after);
}

/*
 * One line NAME='value' per variable. `set -a; . FILE` reads it in any POSIX shell, and so does
 * Kubernetes' fileKeyRef. Its files are a subset of the shell's language, with every value in
 * single quotes (KEP-3721). A single quote in a value is therefore refused, although a shell has
 * ways to write it.
 */
static const char *shell_refuses(struct str name, struct str value) {
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9')) {
			return "in a shell, a name consists of letters, digits and '_', and does not begin "
			       "with a digit";
		}
	}
	if (name.len == 0) {
		return "in a shell, a name is not empty";
	}
	return str_find(value, '\'') < value.len ? "a value in single quotes cannot hold a single quote"
						 : NULL;
}

static void shell_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	(void)n;
	put_line(out, name, "='", value, STR("'\n"));
}

/*
 * One line NAME=value per variable, with every byte of the value literal: the format of --env-file
 * in docker and podman.
 *
 * Reference: docker's manual, "Set environment variables"; docker does not remove quotes.
 */
static const char *docker_refuses(struct str name, struct str value) {
	for (size_t i = 0; i < name.len; i++) {
		if ((unsigned char)name.p[i] <= ' ') {
			return "docker refuses a name with a blank";
		}
	}
	if (name.len == 0 || name.p[0] == '#') {
		return "docker would read the line as a comment";
	}
	if (!utf8_valid(name) || !utf8_valid(value)) {
		return "docker accepts UTF-8 only";
	}
	if (name.len + 1 + value.len >= DOCKER_LINE_BYTES) {
		return "docker accepts only lines shorter than 64 KiB";
	}
	bool breaks = str_find(value, '\n') < value.len || str_find(value, '\r') < value.len;
	return breaks ? "a value in this format cannot contain a line break" : NULL;
}

static void docker_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	(void)n;
	put_line(out, name, "=", value, STR("\n"));
}

/* One JSON object, with a string for each variable. */
static const char *json_refuses(struct str name, struct str value) {
	return utf8_valid(name) && utf8_valid(value) ? NULL : "JSON can hold UTF-8 only";
}

static void json_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	struct json json = {.out = out, .more = n > 0};
	json_line(&json, 1);
	json_string(&json, arena_text(out->arena, name.p, name.len), value);
}

/* NAME=value and a NUL, as in /proc/PID/environ and in the output of env -0. Any value is possible. */
static const char *null_refuses(struct str name, struct str value) {
	(void)name;
	(void)value;
	return NULL;
}

static void null_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	(void)n;
	put_line(out, name, "=", value, STR("\0"));
}

const struct format formats[] = {
	{"shell", shell_refuses, shell_put, "", ""},
	{"docker", docker_refuses, docker_put, "", ""},
	{"json", json_refuses, json_put, "{", "\n}\n"},
	{"null", null_refuses, null_put, "", ""},
	{0},
};

const struct format *format_find(const char *name) {
	const struct format *format = formats;
	while (format->name && strcmp(format->name, name) != 0) {
		format++;
	}
	return format->name ? format : NULL;
}
