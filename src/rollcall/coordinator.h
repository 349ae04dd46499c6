// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The coordinator's state, for its own files: coordinator.c, guest.c, absent.c, agree.c. */

#include "rollcall/rollcall.h"

#include "net/clock.h"
#include "net/listen.h"

/** A process that has connected. */
struct guest {
	/** Memory for its texts, or NULL. It stays here when another guest gets this struct. */
	char *rooms[2];
	enum guest_state {
		/** It is closed, and free for another. */
		GUEST_FREE,
		/** It has not said HELLO yet. */
		GUEST_SILENT,
		/** It has its seat. */
		GUEST_PRESENT,
		/** Its rank is beyond our size: it sees another cluster. */
		GUEST_BEYOND,
	} state;
	/** Links in the list of its state: those that are silent, those that are not, or free ones. */
	struct guest *next;
	struct guest *previous;
	uint64_t since;
	/** The beginning of a frame, or NULL. */
	unsigned char *part;
	uint32_t part_len;
	/** The answers that are expected from it (TELL): they may be long. */
	uint32_t asked;

	/** From its HELLO. */
	uint32_t rank;
	uint32_t size;
	uint64_t incarnation;
	int64_t clock_ms;
	/** Its name for messages. */
	struct str host;
	struct str node;
	uint64_t digest[N_FACT_GROUPS];

	struct line line;
	struct address peer;
	/** That it got. */
	unsigned char greeting[GREETING_BYTES];
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

/** Nonces that are read from the kernel at once. */
#define NONCES 256

/** The most frames that are incomplete at a time. */
#define PARTS_MAX 256

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
	/** GO is being sent. */
	bool released;
	/** By rank. Our own stays empty. */
	struct seat *seats;
	/** Members that are here, with us. */
	uint32_t present;
	/** Guests that count another number of members than we. */
	uint32_t others;
	/** Counts who comes and goes. */
	uint32_t changes;
	/** All that are open, and how many may be. */
	uint32_t n_guests;
	uint32_t max_guests;
	struct guest_list silent;
	/** Those that said HELLO. */
	struct guest_list known;
	struct guest *free;
	/** Not before this time: two processes may say one rank, and the other comes again soon. */
	uint64_t hold;
	/** Two processes say the rank of the first. */
	struct guest *duplicate[2];
	/** Parts that are in use: the first of `parts`. */
	uint32_t n_parts;
	/** Answers that are still awaited, and until when; 0: nothing is compared now. */
	uint32_t n_asked;
	uint64_t tell;
	/** `changes` when the comparison began. */
	uint32_t compared;
	/** When to report progress, and to look up who is absent. */
	uint64_t progress;
	uint64_t look_up;
	/** What is large comes last: the offsets of the rest are shorter. */
	struct watch watch;

	/** Those that may not have heard GO: how many, and the first names. */
	uint32_t n_deaf;
	struct buf deaf;

	/** absent.c: the look-ups of the first absentees. */
	struct lookups lookups;
	uint32_t n_looked;
	uint32_t looked[LOOKUPS_MAX];
	/** In their order, as they come. */
	uint32_t n_answers;
	struct lookup_answer answers[LOOKUPS_MAX];

	/** agree.c: who speaks for which party, and what they said. */
	struct compare compare;
	struct compare_parties parties[N_FACT_GROUPS];
	struct guest *speakers[N_FACT_GROUPS][COMPARE_PARTIES];
	struct str payloads[N_FACT_GROUPS][COMPARE_PARTIES];

	struct greeting greeting;
	uint32_t n_nonces;
	unsigned char nonces[NONCES][NONCE_BYTES];
	struct stranger strangers[STRANGERS_MAX];
	unsigned char *parts[PARTS_MAX];
};

/** coordinator.c: tell @guest, or all members (NULL), how it stands. */
void news_send(struct coordinator *co, struct guest *guest);

/** guest.c: accept all that wait at the listener, and greet them. */
void guests_accept(struct coordinator *co);
/** Greet the new connection @fd. Returns its guest, which may be closed already. */
struct guest *guest_arrive(struct coordinator *co, int fd, const struct address *peer);
/** Read what @guest sent. It may be closed by that. */
void guest_read(struct coordinator *co, struct guest *guest);
/** Close it, with a reset or, if the other side has closed already, without. */
void guest_close(struct coordinator *co, struct guest *guest, bool reset);
/** Close those that have not said HELLO in time. Returns when the next has to be. */
uint64_t guests_expire(struct coordinator *co);
/** The name of @guest for messages. */
struct str guest_name(const struct guest *guest);
/** GO may not have reached @guest: remember its name. */
void guest_is_deaf(struct coordinator *co, const struct guest *guest);
/** Send a frame to all that have said HELLO. Those that do not take it are closed. */
void guests_send(struct coordinator *co, enum frame_type type, const void *payload, size_t n);

/** absent.c: start to look up the first absentees. */
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
void stranger_note(struct coordinator *co, const struct address *address, int as);
