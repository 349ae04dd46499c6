// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What the parts of init/ share while the workload runs. Nothing here is allocated, and nothing of
 * it ends the process.
 */

#include "base/earliest.h"
#include "init/beside.h"
#include "init/init.h"
#include "init/kernel.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

/** How many of those who were told to end are remembered, so as not to be told twice. */
#define TOLD_MAX 1024

/** Where the workload and we stand with a terminal. */
struct terminal {
	/** One of 0 to 2, our controlling terminal; -1: none of them is. */
	int fd;
	/** Whether our process group was its foreground. */
	bool foreground;
	/**
	 * The workload stays in our process group, since others are in it, too: a script that
	 * started us, the rest of a pipeline. What the terminal sends to the foreground then
	 * reaches the workload without us.
	 */
	bool shared;
};

enum phase {
	PHASE_RUNNING,
	/** The workload was told to end. */
	PHASE_ENDING,
	/** The workload has ended. Those who read our output see its end. */
	PHASE_MOMENT,
	/** What is left was told to end. */
	PHASE_TOLD,
	/** What is left was killed. */
	PHASE_KILLED,
};

struct supervisor {
	struct init_plan plan;
	/** What the workload is called, for messages. */
	const char *name;
	pid_t self;
	pid_t child;
	struct terminal terminal;

	/** Whether the workload has ended, and how, as waitpid() tells it. */
	bool ended;
	int status;
	/** The workload was stopped, and its stop was reported. */
	bool stopped;

	enum phase phase;
	/**
	 * Times on now_ms()'s clock; 0: not set. When the time limit is over, when to kill, when to
	 * look again, when the phase began.
	 */
	uint64_t limit_at;
	uint64_t kill_at;
	uint64_t look_at;
	uint64_t began_at;
	/** The grace period that began, in milliseconds. */
	uint64_t grace_ms;
	/** The signal that ends the wait for what is left; 0: none came. */
	int hurry;
	/** Milliseconds until the next look. */
	uint64_t pause;
	/** The time limit has ended the workload. */
	bool limited;
	/** What is beside has been told that the workload has ended. */
	bool told_beside;
	/** Readable when a signal comes, for what is beside; -1: not to be had. */
	int signal_fd;
	/** A signal could not be forwarded: said once. */
	bool refused;
	uint32_t n_told;
	/** The last: most of it is never touched. */
	pid_t told[TOLD_MAX];
};

/** What to exit with, once the workload has ended. */
INLINE int workload_status(const struct supervisor *in) {
	int status = WIFEXITED(in->status) ? WEXITSTATUS(in->status) : 128 + WTERMSIG(in->status);
	return in->limited ? EXIT_TIME_LIMIT : in->plan.status_as[status];
}

// beside.c

struct beside_loop {
	/** The lowest descriptor from @from on that is to stay open; ~0U: none. */
	unsigned (*kept_from)(const struct beside *beside, unsigned from);
	/** The workload was started. */
	void (*begin)(struct supervisor *in);
	/**
	 * Sleep until a signal comes, something happens beside, or it is @at (0: never). Returns
	 * whether a signal came.
	 */
	bool (*wait_until)(struct supervisor *in, uint64_t at, siginfo_t *info);
	/** Do what is to be done. Returns whether it has to be waited for. */
	bool (*step)(struct supervisor *in);
};

// supervise.c

/** Do what a signal asks for. */
void handle_signal(struct supervisor *in, siginfo_t *info);

// say.c

/**
 * Print one line on stderr if the plan's log wants it. A message is not worth waiting for: where
 * nobody reads, it is lost.
 */
void say(const struct supervisor *in, enum init_log level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** A length of time, as it is said: "90s", "1.5s". */
struct spoken {
	char s[28];
};

struct spoken spoken(uint64_t ms);

// start.c

/**
 * Start the workload, with all signals blocked here and the inherited mask there.
 * Returns its pid; or -1, with the status to exit with in *@status and the sentence in @err.
 */
pid_t start_workload(struct arena *arena, const struct init_plan *plan, const struct terminal *terminal,
		     int *status, struct err *err);

// reap.c

/** Look who has ended or stopped. Sets `ended`; tells terminal.c of a stop. */
void reap(struct supervisor *in);

// terminal.c

/** Look at the terminal before the workload is started. */
struct terminal terminal_look(const struct init_plan *plan);

/** In the child, its signals blocked: take its place in a group, and the foreground. */
void terminal_enter(const struct terminal *terminal);

/**
 * Whether @info is a signal that the terminal has sent to the workload already, or that it sent to
 * us alone.
 */
bool terminal_owns(const struct supervisor *in, const siginfo_t *info);

/** The workload was stopped by @signal. */
void terminal_stopped(struct supervisor *in, int signal);

/** Do what the terminal's @signal means to us: stop, as the whole job does. */
void terminal_obey(const struct supervisor *in, int signal);

/**
 * We were told to continue. Where the workload is a job of its own, hand the foreground over, if it
 * is ours again, and continue all of it.
 * Returns whether that was done; else SIGCONT is forwarded like any signal.
 */
bool terminal_continue(const struct supervisor *in);

/**
 * Take the foreground back from @child, a workload that has ended or has not started. Where
 * somebody else has it, as a shell has once the job was sent behind, it stays there.
 */
void terminal_leave(const struct terminal *terminal, pid_t child);

// ending.c

/** The workload's time is over: tell it to end. */
void ending_by_limit(struct supervisor *in);

/** The workload was told to end: its grace period begins, unless it has one. */
void ending_begin(struct supervisor *in);

/** Do what is due: the time limit, the grace period, what is left. Returns whether all is over. */
bool ending_step(struct supervisor *in);

/** When there is something to do again, on now_ms()'s clock; 0: only when a signal comes. */
uint64_t ending_next(const struct supervisor *in);

// leftovers.c

/**
 * Look after what the workload left behind. Returns whether nobody is left, or nothing can be done
 * about it.
 */
bool leftovers_step(struct supervisor *in);

/** A @signal came after the workload's end: one that asks to end ends the wait. */
void leftovers_hurry(struct supervisor *in, int signal);

// forward.c

/** Forward the signal of @info to the workload. */
void forward(struct supervisor *in, siginfo_t *info);

/** Send @signal to the workload, or to its group. Returns 0 or a negative errno. */
int send_to_workload(const struct supervisor *in, int signal);

/** Continue the workload if it is stopped. */
void continue_workload(struct supervisor *in);

/**
 * Whether @signal was ignored when we were started. So it is in the workload: whoever started us
 * means that it goes on.
 */
bool was_ignored(int signal);

/** With --log=info, say that a @signal went nowhere. */
void say_dropped(const struct supervisor *in, int signal);

// places.c

/**
 * Leave the working directory and the descriptors above 2, which the workload has, but for those of
 * @beside (may be NULL).
 */
void leave_places(const struct beside *beside);
