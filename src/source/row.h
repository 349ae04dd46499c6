// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Managers that only name variables. Such a manager is a row: which variable tells what. One reader
 * serves all rows, with the same checks and the same sentences, so that a row can also be made from
 * a text at run time.
 *
 * A manager that tells more than a row can say has a file of its own. It may still leave the
 * reading to a row, and recognise itself.
 */

#include "cluster/cluster.h"

/** What one variable of a manager tells. */
enum row_field {
	/**
	 * The hosts, one for each node, in node-rank order, separated by row->separator. Or a
	 * template of their names, which has braces: "{ACME_JOB}-{i}.{ACME_DOMAIN}". {i} is the
	 * node's number, from 0 to nnodes - 1; other braces hold variables, which have to be set.
	 */
	ROW_HOSTS,
	/** The path of a file with a host on each line. */
	ROW_HOSTFILE,
	/**
	 * The number of nodes. Beside hosts it has to be theirs. "WORLD_SIZE/LOCAL_WORLD_SIZE" is
	 * a quotient.
	 */
	ROW_NNODES,
	/** This node's number, from 0. A variable with "+1" behind counts from the second node. */
	ROW_NODE_RANK,
	/** The host of rank 0, perhaps with ":PORT". Beside hosts it has to be the first. */
	ROW_MASTER_ADDR,
	/** The rendezvous port. Of several, separated by ',', the first. */
	ROW_MASTER_PORT,
	/**
	 * Processes to start on each node. What is no number from 1 ("auto", "0.5") is left aside.
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
	 * The variable for each field, or NULL: this manager does not tell it. Of several,
	 * "NNODES|NUM_NODES", the first that is set.
	 */
	const char *variables[ROW_FIELDS];
	/**
	 * The manager is there if this field's variable is set, and those of `known_with`, a set of
	 * fields.
	 */
	enum row_field known_by;
	unsigned known_with;
	/** Of these, the fields that have to be numbers: others may use the names. */
	unsigned numbers;
	/** Fields whose variable need not be set. The last two never need to be. */
	unsigned optional;
	/** Between hosts: ',' unless told, which is 0 here. */
	char separator;
	/**
	 * Behind each host stands its number of slots: "n1:8,n2:8". Where all have the same number,
	 * it is nproc_per_node.
	 */
	bool slots;
	/** A batch manager: the script runs on one of the nodes, and jobs share nodes (batch.h). */
	bool batch;
	/**
	 * Lines of the host file are slots. Otherwise a node stands there once, whatever fits on
	 * it.
	 */
	bool lines_are_slots;
};

/**
 * Whether the manager's variables are there. Returns the one by which it was recognised, or NULL.
 */
const char *row_detect(const struct input *in, const struct source_row *row);

/**
 * Fill in @out from the variables of @row, which was recognised by @recognised_by.
 * Returns 0; -EINVAL with a sentence that names the variable.
 */
int row_read(struct input *in, const struct source_row *row, const char *recognised_by, struct placement *out,
	     struct err *err);

/** The variables that @row names, then NULL. */
const char *const *row_reads(struct arena *arena, const struct source_row *row);
