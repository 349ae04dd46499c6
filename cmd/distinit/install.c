// SPDX-License-Identifier: Apache-2.0

/** `distinit install DIR`. */

#include "distinit/subcommands.h"

#include "names/names.h"

#include "install/install.h"

#include <errno.h>

/** Read --as, the name of the copy. */
static int read_name(struct session *s, const char **name, struct err *err) {
	const char *wanted = s->settings.value[OPT_AS];
	*name = wanted ? wanted : "distinit";
	if (strcmp(*name, "distinit") == 0 || (alias_find(wanted) && !strchr(wanted, '/'))) {
		return 0;
	}
	return err_set(err, EINVAL, "--as=%s: expected one of these: %sdistinit", quote_text(wanted).s,
		       alias_names(&s->arena));
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
			    quote_text(arguments[1]).s);
	}
	const char *name;
	r = r < 0 ? r : read_name(s, &name, &err);
	r = r < 0 ? r : install_self(&s->arena, folder, name, &s->notes, &err);
	if (r < 0) {
		return session_fail(s, &err);
	}
	say_notes(&s->speaker, &s->notes);
	say_line(&s->speaker, LOG_INFO,
		 arena_format(&s->arena, "%s/%s %s", folder, name, r ? "is written" : "is up to date"));
	return 0;
}
