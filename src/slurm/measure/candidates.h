// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Configurations of an input pipeline on one node: the number of workers, and the threads of each worker. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct candidate {
	/** The number of CPUs of each worker. */
	uint32_t threads;
	/** The number of workers; 0: no worker fits. */
	uint32_t workers;
	/** Why the candidate cannot be measured; NULL: it can. */
	const char *left_out;
};

/** The largest number of candidates. */
#define CANDIDATES_MAX 64

/** Read numbers from 1 to 65535, joined by commas. @what names them in messages. Returns 0 or -EINVAL. */
int candidates_read_list(struct arena *arena, const char *what, const char *text, uint32_t **list, size_t *n,
			 struct err *err);

/**
 * Make the candidates, in the arena: combine each of the @n_threads thread counts with each of the
 * @n_workers worker counts. If @n_workers is 0, take as many workers as fit on a node. @cpus: the number of
 * CPUs of a node; 0: unknown, and then both lists are required.
 *
 * If @n_threads is 0, the thread counts are 12, 16 and 20. If fewer than two of these fit on a node, all, a
 * half and a quarter of its CPUs are tried, too.
 *
 * Returns 0 or -EINVAL.
 */
int candidates_make(struct arena *arena, uint32_t cpus, const uint32_t *threads, size_t n_threads,
		    const uint32_t *workers, size_t n_workers, struct candidate **out, size_t *n,
		    struct err *err);
