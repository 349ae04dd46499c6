// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a source is: it knows one cluster manager. With it come the readers that every source may use. */

#include "cluster/launcher.h"
#include "cluster/read.h"
#include "cluster/self.h"

struct source_row;

/**
 * Names of variables and paths of files, then NULL. One '*' in a name stands for any text: "VC_*_HOSTS". `distinit sources`
 * lists them, and `distinit bundle` does not carry such variables to other hosts.
 */
#define READS(...) \
	(const char *const[]) { \
		__VA_ARGS__, NULL \
	}

/** Knows one cluster manager. */
struct source {
	const char *name;
	/** One line for `distinit sources`. */
	const char *about;
	/** For the same: what has to be there, in words; NULL: the row says it, */
	const char *known_by;
	/** the variables and files it reads, as READS() makes them; NULL: those of the row, */
	const char *const *reads;
	/** what it finds beside them and leaves alone, as it often misleads, or NULL, */
	const char *leaves;
	/** and what this manager does not tell, with the way out; or NULL. `explain` says it, too. */
	const char *lacks;
	/** What its variables are, where it does nothing but name them (source/row.h); or NULL. */
	const struct source_row *row;
	/**
	 * Whether this manager's variables are there, complete enough to be meant. Returns the one by which it was
	 * recognised, or NULL. Cheap, silent and without system calls: it is asked in every process. NULL: ask the row.
	 */
	const char *(*detect)(const struct input *in);
	/** Fill in @out, which is preset to "unknown". Returns 0; -EINVAL with @err set. NULL: read the row. */
	int (*read)(struct input *in, struct placement *out, struct err *err);
	/** The user told the hosts by an option; what belongs to a manager then does not stand against it. */
	bool by_hand;
	/** It tells of nodes, by names that anybody may set: a rank of a launcher is not its own. */
	bool nodes_only;
};
