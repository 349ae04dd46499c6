// SPDX-License-Identifier: Apache-2.0
#pragma once

/** --user, --groups, --cap-drop, --cap-keep and --no-new-privs, in the flow of a session. */

#include "distinit/session.h"

/**
 * Understand the options, and set HOME, USER and LOGNAME, before the directives. Where none is given, nothing is asked of the
 * kernel.
 * Returns 0; -EINVAL, or what reading the files of users failed with.
 */
int session_privileges_read(struct session *s, struct err *err);

/**
 * Change what was asked for; the workload, whatever comes between, runs with it.
 * Returns 0; a negative errno, and then this process is fit for nothing but to end.
 */
int session_privileges(struct session *s, struct err *err);
