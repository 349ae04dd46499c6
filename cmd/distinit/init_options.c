// SPDX-License-Identifier: Apache-2.0

/** Makes the plan of --init from the settings. */

#include "distinit/start.h"

#include "common/terminal.h"
#include "exec/exec.h"
#include "report/termination.h"

#include <errno.h>

/** The options of --init. The last four turn --init on; all others need it. */
static const enum option_id of_init[] = {OPT_KILL_GROUP,      OPT_SIGNAL,    OPT_GRACE,	      OPT_LEFTOVERS,
					 OPT_LEFTOVERS_GRACE, OPT_PDEATHSIG, OPT_PROGRESS,    OPT_INIT,
					 OPT_TIME_LIMIT,      OPT_TOGETHER,  OPT_MAX_RESTARTS};

#define N_OF_INIT    (sizeof(of_init) / sizeof(of_init[0]))
#define N_NEEDS_INIT (N_OF_INIT - 4)

/**
 * Refuse these options on the command line without --init, because they would be ignored silently. A variable is not
 * an error, because an image may set it for runs with --init.
 */
static int check_unused(struct session *s, const struct init_plan *plan, struct err *err) {
	if (s->settings.given[OPT_MAP_EXIT] && (plan->early_as >= 0 || plan->told_as >= 0)) {
		return err_set(err, EINVAL, "%s: early and told need --init", session_label(s, OPT_MAP_EXIT));
	}
	for (unsigned i = 0; s->settings.given[OPT_MAP_EXIT] && i < EXIT_ANOTHER; i++) {
		if (plan->status_as[i] != i) {
			return err_set(
				err, EINVAL,
				"%s: %u:%u needs --init: without it, only distinit's own statuses (%u to "
				"%u) can be replaced",
				session_label(s, OPT_MAP_EXIT), i, plan->status_as[i], EXIT_ANOTHER,
				EXIT_NOT_FOUND);
		}
	}
	for (size_t i = 0; i < N_NEEDS_INIT; i++) {
		enum option_id id = of_init[i];
		if (s->settings.given[id] && settings_on(&s->settings, id)) {
			return err_set(err, EINVAL, "%s needs --init", session_label(s, id));
		}
	}
	return 0;
}

/** Refuse --init=0 with an option that turns --init on. */
static int check_init(struct session *s, enum option_id id, struct err *err) {
	bool off = s->settings.given[OPT_INIT] && !settings_on(&s->settings, OPT_INIT);
	return off && settings_on(&s->settings, id)
		       ? err_set(err, EINVAL, "%s needs --init, and contradicts --init=0",
				 session_label(s, id))
		       : 0;
}

static int read_limit(struct session *s, struct init_plan *plan, struct err *err) {
	const char *value = s->settings.value[OPT_TIME_LIMIT];
	int r = settings_duration(&s->settings, OPT_TIME_LIMIT, &plan->time_limit_ms, err);
	if (r < 0 || !value) {
		return r;
	}
	// 0 means no limit, as for timeout(1): it overrides a limit that the image's variable sets.
	if (plan->time_limit_ms == 0) {
		plan->time_limit_ms = CLOCK_NEVER;
		return 0;
	}
	return check_init(s, OPT_TIME_LIMIT, err);
}

/** Read --grace, which also applies to a time limit. */
static int read_grace(struct session *s, struct init_plan *plan, struct err *err) {
	const char *value = s->settings.value[OPT_GRACE];
	uint64_t ms = CLOCK_NEVER;
	if (!value) {
		return 0;
	}
	if (strcmp(value, "never") != 0 && settings_duration(&s->settings, OPT_GRACE, &ms, err) < 0) {
		struct err cause = *err;
		return err_set(err, EINVAL, "%s; 'never' sets no limit", cause.text);
	}
	plan->grace_ms = ms;
	plan->limit_grace_ms = ms;
	return 0;
}

static int read_leftovers(struct session *s, struct init_plan *plan, struct err *err) {
	static const enum leftovers what[] = {LEFTOVERS_END, LEFTOVERS_LEAVE};
	if (s->settings.value[OPT_LEFTOVERS]) {
		int word = settings_choose(&s->settings, OPT_LEFTOVERS, err);
		if (word < 0) {
			return word;
		}
		plan->leftovers = what[word];
	}
	return settings_duration(&s->settings, OPT_LEFTOVERS_GRACE, &plan->leftovers_grace_ms, err);
}

/**
 * Refuse --max-restarts with an option by which the command or its leftovers may not end: they have to before
 * a restart.
 */
static int check_ends(struct session *s, const struct init_plan *plan, struct err *err) {
	enum option_id id = plan->grace_ms == CLOCK_NEVER ? OPT_GRACE : OPT_LEFTOVERS;
	if (plan->grace_ms != CLOCK_NEVER && plan->leftovers != LEFTOVERS_LEAVE) {
		return 0;
	}
	return err_set(err, EINVAL, "%s=%s contradicts %s: what has not ended cannot start again",
		       session_label(s, id), quote_text(s->settings.value[id]).s,
		       session_label(s, OPT_MAX_RESTARTS));
}

static bool any_is_on(const struct session *s) {
	for (size_t i = 0; i < N_OF_INIT; i++) {
		if (settings_on(&s->settings, of_init[i])) {
			return true;
		}
	}
	return false;
}

int read_map_exit(struct session *s, struct init_plan *plan, struct err *err) {
	const char *value = s->settings.value[OPT_MAP_EXIT];
	return value ? init_plan_statuses(plan, session_label(s, OPT_MAP_EXIT), value, err) : 0;
}

int read_init_plan(struct session *s, struct init_plan *plan, bool *wanted, struct err *err) {
	bool together = settings_on(&s->settings, OPT_TOGETHER);
	bool restarts = settings_on(&s->settings, OPT_MAX_RESTARTS);
	*wanted = false;
	if (s->settings.given[OPT_LINGER] && !together) {
		return err_set(err, EINVAL, "%s needs --together", session_label(s, OPT_LINGER));
	}
	if (s->settings.given[OPT_NO_RESTART] && !restarts) {
		return err_set(err, EINVAL, "%s needs --max-restarts", session_label(s, OPT_NO_RESTART));
	}
	if (s->settings.given[OPT_MAX_IDLE_STARTS] && !restarts) {
		return err_set(err, EINVAL, "%s needs --max-restarts", session_label(s, OPT_MAX_IDLE_STARTS));
	}
	if (!any_is_on(s)) {
		return check_unused(s, plan, err);
	}
	const char *const *value = s->settings.value;
	int r = read_limit(s, plan, err);
	r = r < 0 ? r : check_init(s, OPT_TOGETHER, err);
	r = r < 0 ? r : check_init(s, OPT_MAX_RESTARTS, err);
	if (r == 0 && restarts && !together && session_calls_roll(s)) {
		return err_set(err, EINVAL,
			       "%s with --for=all needs --together, as all nodes have to start again",
			       session_label(s, OPT_MAX_RESTARTS));
	}
	r = r < 0 || !(together || restarts || settings_on(&s->settings, OPT_PROGRESS))
		    ? r
		    : together_options(s, plan, err);
	r = r < 0 ? r : read_grace(s, plan, err);
	r = r < 0 ? r : read_leftovers(s, plan, err);
	if (r == 0 && restarts) {
		r = check_ends(s, plan, err);
	}
	if (r == 0 && value[OPT_SIGNAL]) {
		r = init_plan_signals(plan, session_label(s, OPT_SIGNAL), value[OPT_SIGNAL], err);
	}
	if (r == 0 && value[OPT_PDEATHSIG]) {
		r = init_plan_pdeathsig(plan, session_label(s, OPT_PDEATHSIG), value[OPT_PDEATHSIG], err);
	}
	if (r < 0) {
		return r;
	}
	plan->explains = true;
	const struct setting root = session_setting(s, OPT_ROOT);
	plan->termination_log = termination_path(&s->arena, &root);
	plan->access = &s->flow.access;
	plan->has_secret = session_calls_roll(s) && (value[OPT_SECRET] || value[OPT_SECRET_FILE]);
	plan->kill_group = settings_on(&s->settings, OPT_KILL_GROUP);
	plan->log = s->speaker.log;
	plan->colour = terminal_colours(2);
	*wanted = settings_on(&s->settings, OPT_INIT) || plan->time_limit_ms != CLOCK_NEVER || together ||
		  restarts;
	return *wanted ? 0 : check_unused(s, plan, err);
}
