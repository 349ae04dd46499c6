// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The choices of a job. Each has a name and up to two numbers, such as jitter(3,17): the time that piece 17 of connection 3
 * takes. In a job from a seed its value is a hash of the seed and the name, so that it does not depend on what was chosen
 * before, and a change of the code leaves the choices of others alone. A job from a tape has the values of the tape; what
 * the tape does not name is dull: nothing happens, nothing is late.
 *
 * A tape is text (found.h), and can be shrunk: leave choices out, make numbers smaller.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum choice {
#define CHOICE(name) C_##name,
#include "choices.h"
#undef CHOICE
	N_CHOICES
};

extern const char *const choice_names[N_CHOICES];

/** A choice whose value is not the dull one. */
struct chosen {
	uint64_t key;
	uint64_t value;
};

/** Those of this job so far. */
extern struct chosen *chosen;
extern uint32_t n_chosen;

static inline uint64_t choice_key(enum choice what, unsigned who, unsigned nth) {
	return (uint64_t)what << 48 | (uint64_t)(who & 0xffff) << 32 | nth;
}

/** Begin a job from @seed; or if @tape is not NULL, from its @n choices. */
void choices_begin(uint64_t seed, const struct chosen *tape, uint32_t n);

/** A number below @n; the dull one is 0. */
uint64_t choose(enum choice what, unsigned who, unsigned nth, uint64_t n);

/** One of @list; the first is the dull one. */
uint64_t choose_of(enum choice what, unsigned who, unsigned nth, const uint64_t *list, size_t n);

/** The same, but a tape has it in any case: the list is not always the same one. */
uint64_t choose_always(enum choice what, const uint64_t *list, size_t n, unsigned who);

/** The same for a list that is written out. */
#define CHOOSE(what, who, nth, ...) \
	choose_of(C_##what, who, nth, (const uint64_t[]){__VA_ARGS__}, \
		  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/** In @share of 1000 cases a number from 1 to @most; else 0. */
uint64_t choose_rarely(enum choice what, unsigned who, unsigned nth, uint64_t share, uint64_t most);

/** A number that nobody cares about, such as a nonce: the same in each job with the same salt. */
uint64_t choose_noise(uint64_t who, uint64_t nth);
