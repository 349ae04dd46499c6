// SPDX-License-Identifier: Apache-2.0
#pragma once

/** `explain`: what it shows of the process, and its formats. */

#include "base/json_write.h"
#include "distinit/start.h"
#include "process/process.h"

/** What a run with the same options would do before, with and after the command. */
struct run_report {
	struct wait_plan wait;
	/** `stays`: as the command's parent, by @init. */
	bool stays;
	struct init_plan init;
};

struct process_report {
	struct process process;
	/** The workload's credentials; undefined if `error` is set. */
	struct credentials workload;
	uint64_t workload_caps;
	/** Why the workload could not be started; NULL: it could. */
	const char *error;
	struct run_report run;
};

/** Read it from the settings, before session_derive(). Returns 0 or -EINVAL. */
int explain_read_run(struct session *s, struct run_report *out, struct err *err);

/** Append it, for people, and for programs. */
void explain_run(struct session *s, const struct run_report *run, struct buf *out);
void explain_run_json(struct session *s, const struct run_report *run, struct json *json);

/** Add the workload's credentials to @report, whose process was read before the flow. */
void explain_workload(struct session *s, struct process_report *report);

/** Append the output for people. */
void explain_text(struct session *s, const struct process_report *process, struct buf *out);

/** Append the variables of each node, for people. Call this after session_derive(). Returns 0 or -EINVAL. */
int explain_nodes(struct session *s, struct buf *out, struct err *err);

/** Append the part on the process, for people. */
void explain_process(struct session *s, const struct process_report *report, struct buf *out);

/** Append the output for programs. */
void explain_json(struct session *s, const struct process_report *process, struct buf *out);

/** If no manager is recognised: list those of which a part is there, and suggest a --read option. */
void explain_unknown(struct session *s, struct buf *out);
