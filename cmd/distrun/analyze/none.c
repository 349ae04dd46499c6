// SPDX-License-Identifier: Apache-2.0

/** In place of the other files here, if the program is built without analyze. */

#include "distrun/commands.h"

#include <errno.h>

int command_analyze(struct distrun_session *s) {
	struct err err;
	err_set(&err, ENOSYS,
		"this distrun is built without analyze; the build option -Danalyze=true has it");
	return session_fail(s, &err);
}

int command_probe(struct distrun_session *s) {
	return command_analyze(s);
}
