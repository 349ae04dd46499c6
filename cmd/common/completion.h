// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Completions for bash, zsh and fish, from a program's table of options: `distinit completion bash`. */

#include "common/settings.h"

/** A subcommand. */
struct completed {
	/** "" for none. */
	const char *name;
	/** Its flag in the table of options. */
	unsigned command;
	const char *about;
};

struct completion {
	const struct option_table *table;
	/** Those that --help shows. The first is "". */
	const struct completed *subs;
	size_t n_subs;
	/** The words that "@NAME" of an option's words stands for, with a blank between. */
	const char *(*words_of)(struct arena *arena, const char *name);
};

/** Append the completion for @shell (bash, zsh, fish). Returns 0; -EINVAL: there is no such shell. */
int completion_put(struct buf *out, const struct completion *of, const char *shell, struct err *err);
