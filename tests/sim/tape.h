// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Tapes: a job as text, a choice a line, such as "latency = 1000" or "what(0) = unable". Lines that begin with # are for
 * people; "# promise: NAME" says which promise it broke.
 */

#include "choice.h"

struct tape {
	struct chosen *at;
	uint32_t n;
	/** The promise that it broke; empty: none is named. */
	char promise[60];
};

/** Read the file @path. Returns 0; -1 with a message on stderr. */
int tape_read(const char *path, struct tape *out);

/** Print @n choices. */
void tape_print(const struct chosen *at, uint32_t n);

/** The choices that tape_shrink() may add. */
#define TAPE_SPARE 16

/**
 * Make fewer and smaller choices of a job that breaks @promise. Returns how many are left. @at has room for TAPE_SPARE more.
 * @tries: the most jobs.
 */
uint32_t tape_shrink(const char *promise, struct chosen *at, uint32_t n, int tries);
