// SPDX-License-Identifier: Apache-2.0

#include "distrun/commands.h"

#include <errno.h>

int command_surrogate(struct distrun_session *s) {
	struct err err;
	char **argv = s->settings.arguments;
	if (!s->settings.separated && argv[0]) {
		err_set(&err, EINVAL, "'--' is missing before the command %s", quote(str_of(argv[0])).s);
		return session_fail(s, &err);
	}
	if (!argv[0]) {
		err_set(&err, EINVAL,
			"no command%s; usage: distrun surrogate [OPTION]... -- COMMAND [ARG]...",
			s->settings.separated ? " after '--'" : "");
		return session_fail(s, &err);
	}
	return workload_run(s, argv, env_vector(&s->env));
}
