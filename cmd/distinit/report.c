// SPDX-License-Identifier: Apache-2.0

/** The lines of the report (--report) that the entrypoint and `wait` write. src/init has its own. */

#include "distinit/commands.h"

#include "base/json_write.h"
#include "base/secret.h"
#include "cluster/source.h"
#include "flow/changes.h"

void session_report_open(struct session *s) {
	const char *path = s->settings.value[OPT_REPORT];
	if (path && *path) {
		const struct setting file = session_setting(s, OPT_REPORT);
		report_open(&s->report, &s->arena, &s->flow.access, &file);
	}
}

void session_report_end(struct session *s, struct report_line *line) {
	struct err err;
	if (report_end(&s->report, line, &err) < 0) {
		say_line(&s->speaker, LOG_WARN, err.text);
	}
}

/** Append the names of the variables with which @action was done. */
static void put_names(struct buf *out, const struct change *list, uint32_t n, const char *action) {
	const char *before = "[";
	json_put_key(out, action);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(list[i].action, action) == 0) {
			buf_puts(out, before);
			json_put_text(out, list[i].name);
			before = ", ";
		}
	}
	buf_puts(out, *before == '[' ? "[]" : "]");
}

void report_derived(struct session *s) {
	static const char *const actions[] = {"set", "kept", "unset"};
	const struct cluster *c = s->flow.has_cluster ? &s->flow.cluster : NULL;
	struct report_line line;
	struct change *list;
	if (!s->report.path) {
		return;
	}
	if (c) {
		s->report.node_rank = c->place.node_rank;
		s->report.rank = c->launcher ? c->task.rank : UNKNOWN;
		s->report.job_id = secret_text(&s->arena, c->place.job_id);
	}
	struct buf *out = report_begin(&s->report, &line, "derived");
	uint32_t n = flow_changes(&s->flow, false, &list);
	json_put_member(out, "source", c && c->source ? c->source->name : NULL);
	json_put_member(out, "launcher", c && c->launcher ? c->launcher->name : NULL);
	json_put_member(out, "scope", c ? scope_name(c->scope) : NULL);
	json_put_key(out, "cluster");
	if (c) {
		explain_cluster_json(c, out);
	} else {
		buf_puts(out, "null");
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		put_names(out, list, n, actions[i]);
	}
	session_report_end(s, &line);
}

int report_failed(struct session *s, int status, const struct err *err) {
	struct report_line line;
	if (s->report.path) {
		struct buf *out = report_begin(&s->report, &line, "failed");
		json_put_number(out, "status", (uint64_t)status);
		json_put_member(out, "error", err->text);
		session_report_end(s, &line);
	}
	return status;
}
