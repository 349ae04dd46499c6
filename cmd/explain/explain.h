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

/** Append a line, for a terminal: @label, and @text in a column of its own. */
void explain_row(struct buf *out, const char *label, const char *text);

/** For people. */
void explain_text(struct session *s, const struct process_report *process, struct buf *out);

/** For people: the variables of each node. Call it after session_derive(). Returns 0; -EINVAL. */
int explain_nodes(struct session *s, struct buf *out, struct err *err);

/** Print @out; with colours, what begins a line is bold, and the master and findings stand out. Returns the exit status. */
int explain_print(struct session *s, const struct buf *out);

/** The part of it on the process. */
void explain_process(struct session *s, const struct process_report *report, struct buf *out);

/** For programs. */
void explain_json(struct session *s, const struct process_report *process, struct buf *out);

/** Add the member "cluster": an object, on one line; null for NULL. */
void explain_cluster_json(const struct cluster *cluster, struct json *json);

/** If nothing is recognised: list managers that nearly are, and a --read option that would fit. */
void explain_unknown(struct session *s, struct buf *out);

/** Whether @word, of letters, is one of the words in @text, in any case. */
bool explain_has_word(struct str text, struct str word);
