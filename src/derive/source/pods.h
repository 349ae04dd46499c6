// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Names of pods, which Kubernetes and its operators number: "train-2.svc" is number 2 of "train-*.svc". */

#include "base/buf.h"
#include "cluster/cluster.h"

struct pod_name {
	/** The part before the number: "train-". */
	struct str prefix;
	uint32_t index;
	/** The part after the number, from the first dot: ".svc"; or empty. */
	struct str suffix;
};

/**
 * Split @name into *@out. Returns whether its first label ends with '-' and a number; otherwise *@out
 * does not change.
 */
bool pod_read(struct str name, struct pod_name *out);

/** Whether the first label of @name ends with @end, such as "-master-0", after at least one byte. */
bool pod_is_first(struct str name, struct str end);

/** The end of the name of the pod of rank 0, if masters and workers are numbered separately. */
#define POD_MASTER STR("-master-0")

/**
 * The node rank of the pod @self in the job of @master: 0 for JOB-master-0 itself, 1 for JOB-worker-0.
 * UNKNOWN if @self is not a pod of that job, or @master has another form.
 */
uint32_t pod_rank(struct str master, struct str self);

/** Append @n names, numbered from @first, each followed by a comma. */
void pods_put(struct buf *out, struct str prefix, uint32_t first, uint32_t n, struct str suffix);
