// SPDX-License-Identifier: Apache-2.0

/**
 * NAME=value, a line each, every byte of the value literal: what --env-file of docker and podman takes.
 *
 * Reference: docker's manual, "Set environment variables"; quotes are kept by it.
 */

#include "base/json_write.h"
#include "format/format.h"

/** What docker's reader of lines (bufio.Scanner) takes. */
#define LINE_BYTES 65536

static const char *docker_refuses(struct str name, struct str value) {
	for (size_t i = 0; i < name.len; i++) {
		if ((unsigned char)name.p[i] <= ' ') {
			return "a name with a blank is refused by docker";
		}
	}
	if (name.len == 0 || name.p[0] == '#') {
		return "docker would take the line for a comment";
	}
	if (!utf8_valid(name) || !utf8_valid(value)) {
		return "docker takes UTF-8 only";
	}
	if (name.len + 1 + value.len >= LINE_BYTES) {
		return "docker takes lines of less than 64 KiB only";
	}
	bool breaks = str_find(value, '\n') < value.len || str_find(value, '\r') < value.len;
	return breaks ? "a value in this format ends with its line" : NULL;
}

static void docker_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	(void)n;
	buf_put(out, name);
	buf_putc(out, '=');
	buf_put(out, value);
	buf_putc(out, '\n');
}

const struct format format_docker = {
	.name = "docker",
	.about = "NAME=value a line, for --env-file of docker and podman",
	.refuses = docker_refuses,
	.put = docker_put,
};
