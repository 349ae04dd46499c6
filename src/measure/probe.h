// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The half of 'distrun analyze' that runs on the node, one for each worker: it starts the pipeline, counts what it writes, and measures
 * what it and its children use.
 */

#include "base/err.h"
#include "measure/message.h"
#include "measure/records.h"

struct probe_plan {
	/** The pipeline, and its environment; both end with NULL. */
	char *const *argv;
	char *const *envp;
	enum records_unit unit;
	uint64_t warmup_ms;
	/** How long it is measured behind the warm-up. */
	uint64_t measure_ms;
	/** Between TERM and KILL, when it is ended. */
	uint64_t grace_ms;
	uint32_t rank;
	/** Our orders: "go" starts the pipeline, the end of the file ends it; and where messages go. */
	int in;
	int out;
};

/**
 * Run it. Whatever comes of the pipeline is a result, also that it cannot be started. Nothing of it is left over on return.
 * Returns 0 when the result was told, or nobody wants it any more; or a negative errno.
 */
int probe_run(const struct probe_plan *plan, struct arena *arena, struct err *err);
