// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN(n) (((n) + 7) & ~(size_t)7)

/** The chunk size for small requests, which share a chunk. */
#define CHUNK ((size_t)64 * 1024)

/** Requests of this size or more get a chunk of their own, with all pages mapped at once. */
#define LARGE ((size_t)16 * 1024)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 // gcc defines this itself
#endif
#endif

/** Under AddressSanitizer each block is an allocation of its own, so that it finds overflows. */
#ifdef __SANITIZE_ADDRESS__
#define ALONE 1
#else
#define ALONE 0
#endif

void arena_init(struct arena *arena, void *memory, size_t size, void (*full)(size_t)) {
	*arena = (struct arena){.next = memory, .end = memory, .full = full};
	if (memory && !ALONE) {
		arena->end += size;
	}
}

/** Free the chunks that are newer than @last. */
static void free_chunks(struct arena *arena, const struct arena_chunk *last) {
	while (arena->chunks != last) {
		struct arena_chunk *chunk = arena->chunks;
		arena->chunks = chunk->older;
		if (ALONE) {
			free(chunk);
		} else {
			munmap(chunk, chunk->size);
		}
	}
}

void arena_rewind(struct arena *arena, const struct arena *before) {
	free_chunks(arena, before->chunks);
	*arena = *before;
}

void arena_adopt(struct arena *arena, struct arena *other) {
	struct arena_chunk *oldest = other->chunks;
	while (oldest && oldest->older) {
		oldest = oldest->older;
	}
	if (oldest) {
		oldest->older = arena->chunks;
		arena->chunks = other->chunks;
	}
	other->chunks = NULL;
	other->next = other->end = NULL;
}

void arena_done(struct arena *arena) {
	free_chunks(arena, NULL);
	arena->next = arena->end = NULL;
}

/** Allocate a chunk. If @large, map its pages at once: that is cheaper than a page fault each. */
static struct arena_chunk *chunk_new(size_t size, int large) {
	struct arena_chunk *chunk;
	if (ALONE) {
		chunk = malloc(size);
	} else {
		int flags = MAP_PRIVATE | MAP_ANONYMOUS | (large ? MAP_POPULATE : 0);
		chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
		chunk = chunk == MAP_FAILED ? NULL : chunk;
	}
	if (chunk) {
		chunk->size = size;
	}
	return chunk;
}

static void *alloc_slow(struct arena *arena, size_t size) {
	size_t want = sizeof(struct arena_chunk) + size;
	if (!ALONE) {
		want = size < LARGE ? CHUNK : (want + 4095) & ~(size_t)4095;
	}
	struct arena_chunk *chunk = want > size ? chunk_new(want, size >= LARGE) : NULL;
	if (!chunk) {
		arena->full(size);
		abort();
	}
	chunk->older = arena->chunks;
	arena->chunks = chunk;

	char *at = (char *)(chunk + 1);
	char *end = (char *)chunk + want;
	// Continue in the chunk that has more room left.
	if (!ALONE && end - (at + size) > arena->end - arena->next) {
		arena->next = at + size;
		arena->end = end;
	}
	return at;
}

void *arena_alloc(struct arena *arena, size_t size) {
	if (size > SIZE_MAX / 2) {
		arena->full(size);
		abort();
	}
	size = ALONE ? size : ALIGN(size);
	if (size <= (size_t)(arena->end - arena->next) && !ALONE) {
		void *at = arena->next;
		arena->next += size;
		return at;
	}
	return alloc_slow(arena, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		bytes = SIZE_MAX;
	}
	return arena_alloc(arena, bytes);
}

void *arena_more(struct arena *arena, void *list, uint32_t n, uint32_t *cap, size_t size) {
	if (n < *cap) {
		return list;
	}
	*cap = *cap ? *cap * 2 : 16;
	void *more = arena_array(arena, *cap, size);
	return n ? memcpy(more, list, n * size) : more;
}

int arena_extend(struct arena *arena, void *at, size_t old, size_t size) {
	char *tail = (char *)at + ALIGN(old);
	if (ALONE || tail != arena->next || ALIGN(size) - ALIGN(old) > (size_t)(arena->end - arena->next)) {
		return 0;
	}
	arena->next = (char *)at + ALIGN(size);
	return 1;
}

char *arena_text(struct arena *arena, const char *text, size_t len) {
	char *copy = arena_alloc(arena, len + 1);
	if (len) {
		memcpy(copy, text, len);
	}
	copy[len] = '\0';
	return copy;
}

char *arena_vformat(struct arena *arena, const char *format, va_list args) {
	va_list again;
	va_copy(again, args);
	size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
	char *text = arena_alloc(arena, size);
	vsnprintf(text, size, format, again);
	va_end(again);
	return text;
}

const char *arena_cut(struct arena *arena, const char *text, size_t most) {
	size_t len = strlen(text);
	return len <= most ? text : arena_format(arena, "%.*s... (%zu bytes)", (int)most, text, len);
}

char *arena_format(struct arena *arena, const char *format, ...) {
	va_list args;
	va_start(args, format);
	char *text = arena_vformat(arena, format, args);
	va_end(args);
	return text;
}
