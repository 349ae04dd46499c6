// SPDX-License-Identifier: Apache-2.0

/**
 * TPU slices on Google's GKE, and on Cloud TPU if the same variables are set. The second host of
 * four has
 *
 *     TPU_WORKER_HOSTNAMES=tpu-0.tpu,tpu-1.tpu,tpu-2.tpu,tpu-3.tpu   TPU_WORKER_ID=1
 *
 * A host with several TPU containers is listed once per container, and TPU_WORKER_ID is an index in
 * that list. With several slices, each slice knows only its own hosts. The second of two slices
 * also has
 *
 *     MEGASCALE_NUM_SLICES=2   MEGASCALE_SLICE_ID=1
 *     MEGASCALE_COORDINATOR_ADDRESS=ms-slice-0-0.ms:8080
 *
 * MEGASCALE itself uses that port.
 *
 * Reference: jax/_src/clusters/cloud_tpu_cluster.py of JAX; pkg/utils/accelerators/tpu.go of
 * LeaderWorkerSet.
 */

#include "cluster/endpoint.h"
#include "cluster/source.h"

#include <errno.h>

#define HOSTS  "TPU_WORKER_HOSTNAMES"
#define ID     "TPU_WORKER_ID"
#define SLICES "MEGASCALE_NUM_SLICES"
#define SLICE  "MEGASCALE_SLICE_ID"
#define MASTER "MEGASCALE_COORDINATOR_ADDRESS"

/** Merge adjacent entries of the same host, one per container, into one entry, and count them. */
static void merge_containers(struct input *in, struct placement *out) {
	struct hosts *hosts = &out->hosts;
	uint32_t *containers = arena_array(in->arena, hosts->n, sizeof(*containers));
	uint32_t n = 0, rank = out->node_rank;
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (n == 0 || !str_eq(hosts_at(hosts, n - 1), hosts_at(hosts, i))) {
			hosts->names[n] = hosts->names[i];
			containers[n++] = 0;
		}
		containers[n - 1]++;
		out->node_rank = i == rank ? n - 1 : out->node_rank;
	}
	if (n < hosts->n) {
		hosts->n = n;
		// A launcher starts as many ranks as it likes.
		out->tasks_per_node = in->found.launcher ? NULL : containers;
	}
}

/** Read several slices: the number of the other slices' hosts is known, but not their names. */
static int read_slices(struct input *in, struct placement *out, uint32_t slices, struct err *err) {
	uint32_t slice, workers = out->hosts.n;
	const char *master = "";
	int r = need_u32(in, SLICE, SLICES, &slice, err);
	r = r < 0 ? r : need_value(in, MASTER, SLICES, &master, err);
	r = r < 0 ? r : endpoint_read(MASTER, str_of(master), &out->master_addr, NULL, err);
	if (r == 0 && slices > HOSTS_MAX / workers) {
		return err_set(err, EINVAL, SLICES "=%u, with %u hosts each, is too large", slices, workers);
	}
	r = r < 0 ? r : check_below(SLICE, slice, SLICES, slices, err);
	if (r < 0) {
		return r;
	}
	out->hosts_from = NULL;
	out->hosts = (struct hosts){0};
	out->tasks_per_node = NULL;
	out->nnodes = slices * workers;
	out->nnodes_from = SLICES;
	out->node_rank += slice * workers;
	out->master_addr_from = MASTER;
	return 0;
}

static int tpu_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t slices = 1;
	out->node_rank_from = ID;
	int r = place_hosts(in, HOSTS, env_get(in->env, HOSTS), ',', out, err);
	r = r < 0 ? r : read_u32(in, ID, &out->node_rank, err);
	r = r < 0 ? r : read_u32(in, SLICES, &slices, err);
	if (r < 0 || out->hosts.n == 0) {
		return r;
	}
	r = check_index(ID, out->node_rank, out, err);
	if (r < 0) {
		return r;
	}
	merge_containers(in, out);
	if (slices == 1 && env_value(in->env, SLICE) && !env_value(in->env, SLICES)) {
		return err_set(err, EINVAL, SLICE " is set, but " SLICES " is not" MANAGERS_BOTH);
	}
	return slices > 1 ? read_slices(in, out, slices, err) : 0;
}

const struct source source_tpu = {
	.name = "tpu",
	.about = "TPU slice on GKE or Cloud TPU",
	.reads = READS(HOSTS, ID, SLICES, SLICE, MASTER),
	.leaves = "TPU_PROCESS_*, TPU_NAME, and the port in " MASTER ": the TPU runtime uses them",
	.lacks = "the hosts of other slices; everything, on a plain TPU VM: pass --hosts",
	.row = "with=" HOSTS " with=" ID,
	.read = tpu_read,
};
