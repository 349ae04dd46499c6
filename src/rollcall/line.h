// SPDX-License-Identifier: Apache-2.0
#pragma once

/** One connection of a roll call, once its key is known: frames are signed, checked and counted. */

#include "rollcall/frame.h"

struct line {
	int fd;
	/** 'm' for a member, 'd' for the coordinator. */
	char own;
	uint8_t version;
	struct key key;
	/** The number of the next frame in each direction. */
	uint32_t sent;
	uint32_t received;
};

/** A frame whose MAC was right. */
struct frame {
	enum frame_type type;
	struct str payload;
};

/** Begin on @fd with the key of this connection. */
void line_begin(struct line *line, int fd, char own, const struct key *job,
		const unsigned char greeting[GREETING_BYTES], const unsigned char nonce[NONCE_BYTES]);

/**
 * Send a frame with one write. @n is at most FACTS_PAYLOAD_MAX. Returns 0; a negative errno: the
 * other side is gone, or does not read.
 */
int line_send(struct line *line, enum frame_type type, const void *payload, size_t n);

/** Check the @n bytes of a whole frame. Returns 0 with *@out; -EBADMSG for a wrong MAC. */
int line_receive(struct line *line, const unsigned char *bytes, size_t n, struct frame *out);
