// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a source is: it knows one cluster manager. With it come the readers that every source may use. */

#include "cluster/launcher.h"
#include "cluster/read.h"
#include "cluster/self.h"

/** Knows one cluster manager. */
struct source {
	const char *name;
	/** One line for `distinit sources`. */
	const char *about;
	/** For the same, words with a blank between: what has to be there, */
	const char *known_by;
	/** the variables and files it reads, */
	const char *reads;
	/** what it finds beside them and leaves alone, as it often misleads, or NULL, */
	const char *leaves;
	/** and what this manager does not tell, with the way out; or NULL. `explain` says it, too. */
	const char *lacks;
	/**
	 * Whether this manager's variables are there, complete enough to be meant. Returns the one by which it was recognised, or
	 * NULL. Cheap, silent and without system calls: it is asked in every process.
	 */
	const char *(*detect)(const struct input *in);
	/** Fill in @out, which is preset to "unknown". Returns 0; -EINVAL with @err set. */
	int (*read)(struct input *in, struct placement *out, struct err *err);
	/** The user told the hosts by an option; what belongs to a manager then does not stand against it. */
	bool by_hand;
};
