// SPDX-License-Identifier: Apache-2.0
#pragma once

/** One connection of a roll call, after both sides have sent their nonces: seals, opens and counts frames. */

#include "rollcall/frame.h"

#include <sys/epoll.h>

/**
 * Read at most so many frames of a connection before other connections, deadlines and signals get their turn.
 */
#define LINE_TURN 8

struct line {
	int fd;
	/** The keys that seal the frames that we send and receive. */
	unsigned char send_key[SEAL_BYTES];
	unsigned char receive_key[SEAL_BYTES];
	/** The number of the next frame in each direction. */
	uint32_t sent;
	uint32_t received;
};

/** A frame whose tag was right. */
struct frame {
	enum frame_type type;
	struct str payload;
};

/**
 * Make *@line of @fd, and derive the keys of this connection. @own: 'm' for a member, 'd' for the
 * coordinator.
 */
void line_begin(struct line *line, int fd, char own, const struct key *job,
		const unsigned char greeting[GREETING_BYTES], const unsigned char nonce[NONCE_BYTES]);

/**
 * Make @epoll report once that @fd is readable or closed by the other side. @how: EPOLL_CTL_ADD, or
 * EPOLL_CTL_MOD to report again bytes that were not read. Returns as epoll_ctl().
 */
int line_watch(int fd, int epoll, int how, epoll_data_t data);

/**
 * Send a frame with one write. @n is at most FACTS_PAYLOAD_MAX. Returns 0; a negative errno if the other side
 * has closed the connection or does not read.
 */
int line_send(struct line *line, enum frame_type type, const void *payload, size_t n);

/**
 * Open the complete frame of @n bytes at @bytes, in place. Returns 0 with *@out; -EBADMSG if its tag is
 * wrong.
 */
int line_receive(struct line *line, unsigned char *bytes, size_t n, struct frame *out);

/**
 * Read the next frame, of at most @max bytes, from the connection into @bytes. An incomplete frame stays in
 * the kernel. @over: the other side sends no more bytes. Returns 0 with *@out; -EAGAIN: the frame is not
 * complete yet; -ENODATA at the end; -EPROTO: the bytes are not a frame, or its tag is wrong; another
 * negative errno: the connection is broken.
 */
int line_take(struct line *line, unsigned char *bytes, size_t max, bool over, struct frame *out);
