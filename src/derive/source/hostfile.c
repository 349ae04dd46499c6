// SPDX-License-Identifier: Apache-2.0

/**
 * A cluster given by a file of hosts: --hostfile=FILE (DISTINIT_HOSTFILE), in any of the forms that
 * launchers read. A comment starts with '#'.
 *
 *     n1              a name; repeated for each further slot, as in PBS_NODEFILE
 *     n1 slots=8      Open MPI, DeepSpeed, Kubeflow's MPIJob; max-slots=N is skipped
 *     n1:8            MPICH, Intel MPI
 *     n1 8 ...        Grid Engine (PE_HOSTFILE): lines for the same host add up
 *
 * Without --node-rank, distinit looks for this machine in the file. If every line gives the same
 * number by slots= or ':', torchrun starts that many processes on each node.
 *
 * Reference: orte-hosts(7) of Open MPI 4.1; deepspeed/launcher/runner.py of DeepSpeed, which also
 * refuses a host that has slots= twice.
 */

#include "cluster/source.h"
#include "source/nodefile.h"

static const char *hostfile_detect(const struct input *in) {
	return in->hostfile.value ? in->hostfile.from : NULL;
}

static int hostfile_read(struct input *in, struct placement *out, struct err *err) {
	int r = nodefile_read_setting(in, &in->hostfile, NODEFILE_ANY, out, err);
	return r < 0 ? r : self_node_rank(in, in->hostfile.value, out, err);
}

const struct source source_hostfile = {
	.name = "hostfile",
	.about = "hosts from a file (--hostfile)",
	.known_by = "--hostfile or DISTINIT_HOSTFILE",
	.reads = READS("DISTINIT_HOSTFILE", "DISTINIT_NODE_RANK"),
	.detect = hostfile_detect,
	.read = hostfile_read,
	.by_hand = true,
};
