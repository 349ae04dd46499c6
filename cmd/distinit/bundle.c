// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "base/words.h"
#include "env/bundle.h"
#include "flow/tables.h"
#include "source/ask.h"

static void add_names(struct words *out, const char *const *names) {
	for (; *names; names++) {
		words_add(out, *names);
	}
}

/** List the variables from which managers and launchers are read. They belong to one host or rank. */
const char *const *own_variables(struct session *s) {
	struct words own = WORDS(&s->arena);
	for (size_t i = 0; sources[i]; i++) {
		add_names(&own, source_reads(&s->arena, sources[i]));
	}
	for (size_t i = 0; launchers[i]; i++) {
		const char *reads[LAUNCHER_READS];
		launcher_reads(launchers[i], reads);
		add_names(&own, reads);
	}
	return (const char *const *)words_vector(&own);
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
	// Only the owner may read it, because the bundle may contain tokens.
	r = session_plan(s, &err);
	r = r < 0 ? r : access_write(&s->flow.access, &file, buf_str(&out), 0600, SPECIAL_NONE, &err);
	return r < 0 ? session_fail(s, &err) : 0;
}
