// SPDX-License-Identifier: Apache-2.0

#include "flow/changes.h"

#include "base/json_read.h"
#include "base/secret.h"

#include <cjson/cJSON.h>
#include <string.h>

/** A list that is being made. */
struct change_listing {
	struct flow *flow;
	bool show_secrets;
	size_t most;
	struct change *at;
	uint32_t n;
};

static const char *shown(const struct change_listing *l, const char *name, const char *value) {
	struct arena *arena = l->flow->arena;
	if (!value) {
		return NULL;
	}
	return l->show_secrets ? arena_cut(arena, value, l->most)
			       : secret_mask_cut(arena, name, value, l->most);
}

/** Describe the user's TF_CONFIG in a clause, and warn about a mistake in it. It is passed on unchanged. */
static const char *read_tf_config(struct flow *f, const char *value) {
	struct cJSON *json;
	struct err err;
	if (json_read("TF_CONFIG", value, &json, &err) < 0) {
		notes_add(f->notes, "%s, and is passed on as it is", err.text);
		return "it was set already; it is not JSON";
	}
	const cJSON *cluster = cJSON_GetObjectItemCaseSensitive(json, "cluster");
	const cJSON *task = cJSON_GetObjectItemCaseSensitive(json, "task");
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(task, "type");
	const cJSON *index = cJSON_GetObjectItemCaseSensitive(task, "index");
	const char *why = "it was set already";
	if (!cJSON_IsObject(cluster) || !cJSON_IsString(type) || !cJSON_IsNumber(index)) {
		notes_add(f->notes, "TF_CONFIG has no cluster, or no task with type and index, and is "
				    "passed on as it is");
	} else {
		const char *who = arena_format(f->arena, "%s %d", type->valuestring, index->valueint);
		// An evaluator is in no list. TFJob's sparse form has only this task.
		const cJSON *peers = cJSON_GetObjectItemCaseSensitive(cluster, type->valuestring);
		int n = cJSON_IsArray(peers) ? cJSON_GetArraySize(peers) : 0;
		why = arena_format(f->arena, "it was set already; this is %s", who);
		if (n) {
			why = arena_format(f->arena, "%s of %d", why, n);
		}
		if (n && (index->valueint < 0 || index->valueint >= n)) {
			notes_add(f->notes, "TF_CONFIG says that this is %s of %d, and is passed on as it is",
				  quote_text(who).s, n);
		}
	}
	cJSON_Delete(json);
	return why;
}

/** read_tf_config(), once for each value: it may be long, and the same on all nodes. */
static const char *judge_tf_config(struct flow *f, const char *value) {
	if (f->judged != value) {
		f->judged = value;
		f->judged_as = read_tf_config(f, value);
	}
	return f->judged_as;
}

static const char *origin_text(struct flow *f, const struct origin *by) {
	return by->line ? arena_format(f->arena, "%s:%u", by->by, by->line) : by->by;
}

/** The change for a framework's remark on a variable that nothing has changed since. */
static struct change from_remark(struct change_listing *l, const struct remark *r) {
	const char *value = env_value(l->flow->env, r->name);
	bool tf_config = r->kept && value && strcmp(r->name, "TF_CONFIG") == 0;
	const char *why = tf_config ? judge_tf_config(l->flow, value) : r->why;
	return (struct change){
		.name = r->name,
		.value = shown(l, r->name, value),
		.action = value ? "kept" : "left-out",
		.by = value ? "user" : r->by,
		.why = value && !r->kept ? "it was set already" : why,
	};
}

static bool is_listed(const struct change_listing *l, uint32_t n, const char *name) {
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(l->at[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/** Add an entry of the environment, if it was set or removed. */
static void add_entry(struct change_listing *l, const struct env_entry *entry) {
	struct flow *f = l->flow;
	// A removed variable that was set twice is listed once.
	bool removed = entry->state != ENV_LIVE && entry->removed_by && env_entry_first(f->env, entry) &&
		       !env_find(f->env, env_entry_name(entry));
	if (!removed && !env_entry_changed(f->env, entry)) {
		return;
	}
	const struct origin *by = removed ? entry->removed_by : entry->by;
	struct str name = env_entry_name(entry);
	const char *text = arena_text(f->arena, name.p, name.len);
	l->at[l->n++] = (struct change){
		.name = text,
		.value = removed ? NULL : shown(l, text, env_entry_value(entry)),
		.action = removed ? "unset" : "set",
		.by = origin_text(f, by),
		.why = by->why,
	};
}

uint32_t flow_changes(struct flow *f, bool show_secrets, size_t most, struct change **out) {
	uint32_t room = f->env->n;
	for (const struct remark *r = f->derivation.remarks; r; r = r->next) {
		room++;
	}
	struct change_listing l = {f, show_secrets, most, arena_array(f->arena, room, sizeof(*l.at)), 0};
	for (uint32_t i = 0; i < f->env->n; i++) {
		add_entry(&l, &f->env->entries[i]);
	}
	uint32_t changed = l.n;
	for (const struct remark *r = f->derivation.remarks; r; r = r->next) {
		if (!is_listed(&l, changed, r->name)) {
			l.at[l.n++] = from_remark(&l, r);
		}
	}
	*out = l.at;
	return l.n;
}
