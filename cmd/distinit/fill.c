// SPDX-License-Identifier: Apache-2.0

/** --fill: checks and fills the words of the command, and warns of a forgotten --fill. */

#include "distinit/start.h"

#include <errno.h>

/** How long to wait until the name of {master-ip} resolves, in ms. */
#define WAIT_MS ((uint64_t)5 * 60 * 1000)
#define LOOK_MS 2000

/**
 * Fill the words into *@out. @stand_in: the text for each address, which is not looked up then; NULL: look it
 * up.
 */
static int fill(struct session *s, const char *stand_in, char ***out, struct err *err) {
	const char *wait = s->settings.value[OPT_WAIT];
	struct err ignored;
	// With --wait, wait as long as that; explain and check do not wait.
	uint64_t ms = s->command == CMD_RUN ? WAIT_MS : LOOK_MS;
	if (s->command == CMD_RUN && wait && *wait) {
		settings_duration(&s->settings, OPT_WAIT, &ms, &ignored);
	}
	bool shown = s->command == CMD_EXPLAIN && !settings_on(&s->settings, OPT_SHOW_SECRETS);
	s->fill = (struct fill){
		.arena = &s->arena, .flow = &s->flow, .stand_in = stand_in, .wait_ms = ms, .masks = shown};
	int r = settings_on(&s->settings, OPT_FILL) ? fill_words(&s->fill, s->settings.arguments, out, err)
						    : 0;
	s->signal = s->fill.signal;
	return r;
}

int session_fill_check(struct session *s, struct err *err) {
	// The names of the nodes may not resolve yet.
	char **ignored;
	return fill(s, "127.0.0.1", &ignored, err);
}

int session_fill(struct session *s, struct err *err) {
	return fill(s, NULL, &s->settings.arguments, err);
}

int session_check_separated(const struct session *s, const char *name, struct err *err) {
	return s->settings.arguments[0] && !s->settings.separated
		       ? err_set(err, EINVAL, "%s takes a command only after --: distinit %s -- COMMAND",
				 name, name)
		       : 0;
}

void session_fill_forgotten(struct session *s) {
	bool fills = settings_on(&s->settings, OPT_FILL), told = fills || s->settings.given[OPT_FILL];
	const char *mark, *near = fills ? fill_mistyped(s->settings.arguments, &mark) : NULL;
	if (near) {
		notes_add(&s->notes,
			  "--fill: %s is not a mark, and is passed on as it is; did you mean ':%s:'?",
			  quote_text(near).s, mark);
	}
	const char *word = told ? NULL : fill_forgotten(s->settings.arguments);
	if (word) {
		notes_add(&s->notes,
			  "%s is passed on as it is; --fill would fill it, --fill=0 says that it is "
			  "meant so",
			  quote_text(word).s);
	}
}
