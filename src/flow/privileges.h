// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The change of privileges during a flow: planned first, made last. Also opens files with fewer
 * rights.
 */

#include "flow/flow.h"

/**
 * Read the requested change and plan it. Nothing changes yet. If no change is requested, there is
 * no system call.
 * Returns 0; -EINVAL, the error of reading the user files, or the result of priv_plan().
 */
int privileges_plan(struct flow *flow, struct err *err);

/** Set HOME, USER and LOGNAME if a user is requested. */
void privileges_set_identity(struct flow *flow);

/**
 * From here until rights_restore_ours(), open files only with the rights of the program: the person who
 * sets a variable is trusted less than the person who writes the command line.
 * Returns 0; a negative errno.
 */
int rights_lower_to_program(struct flow *flow, struct err *err);

/**
 * Restore all rights. @r is the result of the work done meanwhile. For -EACCES, @err then also says
 * with whose rights the file was opened.
 * Returns @r, or a negative errno if restoring fails.
 */
int rights_restore_ours(struct flow *flow, int r, struct err *err);

/**
 * Change the privileges as planned. This cannot be undone.
 * Returns 0; a negative errno, and then this process must end.
 */
int privileges_drop(struct flow *flow, struct err *err);
