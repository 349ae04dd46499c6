// SPDX-License-Identifier: Apache-2.0

/** `distrun completion bash|zsh|fish`. */

#include "distrun/commands.h"

#include "common/completion.h"

#include <errno.h>

int command_completion(struct distrun_session *s) {
	char **words = s->settings.arguments;
	struct completed subs[16] = {{"", CMD_PROGRAM, ""}};
	struct buf out = BUF(&s->arena);
	struct err err;
	size_t n = 1;
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			subs[n++] = (struct completed){subcommands[i].name, subcommands[i].command,
						       subcommands[i].about};
		}
	}
	const struct completion of = {&distrun_options, subs, n, NULL};
	int r = words[0] && words[1] ? err_set(&err, EINVAL, "completion takes one shell: bash, zsh or fish")
				     : completion_put(&out, &of, words[0], &err);
	return r < 0 ? session_fail(s, &err) : say_result(&s->speaker, buf_str(&out));
}
