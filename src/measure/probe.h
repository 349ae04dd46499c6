// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The part of 'distrun analyze' that runs on the node, one for each worker. It starts the pipeline,
 * counts its records, and measures what the pipeline and its children use.
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
	/** How long to measure after the warm-up. */
	uint64_t measure_ms;
	/** Time from TERM to KILL when it is ended. */
	uint64_t grace_ms;
	uint32_t rank;
	/** Orders come from `in`: "go" starts the pipeline, end of file ends it. Messages go to `out`. */
	int in;
	int out;
};

/**
 * Run the pipeline and send the result, even if it cannot be started. No process of it is left on
 * return.
 * Returns 0 if the result was sent or the client has gone; or a negative errno.
 */
int probe_run(const struct probe_plan *plan, struct arena *arena, struct err *err);
