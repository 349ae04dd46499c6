// SPDX-License-Identifier: Apache-2.0

/**
 * Pods of a PodSet in an AIBrix StormService (podGroupSize). The second of two:
 *
 *     PODSET_NAME=llm-roleset-x-decode-0   POD_GROUP_INDEX=1   POD_GROUP_SIZE=2
 *     STORM_SERVICE_NAME=llm               pod i is llm-roleset-x-decode-0-i.llm
 *
 * AIBrix shortens a pod's name that does not fit a DNS label: to its first letter and its last 62.
 * PODSET_NAME stays as it is.
 *
 * Reference: pkg/controller/podset/podset_controller.go (009aa45c) and Shorten() of
 * pkg/controller/util/orchestration/util.go (6baddd3a) of AIBrix; "Multi-Node Inference" in its
 * documentation.
 */

#include "base/buf.h"
#include "cluster/source.h"
#include "source/row.h"

#define SET	"PODSET_NAME"
#define INDEX	"POD_GROUP_INDEX"
#define SIZE	"POD_GROUP_SIZE"
#define SERVICE "STORM_SERVICE_NAME"

#define ROW "node-rank#=" INDEX " nnodes#=" SIZE

/** The longest label of a name in DNS. */
#define LABEL_MAX 63

/** Append the name of pod @i of @set, as AIBrix shortens it. */
static void put_pod(struct buf *out, struct arena *arena, const char *set, uint32_t i) {
	struct str name = str_of(arena_format(arena, "%s-%u", set, i));
	if (name.len > LABEL_MAX) {
		buf_putc(out, name.p[0]);
		name = str_from(name, name.len - (LABEL_MAX - 1));
	}
	buf_put(out, name);
}

static int aibrix_read(struct input *in, struct placement *out, struct err *err) {
	const char *set = env_value(in->env, SET), *service = env_value(in->env, SERVICE);
	struct buf names = BUF(in->arena);
	int r = row_read(in, ROW, INDEX, out, err);
	r = r < 0 ? r : check_below(INDEX, out->node_rank, SIZE, out->nnodes, err);
	if (r < 0 || !set || !service) {
		return r;
	}
	for (uint32_t i = 0; i < out->nnodes; i++) {
		put_pod(&names, in->arena, set, i);
		buf_putf(&names, ".%s,", service);
	}
	out->nnodes = UNKNOWN; // it follows from the hosts
	return place_hosts(in, SIZE, buf_text(&names), ',', out, err);
}

const struct source source_aibrix = {
	.name = "aibrix",
	.about = "AIBrix StormService, the pods of a PodSet",
	.reads = READS(INDEX, SIZE, SET, SERVICE),
	.row = ROW,
	.read = aibrix_read,
};
