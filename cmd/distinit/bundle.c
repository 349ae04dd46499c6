// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "env/bundle.h"
#include "flow/tables.h"
#include "source/ask.h"

static size_t add_names(const char **out, const char *const *names) {
	size_t n = 0;
	for (; names[n]; n++) {
		out[n] = names[n];
	}
	return n;
}

/** The variables that managers and launchers are read from. They belong to one host or rank. */
const char *const *own_variables(struct session *s) {
	size_t n = 1;
	for (size_t i = 0; sources[i]; i++) {
		const char *const *reads = source_reads(&s->arena, sources[i]);
		for (size_t k = 0; reads[k]; k++) {
			n++;
		}
	}
	for (size_t i = 0; launchers[i]; i++) {
		n += LAUNCHER_READS;
	}
	const char **own = arena_array(&s->arena, n, sizeof(*own));
	n = 0;
	for (size_t i = 0; sources[i]; i++) {
		n += add_names(own + n, source_reads(&s->arena, sources[i]));
	}
	for (size_t i = 0; launchers[i]; i++) {
		const char *reads[LAUNCHER_READS];
		launcher_reads(launchers[i], reads);
		n += add_names(own + n, reads);
	}
	own[n] = NULL;
	return own;
}

static int write_bundle(struct session *s, struct buf *out, struct err *err) {
	const char *names = s->settings.value[OPT_TRACK];
	const struct bundle_request request = {
		.names = str_of(names),
		.names_from = settings_label(&s->settings, OPT_TRACK),
		.own = own_variables(s),
		.force = settings_on(&s->settings, OPT_FORCE),
		.carry_unset = settings_on(&s->settings, OPT_CARRY_UNSET),
	};
	if (!names) {
		notes_add(&s->notes,
			  "no variable is tracked, so the bundle is empty; DISTINIT_TRACK lists the names");
	}
	return bundle_write(&request, &s->env, out, &s->notes, err);
}

int command_bundle(struct session *s) {
	struct err err = {0};
	struct buf out = BUF(&s->arena);
	int r = write_bundle(s, &out, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	const struct setting file = session_setting(s, OPT_OUTPUT);
	if (!file.value) {
		return say_result(&s->speaker, buf_str(&out));
	}
	// Only for the user who starts the workers: the bundle may contain tokens.
	r = session_plan(s, &err);
	r = r < 0 ? r : access_write(&s->flow.access, &file, buf_str(&out), 0600, SPECIAL_NONE, &err);
	return r < 0 ? session_fail(s, &err) : 0;
}
