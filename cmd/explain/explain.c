// SPDX-License-Identifier: Apache-2.0

/**
 * `explain`: runs the flow, and shows what was recognised, and what set each variable.
 *
 *     text.c                   for people: the cluster, the command, the variables
 *     process.c, unknown.c     parts of it: the process; guesses, if no manager is recognised
 *     json.c                   for programs
 */

#include "explain/explain.h"
#include "access/view.h"
#include "distinit/labelled.h"
#include "distinit/start.h"
#include "distinit/subcommands.h"

#include <errno.h>

void explain_workload(struct session *s, struct process_report *r) {
	r->error = s->flow.plan_error;
	r->workload = s->flow.wishes.any && !r->error ? s->flow.plan.target : r->process.has;
	r->workload_caps = credentials_after_exec(&r->workload);
}

/** Read it with the program's rights. If they cannot be taken, no files show which container this is. */
static int read_process(struct session *s, struct process *out, struct err *err) {
	struct view *view = NULL;
	struct err cause;
	if (view_open(&s->flow.access, s->settings.value[OPT_ROOT], &view, &cause) < 0) {
		notes_add(&s->notes, "the container's marks are not looked for: %s", cause.text);
	}
	return view_close(view, process_read(&s->arena, view, &s->env, out, err), err);
}

int command_explain(struct session *s) {
	struct err err;
	struct buf out = BUF(&s->arena);
	const char *format = s->settings.value[OPT_FORMAT];
	bool json = format && strcmp(format, "json") == 0;
	bool nodes = settings_on(&s->settings, OPT_ALL_NODES);
	int r = 0;
	if (nodes && json) {
		r = err_set(&err, EINVAL, "--all-nodes is for people: --format=text");
	} else if (format && !json && strcmp(format, "text") != 0) {
		r = err_set(&err, EINVAL, "--format=%s: expected text or json", quote_text(format).s);
	}
	r = r < 0 ? r : session_check_separated(s, "explain", &err);
	session_fill_forgotten(s);
	struct process_report report;
	// Before anything changes the environment, in which engines leave marks.
	r = r < 0 ? r : session_plan(s, &err);
	r = r < 0 ? r : read_process(s, &report.process, &err);
	r = r < 0 ? r : session_derive(s, &err);
	r = r < 0 ? r : session_fill(s, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	explain_workload(s, &report);
	if (nodes) {
		return explain_nodes(s, &out, &err) < 0 ? session_fail(s, &err) : labelled_print(s, &out);
	}
	if (json) {
		explain_json(s, &report, &out);
		return say_result(&s->speaker, buf_str(&out));
	}
	explain_text(s, &report, &out);
	return labelled_print(s, &out);
}
