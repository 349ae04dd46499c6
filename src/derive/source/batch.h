// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Shared by managers of batch jobs (LSF, PBS, Grid Engine, Cobalt, LoadLeveler). They start the job
 * script on one of the job's nodes, and a launcher starts the ranks from there. So a process with their
 * variables need not be a rank. It knows the nodes, but not on which of them it runs.
 */

#include "cluster/source.h"

/** A source's `lacks`: no such manager provides this. */
#define BATCH_LACKS "whether distinit runs once on each node: if it does, pass --scope=node"

/**
 * Fill in @out for a job whose hosts are set: the scope, the job, and this node's index, by the host name
 * of the launcher or by this machine's name. @job_id is the job's id, or NULL. @array_index is this job's
 * index in an array of jobs that share the id, or NULL; text that is not a number is ignored.
 */
void batch_place(struct input *in, struct placement *out, const char *job_id, const char *array_index);
