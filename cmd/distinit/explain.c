// SPDX-License-Identifier: Apache-2.0

/** `explain`: runs the flow and prints its changes, by explain_text.c or explain_json.c. */

#include "distinit/explain.h"
#include "distinit/start.h"
#include "distinit/subcommands.h"

#include <errno.h>

void explain_workload(struct session *s, struct process_report *r) {
	r->error = s->flow.plan_error;
	r->workload = s->flow.wishes.any && !r->error ? s->flow.plan.target : r->process.has;
	r->workload_caps = credentials_after_exec(&r->workload);
}

int command_explain(struct session *s) {
	struct err err;
	struct buf out = BUF(&s->arena);
	const char *format = s->settings.value[OPT_FORMAT];
	bool json = format && strcmp(format, "json") == 0;
	bool vector = format && strcmp(format, "vector") == 0;
	int r = 0;
	if (format && !json && !vector && strcmp(format, "text") != 0) {
		r = err_set(&err, EINVAL, "--format=%s: expected text, json or vector",
			    quote(str_of(format)).s);
	}
	if (vector) {
		r = r < 0 ? r : explain_vector(s, &out, &err);
		return r < 0 ? session_fail(s, &err) : say_result(&s->speaker, buf_str(&out));
	}
	r = r < 0 ? r : session_check_separated(s, "explain", &err);
	session_fill_forgotten(s);
	struct process_report report;
	r = r < 0 ? r : process_read(&s->arena, s->settings.value[OPT_ROOT], &s->env, &report.process, &err);
	r = r < 0 ? r : session_derive(s, &err);
	r = r < 0 ? r : session_fill(s, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	explain_workload(s, &report);
	if (json) {
		explain_json(s, &report, &out);
	} else {
		explain_text(s, &report, &out);
	}
	return say_result(&s->speaker, buf_str(&out));
}
