// SPDX-License-Identifier: Apache-2.0

/** --together: its options, and its part in the plan and the report. */

#include "distinit/start.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/signals.h"
#include "together/again.h"

#include <errno.h>
#include <unistd.h>

/** The largest number of restarts that can be given. */
#define RESTARTS_MAX 1000

/** What a start of the program changes in a session, as it is before the first. All else lasts. */
struct start {
	/** What is allocated after that goes. */
	struct arena memory;
	struct env env, before;
	struct flow flow;
	struct notes notes;
	const struct note *said;
	char **arguments;
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
	if (s->report.path && (settings_on(&s->settings, OPT_TOGETHER) || !t->observer.again)) {
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

/** Read --max-idle-starts. */
static int read_idle(struct session *s, struct err *err) {
	const char *given = s->settings.value[OPT_MAX_IDLE_STARTS], *value = given ? given : IDLE_STARTS;
	uint64_t n;
	if (num_read(str_of(value), RESTARTS_MAX, &n) < 0) {
		return err_set(err, EINVAL, "%s=%s: expected 0 to %d", session_label(s, OPT_MAX_IDLE_STARTS),
			       quote_text(value).s, RESTARTS_MAX);
	}
	s->together->max_idle = (uint32_t)n;
	return 0;
}

/** Read --no-restart. */
static int read_final(struct session *s, struct err *err) {
	const char *value = s->settings.value[OPT_NO_RESTART];
	struct str rest = str_of(value ? value : ""), word;
	while (value && str_cut(&rest, ',', &word)) {
		uint64_t status = 0;
		const char *nearest = NULL;
		const int signal = num_read(word, UINT8_MAX, &status) < 0 ? signal_read(word, &nearest) : 0;
		if (signal < 0 || (!signal && !status)) {
			return err_set(
				err, EINVAL,
				"%s: %s: expected exit statuses from 1 to 255 and signals, joined by ','%s%s%s",
				session_label(s, OPT_NO_RESTART),
				quote_text(arena_text(&s->arena, word.p, word.len)).s,
				nearest ? "; did you mean '" : "", nearest ? nearest : "",
				nearest ? "'?" : "");
		}
		s->together->is_final[signal ? 128 + (unsigned)signal : status] = true;
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
		return err_set(err, EINVAL, "%s contradicts %s=%s: it begins with a roll call, --for=all",
			       session_label(s, OPT_TOGETHER), session_label(s, OPT_FOR), quote_text(what).s);
	}
	if (read_how(s, t, err) < 0 || read_restarts(s, plan, err) < 0 || read_idle(s, err) < 0 ||
	    read_final(s, err) < 0) {
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
	struct start *start = arena_alloc(&s->arena, sizeof(*start));
	env_copy(&s->env, &start->env);
	if (s->before.arena) {
		env_copy(&s->before, &start->before);
	}
	plan->first_at = clock_now_ms();
	s->together->limit_at = clock_after(plan->first_at, plan->time_limit_ms);
	start->flow = s->flow;
	start->notes = s->notes;
	start->said = s->speaker.said;
	start->arguments = s->settings.arguments;
	start->memory = s->arena;
	s->start = start;
}

/** Make anew what a start changes. */
static void start_make(struct session *s) {
	const struct start *start = s->start;
	// The rights were taken for good.
	const struct access access = s->flow.access;
	arena_rewind(&s->arena, &start->memory);
	env_copy(&start->env, &s->env);
	if (s->before.arena) {
		env_copy(&start->before, &s->before);
	}
	s->flow = start->flow;
	s->flow.access = access;
	s->notes = start->notes;
	if (s->notes.last) {
		s->notes.last->next = NULL;
	}
	s->speaker.said = start->said;
	s->settings.arguments = start->arguments;
	s->report.memory = NULL;
	s->reserved_port = 0;
	s->ran = false;
}

/** Alone: pause before the next start. Returns 0; the exit status, if a signal has come. */
static int pause_alone(struct session *s) {
	const int signal = together_pause(s->together);
	if (!signal) {
		return 0;
	}
	struct err err;
	err_set(&err, EINTR, "SIG%s ended the pause before the next start", signal_name(signal).s);
	wait_fail(s, &err, 128 + signal);
	return wait_die(signal);
}

bool session_again(struct session *s, struct init_plan *plan, int *status, struct err *err) {
	struct together *t = s->together;
	if (!plan->restarts) {
		return false;
	}
	const bool alone = t->call->size == 1;
	if (!together_again(t, rollcall_of(s), &s->reserved_port,
			    plan->grace_ms + plan->leftovers_grace_ms) ||
	    (err->text[0] && (alone || !rollcall_tell(s, err, false)))) {
		return false;
	}
	err->text[0] = '\0';
	start_make(s);
	plan->is_restart = true;
	plan->observer = NULL;
	*status = session_clear(s);
	*status = *status ? *status : alone ? pause_alone(s) : session_wait(s);
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
	if (plan->observer->kept < s->reserved_port) {
		plan->observer->kept = s->reserved_port;
	}
}
