// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a program says: messages on stderr, a line each, and results on stdout. */

#include "base/err.h"
#include "base/notes.h"
#include "common/options.h"

/** In the order of the words for --log. */
enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
};

/** Who speaks, and how much. */
struct speaker {
	/** The program's name, the first word of each message. */
	const char *program;
	enum log_level log;
	struct arena *arena;
	/** The last note that was printed. */
	const struct note *said;
};

/** Print "PROGRAM: LEVEL: TEXT" on stderr in one write, if @level is to be printed; what a terminal might obey in @text as \xNN. */
void say_line(const struct speaker *speaker, enum log_level level, const char *text);

/** Print the notes that have not been printed yet, as warnings. */
void say_notes(struct speaker *speaker, const struct notes *notes);

/** Print the sentence in @err, and return the status to exit with: EXIT_OURS. */
int say_failure(const struct speaker *speaker, const struct err *err);

/** Write @text to stdout. Returns the status to exit with: 0, or EXIT_OURS where it cannot be written. */
int say_result(const struct speaker *speaker, struct str text);

/**
 * Read how much is to be said from the option @log and from how often -v was given, which beats it.
 * Returns 0; -EINVAL.
 */
int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err);
