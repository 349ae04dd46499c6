// SPDX-License-Identifier: Apache-2.0

/**
 * One line NAME=value per variable, with every byte of the value literal: the format of --env-file
 * in docker and podman.
 *
 * Reference: docker's manual, "Set environment variables"; docker does not remove quotes.
 */

#include "base/json_write.h"
#include "format/format.h"

/** The line length at which docker's reader (bufio.Scanner) fails. */
#define LINE_BYTES 65536

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
	if (name.len + 1 + value.len >= LINE_BYTES) {
		return "docker accepts only lines shorter than 64 KiB";
	}
	bool breaks = str_find(value, '\n') < value.len || str_find(value, '\r') < value.len;
	return breaks ? "a value in this format cannot contain a line break" : NULL;
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
