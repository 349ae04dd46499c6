// SPDX-License-Identifier: Apache-2.0

/**
 * XGBoost's collective communication. The program starts a tracker on the master, which listens on
 * DMLC_TRACKER_URI and DMLC_TRACKER_PORT. DMLC_TASK_ID distinguishes the workers. XGBoost 1.x reads
 * these variables itself. From 2.1 on, the program passes them to CommunicatorContext(), which uses
 * the same names. DMLC_NUM_WORKER is for the program that starts the tracker, as in Kubeflow's
 * trainer.
 *
 * Reference: src/collective/comm_group.cc of XGBoost, rabit/src/allreduce_base.cc of 1.7;
 * pkg/runtime/framework/plugins/xgboost of Kubeflow's trainer.
 */

#include "framework/framework.h"

static void xgboost_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	derive_master_addr(d, "DMLC_TRACKER_URI");
	derive_number(d, "DMLC_TRACKER_PORT", c->master_port, c->master_port_why);
	derive_process(d, "DMLC_TRACKER_URI", "DMLC_NUM_WORKER", "DMLC_TASK_ID");
}

const struct framework framework_xgboost = {
	.name = "xgboost",
	.about = "XGBoost's collective communication",
	.sets = "DMLC_TRACKER_URI DMLC_TRACKER_PORT DMLC_NUM_WORKER DMLC_TASK_ID",
	.derive = xgboost_derive,
};
