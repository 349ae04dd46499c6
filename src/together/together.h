// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --together: after the start of a roll call, the connections stay. If the program of one member
 * fails, or a member is lost or gets TERM, all programs are asked to end, and all members know who
 * was first: the coordinator decides that.
 *
 *     member        --ENDED-->  coordinator    its program has ended, or got TERM
 *     member        --DIED--->  coordinator    a process that its program started has failed
 *     coordinator   --END---->  all members    who was first; they close the connection
 *     coordinator   --ENDED-->  all members    it leaves, and they go on without it
 *
 * A launcher ends long after its first worker, and all launchers end together. So when a program has
 * failed, the coordinator waits a moment, and names the node on which a process died first.
 *
 * With --max-restarts, END also says whether all start again: the coordinator decides that, too. Then
 * each ends what its program left behind, and comes to a new roll call. Who is told to end meanwhile
 * comes once more, to say so.
 *
 * Nothing is sent while nothing happens: the kernel watches the connections.
 */

#include "init/observer.h"
#include "rollcall/rollcall.h"
#include "together/progress.h"
#include "together/workers.h"

#include <sys/resource.h>

/** The exit status if the program was ended because of another member. */
#define EXIT_ANOTHER 123

#define RESTARTS_UNLIMITED UINT32_MAX

/** The longest pause before a start. */
#define PAUSE_MAX_MS 60000

struct together {
	/** TERM to one member ends all. */
	bool relays;
	/**
	 * The port of the connections. 0: that of the master. They may then keep the program from
	 * binding it.
	 */
	uint16_t port;
	/** How long the coordinator stays for the others after its own program has ended with 0. */
	uint64_t linger_ms;
	/** A failed process that the program started itself ends all: --together=workers. */
	bool by_workers;
	/** A program that ends with 0 though nobody told it to has failed: --together=always. */
	bool always;
	/** Called once, when the first is known. */
	void (*report)(struct together *together, const struct ended *first);
	/** --max-restarts: how often all may start again; RESTARTS_UNLIMITED. 0: never. */
	uint32_t max_restarts;
	/** The number of this start, and when there may be no other, on clock_now_ms()'s clock. */
	uint32_t start;
	uint64_t limit_at;
	/** How many starts failed one after the other, which the pause follows from. */
	uint32_t in_a_row;
	/** From the second roll call on: as in roll_call. */
	uint64_t late_at;
	uint32_t hold_ms;

	/** --progress: a program that hangs has failed. */
	struct progress progress;

	/** Another observer, which gets all events except a TERM that is dropped; NULL: none. */
	struct observer *next;

	/** For the plan of --init. Its `end` is how our own program has ended. */
	struct observer observer;

	// For together.c. A start owns it: together_end() gives it back.

	const struct roll_call *call;
	/** When the program started. */
	uint64_t begun;
	/** The pause before the next start. */
	uint32_t pause_ms;
	/** Why we do not start again although all were to, which the others do not know: "SIGTERM"; or NULL. */
	const char *quits;
	/** Members that have left, as their programs have succeeded. */
	uint32_t n_left;

	/** As in roll_end: by rank, or a member's only one. How many there are, and are open. */
	struct kept_line *lines;
	uint32_t n;
	uint32_t open;
	/** It got TERM. */
	bool told;
	/** Our own program has not failed: it has ended with 0. */
	bool well;
	/** Which member was first, as a sentence, and when that came. It is NULL if we leave. */
	bool known;
	const char *first;
	uint64_t first_at;
	/** The coordinator's: when it names who was first; CLOCK_NEVER: it has nothing to name. */
	uint64_t settle_at;
	/** The first program that failed, and how many have. */
	struct ended failed;
	uint32_t n_failed;
	/** When we leave the others; CLOCK_NEVER: not yet. */
	uint64_t leave_at;
	/** The program's own processes, and whether the failure of one was told. */
	struct workers workers;
	bool told_death;
	/** The coordinator's: all were asked when their programs made progress, and how many have told. */
	bool asked;
	uint32_t n_stale;
	/** The limit of open files as it was. The program gets that. */
	struct rlimit files;
};

/**
 * Take over the connections of @end, the result of @call with `stay`, and set up `observer`. The other
 * fields up to `report` are set. Returns 0; a negative errno with @err.
 */
int together_begin(struct together *together, const struct roll_call *call, const struct roll_end *end,
		   struct err *err);

/**
 * The end of what together_begin() began: the connections and all other descriptors are closed, and the
 * limits are as before. Its memory is the arena's.
 */
void together_end(struct together *together);

/** Append who was first: the members of a JSON object. */
void together_json(const struct ended *first, struct json *json);
