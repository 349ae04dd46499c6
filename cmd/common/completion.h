// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Completions for bash, zsh and fish, from a program's table of options: `distinit completion bash`. */

#include "common/settings.h"

/** A subcommand. */
struct completed {
	/** The subcommand's name; "": the program without a subcommand. */
	const char *name;
	/** Its flag in the table of options. */
	unsigned command;
	const char *about;
};

struct completion {
	const struct option_table *table;
	/** The subcommands that --help shows. The name of the first is "". */
	const struct completed *subs;
	size_t n_subs;
	/** Lists the words for "@NAME" in an option's words, with blanks between them. */
	const char *(*words_of)(struct arena *arena, const char *name);
};

/** Append the completion for @shell: bash, zsh or fish. Returns 0; -EINVAL for another shell. */
int completion_put(struct buf *out, const struct completion *of, const char *shell, struct err *err);
