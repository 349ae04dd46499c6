// SPDX-License-Identifier: Apache-2.0

/** `explain --format=json`: the output for programs. Existing keys stay as they are; new ones may be added. */

#include "distinit/cluster_json.h"
#include "explain/explain.h"

#include "base/secret.h"
#include "cluster/source.h"
#include "flow/changes.h"

static void put_set(struct json *json, const char *key, uint64_t set) {
	json_open(json, key, '[');
	for (unsigned cap = 0; cap < 64; cap++) {
		if (set & CAP_BIT(cap)) {
			json_text(json, NULL, cap_name(cap).s);
		}
	}
	json_close(json, ']');
}

static void put_ids(struct json *json, const struct credentials *c) {
	json_number(json, "uid", c->uid[ID_EFFECTIVE]);
	json_number(json, "gid", c->gid[ID_EFFECTIVE]);
	json_open(json, "groups", '[');
	for (uint32_t i = 0; i < c->n_groups; i++) {
		json_number(json, NULL, c->groups[i]);
	}
	json_close(json, ']');
}

static void put_signals(struct json *json, const char *key, const struct process *p, uint64_t set) {
	if (!p->has_signals) {
		json_text(json, key, NULL);
		return;
	}
	json_open(json, key, '[');
	for (unsigned number = 1; number <= 64; number++) {
		if (set >> (number - 1) & 1) {
			json_number(json, NULL, number);
		}
	}
	json_close(json, ']');
}

static void put_workload(struct json *json, const struct process_report *r) {
	json_line(json, 2);
	if (r->error) {
		json_text(json, "workload", NULL);
	} else {
		json_open(json, "workload", '{');
		put_ids(json, &r->workload);
		put_set(json, "capabilities", r->workload_caps);
		put_set(json, "bounding", r->workload.caps.bounding);
		json_fact(json, "no_new_privs", r->workload.no_new_privs);
		json_close(json, '}');
	}
	json_line(json, 2);
	json_text(json, "workload_error", r->error);
}

static void put_process(struct json *json, const struct process_report *r) {
	static const char *const modes[] = {NULL, "off", "strict", "filter"};
	const struct process *p = &r->process;
	const struct cap_sets *sets = &p->has.caps;
	json_open(json, "process", '{');
	json_line(json, 2);
	json_number(json, "pid", p->pid);
	json_text(json, "container", p->container.kind);
	json_text(json, "container_by", p->container.by);
	json_line(json, 2);
	put_ids(json, &p->has);
	json_open(json, "capabilities", '{');
	put_set(json, "effective", sets->effective);
	put_set(json, "permitted", sets->permitted);
	put_set(json, "inheritable", sets->inheritable);
	put_set(json, "bounding", sets->bounding);
	put_set(json, "ambient", sets->ambient);
	json_close(json, '}');
	json_line(json, 2);
	json_text(json, "seccomp", modes[p->seccomp + 1]);
	json_fact(json, "no_new_privs", p->has.no_new_privs);
	json_fact(json, "user_namespace", p->in_user_namespace);
	json_fact(json, "root_read_only", p->root_read_only);
	put_signals(json, "signals_ignored", p, p->ignored);
	put_signals(json, "signals_blocked", p, p->blocked);
	if (p->memlock == UINT64_MAX) {
		json_text(json, "memlock", NULL);
	} else {
		buf_putu(json_value(json, "memlock"), p->memlock);
	}
	put_workload(json, r);
	json_line(json, 1);
	json_close(json, '}');
}

/** Add the command with its words filled, and the values of its placeholders; null without a command. */
static void put_command(struct session *s, struct json *json) {
	bool open = settings_on(&s->settings, OPT_SHOW_SECRETS);
	char **words = s->settings.arguments;
	if (!s->settings.separated || !words[0]) {
		json_text(json, "command", NULL);
		return;
	}
	json_open(json, "command", '{');
	json_open(json, "words", '[');
	for (size_t i = 0; words[i]; i++) {
		json_text(json, NULL, open ? words[i] : secret_word(&s->arena, words, i));
	}
	json_close(json, ']');
	json_text(json, "role", s->fill.role == ROLE_ALL ? NULL : role_name(s->fill.role));
	json_open(json, "filled", '[');
	for (const struct fill_value *v = s->fill.values; v; v = v->next) {
		json_open(json, NULL, '{');
		json_text(json, "placeholder", v->placeholder);
		json_text(json, "value", v->value);
		json_text(json, "why", v->why);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void put_variables(struct session *s, struct json *json) {
	struct change *list;
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), SIZE_MAX, &list);
	json->spread = 2;
	json_open(json, "variables", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", list[i].name);
		json_text(json, "value", list[i].value);
		json_text(json, "action", list[i].action);
		json_text(json, "by", list[i].by);
		json_text(json, "why", list[i].why);
		json_close(json, '}');
	}
	json_close(json, ']');
	json->spread = 1;
}

static void put_warnings(const struct notes *notes, struct json *json) {
	json->spread = 2;
	json_open(json, "warnings", '[');
	for (const struct note *note = notes->first; note; note = note->next) {
		json_text(json, NULL, note->text);
	}
	json_close(json, ']');
	json->spread = 1;
}

void explain_json(struct session *s, const struct process_report *process, struct buf *out) {
	const struct cluster *c = s->flow.has_cluster ? &s->flow.cluster : NULL;
	const struct launcher *launcher = c ? c->launcher : s->flow.broken ? NULL : s->flow.started_by;
	const struct hostfile *file = &s->flow.derivation.hostfile;
	struct json json = {.out = out, .spread = 1};
	json_open(&json, NULL, '{');
	json_text(&json, "version", DISTINIT_VERSION);
	json_text(&json, "source", c && c->source ? c->source->name : NULL);
	json_text(&json, "launcher", launcher ? launcher->name : NULL);
	json_text(&json, "scope", c ? scope_name(c->scope) : NULL);
	json_text(&json, "recognised_by",
		  c	     ? c->recognised_by
		  : launcher ? launcher_recognised_by(launcher)
			     : NULL);
	cluster_json(c, &json);
	put_process(&json, process);
	json_text(&json, "hostfile", file->text.p ? secret_text(out->arena, file->path) : NULL);
	put_command(s, &json);
	explain_run_json(s, &process->run, &json);
	put_variables(s, &json);
	put_warnings(&s->notes, &json);
	json_close(&json, '}');
	buf_putc(out, '\n');
}
