// SPDX-License-Identifier: Apache-2.0

/** Memory, and the texts that grow in it. */

#include "base/arena.h"

#include "base/buf.h"
#include "check.h"
#include "fixture.h"

#include <setjmp.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/**
 * Under AddressSanitizer each block is allocated alone: the first block is not used, and nothing
 * grows in place.
 */
#ifdef __SANITIZE_ADDRESS__
#define ALONE true
#else
#define ALONE false
#endif

static jmp_buf on_full;
static size_t full_size;

static void full(size_t size) {
	full_size = size;
	longjmp(on_full, 1);
}

/** Whether @count elements of @size bytes are refused by a call of full(). */
static bool is_refused(struct arena *arena, size_t count, size_t size) {
	if (setjmp(on_full) == 0) {
		arena_array(arena, count, size);
		return false;
	}
	return true;
}

static void check_full(void) {
	struct arena arena;
	arena_init(&arena, NULL, 0, full);
	check(is_refused(&arena, 1, SIZE_MAX / 2 + 1));
	check(full_size == SIZE_MAX / 2 + 1);
	check(is_refused(&arena, SIZE_MAX / 2 + 2, 2)); // the product wraps round to 2
	check(is_refused(&arena, SIZE_MAX, SIZE_MAX));
	check(is_refused(&arena, 1, SIZE_MAX));
	// The sanitizer's malloc() would end the program if the kernel refuses.
	check(ALONE || is_refused(&arena, 1, SIZE_MAX / 4));
	check(!is_refused(&arena, 2, 8));
	arena_done(&arena);
}

static _Alignas(16) char first[256];

static bool is_in_first(const char *p) {
	return p >= first && p < first + sizeof(first);
}

/**
 * The first block is used up before the system is asked for memory. Nothing is written beyond it.
 */
static void check_first(void) {
	struct arena arena;
	memset(first, '#', sizeof(first));
	arena_init(&arena, first, sizeof(first) - 16, fixture_full);
	char *a = arena_alloc(&arena, 100);
	char *b = arena_alloc(&arena, 100);
	memset(a, 'a', 100);
	memset(b, 'b', 100);
	check(is_in_first(a) == !ALONE && is_in_first(b) == !ALONE);
	char *c = arena_alloc(&arena, 100); // 32 bytes are left
	memset(c, 'c', 100);
	check(!is_in_first(c));
	check(a[0] == 'a' && a[99] == 'a' && b[0] == 'b' && b[99] == 'b');
	check(first[sizeof(first) - 16] == '#');
	arena_done(&arena);
	check(arena.chunks == NULL && arena.next == arena.end);
}

/** Blocks of many sizes do not overlap, are aligned, and keep their contents. */
static void check_blocks(void) {
	struct arena arena = fixture_arena();
	uint64_t random = 1;
	struct {
		unsigned char *p;
		size_t size;
	} blocks[400];
	unsigned misaligned = 0, spoilt = 0;
	for (unsigned i = 0; i < 400; i++) {
		size_t size = fixture_random(&random, i % 40 == 0 ? 200000 : 300);
		blocks[i].p = arena_alloc(&arena, size);
		blocks[i].size = size;
		misaligned += (uintptr_t)blocks[i].p % 8 != 0;
		memset(blocks[i].p, (int)(i & 0xff), size);
	}
	for (unsigned i = 0; i < 400; i++) {
		for (size_t at = 0; at < blocks[i].size; at++) {
			spoilt += blocks[i].p[at] != (i & 0xff);
		}
	}
	checkf(misaligned == 0, "blocks are aligned (%u are not)", misaligned);
	checkf(spoilt == 0, "blocks keep what is in them (%u bytes did not)", spoilt);
	arena_done(&arena);
}

static void check_extend(void) {
	struct arena arena;
	arena_init(&arena, first, sizeof(first), fixture_full);
	char *a = arena_alloc(&arena, 10);
	memcpy(a, "0123456789", 10);
	check(arena_extend(&arena, a, 10, 20) == !ALONE);
	check(memcmp(a, "0123456789", 10) == 0);
	check(ALONE || arena_alloc(&arena, 1) == a + 24);
	check(!arena_extend(&arena, a, 20, 40)); // no longer the newest
	char *next = arena.next;
	char *b = arena_alloc(&arena, 8);
	check(!arena_extend(&arena, b, 8, sizeof(first))); // no room
	check(ALONE || arena.next == next + 8);
	arena_done(&arena);
}

static void check_texts(struct arena *arena) {
	check_text(arena_text(arena, "abcdef", 3), "abc", "arena_text closes a slice");
	check_text(arena_text(arena, "", 0), "", "arena_text of nothing");
	check_text(arena_format(arena, "%s-%03d", "x", 7), "x-007", "arena_format");
	check_text(arena_format(arena, "%s", ""), "", "arena_format of nothing");
	check(strlen(arena_format(arena, "%070000d", 0)) == 70000);
}

static void check_buf(struct arena *arena) {
	struct buf buf = BUF(arena);
	check_text(buf_text(&buf), "", "a buf begins empty");
	check(buf.len == 0 && buf_str(&buf).len == 0);
	buf_puts(&buf, "");
	buf_puts(&buf, NULL);
	buf_put(&buf, (struct str){NULL, 0});
	check(buf.len == 0);
	buf_puts(&buf, "ab");
	buf_putc(&buf, 'c');
	buf_put(&buf, STR("d\0e"));
	buf_putu(&buf, UINT64_MAX);
	buf_putf(&buf, "<%d>", -1);
	check(str_eq(buf_str(&buf), STR("abcd\0e18446744073709551615<-1>")));
	check(buf_text(&buf)[buf.len] == '\0');

	const uint64_t numbers[] = {0, 9, 10, 1000, 29500, UINT32_MAX};
	struct buf list = BUF(arena);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		buf_putu(&list, numbers[i]);
		buf_putc(&list, ' ');
	}
	check_text(buf_text(&list), "0 9 10 1000 29500 4294967295 ", "numbers");

	char *at = buf_reserve(&buf, 3);
	memcpy(at, "xyz", 3);
	buf.len += 3;
	check(str_eq(str_from(buf_str(&buf), buf.len - 3), STR("xyz")));
}

/** Two buffers that grow in turn cannot grow in place; a third one alone can. */
static void check_growth(struct arena *arena) {
	struct buf bufs[3] = {BUF(arena), BUF(arena), BUF(arena)};
	for (unsigned i = 0; i < 20000; i++) {
		buf_putc(&bufs[0], (char)('a' + i % 26));
		if (i % 3 == 0) {
			buf_putu(&bufs[1], i % 10);
		}
	}
	buf_reserve(&bufs[2], 100000);
	for (unsigned i = 0; i < 100000; i++) {
		buf_putc(&bufs[2], (char)('a' + i % 26));
	}
	unsigned wrong = 0;
	for (unsigned i = 0; i < 100000; i++) {
		wrong += i < 20000 && bufs[0].p[i] != (char)('a' + i % 26);
		wrong += i < 20000 && i % 3 == 0 && bufs[1].p[i / 3] != (char)('0' + i % 10);
		wrong += bufs[2].p[i] != (char)('a' + i % 26);
	}
	check(bufs[0].len == 20000 && bufs[1].len == 6667 && bufs[2].len == 100000);
	checkf(wrong == 0, "bufs keep what was put (%u bytes did not)", wrong);
	check(bufs[0].cap >= bufs[0].len && bufs[1].cap >= bufs[1].len);
}

/** What is allocated after a mark, and given back, takes one more chunk at most. */
static void check_back(void) {
	struct arena arena = fixture_arena();
	char *kept = arena_text(&arena, "kept", 4);
	struct arena_chunk *older = NULL;
	unsigned chunks = 0;
	for (int i = 0; i < 100; i++) {
		const struct arena before = arena;
		for (int n = 0; n < 10; n++) {
			memset(arena_alloc(&arena, 1000), 1, 1000);
		}
		arena_back(&arena, &before);
		chunks += arena.chunks != older;
		older = arena.chunks;
	}
	check_text(kept, "kept", "what was there before");
#ifndef __SANITIZE_ADDRESS__
	checkf(chunks <= 2, "it took %u chunks", chunks);
#endif
	arena_done(&arena);
}

int main(void) {
	struct arena arena = fixture_arena();
	check_full();
	check_first();
	check_blocks();
	check_extend();
	check_texts(&arena);
	check_buf(&arena);
	check_growth(&arena);
	check_back();
	arena_done(&arena);
	return check_done();
}
