// SPDX-License-Identifier: Apache-2.0

/**
 * Finds the best configuration for an input pipeline. Each candidate runs alone on one node, in a job step of
 * its own. step.c measures it, with src/slurm/measure/probe.c on the node; text.c and json.c report the results.
 */

#include "analyze/analyze.h"

#include "base/duration.h"
#include "base/file.h"
#include "base/num.h"
#include "base/words.h"
#include "measure/probe.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DEFAULT_WARMUP_MS  5000
#define DEFAULT_MEASURE_MS 10000

/** The exit status if no candidate could be measured. */
#define EXIT_NONE 1

/** Read a duration of at least @least milliseconds. */
static int read_duration(struct distrun_session *s, unsigned id, uint64_t least, uint64_t *ms,
			 struct err *err) {
	int r = settings_duration(&s->settings, id, ms, err);
	if (r == 0 && *ms < least) {
		return err_set(err, EINVAL, "%s=%s is too short; the minimum is %s",
			       settings_label(&s->settings, id), quote_text(s->settings.value[id]).s,
			       duration_text(least).s);
	}
	return r;
}

static int read_list(struct distrun_session *s, unsigned id, uint32_t **list, size_t *n, struct err *err) {
	*list = NULL;
	*n = 0;
	const char *value = s->settings.value[id];
	return value ? candidates_read_list(&s->arena, settings_label(&s->settings, id), value, list, n, err)
		     : 0;
}

/** Read the options that analyze and the probe share: the unit, and how long to measure. */
static int read_measure(struct distrun_session *s, struct analysis *a, struct err *err) {
	int unit = 0;
	if (settings_on(&s->settings, OPT_UNIT)) {
		unit = settings_choose(&s->settings, OPT_UNIT, err);
	}
	a->unit = unit < 0 ? RECORDS_LINES : (enum records_unit)unit;
	a->warmup_ms = DEFAULT_WARMUP_MS;
	a->measure_ms = DEFAULT_MEASURE_MS;
	int r = unit < 0 ? unit : read_duration(s, OPT_WARMUP, 0, &a->warmup_ms, err);
	return r < 0 ? r : read_duration(s, OPT_SECONDS, 100, &a->measure_ms, err);
}

/** Read the number of nodes for the estimate: as configured; else all nodes of the job or partition. */
static int read_nodes(struct analysis *a, struct err *err) {
	const struct csrun *c = &a->csrun;
	a->nodes = a->there.n == UINT32_MAX || a->there.n == 0 ? 1 : a->there.n;
	int r = csrun_number(c, SITE_NODES, 1000000, &a->nodes, err);
	// If there are 0 nodes, sinfo does not show this partition, and srun will report why.
	if (r == 0 && a->nodes > a->there.n && a->there.n > 0) {
		return err_set(err, ERANGE, "%s=%u, but %s %u (%s)", c->from[SITE_NODES], a->nodes,
			       a->there.of_job ? "the job has" : "the partition has", a->there.n,
			       a->there.from);
	}
	return r;
}

/** Mount this program into a container that srun starts, because the probe runs inside. */
static int mount_self(struct csrun *c, struct err *err) {
	const char *path = self_path(c->arena);
	if (!path) {
		return err_set(
			err, ENOENT,
			"/proc/self/exe cannot be read, to mount distrun into the container; mount /proc");
	}
	const struct mount mount = {path, ANALYZE_INSIDE, true, "distrun"};
	return mounts_add_one(&c->mounts, &mount, err);
}

/** Read the container's settings, srun's options and the number of nodes. */
static int read_site(struct distrun_session *s, struct analysis *a, struct err *err) {
	struct csrun *c = &a->csrun;
	struct words options = WORDS(&s->arena), contained = WORDS(&s->arena);
	int r = csrun_settings(c, s, err);
	if (r == 0) {
		csrun_choose(c, SITE_GRES_NODE);
		r = csrun_contain(c, false, err);
	}
	if (r == 0 && c->runtime->by_srun) {
		r = mount_self(c, err);
	}
	r = r < 0 ? r : csrun_ready_srun(c, &a->there, err);
	r = r < 0 ? r : read_nodes(a, err);
	r = r < 0 ? r : csrun_srun_options(c, &options, err);
	if (r < 0) {
		return r;
	}
	if (c->value[SITE_GRES_NODE] && *c->value[SITE_GRES_NODE] && !a->there.of_job) {
		words_addf(&options, "--exclude=%s", c->value[SITE_GRES_NODE]);
	}
	csrun_command(c, &contained);
	a->srun_options = words_vector(&options);
	a->contained = words_vector(&contained);
	return 0;
}

static int make_rows(struct distrun_session *s, struct analysis *a, struct err *err) {
	uint32_t *threads, *workers;
	size_t n_threads, n_workers;
	struct candidate *candidates;
	int r = read_list(s, OPT_THREADS, &threads, &n_threads, err);
	r = r < 0 ? r : read_list(s, OPT_WORKERS_PER_NODE, &workers, &n_workers, err);
	r = r < 0 ? r : read_site(s, a, err);
	r = r < 0 ? r
		  : candidates_make(&s->arena, a->there.cpus, threads, n_threads, workers, n_workers,
				    &candidates, &a->n, err);
	if (r < 0) {
		return r;
	}
	a->rows = arena_array(&s->arena, a->n, sizeof(*a->rows));
	for (size_t i = 0; i < a->n; i++) {
		a->rows[i] = (struct analysis_row){.candidate = candidates[i], .why = candidates[i].left_out};
	}
	return 0;
}

/**
 * Open a signalfd, so that on Ctrl-C and other signals the step ends before we do. Returns 0 or a negative
 * errno.
 */
static int open_signals(struct analysis *a, struct err *err) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signals < 0 ? err_set(err, errno, "signalfd failed: %s", strerror(errno)) : 0;
}

/** Measure all candidates that fit. Returns 0, or the result of analyze_step(). */
static int try_all(struct analysis *a, struct err *err) {
	for (size_t i = 0; i < a->n; i++) {
		struct analysis_row *row = &a->rows[i];
		if (row->outcome == ROW_LEFT_OUT && row->why) {
			analyze_progress(a, row, arena_format(&a->s->arena, "left out: %s", row->why));
			continue;
		}
		int r = analyze_step(a, row, err);
		if (r) {
			return r;
		}
		if (row->outcome == ROW_MEASURED && a->there.of_job && !a->pinned) {
			a->pinned = arena_text(&a->s->arena, row->node.p, row->node.len);
		}
	}
	return 0;
}

static int report(struct analysis *a, bool json) {
	struct buf out = BUF(&a->s->arena);
	struct err err;
	if (!analysis_rows_compare(a->rows, a->n)) {
		notes_add(&a->s->notes,
			  "the candidates were measured differently: on nodes of different sizes, or some by "
			  "lines and some by 'samples=N'; compare them with care");
	}
	say_notes(&a->s->speaker, &a->s->notes);
	(json ? analyze_put_json : analyze_put_text)(&out, a);
	int status = say_result(&a->s->speaker, buf_str(&out));
	if (status || analysis_rows_best(a->rows, a->n)) {
		return status;
	}
	err_set(&err, EINVAL, "no candidate could be measured; the report says why");
	say_failure(&a->s->speaker, &err);
	return EXIT_NONE;
}

/** --dry-run: print the commands that would run. */
static int show(struct analysis *a) {
	struct buf out = BUF(&a->s->arena);
	for (size_t i = 0; i < a->n; i++) {
		const struct analysis_row *row = &a->rows[i];
		if (row->why) {
			buf_puts(&out, "# ");
			analyze_put_candidate(&out, &row->candidate);
			buf_putf(&out, ": left out: %s\n", row->why);
		} else {
			words_put(&out, analyze_words(a, row));
			buf_putc(&out, '\n');
		}
	}
	return say_result(&a->s->speaker, buf_str(&out));
}

static int measure_all(struct analysis *a, bool json) {
	struct err err;
	int r = open_signals(a, &err);
	r = r < 0 ? r : try_all(a, &err);
	if (r > 0) {
		err_set(&err, EINTR, "ended by signal %d; nothing was left running", r);
		say_failure(&a->s->speaker, &err);
		return 128 + r;
	}
	return r < 0 ? session_fail(a->s, &err) : report(a, json);
}

int command_analyze(struct distrun_session *s) {
	struct analysis a = {.s = s};
	struct err err;
	int json = 0;
	if (!s->settings.arguments[0]) {
		return csrun_refuse(s);
	}
	if (settings_on(&s->settings, OPT_REPORT)) {
		json = settings_choose(&s->settings, OPT_REPORT, &err);
	}
	a.command = s->settings.arguments;
	int r = json < 0 ? json : read_measure(s, &a, &err);
	if (r < 0) {
		return session_refuse(s, &err);
	}
	r = make_rows(s, &a, &err);
	say_notes(&s->speaker, &s->notes);
	if (r < 0) {
		return session_fail(s, &err);
	}
	return settings_on(&s->settings, OPT_DRY_RUN) ? show(&a) : measure_all(&a, json);
}

/** Run as the probe on the node. step.c starts it; it is not for users. */
int command_probe(struct distrun_session *s) {
	struct analysis a = {.s = s};
	struct err err;
	uint64_t rank = 0;
	int r = s->settings.arguments[0] ? 0 : err_set(&err, EINVAL, "no command to measure");
	r = r < 0 ? r : read_measure(s, &a, &err);
	const char *procid = env_value(&s->env, "SLURM_PROCID");
	if (r == 0 && procid && num_read(str_of(procid), UINT32_MAX, &rank) < 0) {
		r = err_set(&err, EINVAL, "SLURM_PROCID=%s is not a rank", quote_text(procid).s);
	}
	struct probe_plan plan = {
		.argv = s->settings.arguments,
		.envp = env_vector(&s->env),
		.unit = a.unit,
		.warmup_ms = a.warmup_ms,
		.measure_ms = a.measure_ms,
		.grace_ms = 2000,
		.rank = (uint32_t)rank,
		.in = 0,
		.out = 1,
	};
	r = r < 0 ? r : probe_run(&plan, &s->arena, &err);
	return r < 0 ? session_fail(s, &err) : 0;
}
