// SPDX-License-Identifier: Apache-2.0

/**
 * `explain`: runs the flow, and shows what was recognised, and what set each variable.
 *
 *     text.c                   the output for people: the cluster, the command, the variables
 *     start.c                  its part on what is done before, with and after the command
 *     process.c, unknown.c     its parts on the process, and with guesses if no manager is recognised
 *     json.c                   the output for programs
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

/**
 * Read what explain shows of this process, by the workload's rights. If they cannot be taken, the container is
 * recognised without files, and a warning says so.
 */
static int read_process(struct session *s, struct process *out, struct err *err) {
	struct view *view = NULL;
	struct err cause;
	if (view_open(&s->flow.access, s->settings.value[OPT_ROOT], &view, &cause) < 0) {
		notes_add(&s->notes, "files that show which container this is are not looked for: %s",
			  cause.text);
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
	// Do this before the environment is changed, because engines leave marks in it.
	r = r < 0 ? r : session_plan(s, &err);
	r = r < 0 ? r : explain_read_run(s, &report.run, &err);
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
	r = session_expect(s, &err);
	if (r) {
		return r < 0 ? session_fail(s, &err) : r;
	}
	if (json) {
		explain_json(s, &report, &out);
		return say_result(&s->speaker, buf_str(&out));
	}
	explain_text(s, &report, &out);
	return labelled_print(s, &out);
}
