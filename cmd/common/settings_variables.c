// SPDX-License-Identifier: Apache-2.0

/** Reads the variables of options. */

#include "common/settings.h"

#include "base/nearest.h"

#include <errno.h>

/** How many unknown variables are named in warnings: there may be thousands. */
#define UNKNOWN_NAMED 8

/** The largest length of a service's name in Kubernetes. */
#define SERVICE_MAX 63

/** Warn that @name is unknown, and suggest the nearest name. */
static void warn_unknown(const struct settings *settings, struct str name, struct notes *notes) {
	const struct option_table *table = settings->table;
	size_t prefix = strlen(table->prefix);
	struct nearest best = {.word = str_from(name, prefix)};
	for (const struct option *o = table->options; !option_is_end(o); o++) {
		bool is_taken = o->id >= table->n_values && o->help && table->unnamed;
		if (is_taken && option_is_variable(table, o, best.word)) {
			struct option lines = {.commands = 1};
			notes_add(notes, "%s is not a setting of %s; write %s='%s%s%s'", quote(name).s,
				  table->program, option_variable(settings->arena, table, &lines), o->name,
				  o->argument ? " " : "", o->argument ? o->argument : "");
			return;
		}
		if (o->variable) {
			nearest_try(&best, option_variable(settings->arena, table, o) + prefix);
		}
	}
	notes_add(notes, "%s is not a setting of %s%s", quote(name).s, table->program,
		  nearest_hint(&best, table->prefix).s);
}

/**
 * Whether @entry is live and its name begins with @prefix. This is called for each variable, so it has to be
 * fast.
 */
static inline bool has_prefix(const struct env_entry *entry, struct str prefix) {
	return entry->name_len > prefix.len && entry->text[0] == prefix.p[0] &&
	       memcmp(entry->text, prefix.p, prefix.len) == 0 && entry->state == ENV_LIVE;
}

/**
 * Whether Kubernetes has set the variable @name for a service: its name is that of a service and an ending, as in
 * NAME_PORT or NAME_PORT_80_TCP_ADDR, and NAME_SERVICE_HOST is set, too.
 */
static bool is_of_service(const struct env *env, struct str name) {
	static const char *const ends[] = {"_SERVICE_HOST", "_SERVICE_PORT", "_SERVICE_PORT_*",
					   "_PORT",	    "_PORT_*",	     NULL};
	struct buf host = BUF(env->arena);
	for (size_t i = 1; i < name.len && i <= SERVICE_MAX; i++) {
		if (name.p[i] != '_' || !str_like_any(str_from(name, i), ends)) {
			continue;
		}
		host.len = 0;
		buf_put(&host, (struct str){name.p, i});
		buf_puts(&host, ends[0]);
		if (env_find(env, buf_str(&host))) {
			return true;
		}
	}
	return false;
}

/**
 * Whether @entry, which has the name of an option's variable, is the address of a service instead: for a service
 * called distinit-master, Kubernetes sets DISTINIT_MASTER_PORT=tcp://10.0.0.7:80.
 */
static bool is_service_address(const struct env *env, const struct env_entry *entry) {
	return strstr(env_entry_value(entry), "://") && is_of_service(env, env_entry_name(entry));
}

/** Find the option whose variable is @entry, which has the prefix; NULL: none. */
static const struct option *find_variable(const struct option_table *table, const struct env_entry *entry) {
	struct str suffix = str_from(env_entry_name(entry), strlen(table->prefix));
	for (const struct option *o = table->options; !option_is_end(o); o++) {
		if (o->variable && option_is_variable(table, o, suffix)) {
			return o;
		}
	}
	return NULL;
}

/**
 * Unless the command line has set @o, set it to the value of @entry. If the environment has a name twice, the first
 * entry counts, as for getenv(). Returns 0 or -EINVAL.
 */
static int read_variable(struct settings *settings, const struct option *o, const struct env *env,
			 const struct env_entry *entry, struct notes *notes, struct err *err) {
	const struct option_table *table = settings->table;
	const char *value = env_entry_value(entry);
	if (!*value || settings->given[o->id] || !env_entry_first(env, entry)) {
		return 0;
	}
	const char *why_not = table->refuses ? table->refuses(settings, o) : NULL;
	if (why_not) {
		// A variable that is passed on reaches the workload anyway, so do not warn.
		if (o->id != table->passed_on) {
			notes_add(notes, "%.*s is ignored: %s", (int)entry->name_len, entry->text, why_not);
		}
		return 0;
	}
	if (settings_set(settings, o, value) == 0) {
		return 0;
	}
	return err_set(err, EINVAL, "%.*s=%s: expected 1 or 0", (int)entry->name_len, entry->text,
		       quote_text(value).s);
}

/** Remove the variables of the options from @env. */
static void remove_variables(const struct option_table *table, struct env *env, struct str prefix) {
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		const struct option *o = has_prefix(entry, prefix) ? find_variable(table, entry) : NULL;
		if (o && o->id != table->passed_on && o->id != table->told &&
		    !is_service_address(env, entry)) {
			env_unset(env, env_entry_name(entry), NULL);
		}
	}
}

int settings_read_variables(struct settings *settings, struct env *env, struct notes *notes,
			    struct err *err) {
	const struct option_table *table = settings->table;
	struct str prefix = str_of(table->prefix);
	// If variables are disabled, do not warn about unknown ones.
	bool reads = !table->refuses || !table->refuses(settings, NULL), any = false;
	uint32_t unknown = 0;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (!has_prefix(entry, prefix)) {
			continue;
		}
		const struct option *o = find_variable(table, entry);
		if (!o && !reads) {
			continue;
		}
		if (o ? is_service_address(env, entry) : is_of_service(env, env_entry_name(entry))) {
			continue;
		}
		if (settings->only && !(o && o->commands & settings->only)) {
			continue;
		}
		if (!o) {
			if (unknown++ < UNKNOWN_NAMED) {
				warn_unknown(settings, env_entry_name(entry), notes);
			}
			continue;
		}
		int r = read_variable(settings, o, env, entry, notes, err);
		if (r < 0) {
			return r;
		}
		any = true;
	}
	if (unknown > UNKNOWN_NAMED) {
		notes_add(notes, "%u more variables %s* are not settings of %s", unknown - UNKNOWN_NAMED,
			  table->prefix, table->program);
	}
	if (any && !settings->only && !(table->keep != OPTION_NONE && settings_on(settings, table->keep))) {
		remove_variables(table, env, prefix);
	}
	return 0;
}
