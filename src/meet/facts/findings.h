// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Compares the promises of managers with the facts of this node. A finding is a broken promise, or something
 * that will break the job. If it depends on a threshold of ours, it is only a hint.
 */

#include "facts/facts.h"

struct finding {
	/** The subject: a fact's name, or "name", "port", "interface", "hca", "plugin". */
	const char *about;
	/** A sentence without a full stop. */
	const char *text;
	bool hint;
	/** The user stated it (--expect), and no manager. */
	bool stated;
	/** The value that was found, and the expected one; each may be NULL. */
	const char *have, *expected;
	/** The variable or file that promises the expected value; NULL: none. */
	const char *source;
};

struct findings {
	struct arena *arena;
	struct finding *at;
	uint32_t n, cap;
};

/** Add @finding to @out. */
void findings_add(struct findings *out, const struct finding *finding);

/** Whether this process, or one that it starts, will listen on the master's port. */
bool findings_is_master(const struct cluster *cluster);

/** Add findings where this node has less than a manager promises, or than a job needs. */
void promises_check(const struct facts_from *from, const struct facts *facts, struct findings *out);

/** Add findings where variables contradict the network devices of this node. No device is opened. */
void fabric_check(const struct facts_from *from, struct findings *out);

/** The NCCL network plugin that the program would load: "libnccl-net.so (1204312 bytes)", without its folder; "none". */
const char *plugin_fact(const struct facts_from *from);

/** Add findings on NCCL's network plugins: missing files, and variables that they need. */
void plugin_check(const struct facts_from *from, struct findings *out);

/** Add a finding if CUDA_VISIBLE_DEVICES hides the GPU of this rank. */
void gpus_check(const struct facts_from *from, const struct facts *facts, struct findings *out);
