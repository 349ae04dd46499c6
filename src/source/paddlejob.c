// SPDX-License-Identifier: Apache-2.0

/**
 * PaddleJobs of Kubeflow's training operator (v1), of workers only. The second of two has
 *
 *     PADDLE_JOB_ID=ernie   PADDLE_NNODES=2
 *     PADDLE_MASTER=ernie-worker-0:36543     in worker 0 its own address, and POD_IP_DUMMY
 *
 * and the host name ernie-worker-1, which is the only source of its number. These are also the launcher's own
 * settings, which a user may make: so the host name must belong to the job, with a number below its size.
 *
 * Jobs with a master have PADDLE_SERVER_NUM or PADDLE_TRAINER_NUM, too: those are parameter servers.
 *
 * Reference: pkg/controller.v1/paddlepaddle/envvar.go of Kubeflow's training operator.
 */

#include "base/buf.h"
#include "base/num.h"
#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/pods.h"

#define MASTER "PADDLE_MASTER"
#define NNODES "PADDLE_NNODES"
#define JOB    "PADDLE_JOB_ID"
#define WORKER STR("-worker-")

/** Take the name of this worker apart. Returns whether it is one of the job @job with @n workers. */
static bool read_own_name(struct str self, struct str job, uint32_t n, struct pod_name *out) {
	return pod_read(self, out) && out->index < n && str_starts(out->prefix, job) &&
	       str_eq(str_from(out->prefix, job.len), WORKER);
}

static const char *paddlejob_detect(const struct input *in) {
	const char *job = env_value(in->env, JOB);
	uint32_t n;
	if (!job || !env_value(in->env, MASTER) || env_value(in->env, "PADDLE_SERVER_NUM") ||
	    env_value(in->env, "PADDLE_TRAINER_NUM") ||
	    num_read_u32(str_of(env_value(in->env, NNODES)), &n) < 0) {
		return NULL;
	}
	struct own_name own = input_own_name(in);
	struct pod_name pod;
	return read_own_name(str_of(own.s), str_of(job), n, &pod) ? MASTER : NULL;
}

static int paddlejob_read(struct input *in, struct placement *out, struct err *err) {
	struct pod_name pod;
	struct str host;
	struct buf names = BUF(in->arena);
	uint32_t n = 0, empty;
	int r = need_nnodes(in, NNODES, MASTER, &n, err);
	r = r < 0 ? r : endpoint_read(MASTER, str_of(env_value(in->env, MASTER)), &host, &out->port, err);
	if (r < 0) {
		return r;
	}
	pod_read(str_of(input_hostname(in)), &pod);
	pods_put(&names, pod.prefix, 0, n, STR(""));
	out->job_id = env_value(in->env, JOB);
	out->port_from = MASTER;
	out->hosts_from = NNODES;
	out->node_rank_from = "this pod's name";
	out->node_rank = pod.index;
	return hosts_split(in->arena, NNODES, buf_text(&names), ',', &out->hosts, &empty, err);
}

const struct source source_paddlejob = {
	.name = "paddlejob",
	.about = "Kubeflow PaddleJob (v1) with workers only",
	.known_by = MASTER " and " NNODES ", and a host name that goes with " JOB,
	.reads = READS(MASTER, NNODES, JOB, "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM"),
	.leaves = "jobs with parameter servers: PADDLE_SERVER_NUM or PADDLE_TRAINER_NUM",
	.detect = paddlejob_detect,
	.read = paddlejob_read,
};
