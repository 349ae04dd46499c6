// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The lines that a probe prints on stdout for 'distrun analyze': "distrun-probe KIND NAME=NUMBER...
 * node=NAME".
 */

#include "base/buf.h"

enum message_kind {
	/** The probe has started, and waits for "go" on stdin. */
	MESSAGE_READY,
	/** Progress while the probe measures. */
	MESSAGE_TICK,
	/** The result; the last message. */
	MESSAGE_RESULT,
	N_MESSAGES,
};

enum message_field {
	/** The worker's rank, from 0. */
	FIELD_RANK,
	/** The node's CPUs, and its memory in bytes. */
	FIELD_CPUS,
	FIELD_MEMORY_TOTAL,
	/** Lines, bytes or samples so far. */
	FIELD_COUNT,
	/** Milliseconds since the start of the pipeline. */
	FIELD_AT_MS,
	/** 1: the pipeline ended by itself; its exit status, or 128+N for signal N. */
	FIELD_ENDED,
	FIELD_STATUS,
	/** See struct rate. */
	FIELD_RATE,
	FIELD_UNIT,
	FIELD_WHOLE_RUN,
	/** A time span, and the CPU time and bytes read from storage in it. */
	FIELD_SPAN_MS,
	FIELD_CPU_MS,
	FIELD_READ,
	/** The largest memory of all looks, in bytes; 1: it is RSS. */
	FIELD_MEMORY,
	FIELD_BY_RSS,
	/** The number of looks, and of those in which the pipeline waited for storage. */
	FIELD_LOOKS,
	FIELD_WAITS,
	N_FIELDS,
};

struct message {
	enum message_kind kind;
	/** The node's name, which may be empty. */
	struct str node;
	/** Indexed by enum message_field; 0 also if the message lacks the field. */
	uint64_t field[N_FIELDS];
};

/** Append a message, with a line break. */
void message_put(struct buf *out, const struct message *message);

/** Read a line. Returns false if it is not a message. `node` is a slice of @line. */
bool message_read(struct str line, struct message *out);

/**
 * Whether @message can come from a probe: sums of its numbers cannot overflow, and its unit and status are
 * valid. This is checked because the measured pipeline may print such lines, too.
 */
bool message_is_plausible(const struct message *message);
