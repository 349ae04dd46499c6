// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A job of some nodes: what it is like, what goes wrong, and what was seen.
 *
 *     plan.c       the job, from choices
 *     node.c       a node: its roll calls, its programs, what it does between two starts
 *     faults.c     what goes wrong, and when
 *     others.c     those that are no nodes: strangers, liars, another program on the port
 *     promises.c   what has to hold
 *     report.c     what is reported has to be true
 *     words.c      what is printed has to be true
 *     times.c      when things have to happen
 */

#include "kernel.h"

#include "rollcall/rollcall.h"
#include "together/together.h"

#define NODES_MAX  5
#define FAULTS_MAX 4
#define STARTS_MAX 6
#define BEGIN	   (1000 * S)
#define JOB_PORT   29500

/** Hosts 0 to 4 are the nodes'. */
#define SPARE_HOST    6
#define STRANGER_HOST 8

enum what {
	WHAT_UNABLE,   // its program cannot be started, which it knows from the beginning
	WHAT_ASKED,    // it was asked to end
	WHAT_TERM,     // it gets SIGTERM
	WHAT_INT,      // it gets SIGINT
	WHAT_KILL,     // kill -9
	WHAT_REPLACED, // and another process is started in its place
	WHAT_GONE,     // its machine is gone without a word
	WHAT_BACK,     // and is there again, with another process
	WHAT_TWIN,     // a second process says its rank
	WHAT_CUT,      // its machine does not reach the others, for a while
	WHAT_RESET,    // its connections to the master are reset
	WHAT_STOP,     // it does not run for a while
	WHAT_STRANGER, // somebody who is no member connects to the master
	WHAT_LIAR,     // somebody who may know the secret speaks the roll call, and lies
	WHAT_TAKEN,    // another program has the master's port
	WHAT_LATE,     // it is started late
	WHAT_NEVER,    // or never
	WHAT_DIFFERS,  // its facts differ
	WHAT_NO_NAMES, // names do not resolve at first
	WHAT_COUNTS,   // it counts another number of nodes
	WHAT_FAILS,    // a system call fails
	WHAT_ENDS,     // its program ends now
	N_WHAT
};

extern const char *const what_names[N_WHAT];

/** When a fault happens. */
enum when {
	/** At a time. */
	WHEN_TIME,
	/** At the node's nth system call. */
	WHEN_CALL,
	/** Before and after the node sends the nth frame of a kind, and when one has come to it. */
	WHEN_SENDS,
	WHEN_SENT,
	WHEN_ARRIVES,
	/** When the node comes to a phase the nth time. */
	WHEN_PHASE,
	N_WHEN
};

extern const char *const when_names[N_WHEN];

/** What a node does. */
enum phase { PHASE_CALLS, PHASE_STARTS, PHASE_ENDED, PHASE_LEFTOVERS, PHASE_QUITS, N_PHASES };

extern const char *const phase_names[N_PHASES];

struct fault {
	enum what what;
	int node;
	/** The node whose calls, frames and phases are counted: usually the same. */
	int on;
	enum when when;
	/** A frame's type, or a phase. */
	uint8_t frame;
	/** The number of the call, frame or phase, from 1, and how many there were so far. */
	uint32_t nth, seen;
	/** When, or how long after that; how long it lasts. */
	uint64_t at, lasts;
	uint32_t kind, code;
	/** It happens a second time, soon after. */
	uint64_t twice;
	bool planned, fired;
	uint64_t fired_at;
};

/** One start of a program. */
struct program {
	uint32_t start;
	uint64_t from, to;
	/** Its exit status, and that of its node if it ended now; -1: it runs. */
	int raw, status;
	bool asked;
	/** It was given up, as it was killed after its grace. */
	bool killed;
	/** When it wrote its file last before it was ended, and before that; 0: it did not. */
	uint64_t wrote_at, wrote_before;
	/** The same, while it was ended, too. */
	uint64_t wrote_last;
	/** When one of its processes failed that distinit had seen; NEVER: none. */
	uint64_t died_at;
	bool unclear;
	/** When one of its processes failed last, seen or not, and when its launcher started one anew; 0: never. */
	uint64_t failed_at, anew_at;
	/** What its node knows of who was first. */
	bool knows;
	uint64_t knows_at;
	uint32_t first;
	uint8_t why, again;
};

struct node {
	struct process *process;
	uint32_t rank, size;
	int host;
	char name[8];
	const char *unable;
	bool asked;
	int facts;
	uint64_t begins;
	uint32_t start;
	bool exists, returned, killed, gone, signalled, is_replacement;
	uint64_t signalled_at;
	/** It got TERM or INT between two starts, or in one. */
	bool system_call_failed;
	/** The last result. */
	int r;
	enum roll_result result;
	int signal;
	uint16_t port;
	uint32_t end_start;
	uint64_t returned_at, called_at;
	uint64_t call_timeout_ms;
	char error[NO_TEXT_MAX + 100];
	bool warned_deaf, warned_clock;
	/** It printed that somebody is absent: a warning. */
	bool said_absent;
	/** It printed what the master counts. */
	bool said_counts;
	/** The last difference that it printed. */
	char difference[200];
	/** When the coordinator's kernel had its HELLO, its BYE, and the end of its connection. */
	uint64_t hello_at, bye_at, left_at, killed_at;
	struct program programs[STARTS_MAX];
	int n_programs;
	/** The exit status of this node; -1: none yet. */
	int status;
	uint64_t ended_at;
};

struct job {
	unsigned n;
	uint64_t timeout_ms;
	bool secret, nameless, port_given, stay, holds_signals, terminal, verbose, restart, pod;
	unsigned agree;
	uint64_t spread, late_ms, pause_ms;
	bool together, relays, always, by_workers;
	uint32_t max_restarts;
	/** --no-restart: an exit status; 0: none. */
	unsigned final;
	unsigned max_idle;
	uint64_t linger_ms, grace_ms, limit_ms, progress_ms;
	/** Programs write their files at once, and never again. */
	bool writes_once;
	struct node nodes[2 * NODES_MAX + 4];
	int n_nodes;
	struct fault faults[FAULTS_MAX];
	unsigned n_faults;
	/** The first GO: when it was sent, and when the coordinator looked last before that. */
	uint64_t go_at, looked_at, last_look;
	/** The last GO, and the master's system calls when it looked last. */
	uint64_t last_go_at;
	uint32_t look_calls;
	/** Until when crashes, resets and cuts may be the reason for what is seen. */
	uint64_t harm_until;
};

extern struct job job;

/** What all jobs of this run have in common. */
struct rules {
	/** 0: any. */
	unsigned nodes;
	/** Faults that may happen: bit each; and how many. */
	uint32_t faults;
	unsigned most;
	/** -1: either. */
	int together;
	/** Promises that are not looked at, joined by commas. */
	const char *skip;
};
extern struct rules rules;

/** Once, before all jobs. */
void jobs_begin(void);
/** One job, with the choices that were begun. */
void job_run(void);
/** What it is like, for people. */
void job_show(void);

// plan.c
void plan_job(void);
struct roll_call plan_call(struct node *node, struct arena *arena);
uint64_t plan_timeout(const struct node *node);
const struct key *plan_key(bool own);
int plan_host_of(const char *name);
void out_of_memory(size_t size);

// node.c
struct node *node_add(uint32_t rank, int host, const char *name);
void node_start(struct node *node, uint64_t at);

// faults.c
void faults_plan(void);
void faults_begin(void);
void faults_at_phase(struct node *node, enum phase phase);
unsigned count_faults(enum what what);
bool has_fault(enum what what);

// others.c
void taken_main(struct process *process);
void stranger_main(struct process *process);
void liar_main(struct process *process);

// report.c
/** A roll call of @node returns now, with @end. */
void check_report(const struct node *node, const struct roll_call *call, const struct roll_end *end);

// words.c
/** @node prints @text while it calls the roll. */
void check_saying(const struct node *node, enum roll_level level, const char *text);
/** The error of its roll call. */
void check_error(const struct node *node, const struct roll_call *call, const struct roll_end *end);
/** @node knows now who was @first; and what it prints then. */
void check_first(const struct node *node, const struct together *t, const struct ended *first);
void check_printed(const struct node *node, const struct together *t);

// times.c
/** A roll call of @node returns now. */
void check_call_time(const struct node *node, const struct roll_call *call);
void check_times(void);
/** @node knows now that a program hangs. */
void check_no_progress(const struct node *node, const struct together *t, const struct ended *first);

// promises.c
void check_job(void);
bool promise_is_on(const char *name);
/** What @node printed or reported, @words, breaks @promise; then why. */
void broken_saying(const char *promise, const struct node *node, const char *words, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/** How long a message, and a process that is interrupted, may take. */
uint64_t longest_way(void);
/** Whether somebody who knows the key of the job lies: a member of the job can do all that a member or the master can do. */
bool is_lied_to(void);
