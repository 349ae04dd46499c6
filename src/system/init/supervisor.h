// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the files of this room share while the workload runs. Nothing here is on the heap. */

#include "base/duration.h"
#include "init/init.h"
#include "init/kernel.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

/** What is known of the process that has a certain pid. */
struct seen {
	/** The low half of its start time. If the pid is used again, the other process has another start time. */
	uint32_t start;
	/** The number of the last look that found it. */
	uint32_t look;
	bool is_known, is_new, is_outside, was_asked;
};

/** The processes that the last look has found, and what is known of all processes that were ever found. */
struct family {
	/** Indexed by pid, below `limit`. A mapping: only its used pages take memory; NULL: not mapped. */
	struct seen *seen;
	pid_t limit;
	/** The `n` processes that the last look has found, at most `limit`: parents before their children. */
	pid_t *found;
	pid_t n;
	/** The number of the last look. */
	uint32_t look;
	/** The process whose children are being listed. */
	pid_t parent;
	/** The smallest `n` of all looks since the killing began. */
	pid_t fewest;
};

/** Lines for the termination log, kept while a restart is possible. */
struct kept_words {
	/** Write them only if the log is still empty. */
	bool if_empty;
	size_t len;
	char text[900];
};

/** Our controlling terminal. */
struct terminal {
	/** A descriptor of it, 0 to 2; -1: none of these is our terminal. */
	int fd;
	/** Whether our process group was in the foreground. */
	bool foreground;
	/**
	 * The workload stays in our process group, because the group has other members: a script that started us,
	 * or the rest of a pipeline. Then the terminal sends its signals to the workload directly.
	 */
	bool shared;
};

enum phase {
	PHASE_RUNNING,
	/** The workload was asked to end. */
	PHASE_ENDING,
	/** The workload has ended. Leftovers that read our output have time to see the end of file. */
	PHASE_MOMENT,
	/** The leftovers were asked to end. */
	PHASE_ASKED,
	/** The leftovers were killed. */
	PHASE_KILLED,
};

/** In place of the sender's pid: the signal came from a terminal. */
#define FROM_TERMINAL (-1)

/** The last request to end that the workload got. */
struct asked_to_end {
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
	/** Stands in for the observer if the plan has none. */
	struct observer nobody;
	/** The workload's name, for messages. */
	const char *name;
	pid_t self;
	/** A signalfd, so that an observer can poll for signals; -1: not open. */
	int signal_fd;

	// Of the start of the workload.

	pid_t child;
	struct terminal terminal;
	/** The workload has ended, with this status from waitpid(). */
	bool ended;
	int status;
	/** The workload is stopped, and waitpid() has already reported it. */
	bool stopped;

	/** The file of the kernel's counter of processes killed for memory, and the counter at the start. */
	const char *kills_file;
	uint32_t kills;
	/** When the workload started, on clock_now_ms()'s clock. */
	uint64_t started_at;
	struct asked_to_end asked;
	/** The signals of ASKS that the workload got from us or the terminal: bit N-1 stands for signal N. */
	uint64_t asked_by;
	/** How the workload ended. */
	struct workload_end end;
	/** Messages that are printed now also go to the termination log. */
	bool last_words;
	/** We have written to the termination log, so append even if it is not empty. */
	bool explained;
	/** Keeps the lines for the termination log while a restart is possible; NULL: write them at once. */
	struct kept_words *kept;

	enum phase phase;
	/**
	 * Times on clock_now_ms()'s clock, or CLOCK_NEVER: when the time limit is reached, when to kill,
	 * when to look for leftovers again, when the phase began.
	 */
	uint64_t limit_at;
	uint64_t kill_at;
	uint64_t look_at;
	uint64_t began_at;
	/** The current grace period, in milliseconds. */
	uint64_t grace_ms;
	/** The signal that ends the wait for leftovers; 0: none came. */
	int hurry;
	/**
	 * The next look comes after `pause` and, because looks may be slow, as long again as the last one
	 * took. In ms.
	 */
	uint64_t pause;
	uint64_t look_ms;
	/** The time limit was reached. */
	bool limited;
	/** The warning that a signal could not be forwarded was printed. It is printed once. */
	bool refused;
	/** Our streams are closed and the working directory is left, so there is no restart. */
	bool left;
	/** How many of our children the last count took for leftovers. */
	uint32_t n_left;
	/** The processes that cannot be killed: "77 (python3)"; empty: none. */
	char stuck[100];
	/** As PID 1: TERM was sent to all processes. */
	bool all_asked;
	struct family family;
};

/** The status to exit with when the workload has ended, before --map-exit. */
INLINE int raw_status(const struct supervisor *in) {
	int status = WIFEXITED(in->status) ? WEXITSTATUS(in->status) : 128 + WTERMSIG(in->status);
	int other = in->limited ? EXIT_TIME_LIMIT : in->plan.observer->status;
	return other ? other : status;
}

/** The status to exit with. */
INLINE int workload_status(const struct supervisor *in) {
	int raw = raw_status(in), as = -1;
	if (raw == 0) {
		as = in->asked_by & signal_bit(SIGTERM) ? in->plan.told_as
		     : in->asked_by			? -1
							: in->plan.early_as;
	}
	return as >= 0 ? as : in->plan.status_as[raw];
}

// observer.c

/** Whether the loop has to wait for the observer's descriptors or deadline, not only for signals. */
bool observer_polls(const struct observer *observer);

/** Sleep until a signal comes, an observer's descriptor is ready, `due_at` is reached, or the time @at. */
void observer_wait_until(struct supervisor *in, uint64_t at);

/** Send EVENT_WAKE to the observer. If the workload has ended, send EVENT_ENDED first, once. */
void observer_wake(struct supervisor *in);

// say.c

/**
 * Print one line on stderr if the plan's log level includes @level. Never blocks: if no process reads stderr,
 * the line is lost.
 */
void say(const struct supervisor *in, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** After the last start: write the lines that were kept for the termination log. */
void say_kept(struct supervisor *in);

// why.c

/** Before the start: read the kernel's counter of processes killed for memory. Paths are in @arena. */
void why_begin(struct supervisor *in, struct arena *arena);

/** Keep the signal of @info, which the workload gets from us or from the terminal, for why_ended(). */
void why_asked(struct supervisor *in, const siginfo_t *info);

/** After the workload's end: find out why it ended, and print and report that. */
void why_ended(struct supervisor *in);

/** How many processes of the workload's cgroup were killed for memory since its start; or OOM_UNKNOWN. */
uint32_t why_oom_kills(const struct supervisor *in);

// tell.c: the lines of the report. If there is no report, these do nothing.

void tell_started(const struct supervisor *in);
/** Report the signal of @info, which is forwarded as @as; 0: it is dropped. */
void tell_signal(const struct supervisor *in, const siginfo_t *info, int as);
void tell_ended(const struct supervisor *in);

// start.c

/**
 * Start the workload. All signals are blocked; the workload gets the inherited mask.
 * Returns its pid; or -1: then *@status is the status to exit with, and @err the message.
 */
pid_t start_workload(const struct supervisor *in, struct arena *arena, int *status, struct err *err);

// reap.c

/**
 * Reap children. If the workload has ended, set `ended`; if it has stopped, call terminal_stopped().
 */
void reap(struct supervisor *in);

// terminal.c

/** Examine the terminal before the workload starts. */
struct terminal terminal_look(const struct init_plan *plan);

/**
 * In the child, with signals blocked: make a process group and take the foreground, unless the group is
 * shared.
 */
void terminal_enter(const struct terminal *terminal);

/**
 * Whether @info is a signal of the terminal that must not be forwarded, because the workload has got it, too, or
 * because it is for us alone.
 */
bool terminal_owns(const struct supervisor *in, const siginfo_t *info);

/** After @signal has stopped the workload: stop, too, or give it the foreground and continue it. */
void terminal_stopped(struct supervisor *in, int signal);

/** Handle @signal from the terminal: if it stops the rest of our group, stop, too. */
void terminal_handle(const struct supervisor *in, int signal);

/**
 * After SIGCONT: if the workload has a process group of its own, give it the foreground (if we have it), and continue
 * its whole group. Returns whether that was done; else SIGCONT is forwarded like any other signal.
 */
bool terminal_continue(const struct supervisor *in);

/**
 * Take the foreground back from @child, a workload that has ended or did not start. If another process group has the
 * foreground by now (a shell that moved the job to the background), leave it there.
 */
void terminal_leave(const struct terminal *terminal, pid_t child);

// ending.c

/** For the time limit or the observer: ask the workload to end, and begin the grace period. */
void ending_by_limit(struct supervisor *in);

/** After the workload was asked to end: begin the grace period, unless one has begun. */
void ending_begin(struct supervisor *in);

/** While the workload runs: if the time limit is reached, or the grace period is over, end it or kill it. */
void ending_step(struct supervisor *in);

// leftovers.c

/**
 * Before a start after which a restart is possible: keep the list of our children, such as a reader of our output that
 * the shell started. They and their children do not count as leftovers. Returns 0 or -ENOMEM.
 */
int leftovers_prepare(struct supervisor *in, struct err *err);

/** After the last step: free the memory. */
void leftovers_done(struct supervisor *in);

/** After a child other than the workload was reaped: look again soon, because its children may be ours now. */
void leftovers_reaped(struct supervisor *in);

/**
 * Handle the leftovers: move to the next phase, and signal them. Returns true if none remain, or if nothing more can be
 * done about them.
 */
bool leftovers_step(struct supervisor *in);

/** Handle @signal after the workload's end: TERM and INT end the wait for leftovers. */
void leftovers_hurry(struct supervisor *in, int signal);

// forward.c

/** Forward the signal of @info to the workload. Returns whether this begins the grace period: it was TERM. */
bool forward(struct supervisor *in, siginfo_t *info);

/**
 * Send @signal to the workload or its process group. If @info is that of a queued signal (sigqueue(3)), the workload gets its
 * value and its original sender, too; NULL: it is not. Returns 0 or a negative errno.
 */
int send_to_workload(const struct supervisor *in, int signal, siginfo_t *info);

/** If the workload is stopped, continue it. */
void continue_workload(struct supervisor *in);

/** With --log=info, print that @signal was dropped. */
void say_dropped(const struct supervisor *in, int signal);

// places.c

/**
 * Leave the working directory before the child is started, because the workload may look at ours. Returns a
 * descriptor by which the child goes back; -1 on failure: then we are still there.
 */
int leave_folder(void);

/**
 * Leave the working directory, and close the descriptors above 2 except those that @observer keeps: the
 * workload has its own copies.
 */
void leave_places(const struct observer *observer);
