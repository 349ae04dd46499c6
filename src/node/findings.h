// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Compares what was promised to this node with its facts. A finding is a broken promise, or
 * something that will break the job. Whatever depends on a threshold is only a hint.
 */

#include "node/facts.h"

struct finding {
	/** What it is about: a fact's name, or "name", "port", "interface", "hca", "plugin". */
	const char *about;
	/** A sentence: no full stop. */
	const char *text;
	bool hint;
	/** What was found, expected, and which variable or file promises it; each may be NULL. */
	const char *have, *expected, *source;
};

struct findings {
	struct arena *arena;
	struct finding *at;
	uint32_t n, cap;
};

/** Add one. */
void findings_add(struct findings *out, const struct finding *finding);

/** Whether this process, or one that it starts, will listen on the master's port. */
bool findings_is_master(const struct cluster *cluster);

/** Add what is less than was promised. */
void findings_of(const struct facts_from *from, const struct facts *facts, struct findings *out);

/** Add where variables contradict the network devices of this node. No device is opened. */
void fabric_check(const struct facts_from *from, struct findings *out);

/** Add what NCCL's plugins for networks lack, and the files that belong to them. */
void plugin_check(const struct facts_from *from, struct findings *out);

/** Add where CUDA_VISIBLE_DEVICES hides the GPU of this rank. */
void gpus_check(const struct facts_from *from, const struct facts *facts, struct findings *out);
