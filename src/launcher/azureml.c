// SPDX-License-Identifier: Apache-2.0

/**
 * Azure Machine Learning, which starts the ranks of a PyTorch job itself. Rank 8 of 16 on two nodes
 * has
 *
 *     AZUREML_EXPERIMENT_ID=...   AZUREML_NODE_COUNT=2   NODE_RANK=1
 *     RANK=8   WORLD_SIZE=16      LOCAL_RANK=0           these count processes, not nodes
 *
 * Reference: "Distributed training" in Azure Machine Learning's documentation.
 */

#include "cluster/launcher.h"

#define COUNT "AZUREML_NODE_COUNT"

static bool azureml_detect_task(const struct input *in) {
	// RANK is known to count processes only if these variables are set.
	return env_value(in->env, "AZUREML_EXPERIMENT_ID") && env_value(in->env, COUNT) &&
	       env_value(in->env, "NODE_RANK") && env_value(in->env, "LOCAL_RANK");
}

const struct launcher launcher_azureml = {
	.name = "azureml",
	.about = "Azure Machine Learning's launcher for PyTorch",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.recognised_by = COUNT,
	.detect = azureml_detect_task,
	.manager = "azureml",
};
