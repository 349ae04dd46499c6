// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The termination log, in which Kubernetes expects a container's last words. */

#include "access/access.h"
#include "base/str.h"

#include <stdbool.h>

/** Kubernetes makes this file, and shows it with the container's state. Only it reads the file. */
#define TERMINATION_LOG "/dev/termination-log"

/** Where it is below @root. */
const char *termination_path(struct arena *arena, const struct setting *root);

/**
 * Append @line to the file @path, if it exists. @if_empty: only if it is still empty.
 * TERMINATION_LOG gets no words of a probe, of "kubectl exec", or of a distinit below another.
 * Before the program's rights are known, only TERMINATION_LOG itself is written to.
 * A failure changes nothing for the job, so there is none.
 */
void termination_log(struct access *access, const char *path, struct str line, bool if_empty);

/** Whether we came into a running container from outside, and another distinit is its first process. */
bool joins_another(void);
