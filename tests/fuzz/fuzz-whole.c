// SPDX-License-Identifier: Apache-2.0

/**
 * The whole of distinit, in the world that the input describes (world.h). Of options alone, the environment that the
 * program gets must be what `env` prints, and differ from ours by what `explain` says. Messages and `explain` show no
 * secret, and nothing that a terminal obeys.
 */

#include "world.h"

#include "base/json_read.h"

#include <cjson/cJSON.h>
#include <string.h>

/** Larger worlds are for fuzz-large. */
#define MOST (16U << 10)

/** @words of the world between those of @front and @back, which end with NULL. */
static char **between(struct world *w, const char *const *front, const char *const *back) {
	char **all = arena_array(&w->arena, w->n_words + 8, sizeof(*all));
	unsigned n = 0;
	for (; *front; front++) {
		all[n++] = arena_text(&w->arena, *front, strlen(*front));
	}
	memcpy(all + n, w->words, w->n_words * sizeof(*all));
	n += w->n_words;
	for (; *back; back++) {
		all[n++] = arena_text(&w->arena, *back, strlen(*back));
	}
	all[n] = NULL;
	return all;
}

#define WORDS_OF(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_WORDS      ((const char *const[]){NULL})

static void run_with(struct world *w, const char *const *front, const char *const *back,
		     struct outcome *out) {
	world_run(w, between(w, front, back), out);
	outcome_check(w, out, "distinit");
	HOLDS(!world_has_secret(w) || !shows_secret(out->err));
}

/** The first entry of @name. */
static const char *find(char **env, struct str name) {
	for (; *env; env++) {
		if (str_starts(str_of(*env), name) && (*env)[name.len] == '=') {
			return *env + name.len + 1;
		}
	}
	return NULL;
}

/** What `env` prints, each ended by NUL, is what the program gets, but for entries without a name. */
static void check_same(char **env, struct str printed) {
	struct str entry;
	for (; *env; env++) {
		if (strchr(*env, '=')) {
			HOLDS(str_cut(&printed, '\0', &entry) && str_is(entry, *env));
		}
	}
	HOLDS(printed.len == 0);
}

/** Text that JSON gives back as it was. */
static bool is_ascii(const char *text) {
	for (; *text; text++) {
		if (*text < ' ' || *text > '~') {
			return false;
		}
	}
	return true;
}

static void check_json_env(char **env, const char *text) {
	struct cJSON *json = NULL;
	struct err err;
	HOLDS(json_read("ENV", text, &json, &err) == 0);
	const cJSON *at = json->child;
	for (; *env; env++) {
		size_t name = strcspn(*env, "=");
		if ((*env)[name] == '=') {
			HOLDS(at && strlen(at->string) == name && memcmp(at->string, *env, name) == 0);
			HOLDS(strcmp(cJSON_GetStringValue(at), *env + name + 1) == 0);
			at = at->next;
		}
	}
	HOLDS(!at);
	cJSON_Delete(json);
}

/** @list is what explain says of the variables. */
static void check_variables(struct world *w, char **env, const cJSON *list, struct str text) {
	struct buf line = BUF(&w->arena);
	const cJSON *at;
	cJSON_ArrayForEach(at, list) {
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(at, "name"));
		const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(at, "value"));
		const char *action = cJSON_GetStringValue(cJSON_GetObjectItem(at, "action"));
		HOLDS(name && action &&
		      !!value == (strcmp(action, "set") == 0 || strcmp(action, "kept") == 0));
		if (!is_ascii(name) || (value && !is_ascii(value))) {
			continue;
		}
		const char *has = find(env, str_of(name));
		// What is left out may be there, empty: that counts as not set.
		has = has && !*has && strcmp(action, "left-out") == 0 ? NULL : has;
		HOLDS(!value == !has && (!value || strcmp(value, has) == 0));
		if (strlen(name) < 100 && (!value || strlen(value) < 100)) {
			line.len = 0;
			buf_putf(&line, "\n%-9s %s%s%s\n", action, name, value ? "=" : "",
				 value ? value : "");
			HOLDS(memmem(text.p, text.len, line.p, line.len));
		}
	}
}

/** Whether @list says "set" or "unset" of @name. */
static bool is_said(const cJSON *list, struct str name, const char *action) {
	const cJSON *at;
	cJSON_ArrayForEach(at, list) {
		if (str_is(name, cJSON_GetStringValue(cJSON_GetObjectItem(at, "name"))) &&
		    strcmp(action, cJSON_GetStringValue(cJSON_GetObjectItem(at, "action"))) == 0) {
			return true;
		}
	}
	return false;
}

static bool has_entry(char *const *list, const char *entry) {
	for (; *list; list++) {
		if (strcmp(*list, entry) == 0) {
			return true;
		}
	}
	return false;
}

/** What differs between the world's environment and @env is what @list says, and no more. */
static void check_changes(const struct world *w, char **env, const cJSON *list) {
	for (char **entry = env; *entry; entry++) {
		struct str name = {*entry, str_find(str_of(*entry), '=')};
		if ((*entry)[name.len] == '=' && name.len && is_ascii(*entry)) {
			HOLDS(has_entry(w->env, *entry) || is_said(list, name, "set"));
		}
	}
	for (char **entry = w->env; *entry; entry++) {
		struct str name = {*entry, str_find(str_of(*entry), '=')};
		if ((*entry)[name.len] == '=' && name.len && is_ascii(*entry) &&
		    !str_starts(name, STR("DISTINIT_")) && !find(env, name)) {
			HOLDS(is_said(list, name, "unset"));
		}
	}
}

static void check_explain(struct world *w, char **env, struct str text) {
	struct outcome out;
	struct cJSON *json = NULL;
	struct err err;
	run_with(w, WORDS_OF("explain", "--show-secrets"), WORDS_OF("--format=json"), &out);
	HOLDS(out.status == 0 && json_read("EXPLAIN", out.out.p, &json, &err) == 0);
	const cJSON *list = cJSON_GetObjectItem(json, "variables");
	HOLDS(cJSON_IsArray(list));
	if (env) {
		check_variables(w, env, list, text);
		check_changes(w, env, list);
	}
	cJSON_Delete(json);
}

/** Whether a word ends the options, or says how something is printed. */
static bool is_special(const struct world *w) {
	static const char *const starts[] = {"-o", "-h", "-V", "--o", "--he", "--vers", "--form", "--al"};
	for (char **word = w->words; *word; word++) {
		bool special = strcmp(*word, "--") == 0;
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
			special |= strncmp(*word, starts[i], strlen(starts[i])) == 0;
		}
		if (special) {
			return true;
		}
	}
	return false;
}

/** The command line as it is. */
static void check_raw(struct world *w) {
	static const char *const listed[] = {"explain", "check", NULL};
	struct outcome out;
	world_run(w, w->words, &out);
	if (w->called) {
		HOLDS(is_plain(out.err));
		return;
	}
	outcome_check(w, &out, "distinit");
	bool secret = world_has_secret(w) && !has_entry(w->words, "--show-secrets");
	HOLDS(!secret || !shows_secret(out.err));
	for (const char *const *name = listed; w->n_words && *name; name++) {
		if (strcmp(w->words[0], *name) == 0) {
			HOLDS(!secret || !shows_secret(out.out));
		}
	}
}

static void check_env(struct world *w, char **env) {
	struct outcome out;
	run_with(w, WORDS_OF("env"), WORDS_OF("--all", "--format=null"), &out);
	if (env && out.status == 0) {
		check_same(env, out.out);
		run_with(w, WORDS_OF("env"), WORDS_OF("--all", "--format=json"), &out);
		if (out.status == 0) {
			check_json_env(env, out.out.p);
		}
	}
}

/** Options only: all ways to look at them agree. The size of the input chooses some of them. */
static void check_agreement(struct world *w, size_t size) {
	struct outcome out, text;
	bool secret = world_has_secret(w);
	run_with(w, WORDS_OF("-vv"), WORDS_OF("--", "/prog"), &out);
	char **env = out.started ? out.env : NULL;
	HOLDS(!env || strcmp(out.program, "/prog") == 0);
	run_with(w, WORDS_OF("explain"), NO_WORDS, &text);
	HOLDS(is_plain(text.out) && !(secret && shows_secret(text.out)));
	if (size % 4 < 2 && text.status == 0) {
		run_with(w, WORDS_OF("explain"), WORDS_OF("--format=json"), &out);
		HOLDS(!(secret && shows_secret(out.out)));
	} else if (size % 4 == 2 && text.status == 0) {
		run_with(w, WORDS_OF("explain", "--show-secrets"), NO_WORDS, &text);
		check_explain(w, env, text.out);
	} else {
		check_env(w, env);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct world world;
	if (!world_begin(&world, data, size, MOST)) {
		return 0;
	}
	bool raw = world.called || (world.n_words && world.words[0][0] != '-') || is_special(&world);
	if (raw) {
		check_raw(&world);
	} else {
		check_agreement(&world, size);
	}
	world_end(&world);
	return 0;
}
