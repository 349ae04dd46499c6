// SPDX-License-Identifier: Apache-2.0

/** `check`: the facts of this node, and what was promised to it against what is there. */

#include "distinit/commands.h"

#include "base/json_write.h"
#include "cluster/self.h"
#include "exec/exec.h"
#include "flow/master.h"
#include "net/listen.h"
#include "net/wait.h"
#include "rollcall/findings.h"

#include <errno.h>
#include <unistd.h>

#define EXIT_FINDINGS 1

/** How long this node's name may take to resolve. */
#define LOOKUP_MS 2000

/** Other nodes, and gloo on this one, look this node up by its name. Returns 0; or the status of a signal. */
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
	if (r == -ETIMEDOUT) {
		findings_add(out, false, "name",
			     arena_format(&s->arena, "this node's name, %s, does not resolve here: %s",
					  quote(name).s, end.failure.text));
	}
	return 0;
}

/** The master's program will listen on the port. */
static void check_port(struct session *s, uint16_t port, struct findings *out) {
	int fd = port && findings_is_master(&s->flow.cluster) ? listen_open(port) : -1;
	if (fd >= 0) {
		close(fd);
	} else if (fd == -EADDRINUSE) {
		findings_add(
			out, false, "port",
			arena_format(&s->arena, "port %u is taken%s", port, listen_owner(&s->arena, port)));
	}
}

/** Read the facts, then compare them with what was promised. Returns as check_name(). */
static int check(struct session *s, struct facts *facts, struct findings *out) {
	struct flow *f = &s->flow;
	struct facts_from from = {
		.arena = &s->arena,
		.root = s->settings.value[OPT_ROOT],
		.cluster = f->has_cluster ? &f->cluster : NULL,
		.env = &s->env,
		.env_names = s->settings.value[OPT_AGREE_ENV],
		.argv = s->settings.arguments,
		.interface = f->derivation.interface.name,
	};
	struct err ignored;
	if (from.cluster && !cluster_is_single(from.cluster)) {
		master_host(f, &from.master, &ignored);
		master_port(f, &from.port, &ignored);
	}
	if (s->settings.arguments[0] &&
	    exec_find(&s->arena, s->settings.arguments, env_get(&s->env, "PATH"), &from.file, &ignored)) {
		findings_add(out, false, "file", arena_text(&s->arena, ignored.text, strlen(ignored.text)));
	}
	facts_read(&from, facts);
	findings_of(&from, facts, out);
	struct err err;
	if (session_fill(s, &err) < 0) {
		findings_add(out, false, "words", arena_text(&s->arena, err.text, strlen(err.text)));
	}
	int status = 0;
	if (from.cluster && !cluster_is_single(from.cluster)) {
		status = check_name(s, from.cluster, out);
		check_port(s, from.port, out);
	}
	return status;
}

static void put_text(const struct facts *facts, const struct findings *findings, struct buf *out) {
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		const struct fact_list *list = &facts->list[group];
		for (const struct fact *fact = list->at; fact < list->at + list->n; fact++) {
			buf_putf(out, "%-8s %-15s ", fact_groups[group], fact->name);
			buf_put_plain(out, str_of(fact->value));
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

static void put_pair(struct buf *out, const char *before, const char *key, const char *value) {
	buf_putf(out, "%s\"%s\": ", before, key);
	json_put_text(out, value);
}

static void put_json(const struct facts *facts, const struct findings *findings, struct buf *out) {
	const char *before = ",\n  \"facts\": [\n    {";
	put_pair(out, "{\n  ", "version", DISTINIT_VERSION);
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		const struct fact_list *list = &facts->list[group];
		for (const struct fact *fact = list->at; fact < list->at + list->n; fact++) {
			bool known = strcmp(fact->value, FACT_UNKNOWN) != 0;
			put_pair(out, before, "group", fact_groups[group]);
			put_pair(out, ", ", "name", fact->name);
			put_pair(out, ", ", "value", known ? fact->value : NULL);
			before = "},\n    {";
		}
	}
	buf_puts(out, "}\n  ],\n  \"findings\": [");
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->at[i];
		put_pair(out, i ? ",\n    {" : "\n    {", "name", f->about);
		put_pair(out, ", ", "text", f->text);
		buf_puts(out, f->hint ? ", \"hint\": true}" : ", \"hint\": false}");
	}
	buf_puts(out, "\n  ]\n}\n");
}

int command_check(struct session *s) {
	static const char *const formats[] = {"text", "json", NULL};
	struct err err;
	struct facts facts;
	struct findings findings = {.arena = &s->arena};
	struct buf out = BUF(&s->arena);
	int format = settings_on(&s->settings, OPT_FORMAT)
			     ? settings_choose(&s->settings, OPT_FORMAT, formats, &err)
			     : 0;
	session_fill_forgotten(s);
	int r = format < 0 ? format : session_derive(s, &err);
	r = r < 0 ? r : session_check_separated(s, "check", &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	// The facts are read below --root, and along PATH.
	if (access_become(&s->flow.access, &err) < 0) {
		return session_fail(s, &err);
	}
	r = check(s, &facts, &findings);
	if (r) {
		return r;
	}
	(format ? put_json : put_text)(&facts, &findings, &out);
	r = say_result(&s->speaker, buf_str(&out));
	for (uint32_t i = 0; r == 0 && i < findings.n; i++) {
		r = findings.at[i].hint ? 0 : EXIT_FINDINGS;
	}
	return r;
}
