// SPDX-License-Identifier: Apache-2.0

/**
 * PBS Professional, OpenPBS and Torque. In a job script on three nodes:
 *
 *     PBS_JOBID=1234.server            or 1234[7].server, the seventh of an array
 *     PBS_NODEFILE=/var/spool/pbs/aux/1234.server
 *
 * The file has one line per slot (mpiprocs, ppn), with the name of its host. Lines of the same host
 * may be apart. The file exists only on the job's first node, and a container sees it only through
 * a bind mount. PBS_NODENUM counts the nodes, but ssh passes it on, and PBS_TASKNUM counts
 * something else: neither is used.
 *
 * Reference: doc/man1/qsub.1B and src/resmom/start_exec.c of OpenPBS.
 */

#include "source/batch.h"
#include "source/nodefile.h"

#define JOB  "PBS_JOBID"
#define FILE "PBS_NODEFILE"

static const char *pbs_detect(const struct input *in) {
	return env_value(in->env, JOB) && env_value(in->env, FILE) ? JOB : NULL;
}

static int pbs_read(struct input *in, struct placement *out, struct err *err) {
	const char *job = env_get(in->env, JOB);
	int r = nodefile_read(in, FILE, env_get(in->env, FILE), NODEFILE_NAMES, out, err);
	if (r < 0) {
		return r;
	}
	struct str index = str_from(str_of(job), str_find(str_of(job), '['));
	if (index.len) {
		index.len = str_find(index, ']');
		index = str_from(index, 1);
	}
	batch_place(in, out, job, arena_text(in->arena, index.p, index.len));
	return 0;
}

const struct source source_pbs = {
	.name = "pbs",
	.about = "PBS and Torque jobs: the script, and mpirun or mpiexec in it",
	.known_by = JOB " and " FILE,
	.reads = READS(JOB, FILE),
	.leaves = "PBS_NODENUM: stale after ssh; PBS_TASKNUM",
	.lacks = BATCH_LACKS,
	.detect = pbs_detect,
	.read = pbs_read,
};
