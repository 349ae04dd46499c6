// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Memory that lives until the process has become the workload.
 *
 * A shim that ends in execve() frees nothing, so it need not keep count of who owns what: all
 * that is built (the environment, the hosts, messages) is cut from one arena. The first piece is
 * the caller's, usually in .bss, so that an ordinary run asks the kernel for no memory at all.
 */

#include <stdarg.h>
#include <stddef.h>

struct arena {
	/** Free room: from `next` up to `end`. */
	char *next;
	char *end;
	/** Chunks taken from the system, newest first, for arena_done(). */
	struct arena_chunk *chunks;
	/** Called with the size that could not be had. Must not return. */
	void (*full)(size_t size);
};

/** Start with the `size` bytes at @memory (may be NULL, 0), 16-byte aligned; they stay the caller's. */
void arena_init(struct arena *arena, void *memory, size_t size, void (*full)(size_t size));

/** Give back what was taken from the system. Tests do; a program that ends in execve() need not. */
void arena_done(struct arena *arena);

/** Return @size bytes, aligned to 8 and not cleared. Never NULL: the arena's full() is called instead. */
void *arena_alloc(struct arena *arena, size_t size);

/** Return @count elements of @size bytes, not cleared; an overflow counts as "full". */
void *arena_array(struct arena *arena, size_t count, size_t size);

/**
 * Make the block at @at grow from @old to @size bytes where it stands, if it is the newest and there is room.
 * Returns whether it did; nothing changes otherwise.
 */
int arena_extend(struct arena *arena, void *at, size_t old, size_t size);

/** Return a copy of the @len bytes at @text, with a NUL behind. */
char *arena_text(struct arena *arena, const char *text, size_t len);

/** Return a text made as printf() does. For what people read. */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same, with the arguments of another such function. */
char *arena_vformat(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
