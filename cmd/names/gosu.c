// SPDX-License-Identifier: Apache-2.0

/**
 * gosu 1.19 and su-exec 0.3: change the user, set HOME, and become the command. They derive nothing,
 * and our own variables mean nothing to them.
 */

#include "names/names.h"

#include "exec/exec.h"
#include "flow/privileges.h"
#include "priv/elevated.h"

#include <unistd.h>

/** gosu's options; they count as the first word only. Returns GO_ON or the status to exit with. */
static int read_first(const struct guise *g, const char *word) {
	static const char *const helps[] = {"--help", "-h", "-?"}, *const versions[] = {"--version", "-v"};
	for (size_t i = 0; word && g->as->help.text && i < 3; i++) {
		if (strcmp(word, helps[i]) == 0) {
			return guise_print(g, &g->as->help, 0);
		}
		if (i < 2 && strcmp(word, versions[i]) == 0) {
			return guise_print(g, &g->as->version, 0);
		}
	}
	return GO_ON;
}

/** Change the user as @spec says. Without a user, as in ":GROUP", it is the present one. */
static int change_user(struct session *s, const char *spec, struct err *err) {
	struct flow *f = &s->flow;
	if (*spec == '\0' || *spec == ':') {
		spec = arena_format(&s->arena, "%u%s", getuid(), spec);
	}
	f->wants.privileges.user = (struct told){spec, "user-spec"};
	f->wants.must_change = true;
	int r = privileges_plan(f, err);
	if (r == 0) {
		env_set(&s->env, STR("HOME"), str_of(f->wishes.home), NULL);
		r = privileges_drop(f, err);
	}
	return r;
}

static int run(struct guise *g, char **argv) {
	struct session *s = g->session;
	struct err err;
	int status = read_first(g, argv[0]);
	if (status != GO_ON) {
		return status;
	}
	if (!argv[0] || !argv[1]) {
		return guise_print(g, &g->as->usage, 1);
	}
	if (elevated_check(&s->arena, &err) == 0 && change_user(s, argv[0], &err) == 0) {
		exec_program(&s->arena, argv + 1, env_vector(&s->env), env_get(&s->env, "PATH"), &err);
	}
	guise_say(g, SAY_ERROR, "%s", err.text);
	return 1;
}

#define USAGE \
	"Usage: @ user-spec command [args]\n" \
	"   eg: @ nobody sh\n" \
	"       @ nobody:root sh -c 'whoami && id'\n" \
	"       @ 1000:1 id\n" \
	"\n" \
	"@ version: 1.19 (distinit " DISTINIT_VERSION ")\n" \
	"@ license: Apache-2.0\n"

const struct disguise disguise_gosu = {
	.names = "gosu ",
	.help = {1, USAGE},
	.version = {1, "1.19 (distinit " DISTINIT_VERSION ")\n"},
	.usage = {2, USAGE},
	.open = "error: ",
	.stdout_from = SAY_TRACE + 1,
	.run = run,
};

const struct disguise disguise_su_exec = {
	.names = "su-exec ",
	.usage = {1, "Usage: @ user-spec command [args]\n"},
	.open = "su-exec: ",
	.stdout_from = SAY_TRACE + 1,
	.run = run,
};
