// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The nodes that a step can use: those of our job; without one, those of the partition. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

#include <stdint.h>

struct nodes {
	/** The number of nodes. UINT32_MAX: unknown. */
	uint32_t n;
	/** CPUs of the smallest node. 0: unknown. */
	uint32_t cpus;
	/** Whether they are the job's; and the source of this information, for messages. */
	bool of_job;
	const char *from;
};

/** Timeout for an answer of Slurm's tools, in milliseconds. */
#define NODES_ASK_MS 10000

/** The least number of SLURM_JOB_CPUS_PER_NODE, such as "8(x2),4"; 0 if it cannot be parsed. */
uint32_t nodes_least_cpus(struct str text);

/**
 * Read the output of `sinfo --noheader --format=%P|%D|%c`: a line for each partition and kind of
 * node. Lines of @partition count. NULL: those of the default partition, whose name ends in '*', or
 * all lines if no partition is the default. Returns false if it cannot be parsed.
 */
bool nodes_read_sinfo(struct str text, const char *partition, struct nodes *out);

/**
 * Find the nodes. In a job (SLURM_JOB_ID), ask squeue whether it is running; otherwise ask sinfo.
 * If that fails, the nodes are unknown, and srun reports the problem. @partition may be NULL.
 * Returns 0; -ESRCH with @err set if SLURM_JOB_ID is not a running job.
 */
int nodes_find(struct arena *arena, const struct env *env, const char *partition, struct nodes *out,
	       struct err *err);
