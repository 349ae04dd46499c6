// SPDX-License-Identifier: Apache-2.0

/** Writes the lines of --report for the entrypoint and `wait`, except those of src/system/init. */

#include "distinit/cluster_json.h"
#include "distinit/start.h"

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
static void put_names(struct json *json, const struct change *list, uint32_t n, const char *action) {
	json_open(json, action, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(list[i].action, action) == 0) {
			json_text(json, NULL, list[i].name);
		}
	}
	json_close(json, ']');
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
	struct json *json = report_begin(&s->report, &line, "derived");
	uint32_t n = flow_changes(&s->flow, false, SIZE_MAX, &list);
	json_text(json, "source", c && c->source ? c->source->name : NULL);
	json_text(json, "launcher", c && c->launcher ? c->launcher->name : NULL);
	json_text(json, "scope", c ? scope_name(c->scope) : NULL);
	cluster_json(c, json);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		put_names(json, list, n, actions[i]);
	}
	session_report_end(s, &line);
}

int report_failed(struct session *s, int status, const struct err *err) {
	struct report_line line;
	if (s->report.path) {
		struct json *json = report_begin(&s->report, &line, "failed");
		json_number(json, "status", (uint64_t)status);
		json_text(json, "error", err->text);
		session_report_end(s, &line);
	}
	return status;
}
