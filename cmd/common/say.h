// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Output of a program: messages on stderr, one line each, and results on stdout. */

#include "base/err.h"
#include "base/notes.h"
#include "common/options.h"

/** In the order of the values of --log. */
enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
};

/** The source of messages, and the log level. */
struct speaker {
	/** The program's name, the first word of each message. */
	const char *program;
	enum log_level log;
	struct arena *arena;
	/** The last note that was printed. */
	const struct note *said;
};

/**
 * Print "PROGRAM: LEVEL: TEXT" on stderr in one write, if the log level includes @level.
 * Control characters in @text are printed as \xNN.
 */
void say_line(const struct speaker *speaker, enum log_level level, const char *text);

/** Print the notes that have not been printed yet, as warnings. */
void say_notes(struct speaker *speaker, const struct notes *notes);

/** Print the message in @err. Returns the exit status, EXIT_OURS. */
int say_failure(const struct speaker *speaker, const struct err *err);

/** Write @text to stdout. Returns the exit status: 0, or EXIT_OURS if writing failed. */
int say_result(const struct speaker *speaker, struct str text);

/**
 * Read the log level from the option @log, and from the number of -v flags, which overrides it.
 * Returns 0; -EINVAL.
 */
int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err);
