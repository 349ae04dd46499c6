// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds the nodes that a step can use: those of our job; outside of a job, those of the partition. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

#include <stdint.h>

struct nodes {
	/** The number of nodes; UINT32_MAX: unknown. */
	uint32_t n;
	/** The number of CPUs of the smallest node; 0: unknown. */
	uint32_t cpus;
	/** The nodes are those of our job. */
	bool of_job;
	/** The variable or tool that these numbers are from, for messages. */
	const char *from;
};

/** Timeout for an answer of Slurm's tools, in milliseconds. */
#define NODES_ASK_MS 10000

/** Find the smallest number in @text, a SLURM_JOB_CPUS_PER_NODE such as "8(x2),4"; 0 if it cannot be parsed. */
uint32_t nodes_least_cpus(struct str text);

/**
 * Read the output of `sinfo --noheader --format=%P|%D|%c`: a line for each partition and kind of node. Only
 * the lines of @partition count. NULL: those of the default partition, whose name ends in '*'; if there is
 * no default, all lines. Returns false if the output cannot be parsed.
 */
bool nodes_read_sinfo(struct str text, const char *partition, struct nodes *out);

/**
 * Find the nodes. In a job (SLURM_JOB_ID), ask squeue whether it is running; otherwise ask sinfo about
 * @partition, which may be NULL. If the tool fails, the nodes are unknown, and srun will report the problem.
 * Returns 0; -ESRCH if SLURM_JOB_ID is not a running job.
 */
int nodes_find(struct arena *arena, const struct env *env, const char *partition, struct nodes *out,
	       struct err *err);
