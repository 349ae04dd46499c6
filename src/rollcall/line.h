// SPDX-License-Identifier: Apache-2.0
#pragma once

/** One connection of a roll call, once both have said their nonces: frames are sealed, opened and counted. */

#include "rollcall/frame.h"

#include <sys/epoll.h>

/** How many frames of a connection are read before it is the turn of others, clocks and signals. */
#define LINE_TURN 8

struct line {
	int fd;
	/** What we send is sealed with the first, and what we get with the second. */
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

/** Begin on @fd with the keys of this connection. @own: 'm' for a member, 'd' for the coordinator. */
void line_begin(struct line *line, int fd, char own, const struct key *job,
		const unsigned char greeting[GREETING_BYTES], const unsigned char nonce[NONCE_BYTES]);

/**
 * Let @epoll report once that @fd has something to read, or has ended. @how: EPOLL_CTL_ADD, or
 * EPOLL_CTL_MOD to report again what is still there. Returns as epoll_ctl().
 */
int line_watch(int fd, int epoll, int how, epoll_data_t data);

/**
 * Send a frame with one write. @n is at most FACTS_PAYLOAD_MAX. Returns 0; a negative errno: the
 * other side is gone, or does not read.
 */
int line_send(struct line *line, enum frame_type type, const void *payload, size_t n);

/**
 * Open the whole frame of @n bytes at @bytes, where it is. Returns 0 with *@out; -EBADMSG for a
 * wrong tag.
 */
int line_receive(struct line *line, unsigned char *bytes, size_t n, struct frame *out);

/**
 * Take the next frame of at most @max bytes from the connection, into @bytes. An incomplete frame
 * stays in the kernel. @over: no more bytes will come. Returns 0 with *@out; -EAGAIN: it is not
 * complete yet; -ENODATA at the end; -EPROTO: it is no frame, or its tag is wrong; another negative
 * errno: the connection is broken.
 */
int line_take(struct line *line, unsigned char *bytes, size_t max, bool over, struct frame *out);
