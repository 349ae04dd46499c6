// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What srun says, read on its way to our stderr: which task failed first. srun returns the largest status, and a task that it ended because another
 * one had failed has 143 or 137: the cause would be lost.
 */

#include "base/err.h"

/**
 * The exit status that @line, one of srun's, reports of a task ("srun: error: n2: task 1: Exited with exit code 3"); 0 where it reports a task that
 * a signal ended; -1 where it is any other line.
 */
int relay_report(struct str line);

struct relay_shared;

struct relay {
	/** NULL: there is none. */
	struct relay_shared *shared;
};

/**
 * Put a process of its own between our stderr and what it was: it hands all on as it comes, and ends when nobody has it open any more. It is no child
 * of ours, has no terminal, and needs nothing of us: where we are killed, srun's last words are still handed on.
 * Returns 0; or a negative errno with everything as it was.
 */
int relay_start(struct relay *relay, struct err *err);

/**
 * Close stderr, wait until all of it was handed on (at most two seconds), and return the status to exit with: where @status is that of somebody whom a
 * signal ended, and a task had failed by itself before, that task's.
 */
int relay_end(struct relay *relay, int status);
