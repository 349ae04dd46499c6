// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The coordinator's connections: accepts them, authenticates them, turns their frames into events for
 * decide.c, closes them.
 */

#include "rollcall/rollcall.h"
#include "rollcall/unproved.h"

#include "base/clock.h"
#include "net/listen.h"

/**
 * A connection. Before authentication only the address and the nonce are stored. The bytes of an incomplete
 * frame stay in the kernel.
 */
struct guest {
	/**
	 * Memory for the texts of its HELLO, or NULL. If the struct is used for another connection, that gets
	 * the memory, too.
	 */
	char *rooms[2];
	enum guest_state {
		/** Closed: the struct is free. */
		GUEST_FREE,
		/** It has not proved yet that it has the job's key. */
		GUEST_UNPROVED,
		/** It has proved that, but not sent HELLO yet. */
		GUEST_PROVED,
		/** It has sent HELLO. */
		GUEST_PRESENT,
		/**
		 * It has sent HELLO with a rank that is not below our size: it counts more members than we
		 * do.
		 */
		GUEST_BEYOND,
	} state;
	/** Links in the list of its state. PRESENT and BEYOND share a list. */
	struct guest *next;
	struct guest *previous;
	/** When it entered its state. */
	uint64_t since;
	struct address peer;
	/** UNPROVED: the counter of its address. */
	struct sender *sender;
	/** The greeting that was sent to it. */
	unsigned char greeting[GREETING_BYTES];
	/** Its descriptor and, from PROVED on, its keys. */
	struct line line;

	/** NO was sent to it. */
	bool refused;

	// For decide.c.

	/**
	 * The number of its answers (FACTS) that are awaited. While there are some, its frames may be long.
	 */
	uint32_t asked;
	/** Its HELLO was accepted, so its end is an event for decide.c. */
	bool counted;
	/** It has sent HEARD: it has read GO. */
	bool heard;

	// From its HELLO.

	uint32_t rank;
	uint32_t size;
	uint32_t starts;
	uint64_t incarnation;
	/** Its clock minus ours. */
	int64_t clock_ms;
	struct str host;
	struct str node;
	uint64_t digest[N_FACT_GROUPS];
};

struct guest_list {
	struct guest *first;
	struct guest *last;
};

/** Strangers from at most so many addresses are counted. */
#define STRANGERS_MAX 64

/** The look-ups of absent.c. */
struct looked {
	struct lookups child;
	/** The answers that have come, in the order of the names. */
	uint32_t n;
	struct lookup_answer at[LOOKUPS_MAX];
};

struct roll;

struct guests {
	const struct roll_call *call;
	/** Where guest_close() reports the end of a connection. */
	struct roll *roll;
	/** The memory of guests. It grows with the number of connections at one time, whatever they send. */
	struct arena pool;
	int epoll;
	uint16_t port;
	/** The time of the event that is being handled. */
	uint64_t now;
	struct greeting greeting;
	/** The look-ups of absent.c. */
	const struct looked *looked;
	/** The look-ups of the master's names. */
	const struct lookups *comparing;

	/** The connections in state UNPROVED; how many there are and may be; their senders. */
	struct guest_list unproved;
	uint32_t n_unproved;
	uint32_t max_unproved;
	struct unproved senders;
	/**
	 * The connections in state PROVED; and those that have sent HELLO. How many there are of both and may
	 * be.
	 */
	struct guest_list proved;
	struct guest_list known;
	uint32_t n_members;
	uint32_t max_members;
	/** Free structs, linked by `next`. */
	struct guest *free;

	struct stranger strangers[STRANGERS_MAX];
	uint32_t n_strangers;
};

/** Why a connection is closed. */
enum close_reason {
	/**
	 * The other side has closed it, or all was sent. Closed without a reset: the last frame may still be
	 * in transit.
	 */
	CLOSE_DONE = 1,
	/** The other side has closed it before it sent a byte. Counted as a stranger. */
	CLOSE_SILENT,
	/** The other side has reset it. */
	CLOSE_RESET,
	/** Evicted, not reading, or with BYE: closed with a reset. It may reconnect. */
	CLOSE_ASIDE,
	/** It is no member: CLOSE_STRANGER plus enum stranger_as. Counted as a stranger. */
	CLOSE_STRANGER,
};

/** The state of reading from one guest, until its bytes are used up. */
struct hearing {
	/** The other side has closed its direction. */
	bool over;
	/** The number of frames that were read. */
	int n;
	/** The bytes of the last frame, to which the event points. */
	unsigned char bytes[FRAME_MAX];
};

struct coordinator_event;

/** Begin. `call` is already set. */
void guests_begin(struct guests *g);

/**
 * Accept the connections that wait at @listener, and send them the greeting. @seconds: the time until the
 * deadline.
 */
void guests_accept(struct guests *g, int listener, uint32_t seconds);
/** Send the greeting to the new connection @fd. Returns its guest, which is already closed if that failed. */
struct guest *guest_arrive(struct guests *g, int fd, const struct address *peer);
/**
 * The connection to evict if there are too many: the oldest of the address that has the most; among such
 * addresses, preferably one that belongs to no listed host. NULL: there is none.
 */
struct guest *guests_to_evict(const struct guests *g);
/**
 * Read the next frame of @guest into @hearing. Returns whether there is one, with *@event. After LINE_TURN
 * frames, returns false and makes epoll report the rest. If the connection has ended or is no member's,
 * closes it.
 */
bool guest_hear(struct guests *g, struct guest *guest, struct hearing *hearing,
		struct coordinator_event *event);
/**
 * Report the end of @guest to decide.c, and close it. Does nothing if it is closed. @reason: enum
 * close_reason.
 */
void guest_close(struct guests *g, struct guest *guest, unsigned reason);
/**
 * Close the connections that have not authenticated, or not sent HELLO, in time. Returns when the next one is
 * due.
 */
uint64_t guests_expire(struct guests *g);
/** Close all connections of @list. */
void guests_close(struct guests *g, const struct guest_list *list, enum close_reason reason);
/** The name of @guest for messages. */
struct str guest_name(const struct guest *guest);
/** Send a frame to all connections that have sent HELLO. If a connection does not take it, close it. */
void guests_send(struct guests *g, enum frame_type type, const void *payload, size_t n);
/** Send NO to @guest, unless it has got one. */
void guest_refuse(struct guest *guest, const struct no *no);
