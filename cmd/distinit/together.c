// SPDX-License-Identifier: Apache-2.0

/** --together: its options, and its part in the plan and the report. */

#include "distinit/commands.h"

#include "base/num.h"
#include "rollcall/together.h"

#include <errno.h>

static const char *label(struct session *s, enum option_id id) {
	return settings_label(&s->settings, id);
}

/** Report who was first. */
static void report_first(struct together *t, const struct ended *first) {
	struct session *s = t->call->context;
	struct report_line line;
	if (s->report.path) {
		together_json(first, report_begin(&s->report, &line, "together"));
		session_report_end(s, &line);
	}
}

int together_options(struct session *s, struct err *err) {
	const char *how = s->settings.value[OPT_TOGETHER], *what = s->settings.value[OPT_FOR];
	struct together *t = arena_alloc(&s->arena, sizeof(*t));
	struct str rest = str_of(how), word;
	*t = (struct together){.relays = true, .linger_ms = 60000, .report = report_first};
	s->together = t;
	while (rest.len && str_cut(&rest, ',', &word)) {
		uint64_t port;
		if (str_is(word, "failures")) {
			t->relays = false;
		} else if (num_read(word, UINT16_MAX, &port) == 0 && port) {
			t->port = (uint16_t)port;
		} else {
			return err_set(err, EINVAL, "%s=%s: expected failures, a port, or both joined by ','",
				       label(s, OPT_TOGETHER), quote(str_of(how)).s);
		}
	}
	if (what && strcmp(what, "all") != 0) {
		return err_set(err, EINVAL, "%s contradicts %s=%s", label(s, OPT_TOGETHER), label(s, OPT_FOR),
			       quote(str_of(what)).s);
	}
	return settings_duration(&s->settings, OPT_LINGER, &t->linger_ms, err);
}

void together_join(struct session *s, struct init_plan *plan) {
	if (s->together && s->together->lines) {
		plan->beside = &s->together->beside;
		plan->event = together_event;
		plan->watcher = s->together;
	}
}
