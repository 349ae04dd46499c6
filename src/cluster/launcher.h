// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a launcher is: it starts one process per rank, and tells each by variables which it is. */

#include "cluster/cluster.h"

/** Knows one launcher. */
struct launcher {
	const char *name;
	const char *about;
	/** The variables that say it. The first two are always there; a NULL one it does not have. */
	const char *rank;
	const char *size;
	const char *local_rank;
	const char *local_size;
	/** The variable with the name of this process's host, or NULL. */
	const char *host;
	/** The variable with the index of this process's node among the launcher's, or NULL. */
	const char *node;
	/** The variable that gives it away, where that is not `rank`. */
	const char *recognised_by;
	/**
	 * Whether this launcher started us, beyond that `rank` and `size` are set; NULL: that is enough. Others may use the
	 * same two names.
	 */
	bool (*detect)(const struct input *in);
	/** Or: it started us where the first source of this name recognises its manager. NULL: any `detect` decides alone. */
	const char *as_source;
	/** The manager that it is part of: its word counts where that manager gave the placement. NULL: it is part of none. */
	const char *manager;
	/** It copies its own environment to every node, so what names or numbers a node there (SLURMD_NODENAME) is wrong. */
	bool copies_env;
	/** It has set all there is to set: nothing is derived. */
	bool complete;
};

/** The variable that gives @launcher away. */
const char *launcher_recognised_by(const struct launcher *launcher);

/** Whether the launcher called @name started this process. */
bool launched_by(const struct input *in, const char *name);

/** More names than launcher_reads() finds. */
#define LAUNCHER_READS 8

/** The variables that @launcher is read from, then NULL. */
void launcher_reads(const struct launcher *launcher, const char *out[LAUNCHER_READS]);
