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

/** Read the words of --together. */
static int read_how(struct session *s, struct together *t, struct err *err) {
	const char *how = s->settings.value[OPT_TOGETHER];
	struct str rest = str_of(how), word;
	t->relays = true;
	while (*how && str_cut(&rest, ',', &word)) {
		uint64_t port = 0;
		if (str_is(word, "failures")) {
			t->relays = false;
		} else if (str_is(word, "workers")) {
			t->by_workers = true;
		} else if (str_is(word, "always")) {
			t->always = true;
		} else if (num_read(word, UINT16_MAX, &port) == 0 && port && !t->port) {
			t->port = (uint16_t)port;
		} else {
			return err_set(err, EINVAL,
				       "%s=%s: expected failures, workers, always or a port, joined by ','",
				       session_label(s, OPT_TOGETHER), quote(str_of(how)).s);
		}
	}
	return 0;
}

int together_options(struct session *s, struct init_plan *plan, struct err *err) {
	const char *what = s->settings.value[OPT_FOR];
	struct together *t = arena_alloc(&s->arena, sizeof(*t));
	memset(t, 0, sizeof(*t));
	t->linger_ms = 60000;
	t->report = report_first;
	s->together = t;
	plan->grace_ms = plan->limit_grace_ms;
	plan->leftovers = LEFTOVERS_END;
	if (what && strcmp(what, "all") != 0) {
		return err_set(err, EINVAL, "%s contradicts %s=%s", session_label(s, OPT_TOGETHER),
			       session_label(s, OPT_FOR), quote(str_of(what)).s);
	}
	if (read_how(s, t, err) < 0) {
		return -EINVAL;
	}
	if (t->always && plan->early_as < 0) {
		plan->early_as = plan->status_as[1];
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
