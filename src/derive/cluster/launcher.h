// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Launchers: each starts a process per rank, and sets variables that identify the rank. */

#include "cluster/cluster.h"

/** Describes one launcher. */
struct launcher {
	const char *name;
	const char *about;
	/**
	 * The variables that identify the rank. The first two are always set; NULL: this launcher
	 * has no such variable. Without `size` no ranks are derived.
	 */
	const char *rank;
	const char *size;
	const char *local_rank;
	const char *local_size;
	/** The variable with the ranks on this node, separated by commas, or NULL. */
	const char *ranks_here;
	/** The variables with the name of this process's host; the first that is set counts. Or NULL. */
	const char *host[2];
	/** The variable with the index of this process's node among the launcher's, or NULL. */
	const char *node;
	/** The variable that identifies this launcher, if it is not `rank`. */
	const char *recognised_by;
	/**
	 * More conditions, besides `rank` and `size` being set: the words "with" and "without" of a row
	 * (source/row.h), and a function. NULL: none. Needed if other software uses the same two names.
	 */
	const char *row;
	bool (*detect)(const struct input *in);
	/** Use the detection of the first source with this name instead of `row` and `detect`. NULL: none. */
	const char *as_source;
	/**
	 * The name of its manager: if another manager gave the placement, this launcher is ignored. NULL:
	 * any manager.
	 */
	const char *manager;
	/**
	 * It copies its environment to every node, so variables of one node (SLURMD_NODENAME) are wrong
	 * on the others.
	 */
	bool copies_env;
	/** It sets all variables: nothing is derived. */
	bool complete;
	/** If `complete`: the variables that it sets; a name may end with '*'. Ends with NULL. */
	const char *const *sets;
};

/** The variable that identifies @launcher. */
const char *launcher_recognised_by(const struct launcher *launcher);

/** Whether the launcher called @name started this process. */
bool launched_by(const struct input *in, const char *name);

/** Room for the names that launcher_reads() can find, and the NULL. */
#define LAUNCHER_READS 10

/** The variables that @launcher reads, then NULL. */
void launcher_reads(const struct launcher *launcher, const char *out[LAUNCHER_READS]);
