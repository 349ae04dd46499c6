// SPDX-License-Identifier: Apache-2.0

/** `distinit install DIR`. */

#include "distinit/commands.h"

#include "names/names.h"

#include "base/nearest.h"
#include "install/install.h"

#include <errno.h>

/** Read --as, the name of the copy. */
static int read_name(struct session *s, const char **name, struct err *err) {
	const char *wanted = s->settings.value[OPT_AS];
	struct nearest best = {.word = str_of(wanted)};
	struct buf all = BUF(&s->arena);
	struct str rest = str_of(arena_format(&s->arena, "distinit %s", disguise_names(&s->arena))), one;
	*name = wanted ? wanted : "distinit";
	while (wanted && str_cut(&rest, ' ', &one) && one.len) {
		if (str_is(one, wanted)) {
			return 0;
		}
		nearest_try(&best, arena_text(&s->arena, one.p, one.len));
		buf_putf(&all, "%s%.*s", all.len ? ", " : "", (int)one.len, one.p);
	}
	return wanted ? err_set(err, EINVAL, "%s=%s: expected one of %s%s",
				settings_label(&s->settings, OPT_AS), quote(str_of(wanted)).s, buf_text(&all),
				nearest_hint(&best, "").s)
		      : 0;
}

int command_install(struct session *s) {
	struct err err;
	char **arguments = s->settings.arguments;
	const char *folder = arguments[0];
	int r = 0;
	if (!folder || !*folder) {
		r = err_set(&err, EINVAL, "install needs the folder to copy to: distinit install DIR");
	} else if (arguments[1]) {
		r = err_set(&err, EINVAL, "install takes one folder, not also %s; put options first",
			    quote(str_of(arguments[1])).s);
	}
	const char *name;
	r = r < 0 ? r : read_name(s, &name, &err);
	r = r < 0 ? r : install_self(folder, name, &s->notes, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	say_line(&s->speaker, LOG_INFO,
		 arena_format(&s->arena, "%s/%s %s", folder, name, r ? "is written" : "is up to date"));
	return 0;
}
