// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The coordinator's decisions: coordinator_decide() takes an event, changes the state and returns what is to
 * be done, and coordinator.c does it. It makes no system call, prints nothing and reads no clock: the time is
 * an argument. In STARTED and FAILED, the result and the reason do not change any more.
 *
 *     state       event         what follows
 *     CALLING     HELLO         the member gets its seat, and WAIT if its deadline is before ours. If the seat is taken:
 *                                 by the same process: the older connection is closed
 *                                 by another process: the older process gets NO and is closed
 *                                 both processes are alive, or the rank is ours: FAILED
 *                               if the member cannot start or was asked to end: NO to all -> REFUSING
 *                 DUE           all members are here and alike -> CLOSING
 *                               all members are here, and some differ: ASK to the speakers of parties -> ASKING
 *                               the deadline: FAILED
 *                               else: look up the names of absentees, report progress, print the status
 *     ASKING      FACTS         after the last answer: if only the names of the master differ -> LOOKING_UP; if a
 *                               difference is an error: FAILED; else -> CLOSING
 *     LOOKING_UP  LOOKS_UP      names without an answer after MASTER_MS from now on count as different
 *                 LOOKED_UP     after the last answer -> CLOSING or FAILED
 *       both      HELLO, GONE   the comparison begins anew -> CALLING
 *                 DUE           ASKING: members that have not answered are closed, and reconnect -> CALLING
 *                               LOOKING_UP: the time is over -> CLOSING or FAILED
 *     CLOSING     ALL_READ      the listener is closed, and all frames were read. If no member has come or gone meanwhile:
 *                               GO -> STARTED; else listen again -> CALLING
 *     REFUSING    HELLO         NO to the member
 *                 DUE           all members have got NO, or the time is over: FAILED
 *     all above   ASKED_TO_END  FAILED, with the signal as the reason; REFUSING keeps its reason
 *                 BYE           the member is closed
 *                 GONE          the member's seat is free
 *     STARTED     HEARD, GONE   all members have closed, or 2 s have passed: return. A member that is gone without HEARD
 *                               may not have read GO
 *     FAILED      GONE          all members have closed, or 1 s has passed: return
 */

#include "rollcall/absent.h"
#include "rollcall/agree.h"

enum coordinator_state {
	COORDINATOR_CALLING,
	COORDINATOR_ASKING,
	COORDINATOR_LOOKING_UP,
	COORDINATOR_CLOSING,
	COORDINATOR_REFUSING,
	COORDINATOR_STARTED,
	COORDINATOR_FAILED,
};

/**
 * If the job has neither a secret nor an id, it does not start earlier, so that members of another such job
 * are noticed.
 */
#define NAMELESS_MS 1000

/** The seat of a rank. */
struct seat {
	/** The member's connection; NULL: the member is absent. */
	struct guest *guest;
	/** The process whose seat was taken by a newer one; 0: none. If it comes again, both are alive. */
	uint64_t replaced;
	/** When the member's connection ended; 0: the member never came. */
	uint64_t gone;
	/** NO was sent to the member. */
	bool refused;
};

/** The coordinator's state. Only decide.c changes it. All times are on clock_now_ms()'s clock. */
struct roll {
	const struct roll_call *call;
	/** After the decision, @end has the result; in REFUSING, the reason. */
	struct roll_end *end;
	const struct guests *guests;
	const struct absent *absent;
	struct agree agree;
	enum coordinator_state state;
	/** When the roll call began, and its deadline. */
	uint64_t started, deadline;
	/** When the refusal ends; in STARTED and FAILED, when to stop waiting for members to close. */
	uint64_t until;
	/**
	 * The earliest start: until then a duplicate rank can reconnect, and another job's members can be
	 * noticed.
	 */
	uint64_t not_before;
	/** When to print the status, to report progress, and to look up names; CLOCK_NEVER: not. */
	uint64_t status, progress, look_up;
	/** The next look-up is of absentees: our own name was looked up before, or is skipped. */
	bool looked_up_self;
	/** A warning has named absentees. */
	bool reported;

	/** By rank. The coordinator's own seat stays empty. */
	struct seat *seats;
	/** The number of members that are present, including the coordinator. */
	uint32_t present;
	/** The number of guests with another size than ours. */
	uint32_t others;
	/** Incremented when a member comes or goes; and its value when the comparison began. */
	uint32_t changes, changes_before;
	/** As in roll_end. */
	uint32_t restarts;
	uint32_t last;
	uint64_t last_ms;
	/** The members that did not send HEARD: how many, and the names of the first WAIT_NAMES. */
	uint32_t n_deaf;
	struct buf deaf;
};

enum coordinator_what {
	/** Frames of @guest. UNEXPECTED: a frame that no member sends. */
	COORDINATOR_HELLO,
	COORDINATOR_FACTS,
	COORDINATOR_BYE,
	COORDINATOR_HEARD,
	COORDINATOR_UNEXPECTED,
	/** The connection of @guest has ended, or is being closed by us. */
	COORDINATOR_GONE,
	/** After DO_LOOK_UP_MASTER: it has begun, and its time counts from now on. */
	COORDINATOR_LOOKS_UP,
	/** An @answer for one of the names of the master; NULL: no more answers come. */
	COORDINATOR_LOOKED_UP,
	/** The coordinator itself cannot start: @result; end->error is set. */
	COORDINATOR_UNABLE,
	/** After DO_CLOSE_CALL: all frames that had come are read. */
	COORDINATOR_ALL_READ,
	/** After DO_LISTEN_AGAIN: listening failed; end->error is set. */
	COORDINATOR_PORT_LOST,
	/** INT, TERM, HUP or QUIT came. */
	COORDINATOR_ASKED_TO_END,
	/** All events that had come are handled: check times, and whether all members are here. */
	COORDINATOR_DUE,
};

struct coordinator_event {
	enum coordinator_what what;
	struct guest *guest;
	/** HELLO: whether the member can start; if not, @text is the reason. */
	enum able able;
	/** HELLO: the time until the member's deadline. */
	uint32_t left_ms;
	/** HELLO: see @able. FACTS: the payload. */
	struct str text;
	const struct lookup_answer *answer;
	enum roll_result result;
};

/** What is to be done, in this order. */
enum coordinator_do {
	/** Warn that @unable cannot start, either: @able, @text. */
	DO_WARN_UNABLE = 1 << 0,
	/** Close @guest for @close_reason; if @newer is set, send NO first. */
	DO_CLOSE = 1 << 1,
	/** Send WAIT, or NO with end->error, to @to; NULL: to all members that are present. */
	DO_SEND_WAIT = 1 << 2,
	DO_SEND_NO = 1 << 3,
	/** End the look-ups of absentees. */
	DO_LOOK_UP_NONE = 1 << 4,
	/** Send ASK to the speakers of parties. */
	DO_SEND_ASK = 1 << 5,
	/** Close the members that have not answered ASK. */
	DO_CLOSE_SILENT = 1 << 6,
	/** Look up the names of the master. */
	DO_LOOK_UP_MASTER = 1 << 7,
	/** Warn of all differences except @fatal, and of the worst clock. */
	DO_WARN_DIFFERENCES = 1 << 8,
	/** Look up our own name, or the hosts of absentees. */
	DO_LOOK_UP_SELF = 1 << 9,
	DO_LOOK_UP_ABSENT = 1 << 10,
	DO_SHOW_PROGRESS = 1 << 11,
	DO_SHOW_STATUS = 1 << 12,
	/**
	 * Close the listener and all connections without HELLO, and read all frames that have come. ALL_READ
	 * follows.
	 */
	DO_CLOSE_CALL = 1 << 13,
	DO_LISTEN_AGAIN = 1 << 14,
	DO_SEND_GO = 1 << 15,
	/** Close the listener and all connections without HELLO; send WAIT and NO to all members. */
	DO_FAIL = 1 << 16,
	/** Warn of the members that may not have read GO. */
	DO_WARN_DEAF = 1 << 17,
	/** The roll call is over. */
	DO_RETURN = 1 << 18,
};

/** @what: enum coordinator_do, as bits. The other fields are arguments of these. */
struct coordinator_todo {
	unsigned what;
	struct guest *guest;
	unsigned close_reason;
	const struct guest *newer;
	struct guest *to;
	const struct guest *unable;
	enum able able;
	struct str text;
	const struct difference *fatal;
};

/** Initialise *@roll, with a seat for each rank. */
void coordinator_prepare(struct roll *roll, const struct roll_call *call, struct roll_end *end);

/** Begin the roll call at @now. */
void coordinator_begin(struct roll *roll, uint64_t now, uint64_t deadline);

/** Handle @event at @now: change the state, and return what is to be done. */
struct coordinator_todo coordinator_decide(struct roll *roll, const struct coordinator_event *event,
					   uint64_t now);

/** When the next COORDINATOR_DUE is needed, if no other event comes before. */
uint64_t coordinator_until(const struct roll *roll, uint64_t now);

/** A clause: "was asked to end" or "cannot start". */
const char *coordinator_unable(enum able able);

/** Set the result and the error for two jobs without an id on one port. Returns -EEXIST. */
int coordinator_mixed(struct roll_end *end);
