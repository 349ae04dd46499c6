// SPDX-License-Identifier: Apache-2.0
#pragma once

/** --user, --groups, --cap-drop, --cap-keep and --no-new-privs, in the flow of a session. */

#include "distinit/session.h"

/**
 * Understand the options, and plan what to do about them. Nothing is changed; where none is given, nothing is asked of the kernel.
 * Where it cannot be done, that is an error of the entrypoint; subcommands, which do not do it, have it in s->plan_error.
 * Returns 0; -EINVAL, what reading the files of users failed with, or what priv_plan() returns.
 */
int session_privileges_plan(struct session *s, struct err *err);

/** Set HOME, USER and LOGNAME, where --user asks for it. */
void session_set_identity(struct session *s);

/**
 * Open files with the rights of the workload's user alone, until session_rights_restore(). For what variables name: whoever sets
 * them may be less than the image's author, whose command line names files that are opened with all rights.
 * Returns 0; a negative errno.
 */
int session_rights_lower(struct session *s, struct err *err);

/**
 * Have all rights again. @r: what came of it meanwhile; with -EACCES, @err then says as whom the file was opened.
 * Returns @r, or a negative errno where that fails.
 */
int session_rights_restore(struct session *s, int r, struct err *err);

/**
 * Give up what was asked for, for good; the workload, whatever comes between, runs with what is left.
 * Returns 0; a negative errno, and then this process is fit for nothing but to end.
 */
int session_privileges_drop(struct session *s, struct err *err);
