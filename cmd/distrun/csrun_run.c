// SPDX-License-Identifier: Apache-2.0

/**
 * Writes srun's options from the settings, and runs or prints the command line.
 */

#include "distrun/csrun.h"

#include "common/terminal.h"
#include "exec/exec.h"
#include "init/init.h"
#include "srun/relay.h"

#include <errno.h>
#include <signal.h>

/**
 * How long srun may take to end after TERM, in ms. It waits for its tasks, which have Slurm's KillWait (30 s).
 */
#define SRUN_GRACE_MS 120000

// --- the command line

int csrun_ready_srun(struct csrun *c, struct nodes *nodes, struct err *err) {
	// sbatch sets these in a batch script, and they would change the layout of our step.
	static const char *const steering[] = {"SLURM_NTASKS",
					       "SLURM_NPROCS",
					       "SLURM_NTASKS_PER_NODE",
					       "SLURM_NTASKS_PER_CORE",
					       "SLURM_NTASKS_PER_SOCKET",
					       "SLURM_DISTRIBUTION",
					       "SLURM_CPUS_PER_TASK",
					       "SRUN_CPUS_PER_TASK"};
	struct env *env = &c->s->env;
	if (!settings_on(&c->s->settings, OPT_DRY_RUN) && !program_is_there(c->arena, env, "srun")) {
		const char *path = env_get(env, "PATH");
		return err_set(err, ENOENT,
			       "srun is not in PATH (%s); this host is not part of a Slurm cluster",
			       path ? quote_text(path).s : "which is not set");
	}
	int r = nodes_find(c->arena, env, c->value[SITE_PARTITION], nodes, err);
	for (size_t i = 0; i < sizeof(steering) / sizeof(steering[0]); i++) {
		env_unset(env, str_of(steering[i]), NULL);
	}
	return r;
}

int csrun_srun_options(struct csrun *c, struct words *words, struct err *err) {
	bool in_job = env_value(&c->s->env, "SLURM_JOB_ID");
	if (!in_job && c->value[SITE_PARTITION]) {
		words_addf(words, "--partition=%s", c->value[SITE_PARTITION]);
	}
	if (!in_job && c->value[SITE_ACCOUNT]) {
		words_addf(words, "--account=%s", c->value[SITE_ACCOUNT]);
	}
	if (c->value[SITE_SRUN_ARGS]) {
		int r = words_split(words, c->from[SITE_SRUN_ARGS], str_of(c->value[SITE_SRUN_ARGS]), err);
		if (r < 0) {
			return r;
		}
	}
	if (c->runtime->by_srun) {
		c->runtime->put(&c->container, words);
	}
	return 0;
}

void csrun_command(const struct csrun *c, struct words *words) {
	if (c->carrier) {
		words_add(words, c->carrier);
		words_add(words, "carry");
	}
	if (c->runtime->has_image && !c->runtime->by_srun) {
		c->runtime->put(&c->container, words);
	}
	if (c->first) {
		words_add(words, c->first);
		if (c->carrier) {
			words_add(words, "--carried");
		}
		if (c->runtime->is_init) {
			words_add(words, "--init");
		}
		if (c->fill) {
			words_add(words, "--fill");
		}
		if (c->roll_call) {
			// On the command line, --wait would override the user's duration.
			if (!env_value(&c->s->env, "DISTINIT_WAIT")) {
				words_add(words, "--wait");
			}
			words_add(words, "--for=all");
		}
		words_add(words, "--");
	}
	words_add_all(words, c->s->settings.arguments);
}

// --- shown or run

/** Write "# NAME=VALUE   FROM", a comment line. */
static void put_row(struct buf *out, const char *name, const char *value, const char *from) {
	struct buf cell = BUF(out->arena);
	buf_putf(&cell, "# %s=", name);
	word_put(&cell, value);
	buf_putf(out, "%-42s  %s\n", buf_text(&cell), from);
}

/** Write "# WHAT: NAME NAME". */
static void put_names(struct buf *out, const char *what, struct words *names) {
	if (names->n) {
		buf_putf(out, "# %s: ", what);
		words_put(out, words_vector(names));
		buf_putc(out, '\n');
	}
}

static int show(struct csrun *c, struct words *words) {
	struct buf out = BUF(c->arena);
	words_put(&out, words_vector(words));
	buf_putc(&out, '\n');
	for (int id = 0; id < SITE_N; id++) {
		if (c->value[id] && id != SITE_MOUNT_DIRS) {
			put_row(&out, site_names[id].option, c->value[id], c->from[id]);
		}
	}
	for (size_t i = 0; i < c->mounts.n; i++) {
		const struct mount *m = &c->mounts.at[i];
		put_row(&out, "mount", arena_format(c->arena, "%s:%s", m->source, m->target), m->from);
	}
	if (c->tasks) {
		buf_putf(&out, "# tasks in all: %lu\n", (unsigned long)c->tasks);
	}
	put_names(&out, "carried into the container", &c->carried);
	put_names(&out, "unset", &c->unset);
	return say_result(&c->s->speaker, buf_str(&out));
}

/** Whether the command needs a surrogate step or a time limit, so that we have to stay as its parent. */
static bool wants_surrogate(const struct settings *settings) {
	static const unsigned options[] = {OPT_REQUIRE, OPT_NAME, OPT_CSX, OPT_JOB_TIME_SEC,
					   OPT_JOB_TIME_BUDGET};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (settings_on(settings, options[i])) {
			return true;
		}
	}
	return false;
}

/** Stay as srun's parent, so that srun gets TERM if we are killed. Returns the exit status. */
static int stay(struct distrun_session *s, struct words *words) {
	struct err err = {""};
	struct init_plan plan;
	init_plan_preset(&plan);
	plan.argv = words_vector(words);
	plan.envp = env_vector(&s->env);
	plan.path = env_get(&s->env, "PATH");
	plan.program = s->speaker.program;
	plan.log = s->speaker.log < LOG_WARN ? s->speaker.log : LOG_WARN;
	plan.colour = terminal_colours(2);
	plan.pdeathsig = SIGTERM;
	uint64_t grace_ms = SRUN_GRACE_MS;
	int status = EXIT_OURS;
	if (settings_duration(&s->settings, OPT_GRACE, &grace_ms, &err) == 0) {
		init_plan_like_step(&plan, grace_ms);
		status = init_run(&s->arena, &plan, &err);
	}
	if (err.text[0]) {
		say_failure(&s->speaker, &err);
	}
	return status;
}

/**
 * Run several tasks. Returns the status of the task that failed first, not of those that srun ended because of
 * it.
 */
static int run_tasks(struct distrun_session *s, struct words *words) {
	struct relay relay;
	struct err err;
	if (relay_start(&relay, &err) < 0) {
		return say_failure(&s->speaker, &err);
	}
	int status = wants_surrogate(&s->settings) ? workload_run(s, words_vector(words), env_vector(&s->env))
						   : stay(s, words);
	return relay_end(&relay, status);
}

int csrun_run(struct distrun_session *s, int (*put_all)(struct csrun *, struct words *, struct err *)) {
	struct csrun c;
	struct err err;
	struct words words = WORDS(&s->arena);
	struct buf line = BUF(&s->arena);
	if (!s->settings.arguments[0]) {
		return csrun_refuse(s);
	}
	int r = csrun_settings(&c, s, &err);
	r = r < 0 ? r : put_all(&c, &words, &err);
	say_notes(&s->speaker, &s->notes);
	if (r < 0) {
		return session_fail(s, &err);
	}
	if (settings_on(&s->settings, OPT_DRY_RUN)) {
		return show(&c, &words);
	}
	words_put(&line, words_vector(&words));
	say_line(&s->speaker, LOG_INFO, arena_format(&s->arena, "running: %s", buf_text(&line)));
	if (c.tasks) {
		return run_tasks(s, &words);
	}
	if (wants_surrogate(&s->settings)) {
		return workload_run(s, words_vector(&words), env_vector(&s->env));
	}
	int status = exec_program(&s->arena, words_vector(&words), env_vector(&s->env),
				  env_get(&s->env, "PATH"), &err);
	say_failure(&s->speaker, &err);
	return status;
}
