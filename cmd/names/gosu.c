// SPDX-License-Identifier: Apache-2.0

/**
 * gosu 1.19 and su-exec 0.3: change the user, set HOME, and execute the command. They derive nothing, and do
 * not read DISTINIT_* variables.
 */

#include "names/names.h"

#include "exec/exec.h"
#include "flow/privileges.h"

#include <unistd.h>

/** Remove the plus before the number of a user or group from @spec: the originals accept it. */
static const char *without_plus(struct arena *arena, const char *spec) {
	struct buf out = BUF(arena);
	for (const char *p = spec; *p; p++) {
		bool begins = p == spec || p[-1] == ':';
		if (!(begins && *p == '+' && p[1] >= '0' && p[1] <= '9')) {
			buf_putc(&out, *p);
		}
	}
	return buf_text(&out);
}

/** Change the user to @spec. If that has no user, as in ":GROUP", the current user stays. */
static int change_user(struct session *s, const char *spec, struct err *err) {
	struct flow *f = &s->flow;
	if (*spec == '\0' || *spec == ':') {
		spec = arena_format(&s->arena, "%u%s", getuid(), spec);
	}
	spec = without_plus(&s->arena, spec);
	f->wants.privileges.user = (struct setting){spec, "user-spec", BY_COMMAND_LINE};
	f->wants.privileges.groups_anyway = true;
	f->wants.must_change = true;
	int r = privileges_plan(f, err);
	if (r == 0) {
		env_set(&s->env, STR("HOME"), str_of(f->wishes.home), NULL);
		r = privileges_drop(f, err);
	}
	return r;
}

static int run(struct alias_run *g, char **argv) {
	struct session *s = g->session;
	struct err err;
	int status = alias_read_options(g, argv);
	argv = g->command;
	if (status != GO_ON) {
		return status;
	}
	if (!argv[1]) {
		return alias_print(g, g->as->usage_fd, g->as->usage, "", 1);
	}
	if (change_user(s, argv[0], &err) == 0) {
		exec_program(&s->arena, argv + 1, env_vector(&s->env), env_get(&s->env, "PATH"), &err);
	}
	alias_log(g, LOG_ERROR, "%s", err.text);
	return 1;
}

#define VERSION "1.19 (distinit " DISTINIT_VERSION ")\n"
#define USAGE	"Usage: @ user-spec command [args]\n"

#define HELP \
	USAGE "   eg: @ nobody:root sh -c 'whoami && id'\n" \
	      "       @ 1000:1 id\n" \
	      "\n" \
	      "@ version: " VERSION "@ license: Apache-2.0\n"

static const struct alias_option gosu_options[] = {
	{.letter = 'h', .name = "help", .text = HELP, .fd = 1},
	{.letter = '?', .text = HELP, .fd = 1},
	{.letter = 'v', .text = VERSION, .fd = 1},
	{.letter = 'V', .name = "version", .text = VERSION, .fd = 1},
	{0},
};

const struct alias alias_gosu = {
	.names = "gosu ",
	.options = gosu_options,
	.usage = USAGE,
	.usage_fd = 2,
	.head = "error: ",
	.stdout_from = LOG_NONE,
	.usage_after_error = true,
	.run = run,
};

const struct alias alias_su_exec = {
	.names = "su-exec ",
	.usage = USAGE,
	.usage_fd = 1,
	.head = "su-exec: ",
	.stdout_from = LOG_NONE,
	.usage_after_error = true,
	.run = run,
};
