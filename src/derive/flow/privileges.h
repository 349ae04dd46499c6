// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The change of privileges during a flow: planned first, made last. */

#include "flow/flow.h"

/**
 * Read the requested change and plan it. Nothing changes yet. From here on, flow->access opens
 * files with the rights of their origin; before, it opens only files that the command line names. If no
 * change is requested, there is no system call. A second call does nothing. Returns 0; -EINVAL,
 * the error of reading the user files, or the result of priv_plan().
 */
int privileges_plan(struct flow *flow, struct err *err);

/** Set HOME, USER and LOGNAME if a user is requested. */
void privileges_set_identity(struct flow *flow);

/** Change the privileges as planned, for good. Returns 0; a negative errno: then this process must end. */
int privileges_drop(struct flow *flow, struct err *err);
