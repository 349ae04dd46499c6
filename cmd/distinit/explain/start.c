// SPDX-License-Identifier: Apache-2.0

/** What a run would do before, with and after the command. */

#include "explain/explain.h"

#include "base/duration.h"
#include "base/secret.h"
#include "distinit/labelled.h"
#include "distinit/start.h"
#include "flow/master.h"

int explain_read_run(struct session *s, struct run_report *out, struct err *err) {
	init_plan_preset(&out->init);
	int r = wait_read(s, false, &out->wait, err);
	r = r < 0 ? r : check_options(s, err);
	r = r < 0 ? r : read_map_exit(s, &out->init, err);
	return r < 0 ? r : read_init_plan(s, &out->init, &out->stays, err);
}

static const char *wait_text(struct session *s, const struct wait_plan *wait) {
	if (wait->all) {
		return rollcall_text(s, wait->timeout_ms);
	}
	const char *why_not = master_why_not(&s->flow, false);
	const char *what = wait->tcp ? "the master's port has to answer" : "the master's name has to resolve";
	return why_not ? arena_format(&s->arena, "nothing to wait for: %s", why_not)
		       : arena_format(&s->arena, "%s within %s", what, duration_text(wait->timeout_ms).s);
}

static const char *init_text(struct session *s, const struct init_plan *plan) {
	struct buf text = BUF(&s->arena);
	buf_puts(&text, "stays as the parent");
	if (plan->grace_ms != CLOCK_NEVER) {
		buf_putf(&text, "; KILL %s after TERM", duration_text(plan->grace_ms).s);
	}
	if (plan->time_limit_ms != CLOCK_NEVER) {
		buf_putf(&text, "; time limit %s", duration_text(plan->time_limit_ms).s);
	}
	return buf_text(&text);
}

/** What --progress and --max-idle-starts add to what is final. */
static const char *idle_text(struct session *s) {
	const char *given = s->settings.value[OPT_MAX_IDLE_STARTS], *files = s->settings.value[OPT_PROGRESS];
	const char *most = given ? given : IDLE_STARTS;
	return files && strcmp(most, "0") != 0
		       ? arena_format(&s->arena, "; and %s starts in a row that write no file of --progress",
				      most)
		       : "";
}

static const char *restarts_text(struct session *s) {
	const char *most = s->settings.value[OPT_MAX_RESTARTS], *final = s->settings.value[OPT_NO_RESTART];
	return arena_format(
		&s->arena,
		"%s%s, in place, after 0, 1, 2, 4 s and so on up to 60; final are exit status 0, 125 to "
		"127%s%s, and TERM, INT and QUIT%s",
		strcmp(most, "unlimited") == 0 ? "" : "at most ", most, final ? ", " : "", final ? final : "",
		idle_text(s));
}

void explain_run(struct session *s, const struct run_report *run, struct buf *out) {
	if (run->wait.wanted) {
		labelled_put(out, "before", wait_text(s, &run->wait));
	}
	if (s->check) {
		labelled_put(out, "check", "what was promised has to be here, or nothing starts");
	}
	session_expect_text(s, out);
	if (s->settings.value[OPT_CLEAR]) {
		labelled_put(out, "clear", secret_text(&s->arena, s->settings.value[OPT_CLEAR]));
	}
	if (run->stays) {
		labelled_put(out, "init", init_text(s, &run->init));
	}
	if (run->init.restarts) {
		labelled_put(out, "restarts", restarts_text(s));
	}
}

void explain_run_json(struct session *s, const struct run_report *run, struct json *json) {
	static const char *const whats[] = {"dns", "tcp"};
	const struct init_plan *plan = &run->init;
	const uint64_t never = UINT32_MAX;
	json_open(json, "run", '{');
	json_text(json, "wait_for", !run->wait.wanted ? NULL : run->wait.all ? "all" : whats[run->wait.tcp]);
	json_number(json, "wait_ms", run->wait.wanted ? run->wait.timeout_ms : never);
	json_fact(json, "check", s->check != 0);
	session_expect_json(s, json);
	json_fact(json, "init", run->stays);
	json_number(json, "grace_ms", plan->grace_ms != CLOCK_NEVER ? plan->grace_ms : never);
	json_number(json, "time_limit_ms", plan->time_limit_ms != CLOCK_NEVER ? plan->time_limit_ms : never);
	json_text(json, "max_restarts", plan->restarts ? s->settings.value[OPT_MAX_RESTARTS] : NULL);
	json_text(json, "max_idle_starts", plan->restarts ? s->settings.value[OPT_MAX_IDLE_STARTS] : NULL);
	json_text(json, "no_restart", plan->restarts ? s->settings.value[OPT_NO_RESTART] : NULL);
	json_close(json, '}');
}
