// SPDX-License-Identifier: Apache-2.0

/** `check` and --check: reads the facts of this node, and compares what is there with what was promised. */

#include "distinit/labelled.h"
#include "distinit/start.h"
#include "distinit/subcommands.h"

#include "base/clock.h"
#include "base/secret.h"
#include "cluster/self.h"
#include "exec/exec.h"
#include "facts/expect.h"
#include "flow/master.h"
#include "net/listen.h"
#include "net/wait.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define EXIT_FINDINGS 1

/** How long to wait until this node's name resolves, in ms. */
#define LOOKUP_MS 2000

/** How long a folder of --expect may take to answer, in ms; a wait that is shorter counts. */
#define FOLDER_MS 10000

/**
 * Check that this node's name resolves, because other nodes, and gloo on this one, look it up. Returns 0; or the status
 * to exit with if a signal came.
 */
static int check_name(struct session *s, const struct cluster *c, struct findings *out) {
	const struct hosts *hosts = &c->place.hosts;
	struct str name = c->place.node_rank < hosts->n ? hosts_at(hosts, c->place.node_rank)
							: str_of(input_hostname(&s->flow.input));
	struct wait_for wait = {.host = arena_text(&s->arena, name.p, name.len), .timeout_ms = LOOKUP_MS};
	struct wait_end end;
	int r = wait_until_up(&wait, &end);
	if (r == -EINTR) {
		return wait_die(end.signal);
	}
	const char *gloo = env_value(&s->env, "GLOO_SOCKET_IFNAME");
	const struct quoted shown = quote(name);
	const char *text = NULL;
	if (r < 0) {
		text = arena_format(&s->arena, "this node's name, %s, does not resolve here: %s", shown.s,
				    end.failure.text);
	} else if (end.loopback && !host_has_no_label(str_of(wait.host))) {
		text = arena_format(
			&s->arena,
			"this node's name, %s, is the loopback here: gloo, and engines that look their "
			"name up, send the other nodes an address that they cannot reach; "
			"add gloo to --frameworks, or mend /etc/hosts",
			shown.s);
	}
	if (text) {
		findings_add(out, &(struct finding){.about = "name",
						    .text = text,
						    .hint = end.loopback && gloo && *gloo,
						    .have = end.loopback ? "the loopback" : NULL,
						    .source = "name service"});
	}
	return 0;
}

/** Check that the port is free if this node is the master, whose program will listen on it. */
static void check_port(struct session *s, uint16_t port, struct findings *out) {
	int fd = port && findings_is_master(&s->flow.cluster) ? listen_open(port) : -1;
	if (fd >= 0) {
		close(fd);
	} else if (fd == -EADDRINUSE) {
		const char *text =
			arena_format(&s->arena, "port %u is taken%s; end that listener, or set MASTER_PORT",
				     port, listen_owner(&s->arena, port));
		findings_add(out, &(struct finding){.about = "port", .text = text, .source = "MASTER_PORT"});
	}
}

static const char *text_of(struct session *s, const struct err *err) {
	return arena_text(&s->arena, err->text, strlen(err->text));
}

/** Only a roll call can compare clocks: where several nodes call none, the user has to know. */
static void check_clock_is_compared(struct session *s, struct findings *out) {
	const struct expectation *clock = expect_clock(s->expected);
	const bool several = s->flow.has_cluster && !cluster_is_single(&s->flow.cluster);
	if (clock && several && !session_calls_roll(s)) {
		findings_add(out, &(struct finding){
					  .about = "clock",
					  .text = arena_format(&s->arena,
							       "%s: clocks are compared in a roll call; add "
							       "--wait --for=all, or --together",
							       clock->text),
					  .expected = clock->text,
					  .source = s->expected->from,
					  .stated = true});
	}
}

/** Look what is there of --expect. Returns as check_name(). */
static int look_for_expected(struct session *s, const struct facts_from *from, const struct facts *facts) {
	struct wait_plan wait;
	struct err ignored, err;
	const bool waits = wait_read(s, false, &wait, &ignored) == 0 && wait.wanted;
	const uint64_t ms = waits && wait.timeout_ms < FOLDER_MS ? wait.timeout_ms : FOLDER_MS;
	int signal;
	int r = expect_look(s->expected, from, facts, ms, &signal, &err);
	return r == 0 ? 0 : r == -EINTR ? wait_die(signal) : wait_fail(s, &err, EXIT_OURS);
}

static struct facts_from sources_of(struct session *s, const struct view *view) {
	struct flow *f = &s->flow;
	return (struct facts_from){
		.arena = &s->arena,
		.view = view,
		.cluster = f->has_cluster ? &f->cluster : NULL,
		.env = &s->env,
		.env_names = s->settings.value[OPT_AGREE_ENV],
		.argv = s->settings.arguments,
		.interface = f->derivation.interface.name,
	};
}

/** Read the facts, and compare them with what was promised. Returns as check_name(). */
static int check(struct session *s, const struct view *view, struct facts *facts, struct findings *out) {
	struct flow *f = &s->flow;
	struct facts_from from = sources_of(s, view);
	struct err ignored;
	if (from.cluster && !cluster_is_single(from.cluster)) {
		master_host(f, &from.master, &ignored);
		master_port(f, &from.port, &ignored);
	}
	if (s->settings.arguments[0] &&
	    exec_find(&s->arena, s->settings.arguments, env_get(&s->env, "PATH"), &from.file, &ignored)) {
		findings_add(out, &(struct finding){
					  .about = "file", .text = text_of(s, &ignored), .source = "PATH"});
	}
	facts_read(&from, facts);
	int status = 0;
	if (s->expected) {
		status = look_for_expected(s, &from, facts);
		if (status) {
			return status;
		}
		expect_check(s->expected, out);
		check_clock_is_compared(s, out);
	}
	promises_check(&from, facts, out);
	fabric_check(&from, out);
	plugin_check(&from, out);
	gpus_check(&from, facts, out);
	struct err err;
	if (session_fill(s, &err) < 0) {
		findings_add(out, &(struct finding){.about = "words", .text = text_of(s, &err)});
	}
	if (from.cluster && !cluster_is_single(from.cluster)) {
		status = check_name(s, from.cluster, out);
		check_port(s, from.port, out);
	}
	return status;
}

/** Read --expect, which turns --check on. */
static int read_expected(struct session *s, struct err *err) {
	const char *list = s->settings.value[OPT_EXPECT];
	if (!list || !*list) {
		return 0;
	}
	s->expected = arena_alloc(&s->arena, sizeof(*s->expected));
	s->check = s->check ? s->check : CHECK_FINDINGS;
	return expect_read(&s->arena, session_label(s, OPT_EXPECT), list, s->expected, err);
}

int check_options(struct session *s, struct err *err) {
	const char *value = s->settings.value[OPT_CHECK];
	int level = 0;
	if (settings_on(&s->settings, OPT_CHECK)) {
		level = *value ? settings_choose(&s->settings, OPT_CHECK, err) : 0;
		s->check = level == 1 ? CHECK_HINTS : CHECK_FINDINGS;
	}
	return level < 0 ? level : read_expected(s, err);
}

int session_expect(struct session *s, struct err *err) {
	struct facts facts;
	const struct view *view;
	if (!s->expected || session_view(s, &view, err) < 0) {
		return s->expected ? -EPERM : 0;
	}
	const struct facts_from from = sources_of(s, view);
	facts_read(&from, &facts);
	return look_for_expected(s, &from, &facts);
}

static const char *found_text(const struct expectation *one) {
	return one->why	   ? one->why
	       : one->have ? one->have
	       : one->met  ? "is compared in the roll call"
			   : "is not known here";
}

void session_expect_text(struct session *s, struct buf *out) {
	for (uint32_t i = 0; s->expected && i < s->expected->n; i++) {
		const struct expectation *one = &s->expected->at[i];
		labelled_put(out, "expect",
			     arena_format(&s->arena, "%s: %s%s", one->text, found_text(one),
					  one->met ? "" : "; nothing would start"));
	}
}

void session_expect_json(struct session *s, struct json *json) {
	json_open(json, "expected", '[');
	for (uint32_t i = 0; s->expected && i < s->expected->n; i++) {
		const struct expectation *one = &s->expected->at[i];
		json_open(json, NULL, '{');
		json_text(json, "text", one->text);
		json_text(json, "have", one->have);
		json_text(json, "error", one->why);
		json_fact(json, "met", one->met);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** What asks for the finding: "--check", "--expect". */
static const char *check_label(struct session *s, const struct finding *f) {
	const bool asked = settings_on(&s->settings, OPT_CHECK);
	return f->stated ? s->expected->from
	       : asked	 ? session_label(s, OPT_CHECK)
			 : arena_format(&s->arena, "--check, which %s turns on", s->expected->from);
}

int session_check(struct session *s) {
	struct facts facts;
	struct findings findings = {.arena = &s->arena};
	struct err err, first = {0};
	if (!s->check) {
		return 0;
	}
	const struct view *view;
	if (session_view(s, &view, &err) < 0) {
		return wait_fail(s, &err, EXIT_OURS);
	}
	int status = check(s, view, &facts, &findings);
	for (const struct finding *f = findings.at; f < findings.at + findings.n; f++) {
		err_set(&err, EINVAL, "%s (%s)", f->text, check_label(s, f));
		if (f->hint && s->check < CHECK_HINTS) {
			say_line(&s->speaker, LOG_WARN, err.text);
			continue;
		}
		session_fail(s, &err);
		log_termination(s, &err);
		first = first.text[0] ? first : err;
	}
	if (!first.text[0] || rollcall_tell(s, &first, true)) {
		return status;
	}
	return report_failed(s, EXIT_OURS, &first);
}

static void put_text(struct session *s, const struct facts *facts, const struct findings *findings,
		     struct buf *out) {
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		const struct fact_list *list = &facts->list[group];
		for (const struct fact *fact = list->at; fact < list->at + list->n; fact++) {
			buf_putf(out, "%-8s %-15s ", fact_groups[group], fact->name);
			buf_put_plain(out, str_of(fact->value));
			buf_putc(out, '\n');
		}
	}
	for (uint32_t i = 0; s->expected && i < s->expected->n; i++) {
		const struct expectation *one = &s->expected->at[i];
		if (one->met) {
			buf_putf(out, "expect   %-15s ", one->text);
			buf_put_plain(out, str_of(found_text(one)));
			buf_putc(out, '\n');
		}
	}
	for (uint32_t i = 0; i < findings->n; i++) {
		buf_puts(out, findings->at[i].hint ? "hint: " : "finding: ");
		buf_put_plain(out, str_of(findings->at[i].text));
		buf_putc(out, '\n');
	}
	buf_puts(out, findings->n ? "" : "no findings\n");
}

static void put_facts(const struct facts *facts, struct json *json) {
	json_open(json, "facts", '[');
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		const struct fact_list *list = &facts->list[group];
		for (const struct fact *fact = list->at; fact < list->at + list->n; fact++) {
			json_open(json, NULL, '{');
			json_text(json, "group", fact_groups[group]);
			json_text(json, "name", fact->name);
			json_text(json, "value", strcmp(fact->value, FACT_UNKNOWN) != 0 ? fact->value : NULL);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
}

static void put_findings(const struct findings *findings, struct json *json) {
	json_open(json, "findings", '[');
	for (const struct finding *f = findings->at; f < findings->at + findings->n; f++) {
		json_open(json, NULL, '{');
		json_text(json, "name", f->about);
		json_text(json, "text", f->text);
		json_text(json, "have", f->have);
		json_text(json, "expected", f->expected);
		json_text(json, "source", f->source);
		json_fact(json, "hint", f->hint);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_json(struct session *s, const struct facts *facts, const struct findings *findings,
		     struct buf *out) {
	const struct cluster *c = s->flow.has_cluster ? &s->flow.cluster : NULL;
	struct json json = {.out = out, .spread = 2};
	json_open(&json, NULL, '{');
	json_text(&json, "version", DISTINIT_VERSION);
	report_put_time(&json, clock_wall_ms());
	json_text(&json, "host", secret_text(out->arena, input_hostname(&s->flow.input)));
	json_number(&json, "rank",
		    !c			      ? UNKNOWN
		    : c->task.rank != UNKNOWN ? c->task.rank
					      : c->place.node_rank);
	put_facts(facts, &json);
	session_expect_json(s, &json);
	put_findings(findings, &json);
	json_close(&json, '}');
	buf_putc(out, '\n');
}

int command_check(struct session *s) {
	struct err err;
	struct facts facts;
	struct findings findings = {.arena = &s->arena};
	struct buf out = BUF(&s->arena);
	int format = settings_choose(&s->settings, OPT_FORMAT, &err);
	session_fill_forgotten(s);
	int r = format < 0 ? format : check_options(s, &err);
	r = r < 0 ? r : session_derive(s, &err);
	r = r < 0 ? r : session_check_separated(s, "check", &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	const struct view *view;
	if (session_view(s, &view, &err) < 0) {
		return session_fail(s, &err);
	}
	r = check(s, view, &facts, &findings);
	if (r) {
		return r;
	}
	if (format) {
		put_json(s, &facts, &findings, &out);
	} else {
		put_text(s, &facts, &findings, &out);
	}
	r = format ? say_result(&s->speaker, buf_str(&out)) : labelled_print(s, &out);
	for (uint32_t i = 0; r == 0 && i < findings.n; i++) {
		r = findings.at[i].hint ? 0 : EXIT_FINDINGS;
	}
	return r;
}
