// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Helpers for unit tests: an arena, environments written as one text, and random numbers. */

#include "access/access.h"
#include "base/buf.h"
#include "base/notes.h"
#include "env/env.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void fixture_full(size_t size) {
	printf("Bail out! no memory for %zu bytes\n", size);
	exit(1);
}

static inline struct arena fixture_arena(void) {
	struct arena arena;
	arena_init(&arena, NULL, 0, fixture_full);
	return arena;
}

/** We are the program: files are opened with our rights. */
static struct access fixture_access __attribute__((unused)) = {.workload = RIGHTS_SAME};

/** Split @text at each @separator; NULL ends the list. "" is an empty list. */
static inline char **fixture_split(struct arena *arena, const char *text, char separator) {
	char **list = arena_array(arena, strlen(text) + 2, sizeof(*list));
	size_t n = 0;
	struct str rest = str_of(text), piece;
	while (*text && str_cut(&rest, separator, &piece)) {
		list[n++] = arena_text(arena, piece.p, piece.len);
	}
	list[n] = NULL;
	return list;
}

/** Begin @env with the entries of @text. */
static inline void fixture_env(struct env *env, struct arena *arena, const char *text, char separator) {
	env_init(env, arena, fixture_split(arena, text, separator));
}

/** The environment of the workload, joined by @separator. */
static inline const char *fixture_join(const struct env *env, char separator) {
	struct buf buf = BUF(env->arena);
	for (char **entry = env_vector(env); *entry; entry++) {
		if (buf.len) {
			buf_putc(&buf, separator);
		}
		buf_puts(&buf, *entry);
	}
	return buf_text(&buf);
}

/** All notes, joined by "; ". */
static inline const char *fixture_notes(const struct notes *notes) {
	struct buf buf = BUF(notes->arena);
	for (const struct note *note = notes->first; note; note = note->next) {
		if (note != notes->first) {
			buf_puts(&buf, "; ");
		}
		buf_puts(&buf, note->text);
	}
	return buf_text(&buf);
}

/** A number below @limit, from a sequence that is the same in every run (splitmix64). */
static inline uint32_t fixture_random(uint64_t *state, uint32_t limit) {
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % limit);
}
