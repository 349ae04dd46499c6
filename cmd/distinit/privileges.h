// SPDX-License-Identifier: Apache-2.0
#pragma once

/** --user, --groups, --cap-drop, --cap-keep and --no-new-privs, in the flow of a session. */

#include "distinit/session.h"

/**
 * Read the options and plan the change. Nothing is changed yet. Without options there is no system
 * call. A plan that fails is an error for the entrypoint; subcommands find it in s->plan_error.
 * Returns 0; -EINVAL, what reading the files of users failed with, or what priv_plan() returns.
 */
int session_privileges_plan(struct session *s, struct err *err);

/** Set HOME, USER and LOGNAME, where --user asks for it. */
void session_set_identity(struct session *s);

/**
 * From here to session_rights_restore(), open files with the workload's rights only. For files that
 * variables name: whoever sets variables is trusted less than the command line's author.
 * Returns 0; a negative errno.
 */
int session_rights_lower(struct session *s, struct err *err);

/**
 * Take all rights back. @r: the result of what was done meanwhile; for -EACCES, @err then also says
 * with whose rights the file was opened.
 * Returns @r, or a negative errno where that fails.
 */
int session_rights_restore(struct session *s, int r, struct err *err);

/**
 * Change the privileges as planned. This cannot be undone.
 * Returns 0; a negative errno, and then this process is fit for nothing but to end.
 */
int session_privileges_drop(struct session *s, struct err *err);
