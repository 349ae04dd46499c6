// SPDX-License-Identifier: Apache-2.0

/** `distinit install DIR`. */

#include "distinit/commands.h"

#include "install/install.h"

#include <errno.h>

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
	r = r < 0 ? r : install_self(folder, &s->notes, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	say_line(&s->speaker, LOG_INFO,
		 arena_format(&s->arena, "%s/" INSTALL_NAME " %s", folder,
			      r ? "is written" : "is up to date"));
	return 0;
}
