// SPDX-License-Identifier: Apache-2.0
#pragma once

/** `explain`: what it shows, and its formats. */

#include "base/json_write.h"
#include "distinit/session.h"
#include "process/process.h"

struct process_report {
	struct process process;
	/** What the workload will have; meaningless where `error` is set. */
	struct credentials workload;
	uint64_t workload_caps;
	/** Why there will be no workload, or NULL. */
	const char *error;
};

/** Add what the workload will have to @report, whose process was read before the flow. */
void explain_workload(struct session *s, struct process_report *report);

/** For people. */
void explain_text(struct session *s, const struct process_report *process, struct buf *out);

/** For people: the variables of each node. Call it after session_derive(). Returns 0; -EINVAL. */
int explain_nodes(struct session *s, struct buf *out, struct err *err);

/** The part of it on the process. */
void explain_process(struct session *s, const struct process_report *report, struct buf *out);

/** For programs. */
void explain_json(struct session *s, const struct process_report *process, struct buf *out);

/** If nothing is recognised: list managers that nearly are, and a --read option that would fit. */
void explain_unknown(struct session *s, struct buf *out);
