// SPDX-License-Identifier: Apache-2.0

/**
 * Host lists. A list that is accepted has as many names as a simple count says. It is then written
 * as a list that expands to the same names.
 */

#include "cluster/hostlist.h"

#include "fuzz.h"

/** Longer inputs, and those that stand for more names, only take time. */
#define INPUT_MAX 4096
#define NAMES_MAX 20000

static bool is_gap(char c) {
	return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/** How many numbers "a" or "a-b" stands for. Anything else is refused elsewhere. */
static uint64_t count_range(struct str range) {
	uint64_t ends[2] = {0, 0};
	unsigned end = 0;
	for (size_t i = 0; i < range.len; i++) {
		if (range.p[i] == '-' && end == 0) {
			end = 1;
		} else if (range.p[i] >= '0' && range.p[i] <= '9' && ends[end] < UINT64_MAX / 100) {
			ends[end] = ends[end] * 10 + (uint64_t)(range.p[i] - '0');
		}
	}
	uint64_t count = end && ends[1] >= ends[0] ? ends[1] - ends[0] + 1 : 1;
	return count < NAMES_MAX ? count : NAMES_MAX + 1;
}

/** How many names @text stands for, if it is a list; at most about NAMES_MAX. */
static uint64_t count_names(struct str text) {
	uint64_t total = 0, name = 0;
	for (size_t i = 0; i < text.len && total <= NAMES_MAX; i++) {
		if (is_gap(text.p[i])) {
			total += name;
			name = 0;
			continue;
		}
		name = name ? name : 1;
		if (text.p[i] != '[') {
			continue;
		}
		struct str inner = str_from(text, i + 1), range;
		inner.len = str_find(inner, ']');
		i += inner.len + 1;
		uint64_t numbers = 0;
		while (str_cut(&inner, ',', &range) && numbers <= NAMES_MAX) {
			numbers += count_range(range);
		}
		name *= numbers;
		name = name < NAMES_MAX ? name : NAMES_MAX + 1;
	}
	return total + name;
}

static bool same_hosts(const struct hosts *a, const struct hosts *b) {
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		if (!str_eq(hosts_at(a, i), hosts_at(b, i))) {
			return false;
		}
	}
	return a->n == b->n;
}

static void check_hosts(struct arena *arena, struct hosts *hosts) {
	struct hosts again = {0};
	struct err err = {""};
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		HOLDS(name.len > 0 && name.len <= HOST_NAME_BYTES);
	}

	struct buf list = BUF(arena);
	hostlist_compress(hosts, &list);
	HOLDS(hostlist_expand(arena, "AGAIN", buf_str(&list), &again, &err) == 0);
	HOLDS(same_hosts(hosts, &again));

	// Names that are fine are so in the other list too, and each is found where it stands.
	if (hosts_check(hosts, arena, "LIST", &err) == 0) {
		HOLDS(hosts_check(&again, arena, "AGAIN", &err) == 0);
		for (uint32_t i = 0; i < hosts->n; i += 1 + hosts->n / 16) {
			HOLDS(hosts_find(hosts, hosts_at(hosts, i)) == i);
			HOLDS(hosts_find_loosely(&again, hosts_at(hosts, i)) == i);
		}
	} else {
		HOLDS(err.text[0] != '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct str text = {(const char *)data, size};
	uint64_t count = size <= INPUT_MAX ? count_names(text) : NAMES_MAX + 1;
	if (count > NAMES_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct hosts hosts = {0};
	struct err err = {""};
	int r = hostlist_expand(&arena, "LIST", text, &hosts, &err);
	if (r == 0) {
		HOLDS(hosts.n == count);
		check_hosts(&arena, &hosts);
	} else {
		HOLDS(err.text[0] != '\0' && hosts.n == 0);
	}
	arena_done(&arena);
	return 0;
}
