// SPDX-License-Identifier: Apache-2.0

/**
 * How Slurm deals the ranks of a step to its nodes, and so where rank 0 runs:
 *
 *     SLURM_DISTRIBUTION=cyclic    or block (also where it is absent), plane, arbitrary
 *     SLURM_HOSTFILE=/path         for arbitrary: the host of each rank, a line each
 *     SLURM_GTIDS=1,4              the ranks on this node, in order
 *
 * Reference: src/common/env.c, doc/man/man1/srun.1 of Slurm; seen in real runs of 22.05.
 */

#include "base/file.h"
#include "base/num.h"
#include "cluster/slurm.h"

#include <errno.h>

/** A file of as many lines as a step has tasks. */
#define HOSTFILE_BYTES ((size_t)16 << 20)

/** Set out->master to the host of the first line of SLURM_HOSTFILE, where rank 0 runs. */
static int read_arbitrary(struct input *in, struct placement *out, struct err *err) {
	const char *path = env_value(in->env, "SLURM_HOSTFILE");
	struct str text, line;
	struct err cause = {"it is not set"};
	out->master = out->hosts.n;
	if (path && file_read(in->arena, "SLURM_HOSTFILE", file_under_root(in->arena, in->root, path),
			      HOSTFILE_BYTES, &text, &cause) == 0) {
		while (str_cut(&text, '\n', &line)) {
			line = str_trim(line);
			if (line.len && line.p[0] != '#') {
				out->master = hosts_find_loosely(&out->hosts, line);
				break;
			}
		}
		if (out->master < out->hosts.n) {
			return 0;
		}
		err_set(&cause, EINVAL, "its first line is no node of the step");
	}
	// Of two nodes, one knows by its own tasks which it is: SLURM_GTIDS lists the ranks on this node, in order.
	struct str ranks = str_of(env_value(in->env, "SLURM_GTIDS"));
	if (out->hosts.n <= 2 && ranks.len && out->node_rank < out->hosts.n) {
		bool here = ranks.p[0] == '0';
		out->master = here ? out->node_rank : out->hosts.n - 1 - out->node_rank;
		return 0;
	}
	if (env_value(in->env, "MASTER_ADDR") || in->master_addr.value) {
		out->master = 0;
		return 0;
	}
	return err_set(err, EINVAL,
		       "SLURM_DISTRIBUTION=arbitrary: rank 0 runs on the host of SLURM_HOSTFILE's first "
		       "line, but %s; "
		       "make that file readable here, or set MASTER_ADDR or --master-addr",
		       cause.text);
}

/**
 * Whether the step runs over several groups of a heterogeneous job. Each group has a distribution of its own then, and
 * SLURM_DISTRIBUTION is that of any one of them; SLURM_JOB_NODELIST is the list of all of the step's groups.
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
	// The first part is about nodes: "block:cyclic" deals in blocks to them.
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
