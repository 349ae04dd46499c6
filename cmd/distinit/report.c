// SPDX-License-Identifier: Apache-2.0

/** The lines of the report (--report) that the entrypoint and `wait` write. src/init has its own. */

#include "distinit/commands.h"

#include "base/json_write.h"
#include "cluster/source.h"
#include "exec/exec.h"
#include "flow/changes.h"
#include "flow/privileges.h"

#include <unistd.h>

void session_report_open(struct session *s) {
	const char *path = s->settings.value[OPT_REPORT];
	if (path && *path) {
		report_open(&s->report, &s->arena, settings_label(&s->settings, OPT_REPORT), path);
	}
}

struct buf *session_report_begin(struct session *s, struct report_line *line, const char *event) {
	const struct cluster *c = &s->flow.cluster;
	if (!s->report.path) {
		return NULL;
	}
	if (s->flow.has_cluster) {
		s->report.node_rank = c->place.node_rank;
		s->report.rank = c->launcher ? c->task.rank : UNKNOWN;
		s->report.job_id = c->place.job_id;
	}
	return report_begin(&s->report, line, event);
}

void session_report_end(struct session *s, struct report_line *line) {
	struct err err, fatal;
	int r = rights_lower_to_program(&s->flow, &err);
	r = r < 0 ? r : report_end(&s->report, line, &err);
	if (rights_restore_ours(&s->flow, 0, &fatal) < 0) {
		_exit(session_fail(s, &fatal));
	}
	if (r < 0) {
		say_line(&s->speaker, LOG_WARN, err.text);
	}
}

/** Append the cluster, as `explain --format=json` has it, without its line breaks. */
static void put_cluster(struct session *s, struct buf *out) {
	struct buf lines = BUF(&s->arena);
	if (!s->flow.has_cluster) {
		buf_puts(out, "null");
		return;
	}
	explain_cluster_json(&s->flow.cluster, &lines);
	struct str rest = buf_str(&lines), one;
	while (str_cut(&rest, '\n', &one)) {
		buf_put(out, str_trim(one));
	}
}

/** Append the names of the variables with which @action was done. */
static void put_names(struct buf *out, const struct change *list, uint32_t n, const char *action) {
	const char *before = "";
	buf_putf(out, ",\"%s\":[", action);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(list[i].action, action) == 0) {
			buf_puts(out, before);
			json_put_text(out, list[i].name);
			before = ",";
		}
	}
	buf_putc(out, ']');
}

void report_derived(struct session *s) {
	struct report_line line;
	struct buf *out = session_report_begin(s, &line, "derived");
	if (!out) {
		return;
	}
	const struct cluster *c = s->flow.has_cluster ? &s->flow.cluster : NULL;
	struct change *list;
	uint32_t n = flow_changes(&s->flow, false, &list);
	buf_puts(out, "{\"source\":");
	json_put_text(out, c && c->source ? c->source->name : NULL);
	buf_puts(out, ",\"launcher\":");
	json_put_text(out, c && c->launcher ? c->launcher->name : NULL);
	buf_puts(out, ",\"scope\":");
	json_put_text(out, c ? scope_name(c->scope) : NULL);
	buf_puts(out, ",\"cluster\":");
	put_cluster(s, out);
	put_names(out, list, n, "set");
	put_names(out, list, n, "kept");
	put_names(out, list, n, "unset");
	buf_putc(out, '}');
	session_report_end(s, &line);
}

void report_started(struct session *s, const char *program) {
	struct report_line line;
	struct buf *out = session_report_begin(s, &line, "started");
	if (out) {
		buf_puts(out, "{\"program\":");
		json_put_text(out, program);
		buf_putf(out, ",\"pid\":%d,\"init\":false}", (int)getpid());
		session_report_end(s, &line);
	}
}

int report_failed(struct session *s, int status, const struct err *err) {
	struct report_line line;
	struct buf *out = session_report_begin(s, &line, "failed");
	if (out) {
		buf_putf(out, "{\"status\":%d,\"error\":", status);
		json_put_text(out, err->text);
		buf_putc(out, '}');
		session_report_end(s, &line);
	}
	return status;
}
