// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "format/format.h"

#include <errno.h>
#include <stdlib.h>

static int find_format(struct session *s, const struct format **out, struct err *err) {
	const char *name = s->settings.value[OPT_FORMAT];
	*out = name ? format_find(name) : formats;
	if (!*out) {
		return err_set(err, EINVAL, "--format=%s: expected shell, docker, json or null",
			       quote_text(name).s);
	}
	return 0;
}

/** Warn that the output cannot show which variables directives removed. */
static void note_removed(struct session *s) {
	const struct env_entry *first = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->env.n_inherited; i++) {
		const struct env_entry *entry = &s->env.entries[i];
		if (entry->state != ENV_LIVE && entry->removed_by &&
		    !env_find(&s->env, env_entry_name(entry))) {
			first = first ? first : entry;
			n++;
		}
	}
	if (first) {
		notes_add(&s->notes,
			  "%s%s removed (%s), which this output cannot show; --all prints what is left",
			  quote(env_entry_name(first)).s, n > 1 ? " and others are" : " is",
			  first->removed_by->by);
	}
}

/** Append the variables that were added or changed; with --all, all variables. */
static int write_variables(struct session *s, const struct format *format, struct buf *out, struct err *err) {
	bool all = settings_on(&s->settings, OPT_ALL);
	uint32_t n = 0;
	buf_puts(out, format->head);
	for (uint32_t i = 0; i < s->env.n; i++) {
		const struct env_entry *entry = &s->env.entries[i];
		bool wanted = all ? entry->state == ENV_LIVE : env_entry_changed(&s->env, entry);
		// If an entry has no '=', it is not a variable.
		if (!wanted || entry->text[entry->name_len] != '=') {
			continue;
		}
		struct str name = env_entry_name(entry);
		struct str value = str_of(env_entry_value(entry));
		const char *why_not = format->refuses(name, value);
		if (why_not) {
			return err_set(err, EINVAL,
				       "--format=%s cannot carry %s: %s; --format=null carries anything",
				       format->name, quote(name).s, why_not);
		}
		format->put(out, name, value, n++);
	}
	buf_puts(out, format->tail);
	return 0;
}

/**
 * Read --mode, the permissions of the file. By default only the owner may read it, because it may hold
 * secrets.
 */
static int read_mode(struct session *s, unsigned *mode, struct err *err) {
	const char *text = s->settings.value[OPT_MODE];
	*mode = 0600;
	if (!text) {
		return 0;
	}
	size_t len = strlen(text);
	if (len == 0 || len > 4 || strspn(text, "01234567") != len || strtoul(text, NULL, 8) > 0777) {
		return err_set(err, EINVAL, "--mode=%s is not a mode such as 0600 or 0644",
			       quote_text(text).s);
	}
	*mode = (unsigned)strtoul(text, NULL, 8);
	return 0;
}

int write_env(struct session *s) {
	struct err err = {0};
	const struct format *format = NULL;
	struct buf out = BUF(&s->arena);
	int r = find_format(s, &format, &err);
	r = r < 0 ? r : write_variables(s, format, &out, &err);
	r = r < 0 ? r : flow_write_hostfile(&s->flow, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	if (!settings_on(&s->settings, OPT_ALL)) {
		note_removed(s);
	}
	say_notes(&s->speaker, &s->notes);
	const struct setting file = session_setting(s, OPT_OUTPUT);
	if (!file.value) {
		return say_result(&s->speaker, buf_str(&out));
	}
	unsigned mode;
	r = read_mode(s, &mode, &err);
	r = r < 0 ? r : access_write(&s->flow.access, &file, buf_str(&out), mode, SPECIAL_OURS, &err);
	return r < 0 ? session_fail(s, &err) : 0;
}

int check_env_format(struct session *s, struct err *err) {
	const struct format *format;
	unsigned mode;
	int r = find_format(s, &format, err);
	return r < 0 ? r : read_mode(s, &mode, err);
}

int command_env(struct session *s) {
	struct err err = {0};
	int r = check_env_format(s, &err);
	r = r < 0 ? r : session_derive(s, &err);
	return r < 0 ? session_fail(s, &err) : write_env(s);
}
