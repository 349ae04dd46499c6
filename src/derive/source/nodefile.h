// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Lists of nodes with slots, as batch managers and launchers write them: one name per slot ("n1 n1
 * n2"), a name and a number ("n1 2"), "n1 slots=2", "n1:2". A slot is room for one process. A
 * launcher may start it, but need not.
 */

#include "base/table.h"
#include "cluster/cluster.h"

/** Largest file of nodes: one line per slot of a very large job. */
#define NODEFILE_BYTES ((size_t)16 << 20)

/** The form of the lines. Blank lines, and a CR at the end of a line, are ignored in all forms. */
enum nodefile_form {
	/** A name; each line is one slot. */
	NODEFILE_NAMES,
	/** A name, a number of slots, and any further words. */
	NODEFILE_COUNTS,
	/** Any of these, "NAME slots=N", "NAME:N"; comments start with '#'. */
	NODEFILE_ANY,
};

/** A collected node. */
struct node {
	struct str name;
	uint32_t slots;
	/** Its line gave the total number ("slots=2"), so the node must not be repeated. */
	bool whole;
};

/** Collected nodes, in the order of first appearance. */
struct node_list {
	struct arena *arena;
	/** The source, for messages, and the current line there; 0: the source has no lines. */
	const char *what;
	uint32_t line;
	struct node *list;
	uint32_t n;
	uint32_t cap;
	/** By name: its index in the list + 1. */
	struct table seen;
};

#define NODE_LIST(a, w) ((struct node_list){.arena = (a), .what = (w)})

/**
 * Add @slots to the node @name. A new node is added to the list; its name is not copied. @whole: as in
 * struct node.
 * Returns 0; -EINVAL for a wrong name, or a node that must not be repeated; -E2BIG for more than
 * HOSTS_MAX nodes or slots.
 */
int node_list_add(struct node_list *nodes, struct str name, uint32_t slots, bool whole, struct err *err);

/** Read a number of slots, 1 to HOSTS_MAX. Returns 0; -EINVAL without a message. */
int slots_read(struct str text, uint32_t *slots);

/** Put the collected nodes into out->hosts and out->slots. */
void node_list_finish(struct node_list *nodes, struct placement *out);

/** Collect the nodes of @text, in the form @form. Returns 0; -EINVAL or -E2BIG with the wrong line. */
int nodefile_parse(struct node_list *nodes, struct str text, enum nodefile_form form, struct err *err);

/**
 * Read the file that @setting names, under in->root, into out->hosts, out->slots and out->hosts_from.
 * If a file of any form gives all nodes the same number ("slots=2", ":2"), it also sets
 * out->nproc_per_node.
 * Returns 0; -EINVAL, also if the file cannot be read.
 */
int nodefile_read_setting(struct input *in, const struct setting *setting, enum nodefile_form form,
			  struct placement *out, struct err *err);

/** The same for @path, which the variable @name or a manager gives. */
int nodefile_read(struct input *in, const char *name, const char *path, enum nodefile_form form,
		  struct placement *out, struct err *err);

/** The same for a list in the variable @name: "n1:8,n2:8". Returns 0; -EINVAL. */
int nodefile_list(struct input *in, const char *name, const char *list, char separator, struct placement *out,
		  struct err *err);
