// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The steps from the options to the start of the workload. Each may end the run, and report why. */

#include "distinit/session.h"
#include "init/init.h"

/**
 * The second part of command_run(), after the options were read: derive, and execute the workload; if @plan is not NULL,
 * stay as its parent. Returns the exit status. @err has the reason if the workload was not started; else its text is
 * empty.
 */
int run_workload(struct session *s, struct init_plan *plan, struct err *err);

/** Read --map-exit, which also applies to our own statuses, into @plan. Returns 0 or -EINVAL. */
int read_map_exit(struct session *s, struct init_plan *plan, struct err *err);

/** Fill in @plan, which is preset, from the settings. *@wanted: stay as the parent. Returns 0 or -EINVAL. */
int read_init_plan(struct session *s, struct init_plan *plan, bool *wanted, struct err *err);

/** --max-idle-starts, unless it is given. */
#define IDLE_STARTS "3"

/** What --wait, --for and --timeout ask for. */
struct wait_plan {
	/** `wanted`: something is waited for. `all`: for all nodes, in a roll call. `tcp`: for the master's port, not its name. */
	bool wanted, all, tcp;
	uint64_t timeout_ms;
};

/** Read it. @asked: by `distinit wait`. Returns 0 or -EINVAL. */
int wait_read(struct session *s, bool asked, struct wait_plan *out, struct err *err);

/**
 * If --wait is given and there is a master, wait for it. Call session_derive() first. Returns 0 to go on; else the exit
 * status, after printing the reason. If a signal ends the wait, it also ends this process.
 */
int session_wait(struct session *s);

/** Read the level of --check, and --expect (check.c). Returns 0 or -EINVAL. */
int check_options(struct session *s, struct err *err);

/**
 * For explain: look what is there of --expect. Call session_derive() first. Returns 0; -EPERM if the program's rights cannot be
 * taken; or the status to exit with if a signal came.
 */
int session_expect(struct session *s, struct err *err);

/** Append what it has found, for people, and for programs. */
void session_expect_text(struct session *s, struct buf *out);
void session_expect_json(struct session *s, struct json *json);

/**
 * If --check is given, check this node, and print each finding, also to the termination log. Call this after
 * privileges_drop(), and after rollcall_prepare(), so that a failure ends the roll call for all nodes. Returns 0 to go
 * on; else the exit status.
 */
int session_check(struct session *s);

/**
 * --clear (run.c). Call this before each start, when the leftovers of the last start have ended, and before the roll
 * call, because other nodes may start after it. Returns as session_check().
 */
int session_clear(struct session *s);

/** The roll call (rollcall.c): read its options and secret, with our rights. Returns 0; a negative errno. */
int rollcall_prepare(struct session *s, struct err *err);

/** For explain: what a roll call that is asked for would do, within @timeout_ms, or why there would be none. */
const char *rollcall_text(struct session *s, uint64_t timeout_ms);

/**
 * Tell the others in the roll call that this node cannot start. @said: that was printed. Returns false if there
 * is none to come.
 */
bool rollcall_tell(struct session *s, const struct err *why, bool said);

/** The roll call; NULL: none was prepared. */
struct roll_call *rollcall_of(struct session *s);

/** Call it, and derive again if the port was moved. Returns as session_wait(). */
int rollcall_run(struct session *s, uint64_t timeout_ms, const char *longer);

/**
 * --fill (fill.c). After session_derive(), check everything in the command's words, except this node's address. Returns
 * 0; or the error of fill_words().
 */
int session_fill_check(struct session *s, struct err *err);

/** Fill the command's words, after the roll call. Returns 0; or the error of fill_words(). */
int session_fill(struct session *s, struct err *err);

/** Check that "--" precedes the command in the arguments of @name. Returns 0 or -EINVAL. */
int session_check_separated(const struct session *s, const char *name, struct err *err);

/** If --fill is not given, and the command's words have a placeholder, warn. */
void session_fill_forgotten(struct session *s);

/** --together and --max-restarts (together.c). Read their options. Returns 0; -EINVAL. */
int together_options(struct session *s, struct init_plan *plan, struct err *err);

/** Hand the connections that the roll call has kept, if any, to @plan. */
void together_join(struct session *s, struct init_plan *plan);

/** There may be several starts: keep what is before the first one. */
void together_prepare(struct session *s, struct init_plan *plan);

/**
 * The program has ended, with *@status, and may not have started at all because of @err. Bring it back to
 * before its start, if it starts again: all is as it was, and all are there. Returns false if it does not,
 * with *@status and @err.
 */
bool session_again(struct session *s, struct init_plan *plan, int *status, struct err *err);

/** There is nobody else: watch the program of this node alone. Returns 0; the exit status. */
int rollcall_alone(struct session *s);

/** wait.c: print @err, also to the termination log. Returns @status. */
int wait_fail(struct session *s, const struct err *err, int status);

/** wait.c: if there is a termination log, write @err to it, so that Kubernetes shows it. */
void log_termination(struct session *s, const struct err *err);

/** wait.c: die of @signal, which ended a wait. Returns the exit status if that is not possible. */
int wait_die(int signal);

/** Report what was derived. Later lines have this node's rank and job. Call this after privileges_drop(). */
void report_derived(struct session *s);

/** Report that no workload is started, because of @err. Returns @status. */
int report_failed(struct session *s, int status, const struct err *err);
