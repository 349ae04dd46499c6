// SPDX-License-Identifier: Apache-2.0

/** `explain`: runs the flow and prints its changes, by explain_text.c or explain_json.c. */

#include "distinit/commands.h"

#include <errno.h>

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
	struct process_report *process;
	r = r < 0 ? r : explain_process(s, &process, &err);
	r = r < 0 ? r : session_derive(s, &err);
	r = r < 0 ? r : session_fill(s, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	explain_workload(s, process);
	if (json) {
		explain_json(s, process, &out);
	} else {
		explain_text(s, process, &out);
	}
	return say_result(&s->speaker, buf_str(&out));
}
