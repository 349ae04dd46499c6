// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The roll call: before the program starts, all members of a job connect to the master. The distinit of rank
 * 0, the coordinator, listens there until all members are present, and then sends GO to all. If the job
 * cannot start, all members exit with the same message, and no program was started.
 *
 *     frame.c, line.c          the wire format; a connection that seals and opens frames
 *     coordinator.c            the coordinator; decide.c decides for it, guest.c has its connections,
 *                              unproved.c counts connections before authentication
 *     absent.c, agree.c        which members are absent, and why; which members differ, and in what
 *     member.c                 a member: finds the coordinator, and waits for GO; member_decide.c decides for it
 *     compare.c                compares the facts of nodes (src/meet/facts)
 *     report.c                 writes the result as JSON
 *
 * A roll call restores the signal mask and the limits of the process, and leaves no child. It leaves no
 * descriptors except those in struct roll_end.
 */

#include "rollcall/compare.h"
#include "rollcall/line.h"

#include "base/err.h"
#include "base/json_write.h"
#include "net/lookup.h"

/** How many ports are tried: the master's, and three more. */
#define ROLL_PORTS 4

/** Slack added to the others' end deadlines. */
#define ROLL_LATE_MS 5000

/** When ROLL_STATUS is printed first, and at which interval. */
#define STATUS_FIRST_MS 2000
#define STATUS_MS	1000

enum roll_level {
	ROLL_WARNING,
	ROLL_INFO,
	ROLL_DEBUG,
	/** A line of a terminal that the next one replaces. Printed only with `rewrites`. */
	ROLL_STATUS,
};

struct roll_call {
	struct arena *arena;
	const struct cluster *cluster;
	/**
	 * The rank of this member, and the number of members: nodes, or tasks in scope "task". Rank 0 is the
	 * coordinator.
	 */
	uint32_t rank;
	uint32_t size;
	/** "nodes" or "tasks". */
	const char *noun;
	/** The job's id, such as "slurm:4711.0". */
	const char *job;
	/** The job's key, and whether it is derived from a secret. */
	struct key key;
	bool secret;
	/** The job has neither a secret nor an id, so members of another job look like ours. */
	bool nameless;
	/** The master's host and port. */
	const char *master;
	uint16_t port;
	/**
	 * The variable or option that gives the port, such as "MASTER_PORT". NULL: none, so another port may
	 * be used.
	 */
	const char *port_from;
	/** This machine's name. */
	const char *node;
	uint64_t timeout_ms;
	/** The option that sets the time-out, for messages. */
	const char *longer;
	const struct facts *facts;
	/** The groups of facts (1 << enum fact_group) whose differences are errors. */
	unsigned agree;
	/**
	 * No clock may be further off the coordinator's than this, in ms, so @clock_expected says; NULL: each
	 * may.
	 */
	uint64_t clock_most_ms;
	const char *clock_expected;
	/**
	 * Why the program cannot be started on this node: a clause. Then no member starts. NULL: it can be
	 * started.
	 */
	const char *unable;
	/** `unable` is set because this process was asked to end. */
	bool asked_to_end;
	/** Coordinator: `unable` is set because a member does not come again. */
	bool not_again;
	/**
	 * The number of starts that this process has taken part in. The number of a start is at most
	 * @max_restarts.
	 */
	uint32_t starts;
	uint32_t max_restarts;
	/**
	 * Before a restart: until then, other nodes may still be ending their programs. 0: this is no
	 * restart.
	 */
	uint64_t late_at;
	/** The pause before the start, from the beginning of the roll call; 0: none. */
	uint32_t pause_ms;
	/** The number of members that do not come: their programs have succeeded, or they were asked to end. */
	uint32_t n_gone;
	/** This node is a pod, whose name may resolve only once it is ready. */
	bool pod;
	/** This is `distinit wait`: no program follows. */
	bool wait_only;
	/** Keep the connections open after the start. Must be the same on all members. */
	bool stay;
	/** Called with each message except the last error. @text is valid during the call only. */
	void (*say)(void *context, enum roll_level level, const char *text);
	void *context;
	/** Messages of ROLL_INFO are printed. */
	bool verbose;
	/** Messages of ROLL_STATUS are printed. */
	bool rewrites;
};

/** The values up to ROLL_REPLACED are those of enum no_kind. */
enum roll_result {
	ROLL_STARTED,
	/** Some members did not come in time. */
	ROLL_ABSENT,
	ROLL_DISAGREE,
	/** Two members have the same rank. */
	ROLL_DUPLICATE,
	ROLL_SIGNAL,
	ROLL_ERROR,
	/** Before a restart, a member was asked to end. */
	ROLL_ASKED_TO_END,
	/** Another process has this rank now. */
	ROLL_REPLACED,
	/** Listening on the port failed, usually because it is in use. To members, ROLL_ERROR is sent. */
	ROLL_PORT,
};

_Static_assert((int)ROLL_ABSENT == NO_DEADLINE && (int)ROLL_REPLACED == NO_REPLACED, "as in a NO");

/** A member that is not present. */
struct absentee {
	uint32_t rank;
	/** The member's host; empty: not known. */
	struct str host;
	/** How long ago the member's connection ended; UINT64_MAX: the member never came. */
	uint64_t gone_ms;
	/** The result of the look-up of its host; NULL: the host was not looked up. */
	const struct lookup_answer *answer;
};

/** An address from which something connected that is not a member. */
struct stranger {
	struct address address;
	/**
	 * What the connections looked like. A higher value has more information, and replaces a lower one.
	 */
	enum stranger_as {
		/** They sent no bytes. */
		STRANGER_SILENT,
		/** They sent bytes of another protocol. */
		STRANGER_OTHER,
		/** They sent the proof of another job, or of another secret. */
		STRANGER_KEY,
		/** They sent what a client of PyTorch's store sends. */
		STRANGER_TORCH,
	} as;
	/** The number of connections. */
	uint32_t times;
};

/** A connection that stays open after the start. */
struct kept_line {
	/** A negative descriptor: there is no connection, or it has ended. */
	struct line line;
	/** The host at the other end; empty: not known. */
	struct str host;
	/**
	 * The other side's program has ended with 0. The other side closes first, so no TIME_WAIT stays on
	 * this side.
	 */
	bool succeeded;
	/** As `succeeded`, and the program was not asked to end. */
	bool well;
	/** The first process of the other side's program that failed; NULL: none was reported. */
	struct death *death;
};

struct roll_end {
	enum roll_result result;
	/**
	 * The signal that ended the roll call; 0: none. With ROLL_STARTED, the signal came after the
	 * decision. The kernel does not deliver it again, so the caller must handle it.
	 */
	int signal;
	/** The port that all members use, and whether it differs from @call's. */
	uint16_t port;
	bool moved;
	/** The number of this start, from 0. */
	uint32_t start;
	/** Coordinator: a descriptor that reserves the port for its program (net/listen.h); -1: none. */
	int reserved;
	/** How long this process waited. */
	uint64_t waited_ms;
	/** How long the coordinator's roll call took. */
	uint64_t took_ms;

	/**
	 * With `stay` and ROLL_STARTED. Member: one connection, to the coordinator. Coordinator: `size`
	 * connections, by rank; its own is unused.
	 */
	struct kept_line *lines;

	// Set by the coordinator only.

	/** The number of members that are present, including the coordinator. */
	uint32_t present;
	const struct absentee *absent;
	uint32_t n_absent;
	/** How often a member came again in place of an earlier process or connection. */
	uint32_t restarts;
	/** The rank of the member that came last, and when it came, after the beginning; 0: none came. */
	uint32_t last;
	uint64_t last_ms;
	const struct difference *differences;
	const struct compare *compared;
	/** The clock with the largest error: the error, negative if it is behind, and the member's rank. */
	int64_t clock_ms;
	uint32_t clock_rank;
	const struct stranger *strangers;
	uint32_t n_strangers;

	// Set by a member only.

	/** The coordinator was reached; and the last failure to reach it. */
	bool reached;
	struct err failure;
	/** The coordinator's last WAIT; NULL: none came, or all members start. */
	const struct wait_news *news;

	/** Why no program is started; empty with ROLL_STARTED. */
	struct err error;
};

/**
 * Take part in the roll call. Returns 0 if all members start now; -EINTR if @end->signal ended it; another
 * negative errno with the reason in @end->error. @end is always set; what it points to is in call->arena.
 */
int roll_call(const struct roll_call *call, struct roll_end *end);

/** The exit status for @end: 0, 123, 124, 125, or 128 and the signal. */
int roll_status(const struct roll_end *end);

/** Append the report of a roll call: the members of a JSON object, without its braces. */
void roll_report(const struct roll_call *call, const struct roll_end *end, struct json *json);

/** roll_call() of the coordinator, and of all other members. */
int coordinator_run(const struct roll_call *call, struct roll_end *end);
int member_run(const struct roll_call *call, struct roll_end *end);

/**
 * List the ports to try, in order. Returns how many of them the job may use. If that is 1, the coordinator
 * uses the other ports only to send members the message that the first one is taken.
 */
uint32_t roll_ports(const struct roll_call *call, uint16_t ports[ROLL_PORTS]);

/** The name of @rank's host in the list of hosts; empty: not known. */
struct str roll_host(const struct roll_call *call, uint32_t rank);

/** Why the name of a pod may not resolve: a clause. */
extern const char roll_not_ready[];

/**
 * The absolute value of @ms, the error of a clock. It is unsigned, because -INT64_MIN does not fit into
 * int64_t.
 */
uint64_t roll_clock_off(int64_t ms);

/** Append the member "host" of a JSON object: @host, or null if it is empty. */
void roll_put_host(struct json *json, struct str host);

/** Append the absentees, "; absent: n1, n2 and 3 more"; nothing if @news has none. */
void roll_put_absent(struct buf *out, const struct wait_news *news);

/** Append " and 3 more"; nothing if @n is 0. */
void roll_put_more(struct buf *out, uint32_t n);

/** Print a message by call->say. */
void roll_say(const struct roll_call *call, enum roll_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
