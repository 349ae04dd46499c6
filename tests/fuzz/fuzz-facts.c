// SPDX-License-Identifier: Apache-2.0

/**
 * FACTS from another node, and the comparison of two of them. The first byte is where the second
 * payload begins. What is decoded is sorted, and the two have a difference where a plain search
 * finds one.
 */

#include "rollcall/compare.h"

#include "fuzz.h"

#include <string.h>

/** The value of @name, or NULL. */
static const char *value_of(const struct fact_list *list, const char *name) {
	for (uint32_t i = 0; i < list->n; i++) {
		if (strcmp(list->at[i].name, name) == 0) {
			return list->at[i].value;
		}
	}
	return NULL;
}

static void check_list(const struct fact_list *list, size_t bytes) {
	size_t total = 3;
	for (uint32_t i = 0; i < list->n; i++) {
		size_t name = strlen(list->at[i].name);
		HOLDS(name > 0 && name <= 255);
		HOLDS(i == 0 || strcmp(list->at[i - 1].name, list->at[i].name) < 0);
		total += 3 + name + strlen(list->at[i].value);
	}
	HOLDS(total == bytes);
}

/** How many facts that both have differ. */
static uint32_t count_both(const struct fact_list *a, const struct fact_list *b) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		const char *value = a->at[i].value, *other = value_of(b, a->at[i].name);
		bool known = other && strcmp(value, FACT_UNKNOWN) != 0 && strcmp(other, FACT_UNKNOWN) != 0;
		n += known && strcmp(value, other) != 0;
	}
	return n;
}

static void check_difference(const struct compare *c, const struct difference *d) {
	struct buf text = BUF(c->arena);
	HOLDS(d->n_values == 2 && d->values[0].n == 1 && d->values[1].n == 1);
	difference_text(c, d, &text);
	difference_json(c, d, true, &(struct json){.out = &text});
	HOLDS(text.len > 0 && !memchr(text.p, '\0', text.len));
}

static void compare(struct arena *arena, const struct str payloads[2], enum fact_group group) {
	struct compare_member members[2] = {{.rank = 0}, {.rank = 1}};
	const struct compare c = {.arena = arena, .members = members, .n = 2};
	struct compare_parties parties;
	struct fact_list lists[2];
	struct difference *list = NULL;
	uint32_t bad = 2, both = 0;
	members[1].digest[group] = 1;
	compare_choose_speakers(&c, group, &parties);
	HOLDS(parties.n == 2 && parties.unasked == 0);
	int r = compare_group(&c, group, &parties, payloads, &list, &bad);
	int want = 0;
	for (uint32_t i = 0; i < 2; i++) {
		lists[i].n = 0;
		if (payloads[i].len && facts_decode(arena, payloads[i], group, &lists[i]) < 0) {
			HOLDS(want < 0 || bad == i);
			want = -1;
		} else if (payloads[i].len) {
			check_list(&lists[i], payloads[i].len);
		}
	}
	HOLDS((r < 0) == (want < 0));
	for (struct difference *d = list; d; d = d->next) {
		check_difference(&c, d);
		both += d->values[0].value && d->values[1].value;
	}
	HOLDS(r < 0 || both == count_both(&lists[0], &lists[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0 || size > FACTS_PAYLOAD_MAX) {
		return 0;
	}
	size_t first = data[0] < size ? data[0] : size - 1;
	const char *bytes = (const char *)data + 1;
	// Blocks of their own: the sanitizer sees a byte too many.
	struct str payloads[2] = {{NULL, first}, {NULL, size - 1 - first}};
	char *blocks[2] = {malloc(first + 1), malloc(size - first)};
	memcpy(blocks[0], bytes, first);
	memcpy(blocks[1], bytes + first, size - 1 - first);
	struct arena arena = fuzz_arena();
	for (unsigned i = 0; i < 2; i++) {
		payloads[i].p = blocks[i];
	}
	for (unsigned group = FACTS_ENV; group <= FACTS_DEVICES; group++) {
		compare(&arena, payloads, (enum fact_group)group);
	}
	arena_done(&arena);
	free(blocks[0]);
	free(blocks[1]);
	return 0;
}
