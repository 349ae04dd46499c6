// SPDX-License-Identifier: Apache-2.0

/** --together: its options, and its part in the plan and the report. */

#include "distinit/start.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/signals.h"
#include "net/watch.h"
#include "together/together.h"

#include <errno.h>
#include <unistd.h>

/** The most restarts that can be told as a number. */
#define RESTARTS_MAX 1000

/** What is before each start. */
struct before_start {
	/** A copy of it, with copies of its environments. */
	struct session session;
	struct env env, before;
};

/** Report who was first. */
static void report_first(struct together *t, const struct ended *first) {
	struct session *s = t->call->context;
	struct report_line line;
	if (s->report.path && t->observer.again) {
		struct json *json = report_begin(&s->report, &line, "restart");
		json_number(json, "count", t->start + 1);
		json_number(json, "most", t->max_restarts);
		json_number(json, "pause_ms", first->pause_ms);
		json_fact(json, "first", first->rank == t->call->rank);
		session_report_end(s, &line);
	}
	if (s->report.path && settings_on(&s->settings, OPT_TOGETHER)) {
		struct json *json = report_begin(&s->report, &line, "together");
		together_json(first, json);
		json_fact(json, "first", first->rank == t->call->rank);
		session_report_end(s, &line);
	}
}

/** Read the words of --together. */
static int read_how(struct session *s, struct together *t, struct err *err) {
	const char *how = s->settings.value[OPT_TOGETHER] ? s->settings.value[OPT_TOGETHER] : "";
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
				       session_label(s, OPT_TOGETHER), quote_text(how).s);
		}
	}
	return 0;
}

/** Read --max-restarts. */
static int read_restarts(struct session *s, struct init_plan *plan, struct err *err) {
	const char *value = s->settings.value[OPT_MAX_RESTARTS];
	uint64_t n = RESTARTS_UNLIMITED;
	if (value && strcmp(value, "unlimited") != 0 && num_read(str_of(value), RESTARTS_MAX, &n) < 0) {
		return err_set(err, EINVAL, "%s=%s: expected 0 to %d, or unlimited",
			       session_label(s, OPT_MAX_RESTARTS), quote_text(value).s, RESTARTS_MAX);
	}
	s->together->max_restarts = value ? (uint32_t)n : 0;
	plan->restarts = s->together->max_restarts;
	return 0;
}

int together_options(struct session *s, struct init_plan *plan, struct err *err) {
	const char *what = s->settings.value[OPT_FOR];
	struct together *t = arena_alloc(&s->arena, sizeof(*t));
	memset(t, 0, sizeof(*t));
	t->linger_ms = 60000;
	t->report = report_first;
	s->together = t;
	if (settings_on(&s->settings, OPT_TOGETHER) || settings_on(&s->settings, OPT_MAX_RESTARTS)) {
		plan->grace_ms = plan->limit_grace_ms;
		plan->leftovers = LEFTOVERS_END;
	}
	const char *progress = s->settings.value[OPT_PROGRESS];
	if (progress &&
	    progress_read(&s->arena, session_label(s, OPT_PROGRESS), progress, &t->progress, err) < 0) {
		return -EINVAL;
	}
	if (what && strcmp(what, "all") != 0 && settings_on(&s->settings, OPT_TOGETHER)) {
		return err_set(err, EINVAL, "%s contradicts %s=%s", session_label(s, OPT_TOGETHER),
			       session_label(s, OPT_FOR), quote_text(what).s);
	}
	if (read_how(s, t, err) < 0 || read_restarts(s, plan, err) < 0) {
		return -EINVAL;
	}
	if (t->always && plan->early_as < 0) {
		plan->early_as = plan->status_as[1];
	}
	return settings_duration(&s->settings, OPT_LINGER, &t->linger_ms, err);
}

void together_prepare(struct session *s, struct init_plan *plan) {
	if (!plan->restarts) {
		return;
	}
	struct before_start *b = arena_alloc(&s->arena, sizeof(*b));
	env_copy(&s->env, &b->env);
	if (s->before.arena) {
		env_copy(&s->before, &b->before);
	}
	plan->first_at = clock_now_ms();
	s->together->limit_at = clock_after(plan->first_at, plan->time_limit_ms);
	s->before_start = b;
	b->session = *s;
}

/** Forget all that came with the last start. */
static void rewind_session(struct session *s) {
	const struct before_start *b = s->before_start;
	const bool failed = s->report.failed, torn = s->report.torn;
	const struct access access = s->flow.access;
	struct arena arena = s->arena;
	arena_rewind(&arena, &b->session.arena);
	*s = b->session;
	env_copy(&b->env, &s->env);
	if (s->before.arena) {
		env_copy(&b->before, &s->before);
	}
	if (s->notes.last) {
		s->notes.last->next = NULL;
	}
	s->flow.access = access;
	s->report.failed = failed;
	s->report.torn = torn;
}

/** Pause before the next start. Returns 0; the exit status, if a signal has come. */
static int hold(struct session *s, uint64_t ms) {
	const struct wait_for wait = {.timeout_ms = ms};
	struct watch watch;
	if (watch_begin(&watch, &wait) == 0) {
		watch_poll(&watch, -1, 0, CLOCK_NEVER);
		watch_done(&watch);
	}
	if (!watch.signal) {
		return 0;
	}
	struct err err;
	err_set(&err, EINTR, "SIG%s ended the pause before the next start", signal_name(watch.signal).s);
	wait_fail(s, &err, 128 + watch.signal);
	return wait_die(watch.signal);
}

bool together_again(struct session *s, struct init_plan *plan, int *status, struct err *err) {
	struct together *t = s->together;
	if (!plan->restarts) {
		return false;
	}
	const bool alone = t->call->size == 1;
	together_end(t);
	if (s->held_port > 0) {
		close(s->held_port);
	}
	t->start++;
	t->late_at = t->first_at + plan->grace_ms + plan->leftovers_grace_ms + ROLL_LATE_MS;
	t->hold_ms = t->pause_ms;
	if (t->quits && !alone) {
		rollcall_quit(s, t->quits);
	}
	if (!t->observer.again || (err->text[0] && (alone || !rollcall_tell(s, err, false)))) {
		return false;
	}
	err->text[0] = '\0';
	rewind_session(s);
	plan->is_restart = true;
	plan->observer = NULL;
	*status = session_clear(s);
	*status = *status ? *status : alone ? hold(s, t->hold_ms) : session_wait(s);
	*status = *status ? *status : rollcall_alone(s);
	return *status == 0;
}

/** Tell the program which start this is. */
static void put_count(struct session *s) {
	struct origin *kept = arena_alloc(&s->arena, sizeof(*kept));
	*kept = (struct origin){.by = session_label(s, OPT_MAX_RESTARTS)};
	env_set(&s->env, STR("DISTINIT_RESTART_COUNT"),
		str_of(arena_format(&s->arena, "%u", s->together->start)), kept);
}

void together_join(struct session *s, struct init_plan *plan) {
	static struct observer holder = OBSERVER_NONE;
	if (plan->restarts) {
		put_count(s);
		plan->mark = "DISTINIT_RESTART_COUNT";
	}
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
