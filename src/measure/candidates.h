// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Configurations of an input pipeline on one node: the number of workers, and each one's threads. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct candidate {
	/** CPUs of each worker. */
	uint32_t threads;
	/** 0: not even one worker fits. */
	uint32_t workers;
	/** Why it cannot be measured; NULL: it can. */
	const char *left_out;
};

/** The largest number of candidates. */
#define CANDIDATES_MAX 64

/** Read numbers from 1 to 65535, joined by commas; @what is their name in messages. Returns 0 or -EINVAL. */
int candidates_read_list(struct arena *arena, const char *what, const char *text, uint32_t **list, size_t *n,
			 struct err *err);

/**
 * Make the candidates, in the arena: each of the @n_threads thread counts with each of the
 * @n_workers worker counts. If @n_workers is 0: with as many workers as fit on a node. @cpus: of a
 * node; 0: unknown, and then both lists are required.
 *
 * If @n_threads is 0, the thread counts are 12, 16 and 20. If fewer than two of them fit on a node,
 * all of its CPUs, a half and a quarter of them are tried, too.
 *
 * Returns 0 or -EINVAL.
 */
int candidates_make(struct arena *arena, uint32_t cpus, const uint32_t *threads, size_t n_threads,
		    const uint32_t *workers, size_t n_workers, struct candidate **out, size_t *n,
		    struct err *err);
