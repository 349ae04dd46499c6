// SPDX-License-Identifier: Apache-2.0

/**
 * JAXJobs of Kubeflow's training operator (v1). The third of three workers has
 *
 *     NUM_PROCESSES=3   PROCESS_ID=2   COORDINATOR_ADDRESS=job-worker-0   COORDINATOR_PORT=6666
 *
 * These names are common. So they count only if all four are set and the coordinator's name has
 * this form.
 *
 * Reference: pkg/controller.v1/jax/envvar.go of Kubeflow's training operator 1.9.
 */

#include "cluster/source.h"
#include "source/pods.h"

#define ADDR "COORDINATOR_ADDRESS"
#define PORT "COORDINATOR_PORT"
#define NUM  "NUM_PROCESSES"
#define ID   "PROCESS_ID"

static const char *jaxjob_detect(const struct input *in) {
	const char *addr = env_value(in->env, ADDR);
	return addr && pod_is_first(str_of(addr), STR("-worker-0")) && env_value(in->env, PORT) &&
			       env_value(in->env, NUM) && env_value(in->env, ID)
		       ? ADDR
		       : NULL;
}

static int jaxjob_read(struct input *in, struct placement *out, struct err *err) {
	struct pod_name first;
	struct buf names = BUF(in->arena);
	uint32_t n, empty;
	out->hosts_from = NUM;
	out->node_rank_from = ID;
	out->port_from = PORT;
	int r = need_nnodes(in, NUM, ADDR, &n, err);
	r = r < 0 ? r : need_u32(in, ID, ADDR, &out->node_rank, err);
	r = r < 0 ? r : check_below(ID, out->node_rank, NUM, n, err);
	r = r < 0 ? r : read_port(in, PORT, &out->port, err);
	if (r < 0) {
		return r;
	}
	pod_read(str_of(env_get(in->env, ADDR)), &first);
	pods_put(&names, first.prefix, 0, n, first.suffix);
	return hosts_split(in->arena, NUM, buf_text(&names), ',', &out->hosts, &empty, err);
}

const struct source source_jaxjob = {
	.name = "jaxjob",
	.about = "Kubeflow JAXJob (v1)",
	.known_by = ADDR " of the form JOB-worker-0, with the three other variables",
	.reads = READS(ADDR, PORT, NUM, ID),
	.detect = jaxjob_detect,
	.read = jaxjob_read,
};
