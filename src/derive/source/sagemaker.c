// SPDX-License-Identifier: Apache-2.0

/**
 * Training jobs of SageMaker. The platform sets no variables, but writes
 * /opt/ml/input/config/resourceconfig.json:
 *
 *     {"current_host": "algo-2", "hosts": ["algo-1", "algo-2"], "network_interface_name": "eth0"}
 *
 * Hosts are sorted as text: algo-1, algo-10, algo-2. AWS's training toolkit, under which a program
 * may run, repeats the values:
 *
 *     SM_HOSTS=["algo-1","algo-2"]   SM_CURRENT_HOST=algo-2   SM_NUM_GPUS=8
 *
 * The ModelTrainer of SageMaker's Python SDK adds SM_MASTER_ADDR=algo-1 and SM_MASTER_PORT=7777.
 *
 * The toolkit's mpirun copies SM_CURRENT_HOST to every rank, so the file is preferred. Only
 * SageMaker has this file, and no variable announces it. So distinit looks for it only if it
 * recognises no other manager.
 *
 * Reference: src/sagemaker_training/environment.py of SageMaker's training toolkit;
 * sagemaker/modules/train/container_drivers of SageMaker's Python SDK.
 */

#include "base/json_read.h"
#include "cluster/source.h"
#include "source/json_hosts.h"

#include <cjson/cJSON.h>
#include <errno.h>

#define FILE_PATH "/opt/ml/input/config/resourceconfig.json"
#define HOSTS	  "SM_HOSTS"
#define CURRENT	  "SM_CURRENT_HOST"
#define PORT	  "SM_MASTER_PORT"

/** The file has about 20 KB for 1,000 hosts. */
#define FILE_BYTES ((size_t)4 << 20)

static const char *platform_detect(const struct input *in) {
	return input_has_file(in, FILE_PATH) ? FILE_PATH : NULL;
}

/**
 * Read the hosts of @array into @out, and find this node by its name @self; NULL: do not. @from names the
 * source.
 */
static int read_host_array(struct input *in, const char *from, const char *key, const cJSON *array,
			   const char *self, struct placement *out, struct err *err) {
	struct json_hosts hosts = {.text = BUF(in->arena)};
	out->node_rank_from = from;
	int r = json_hosts_put(&hosts, from, key, array, err);
	r = r < 0 ? r : place_hosts(in, from, buf_text(&hosts.text), ',', out, err);
	if (r < 0 || !self) {
		return r;
	}
	out->node_rank = hosts_find(&out->hosts, str_of(self));
	if (out->node_rank == out->hosts.n) {
		return err_set(
			err, EINVAL,
			"%s: the current host, %s, is not among the hosts; pass --hosts and --node-rank",
			from, quote_text(self).s);
	}
	return 0;
}

static int read_file(struct input *in, struct placement *out, struct err *err) {
	struct str text;
	cJSON *json;
	int r = input_read_file(in, "SageMaker's", FILE_PATH, FILE_BYTES, &text, err);
	r = r < 0 ? r : json_read(FILE_PATH, text.p, &json, err);
	if (r < 0) {
		return -EINVAL;
	}
	const char *self = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "current_host"));
	r = !self ? err_set(err, EINVAL, FILE_PATH " has no \"current_host\"; pass --hosts and --node-rank")
		  : read_host_array(in, FILE_PATH, "hosts", cJSON_GetObjectItemCaseSensitive(json, "hosts"),
				    self, out, err);
	cJSON_Delete(json);
	return r;
}

static int read_variables(struct input *in, struct placement *out, struct err *err) {
	cJSON *json;
	const char *self;
	int r = need_value(in, CURRENT, HOSTS, &self, err);
	r = r < 0 ? r : json_read(HOSTS, env_get(in->env, HOSTS), &json, err);
	if (r < 0) {
		return r;
	}
	// mpirun -x copies SM_CURRENT_HOST to every rank.
	r = read_host_array(in, HOSTS, "hosts", json, in->found.launcher ? NULL : self, out, err);
	if (r == 0 && in->found.launcher) {
		out->node_rank = launcher_node_rank(in, &out->hosts);
	}
	cJSON_Delete(json);
	return r;
}

static int sagemaker_read(struct input *in, struct placement *out, struct err *err) {
	read_nproc(in, "SM_NUM_GPUS", out);
	out->port_from = PORT;
	int r = read_port(in, PORT, &out->port, err);
	if (r < 0) {
		return r;
	}
	return input_has_file(in, FILE_PATH) ? read_file(in, out, err) : read_variables(in, out, err);
}

static const char *const reads[] = {FILE_PATH, HOSTS, CURRENT, "SM_NUM_GPUS", PORT, NULL};

const struct source source_sagemaker = {
	.name = "sagemaker",
	.about = "SageMaker training job, under AWS's training toolkit",
	.reads = reads,
	.row = "with=" HOSTS,
	.read = sagemaker_read,
};

const struct source source_sagemaker_platform = {
	.name = "sagemaker",
	.about = "SageMaker training job, from the platform's file",
	.known_by = FILE_PATH,
	.reads = reads,
	.detect = platform_detect,
	.read = sagemaker_read,
};
