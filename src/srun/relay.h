// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Reads srun's messages on their way to our stderr, to learn which task failed first. srun returns
 * the largest status. A task that srun ended because another one had failed has status 143 or 137,
 * so the cause would be lost.
 */

#include "base/err.h"

/**
 * The exit status of a task that @line, a line from srun, reports ("srun: error: n2: task 1: Exited
 * with exit code 3"), 128+N if signal N ended it ("Killed"); 0 if it reports an end in words that
 * we do not know; -1 for any other line.
 */
int relay_report(struct str line);

struct relay_shared;

struct relay {
	/** NULL: not started. */
	struct relay_shared *shared;
};

/**
 * Put a process between us and our stderr. It relays everything as it comes, and ends when no
 * process has the stream open any more. It is not our child, has no terminal, and does not depend
 * on us: if we are killed, srun's last messages are still relayed.
 * Returns 0; or a negative errno with everything unchanged.
 */
int relay_start(struct relay *relay, struct err *err);

/**
 * Close stderr and wait until everything was relayed, at most two seconds. Returns the status to
 * exit with: @status, unless it stands for a signal and a task had failed by itself before; then
 * that task's status.
 */
int relay_end(struct relay *relay, int status);
