// SPDX-License-Identifier: Apache-2.0

/** Waits for the master: `distinit wait`, and --wait before the workload. */

#include "distinit/start.h"
#include "distinit/subcommands.h"

#include "base/duration.h"
#include "base/signals.h"
#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "common/terminal.h"
#include "exec/exec.h"
#include "flow/master.h"
#include "flow/privileges.h"
#include "net/wait.h"
#include "report/termination.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define TIMEOUT_MS ((uint64_t)5 * 60 * 1000)
/** The timeout of a roll call. It is longer, because images are pulled, and nodes are added, meanwhile. */
#define TIMEOUT_ALL_MS ((uint64_t)10 * 60 * 1000)

/** When the first message about the wait is printed, and how often the terminal's line is rewritten, in ms. */
#define PROGRESS_FIRST_MS    2000
#define PROGRESS_TERMINAL_MS 1000

/** A wait for the master. */
struct waiting {
	struct session *session;
	struct wait_for wait;
	/** The master's name for messages: "main1:29500", or "main1" for dns. */
	const char *name;
	/** A message that we wait was printed, so print its end, too. */
	bool printed;
	/** The option that sets the timeout, for messages. */
	const char *longer;
};

/** Read --for; @tcp: the default. Returns 1 for tcp, 0 for dns; or -EINVAL. */
static int read_for(struct session *s, bool tcp, struct err *err) {
	const char *value = s->settings.value[OPT_FOR];
	if (!value) {
		return tcp;
	}
	tcp = strcmp(value, "tcp") == 0;
	if (!tcp && strcmp(value, "dns") != 0) {
		return err_set(err, EINVAL, "%s=%s: expected dns, tcp or all",
			       settings_label(&s->settings, OPT_FOR), quote_text(value).s);
	}
	return tcp;
}

/** If the value of @id is a duration, not a flag, read the timeout from it. Returns 0 or -EINVAL. */
static int read_timeout(struct session *s, enum option_id id, uint64_t *ms, struct err *err) {
	const char *value = s->settings.value[id];
	int r = value && *value ? settings_duration(&s->settings, id, ms, err) : 0;
	if (r == 0 && *ms == 0) {
		return err_set(err, EINVAL, "%s=%s: expected more than 0", settings_label(&s->settings, id),
			       quote_text(value).s);
	}
	return r;
}

/** Find the host, the port and the name to wait for. Returns 0 or a negative errno. */
static int find_master(struct waiting *w, bool tcp, struct err *err) {
	struct session *s = w->session;
	const char *host = NULL;
	int r = master_host(&s->flow, &host, err);
	r = r < 0 || !tcp ? r : master_port(&s->flow, &w->wait.port, err);
	if (r < 0) {
		return r;
	}
	w->wait.host = host;
	w->name = tcp ? endpoint_text(&s->arena, host, w->wait.port) : host;
	return 0;
}

static void say_progress(void *context, uint64_t waited_ms, const char *failure) {
	struct waiting *w = context;
	struct session *s = w->session;
	struct duration_text waited = duration_text(waited_ms / 1000 * 1000);
	const char *before = *failure ? ": " : "";
	if (!say_status(&s->speaker, arena_format(&s->arena, "waiting for %s, %s%s%s", w->name, waited.s,
						  before, failure))) {
		w->printed = true;
		say_line(&s->speaker, LOG_WARN,
			 arena_format(&s->arena, "still waiting for %s after %s%s%s", w->name, waited.s,
				      before, failure));
	}
}

static void say_failed(void *context, const char *failure) {
	const struct waiting *w = context;
	say_line(&w->session->speaker, LOG_DEBUG,
		 arena_format(&w->session->arena, "waiting for %s: %s", w->name, failure));
}

void log_termination(struct session *s, const struct err *err) {
	const struct setting root = session_setting(s, OPT_ROOT);
	const char *path = termination_path(&s->arena, &root);
	struct buf line = BUF(&s->arena);
	buf_puts(&line, "distinit: error: ");
	buf_put_plain(&line, str_of(err->text));
	buf_putc(&line, '\n');
	termination_log(&s->flow.access, path, buf_str(&line), false);
}

int wait_fail(struct session *s, const struct err *err, int status) {
	status = s->signal ? 128 + s->signal : status;
	session_fail(s, err);
	report_failed(s, status, err);
	log_termination(s, err);
	return status;
}

/** Unblock @signal: --init blocks all signals before the wait. */
static void unblock(int signal) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int wait_die(int signal) {
	// Die of the same signal, as a process without handlers does. The kernel does not let PID 1 die of it:
	// then exit with 128+N.
	unblock(signal);
	kill(getpid(), signal);
	return 128 + signal;
}

/** Print how the wait ended. Returns 0 if the master can be reached; else the exit status. */
static int finish(struct waiting *w, int r, const struct wait_end *end) {
	struct session *s = w->session;
	struct err err;
	const char *failure = end->failure.text;
	const char *before = *failure ? ": " : "";
	struct duration_text waited = duration_text(end->waited_ms);
	say_status_end(&s->speaker);
	if (r == 0) {
		say_line(&s->speaker, w->printed ? LOG_WARN : LOG_INFO,
			 arena_format(&s->arena, "%s can be reached, after %s", w->name, waited.s));
		return 0;
	}
	if (r == -EINTR) {
		err_set(&err, EINTR, "SIG%s ended the wait for %s after %s%s%s", signal_name(end->signal).s,
			w->name, waited.s, before, failure);
		wait_fail(s, &err, 128 + end->signal);
		return wait_die(end->signal);
	}
	if (r == -ETIMEDOUT) {
		err_set(&err, ETIMEDOUT,
			"%s could not be reached within %s%s%s; %s? %s=DURATION waits longer", w->name,
			duration_text(w->wait.timeout_ms).s, before, failure,
			end->failure.code == ENOENT ? "is the name right, and its service there"
						    : "is it running",
			w->longer);
		return wait_fail(s, &err, EXIT_TIME_LIMIT);
	}
	err_set(&err, -r, "%s cannot be waited for: %s", w->name, failure);
	return wait_fail(s, &err, EXIT_OURS);
}

/**
 * Print that there is nothing to wait for. @asked: by the subcommand: then warn, because a cluster may be meant. An image
 * with --wait may run alone, too, so do not warn then.
 */
static void say_nothing_to_wait_for(struct session *s, const char *why, bool asked) {
	const struct flow *f = &s->flow;
	bool nowhere = !f->has_cluster && !f->broken && !f->wants.no_cluster && !f->started_by;
	struct given_master given;
	bool warns = asked && nowhere && !master_is_given(f, &given);
	say_line(&s->speaker, warns ? LOG_WARN : LOG_INFO,
		 arena_format(&s->arena, "nothing to wait for: %s%s", why,
			      warns ? "; 'distinit managers' lists what was looked for; "
				      "describe the cluster with --hosts, or with --nnodes, --node-rank and "
				      "--master-addr"
				    : ""));
}

int wait_read(struct session *s, bool asked, struct wait_plan *out, struct err *err) {
	const bool all = session_calls_roll(s);
	*out = (struct wait_plan){.wanted = asked || all || settings_on(&s->settings, OPT_WAIT),
				  .all = all,
				  .timeout_ms = all ? TIMEOUT_ALL_MS : TIMEOUT_MS};
	int r = read_timeout(s, OPT_WAIT, &out->timeout_ms, err);
	r = r < 0 ? r : read_timeout(s, OPT_TIMEOUT, &out->timeout_ms, err);
	const int tcp = r < 0 || all ? r : read_for(s, !asked, err);
	out->tcp = tcp > 0;
	return tcp < 0 ? tcp : 0;
}

/** Wait for the master. @asked: by the subcommand, not by --wait. */
static int wait_for_master(struct session *s, bool asked) {
	struct err err;
	struct wait_plan plan;
	if (wait_read(s, asked, &plan, &err) < 0) {
		return wait_fail(s, &err, EXIT_OURS);
	}
	struct waiting w = {
		.session = s,
		.wait = {.timeout_ms = plan.timeout_ms,
			 .progress = say_progress,
			 .progress_first_ms = PROGRESS_FIRST_MS,
			 .progress_ms = terminal_rewrites() ? PROGRESS_TERMINAL_MS : 0,
			 .context = &w},
		.longer = asked ? "--timeout" : "--wait",
	};
	if (plan.all) {
		return rollcall_run(s, plan.timeout_ms, w.longer);
	}
	if (master_is_uncounted(&s->flow, asked)) {
		const struct cluster *c = &s->flow.cluster;
		err_set(&err, EINVAL,
			"cannot wait for the master: %s (%s) gives only this node's number, "
			"and neither the number of nodes nor the master; "
			"pass --nnodes, and --master-addr or --hosts, or --nnodes=1 if this node "
			"is alone",
			c->recognised_by, c->source->name);
		return wait_fail(s, &err, EXIT_OURS);
	}
	const char *why = master_why_not(&s->flow, asked);
	if (why) {
		say_nothing_to_wait_for(s, why, asked);
		return 0;
	}
	if (find_master(&w, plan.tcp, &err) < 0) {
		return wait_fail(s, &err, EXIT_OURS);
	}
	w.wait.failed = s->speaker.log >= LOG_DEBUG ? say_failed : NULL;
	struct wait_end end;
	const int r = wait_until_up(&w.wait, &end);
	return finish(&w, r, &end);
}

int session_wait(struct session *s) {
	return settings_on(&s->settings, OPT_WAIT) || session_calls_roll(s) ? wait_for_master(s, false) : 0;
}

int command_wait(struct session *s) {
	struct err err;
	int r;
	session_report_open(s);
	r = session_plan(s, &err);
	r = r < 0 ? r : check_env_format(s, &err);
	r = r < 0 ? r : session_derive(s, &err);
	r = r < 0 ? r : rollcall_prepare(s, &err);
	if (r < 0) {
		return wait_fail(s, &err, EXIT_OURS);
	}
	say_notes(&s->speaker, &s->notes);
	report_derived(s);
	int status = wait_for_master(s, true);
	return status || !s->settings.value[OPT_OUTPUT] ? status : write_env(s);
}
