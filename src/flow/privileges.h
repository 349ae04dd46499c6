// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The change of privileges, in the course of a flow: planned first, done last; and files opened with fewer rights. */

#include "flow/flow.h"

/**
 * Read what is asked for and plan the change. Nothing is changed yet. Where nothing is asked for, there is no system call.
 * Returns 0; -EINVAL, what reading the files of users failed with, or what priv_plan() returns.
 */
int privileges_plan(struct flow *flow, struct err *err);

/** Set HOME, USER and LOGNAME where a user is asked for. */
void privileges_set_identity(struct flow *flow);

/**
 * From here to rights_of_ours(), open files with the program's rights only: whoever sets a variable is trusted less than
 * whoever writes the command line.
 * Returns 0; a negative errno.
 */
int rights_of_program(struct flow *flow, struct err *err);

/**
 * Take all rights back. @r is the result of what was done meanwhile; for -EACCES, @err then also says with whose rights the
 * file was opened.
 * Returns @r, or a negative errno where that fails.
 */
int rights_of_ours(struct flow *flow, int r, struct err *err);

/**
 * Change the privileges as planned. This cannot be undone.
 * Returns 0; a negative errno, and then this process is fit for nothing but to end.
 */
int privileges_drop(struct flow *flow, struct err *err);
