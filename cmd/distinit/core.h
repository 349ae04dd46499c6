// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * distinit-core: the same program without the roll call, --together, check, the other names and the framework rdma. It
 * listens nowhere, and has no cryptography. What it lacks is an error that names the full program.
 *
 * It is made of the same libraries: only these commands, and the table of frameworks, are compiled anew.
 */

#include "distinit/session.h"

#ifdef DISTINIT_CORE

#define PROGRAM "distinit-core"

/** The end of a sentence about what this program lacks. */
#define IN_FULL_PROGRAM "in the full program, distinit; this is distinit-core"

/** The end of --help. */
#define CORE_HELP \
	"\nOnly in the full program, distinit: --agree, --agree-env, --check, --for=all, --job,\n" \
	"--linger, --max-restarts, --no-restart, --progress, --secret-file, --secret-required, --together.\n"

/** Refuse an option or a variable of the full program. Returns 0; -ENOSYS. */
int core_check_options(const struct session *s, struct err *err);

/** Refuse the name of another program, or a subcommand of the full program. @word may be a path. Returns 0; -ENOSYS. */
int core_check_word(const char *word, struct err *err);

#else

#define PROGRAM	  "distinit"
#define CORE_HELP ""

static inline int core_check_options(const struct session *s, struct err *err) {
	(void)s, (void)err;
	return 0;
}

static inline int core_check_word(const char *word, struct err *err) {
	(void)word, (void)err;
	return 0;
}

#endif
