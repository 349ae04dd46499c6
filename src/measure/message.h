// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the probe of a worker tells 'distrun analyze', over its stdout: a line each, "distrun-probe KIND NAME=NUMBER... node=NAME". */

#include "base/buf.h"

enum message_kind {
	/** It is there, and waits for "go" on stdin. */
	MESSAGE_READY,
	/** It measures. */
	MESSAGE_TICK,
	/** It is done; the last. */
	MESSAGE_RESULT,
	N_MESSAGES,
};

enum message_field {
	/** Which worker, from 0. */
	FIELD_RANK,
	/** The node's. */
	FIELD_CPUS,
	FIELD_MEMORY_TOTAL,
	/** Lines, bytes or samples up to now. */
	FIELD_COUNT,
	/** Since the start of the pipeline. */
	FIELD_AT_MS,
	/** The pipeline ended by itself; then, its exit status, or 128 + N for a signal. */
	FIELD_ENDED,
	FIELD_STATUS,
	/** struct rate. */
	FIELD_RATE,
	FIELD_UNIT,
	FIELD_WHOLE_RUN,
	/** Of CPU time and storage: what was used in how many milliseconds. */
	FIELD_SPAN_MS,
	FIELD_CPU_MS,
	FIELD_READ,
	/** The most that was seen, and whether it is the RSS. */
	FIELD_MEMORY,
	FIELD_BY_RSS,
	/** In how many of the looks it waited for storage. */
	FIELD_LOOKS,
	FIELD_WAITS,
	N_FIELDS,
};

struct message {
	enum message_kind kind;
	/** Name of the node; may be empty. */
	struct str node;
	/** 0 where it is not told. */
	uint64_t field[N_FIELDS];
};

/** Write it, with its line end. */
void message_put(struct buf *out, const struct message *message);

/** Read a line. Returns false where it is something else. `node` is a slice of @line. */
bool message_read(struct str line, struct message *out);

/**
 * Whether @message can be a probe's: what is measured may write such lines itself. No number of it is so large that sums of
 * them overflow, and its unit is one.
 */
bool message_is_plausible(const struct message *message);
