// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The coordinator's state, for its own files: coordinator.c, guest.c, absent.c, agree.c. */

#include "rollcall/rollcall.h"

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
		/** Its rank is beyond our size: it sees another cluster. */
		GUEST_BEYOND,
	} state;
	/** Links in the list of its state. Those that said HELLO are in one. */
	struct guest *next;
	struct guest *previous;
	/** When it came to its state. */
	uint64_t since;
	struct address peer;
	/** Its address among those in unproved.c. */
	struct sender *sender;
	/** The greeting that it got. */
	unsigned char greeting[GREETING_BYTES];
	/** Its descriptor and, once it has proved itself, its keys. */
	struct line line;

	/** The answers that are expected from it (TELL): they may be long. */
	uint32_t asked;
	/** It has said BYE. */
	bool said_bye;

	/** From its HELLO. */
	uint32_t rank;
	uint32_t size;
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
};

/** The most strangers that are remembered, by address. */
#define STRANGERS_MAX 64

/** Where nothing tells two jobs apart, nobody starts before this time. */
#define NAMELESS_MS 1000

/** Lists of addresses of the unproved. */
#define SENDER_BUCKETS 512

struct coordinator {
	const struct roll_call *call;
	struct roll_end *end;
	struct arena *arena;
	/** The time of what is handled now. */
	uint64_t now;
	uint32_t size;
	int epoll;
	int listener;
	uint16_t port;
	bool moved;
	/** Holds the port. */
	int held;
	/** Nothing will start: end->error says why. Until this time members may come that learn it; 0: not so. */
	uint64_t refuse_at;
	/** Members of another job came: nobody can tell them from ours. */
	bool mixed;
	/** A warning has named who is absent. */
	bool reported;
	/** GO is being sent. */
	bool released;
	/** By rank. Our own stays empty. */
	struct seat *seats;
	/** Members that are here, with us. */
	uint32_t present;
	/** Guests that count another number of members than we. */
	uint32_t others;
	/** Incremented when a member joins or leaves. */
	uint32_t changes;
	/** Those that have not proved themselves, and how many may be. */
	struct guest_list unproved;
	uint32_t n_unproved;
	uint32_t max_unproved;
	/** Those that have, and how many may be: without HELLO, and with it. */
	struct guest_list proved;
	struct guest_list known;
	uint32_t n_members;
	uint32_t max_members;
	struct guest *free;
	/** Earliest start: lets a duplicate rank reconnect, or members of another job show themselves. */
	uint64_t hold;
	/** Two processes say the rank of the first. */
	struct guest *duplicate[2];
	/** Answers that are still awaited, and until when; 0: nothing is compared now. */
	uint32_t n_asked;
	uint64_t tell;
	/** `changes` when the comparison began. */
	uint32_t compared;
	/** When to show the status, to report progress, and to look up who is absent. */
	uint64_t status;
	uint64_t progress;
	uint64_t look_up;
	struct watch watch;

	/** Those that may not have heard GO: how many, and the first names. */
	uint32_t n_deaf;
	struct buf deaf;

	/** absent.c: the look-ups of the first absentees; before them, of our own name. */
	bool knows_itself;
	struct lookups lookups;
	uint32_t n_looked;
	uint32_t looked[LOOKUPS_MAX];
	/** In their order, as they come. */
	uint32_t n_answers;
	struct lookup_answer answers[LOOKUPS_MAX];

	/** agree.c: who speaks for which party, and what they said. All of it is in an arena of its own. */
	struct arena scratch;
	struct compare compare;
	struct compare_parties parties[N_FACT_GROUPS];
	struct guest *speakers[N_FACT_GROUPS][COMPARE_PARTIES];
	struct str payloads[N_FACT_GROUPS][COMPARE_PARTIES];

	struct greeting greeting;
	struct stranger strangers[STRANGERS_MAX];

	/** unproved.c: addresses of the unproved, by hash, and some that are unused. */
	struct sender *senders[SENDER_BUCKETS];
	struct sender *free_senders;
};

/** coordinator.c: tell @guest, or all members (NULL), how it stands. */
void news_send(struct coordinator *co, struct guest *guest);

/** coordinator.c: nobody will start, for the reason in end->error. All that come soon are told. */
void refusal_begin(struct coordinator *co, enum roll_result result);

/** guest.c: accept all that wait at the listener, and greet them. */
void guests_accept(struct coordinator *co);
/** Greet the new connection @fd. Returns its guest, which may be closed already. */
struct guest *guest_arrive(struct coordinator *co, int fd, const struct address *peer);
/**
 * Read what @guest sent, LINE_TURN frames at most: more wake us again. It may be closed by that.
 * @over: it has closed its side.
 */
void guest_read(struct coordinator *co, struct guest *guest, bool over);
/** Close it, with a reset or, if the other side has closed already, without. */
void guest_close(struct coordinator *co, struct guest *guest, bool reset);
/** Close those that have not proved themselves, or not said HELLO, in time. Returns when the next has to be. */
uint64_t guests_expire(struct coordinator *co);
/** The name of @guest for messages. */
struct str guest_name(const struct guest *guest);
/** GO may not have reached @guest: remember its name. */
void guest_is_deaf(struct coordinator *co, const struct guest *guest);
/** Send a frame to all that have said HELLO. Those that do not take it are closed. */
void guests_send(struct coordinator *co, enum frame_type type, const void *payload, size_t n);

/** unproved.c: count @guest, which has not proved itself, with others from its address. */
void place_take(struct coordinator *co, struct guest *guest);
/** It has, or it goes. */
void place_leave(struct coordinator *co, struct guest *guest);
/**
 * Whose place another may have: the oldest from the address that has the most; among such, one that
 * no listed host has. NULL: there is none.
 */
struct guest *place_to_clear(const struct coordinator *co);

/** absent.c: start to look up our own name, or after that the first absentees. */
void absent_look_up(struct coordinator *co);
/** Read an answer. */
void absent_read(struct coordinator *co);
void absent_done(struct coordinator *co);
/** Who is absent and why, at most 8: "n17 (rank 17, never came) and 3 more". */
const char *absent_text(struct coordinator *co);
/** The absent ranks, at most @max, from the first on. Returns how many. */
uint32_t absent_list(const struct coordinator *co, uint32_t *ranks, uint32_t max);
/** Fill in the absentees of the result. */
void absent_report(struct coordinator *co);

/** agree.c: compare those that are here: ask those that speak for a party. */
void agree_begin(struct coordinator *co);
/** Take the facts that @guest sent, if they are still awaited. */
void agree_take(struct coordinator *co, const struct guest *guest, struct str payload);
/**
 * End the comparison, once all have answered: report what differs. Returns 0 if all may start;
 * -EPROTO with @co->end->error.
 */
int agree_conclude(struct coordinator *co);
/** Close those that have not answered. They will come again. */
void agree_give_up(struct coordinator *co);

/** Remember and perhaps report somebody who is no member. */
void stranger_note(struct coordinator *co, const struct address *address, enum stranger_as as);
