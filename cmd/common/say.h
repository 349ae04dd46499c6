// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Output of a program: messages on stderr, one line each, and results on stdout. */

#include "base/err.h"
#include "base/log.h"
#include "base/notes.h"
#include "common/settings.h"

/** The source of messages, and the log level. */
struct speaker {
	/** The program's name, the first word of each message. */
	const char *program;
	enum log_level log;
	struct arena *arena;
	/** The last note that was printed. */
	const struct note *said;
	/** Whether the cursor stands behind a status, which the next message replaces. */
	bool status;
};

/**
 * Print "PROGRAM: LEVEL: TEXT" on stderr in one write, if the log level includes @level.
 * Control characters in @text are printed as \xNN. On a terminal, the words for errors and warnings
 * have colour (terminal.h).
 */
void say_line(struct speaker *speaker, enum log_level level, const char *text);

/**
 * While something lasts: show "PROGRAM: TEXT" on a line of the terminal that the next status or
 * message replaces. @text is cut where the line ends. With --log=error nothing is shown.
 * Returns whether stderr is a terminal that can do so (terminal_rewrites()). Otherwise nothing is
 * shown, and a message by say_line() may do.
 */
bool say_status(struct speaker *speaker, const char *text);

/** Remove the status, if there is one: call it before somebody else writes to the terminal. */
void say_status_end(struct speaker *speaker);

/** Print the notes that have not been printed yet, as warnings. */
void say_notes(struct speaker *speaker, const struct notes *notes);

/** Print the message in @err. Returns the exit status, EXIT_OURS. */
int say_failure(struct speaker *speaker, const struct err *err);

/** Write @text to stdout. Returns the exit status: 0, or EXIT_OURS if writing failed. */
int say_result(struct speaker *speaker, struct str text);

/** Read the log level: the option @log, which the number of -v flags overrides. Returns 0; -EINVAL. */
int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err);
