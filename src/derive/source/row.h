// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Managers that need only a row: a text that gives the meaning of their variables. The rows of the
 * table (rows.c) and the user's --read are one language, with one reader:
 *
 *     hosts!=ACME_NODES node-rank=ACME_INDEX nnodes?=ACME_COUNT|ACME_SIZE batch
 *
 * A word is FIELD=VARIABLE. Of several variables, "A|B", the first that is set counts. The fields:
 *
 *     hosts           the hosts, one per node, in node-rank order, separated by ','
 *     hostfile        the path of a file with a host on each line
 *     nnodes          the number of nodes, which must match the hosts; "A/B" is a quotient
 *     node-rank       the number of this node, from 0; "A+1" counts from the second node.
 *                     Without this field, distinit finds this machine among the hosts
 *     master-addr     the host of rank 0, perhaps with ":PORT"; it must be the first of the hosts
 *     master-port     the master's port, perhaps after "HOST:"; of several, the first
 *     nproc-per-node  processes to start on each node; anything but a number from 1 is ignored
 *     job             the job's id; this field and the one before are always optional
 *     with, without   a condition only: the manager is recognised if it is set, or if it is not set
 *
 * Marks after a field's name:
 *
 *     hosts[;]=       another separator of hosts, one byte; or \n, \t
 *     nnodes?=        the variable need not be set
 *     nnodes!=        the manager is recognised only if it is set
 *     nnodes#=        the manager is recognised only if it is a number
 *     nnodes!=A:P*    the value, or its part before the first dot, must match P*, where '*' is any
 *                     text; or one of several, "P*|Q"
 *     nnodes?=A:P*    if the value does not match, the variable counts as not set
 *
 * Words alone: `slots`: in the list, a number of slots follows each host ("n1:8"); in the file, each
 * line is a slot. Without it, each host is listed once. `batch`: the script runs on one of the nodes, and
 * jobs share nodes (batch.h). `shared`: jobs share nodes.
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
	/** From here on, words without a variable. */
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
	/** The text after '='; its p is NULL if there is none. */
	struct str variables;
	/** The text after ':', or empty. */
	struct str pattern;
};

/** Cut the next word off *@text. Returns whether there was one. */
bool row_next(const char **text, struct row_word *out);

/** A parsed row: the text after '=' of each field. p is NULL if the row does not have the field. */
struct row {
	struct str variables[ROW_FIELDS];
	struct str patterns[ROW_FIELDS];
	/** Sets of fields: those in the row, and those marked '?'. */
	unsigned fields;
	unsigned optional;
	char separator;
};

/** Parse @text, which row_check() accepts. */
struct row row_parse(const char *text);

/**
 * Check the words of @text. @from, such as "--read", is for messages. The rows of the table are
 * checked by tests/unit/test-row.c. Returns 0; -EINVAL for a wrong word, for fields that describe
 * no cluster, or contradict each other.
 */
int row_check(const char *from, const char *text, struct err *err);

/** A variable of a field. */
struct row_value {
	/** Its name; if none of several is set, all of them. */
	const char *name;
	/** NULL if it is not set. */
	const char *value;
	/** "+1" follows the name. */
	bool plus;
	/** The value has {i} in it. */
	bool numbered;
};

/** Find the value of @variables for node @i. All fields are zero if variables.p is NULL. */
struct row_value row_value(const struct input *in, struct str variables, uint32_t i);

/** Whether @value matches one of @patterns, "P*|Q"; true if there are none. */
bool row_is_like(const struct input *in, const char *value, struct str patterns);

/**
 * Whether the environment meets the conditions in @text. *@by is the variable of the first; NULL: there
 * is none.
 */
bool row_matches(const struct input *in, const char *text, const char **by);

/** The variable by which the row @text, which begins with a condition, is recognised; or NULL. */
const char *row_detect(const struct input *in, const char *text);

/** Fill in @out from the row @text, recognised by @by. Returns 0; -EINVAL, which names the variable. */
int row_read(struct input *in, const char *text, const char *by, struct placement *out, struct err *err);

/** The variables that the row @text names, then NULL, in the form of READS(). */
const char *const *row_reads(struct arena *arena, const char *text);

/** The row's condition for recognising the manager, in words. */
const char *row_known_by(struct arena *arena, const char *text);
