// SPDX-License-Identifier: Apache-2.0

/**
 * IBM Spectrum LSF. In a job script on two hosts:
 *
 *     LSB_JOBID=4711   LSB_JOBINDEX=0 (its number in an array)
 *     LSB_MCPU_HOSTS="hostA 2 hostB 4"             hosts and slots
 *     LSB_HOSTS="hostA hostA hostB hostB ..."      one name per slot; empty in large jobs
 *     LSB_DJOB_HOSTFILE=/home/u/.lsbatch/4711.hostfile   one line per slot
 *     LSB_DJOB_RANKFILE=/path                      one line per rank, in the order of ranks
 *
 * The lists may differ in order (seen: LSB_HOSTS backwards). So every process reads the same list:
 * the first one above that is set. A slot is usually a CPU, and does not show what runs there.
 *
 * On CORAL machines such as Summit, the script runs on a launch node, which runs no ranks. It is
 * first in all lists, with one slot, and is dropped. Two things identify such a machine: jsrun, and
 * in the script CSM_ALLOCATION_ID, which its allocations have. Without any list, only jsrun's ranks
 * are known.
 *
 * Reference: "Environment variables" of LSF's manual;
 * src/pm/hydra/lib/tools/bootstrap/external/lsf_query_node_list.c of MPICH; src/mca/plm/lsf of
 * PRRTE, which recognises CORAL machines by the same variable.
 */

#include "source/batch.h"
#include "source/nodefile.h"

#include <errno.h>

#define JOB   "LSB_JOBID"
#define PAIRS "LSB_MCPU_HOSTS"
#define NAMES "LSB_HOSTS"
#define SLOTS "LSB_DJOB_HOSTFILE"
#define RANKS "LSB_DJOB_RANKFILE"
#define CSM   "CSM_ALLOCATION_ID"

/** Read "hostA 2 hostB 4", or one name per slot if @counted is false. */
static int read_words(struct input *in, const char *name, bool counted, struct placement *out,
		      struct err *err) {
	struct str rest = str_of(env_get(in->env, name)), whole = rest, host, number;
	struct node_list nodes = NODE_LIST(in->arena, name);
	while (str_word(&rest, &host)) {
		uint32_t slots = 1;
		if (counted && (!str_word(&rest, &number) || slots_read(number, &slots) < 0)) {
			return err_set(err, EINVAL,
				       "%s=%s: after the host %s, a number of slots (1 or more) is expected",
				       name, quote(whole).s, quote(host).s);
		}
		int r = node_list_add(&nodes, host, slots, false, err);
		if (r < 0) {
			return r;
		}
	}
	node_list_finish(&nodes, out);
	out->hosts_from = name;
	return 0;
}

static int read_list(struct input *in, struct placement *out, struct err *err) {
	const char *slots = env_value(in->env, SLOTS), *ranks = env_value(in->env, RANKS);
	bool counted = env_value(in->env, PAIRS);
	if (counted || env_value(in->env, NAMES)) {
		return read_words(in, counted ? PAIRS : NAMES, counted, out, err);
	}
	return nodefile_read(in, slots ? SLOTS : RANKS, slots ? slots : ranks, NODEFILE_NAMES, out, err);
}

/**
 * Whether the first host is the launch node of a CORAL machine. On other machines, an LSF job may
 * also begin with a host that has one slot, but it has no CSM allocation.
 */
static bool has_launch_node(const struct input *in, const struct placement *place) {
	return place->hosts.n > 1 &&
	       (launched_by(in, "jsrun") ||
		(env_value(in->env, CSM) && place->slots[0] == 1 && place->slots[1] > 1));
}

/** Drop the first host, the launch node. jsrun cannot have started this process there. */
static int drop_launch_node(struct input *in, struct placement *out, struct err *err) {
	struct hosts first = out->hosts;
	first.n = 1;
	if (launched_by(in, "jsrun") && hosts_find_loosely(&first, str_of(input_hostname(in))) == 0) {
		return err_set(err, EINVAL,
			       "%s begins with %s, which is the launch node under jsrun, "
			       "but jsrun runs this process on it; pass --hosts",
			       out->hosts_from, quote(hosts_at(&out->hosts, 0)).s);
	}
	out->hosts.names++;
	out->hosts.n--;
	out->slots++;
	return 0;
}

static int lsf_read(struct input *in, struct placement *out, struct err *err) {
	int r = read_list(in, out, err);
	if (r == 0 && has_launch_node(in, out)) {
		r = drop_launch_node(in, out, err);
	}
	if (r < 0) {
		return r;
	}
	batch_place(in, out, env_get(in->env, JOB), env_get(in->env, "LSB_JOBINDEX"));
	return 0;
}

const struct source source_lsf = {
	.name = "lsf",
	.about = "LSF jobs: the script, and jsrun or mpirun in it",
	.reads = READS(JOB, "LSB_JOBINDEX", PAIRS, NAMES, SLOTS, RANKS, CSM),
	.leaves = "LSB_DJOB_NUMPROC: it counts slots, not ranks",
	.lacks = BATCH_LACKS,
	.row = "with=" JOB " with=" PAIRS "|" SLOTS "|" NAMES "|" RANKS,
	.read = lsf_read,
};
