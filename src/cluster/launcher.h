// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a launcher is: it starts a process per rank, and sets variables that identify the rank. */

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
	 * Whether this launcher started us, if `rank` and `size` are set: the words "with" and
	 * "without" of a row (source/row.h), and a function. NULL: no such condition. Needed if
	 * other software uses the same two names.
	 */
	const char *row;
	bool (*detect)(const struct input *in);
	/** Instead: it started us if the first source with this name recognises its manager; NULL: none. */
	const char *as_source;
	/** Its manager: it does not count where another gave the placement. NULL: it belongs to none. */
	const char *manager;
	/** It copies its environment to every node, where a node's variables (SLURMD_NODENAME) are wrong. */
	bool copies_env;
	/** It has set all variables: nothing is derived. */
	bool complete;
	/** What it has set then, or a name with a final '*'; ends with NULL. */
	const char *const *sets;
};

/** The variable that identifies @launcher. */
const char *launcher_recognised_by(const struct launcher *launcher);

/** Whether the launcher called @name started this process. */
bool launched_by(const struct input *in, const char *name);

/** One more than the names that launcher_reads() can find. */
#define LAUNCHER_READS 10

/** The variables that @launcher reads, then NULL. */
void launcher_reads(const struct launcher *launcher, const char *out[LAUNCHER_READS]);
