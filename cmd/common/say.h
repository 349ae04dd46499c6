// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Prints a program's messages on stderr, one line each, and its results on stdout. */

#include "base/err.h"
#include "base/log.h"
#include "base/notes.h"
#include "common/settings.h"

/** Prints the messages of a program. */
struct speaker {
	/** The program's name, the first word of each message. */
	const char *program;
	enum log_level log;
	struct arena *arena;
	/** The last note that was printed; NULL: none. */
	const struct note *said;
	/** The terminal's line shows a status, which the next message replaces. */
	bool status;
	/** A loop must not wait for who reads stderr: a line that has no room there is lost. */
	bool at_once;
};

/**
 * If the log level includes @level, print "PROGRAM: LEVEL: TEXT" on stderr by one write(). Control
 * characters in @text become \xNN. On a terminal, "error" and "warning" have colour (terminal.h).
 */
void say_line(struct speaker *speaker, enum log_level level, const char *text);

/**
 * Show "PROGRAM: TEXT" as a status: on a line of the terminal that the next status or message replaces. If
 * @text is longer than the line, it is cut. With --log=error, nothing is shown.
 * Returns false if stderr is not a terminal that can do this (terminal_rewrites()): then nothing is shown,
 * and the caller may print a message by say_line() instead.
 */
bool say_status(struct speaker *speaker, const char *text);

/** Remove the status, if there is one. Call this before another program writes to the terminal. */
void say_status_end(struct speaker *speaker);

/** Print, as warnings, the notes that were not printed yet. */
void say_notes(struct speaker *speaker, const struct notes *notes);

/** Print the message in @err. Returns the exit status, EXIT_OURS. */
int say_failure(struct speaker *speaker, const struct err *err);

/** Write @text to stdout. Returns the exit status: 0, or EXIT_OURS if writing failed. */
int say_result(struct speaker *speaker, struct str text);

/** Read the log level: the number of -v flags; if there is none, the option @log. Returns 0 or -EINVAL. */
int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err);
