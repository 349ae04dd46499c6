// SPDX-License-Identifier: Apache-2.0

/**
 * Jobs of TensorFlow that got their TF_CONFIG from the cluster: Kubeflow's TFJob, Alibaba PAI and others of that descent. Here the
 * first worker:
 *
 *     TF_CONFIG={"cluster":{"chief":["job-chief-0.ns.svc:2222"],"worker":["job-worker-0.ns.svc:2222"]},
 *                "task":{"type":"worker","index":0},"environment":"cloud"}
 *
 * It is complete, and stays as it is; from it follows what other frameworks read. The nodes are the chief (an older one is called
 * master) and the workers; parameter servers and evaluators have no node rank. Where workers come and go, "worker" is an object with
 * this one alone, and nothing follows.
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
	at += strspn(at, " :");
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
