// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The termination log, in which Kubernetes expects a container's termination message. */

#include "access/access.h"
#include "base/str.h"

#include <stdbool.h>

/** Kubernetes makes this file, and shows its text with the container's state. Nothing else reads it. */
#define TERMINATION_LOG "/dev/termination-log"

/** The path of the termination log below @root. */
const char *termination_path(struct arena *arena, const struct setting *root);

/**
 * If the file @path exists, append @line. @if_empty: only if the file is still empty.
 * In a probe, in "kubectl exec", and below another distinit, TERMINATION_LOG is not written to. Before the
 * workload's rights are known, no other file than TERMINATION_LOG is written to.
 * Failures are ignored, because they change nothing for the job.
 */
void termination_log(struct access *access, const char *path, struct str line, bool if_empty);

/**
 * Whether this process was started into a running container from outside, and PID 1 there is another distinit.
 */
bool joins_another(void);
