// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Sources: each reads one cluster manager. Includes the readers that every source may use. */

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
	/**
	 * How it is recognised, in words; NULL: made from the row. `managers` prints this and the next
	 * three.
	 */
	const char *known_by;
	/** The variables and files it reads, made with READS(); NULL: those of the row. */
	const char *const *reads;
	/** Variables that it ignores because they often mislead; or NULL. */
	const char *leaves;
	/**
	 * Facts that this manager does not provide, and the way out; NULL: made from the row. `explain`
	 * prints it, too.
	 */
	const char *lacks;
	/**
	 * Its row (source/row.h): the condition for recognising it, and, without `read`, the meaning of
	 * its variables; or NULL.
	 */
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
	 * The variables that list the job's hosts, made with READS(); the first that is set counts. NULL:
	 * none. Only for a manager whose jobs inherit all variables of the process that submits them:
	 * these may include variables of another job's launcher.
	 */
	const char *const *job_hosts;
	/** For the same managers: the variable with the number of nodes of the step, or NULL; and the name of the
	 *  daemon that starts its processes. */
	const char *step_nnodes;
	const char *daemon;
	/** The user describes the cluster; then a launcher of any manager may give the task. */
	bool by_hand;
	/**
	 * It describes nodes, by variables that any software may set. It is ignored in ranks of a
	 * launcher.
	 */
	bool nodes_only;
};
