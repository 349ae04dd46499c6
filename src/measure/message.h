// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A probe's lines on stdout, for 'distrun analyze': "distrun-probe KIND NAME=NUMBER... node=NAME". */

#include "base/buf.h"

enum message_kind {
	/** The probe runs, and waits for "go" on stdin. */
	MESSAGE_READY,
	/** Progress while it measures. */
	MESSAGE_TICK,
	/** The result; the last message. */
	MESSAGE_RESULT,
	N_MESSAGES,
};

enum message_field {
	/** The worker's rank, from 0. */
	FIELD_RANK,
	/** CPUs and memory of the node. */
	FIELD_CPUS,
	FIELD_MEMORY_TOTAL,
	/** Lines, bytes or samples so far. */
	FIELD_COUNT,
	/** Milliseconds since the start of the pipeline. */
	FIELD_AT_MS,
	/** Whether the pipeline ended by itself; its exit status, or 128+N for signal N. */
	FIELD_ENDED,
	FIELD_STATUS,
	/** See struct rate. */
	FIELD_RATE,
	FIELD_UNIT,
	FIELD_WHOLE_RUN,
	/** CPU time and bytes read from storage, and the time span in which they were used. */
	FIELD_SPAN_MS,
	FIELD_CPU_MS,
	FIELD_READ,
	/** The most memory that was seen, and whether it is the RSS. */
	FIELD_MEMORY,
	FIELD_BY_RSS,
	/** The number of looks, and in how many of them it waited for storage. */
	FIELD_LOOKS,
	FIELD_WAITS,
	N_FIELDS,
};

struct message {
	enum message_kind kind;
	/** The node's name; may be empty. */
	struct str node;
	/** 0 if the message does not have it. */
	uint64_t field[N_FIELDS];
};

/** Write a message, with a newline. */
void message_put(struct buf *out, const struct message *message);

/** Read a line. Returns false if it is not a message. `node` is a slice of @line. */
bool message_read(struct str line, struct message *out);

/**
 * Whether @message can come from a probe: the measured pipeline may write such lines, too. Checks
 * that sums of its numbers cannot overflow, and that its unit and status are valid.
 */
bool message_is_plausible(const struct message *message);
