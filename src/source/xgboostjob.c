// SPDX-License-Identifier: Apache-2.0

/**
 * XGBoostJobs of Kubeflow's training operator (v1), for XGBoost and LightGBM. The first of two
 * workers has
 *
 *     MASTER_ADDR=job-master-0   MASTER_PORT=9999   WORLD_SIZE=3   RANK=1
 *     WORKER_PORT=9999           WORKER_ADDRS=job-worker-0,job-worker-1
 *
 * RANK and WORLD_SIZE count pods here: there are WORLD_SIZE - 1 workers.
 *
 * Reference: pkg/controller.v1/xgboost/xgboost.go of Kubeflow's training operator 1.9.
 */

#include "cluster/source.h"
#include "source/pods.h"

#define ADDR	"MASTER_ADDR"
#define WORKERS "WORKER_ADDRS"
#define NUM	"WORLD_SIZE"

/** Whether the workers are those of the job whose master is @addr: JOB-worker-0 beside JOB-master-0. */
static bool same_job(struct str addr, struct str workers) {
	struct str job = {addr.p, pod_label(addr).len - STR("master-0").len};
	return str_starts(workers, job) && str_starts(str_from(workers, job.len), STR("worker-0"));
}

static const char *xgboostjob_detect(const struct input *in) {
	struct str addr = str_of(env_value(in->env, ADDR));
	return pod_is_first(addr, STR("-master-0")) && env_value(in->env, NUM) &&
			       env_value(in->env, "RANK") &&
			       same_job(addr, str_of(env_value(in->env, WORKERS)))
		       ? WORKERS
		       : NULL;
}

static int xgboostjob_read(struct input *in, struct placement *out, struct err *err) {
	struct buf names = BUF(in->arena);
	uint32_t n, empty;
	buf_puts(&names, env_get(in->env, ADDR));
	buf_putc(&names, ',');
	buf_puts(&names, env_get(in->env, WORKERS));
	out->hosts_from = ADDR " with " WORKERS;
	out->node_rank_from = "RANK";
	int r = need_nnodes(in, NUM, WORKERS, &n, err);
	r = r < 0 ? r
		  : hosts_split(in->arena, out->hosts_from, buf_text(&names), ',', &out->hosts, &empty, err);
	r = r < 0 ? r : check_count(NUM, n, out, err);
	return r < 0 ? r : need_u32(in, "RANK", WORKERS, &out->node_rank, err);
}

const struct source source_xgboostjob = {
	.name = "xgboostjob",
	.about = "Kubeflow XGBoostJob (v1), for XGBoost or LightGBM",
	.known_by = WORKERS " that begins with JOB-worker-0, with " ADDR "=JOB-master-0",
	.reads = READS(ADDR, WORKERS, NUM, "RANK"),
	.detect = xgboostjob_detect,
	.read = xgboostjob_read,
};
