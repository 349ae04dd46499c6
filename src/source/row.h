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
	/**
	 * The hosts, one per node, in node-rank order, separated by row->separator. Or a template of
	 * their names, which has braces: "{ACME_JOB}-{i}.{ACME_DOMAIN}". {i} is the number of the
	 * node, from 0 to nnodes - 1. Other braces hold variables, which must be set.
	 */
	ROW_HOSTS,
	/** The path of a file with a host on each line. */
	ROW_HOSTFILE,
	/**
	 * The number of nodes. If there are hosts, it must match them. "WORLD_SIZE/LOCAL_WORLD_SIZE"
	 * is a quotient.
	 */
	ROW_NNODES,
	/** The number of this node, from 0. A variable followed by "+1" counts from the second node. */
	ROW_NODE_RANK,
	/** The host of rank 0, perhaps with ":PORT". If there are hosts, it must be the first. */
	ROW_MASTER_ADDR,
	/** The rendezvous port. Of several, separated by ',', the first. */
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
	/**
	 * The variable for each field; NULL: this manager has none. Of several, "NNODES|NUM_NODES",
	 * the first that is set.
	 */
	const char *variables[ROW_FIELDS];
	/**
	 * The manager is recognised if this field's variable is set, and those of `known_with`, a
	 * set of fields.
	 */
	enum row_field known_by;
	unsigned known_with;
	/** Of these fields, the ones that must be numbers, because other software may use the names. */
	unsigned numbers;
	/** Fields whose variable is optional. The last two fields are always optional. */
	unsigned optional;
	/** The separator between hosts; 0: ','. */
	char separator;
	/**
	 * Each host is followed by its number of slots: "n1:8,n2:8". If all have the same number,
	 * it is nproc_per_node.
	 */
	bool slots;
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

/** The variables that @row names, then NULL. */
const char *const *row_reads(struct arena *arena, const struct source_row *row);
