// SPDX-License-Identifier: Apache-2.0

/** NAME=value and a NUL, as in /proc/PID/environ and in the output of env -0. It can hold any value. */

#include "format/format.h"

static const char *null_refuses(struct str name, struct str value) {
	(void)name;
	(void)value;
	return NULL;
}

static void null_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	(void)n;
	buf_put(out, name);
	buf_putc(out, '=');
	buf_put(out, value);
	buf_putc(out, '\0');
}

const struct format format_null = {
	.name = "null",
	.about = "NAME=value ended by a NUL, as env -0 prints; carries any value",
	.refuses = null_refuses,
	.put = null_put,
};
