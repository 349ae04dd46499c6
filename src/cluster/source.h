// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a source is: it reads one cluster manager. Includes the readers that every source may use. */

#include "cluster/launcher.h"
#include "cluster/read.h"
#include "cluster/self.h"

/**
 * Names of variables and paths of files, then NULL. One '*' in a name stands for any text:
 * "VC_*_HOSTS". `distinit managers` lists them, and `distinit bundle` does not send such variables
 * to other hosts.
 */
#define READS(...) \
	(const char *const[]) { \
		__VA_ARGS__, NULL \
	}

/** Reads one cluster manager. */
struct source {
	const char *name;
	/** One line for `distinit managers`. */
	const char *about;
	/** How it is recognised, in words; NULL: the row says so. As the next three, for people as well. */
	const char *known_by;
	/** The variables and files it reads, made with READS(); NULL: those of the row. */
	const char *const *reads;
	/** What it ignores although it may be set, because it often misleads; or NULL. */
	const char *leaves;
	/** What this manager does not provide, and the way out; NULL: the row says so. `explain` prints it, too. */
	const char *lacks;
	/** What its variables mean, if they are all that is needed (source/row.h); or NULL. */
	const char *row;
	/**
	 * Whether this manager's variables are set, and complete enough to be valid. Returns the
	 * variable by which it was recognised, or NULL. This must be cheap, silent and without
	 * system calls, because every process runs it. NULL: use the row.
	 */
	const char *(*detect)(const struct input *in);
	/** Fill in @out, preset to "unknown". Returns 0; -EINVAL with @err set. NULL: use the row. */
	int (*read)(struct input *in, struct placement *out, struct err *err);
	/**
	 * The lists of the job's hosts, made with READS(), of which the first that is set counts; or
	 * NULL. Only for a manager whose jobs get all variables of the process that submits them:
	 * variables that the launcher of another job has set may be among them.
	 */
	const char *const *job_hosts;
	/** The user gave the hosts by an option; then a launcher of any manager may give the task. */
	bool by_hand;
	/** It describes nodes, by names that any software may set; it does not own a launcher's ranks. */
	bool nodes_only;
};
