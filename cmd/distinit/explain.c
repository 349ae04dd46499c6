// SPDX-License-Identifier: Apache-2.0

/** `explain`: the list of what was set, kept, left out and removed. */

#include "distinit/commands.h"

#include "base/json_read.h"
#include "env/secret.h"

#include <cjson/cJSON.h>
#include <errno.h>

static const char *shown(struct session *s, const char *name, const char *value) {
	bool as_it_is = !value || settings_on(&s->settings, OPT_SHOW_SECRETS);
	return as_it_is ? value : secret_mask(&s->arena, name, value);
}

/** What the user's TF_CONFIG says, in a clause: it is passed on whatever it says, but a slip in it is worth knowing. */
static const char *judge_tf_config(struct session *s, const char *value) {
	struct cJSON *json;
	struct err err;
	if (json_read("TF_CONFIG", value, &json, &err) < 0) {
		notes_add(&s->notes, "%s, and is passed on as it is", err.text);
		return "it was set already; it is no JSON";
	}
	const cJSON *cluster = cJSON_GetObjectItemCaseSensitive(json, "cluster");
	const cJSON *task = cJSON_GetObjectItemCaseSensitive(json, "task");
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(task, "type");
	const cJSON *index = cJSON_GetObjectItemCaseSensitive(task, "index");
	const char *why = "it was set already";
	if (!cJSON_IsObject(cluster) || !cJSON_IsString(type) || !cJSON_IsNumber(index)) {
		notes_add(&s->notes, "TF_CONFIG has no cluster, or no task with type and index, and is "
				     "passed on as it is");
	} else {
		const char *who = arena_format(&s->arena, "%s %d", type->valuestring, index->valueint);
		// An evaluator is in no list, and TFJob's sparse form has an object with this one alone.
		const cJSON *peers = cJSON_GetObjectItemCaseSensitive(cluster, type->valuestring);
		int n = cJSON_IsArray(peers) ? cJSON_GetArraySize(peers) : 0;
		why = arena_format(&s->arena, "it was set already; this is %s", who);
		if (n) {
			why = arena_format(&s->arena, "%s of %d", why, n);
		}
		if (n && (index->valueint < 0 || index->valueint >= n)) {
			notes_add(&s->notes,
				  "TF_CONFIG says that this is %s of %d, and is passed on as it is",
				  quote(str_of(who)).s, n);
		}
	}
	cJSON_Delete(json);
	return why;
}

static const char *origin_text(struct session *s, const struct origin *by) {
	return by->line ? arena_format(&s->arena, "%s:%u", by->by, by->line) : by->by;
}

/** What a remark says of a variable that nothing has touched since. */
static struct explained from_remark(struct session *s, const struct remark *r) {
	const char *value = env_value(&s->env, r->name);
	const char *why =
		r->kept && value && strcmp(r->name, "TF_CONFIG") == 0 ? judge_tf_config(s, value) : r->why;
	return (struct explained){
		.name = r->name,
		.value = shown(s, r->name, value),
		.action = value ? "kept" : "left-out",
		.by = value ? "user" : r->by,
		.why = value && !r->kept ? "it was set already" : why,
	};
}

static bool is_listed(const struct explained *list, uint32_t n, const char *name) {
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/** What the block says of an entry that somebody has set or removed. Returns whether there is anything to say. */
static bool from_entry(struct session *s, const struct env_entry *entry, struct explained *out) {
	// A doubled variable that was removed is one all the same.
	bool removed = entry->state != ENV_LIVE && entry->removed_by && env_entry_first(&s->env, entry) &&
		       !env_find(&s->env, env_entry_name(entry));
	if (!removed && !env_entry_changed(&s->env, entry)) {
		return false;
	}
	const struct origin *by = removed ? entry->removed_by : entry->by;
	struct str name = env_entry_name(entry);
	const char *text = arena_text(&s->arena, name.p, name.len);
	*out = (struct explained){
		.name = text,
		.value = removed ? NULL : shown(s, text, env_entry_value(entry)),
		.action = removed ? "unset" : "set",
		.by = origin_text(s, by),
		.why = by->why,
	};
	return true;
}

uint32_t explain_list(struct session *s, struct explained **out) {
	uint32_t most = s->env.n;
	for (const struct remark *r = s->flow.derivation.remarks; r; r = r->next) {
		most++;
	}
	struct explained *list = arena_array(&s->arena, most, sizeof(*list));
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->env.n; i++) {
		n += from_entry(s, &s->env.entries[i], &list[n]);
	}
	uint32_t changed = n;
	for (const struct remark *r = s->flow.derivation.remarks; r; r = r->next) {
		if (!is_listed(list, changed, r->name)) {
			list[n++] = from_remark(s, r);
		}
	}
	*out = list;
	return n;
}

int command_explain(struct session *s) {
	struct err err;
	struct buf out = BUF(&s->arena);
	const char *format = s->settings.value[OPT_FORMAT];
	bool json = format && strcmp(format, "json") == 0;
	int r = 0;
	if (s->settings.separated || s->settings.arguments[0]) {
		r = err_set(&err, EINVAL,
			    "explain takes no command and no argument, only options; see 'distinit explain "
			    "--help'");
	} else if (format && !json && strcmp(format, "text") != 0) {
		r = err_set(&err, EINVAL, "--format=%s: expected text or json", quote(str_of(format)).s);
	}
	struct process_report *process;
	r = r < 0 ? r : explain_process(s, &process, &err);
	r = r < 0 ? r : session_derive(s, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	explain_workload(s, process);
	if (json) {
		explain_json(s, process, &out);
	} else {
		explain_text(s, process, &out);
	}
	return say_result(&s->speaker, buf_str(&out));
}
