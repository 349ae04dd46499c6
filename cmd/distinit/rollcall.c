// SPDX-License-Identifier: Apache-2.0

/** The roll call (--for=all): its options, its secret, and what follows from its result. */

#include "distinit/start.h"

#include "base/duration.h"
#include "base/signals.h"
#include "cluster/launcher.h"
#include "cluster/source.h"
#include "common/terminal.h"
#include "exec/exec.h"
#include "facts/expect.h"
#include "flow/master.h"
#include "framework/torchrun.h"
#include "report/termination.h"
#include "together/again.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/** A secret has at least and at most so many bytes; a manager's file, any up to this. */
#define SECRET_MIN	16
#define SECRET_VARIETY	8
#define SECRET_MAX	4096
#define SECRET_FILE_MAX ((size_t)64 * 1024)

/** The options that have to be the same on all nodes. */
#define N_ALIKE 7

/** How long a node whose program is missing tries to tell the others. */
#define UNABLE_MS 10000

#define NO_MANAGER "no cluster manager is recognised here"
#define DESCRIBE   "describe the cluster with --hosts or --read"

/** What rollcall_prepare() finds, for rollcall_run(). */
struct rolling {
	struct roll_call call;
	struct facts facts;
	/** Why there is nothing to wait for, or NULL. */
	const char *why_not;
	/** If the program cannot be started: the exit status for that, and why. */
	int unable;
	struct err unable_why;
	/** That has been printed. */
	bool unable_said;
};

// --- options

/** Read --agree into a set of groups. */
static int read_agree(struct session *s, unsigned *out, struct err *err) {
	struct str rest = str_of(s->settings.value[OPT_AGREE]), word;
	*out = 1 << FACTS_WORLD;
	while (rest.p && str_cut(&rest, ',', &word)) {
		unsigned set = str_is(word, "all") ? (1 << N_FACT_GROUPS) - 1 : 0;
		for (unsigned i = 0; i < N_FACT_GROUPS; i++) {
			set |= (unsigned)str_is(word, fact_groups[i]) << i;
		}
		if (!set) {
			return err_set(
				err, EINVAL,
				"%s=%s: expected all, world, program, env, devices or limits, joined by ','",
				session_label(s, OPT_AGREE), quote_text(s->settings.value[OPT_AGREE]).s);
		}
		*out |= set;
	}
	return 0;
}

// --- the secret

/** Check a secret of @from. */
static int check_secret(const char *from, struct str secret, struct err *err) {
	if (secret.len < SECRET_MIN || secret.len > SECRET_MAX) {
		return err_set(err, EINVAL, "%s: the secret has %zu bytes, and %d to %d are expected", from,
			       secret.len, SECRET_MIN, SECRET_MAX);
	}
	unsigned variety = key_variety(secret);
	return variety >= SECRET_VARIETY
		       ? 0
		       : err_set(err, EINVAL,
				 "%s: the secret has only %u different bytes, and %d are expected at least; "
				 "'openssl rand -hex 16' makes one",
				 from, variety, SECRET_VARIETY);
}

/** Read the first line of --secret-file. */
static int read_secret_file(struct session *s, struct str *out, struct err *err) {
	const struct setting file = session_setting(s, OPT_SECRET_FILE);
	mode_t mode;
	int r = access_read_secret(&s->flow.access, &s->arena, file.from, &file, SECRET_FILE_MAX, out, &mode,
				   err);
	if (r < 0) {
		return r;
	}
	if (mode & S_IROTH) {
		notes_add(&s->notes, "%s=%s can be read by every user: chmod 600 protects the secret",
			  file.from, quote_text(file.value).s);
	}
	struct str rest = *out;
	str_cut(&rest, '\n', out);
	// The lines after the first may be another secret: erase them.
	key_forget(rest);
	return check_secret(file.from, *out, err);
}

/**
 * The digest of the manager's file, if there is one. It is opened with the program's rights, and not
 * through a link of somebody else: else the digest would tell whether a guess of a file's content is
 * right.
 */
static void read_managers_file(struct session *s, struct str *out) {
	const char *path = s->flow.cluster.place.secret_file;
	struct str text = {0};
	struct err ignored;
	mode_t mode;
	if (!path) {
		return;
	}
	const struct setting setting = {path, "the manager's key", BY_MANAGER};
	const struct setting file = setting_under_root(&s->arena, &s->flow.input.root, &setting);
	int r = access_read_secret(&s->flow.access, &s->arena, setting.from, &file, SECRET_FILE_MAX, &text,
				   &mode, &ignored);
	if (r == 0 && text.len >= SECRET_MIN) {
		unsigned char *digest = arena_alloc(&s->arena, SHA256_BYTES);
		sha256(text.p, text.len, digest);
		*out = (struct str){(char *)digest, SHA256_BYTES};
	}
	key_forget(text);
	if (r < 0 && r != -ENOENT && r != -EACCES && r != -ENOTDIR) {
		notes_add(&s->notes, "%s; it is no secret of the roll call", ignored.text);
	}
}

/** Find the secret: the user's, else the manager's. */
static int find_secret(struct session *s, struct str *out, struct err *err) {
	*out = STR("");
	if (s->settings.value[OPT_SECRET_FILE]) {
		return read_secret_file(s, out, err);
	}
	if (s->settings.value[OPT_SECRET]) {
		*out = str_of(s->settings.value[OPT_SECRET]);
		return check_secret("DISTINIT_SECRET", *out, err);
	}
	read_managers_file(s, out);
	if (!out->len && settings_on(&s->settings, OPT_SECRET_REQUIRED)) {
		return err_set(err, EINVAL, "%s: there is no secret; set DISTINIT_SECRET or --secret-file",
			       session_label(s, OPT_SECRET_REQUIRED));
	}
	return 0;
}

/** Make the key of the job. The secret itself is forgotten. */
static int make_key(struct session *s, struct roll_call *call, struct err *err) {
	struct str secret;
	int r = find_secret(s, &secret, err);
	if (r == 0) {
		key_of_job(secret, call->job, &call->key);
		call->secret = secret.len > 0;
	}
	key_forget(secret);
	return r;
}

// --- what the cluster says

/** The identity of the job: the manager, its id and step if they are known, and the user's own name. */
static const char *job_of(struct session *s, const struct cluster *c) {
	const char *name = s->settings.value[OPT_JOB];
	struct buf job = BUF(&s->arena);
	buf_putf(&job, "%s:%s", c->source ? c->source->name : c->launcher->name,
		 c->place.job_id ? c->place.job_id : "");
	if (c->place.step) {
		buf_putf(&job, ".%u", c->place.step);
	}
	if (name && *name) {
		buf_putf(&job, c->place.job_id ? "/%s" : "%s", name);
	}
	return buf_text(&job);
}

/** Whether an id tells this job apart from others. */
static bool has_id(const struct session *s) {
	const char *name = s->settings.value[OPT_JOB];
	return s->flow.cluster.place.job_id || (name && *name);
}

/** A number of nodes that is not fixed, such as "2:4", or NULL. */
static const char *elastic_nodes(const struct session *s) {
	const char *nodes = env_value(&s->env, "PET_NNODES");
	return nodes && torchrun_is_elastic(nodes) ? nodes : NULL;
}

/** The option or variable that asks for the roll call: "--for=all", "DISTINIT_TOGETHER". */
static const char *asked_by(struct session *s) {
	return s->together ? session_label(s, OPT_TOGETHER)
			   : arena_format(&s->arena, "%s=all", session_label(s, OPT_FOR));
}

/** Find this member and their number. */
static int find_place(struct session *s, struct roll_call *call, struct err *err) {
	const struct cluster *c = &s->flow.cluster;
	const char *elastic = elastic_nodes(s);
	if (!s->settings.given[s->together ? OPT_TOGETHER : OPT_FOR] && joins_another()) {
		return err_set(
			err, EEXIST,
			"%s: a process of this node is in the job already, distinit as PID 1; to start "
			"a program beside it: --options-from=command-line",
			asked_by(s));
	}
	bool tasks = c->scope == SCOPE_TASK;
	call->rank = tasks ? c->task.rank : cluster_rendezvous_rank(c);
	call->size = tasks ? c->task.world_size : c->nnodes;
	call->noun = tasks ? "tasks" : "nodes";
	if (elastic) {
		return err_set(err, EINVAL,
			       "%s: the job is elastic (PET_NNODES=%s), and the number of nodes is "
			       "not fixed; torchrun's own rendezvous waits for them",
			       asked_by(s), quote_text(elastic).s);
	}
	if (!s->flow.has_cluster) {
		return err_set(err, EINVAL,
			       "%s: " NO_MANAGER ", so the number of nodes is unknown; " DESCRIBE,
			       asked_by(s));
	}
	if (call->size == UNKNOWN) {
		return err_set(err, EINVAL,
			       "%s: %s (%s) does not provide the number of nodes; set DISTINIT_NNODES, or "
			       "pass --nnodes or --hosts",
			       asked_by(s), c->source->name, c->recognised_by);
	}
	if (call->rank == UNKNOWN) {
		return err_set(err, EINVAL,
			       "%s: it is unknown which node this is; pass --hosts and --node-rank",
			       asked_by(s));
	}
	return 0;
}

/** Whether a directive set MASTER_PORT, perhaps to the very port that was derived. */
static bool is_port_set(const struct env *env) {
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (entry->state == ENV_LIVE && entry->by && str_is(env_entry_name(entry), "MASTER_PORT")) {
			return strcmp(entry->by->by, "torch") != 0;
		}
	}
	return false;
}

static void say(void *context, enum roll_level level, const char *text) {
	struct session *s = context;
	static const enum log_level levels[] = {LOG_WARN, LOG_INFO, LOG_DEBUG};
	if (level == ROLL_STATUS) {
		say_status(&s->speaker, text);
	} else {
		say_line(&s->speaker, levels[level], text);
	}
}

/**
 * Whether there are other members to meet; else *@why_not is the reason. If only this node's rank is known,
 * there may be others. So that no node trains alone unnoticed, there is a warning, unless the cluster has one
 * node or the user gave that.
 */
static bool is_needed(struct session *s, const char **why_not) {
	const struct flow *f = &s->flow;
	const struct cluster *c = &f->cluster;
	*why_not = master_why_not(f, s->command == CMD_WAIT);
	struct given_master given;
	bool several = master_is_given(f, &given) || (f->has_cluster && !cluster_is_single(c));
	if (!*why_not || elastic_nodes(s) || (several && c->scope != SCOPE_ALLOCATION)) {
		return true;
	}
	const char *hint = several ? "; pass --scope=node if distinit runs once on each node" : "";
	if (!f->has_cluster && !f->broken && !f->wants.no_cluster) {
		*why_not =
			f->started_by ? "this is a child of torchrun, which has met the others" : NO_MANAGER;
		hint = f->started_by ? "" : "; 'distinit managers' lists what was looked for; " DESCRIBE;
	} else if (!several || f->input.scope.value) {
		return false;
	}
	notes_add(&s->notes, "%s, but nobody is waited for: %s%s", asked_by(s), *why_not, hint);
	return false;
}

const char *rollcall_text(struct session *s, uint64_t timeout_ms) {
	struct roll_call unused = {.arena = &s->arena};
	struct err err;
	const char *why_not;
	if (!is_needed(s, &why_not)) {
		return arena_format(&s->arena, "nothing to wait for: %s", why_not);
	}
	return find_place(s, &unused, &err) < 0
		       ? arena_format(&s->arena, "nothing would start: %s", err.text)
		       : arena_format(&s->arena, "a roll call: all nodes have to come within %s",
				      duration_text(timeout_ms).s);
}

int rollcall_prepare(struct session *s, struct err *err) {
	if (!session_calls_roll(s)) {
		const struct setting what = session_setting(s, OPT_FOR);
		bool asked = setting_by_option(&what) && strcmp(what.value, "all") == 0;
		return asked ? err_set(err, EINVAL, "--for=all needs --wait: distinit --wait --for=all") : 0;
	}
	struct rolling *rolling = arena_alloc(&s->arena, sizeof(*rolling));
	*rolling = (struct rolling){.call = {.arena = &s->arena,
					     .cluster = &s->flow.cluster,
					     .node = input_hostname(&s->flow.input),
					     .facts = &rolling->facts,
					     .pod = env_get(&s->before, "KUBERNETES_SERVICE_HOST"),
					     .wait_only = s->command == CMD_WAIT,
					     .say = say,
					     .context = s,
					     .verbose = s->speaker.log >= LOG_INFO,
					     .rewrites = terminal_rewrites()}};
	struct roll_call *call = &rolling->call;
	s->rolling = rolling;
	int r = read_agree(s, &call->agree, err);
	if (r < 0 || !is_needed(s, &rolling->why_not)) {
		return r;
	}
	rolling->why_not = NULL;
	r = find_place(s, call, err);
	r = r < 0 ? r : master_host(&s->flow, &call->master, err);
	if (r < 0) {
		return r;
	}
	r = master_port(&s->flow, &call->port, err);
	call->port_from = is_port_set(&s->env) ? "MASTER_PORT" : s->flow.cluster.master_port_from;
	if (s->together && s->together->port) {
		call->port = s->together->port;
		call->port_from = session_label(s, OPT_TOGETHER);
	}
	call->stay = s->together;
	const struct expectation *clock = s->expected ? expect_clock(s->expected) : NULL;
	if (clock) {
		call->clock_most_ms = clock->number;
		call->clock_expected = clock->text;
	}
	call->max_restarts = s->together ? s->together->max_restarts : 0;
	call->job = job_of(s, &s->flow.cluster);
	r = r < 0 ? r : make_key(s, call, err);
	call->nameless = !call->secret && !has_id(s);
	return r;
}

// --- the call

/** A program that is missing shall not be found out after all others have started. */
static void find_program(struct session *s, struct rolling *rolling, struct facts_from *from) {
	if (s->command == CMD_RUN) {
		from->argv = s->settings.arguments;
		struct err why;
		int status = exec_find(&s->arena, from->argv, env_get(&s->env, "PATH"), &from->file, &why);
		if (status && !rolling->unable) {
			rolling->unable = status;
			rolling->unable_why = why;
		}
		rolling->call.unable = rolling->unable ? rolling->unable_why.text : NULL;
	}
}

bool rollcall_tell(struct session *s, const struct err *why, bool said) {
	struct rolling *rolling = s->rolling;
	if (!session_calls_roll(s) || rolling->why_not) {
		return false;
	}
	rolling->unable = EXIT_OURS;
	rolling->unable_why = *why;
	rolling->unable_said = said;
	return true;
}

/** The words of a set, in the order of @words. */
static const char *words_text(struct session *s, const char *const words[], unsigned n, unsigned set) {
	struct buf text = BUF(&s->arena);
	for (unsigned i = 0; i < n; i++) {
		if (set >> i & 1) {
			buf_puts(&text, text.len ? "," : "");
			buf_puts(&text, words[i]);
		}
	}
	return buf_text(&text);
}

/** The exit statuses of --no-restart: "17,139"; "none". */
static const char *final_text(struct session *s, const struct together *t) {
	struct buf text = BUF(&s->arena);
	for (unsigned status = 0; status < sizeof(t->is_final); status++) {
		if (t->is_final[status]) {
			buf_putf(&text, "%s%u", text.len ? "," : "", status);
		}
	}
	return text.len ? buf_text(&text) : "none";
}

/**
 * The options that have to be the same on all nodes, beside those that say what the cluster is: given or not,
 * what they mean here. tests/rollcall/alike.txt has those that may differ, and why.
 */
static void list_alike(struct session *s, const struct roll_call *call, struct fact out[N_ALIKE]) {
	static const char *const hows[] = {"failures", "workers", "always"};
	const struct together *t = s->together;
	const char *most = t && t->max_restarts ? s->settings.value[OPT_MAX_RESTARTS] : "0";
	const char *names = s->settings.value[OPT_AGREE_ENV], *idle = s->settings.value[OPT_MAX_IDLE_STARTS];
	const unsigned how =
		t ? (unsigned)!t->relays | (unsigned)t->by_workers << 1 | (unsigned)t->always << 2 : 0;
	out[0] = (struct fact){"--agree", words_text(s, fact_groups, N_FACT_GROUPS, call->agree)};
	out[1] = (struct fact){"--agree-env", names ? names : "(default)"};
	out[2] = (struct fact){"--expect", s->expected ? s->settings.value[OPT_EXPECT] : "none"};
	out[3] = (struct fact){"--max-idle-starts", idle ? idle : "(default)"};
	out[4] = (struct fact){"--max-restarts", most};
	out[5] = (struct fact){"--no-restart", t && t->max_restarts ? final_text(s, t) : "none"};
	out[6] = (struct fact){"--together", !call->stay ? "no" : how ? words_text(s, hows, 3, how) : "yes"};
}

/** Read below --root and along PATH with the program's rights. Returns 0; -EPERM. */
static int read_facts(struct session *s, struct rolling *rolling, struct err *err) {
	struct fact alike[N_ALIKE];
	list_alike(s, &rolling->call, alike);
	struct facts_from from = {
		.arena = &s->arena,
		.cluster = &s->flow.cluster,
		.master = rolling->call.master,
		.port = rolling->call.port,
		.env = &s->env,
		.env_names = s->settings.value[OPT_AGREE_ENV],
		// Without a secret, whoever listens could try values.
		.key = rolling->call.secret ? &rolling->call.key : NULL,
		.interface = s->flow.derivation.interface.name,
		.options = alike,
		.n_options = N_ALIKE,
	};
	int r = session_view(s, &from.view, err);
	if (r == 0) {
		find_program(s, rolling, &from);
		facts_read(&from, &rolling->facts);
	}
	return r;
}

/** Derive again, as all use another port. Nothing that was said before is repeated. */
static int move_port(struct session *s, const struct roll_call *call, uint16_t port) {
	struct err err;
	const char *why = arena_format(&s->arena, "port %u is taken on the master", call->port);
	int r = flow_move_port(&s->flow, &s->before, port, why, &err);
	s->speaker.said = s->notes.last;
	return r < 0 ? session_fail(s, &err) : 0;
}

static void report_roll_call(struct session *s, const struct roll_call *call, const struct roll_end *end) {
	struct report_line line;
	if (s->report.path) {
		roll_report(call, end, report_begin(&s->report, &line, "roll_call"));
		session_report_end(s, &line);
	}
}

/**
 * All start, and a signal has come since. Returns 0 if the program gets it from --init; else the exit status.
 */
static int take_late_signal(struct session *s, int signal) {
	struct err err;
	if (s->flow.wants.supervises) {
		// It is blocked, and waits for supervise().
		kill(getpid(), signal);
		return 0;
	}
	err_set(&err, EINTR, "SIG%s came after GO was sent to all", signal_name(signal).s);
	wait_fail(s, &err, 128 + signal);
	return wait_die(signal);
}

static int finish(struct session *s, const struct roll_call *call, struct roll_end *end) {
	struct together *t = s->together;
	report_roll_call(s, call, end);
	s->reserved_port = end->reserved;
	if (end->result == ROLL_STARTED) {
		struct err err;
		if (t) {
			t->start = end->start;
		}
		if (end->lines && together_begin(t, call, end, &err) < 0) {
			return session_fail(s, &err);
		}
		const int status = end->moved ? move_port(s, call, end->port) : 0;
		return status || !end->signal ? status : take_late_signal(s, end->signal);
	}
	if (end->result == ROLL_SIGNAL) {
		struct err err;
		err_set(&err, EINTR, "SIG%s ended the roll call after %s", signal_name(end->signal).s,
			duration_text(end->waited_ms).s);
		wait_fail(s, &err, 128 + end->signal);
		if (call->late_at && t->relays) {
			together_cancel(t, &s->rolling->call,
					arena_format(&s->arena, "SIG%s", signal_name(end->signal).s));
		}
		return wait_die(end->signal);
	}
	const struct rolling *rolling = s->rolling;
	if (rolling->unable_said) {
		return report_failed(s, rolling->unable, &rolling->unable_why);
	}
	return rolling->unable ? wait_fail(s, &rolling->unable_why, rolling->unable)
			       : wait_fail(s, &end->error, roll_status(end));
}

int rollcall_alone(struct session *s) {
	struct together *t = s->together;
	struct err err;
	if (!t || t->lines || !(t->by_workers || t->max_restarts || t->progress.files.text)) {
		return 0;
	}
	struct roll_end end;
	struct roll_call *call = arena_alloc(&s->arena, sizeof(*call));
	*call = (struct roll_call){.arena = &s->arena,
				   .context = s,
				   .cluster = &s->flow.cluster,
				   .node = input_hostname(&s->flow.input)};
	together_alone(call, &end);
	return together_begin(s->together, call, &end, &err) < 0 ? session_fail(s, &err) : 0;
}

struct roll_call *rollcall_of(struct session *s) {
	return s->rolling ? &s->rolling->call : NULL;
}

int rollcall_run(struct session *s, uint64_t timeout_ms, const char *longer) {
	struct rolling *rolling = s->rolling;
	struct roll_call *call = &rolling->call;
	const struct together *t = s->together;
	if (rolling->why_not) {
		say_line(&s->speaker, LOG_INFO,
			 arena_format(&s->arena, "nothing to wait for: %s", rolling->why_not));
		return 0;
	}
	struct roll_end end;
	call->timeout_ms = timeout_ms;
	call->longer = longer;
	if (read_facts(s, rolling, &end.error) < 0) {
		return wait_fail(s, &end.error, EXIT_OURS);
	}
	if (rolling->unable && timeout_ms > UNABLE_MS) {
		call->timeout_ms = UNABLE_MS;
	}
	if (t && t->late_at && together_call(t, call)) {
		call->longer = session_label(s, OPT_TIME_LIMIT);
	}
	roll_call(call, &end);
	say_status_end(&s->speaker);
	if (!t || !t->max_restarts) {
		explicit_bzero(&call->key, sizeof(call->key));
	}
	return finish(s, call, &end);
}
