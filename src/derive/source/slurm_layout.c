// SPDX-License-Identifier: Apache-2.0

/**
 * How Slurm distributes the ranks of a step to its nodes, and so where rank 0 runs:
 *
 *     SLURM_DISTRIBUTION=cyclic            or block (also if absent), plane, arbitrary
 *     SLURM_HOSTFILE=/path                 for arbitrary: the host of each rank, one per line
 *     SLURM_ARBITRARY_NODELIST=n3,n1,n3    the same, of a job of sbatch or salloc -m arbitrary
 *     SLURM_GTIDS=1,4                      the ranks on this node, in order
 *
 * A step of its own hosts (srun -w) inherits SLURM_ARBITRARY_NODELIST of the job, too.
 *
 * Reference: src/common/env.c, src/sbatch/sbatch.c, src/srun/srun_job.c (284c3b95),
 * doc/man/man1/srun.1 of Slurm; seen in real runs of 22.05.
 */

#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "base/table.h"
#include "cluster/hostlist.h"
#include "source/slurm.h"

#include <errno.h>

#define ARBITRARY "SLURM_ARBITRARY_NODELIST"

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

/** Whether rank 0 may run on node @master, judging by this node's own ranks. */
static bool is_rank_0_on(const struct input *in, const struct placement *out, uint32_t master) {
	struct str ranks = str_of(env_value(in->env, "SLURM_GTIDS")), first;
	return !str_cut(&ranks, ',', &first) || out->node_rank >= out->hosts.n ||
	       str_is(first, "0") == (out->node_rank == master);
}

/**
 * Find the host of rank 0, which SLURM_HOSTFILE names first. Returns 0; or a negative errno, with a
 * clause in @cause.
 */
static int read_hostfile(struct input *in, struct placement *out, struct err *cause) {
	const char *path = env_value(in->env, "SLURM_HOSTFILE");
	struct str text;
	if (!path) {
		return err_set(cause, EINVAL, "SLURM_HOSTFILE is not set");
	}
	int r = input_read_file(in, "SLURM_HOSTFILE", path, HOSTFILE_BYTES, &text, cause);
	if (r < 0) {
		return r;
	}
	struct str host = first_host(text);
	uint32_t master = hosts_find_loosely(&out->hosts, host);
	if (master == out->hosts.n) {
		return err_set(cause, EINVAL,
			       "SLURM_HOSTFILE=%s begins with %s, which is not a node of the step",
			       quote_text(path).s, quote(host).s);
	}
	if (!is_rank_0_on(in, out, master)) {
		return err_set(cause, EINVAL,
			       "SLURM_HOSTFILE=%s begins with %s, but SLURM_GTIDS=%s are the ranks of %s",
			       quote_text(path).s, quote(host).s,
			       quote_text(env_value(in->env, "SLURM_GTIDS")).s,
			       quote(hosts_at(&out->hosts, out->node_rank)).s);
	}
	out->master = master;
	return 0;
}

/**
 * Whether @ranks, a host for each rank, fits the number of tasks on each node of @out, and SLURM_GTIDS on
 * this one. If the list is another step's, a node with the same ranks in both cannot detect it, but the
 * other nodes refuse to start.
 */
static bool ranks_fit(const struct input *in, const struct hosts *ranks, const struct placement *out) {
	uint32_t *tasks = arena_array(in->arena, out->hosts.n, sizeof(*tasks));
	struct buf here = BUF(in->arena);
	struct table nodes;
	memset(tasks, 0, out->hosts.n * sizeof(*tasks));
	table_init(&nodes, in->arena, out->hosts.n);
	for (uint32_t i = 0; i < out->hosts.n; i++) {
		*table_put(&nodes, hosts_at(&out->hosts, i)) = i;
	}
	for (uint32_t i = 0; i < ranks->n; i++) {
		const uint32_t *node = table_find(&nodes, hosts_at(ranks, i));
		if (!node) {
			return false;
		}
		tasks[*node]++;
		if (*node == out->node_rank) {
			buf_puts(&here, here.len ? "," : "");
			buf_putu(&here, i);
		}
	}
	return out->tasks_per_node &&
	       memcmp(tasks, out->tasks_per_node, out->hosts.n * sizeof(*tasks)) == 0 &&
	       str_is(buf_str(&here), env_value(in->env, "SLURM_GTIDS"));
}

/**
 * The same, from SLURM_ARBITRARY_NODELIST, if this is the list of this step. @cause has a clause, which
 * is continued.
 */
static int read_arbitrary_list(const struct input *in, struct placement *out, struct err *cause) {
	const char *list = env_value(in->env, ARBITRARY);
	struct hosts ranks;
	struct err wrong = {""};
	if (!list) {
		return -ENOENT;
	}
	if (hostlist_expand(in->arena, ARBITRARY, str_of(list), &ranks, &wrong) == 0 && ranks.n &&
	    ranks_fit(in, &ranks, out)) {
		out->master = hosts_find(&out->hosts, hosts_at(&ranks, 0));
		return 0;
	}
	const char *first = arena_text(in->arena, cause->text, strlen(cause->text));
	return err_set(cause, EINVAL, "%s, and %s%s", first,
		       wrong.text[0] ? wrong.text
				     : arena_format(in->arena, ARBITRARY "=%s", quote_text(list).s),
		       wrong.text[0] ? "" : " does not fit SLURM_STEP_TASKS_PER_NODE and SLURM_GTIDS");
}

/** Set out->master to the node of rank 0 of an arbitrary distribution. */
static int read_arbitrary(struct input *in, struct placement *out, struct err *err) {
	struct err cause;
	if (out->hosts.n == 1 || read_hostfile(in, out, &cause) == 0 ||
	    read_arbitrary_list(in, out, &cause) == 0) {
		return 0;
	}
	// With two nodes, each knows where rank 0 runs: SLURM_GTIDS lists the ranks on this node, in order.
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
		       "SLURM_DISTRIBUTION=arbitrary: only SLURM_HOSTFILE or " ARBITRARY
		       " says where rank 0 runs, but %s; make the file readable here, "
		       "or set MASTER_ADDR or --master-addr",
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
	const char *set = env_value(in->env, "SLURM_DISTRIBUTION");
	struct str whole = str_of(set ? set : "block");
	size_t end = str_find(whole, ':');
	// The first part applies to nodes: "block:cyclic" distributes ranks to nodes in blocks.
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
