// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Reads srun's messages on their way to our stderr, to find the task that failed first. srun returns the
 * largest status of all tasks. If a task fails, srun ends the others, whose status is then 143 or 137, and
 * the status of the task that failed would be lost.
 */

#include "base/err.h"

/**
 * Read the exit status of a task from @line, a line of srun: "srun: error: n2: task 1: Exited with exit code
 * 3". Returns the status; 128+N if signal N ended the task ("Killed"); 0 if the line reports the end of a
 * task in other words; -1 for any other line.
 */
int relay_report(struct str line);

struct relay_shared;

struct relay {
	/** Memory shared with the relay process; NULL: it is not running. */
	struct relay_shared *shared;
};

/**
 * Start a relay process between us and our stderr. It writes everything at once, and ends when no process
 * has our new stderr open any more. It is not our child and has no terminal, so that it still relays srun's
 * last messages if we are killed.
 * Returns 0; or a negative errno, and nothing has changed.
 */
int relay_start(struct relay *relay, struct err *err);

/**
 * Close stderr, and wait up to two seconds until everything is relayed. Returns the status to exit with: if
 * @status stands for a signal and a task had failed before, that task's status; else @status.
 */
int relay_end(struct relay *relay, int status);
