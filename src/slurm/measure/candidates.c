// SPDX-License-Identifier: Apache-2.0

#include "measure/candidates.h"

#include "base/num.h"

#include <errno.h>
#include <stdbool.h>

/** The thread counts that the original analyzer (cs_input_analyzer) tries. */
static const uint32_t standard[] = {12, 16, 20};

#define N_STANDARD (sizeof(standard) / sizeof(standard[0]))

int candidates_read_list(struct arena *arena, const char *what, const char *text, uint32_t **list, size_t *n,
			 struct err *err) {
	struct str rest = str_of(text), piece;
	uint32_t *numbers = arena_array(arena, CANDIDATES_MAX, sizeof(*numbers));
	size_t count = 0;
	while (str_cut(&rest, ',', &piece)) {
		uint32_t number;
		if (num_read_u32(str_trim(piece), &number) < 0 || number == 0 || number > 65535) {
			return err_set(err, EINVAL, "%s=%s: %s is not a whole number from 1 to 65535", what,
				       quote_text(text).s, quote(piece).s);
		}
		if (count == CANDIDATES_MAX) {
			return err_set(err, EINVAL, "%s has more than %d numbers", what, CANDIDATES_MAX);
		}
		numbers[count++] = number;
	}
	*list = numbers;
	*n = count;
	return 0;
}

/**
 * Add a candidate to the @n candidates @at, unless it is there already. @workers: 0: as many as fit. Returns the new
 * number of candidates.
 */
static size_t add(struct arena *arena, uint32_t cpus, uint32_t threads, uint32_t workers,
		  struct candidate *at, size_t n) {
	struct candidate c = {.threads = threads, .workers = workers ? workers : cpus / threads};
	uint64_t needed = (uint64_t)threads * (c.workers ? c.workers : 1);
	for (size_t i = 0; i < n; i++) {
		if (at[i].threads == c.threads && at[i].workers == c.workers) {
			return n;
		}
	}
	if (cpus && needed > cpus) {
		c.left_out =
			arena_format(arena, "needs %lu CPUs, and a node has %u", (unsigned long)needed, cpus);
	}
	at[n] = c;
	return n + 1;
}

/** Write the thread counts to try if none are given. Returns their number. */
static size_t default_threads(uint32_t cpus, uint32_t threads[N_STANDARD + 3]) {
	size_t n = 0, fits = 0;
	for (size_t i = 0; i < N_STANDARD; i++) {
		threads[n++] = standard[i];
		fits += standard[i] <= cpus;
	}
	for (uint32_t part = 1; cpus && fits < 2 && part <= 4; part *= 2) {
		if (cpus / part) {
			threads[n++] = cpus / part;
		}
	}
	return n;
}

int candidates_make(struct arena *arena, uint32_t cpus, const uint32_t *threads, size_t n_threads,
		    const uint32_t *workers, size_t n_workers, struct candidate **out, size_t *n,
		    struct err *err) {
	uint32_t defaults[N_STANDARD + 3];
	if (cpus == 0 && (n_threads == 0 || n_workers == 0)) {
		return err_set(err, EINVAL,
			       "Slurm does not report how many CPUs a node has; set --threads and "
			       "--workers-per-node");
	}
	if (n_threads == 0) {
		n_threads = default_threads(cpus, defaults);
		threads = defaults;
	}
	size_t per_threads = n_workers ? n_workers : 1;
	if (n_threads * per_threads > CANDIDATES_MAX) {
		return err_set(err, EINVAL,
			       "%zu candidates are too many; at most %d are allowed: give fewer --threads or "
			       "--workers-per-node",
			       n_threads * per_threads, CANDIDATES_MAX);
	}
	*out = arena_array(arena, CANDIDATES_MAX, sizeof(**out));
	*n = 0;
	for (size_t i = 0; i < n_threads; i++) {
		for (size_t j = 0; j < per_threads; j++) {
			*n = add(arena, cpus, threads[i], n_workers ? workers[j] : 0, *out, *n);
		}
	}
	return 0;
}
