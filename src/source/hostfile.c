// SPDX-License-Identifier: Apache-2.0

/**
 * A cluster told by a file of hosts: --hostfile=FILE (DISTINIT_HOSTFILE), in any of the forms that launchers read, with comments
 * from '#' on:
 *
 *     n1              a name; that comes again for each further slot, as in PBS_NODEFILE
 *     n1 slots=8      Open MPI, DeepSpeed, Kubeflow's MPIJob (/etc/mpi/hostfile); max-slots=N is passed over
 *     n1:8            MPICH, Intel MPI
 *     n1 8 ...        Grid Engine (PE_HOSTFILE), whose lines for one host add up
 *
 * This machine finds itself in it, unless --node-rank is given. Where every line tells the same number by slots= or ':', that
 * is how many processes torchrun starts on each node.
 *
 * Reference: orte-hosts(7) of Open MPI 4.1; deepspeed/launcher/runner.py of DeepSpeed, which refuses a host with slots= twice, too.
 */

#include "cluster/source.h"
#include "source/nodefile.h"

static const char *hostfile_detect(const struct input *in) {
	return in->hostfile.value ? in->hostfile.from : NULL;
}

static int hostfile_read(struct input *in, struct placement *out, struct err *err) {
	int r = nodefile_read(in, in->hostfile.from, in->hostfile.value, NODEFILE_ANY, out, err);
	return r < 0 ? r : self_told(in, in->hostfile.value, out, err);
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
