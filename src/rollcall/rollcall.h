// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The roll call: before the program starts, all members of a job meet at the master. The member of
 * rank 0, the coordinator, listens there until all are present, and then tells all to start. If it
 * cannot be, all end with the same sentence, and nothing was started.
 *
 *     frame.c, line.c          what is sent; a connection that seals and opens it
 *     coordinator.c            the calling: states and deadlines; guest.c its connections;
 *                              unproved.c those that have not proved themselves
 *     absent.c, agree.c        who is missing and why; who differs from whom
 *     member.c                 a member: finds the coordinator, and waits for its word
 *     compare.c                the facts of nodes (src/node), compared
 *     report.c                 the result as JSON
 *
 * Afterwards the process is as before: its signal mask, limits, descriptors and children.
 */

#include "rollcall/compare.h"
#include "rollcall/line.h"

#include "base/err.h"
#include "base/json_write.h"
#include "net/lookup.h"

/** The ports that are tried: the first one, and three more. */
#define ROLL_PORTS 4

/** How much later than the others' last deadlines their end may come. */
#define ROLL_LATE_MS 5000

/** When ROLL_STATUS is said first, and how often. */
#define STATUS_FIRST_MS 2000
#define STATUS_MS	1000

enum roll_level {
	ROLL_WARNING,
	ROLL_INFO,
	ROLL_DEBUG,
	/** A line that the next one replaces. Only said with `rewrites`. */
	ROLL_STATUS,
};

struct roll_call {
	struct arena *arena;
	const struct cluster *cluster;
	/** This member, of how many: nodes, or tasks in scope "task". Rank 0 is the coordinator. */
	uint32_t rank;
	uint32_t size;
	/** "nodes" or "tasks". */
	const char *noun;
	/** The job, such as "slurm:4711.0", its key, and whether that comes from a secret. */
	const char *job;
	struct key key;
	bool secret;
	/** There is neither a secret nor an id: members of another job cannot be told from ours. */
	bool nameless;
	/** The master's host, and its port. */
	const char *master;
	uint16_t port;
	/** What set the port, such as "MASTER_PORT"; NULL: nothing, so it may move. */
	const char *port_from;
	/** This machine's name. */
	const char *node;
	uint64_t timeout_ms;
	/** The option that sets the time-out, for messages. */
	const char *longer;
	const struct facts *facts;
	/** The groups of facts (1 << enum fact_group) whose differences are errors. */
	unsigned agree;
	/** Why the program cannot be started here: a clause; then nobody starts. NULL: it can. */
	const char *unable;
	/** That is because this process was asked to end. */
	bool asked_to_end;
	/** The starts that this process has taken part in; no number of a start is above @max_restarts. */
	uint32_t starts;
	uint32_t max_restarts;
	/** All start again: until when others may still be ending their programs, and the pause. 0: they do not. */
	uint64_t late_at;
	uint32_t pause_ms;
	/** Members that have left for good, and do not come. */
	uint32_t n_left;
	/** In Kubernetes: whether this node has a name may depend on its readiness. */
	bool pod;
	/** This is `distinit wait`: no program follows. */
	bool wait_only;
	/** Keep the connections after the start; all members have to ask for it. */
	bool stay;
	/** Called with each sentence except the last error, which it may not keep. */
	void (*say)(void *context, enum roll_level level, const char *text);
	void *context;
	/** Whether ROLL_INFO is shown. */
	bool verbose;
	/** Whether ROLL_STATUS is shown. */
	bool rewrites;
};

/** Up to ROLL_REPLACED: as in a NO (enum no_kind). */
enum roll_result {
	ROLL_STARTED,
	/** Not all came in time. */
	ROLL_ABSENT,
	ROLL_DISAGREE,
	/** Two members have the same rank. */
	ROLL_DUPLICATE,
	ROLL_SIGNAL,
	ROLL_ERROR,
	/** All were to start again, and one was told to end; or another process has this rank now. */
	ROLL_TOLD,
	ROLL_REPLACED,
	/**
	 * Listening on the port failed, usually because it is in use. Members are told ROLL_ERROR.
	 */
	ROLL_PORT,
};

_Static_assert((int)ROLL_ABSENT == NO_DEADLINE && (int)ROLL_REPLACED == NO_REPLACED, "as in a NO");

/** A member that is not present. */
struct absentee {
	uint32_t rank;
	/** Empty: not known. */
	struct str host;
	/** It was here, and left this long ago; UINT64_MAX: it never came. */
	uint64_t gone_ms;
	/** The result of its look-up; NULL: it was not looked up. */
	const struct lookup_answer *answer;
};

/** Who connected, but was no member. */
struct stranger {
	struct address address;
	/** In increasing order of information. */
	enum stranger_as {
		STRANGER_SILENT,
		STRANGER_OTHER,
		/** It is in a roll call, but of another job or with another secret. */
		STRANGER_KEY,
		STRANGER_TORCH,
	} as;
	uint32_t times;
};

/** A connection that stays. */
struct kept_line {
	/** Its descriptor is negative: there is none, or the other side is gone already. */
	struct line line;
	/** Who is at the other end; may be empty. */
	struct str host;
	/** Its program has succeeded, so it leaves. It closes first, so no TIME_WAIT stays here. */
	bool leaves;
	/** It leaves as its program has ended with 0, though nobody told it to. */
	bool well;
	/** The first of its program's processes that failed; NULL: none did. */
	struct death *death;
};

struct roll_end {
	enum roll_result result;
	/**
	 * The signal that ended it, or 0. With ROLL_STARTED: it came after the decision. It was taken from
	 * the kernel, and the caller has to heed it.
	 */
	int signal;
	/** The port for all, and whether it is another one than @call's. */
	uint16_t port;
	bool moved;
	/** The number of this start. */
	uint32_t start;
	/** The coordinator's: holds the port for its program (net/listen.h); -1: nothing does. */
	int held;
	/** How long this process waited. */
	uint64_t waited_ms;
	/** How long the coordinator called. */
	uint64_t took_ms;

	/** With `stay`, if all start: a member's connection; the coordinator's, by rank, its own unused. */
	struct kept_line *lines;

	/** What the coordinator knows. */
	uint32_t present;
	const struct absentee *absent;
	uint32_t n_absent;
	uint32_t restarts;
	/** The last that came: its rank and when. */
	uint32_t last;
	uint64_t last_ms;
	const struct difference *differences;
	const struct compare *compared;
	/** The clock with the largest error: the error, negative if it is behind, and the rank. */
	int64_t clock_ms;
	uint32_t clock_rank;
	const struct stranger *strangers;
	uint32_t n_strangers;

	/** What a member knows: whether the coordinator was reached, and its last failure. */
	bool reached;
	struct err failure;
	/** The coordinator's last list of absentees; NULL: none came, or all members are there. */
	const struct wait_news *news;

	/** Why nothing is started; empty if all is well. */
	struct err error;
};

/**
 * Take part. Returns 0 if all start now; else a negative errno: -EINTR if @end->signal came first, and
 * otherwise @end->error says why not. @end is always set; what it points to is in call->arena.
 */
int roll_call(const struct roll_call *call, struct roll_end *end);

/** The exit status of @end: 0, 123, 124, 125, or 128 and the signal. */
int roll_status(const struct roll_end *end);

/** Append the report of a roll call: the members of a JSON object, without its braces. */
void roll_report(const struct roll_call *call, const struct roll_end *end, struct json *json);

/** The two sides. Return as roll_call(). */
int coordinator_run(const struct roll_call *call, struct roll_end *end);
int member_run(const struct roll_call *call, struct roll_end *end);

/**
 * The ports to try, in order. Returns how many of them the job may use. If that is only one, the
 * others are there to tell members that it is taken.
 */
uint32_t roll_ports(const struct roll_call *call, uint16_t ports[ROLL_PORTS]);

/** The name of @rank's host in the list of hosts; empty if that is not known. */
struct str roll_host(const struct roll_call *call, uint32_t rank);

/** Why the name of a pod may not resolve: a clause. */
extern const char roll_not_ready[];

/** How far a clock is off that is @ms ahead, or behind if that is negative. INT64_MIN has no int64_t. */
uint64_t roll_clock_off(int64_t ms);

/** Append the member "host" of a JSON object: @host, or null if it is empty. */
void roll_put_host(struct json *json, struct str host);

/** Append who is absent, "; absent: n1, n2 and 3 more", unless nobody is. */
void roll_put_absent(struct buf *out, const struct wait_news *news);

/** Append " and 3 more", unless @n is 0. */
void roll_put_more(struct buf *out, uint32_t n);

/** Report a sentence by call->say. */
void roll_say(const struct roll_call *call, enum roll_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
