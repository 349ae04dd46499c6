// SPDX-License-Identifier: Apache-2.0

/** Run the runtime of a container (the words after "carry"), for distrun: see env/carried.h. */

#include "distinit/subcommands.h"

#include "env/carried.h"
#include "exec/exec.h"

int command_carry(struct session *s, char **argv) {
	struct err err;
	int status = EXIT_OURS;
	if (carried_pack(&s->env, &err) == 0) {
		status = exec_program(&s->arena, argv, env_vector(&s->env), env_get(&s->env, "PATH"), &err);
	}
	session_fail(s, &err);
	return status;
}
