// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Memory that lives until this process becomes the workload.
 *
 * A program that ends in execve() need not free memory, or track who owns it. So everything it
 * builds (environment, hosts, messages) is allocated from one arena. The caller provides the first
 * block, usually in .bss, so an ordinary run needs no memory from the kernel.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
	/** The free bytes: from `next` up to `end`. */
	char *next;
	char *end;
	/** Chunks allocated from the system, newest first, for arena_done(). */
	struct arena_chunk *chunks;
	/** Called when memory runs out, with the size requested. Must not return. */
	void (*full)(size_t size);
};

/** Begin with the @size bytes at @memory, 16-byte aligned, which the caller keeps. NULL, 0: none. */
void arena_init(struct arena *arena, void *memory, size_t size, void (*full)(size_t size));

/** Use again what was allocated since @before; but not if that took a new chunk, most of which is free. */
static inline void arena_back(struct arena *arena, const struct arena *before) {
	if (arena->end == before->end) {
		arena->next = before->next;
	}
}

/** Give back all that was allocated since @arena was @before. */
void arena_rewind(struct arena *arena, const struct arena *before);

/** Let @arena own all that @other has allocated from the system; @other is empty then. */
void arena_adopt(struct arena *arena, struct arena *other);

/** Free what was allocated from the system. For tests: a program that ends in execve() need not. */
void arena_done(struct arena *arena);

/** @size bytes, aligned to 8 and not cleared. Never NULL: if memory runs out, full() is called. */
void *arena_alloc(struct arena *arena, size_t size);

/** Return @count elements of @size bytes, not cleared. An overflow counts as out of memory. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/**
 * Make room for one more than @n elements of @size bytes in @list, which has room for *@cap (0: none).
 * Returns @list, or a larger copy.
 */
void *arena_more(struct arena *arena, void *list, uint32_t n, uint32_t *cap, size_t size);

/**
 * Grow the block at @at from @old to @size bytes in place. This works if it is the newest block and
 * there is room.
 * Returns whether it did; nothing changes otherwise.
 */
int arena_extend(struct arena *arena, void *at, size_t old, size_t size);

/** Return a copy of the @len bytes at @text, followed by a NUL. NULL is fine for none. */
char *arena_text(struct arena *arena, const char *text, size_t len);

/** Return a text formatted as by printf(). */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same, with a va_list. */
char *arena_vformat(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
