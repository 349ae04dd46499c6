// SPDX-License-Identifier: Apache-2.0

/** Runs a workload by the options of `surrogate`, for it and for other subcommands. */

#include "distrun/commands.h"

#include "common/terminal.h"
#include "exec/exec.h"
#include "srun/surrogate.h"

#include <errno.h>
#include <signal.h>

/** How long a workload may take to end after TERM: the default of Slurm's KillWait. */
#define WORKLOAD_GRACE_MS 30000

/** The largest number of accelerators in the suffix of a step's name. */
#define CSX_MAX 65535

static void print_line(void *context, enum log_level level, const char *text) {
	struct distrun_session *s = context;
	say_line(&s->speaker, level, text);
}

static int read_name(struct distrun_session *s, char out[STEP_NAME_MAX], struct err *err) {
	const char *name = s->settings.value[OPT_NAME];
	uint64_t csx = 0;
	int r = settings_number(&s->settings, OPT_CSX, CSX_MAX, &csx, err);
	if (r < 0) {
		return r;
	}
	r = step_name(out, name, (uint32_t)csx, err);
	if (r < 0 && name) {
		struct err cause = *err;
		err_set(err, EINVAL, "%s=%s", settings_label(&s->settings, OPT_NAME), cause.text);
	}
	return r;
}

/** Read the limit into *@budget. Returns 1; 0: there is none; -EINVAL, or why the file does not open. */
static int read_budget(struct distrun_session *s, struct budget *budget, struct err *err) {
	const struct settings *given = &s->settings;
	const char *limit = given->value[OPT_JOB_TIME_SEC], *path = given->value[OPT_JOB_TIME_BUDGET];
	uint64_t limit_ms = 0;
	int r = settings_duration(given, OPT_JOB_TIME_SEC, &limit_ms, err);
	if (r < 0) {
		return r;
	}
	if (limit && limit_ms == 0) {
		return err_set(err, EINVAL, "%s=%s: the limit must be longer than 0",
			       settings_label(given, OPT_JOB_TIME_SEC), quote_text(limit).s);
	}
	if (!limit && !path) {
		return 0;
	}
	r = budget_open(budget, &s->arena, path, limit_ms, err);
	if (r == -EINVAL && !limit && budget->limit_ms == 0) {
		struct err cause = *err;
		return err_set(err, EINVAL, "%s; set it with --job-time-sec", cause.text);
	}
	return r < 0 ? r : 1;
}

int workload_run(struct distrun_session *s, char *const argv[], char **envp) {
	struct err err = {""};
	struct where where;
	struct budget budget;
	char name[STEP_NAME_MAX];
	struct surrogate_plan plan = {
		.where = &where,
		.step_name = name,
		.require = settings_on(&s->settings, OPT_REQUIRE),
		.print = print_line,
		.context = s,
	};
	init_plan_preset(&plan.init);
	plan.init.argv = argv;
	plan.init.envp = envp;
	plan.init.path = env_get(&s->env, "PATH");
	plan.init.program = s->speaker.program;
	plan.init.log = s->speaker.log;
	plan.init.colour = terminal_colours(2);
	// If we are killed, nothing else ends the workload, and the step ends, too.
	plan.init.pdeathsig = SIGTERM;
	uint64_t grace_ms = WORKLOAD_GRACE_MS;
	int limited = read_budget(s, &budget, &err);
	if (limited < 0 || read_name(s, name, &err) < 0 ||
	    settings_duration(&s->settings, OPT_GRACE, &grace_ms, &err) < 0) {
		return session_fail(s, &err);
	}
	init_plan_like_step(&plan.init, grace_ms);
	plan.budget = limited ? &budget : NULL;
	where_read(&s->arena, &s->env, s->settings.value[OPT_ROOT], &where);
	plan.tool_envp = tool_environment(&s->arena, &s->env);
	s->speaker.at_once = true;
	int status = surrogate_run(&s->arena, &plan, &err);
	s->speaker.at_once = false;
	if (err.text[0]) {
		session_fail(s, &err);
	}
	return status;
}

int command_surrogate(struct distrun_session *s) {
	struct err err;
	char **argv = s->settings.arguments;
	if (!s->settings.separated && argv[0]) {
		err_set(&err, EINVAL, "'--' is missing before the command %s", quote_text(argv[0]).s);
		return session_fail(s, &err);
	}
	if (!argv[0]) {
		err_set(&err, EINVAL,
			"no command%s; usage: distrun surrogate [OPTION]... -- COMMAND [ARG]...",
			s->settings.separated ? " after '--'" : "");
		return session_fail(s, &err);
	}
	return workload_run(s, argv, env_vector(&s->env));
}
