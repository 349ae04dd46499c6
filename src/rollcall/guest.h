// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The coordinator's connections: who comes, what they say, which rank is whose, who goes. */

#include "rollcall/rollcall.h"
#include "rollcall/unproved.h"

#include "base/clock.h"
#include "net/listen.h"

/**
 * A connection. Nothing is kept of one that has not proved itself but who it is and what it was sent.
 * What came of a frame that is not complete stays in the kernel.
 */
struct guest {
	/** Memory for its texts, or NULL. It stays here when another guest gets this struct. */
	char *rooms[2];
	enum guest_state {
		/** It is closed, and free for another. */
		GUEST_FREE,
		/** It has not proved that it knows the job's key. */
		GUEST_UNPROVED,
		/** It has, but it has not said HELLO yet. */
		GUEST_PROVED,
		/** It has its seat. */
		GUEST_PRESENT,
		/** Its rank is beyond our size: it counts more members than we. */
		GUEST_BEYOND,
	} state;
	/** Links in the list of its state. Those that said HELLO are in one. */
	struct guest *next;
	struct guest *previous;
	/** When it came to its state. */
	uint64_t since;
	struct address peer;
	/** Its address, while it has not proved itself. */
	struct sender *sender;
	/** The greeting that it got. */
	unsigned char greeting[GREETING_BYTES];
	/** Its descriptor and, once it has proved itself, its keys. */
	struct line line;

	/** The answers that are expected from it (TELL): they may be long. */
	uint32_t asked;
	/** It has got NO. */
	bool refused;
	/** It has said that it read GO. */
	bool heard;

	/** From its HELLO. */
	uint32_t rank;
	uint32_t size;
	uint32_t starts;
	uint64_t incarnation;
	int64_t clock_ms;
	/** Its name for messages. */
	struct str host;
	struct str node;
	uint64_t digest[N_FACT_GROUPS];
};

struct guest_list {
	struct guest *first;
	struct guest *last;
};

/** A rank. */
struct seat {
	struct guest *guest;
	/** The process that lost the seat to a newer one. If it comes again, both are alive. */
	uint64_t replaced;
	/** When its guest left; 0: it never came. */
	uint64_t gone;
	/** It has got NO. */
	bool refused;
};

/** The most strangers that are remembered, by address. */
#define STRANGERS_MAX 64

/** Where nothing tells two jobs apart, nobody starts before this time. */
#define NAMELESS_MS 1000

/** The first absentees that were looked up. */
struct looked {
	struct lookups child;
	/** In their order, as they come. */
	uint32_t n;
	struct lookup_answer at[LOOKUPS_MAX];
};

struct guests {
	const struct roll_call *call;
	/** The memory of guests: it grows with the most that are here at one time, whatever they send. */
	struct arena pool;
	int epoll;
	uint16_t port;
	/** When the calling began, and the time of what is handled now. */
	uint64_t started;
	uint64_t now;
	struct greeting greeting;
	/** Of absent.c. */
	const struct looked *looked;
	/** The look-ups of agree.c. */
	const struct lookups *comparing;

	/** Those that have not proved themselves, and how many may be. */
	struct guest_list unproved;
	uint32_t n_unproved;
	uint32_t max_unproved;
	struct unproved senders;
	/** Those that have, and how many may be: without HELLO, and with it. */
	struct guest_list proved;
	struct guest_list known;
	uint32_t n_members;
	uint32_t max_members;
	struct guest *free;

	/** By rank. Our own stays empty. */
	struct seat *seats;
	/** Members that are here, with us. */
	uint32_t present;
	/** Guests that count another number of members than we. */
	uint32_t others;
	/** Incremented when a member joins or leaves. */
	uint32_t changes;
	/** As in roll_end. */
	uint32_t restarts;
	uint32_t last;
	uint64_t last_ms;
	/** Earliest start: lets a duplicate rank reconnect, or members of another job show themselves. */
	uint64_t hold;
	/** Two processes say the rank of the first. */
	struct guest *duplicate[2];
	/** Members of another job came: nobody can tell them from ours. */
	bool mixed;

	struct stranger strangers[STRANGERS_MAX];
	uint32_t n_strangers;

	/** GO is sent. Those that left without a word that they read it: how many, and the first names. */
	bool released;
	uint32_t n_deaf;
	struct buf deaf;
};

/** Why a connection is closed. */
enum parting {
	/** It has closed, or all is said: without a reset, as what was sent may still be on its way. */
	PART_OVER = 1,
	/** The same before it said a word: it is remembered. */
	PART_SILENT,
	/** It was reset. */
	PART_RESET,
	/** It has to make room, does not read, or ends. It is reset, and may come again. */
	PART_ASIDE,
	/** It is no member: the first of enum stranger_as. */
	PART_STRANGER,
};

/** What a guest says that is not for guest.c to answer. */
enum said {
	SAID_NOTHING,
	/** It has its seat, and gives up in @left_ms. If it is not @able, @text says why. */
	SAID_HELLO,
	/** @text are its facts. */
	SAID_FACTS,
};

/** What is read of a guest in one go. */
struct hearing {
	/** It has closed its side. */
	bool over;
	enum able able;
	uint32_t left_ms;
	struct str text;
	/** Frames that were read, and the bytes of the last. */
	int n;
	unsigned char bytes[FRAME_MAX];
};

/** Begin, with a seat for each rank. Other fields are set before. */
void guests_begin(struct guests *g);

/** Accept all that wait at @listener, and greet them; @seconds are left. */
void guests_accept(struct guests *g, int listener, uint32_t seconds);
/** Greet the new connection @fd. Returns its guest, which may be closed already. */
struct guest *guest_arrive(struct guests *g, int fd, const struct address *peer);
/** Whose place another gets if there is none: the oldest from the address that has the most; among such, one that no listed host has. */
struct guest *guests_oldest(const struct guests *g);
/**
 * Read what @guest sent, until it says something, or LINE_TURN frames: more wake us again. It may be
 * closed by that.
 */
enum said guest_hear(struct guests *g, struct guest *guest, struct hearing *hearing);
void guest_close(struct guests *g, struct guest *guest, unsigned parting);
/** Close those that have not proved themselves, or not said HELLO, in time. Returns when the next has to be. */
uint64_t guests_expire(struct guests *g);
/** Close all of @list. */
void guests_close(struct guests *g, const struct guest_list *list, enum parting parting);
/** The name of @guest for messages. */
struct str guest_name(const struct guest *guest);
/** Send a frame to all that have said HELLO. Those that do not take it are closed. */
void guests_send(struct guests *g, enum frame_type type, const void *payload, size_t n);
/** Tell @guest why nobody starts, unless it has got a NO. */
void guest_refuse(struct guests *g, struct guest *guest, const struct no *no);
/** Warn of those that have not said that they read GO. */
void guests_report_deaf(struct guests *g);
