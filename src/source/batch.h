// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What is alike in managers of batch jobs (LSF, PBS, Grid Engine, Cobalt, LoadLeveler): they start the job script on one of the
 * job's nodes, and a launcher starts the ranks from there. So whoever sees their variables is no rank by that alone, and
 * is told the nodes, but not which of them it is on.
 */

#include "cluster/source.h"

/** What none of them tells: a source's `lacks`. */
#define BATCH_LACKS "what runs on the nodes: pass --scope=node if distinit runs once on each node"

/**
 * Fill in what follows for a job whose hosts are there: the scope, this node's index, found by the launcher's word for this host or
 * by this machine's name, and the job. @job_id is the job's id, or NULL; @array_index is this job's index in an array of jobs that
 * share the id, or NULL, and is left aside where it is no number.
 */
void batch_place(struct input *in, struct placement *out, const char *job_id, const char *array_index);
