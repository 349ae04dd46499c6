// SPDX-License-Identifier: Apache-2.0

/**
 * Counts of tasks per node. The input is the number of nodes, a line break, and the text. Counts
 * that are accepted can be written again, and are then read as the same.
 */

#include "source/slurm.h"

#include "base/buf.h"
#include "base/num.h"
#include "fuzz.h"

#define INPUT_MAX 4096
#define NODES_MAX 100000

/** Write @counts as Slurm does. */
static void write_counts(const uint32_t *counts, uint32_t n, struct buf *out) {
	for (uint32_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && counts[next] == counts[i]; next++) {
		}
		if (i) {
			buf_putc(out, ',');
		}
		buf_putu(out, counts[i]);
		if (next - i > 1) {
			buf_puts(out, "(x");
			buf_putu(out, next - i);
			buf_putc(out, ')');
		}
	}
}

static void check_again(struct arena *arena, const uint32_t *counts, uint32_t n) {
	struct buf text = BUF(arena);
	const uint32_t *again = NULL;
	struct err err = {""};
	write_counts(counts, n, &text);
	HOLDS(tasks_per_node_read(arena, "AGAIN", buf_str(&text), n, &again, &err) == 0);
	HOLDS(memcmp(counts, again, n * sizeof(*counts)) == 0);
	// With one node more or less, it is refused.
	HOLDS(tasks_per_node_read(arena, "MORE", buf_str(&text), n + 1, &again, &err) < 0);
	HOLDS(tasks_per_node_read(arena, "LESS", buf_str(&text), n - 1, &again, &err) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct str text = {(const char *)data, size}, nodes;
	uint64_t n;
	if (size > INPUT_MAX || !str_cut(&text, '\n', &nodes) || num_read(nodes, NODES_MAX, &n) < 0) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	const uint32_t *counts = NULL;
	struct err err = {""};
	int r = tasks_per_node_read(&arena, "TASKS", text, (uint32_t)n, &counts, &err);
	HOLDS((r == 0) == (counts != NULL) && (r == 0) == (err.text[0] == '\0'));
	if (r == 0 && n) {
		check_again(&arena, counts, (uint32_t)n);
	}
	arena_done(&arena);
	return 0;
}
