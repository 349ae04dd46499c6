// SPDX-License-Identifier: Apache-2.0

#include "choice.h"

#include <stdlib.h>
#include <string.h>

const char *const choice_names[N_CHOICES] = {
#define CHOICE(name) #name,
#include "choices.h"
#undef CHOICE
};

struct chosen *chosen;
uint32_t n_chosen;

static uint32_t room;
static uint64_t seed_of_job, salt;

/** The tape, as a table by hash. A key of 0 is a free place: "nodes" is kept beside. */
#define PLACES 65536
static struct chosen places[PLACES];
static bool from_tape;

static uint64_t mix(uint64_t z) {
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static struct chosen *place_of(uint64_t key) {
	uint64_t i = mix(key) % PLACES;
	while (places[i].key && places[i].key != key + 1) {
		i = (i + 1) % PLACES;
	}
	return &places[i];
}

void choices_begin(uint64_t seed, const struct chosen *tape, uint32_t n) {
	static uint32_t used[PLACES], n_used;
	for (uint32_t i = 0; i < n_used; i++) {
		places[used[i]].key = 0;
	}
	n_used = 0;
	seed_of_job = mix(seed);
	n_chosen = 0;
	from_tape = tape != NULL;
	// A tape that is too long loses its end, which is what happened last.
	for (uint32_t i = 0; tape && i < n && i < PLACES / 2; i++) {
		struct chosen *place = place_of(tape[i].key);
		*place = (struct chosen){tape[i].key + 1, tape[i].value};
		used[n_used++] = (uint32_t)(place - places);
	}
	salt = 0;
	salt = choose(C_salt, 0, 0, 1 << 16);
}

/** The value for @key from the tape; @dull if it has none. */
static uint64_t from_place(uint64_t key, uint64_t dull) {
	const struct chosen *place = place_of(key);
	return place->key ? place->value : dull;
}

static uint64_t keep(uint64_t key, uint64_t value, uint64_t dull) {
	if (value != dull) {
		if (n_chosen == room) {
			room = room ? 2 * room : 1 << 12;
			chosen = realloc(chosen, room * sizeof(*chosen));
		}
		chosen[n_chosen++] = (struct chosen){key, value};
	}
	return value;
}

static uint64_t number_for(uint64_t key) {
	return mix(seed_of_job ^ key * 0x2545f4914f6cdd1du) >> 16;
}

uint64_t choose(enum choice what, unsigned who, unsigned nth, uint64_t n) {
	const uint64_t key = choice_key(what, who, nth);
	if (n <= 1) {
		return 0;
	}
	const uint64_t value = from_tape ? from_place(key, 0) : number_for(key) % n;
	return keep(key, value < n ? value : n - 1, 0);
}

uint64_t choose_of(enum choice what, unsigned who, unsigned nth, const uint64_t *list, size_t n) {
	const uint64_t key = choice_key(what, who, nth);
	return keep(key, from_tape ? from_place(key, list[0]) : list[number_for(key) % n], list[0]);
}

uint64_t choose_always(enum choice what, const uint64_t *list, size_t n, unsigned who) {
	const uint64_t key = choice_key(what, who, 0),
		       value = from_tape ? from_place(key, list[0]) : list[number_for(key) % n];
	return keep(key, value, value + 1);
}

uint64_t choose_rarely(enum choice what, unsigned who, unsigned nth, uint64_t share, uint64_t most) {
	const uint64_t key = choice_key(what, who, nth);
	if (!share || !most) {
		return 0;
	}
	if (from_tape) {
		const uint64_t value = from_place(key, 0);
		return keep(key, value < most ? value : most, 0);
	}
	const uint64_t number = number_for(key);
	return number % 1000 < share ? keep(key, 1 + number / 1000 % most, 0) : 0;
}

uint64_t choose_noise(uint64_t who, uint64_t nth) {
	return mix(mix(salt << 32 ^ who) ^ nth);
}
