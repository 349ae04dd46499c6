// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A member's decisions: member_decide() takes an event, changes the state and returns what is to be done, and
 * until when to wait for the next event; member.c does it. It makes no system call, prints nothing and reads
 * no clock: the time is an argument. In DONE, nothing changes any more. "Next port": the next one ->
 * CONNECTS, or, after the last port -> PAUSES.
 *
 *     state       event          what follows
 *     PAUSES      DUE            the deadline: DONE; the last look-up was 10 s ago -> LOOKS_UP; else -> CONNECTS
 *     LOOKS_UP    LOOKED_UP      -> CONNECTS, to the first port; without an address -> PAUSES
 *     CONNECTS    CONNECTION     -> CONNECTED; on failure: next port
 *     CONNECTED   GREETING       MEET -> MET; other bytes: no roll call, next port
 *                 GONE, DUE      DUE: after 2 s. No roll call: next port
 *     MET         FRAME PROOF    HELLO -> WAITS. If PROOF names another port, a proxy is between: next port
 *                 other, DUE     DUE: after 2 s. A roll call of another job: next port
 *     WAITS       FRAME WAIT     store and print it; extend the deadline a little
 *                 FRAME ASK      FACTS
 *                 FRAME GO       HEARD, or keep the connection; DONE: start. With an impossible port or start: next port
 *                 FRAME NO       DONE: do not start. If the reason is that a signal ended the coordinator: next port
 *                 other, GONE    next port; the pause after the last one is short
 *                 DUE            BYE; DONE: no result
 *     all         ASKED_TO_END   BYE in WAITS; DONE
 */

#include "rollcall/rollcall.h"

#include "net/backoff.h"

enum member_state {
	MEMBER_PAUSES,
	MEMBER_LOOKS_UP,
	MEMBER_CONNECTS,
	MEMBER_CONNECTED,
	MEMBER_MET,
	MEMBER_WAITS,
	MEMBER_DONE,
};

/** What the last connection has reached. */
enum heard {
	/** No connection, or one that was closed at once. */
	HEARD_NOTHING,
	HEARD_NO_ROLL_CALL,
	/** A roll call of another job, or with another secret. */
	HEARD_ANOTHER_JOB,
	HEARD_COORDINATOR,
	/** The coordinator, which sent no result in time. */
	HEARD_NO_RESULT,
};

/** The last WAIT of the coordinator, and the bytes that its texts point to. */
struct kept_news {
	struct wait_news news;
	unsigned char bytes[HELLO_MAX];
};

/** A member's state. Only member_decide.c changes it. All times are on clock_now_ms()'s clock. */
struct member {
	const struct roll_call *call;
	struct roll_end *end;
	/** The master's address, for messages: "main1:29500". */
	const char *master;
	enum member_state state;
	enum heard heard;
	/** The seed of random numbers. */
	uint64_t random;
	/** When the roll call began, and its deadline. */
	uint64_t started, deadline;
	/** Until when to wait for the coordinator that was reached: the deadline, or a little later. */
	uint64_t extended;
	/** When to look the name up again, and to print the next WAIT. */
	uint64_t look_up_at, news_at;
	struct backoff backoff;
	/**
	 * How often all ports were tried; the index of the port that is tried now; how many are tried this
	 * time.
	 */
	uint32_t round, index, most;
	/** The ports to try. The job may use the first @n_ports. */
	uint16_t ports[ROLL_PORTS];
	uint32_t n_ports;
	/** By port: how often in a row it was something else than our roll call. */
	uint32_t others[ROLL_PORTS];
	/** The coordinator was reached since the first port was tried last. */
	bool found;
	/**
	 * On the first port is something else than a roll call; or the roll call of another job, or with
	 * another secret.
	 */
	bool foreign, another_job;
	/** From the greeting: the seconds until the coordinator's deadline; UINT32_MAX: there is none. */
	uint32_t seconds;
	/** The number of frames that came after the deadline. */
	uint32_t late;
	/** When the connection to the coordinator ended; 0: there was none. */
	uint64_t gone_at;
	/** The last WAIT; NULL: none came. */
	struct kept_news *kept;
	/** Why the last attempt failed. */
	struct err failure;
	/** Why the first port failed, or the one on which the coordinator was reached. */
	struct err why;
};

enum member_what {
	/** The time @until of the last member_todo has come. */
	MEMBER_DUE,
	/** The look-up, or the connection, has succeeded (@code 0), or failed with `failure`. */
	MEMBER_LOOKED_UP,
	MEMBER_CONNECTION,
	MEMBER_GREETING,
	MEMBER_FRAME,
	/** Bytes that are not a frame, or one with a wrong tag: @text is a clause on that. */
	MEMBER_NO_FRAME,
	/** The other side has closed the connection. */
	MEMBER_GONE,
	/** Sending has failed. */
	MEMBER_UNSENT,
	/** INT, TERM, HUP or QUIT came. */
	MEMBER_ASKED_TO_END,
};

/** The fields below @what are arguments of some events. */
struct member_event {
	enum member_what what;
	int code;
	const unsigned char *greeting;
	struct frame frame;
	const char *text;
};

/** What is to be done, in this order. */
enum member_do {
	DO_SEND_MEET = 1 << 0,
	DO_SEND_HELLO = 1 << 1,
	/** Send the facts of @group. */
	DO_SEND_FACTS = 1 << 2,
	DO_SEND_HEARD = 1 << 3,
	/** Send BYE with the reason @bye. */
	DO_SEND_BYE = 1 << 4,
	/** Pass the connection to the caller of the roll call. */
	DO_KEEP = 1 << 5,
	DO_CLOSE = 1 << 6,
	/** Print the last WAIT. */
	DO_SHOW_NEWS = 1 << 7,
	/** Print why all ports failed. */
	DO_SHOW_WHY = 1 << 8,
};

/**
 * What is to be done. Then wait for what the state needs, until @until: the end of the pause, the look-up,
 * the connection to @port, or bytes. In DONE, return @code.
 */
struct member_todo {
	/** enum member_do, as bits. */
	unsigned what;
	unsigned group;
	enum bye_why bye;
	uint64_t until;
	uint16_t port;
	/** 0, or a negative errno. */
	int code;
};

/** Begin at @now. @random: a seed. Returns what is to be done. */
struct member_todo member_begin(struct member *m, uint64_t now, uint64_t deadline, uint64_t random);

/** Handle @event at @now: change the state, and return what is to be done. */
struct member_todo member_decide(struct member *m, const struct member_event *event, uint64_t now);

/** The last WAIT, for people: "h0 counts 2 of 3 nodes after 12 s; absent: h2"; "": none came. */
const char *member_news(const struct member *m);
