// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The probe: the part of 'distrun analyze' that runs on the node, once for each worker. It starts the
 * pipeline, counts its records, and measures what the pipeline and its descendants use.
 */

#include "base/err.h"
#include "measure/message.h"
#include "measure/records.h"

struct probe_plan {
	/** The pipeline's command and environment, both ended by NULL. */
	char *const *argv;
	char *const *envp;
	enum records_unit unit;
	uint64_t warmup_ms;
	/** How long to measure after the warm-up. */
	uint64_t measure_ms;
	/** The time from TERM to KILL when the probe ends the pipeline. */
	uint64_t grace_ms;
	/** The worker's rank, from 0. */
	uint32_t rank;
	/** Orders come from `in`: "go" starts the pipeline, and end of file ends it. Messages go to `out`. */
	int in;
	int out;
};

/**
 * Run the pipeline and send the result, also if the pipeline cannot be started. On return, all processes of
 * the pipeline have ended.
 * Returns 0 if the result was sent, or if 'distrun analyze' has gone; or a negative errno.
 */
int probe_run(const struct probe_plan *plan, struct arena *arena, struct err *err);
