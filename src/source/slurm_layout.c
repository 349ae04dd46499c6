// SPDX-License-Identifier: Apache-2.0

/**
 * How Slurm distributes the ranks of a step to its nodes, and so where rank 0 runs:
 *
 *     SLURM_DISTRIBUTION=cyclic    or block (also if absent), plane, arbitrary
 *     SLURM_HOSTFILE=/path         for arbitrary: the host of each rank, one per line
 *     SLURM_GTIDS=1,4              the ranks on this node, in order
 *
 * Reference: src/common/env.c, doc/man/man1/srun.1 of Slurm; seen in real runs of 22.05.
 */

#include "base/file.h"
#include "base/num.h"
#include "source/slurm.h"

#include <errno.h>

/** The file has one line per task of the step. */
#define HOSTFILE_BYTES ((size_t)16 << 20)

/** The host of rank 0: the first name of a host file, in which a line is a comment or names with "*COUNT". */
static struct str first_host(struct str text) {
	struct str line;
	while (str_cut(&text, '\n', &line)) {
		for (size_t i = 0; i < line.len; i++) {
			if (line.p[i] == ',' || line.p[i] == '*' || line.p[i] == '#') {
				line.len = i;
			}
		}
		line = str_trim(line);
		if (line.len) {
			return line;
		}
	}
	return STR("");
}

/** Set out->master to the host of rank 0 in SLURM_HOSTFILE. */
static int read_arbitrary(struct input *in, struct placement *out, struct err *err) {
	const char *path = env_value(in->env, "SLURM_HOSTFILE");
	struct str text;
	struct err cause = {"SLURM_HOSTFILE is not set"};
	if (out->hosts.n == 1) {
		return 0;
	}
	if (path && input_read_file(in, "SLURM_HOSTFILE", path, HOSTFILE_BYTES, &text, &cause) == 0) {
		struct str host = first_host(text);
		out->master = hosts_find_loosely(&out->hosts, host);
		if (out->master < out->hosts.n) {
			return 0;
		}
		err_set(&cause, EINVAL, "SLURM_HOSTFILE=%s begins with %s, which is not a node of the step",
			quote_text(path).s, quote(host).s);
	}
	// With two nodes, each can see where rank 0 runs: SLURM_GTIDS lists the ranks on this node,
	// in order.
	struct str ranks = str_of(env_value(in->env, "SLURM_GTIDS"));
	if (out->hosts.n == 2 && ranks.len && out->node_rank < 2) {
		out->master = ranks.p[0] == '0' ? out->node_rank : 1 - out->node_rank;
		return 0;
	}
	out->master = 0;
	if (env_value(in->env, "MASTER_ADDR") || in->master_addr.value) {
		return 0;
	}
	return err_set(err, EINVAL,
		       "SLURM_DISTRIBUTION=arbitrary: only SLURM_HOSTFILE says where rank 0 runs, but %s; "
		       "make it readable here, or set MASTER_ADDR or --master-addr",
		       cause.text);
}

/**
 * Whether the step runs on several groups of a heterogeneous job. Then each group has its own
 * distribution, and SLURM_DISTRIBUTION is that of an arbitrary group. SLURM_JOB_NODELIST is the
 * list of all groups of the step.
 */
static bool spans_groups(struct input *in) {
	const char *groups = env_value(in->env, "SLURM_HET_SIZE");
	struct str nodes = str_of(env_value(in->env, "SLURM_JOB_NODELIST"));
	uint32_t n = 0;
	if (!groups || num_read_u32(str_of(groups), &n) < 0) {
		return false;
	}
	for (uint32_t i = 0; i < n && i < SLURM_HET_GROUPS_MAX; i++) {
		const char *name = arena_format(in->arena, "SLURM_JOB_NODELIST_HET_GROUP_%u", i);
		if (nodes.len && str_eq(str_of(env_value(in->env, name)), nodes)) {
			return false;
		}
	}
	return n > 1;
}

int slurm_read_layout(struct input *in, struct placement *out, struct err *err) {
	const char *told = env_value(in->env, "SLURM_DISTRIBUTION");
	struct str whole = str_of(told ? told : "block");
	size_t end = str_find(whole, ':');
	// The first part is for nodes: "block:cyclic" distributes ranks to nodes in blocks.
	struct str nodes = {whole.p, end < str_find(whole, ',') ? end : str_find(whole, ',')};
	if (str_is(nodes, "arbitrary")) {
		return read_arbitrary(in, out, err);
	}
	if (spans_groups(in)) {
		return 0;
	}
	if (str_is(nodes, "block") || str_is(nodes, "*")) {
		out->layout = LAYOUT_BLOCK;
	} else if (str_is(nodes, "cyclic")) {
		out->layout = LAYOUT_CYCLIC;
	}
	return 0;
}
