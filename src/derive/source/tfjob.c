// SPDX-License-Identifier: Apache-2.0

/**
 * TensorFlow jobs whose TF_CONFIG was set by the cluster: Kubeflow's TFJob, Alibaba PAI and
 * similar. Here the first worker:
 *
 *     TF_CONFIG={"cluster":{"chief":["job-chief-0.ns.svc:2222"],
 *                          "worker":["job-worker-0.ns.svc:2222"]},
 *                "task":{"type":"worker","index":0},"environment":"cloud"}
 *
 * TF_CONFIG is complete and stays unchanged. The variables of other frameworks are derived from it.
 * The nodes are the chief (older jobs call it master) and the workers. Parameter servers and
 * evaluators have no node rank. With dynamic workers, "worker" is an object that has this worker
 * only, and nothing is derived.
 *
 * Reference: pkg/controller.v1/tensorflow of Kubeflow's training operator 1.9.
 */

#include "cluster/source.h"
#include "source/json_hosts.h"

#define CONFIG "TF_CONFIG"

static const char *tfjob_detect(const struct input *in) {
	const char *config = env_value(in->env, CONFIG);
	const char *at = config ? strstr(config, "\"environment\"") : NULL;
	if (!at) {
		return NULL;
	}
	at += strlen("\"environment\"");
	at += strspn(at, " \t\r\n:");
	return str_starts(str_of(at), STR("\"cloud\"")) ? CONFIG : NULL;
}

static int tfjob_read(struct input *in, struct placement *out, struct err *err) {
	static const char *const pools[] = {"chief", "master", "worker", NULL};
	return json_pools_read(in, CONFIG, pools, out, err);
}

const struct source source_tfjob = {
	.name = "tfjob",
	.about = "Kubeflow TFJob (v1), and others that set TF_CONFIG",
	.known_by = CONFIG " with \"environment\": \"cloud\"",
	.reads = READS(CONFIG),
	.leaves = CONFIG " itself; its ps and evaluator tasks: they are not nodes",
	.lacks = "the other workers, with enableDynamicWorker",
	.detect = tfjob_detect,
	.read = tfjob_read,
};
