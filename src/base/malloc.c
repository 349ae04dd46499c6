// SPDX-License-Identifier: Apache-2.0

/**
 * malloc() and free() for the static programs, in place of musl's, which takes 9 KB. The programs
 * themselves allocate from an arena: these serve cJSON, libcap and the C library, which make few
 * requests. One thread calls them.
 *
 * Blocks lie one after the other. free() takes back the last one, so opendir() and closedir() can
 * repeat for ever; any other block stays. The memory after the last block is always zero, which is
 * all that calloc() needs.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16
#define CHUNK	  ((size_t)64 * 1024)

/** Stands in front of each block. */
struct head {
	_Alignas(ALIGNMENT) size_t size;
};

static char *next, *end;

/** Go on in a new chunk with room for @size bytes. */
static int take_chunk(size_t size) {
	size = size < CHUNK ? CHUNK : size;
	char *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED) {
		return -1;
	}
	next = chunk;
	end = chunk + size;
	return 0;
}

void *malloc(size_t size) {
	if (size > PTRDIFF_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (sizeof(struct head) + size > (size_t)(end - next) && take_chunk(sizeof(struct head) + size) < 0) {
		return NULL;
	}
	struct head *head = (struct head *)(void *)next;
	head->size = size;
	next += sizeof(*head) + size;
	return head + 1;
}

void *calloc(size_t count, size_t size) {
	if (__builtin_mul_overflow(count, size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return malloc(size);
}

void free(void *block) {
	if (!block) {
		return;
	}
	struct head *head = (struct head *)block - 1;
	if ((char *)block + head->size == next) {
		next = (char *)head;
		memset(next, 0, sizeof(*head) + head->size);
	}
}

void *realloc(void *block, size_t size) {
	char *larger = malloc(size);
	if (block && larger) {
		size_t old = ((struct head *)block - 1)->size;
		memcpy(larger, block, old < size ? old : size);
		free(block);
	}
	return larger;
}

/*
 * Parts of musl, such as posix_spawn_file_actions_adddup2(), call malloc() by musl's own names.
 * Without these, its malloc() would be linked, too.
 */
#define ALSO(name) __attribute__((copy(name), alias(#name)))

void *__libc_malloc(size_t size) ALSO(malloc);
void *__libc_calloc(size_t count, size_t size) ALSO(calloc);
void *__libc_realloc(void *block, size_t size) ALSO(realloc);
void __libc_free(void *block) ALSO(free);
