// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What managers of batch jobs share (LSF, PBS, Grid Engine, Cobalt, LoadLeveler). They start the
 * job script on one of the job's nodes, and a launcher starts the ranks from there. So a process
 * that sees their variables need not be a rank. It knows the nodes, but not which of them it runs
 * on.
 */

#include "cluster/source.h"

/** What none of them provides: a source's `lacks`. */
#define BATCH_LACKS "what runs on the nodes: pass --scope=node if distinit runs once on each node"

/**
 * Fill in @out for a job whose hosts are set: the scope, the job, and this node's index, found by
 * the host name that the launcher gives or by this machine's name. @job_id is the job's id, or
 * NULL. @array_index is this job's index in an array of jobs that share the id, or NULL. It is
 * ignored if it is not a number.
 */
void batch_place(struct input *in, struct placement *out, const char *job_id, const char *array_index);
