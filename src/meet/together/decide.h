// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The decisions while the program runs: together_decide() takes an event, changes the state and returns what
 * is to be done, and together.c does it. It makes no system call, prints nothing and reads no clock: the time
 * is an argument. "Settle": wait briefly for reports of earlier deaths, then send END.
 *
 *     coordinator, before it is decided which member was first
 *         ENDED with a failure; own program failed   END; if a process was reported dead before: settle for 0.3 s
 *         ENDED with 0                               the member does not take part any more, and its report is forgotten; no restart is possible any more
 *         DIED                                       stored; with --together=workers: settle
 *         DIED, files are watched; one was written   remembered: a start in which none was written is idle
 *         DIED, the program hangs                    ask all for their progress; settle for 10 s, or until all that are connected have answered
 *         GONE; ENDED, asked to end                  END; while settling: stored, and it counts only if no failure is left then. TERM at a member ends the restarts
 *     member, before that
 *         END                                        end the program, unless it has ended or was asked to end
 *         GONE; ENDED, asked to end                  decide alone that the coordinator was first, and end the program
 *         ENDED                                      the coordinator does not take part any more: go on alone
 *         DIED                                       a request: send the progress of the own program
 *         own program failed; a process died         ENDED; DIED to the coordinator; wait 5 s for END
 *         TERM or INT after a failure of our own     ENDED, asked to end; wait no longer
 *     both, after that
 *         ENDED with 0; ENDED, asked to end          coordinator: that member does not come again, so cancel the restart
 *         any other frame                            ignored; the coordinator waits 2 s for the members to close
 *         TERM or INT, a restart follows             cancel it on this node, and report that in the roll call (`cancel_reason`)
 *         TERM, no restart follows                   dropped, because the program already got one
 *     both, always
 *         DUE                                        settled: END names the earliest death; or stop waiting for the others
 */

#include "together/together.h"

enum together_what {
	/** Our program has started. */
	TOGETHER_STARTED,
	/** Our program has ended: observer.end. */
	TOGETHER_PROGRAM_ENDED,
	/** Frames from connection @line. */
	TOGETHER_FRAME_ENDED,
	TOGETHER_FRAME_END,
	TOGETHER_FRAME_DIED,
	/**
	 * Connection @line has ended, with the errno @error; 0: the other side has closed it, or sent a wrong
	 * frame.
	 */
	TOGETHER_GONE,
	/**
	 * As TOGETHER_GONE, because the other machine does not answer the kernel. @n_silent more do not
	 * answer.
	 */
	TOGETHER_SILENT,
	/** Connection @line had ended before the start. */
	TOGETHER_DEAF,
	/** @signal came. @ignored: it was already ignored when this process was started. */
	TOGETHER_SIGNAL,
	/** TERM was forwarded to the program. */
	TOGETHER_ASKED_TO_END,
	/** A process that our program started has ended: @status, @lived_ms. */
	TOGETHER_WORKER_ENDED,
	/** After DO_DESCRIBE_DEATH or DO_DESCRIBE_PROGRESS: @died is the report. */
	TOGETHER_OWN_DIED,
	/** Our program has made no progress in the time allowed. */
	TOGETHER_OVERDUE,
	/** All events that had come are handled: check times. */
	TOGETHER_DUE,
};

struct together_event {
	enum together_what what;
	uint32_t line;
	struct ended ended;
	struct died died;
	int error;
	uint32_t n_silent;
	int signal;
	bool ignored;
	int status;
	uint64_t lived_ms;
};

/** What is to be done, in this order. */
enum together_do {
	/** Close connection @line. */
	DO_HANG_UP = 1 << 0,
	/** Send @ended as END or ENDED, or @died as DIED, on all connections. */
	DO_SEND_END = 1 << 1,
	DO_SEND_ENDED = 1 << 2,
	DO_SEND_DIED = 1 << 3,
	/** Close all connections. */
	DO_HANG_UP_ALL = 1 << 4,
	/** Begin to watch the processes that the program starts. */
	DO_WATCH = 1 << 5,
	/** Stop watching these, and the program's progress. */
	DO_WATCH_NO_MORE = 1 << 6,
	/** Ask the program to end. */
	DO_END_PROGRAM = 1 << 7,
	/** Print @words; with DO_PRINT_LAST, as the error that is the last message. */
	DO_PRINT = 1 << 8,
	DO_PRINT_LAST = 1 << 9,
	/** Call `report` with @ended. */
	DO_REPORT = 1 << 10,
	/** Describe the death of the worker, or the progress of the program. TOGETHER_OWN_DIED follows. */
	DO_DESCRIBE_DEATH = 1 << 11,
	DO_DESCRIBE_PROGRESS = 1 << 12,
	/** Do not forward the signal to the program. */
	DO_DROP_SIGNAL = 1 << 13,
	/** Print @words to the termination log, too: they say why nothing starts again. */
	DO_PRINT_LOGGED = 1 << 14,
};

struct together_todo {
	/** enum together_do, as bits. The other fields are arguments of these. */
	unsigned what;
	uint32_t line;
	struct ended ended;
	struct died died;
	const char *words;
};

/** The last report of a member: its first process that failed, or the progress of its program. */
struct death {
	/** When that was, on our clock; CLOCK_NEVER: no process has failed. */
	uint64_t at;
	/** As an exit status. */
	uint8_t status;
	/** It is a progress report: no process has failed. */
	bool progress;
	/** The member has reported its progress, asked or not. */
	bool answered;
	char text[DIED_TEXT_MAX + 1];
};

/** Handle @event at @now: change the state, and return what is to be done. */
struct together_todo together_decide(struct together *t, const struct together_event *event, uint64_t now);
