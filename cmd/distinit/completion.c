// SPDX-License-Identifier: Apache-2.0

/** `distinit completion bash|zsh|fish`. */

#include "distinit/subcommands.h"

#include "common/completion.h"
#include "flow/tables.h"
#include "names/names.h"
#include "priv/capability.h"

#include <errno.h>
#include <linux/capability.h>

/** The signals that people forward. */
static const char *const signals[] = {"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH", "CONT"};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void put_word(struct buf *out, const char *word) {
	buf_putf(out, "%s%s", out->len && *word ? " " : "", word);
}

/** List pairs FROM:TO for --signal. */
static void put_pairs(struct buf *out) {
	for (size_t from = 0; from < N_SIGNALS; from++) {
		put_word(out, arena_format(out->arena, "%s:0", signals[from]));
		for (size_t to = 0; to < N_SIGNALS; to++) {
			if (from != to) {
				put_word(out, arena_format(out->arena, "%s:%s", signals[from], signals[to]));
			}
		}
	}
}

/** Whether a source before @i has the same name, as a manager's step and its allocation have. */
static bool is_named_before(size_t i) {
	for (size_t k = 0; k < i; k++) {
		if (strcmp(sources[k]->name, sources[i]->name) == 0) {
			return true;
		}
	}
	return false;
}

static const char *words_of(struct arena *arena, const char *name) {
	struct buf out = BUF(arena);
	if (strcmp(name, "managers") == 0) {
		for (size_t i = 0; sources[i]; i++) {
			put_word(&out, is_named_before(i) ? "" : sources[i]->name);
		}
	} else if (strcmp(name, "frameworks") == 0) {
		for (size_t i = 0; frameworks[i]; i++) {
			put_word(&out, frameworks[i]->name);
		}
	} else if (strcmp(name, "capabilities") == 0) {
		for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
			put_word(&out, cap_name(cap).s + 4);
		}
	} else if (strcmp(name, "signals") == 0) {
		for (size_t i = 0; i < N_SIGNALS; i++) {
			put_word(&out, signals[i]);
		}
		put_word(&out, "KILL");
	} else if (strcmp(name, "pairs") == 0) {
		put_pairs(&out);
	} else if (strcmp(name, "names") == 0) {
		const char *names = alias_names(arena);
		buf_put(&out,
			(struct str){names, strlen(names) - (*names != '\0')}); // each has a blank behind it
	} else {
		for (size_t i = 1; subcommands[i].name; i++) {
			if (subcommands[i].about) {
				put_word(&out, subcommands[i].name);
			}
		}
	}
	return buf_text(&out);
}

int command_completion(struct session *s) {
	char **words = s->settings.arguments;
	struct buf out = BUF(&s->arena);
	struct err err;
	size_t n = 1;
	while (subcommands[n].name) {
		n++;
	}
	struct completed *subs = arena_array(&s->arena, n, sizeof(*subs));
	subs[0] = (struct completed){"", CMD_RUN, ""};
	n = 1;
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			subs[n++] = (struct completed){subcommands[i].name, subcommands[i].command,
						       subcommands[i].about};
		}
	}
	const struct completion of = {&distinit_options, subs, n, words_of};
	int r = words[0] && words[1] ? err_set(&err, EINVAL, "completion takes one shell: bash, zsh or fish")
				     : completion_put(&out, &of, words[0], &err);
	return r < 0 ? session_fail(s, &err) : say_result(&s->speaker, buf_str(&out));
}
