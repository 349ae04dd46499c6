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

/**
 * Initialise @arena. @memory: its first block of @size bytes, 16-byte aligned, owned by the caller; NULL:
 * none.
 */
void arena_init(struct arena *arena, void *memory, size_t size, void (*full)(size_t size));

/** Release what was allocated since @before. Does nothing if a new chunk was started since. */
static inline void arena_back(struct arena *arena, const struct arena *before) {
	if (arena->end == before->end) {
		arena->next = before->next;
	}
}

/** Release everything that was allocated since @arena was @before, and unmap the newer chunks. */
void arena_rewind(struct arena *arena, const struct arena *before);

/** Move the chunks of @other to @arena. @other is empty then. */
void arena_adopt(struct arena *arena, struct arena *other);

/** Free all chunks. For tests: a program that ends in execve() need not. */
void arena_done(struct arena *arena);

/**
 * Allocate @size bytes, aligned to 8 and not cleared. Never returns NULL: if memory runs out, it calls
 * full().
 */
void *arena_alloc(struct arena *arena, size_t size);

/** Allocate @count elements of @size bytes, not cleared. An overflow counts as out of memory. */
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

/** Copy the @len bytes at @text, and append a NUL. @text may be NULL if @len is 0. */
char *arena_text(struct arena *arena, const char *text, size_t len);

/** Return @text; or if it is longer than @most bytes, "START... (N bytes)", with N for all of it. */
const char *arena_cut(struct arena *arena, const char *text, size_t most);

/** Return a text formatted as by printf(). */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same, with a va_list. */
char *arena_vformat(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
