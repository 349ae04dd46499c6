// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The steps from the options to the start of the program: what stops it, what is reported. */

#include "distinit/session.h"
#include "init/init.h"

/**
 * The second part of command_run(), once options are read: derive, and become the arguments of the
 * session's settings; with a @plan, stay as their parent. Returns the exit status. A failure is in
 * @err, which is otherwise empty.
 */
int run_workload(struct session *s, struct init_plan *plan, struct err *err);

/** Read --map-exit, which holds for our own statuses, too, into @plan. Returns 0; -EINVAL. */
int read_map_exit(struct session *s, struct init_plan *plan, struct err *err);

/** Make the plan of --init, which is preset, from the settings; *@wanted: stay. Returns 0; -EINVAL. */
int read_init_plan(struct session *s, struct init_plan *plan, bool *wanted, struct err *err);

/**
 * Wait for the master, if --wait is given and there is a master to wait for. Call session_derive()
 * first. Returns 0 to go on; otherwise the exit status, after printing the reason. A signal that
 * ends the wait also ends this process.
 */
int session_wait(struct session *s);

/** --check (check.c). Read its level. Returns 0; -EINVAL. */
int check_options(struct session *s, struct err *err);

/**
 * Check this node, if --check is given: print each finding, also to the termination log. For after
 * privileges_drop() and rollcall_prepare(), as a roll call ends then for all. Returns 0 to go on;
 * otherwise the exit status.
 */
int session_check(struct session *s);

/**
 * --clear (run.c), for before each start, with all that the last one left behind gone, and before the roll call: once
 * all are there, others may have started. Returns as session_check().
 */
int session_clear(struct session *s);

/** The roll call (rollcall.c): read its options and secret, with our rights. Returns 0; a negative errno. */
int rollcall_prepare(struct session *s, struct err *err);

/**
 * Tell the others in the roll call that this node cannot start. @said: that was printed. Returns false if there
 * is none to come.
 */
bool rollcall_tell(struct session *s, const struct err *why, bool said);

/** All were to start again, and we do not because of @why: tell the others. */
void rollcall_quit(struct session *s, const char *why);

/** Call it, and derive again if the port was moved. Returns as session_wait(). */
int rollcall_run(struct session *s, uint64_t timeout_ms, const char *longer);

/**
 * --fill (fill.c). Check the command's words after session_derive(): whatever can be wrong but this
 * node's address. Returns 0; the error of fill_words().
 */
int session_fill_check(struct session *s, struct err *err);

/** Fill them, after the roll call. Returns likewise. */
int session_fill(struct session *s, struct err *err);

/** Check that in the arguments of @name a command comes after "--". Returns 0; -EINVAL. */
int session_check_separated(const struct session *s, const char *name, struct err *err);

/** Add a note if --fill is not given, but the words look as if it was meant. */
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
bool together_again(struct session *s, struct init_plan *plan, int *status, struct err *err);

/** There is nobody else: watch the program of this node alone. Returns 0; the exit status. */
int rollcall_alone(struct session *s);

/** wait.c: print @err, also to the termination log. Returns @status. */
int wait_fail(struct session *s, const struct err *err, int status);

/** wait.c: write @err to the termination log, if there is one: Kubernetes shows it. */
void log_termination(struct session *s, const struct err *err);

/** wait.c: die of @signal, which ended a wait. Returns the exit status if that is not possible. */
int wait_die(int signal);

/** Report what was derived; later lines say who we are. Call it after privileges_drop(). */
void report_derived(struct session *s);

/** Report that no program is started, because of @err. Returns @status. */
int report_failed(struct session *s, int status, const struct err *err);
