// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the parts of init/ share while the workload runs. None of it is on the heap. */

#include "base/duration.h"
#include "init/init.h"
#include "init/kernel.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

/** What is known of a process, by its number. */
struct seen {
	/** Its start, the low half: another process that has the number later has another start. */
	uint32_t start;
	/** The last look that found it. */
	uint32_t look;
	bool is_known, is_new, is_outside, was_asked;
};

/** The processes that a look has found, and what is known of all that were found. */
struct family {
	/** By number, below `limit`, in a mapping of which only what is used takes memory; NULL: not mapped. */
	struct seen *seen;
	pid_t limit;
	/** What the last look has found, of at most `limit`: parents before their children. */
	pid_t *found;
	pid_t n;
	uint32_t look;
	/** The process whose children are listed. */
	pid_t parent;
	/** How many the look found that found the fewest. */
	pid_t fewest;
};

/** Lines for the termination log. */
struct kept_words {
	bool if_empty;
	size_t len;
	char text[900];
};

/** The terminal, as seen by the workload and us. */
struct terminal {
	/** The descriptor, 0 to 2, of our controlling terminal; -1: none of them. */
	int fd;
	/** Whether our process group was in the foreground. */
	bool foreground;
	/**
	 * The workload stays in our process group, because the group has other members: a script
	 * that started us, or the rest of a pipeline. The terminal's signals for the foreground
	 * then reach the workload without us.
	 */
	bool shared;
};

enum phase {
	PHASE_RUNNING,
	/** The workload was asked to end. */
	PHASE_ENDING,
	/** The workload has ended. Processes that read our output get time to see end of file. */
	PHASE_MOMENT,
	/** The remaining processes were asked to end. */
	PHASE_ASKED,
	/** The remaining processes were killed. */
	PHASE_KILLED,
};

/** A signal came from a terminal. */
#define FROM_TERMINAL (-1)

/** The last request to end that the workload got. */
struct told_to_end {
	/** The signal, and as which it was forwarded; 0: the time limit. */
	int signal;
	int as;
	/** The sender; 0: outside of our PID namespace, or FROM_TERMINAL. */
	pid_t from;
	/** When, on clock_now_ms()'s clock, or CLOCK_NEVER. */
	uint64_t at;
};

struct supervisor {
	// Of the process: set once.

	struct init_plan plan;
	/** The observer if the plan has none. */
	struct observer nobody;
	/** The workload's name, for messages. */
	const char *name;
	pid_t self;
	/** A signalfd, so that an observer can poll for signals; -1: not open. */
	int signal_fd;

	// Of one start of the workload: begin_start() sets them.

	pid_t child;
	struct terminal terminal;
	/** Whether the workload has ended, and its status from waitpid(). */
	bool ended;
	int status;
	/** The workload is stopped, and waitpid() has already reported it. */
	bool stopped;

	/** The kernel's counter of processes killed for memory: its file, and what it was at the start. */
	const char *kills_file;
	uint32_t kills;
	/** When the workload started, on clock_now_ms()'s clock. */
	uint64_t started_at;
	struct told_to_end told;
	/** The signals of ASKS that it got from us or the terminal: bit N-1 stands for signal N. */
	uint64_t told_by;
	/** How the workload ended. While that is printed, it also goes to the termination log. */
	struct workload_end end;
	bool last_words;
	/** That was printed, so the termination log may be ours: it need not be empty for more. */
	bool explained;
	/** What is to go there if the workload is not started again; NULL: it goes there at once. */
	struct kept_words *kept;

	enum phase phase;
	/**
	 * Times on clock_now_ms()'s clock, or CLOCK_NEVER: when the time limit is reached, when to kill,
	 * when to look again, when the phase began.
	 */
	uint64_t limit_at;
	uint64_t kill_at;
	uint64_t look_at;
	uint64_t began_at;
	/** The current grace period, in milliseconds. */
	uint64_t grace_ms;
	/** The signal that ends the wait for leftovers; 0: none came. */
	int hurry;
	/** Milliseconds until the next look, beside as many as the last one took. */
	uint64_t pause;
	uint64_t look_ms;
	/** The time limit was reached. */
	bool limited;
	/** A signal could not be forwarded. This is reported once. */
	bool refused;
	/** Our streams and places are left: there is no other start. */
	bool left;
	/** How many children of ours the last count found that the workload may have left behind. */
	uint32_t n_left;
	/** Those that cannot be killed, "77 (python3)"; empty: all are gone. */
	char stuck[100];
	/** As PID 1: all were asked to end. */
	bool all_asked;
	struct family family;
};

/** The status to exit with, once the workload has ended, before it is mapped. */
INLINE int raw_status(const struct supervisor *in) {
	int status = WIFEXITED(in->status) ? WEXITSTATUS(in->status) : 128 + WTERMSIG(in->status);
	int other = in->limited ? EXIT_TIME_LIMIT : in->plan.observer->status;
	return other ? other : status;
}

/** The status to exit with. */
INLINE int workload_status(const struct supervisor *in) {
	int raw = raw_status(in), as = -1;
	if (raw == 0) {
		as = in->told_by & signal_bit(SIGTERM) ? in->plan.told_as
		     : in->told_by		       ? -1
						       : in->plan.early_as;
	}
	return as >= 0 ? as : in->plan.status_as[raw];
}

// observer.c

/** Whether it has anything to wait for beside signals. */
bool observer_polls(const struct observer *observer);

/** Sleep until a signal comes, something happens beside the workload, or the time @at. */
void observer_wait_until(struct supervisor *in, uint64_t at);

/** Tell the observer that the loop is awake; and once, first, that the workload has ended. */
void observer_wake(struct supervisor *in);

// say.c

/**
 * Print one line on stderr if the plan's log level includes @level; with LOG_ERROR in any case, as
 * an error. It never blocks: if nothing reads stderr, the line is lost.
 */
void say(const struct supervisor *in, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** This was the last start: write what was kept for the termination log. */
void say_kept(struct supervisor *in);

// why.c

/** The workload is about to start: read the kernel's counter. Paths come from @arena. */
void why_begin(struct supervisor *in, struct arena *arena);

/** The workload gets the signal of @info, from us or from the terminal. */
void why_told(struct supervisor *in, const siginfo_t *info);

/** The workload has ended: find out why, and report it. */
void why_ended(struct supervisor *in);

/** How many processes of its cgroup were killed for memory since the start, or OOM_UNKNOWN. */
uint32_t why_oom_kills(const struct supervisor *in);

// tell.c: the lines of the report

/** Without a report they do nothing. */
void tell_started(const struct supervisor *in);
/** The signal of @info came, and is forwarded as @as; 0: it is dropped. */
void tell_signal(const struct supervisor *in, const siginfo_t *info, int as);
void tell_ended(const struct supervisor *in);

// start.c

/**
 * Start the workload. All signals are blocked here; the workload gets the inherited mask.
 * Returns its pid; or -1, with the status to exit with in *@status and the message in @err.
 */
pid_t start_workload(const struct supervisor *in, struct arena *arena, int *status, struct err *err);

// reap.c

/**
 * Reap children. Sets `ended` if the workload has ended, and calls terminal.c if it has stopped.
 */
void reap(struct supervisor *in);

// terminal.c

/** Examine the terminal before the workload starts. */
struct terminal terminal_look(const struct init_plan *plan);

/** In the child, with signals blocked: join its process group and take the foreground. */
void terminal_enter(const struct terminal *terminal);

/**
 * Whether @info is a signal of the terminal that needs no forwarding: the workload already got it,
 * or it is for us alone.
 */
bool terminal_owns(const struct supervisor *in, const siginfo_t *info);

/** The workload was stopped by @signal. */
void terminal_stopped(struct supervisor *in, int signal);

/** Handle @signal from the terminal: stop, like the rest of the job. */
void terminal_obey(const struct supervisor *in, int signal);

/**
 * We were continued. If the workload is a job of its own, give it the foreground (if we have it),
 * and continue its whole process group.
 * Returns whether that was done; else SIGCONT is forwarded like any other signal.
 */
bool terminal_continue(const struct supervisor *in);

/**
 * Take the foreground back from @child, a workload that has ended or did not start. If another
 * process group has it by now (a shell, after the job moved to the background), it keeps it.
 */
void terminal_leave(const struct terminal *terminal, pid_t child);

// ending.c

/** The workload has to end, by a time limit or for the observer: ask it to, and begin the grace period. */
void ending_by_limit(struct supervisor *in);

/** The workload was asked to end: begin the grace period, unless one has begun. */
void ending_begin(struct supervisor *in);

/** While the workload runs: handle what is due, the time limit and the end of the grace period. */
void ending_step(struct supervisor *in);

// leftovers.c

/**
 * Before a start after which the workload may start again: note our children, such as the shell's process that reads our
 * output. They and their children are nobody's leftovers. Returns 0; -ENOMEM.
 */
int leftovers_prepare(struct supervisor *in, struct err *err);

/** After a start: give the memory back. */
void leftovers_done(struct supervisor *in);

/** A child that is not the workload was reaped: its children may be ours now. */
void leftovers_reaped(struct supervisor *in);

/**
 * Handle the workload's leftovers. Returns whether none remain, or nothing more can be done about
 * them.
 */
bool leftovers_step(struct supervisor *in);

/** @signal came after the workload's end: TERM and INT end the wait for leftovers. */
void leftovers_hurry(struct supervisor *in, int signal);

// forward.c

/** Forward the signal of @info to the workload. Returns whether it asks the workload to end. */
bool forward(struct supervisor *in, siginfo_t *info);

/** Send @signal to the workload or its process group. Returns 0 or a negative errno. */
int send_to_workload(const struct supervisor *in, int signal);

/** Continue the workload if it is stopped. */
void continue_workload(struct supervisor *in);

/** With --log=info, report that @signal was dropped. */
void say_dropped(const struct supervisor *in, int signal);

// places.c

/**
 * Leave the working directory first: the workload may inspect ours. Returns a descriptor by which it
 * goes back; -1 on failure: then we are still there.
 */
int leave_folder(void);

/**
 * Leave the working directory, and close the descriptors above 2 except those that @observer keeps. The
 * workload has its own copies.
 */
void leave_places(const struct observer *observer);
