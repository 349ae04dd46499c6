// SPDX-License-Identifier: Apache-2.0

/**
 * One line NAME='value' per variable. `set -a; . FILE` reads it in any POSIX shell, and so does
 * Kubernetes' fileKeyRef. Its files are a subset of the shell's language, with every value in
 * single quotes (KEP-3721). A single quote in a value is therefore refused, although a shell has
 * ways to write it.
 */

#include "format/format.h"

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
	buf_put(out, name);
	buf_puts(out, "='");
	buf_put(out, value);
	buf_puts(out, "'\n");
}

const struct format format_shell = {
	.name = "shell",
	.about = "NAME='value' a line, for 'set -a; . FILE' and Kubernetes' env files",
	.refuses = shell_refuses,
	.put = shell_put,
};
