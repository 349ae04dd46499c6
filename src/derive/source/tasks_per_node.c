// SPDX-License-Identifier: Apache-2.0

#include "source/slurm.h"

#include "base/num.h"

#include <errno.h>

/** The largest number of tasks on a node (Slurm uses 16 bits). */
#define TASKS_MAX 65535

/** Read "COUNT" or "COUNT(xREPEAT)". Returns whether @text has this form. */
static bool read_count(struct str text, uint32_t *count, uint32_t *repeat) {
	size_t open = str_find(text, '(');
	uint64_t number, times = 1;
	if (open < text.len) {
		struct str behind = str_from(text, open);
		if (behind.len < 4 || behind.p[1] != 'x' || behind.p[behind.len - 1] != ')' ||
		    num_read((struct str){behind.p + 2, behind.len - 3}, UINT32_MAX, &times) < 0) {
			return false;
		}
	}
	if (num_read((struct str){text.p, open}, TASKS_MAX, &number) < 0 || times == 0) {
		return false;
	}
	*count = (uint32_t)number;
	*repeat = (uint32_t)times;
	return true;
}

int tasks_per_node_read(struct arena *arena, const char *what, struct str text, uint32_t nnodes,
			const uint32_t **out, struct err *err) {
	uint32_t *counts = arena_array(arena, nnodes, sizeof(*counts));
	uint32_t n = 0;
	struct str rest = text, piece;
	while (str_cut(&rest, ',', &piece)) {
		uint32_t count, repeat;
		if (!read_count(piece, &count, &repeat)) {
			return err_set(err, EINVAL, "%s=%s: %s is not a count such as 2 or 2(x3)", what,
				       quote_value(what, text).s, quote_value(what, piece).s);
		}
		if (repeat > nnodes - n) {
			return err_set(err, EINVAL,
				       "%s=%s has counts for more nodes than there are (%u); "
				       "unset it if it is another job's",
				       what, quote_value(what, text).s, nnodes);
		}
		while (repeat--) {
			counts[n++] = count;
		}
	}
	if (n < nnodes) {
		return err_set(
			err, EINVAL,
			"%s=%s has counts for %u nodes, but there are %u; unset it if it is another job's",
			what, quote_value(what, text).s, n, nnodes);
	}
	*out = counts;
	return 0;
}
