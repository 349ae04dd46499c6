// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The nodes that a step can have: those of the job that this is in, else those of the partition. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

#include <stdint.h>

struct nodes {
	/** How many. UINT32_MAX: not known. */
	uint32_t n;
	/** CPUs of the smallest, 0: not known. */
	uint32_t cpus;
	/** Whether they are the job's; and what told it, for messages. */
	bool of_job;
	const char *from;
};

/** How long Slurm's tools may take to answer, in milliseconds. */
#define NODES_ASK_MS 10000

/** Read "8(x2),4", what SLURM_JOB_CPUS_PER_NODE is. Returns the least of the numbers; 0 where it is not understood. */
uint32_t nodes_least_cpus(struct str text);

/**
 * Read what `sinfo --noheader --format=%P|%D|%c` prints, a line for each partition and kind of node. Those of @partition count; NULL: those of
 * the default one, which has a '*' behind its name, or of all where none has. Returns false where it is not understood.
 */
bool nodes_read_sinfo(struct str text, const char *partition, struct nodes *out);

/**
 * Find out. In a job (SLURM_JOB_ID) squeue is asked whether it runs; without one, sinfo. What cannot be asked is left unknown: srun will say.
 * @partition may be NULL.
 * Returns 0; -ESRCH where SLURM_JOB_ID names no job that runs: @err says so.
 */
int nodes_find(struct arena *arena, const struct env *env, const char *partition, struct nodes *out,
	       struct err *err);
