// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Managers that need only a table row: which variable has which meaning. One reader serves all
 * rows, with the same checks and messages, so that a row can also be made from a text at run time.
 *
 * A manager that needs more has its own file. It may still use a row for reading, and recognise
 * itself.
 */

#include "cluster/cluster.h"

/** The meaning of a manager's variable. */
enum row_field {
	/** The hosts, one per node, in node-rank order, separated by row->separator. */
	ROW_HOSTS,
	/** The path of a file with a host on each line. */
	ROW_HOSTFILE,
	/** The number of nodes. If there are hosts, it must match them. */
	ROW_NNODES,
	/** This node's number, from 0. */
	ROW_NODE_RANK,
	/** The host of rank 0. */
	ROW_MASTER_ADDR,
	/** The rendezvous port. */
	ROW_MASTER_PORT,
	/**
	 * Processes to start on each node. A value that is not a number from 1 ("auto", "0.5") is
	 * ignored.
	 */
	ROW_NPROC_PER_NODE,
	/** The job's id. */
	ROW_JOB,
	ROW_FIELDS,
};

/** The name of each field, as users write it: "node-rank". */
extern const char *const row_field_names[ROW_FIELDS];

/** For source_row's sets of fields. */
#define ROW_BIT(field) (1u << (field))

struct source_row {
	/** The variable for each field; NULL: this manager has none. */
	const char *variables[ROW_FIELDS];
	/**
	 * The manager is recognised if this field's variable is set, and those of `known_with`, a
	 * set of fields.
	 */
	enum row_field known_by;
	unsigned known_with;
	/**
	 * The value of known_by's variable must be a number, because other software may use the
	 * name.
	 */
	bool known_by_number;
	/** Fields whose variable is optional. The last two fields are always optional. */
	unsigned optional;
	/** The separator between hosts; 0: ','. */
	char separator;
	/** A batch manager: the script runs on one of the nodes, and jobs share nodes (batch.h). */
	bool batch;
	/**
	 * Lines of the host file are slots. Otherwise the file lists each node once, with any
	 * number of slots.
	 */
	bool lines_are_slots;
};

/**
 * Whether the manager's variables are set. Returns the variable by which it was recognised, or
 * NULL.
 */
const char *row_detect(const struct input *in, const struct source_row *row);

/**
 * Fill in @out from the variables of @row, which was recognised by @recognised_by.
 * Returns 0; -EINVAL with a message that names the variable.
 */
int row_read(struct input *in, const struct source_row *row, const char *recognised_by, struct placement *out,
	     struct err *err);
