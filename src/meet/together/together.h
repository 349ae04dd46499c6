// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --together: after the roll call, the connections stay open. If the program of one member fails, or a member
 * gets TERM or its connection breaks, all programs are asked to end. The coordinator decides which member was
 * first, and all members print that.
 *
 *     member        --ENDED-->  coordinator    the member's program has ended, or the member got TERM
 *     member        --DIED--->  coordinator    a process that the member's program started has failed
 *     coordinator   --END---->  all members    the member that was first; they close the connection
 *     coordinator   --ENDED-->  all members    the coordinator does not wait any more; they go on without it
 *
 * A launcher ends long after its first worker, and all launchers end at about the same time. So if a program
 * has failed, the coordinator waits briefly, and names the node on which a process died first.
 *
 * With --max-restarts, END also says whether the programs start again. Then each member ends its leftovers,
 * and takes part in a new roll call. If a member is asked to end meanwhile, it reports that in the new roll
 * call.
 *
 * As long as nothing happens, no frames are sent: the kernel's keepalive watches the connections.
 */

#include "init/observer.h"
#include "rollcall/rollcall.h"
#include "together/progress.h"
#include "together/workers.h"

#include <sys/resource.h>

#define RESTARTS_UNLIMITED UINT32_MAX

/** The longest pause before a start. */
#define PAUSE_MAX_MS 60000

struct together {
	/** TERM to one member ends all programs. */
	bool relays;
	/** The port of the connections. 0: the master's; then they may keep the program from binding it. */
	uint16_t port;
	/** How long the coordinator waits for the other members after its own program has ended with 0. */
	uint64_t linger_ms;
	/** --together=workers: a failed process that the program started itself ends all programs. */
	bool by_workers;
	/** --together=always: a program that ends with 0 without being asked to end has failed. */
	bool always;
	/** Called once, when it is decided which member was first. */
	void (*report)(struct together *together, const struct ended *first);
	/** --max-restarts: how often the programs may start again; RESTARTS_UNLIMITED; 0: never. */
	uint32_t max_restarts;
	/** --no-restart: whether an exit status is final, of a killed program 128 and the signal; [0] is false. */
	bool is_final[256];
	/** --max-idle-starts: after so many starts in a row in which no file of --progress was written, nothing starts; 0: no limit. */
	uint32_t max_idle;
	/** The number of this start, from 0. */
	uint32_t start;
	/**
	 * From then on, the program is not started again, on clock_now_ms()'s clock; CLOCK_NEVER: no limit.
	 */
	uint64_t limit_at;
	/** How many starts have failed in a row. The pause depends on it. */
	uint32_t in_a_row;
	/**
	 * Coordinator: how many starts in a row wrote no file of --progress on any node. A start that ended before
	 * the first look does not count, as nothing is known of it.
	 */
	uint32_t idle;
	/** Before a restart: `late_at` and `pause_ms` of the roll call; else 0. */
	uint64_t late_at;
	uint32_t call_pause_ms;

	/** --progress: a program that hangs has failed. */
	struct progress progress;

	/** Another observer, which gets all events except a TERM that is dropped; NULL: none. */
	struct observer *next;

	/** For the plan of --init. Its `end` says how our own program has ended; NULL: it runs. */
	struct observer observer;

	// For together.c and decide.c. together_begin() resets all that follows. Times are on
	// clock_now_ms()'s clock.

	const struct roll_call *call;
	/** The program, and when it started; 0: not started. */
	pid_t program;
	uint64_t begun;
	/** The pause before the next start. */
	uint32_t pause_ms;
	/** Reason for which this node cancelled the restart; still to be sent: "SIGTERM". NULL: none. */
	const char *cancel_reason;
	/** Coordinator: it did so because a member does not come again. */
	bool not_again;
	/** The number of members that do not come again: their programs have ended with 0, or they were asked to end. */
	uint32_t n_gone;

	/**
	 * The connections, as in roll_end: by rank on the coordinator, one on a member. @n: how many there
	 * may be; @open: how many are open.
	 */
	struct kept_line *lines;
	uint32_t n;
	uint32_t open;
	/** This node got TERM. */
	bool asked_to_end;
	/** Coordinator: so did a member. */
	bool member_asked;
	/** Our own program has ended with 0, and that is no failure. */
	bool well;
	/** It is decided which member was first; or the coordinator does not wait for that any more. */
	bool decided;
	/** Which member was first, as a sentence; NULL: none was. And when it was decided. */
	const char *first;
	uint64_t first_at;
	/** Coordinator: when to decide which member was first; CLOCK_NEVER: none has failed. */
	uint64_t settle_at;
	/** Coordinator: the first failure of a program, and how many programs have failed. */
	struct ended failed;
	uint32_t n_failed;
	/** Coordinator: which member was lost, or asked to end, first while it waited; `why` is 0: none. */
	struct ended beside;
	/** When to stop waiting for the other members; CLOCK_NEVER: not yet set. */
	uint64_t close_at;
	/** The processes that the program started. */
	struct workers workers;
	/** The failure of one of these was reported. */
	bool sent_death;
	/** It was reported that the files of --progress are watched, and that our program has written one. */
	bool sent_watches, sent_wrote;
	/** Coordinator: a pattern of --progress on one of the nodes, NULL: none watches; and a file was written in this start. */
	const char *watched;
	bool wrote;
	/** Coordinator: all members were asked for their progress, and how many have answered. */
	bool asked;
	uint32_t n_answered;
	/** The inherited limit of open files. The program gets it back. */
	struct rlimit files;
};

/**
 * Take over the connections of @end, the result of @call with `stay`, and set up `observer`. The fields
 * before `observer` are already set. Returns 0; a negative errno with @err.
 */
int together_begin(struct together *together, const struct roll_call *call, const struct roll_end *end,
		   struct err *err);

/**
 * Close the connections and all other descriptors, and restore the limit of open files. The memory belongs to
 * the arena.
 */
void together_end(struct together *together);

/** Append @first, the member that was first: the members of a JSON object. */
void together_json(const struct ended *first, struct json *json);
