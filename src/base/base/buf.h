// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A text under construction, in an arena. */

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct buf {
	struct arena *arena;
	char *p;
	size_t len;
	size_t cap;
};

#define BUF(a) ((struct buf){.arena = (a)})

/** Make room for @n more bytes. Returns where to write them; the caller then adds their number to `len`. */
char *buf_reserve(struct buf *buf, size_t n);

void buf_put(struct buf *buf, struct str text);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_putu(struct buf *buf, uint64_t number);

/** Append formatted text. */
void buf_putf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Append @text for a terminal: bytes other than printable ASCII become \xNN, as in quote(). A second run
 * changes nothing.
 * Text from outside must go through this or quote() before it is shown.
 */
void buf_put_plain(struct buf *buf, struct str text);

/** Terminate the text with a NUL (not counted in `len`) and return it. */
char *buf_text(struct buf *buf);

static inline struct str buf_str(const struct buf *buf) {
	return (struct str){buf->p, buf->len};
}
