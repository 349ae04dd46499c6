// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Lists of nodes with slots, as batch managers and launchers write them: a name for each slot ("n1 n1 n2"), a name and a
 * number ("n1 2"), "n1 slots=2", "n1:2". A slot is room for one process that a launcher may start; nobody says that it does.
 */

#include "base/buf.h"
#include "cluster/cluster.h"

/** Most bytes of a file of nodes: a line for each slot of a very large job. */
#define NODEFILE_BYTES ((size_t)16 << 20)

/** How the lines of a file look. Blank ones count in none, nor does a CR at the end. */
enum nodefile_form {
	/** A name; each line is one slot. */
	NODEFILE_NAMES,
	/** A name, a number of slots, and whatever follows. */
	NODEFILE_COUNTS,
	/** Either of them, "NAME slots=N", "NAME:N"; comments from '#' on. */
	NODEFILE_ANY,
};

/** A node that is being collected. */
struct node {
	struct span name;
	uint32_t slots;
	/** Its number was told as the whole ("slots=2"), so that the node may not come again. */
	bool whole;
};

/** Nodes that are being collected, in the order in which they first come. */
struct nodes {
	struct arena *arena;
	/** Where they come from, for messages, and the line that is being read there; 0: there are no lines. */
	const char *what;
	uint32_t line;
	/** All names, a newline behind each. */
	struct buf text;
	struct node *list;
	uint32_t n;
	uint32_t cap;
	/** By name: index + 1, or 0; `mask` is their number less one. */
	uint32_t *seen;
	uint32_t mask;
};

#define NODES(a, w) ((struct nodes){.arena = (a), .what = (w), .text = BUF(a)})

/**
 * Add @slots to the node @name, which is collected if it is new.
 * Returns 0; -EINVAL for what is no name, or a node that may not come again; -E2BIG for more nodes or slots than there can be
 * (HOSTS_MAX).
 */
int nodes_add(struct nodes *nodes, struct str name, uint32_t slots, bool whole, struct err *err);

/** Read a number of slots, 1 to HOSTS_MAX. Returns 0; -EINVAL without a sentence. */
int slots_read(struct str text, uint32_t *slots);

/** Put what was collected into out->hosts and out->slots. */
void nodes_finish(struct nodes *nodes, struct placement *out);

/**
 * Collect the nodes of @text, lines of @form.
 * Returns 0; -EINVAL or -E2BIG with the line that is wrong.
 */
int nodefile_parse(struct nodes *nodes, struct str text, enum nodefile_form form, struct err *err);

/**
 * Read the file whose path @path stands in the variable or option @name, under in->root, into out->hosts, out->slots and
 * out->hosts_from; and, where a file of any kind gives all nodes the same number ("slots=2", ":2"), out->nproc_per_node.
 * Returns 0; -EACCES where we may not read it; -EINVAL.
 */
int nodefile_read(struct input *in, const char *name, const char *path, enum nodefile_form form,
		  struct placement *out, struct err *err);

/**
 * The same for a list that is the value of variable @name: "n1:8,n2:8".
 * Returns 0; -EINVAL.
 */
int nodefile_list(struct input *in, const char *name, const char *list, char separator, struct placement *out,
		  struct err *err);
