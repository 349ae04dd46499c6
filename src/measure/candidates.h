// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Configurations of an input pipeline on one node: how many workers, and how many threads each has. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct candidate {
	/** CPUs of each worker. */
	uint32_t threads;
	/** 0: not even one fits. */
	uint32_t workers;
	/** Why it cannot be tried; NULL: it can. */
	const char *left_out;
};

/** More cannot be asked for. */
#define CANDIDATES_MAX 64

/** Read a list of numbers from 1, joined by commas, such as "12,16,20". @what names it in messages. Returns 0; -EINVAL. */
int candidates_read_list(struct arena *arena, const char *what, const char *text, uint32_t **list, size_t *n,
			 struct err *err);

/**
 * Make the candidates, in the arena: each of @n_threads numbers of threads with each of @n_workers numbers of workers; without the latter (0) with as
 * many workers as a node has room for. @cpus: of a node; 0: not known, and then both lists have to be there.
 *
 * Without numbers of threads (0) these are 12, 16 and 20; where fewer than two of them fit into a node, also all of its CPUs, half
 * and a quarter of them.
 *
 * Returns 0; -EINVAL.
 */
int candidates_make(struct arena *arena, uint32_t cpus, const uint32_t *threads, size_t n_threads,
		    const uint32_t *workers, size_t n_workers, struct candidate **out, size_t *n,
		    struct err *err);
