// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Managers that need only a row: a text that says which of their variables has which meaning. The
 * rows of the table (rows.c) and the user's --read are one language, with one reader:
 *
 *     hosts!=ACME_NODES node-rank=ACME_INDEX nnodes?=ACME_COUNT|ACME_SIZE batch
 *
 * A word is FIELD=VARIABLE. Of several variables, "A|B", the first that is set counts. The fields:
 *
 *     hosts           the hosts, one per node, in node-rank order, separated by ','
 *     hostfile        the path of a file with a host on each line
 *     nnodes          the number of nodes, which must match the hosts; "A/B" is a quotient
 *     node-rank       the number of this node, from 0; "A+1" counts from the second node.
 *                     Without this field, this machine is looked for among the hosts
 *     master-addr     the host of rank 0, perhaps with ":PORT"; the first of the hosts
 *     master-port     the rendezvous port, perhaps after "HOST:"; of several, the first
 *     nproc-per-node  processes to start on each node; what is not a number from 1 is ignored
 *     job             the job's id; this field and the one before are always optional
 *     with, without   no meaning, but the manager is recognised only if it is set, or not set
 *
 * Marks behind a field's name:
 *
 *     hosts[;]=       another separator of hosts, one byte; or \n, \t
 *     nnodes?=        the variable need not be set
 *     nnodes!=        the manager is recognised only if it is set
 *     nnodes#=        the manager is recognised only if it is a number
 *     nnodes!=A:P*    the value, or its part before the first dot, must look like P*, where '*' is
 *                     any text; or like one of several, "P*|Q"
 *     nnodes?=A:P*    the variable counts as not set if its value does not look so
 *
 * Words alone: `slots`: each host of the list is followed by its number of slots ("n1:8"), or each
 * line of the file is a slot; without it, each host is there once. `batch`: the script runs on one
 * of the nodes, and jobs share nodes (batch.h). `shared`: jobs share nodes.
 *
 * A value with braces is a text: "{ACME_JOB}-{i}.{ACME_DOMAIN}". Braces are replaced by the value
 * of the variable, {i} by the number of the node from 0, {hostname} by this machine's name, and
 * {A#i} by the name of a pod in A with number i, without a port. Braces may be inside braces:
 * "{ACME_HOST_{i}}".
 */

#include "cluster/cluster.h"

enum row_field {
	ROW_HOSTS,
	ROW_HOSTFILE,
	ROW_NNODES,
	ROW_NODE_RANK,
	ROW_MASTER_ADDR,
	ROW_MASTER_PORT,
	ROW_NPROC_PER_NODE,
	ROW_JOB,
	ROW_WITH,
	ROW_WITHOUT,
	/** From here on, words alone. */
	ROW_SLOTS,
	ROW_BATCH,
	ROW_SHARED,
	ROW_FIELDS,
};

/** Their names, as users write them. */
extern const char row_field_names[ROW_FIELDS][16];

#define ROW_BIT(field) (1u << (field))

/** A word of a row. */
struct row_word {
	/** All of it, for messages. */
	struct str text;
	struct str name;
	/** ROW_FIELDS: there is no such field. */
	enum row_field field;
	/** 0: none. */
	char separator;
	bool optional;
	/** A part of the condition for recognising the manager. */
	bool known_by;
	bool is_number;
	/** The part behind '='; its p is NULL: there is none. */
	struct str variables;
	/** The part behind ':', or empty. */
	struct str pattern;
};

/** Cut the next word off *@text. Returns whether there was one. */
bool row_next(const char **text, struct row_word *out);

/** A row as it is read: of each field, what stands behind '='. p is NULL: the row has no such field. */
struct row {
	struct str variables[ROW_FIELDS];
	struct str patterns[ROW_FIELDS];
	/** Sets of fields: those in the row, and those marked '?'. */
	unsigned fields;
	unsigned optional;
	char separator;
};

/** Read @text, which row_check() passes. */
struct row row_parse(const char *text);

/**
 * Check the words of @text. @from, such as "--read", is for messages. The rows of the table are
 * checked by tests/unit/test-row.c. Returns 0; -EINVAL for a wrong word, for fields that describe
 * no cluster, or contradict each other.
 */
int row_check(const char *from, const char *text, struct err *err);

/** A variable of a field. */
struct row_value {
	/** Its name; where none of several is set, all of them. */
	const char *name;
	/** NULL: it is not set. */
	const char *value;
	/** There is a "+1" behind it. */
	bool plus;
	/** The value has {i} in it. */
	bool numbered;
};

/** Find the value of @variables for node @i; all zero where their p is NULL. */
struct row_value row_value(const struct input *in, struct str variables, uint32_t i);

/** Whether @value is like one of @patterns, "P*|Q"; true if there are none. */
bool row_is_like(const struct input *in, const char *value, struct str patterns);

/** Whether the conditions in @text hold. *@by is the variable of the first, if there is one. */
bool row_holds(const struct input *in, const char *text, const char **by);

/** The variable by which the row @text, which begins with a condition, is recognised; or NULL. */
const char *row_detect(const struct input *in, const char *text);

/** Fill in @out from the row @text, recognised by @by. Returns 0; -EINVAL, which names the variable. */
int row_read(struct input *in, const char *text, const char *by, struct placement *out, struct err *err);

/** The variables that the row @text names, then NULL, in the form of READS(). */
const char *const *row_reads(struct arena *arena, const char *text);

/** Its condition for recognising the manager, in words. */
const char *row_known_by(struct arena *arena, const char *text);
