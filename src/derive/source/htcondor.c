// SPDX-License-Identifier: Apache-2.0

/**
 * HTCondor's parallel universe. Each machine of a job runs the same program. The second of two has
 *
 *     _CONDOR_PROCNO=1   _CONDOR_NPROCS=2
 *     _CONDOR_JOB_AD=/var/lib/condor/execute/dir_29496/.job.ad
 *
 * and in that file, which a container sees only where the folder is mounted,
 *
 *     AllRemoteHosts = "slot1@exec4.example.org,slot1_2@exec7.example.org"
 *
 * in the order of the numbers. A machine may have several slots of a job: then only the first name,
 * that of the master, is used.
 *
 * Reference: "Parallel Applications" of HTCondor's manual; seen in a real job of 23.9.6.
 */

#include "cluster/source.h"
#include "source/nodefile.h"
#include "source/row.h"

#define AD   "_CONDOR_JOB_AD"
#define SIZE "_CONDOR_NPROCS"
#define ROW  "node-rank!=_CONDOR_PROCNO nnodes!=" SIZE

/** The file has some lines for each slot. */
#define AD_BYTES ((size_t)16 << 20)

/** Read the hosts of @slots: "slot1@n1,slot2@n2". */
static int read_hosts(struct input *in, struct str slots, struct placement *out, struct err *err) {
	struct node_list nodes = NODE_LIST(in->arena, "AllRemoteHosts of $" AD);
	uint32_t nnodes = out->nnodes, n = 0;
	struct str slot;
	int r = 0;
	for (; r == 0 && str_cut(&slots, ',', &slot); n++) {
		size_t at = str_find(slot, '@');
		r = node_list_add(&nodes, str_from(slot, at + (at < slot.len)), 1, false, err);
	}
	if (r < 0 || n == 0) {
		return r;
	}
	if (nodes.n < n) {
		out->master_addr = nodes.list[0].name;
		out->master_addr_from = nodes.what;
		return 0;
	}
	node_list_finish(&nodes, out);
	out->slots = NULL;
	out->hosts_from = nodes.what;
	out->nnodes = UNKNOWN;
	return check_count(SIZE, nnodes, out, err);
}

static int htcondor_read(struct input *in, struct placement *out, struct err *err) {
	const struct str name = STR("AllRemoteHosts = \"");
	const char *path = env_value(in->env, AD);
	struct str text, line;
	struct err unread;
	int r = row_read(in, ROW, SIZE, out, err);
	if (r < 0 || !path || input_read_file(in, AD, path, AD_BYTES, &text, &unread) < 0) {
		return r;
	}
	while (str_cut(&text, '\n', &line)) {
		if (str_starts(line, name)) {
			line = str_from(line, name.len);
			return read_hosts(in, (struct str){line.p, str_find(line, '"')}, out, err);
		}
	}
	return 0;
}

const struct source source_htcondor = {
	.name = "htcondor",
	.about = "HTCondor's parallel universe",
	.reads = READS("_CONDOR_PROCNO", SIZE, AD),
	.lacks = "the hosts, where " AD " cannot be read: pass --master-addr (the machine with number 0) or "
		 "--hosts",
	.row = ROW,
	.read = htcondor_read,
};
