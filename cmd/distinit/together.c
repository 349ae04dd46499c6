// SPDX-License-Identifier: Apache-2.0

/** --together: its options, and its part in the plan and the report. */

#include "distinit/start.h"

#include "base/num.h"
#include "together/together.h"

#include <errno.h>

/** Report who was first. */
static void report_first(struct together *t, const struct ended *first) {
	struct session *s = t->call->context;
	struct report_line line;
	if (s->report.path) {
		struct json *json = report_begin(&s->report, &line, "together");
		together_json(first, json);
		json_fact(json, "first", first->rank == t->call->rank);
		session_report_end(s, &line);
	}
}

int together_options(struct session *s, struct err *err) {
	const char *how = s->settings.value[OPT_TOGETHER], *what = s->settings.value[OPT_FOR];
	struct together *t = arena_alloc(&s->arena, sizeof(*t));
	uint64_t port = 0;
	memset(t, 0, sizeof(*t));
	t->linger_ms = 60000;
	t->report = report_first;
	t->relays = strcmp(how, "failures") != 0;
	t->by_workers = strcmp(how, "workers") == 0;
	s->together = t;
	if (*how && t->relays && !t->by_workers && (num_read(str_of(how), UINT16_MAX, &port) < 0 || !port)) {
		return err_set(err, EINVAL, "%s=%s: expected failures, workers or a port",
			       session_label(s, OPT_TOGETHER), quote(str_of(how)).s);
	}
	t->port = (uint16_t)port;
	if (what && strcmp(what, "all") != 0) {
		return err_set(err, EINVAL, "%s contradicts %s=%s", session_label(s, OPT_TOGETHER),
			       session_label(s, OPT_FOR), quote(str_of(what)).s);
	}
	return settings_duration(&s->settings, OPT_LINGER, &t->linger_ms, err);
}

void together_join(struct session *s, struct init_plan *plan) {
	static struct observer holder = OBSERVER_NONE;
	if (s->together && s->together->lines) {
		s->together->next = plan->observer;
		plan->observer = &s->together->observer;
	}
	plan->observer = plan->observer ? plan->observer : &holder;
	// The program may bind its port seconds from now. Until it has ended no other job gets that.
	if (plan->observer->kept < s->held_port) {
		plan->observer->kept = s->held_port;
	}
}
