// SPDX-License-Identifier: Apache-2.0

/**
 * A node. Its roll calls and what follows them are the real code. That its program is a plan, and what --init does for it
 * (src/system/init/supervise.c), is played here: signals, grace, time limit, leftovers.
 */

#include "job.h"

#include "together/again.h"

#include "base/clock.h"
#include "init/init.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct node *node_add(uint32_t rank, int host, const char *name) {
	struct node *node = &job.nodes[job.n_nodes++];
	*node = (struct node){.rank = rank, .size = job.n, .host = host, .exists = true, .status = -1};
	snprintf(node->name, sizeof(node->name), "%s", name);
	return node;
}

// Its program.

/** A program while it runs. */
struct running {
	struct node *node;
	struct together *together;
	struct program *program;
	struct program_process *process;
	struct workload_end end;
	bool ended, limited, asked_by;
	/** What the program exits with if it is asked to end, and how long it takes then, in ms. */
	int status, status_if_asked;
	uint64_t obeys_ms;
	/** When it ends, is killed, and reaches its time limit, and when its leftovers are gone; on its node's clock. */
	uint64_t ends_at, kill_at, limit_at, gone_at;
	uint64_t begun;
	int signals;
};

static unsigned index_of(const struct node *node) {
	return (unsigned)(node - job.nodes);
}

/** A process that the program started. */
struct helper {
	struct program_process *process;
	struct program *program;
	int status;
	/** Its launcher starts it anew when it fails, as a child of @parent on @node. */
	bool anew;
	struct process *node;
	int parent;
};

static void helper_reaped(void *a) {
	struct helper *helper = a;
	helper->process->reaped = true;
}

/** Its launcher starts another one in its place: what has failed is handled. */
static void helper_anew(void *a) {
	const struct helper *helper = a;
	struct program *program = helper->program;
	if (program->raw < 0) {
		program_start(helper->node, helper->parent, "python3");
		program->anew_at = time_now;
		program->unclear = true;
	}
}

static void helper_ends(void *a) {
	struct helper *helper = a;
	struct program *program = helper->program;
	const bool lived = helper->process->from + 1500 * MS < time_now;
	const bool failed = program->raw < 0 && helper->status && helper->status != SIGTERM;
	program_end(helper->process, helper->status);
	// A shorter life may not be seen.
	program->unclear |= failed && !lived;
	program->failed_at = failed ? time_now : program->failed_at;
	if (failed && helper->anew) {
		at_time(time_now + 100 * MS, helper_anew, helper);
	}
	if (failed && lived && time_now < program->died_at) {
		program->died_at = time_now;
	}
	at_time(time_now + 40 * MS, helper_reaped, helper);
}

static int wait_status(int status) {
	return status > 128 ? status - 128 : status << 8;
}

static void start_workers(struct running *r, unsigned who, unsigned nth) {
	struct node *node = r->node;
	const bool shell = CHOOSE(shell, who, nth, 0, 0, 1);
	int parent = r->process->pid;
	const uint64_t n = CHOOSE(workers, who, nth, 0, 0, 1, 2, 3);
	if (shell) {
		static const char *const shells[] = {"sh", "bash", "dash", "ash", "busybox", "zsh"};
		snprintf(r->process->name, sizeof(r->process->name), "%s",
			 shells[choose(C_shell, who, nth | 0x8000, 6)]);
		parent = program_start(node->process, parent, "torchrun")->pid;
	}
	for (unsigned i = 0; i < n; i++) {
		struct helper *helper = job_memory(sizeof(*helper));
		const unsigned which = nth << 4 | i;
		const uint64_t lives =
			CHOOSE(worker_lives, who, which, NEVER, 300 * MS, 2 * S, 2 * S, 12 * S);
		*helper =
			(struct helper){program_start(node->process, parent, "python3"), r->program,
					wait_status((int)CHOOSE(worker_status, who, which, 1, 137, 0, 143))};
		helper->anew = CHOOSE(worker_anew, who, which, 0, 0, 0, 1);
		helper->node = node->process;
		helper->parent = parent;
		helper->process->blocked = CHOOSE(blocked, who, which, 0, 0, 0, 1);
		if (lives != NEVER) {
			at_time(time_now + lives + choose(C_worker_lives, who, which | 0x8000, 100 * MS),
				helper_ends, helper);
		}
	}
}

/** Writes to the file that --progress names. */
struct writer {
	struct running *r;
	struct program *program;
	int host;
	uint64_t every, until;
};

static void write_file(void *a) {
	const struct writer *writer = a;
	if (writer->program->raw < 0 && time_now < writer->until) {
		file_written(writer->host);
		writer->program->wrote_last = time_now;
		if (!writer->program->knows) {
			writer->program->wrote_before = writer->program->wrote_at;
			writer->program->wrote_at = time_now;
		}
		at_time(time_now + writer->every, write_file, a);
	}
}

static void start_program(struct running *r, struct program *program) {
	struct node *node = r->node;
	const unsigned who = index_of(node), nth = (unsigned)node->n_programs;
	const uint64_t runs = CHOOSE(runs, who, nth, 20 * S, 20 * S, 20 * S, 1 * S, 50 * MS, 5 * S, 100 * S);
	r->program = program;
	r->status = (int)CHOOSE(status, who, nth, 0, 0, 1, 137, 0, 127, 143, 123);
	r->status_if_asked = (int)CHOOSE(status_if_asked, who, nth, 143, 0, 1);
	r->obeys_ms = CHOOSE(obeys, who, nth, 10, 0, 500, 2000, 10000);
	r->begun = clock_now_ms();
	r->ends_at = r->begun + (runs + choose(C_runs, who, nth | 0x8000, 200 * MS)) / MS;
	r->kill_at = r->gone_at = CLOCK_NEVER;
	r->process = program_start(node->process, 0, "python3");
	start_workers(r, who, nth);
	if (job.progress_ms) {
		// A tape may have any number.
		const uint64_t writes = CHOOSE(writes, who, nth, 500 * MS, 2 * S);
		struct writer *writer = job_memory(sizeof(*writer));
		*writer =
			(struct writer){r, program, node->host, writes < 100 * MS ? 100 * MS : writes,
					time_now + (job.writes_once ? 1
								    : CHOOSE(writes_until, who, nth, 1000 * S,
									     1000 * S, 1 * S, 8 * S, 0))};
		at_time(time_now, write_file, writer);
	}
}

static void ask(struct running *r) {
	r->ends_at = clock_earlier(r->ends_at, clock_now_ms() + r->obeys_ms);
	r->status = r->status_if_asked;
}

/** As handle_signal() of supervise.c. */
static void take_signal(struct running *r, int number) {
	struct observer *observer = &r->together->observer;
	if (observe(observer, EVENT_SIGNAL, number, 0)) {
		r->asked_by = true;
	} else if (number == SIGCHLD) {
		r->ends_at = 0;
	} else if (r->ended) {
		// Leftovers have no more time.
		r->gone_at = r->gone_at == CLOCK_NEVER ? CLOCK_NEVER : 0;
	} else {
		trace("its program gets signal %d", number);
		r->asked_by = r->program->asked = true;
		observe(observer, EVENT_FORWARDED, number, number);
		ask(r);
		if (number == SIGTERM) {
			r->kill_at = clock_earlier(r->kill_at, clock_after(clock_now_ms(), job.grace_ms));
		}
	}
}

/** As why_ended() of why.c. */
static void note_end(struct running *r, uint64_t at) {
	const struct observer *observer = &r->together->observer;
	struct workload_end *end = &r->end;
	const int status = at >= r->ends_at ? r->status : 137;
	r->ended = true;
	program_end(r->process, wait_status(status));
	r->process->reaped = true;
	end->killed_by = status > 128 ? status - 128 : 0;
	end->exit_status = status > 128 ? 0 : status;
	end->limited = r->limited && !observer->status;
	end->raw = observer->status ? observer->status : end->limited ? 124 : status;
	end->early = end->raw == 0 && !r->asked_by;
	end->asked_to_end = r->asked_by;
	end->oom_kills = OOM_UNKNOWN;
	end->ran_ms = at - r->begun;
	end->status = job.always && end->early ? 1 : end->raw;
	snprintf(end->text, sizeof(end->text), "exit status %d", status);
	r->program->raw = status;
	r->program->to = time_now;
	r->program->killed = at < r->ends_at;
	trace("its program ends: %d, %d", status, end->raw);
	faults_at_phase(r->node, PHASE_ENDED);
}

/** What is due. */
static void do_steps(struct running *r) {
	struct observer *observer = &r->together->observer;
	const uint64_t at = clock_now_ms();
	if (!r->ended && at >= r->limit_at) {
		trace("its time limit is over");
		r->limit_at = CLOCK_NEVER;
		observer->limit = true;
	}
	if (!r->ended && observer->limit) {
		r->limited |= !observer->status;
		ask(r);
		r->kill_at = clock_earlier(r->kill_at, clock_after(at, job.grace_ms));
	}
	observer->limit = false;
	if (!r->ended && at >= clock_earlier(r->ends_at, r->kill_at)) {
		note_end(r, at);
	}
}

/** When to wake without a signal. */
static uint64_t next_step(const struct running *r) {
	const struct observer *observer = &r->together->observer;
	if (r->ended && !observer->end) {
		return 0;
	}
	if (r->ended) {
		return observer->busy ? observer->due_at : clock_earlier(r->gone_at, observer->due_at);
	}
	return clock_earlier(clock_earlier(observer->due_at, r->limit_at),
			     clock_earlier(r->ends_at, r->kill_at));
}

/** Leftovers are ended when nothing else is to be done. Returns whether they are gone. */
static bool leftovers_are_gone(struct running *r) {
	if (r->gone_at == CLOCK_NEVER) {
		const uint64_t ms =
			CHOOSE(leftovers, index_of(r->node), (unsigned)r->node->n_programs, 0, 0, 20, 1500);
		r->gone_at = clock_now_ms() + (ms < job.grace_ms ? ms : job.grace_ms);
		faults_at_phase(r->node, PHASE_LEFTOVERS);
	}
	return clock_now_ms() >= r->gone_at;
}

/** One program, from its start to its end. Returns the exit status. */
static int supervise(struct node *node, struct together *t, uint64_t limit_at) {
	struct observer *observer = &t->observer;
	struct program *program = &node->programs[node->n_programs - 1];
	struct running *r = job_memory(sizeof(*r));
	sigset_t all;
	*r = (struct running){.node = node, .together = t};
	start_program(r, program);
	r->limit_at = limit_at;
	sigfillset(&all);
	r->signals = signalfd(-1, &all, SFD_NONBLOCK);
	trace("its program starts: %u", t->start);
	observe(observer, EVENT_STARTED, r->process->pid, 0);
	faults_at_phase(node, PHASE_STARTS);
	for (;;) {
		struct pollfd fds[] = {
			{.fd = r->signals, .events = POLLIN}, observer->fds[0], observer->fds[1]};
		struct signalfd_siginfo info;
		poll(fds, 3, clock_poll(clock_now_ms(), next_step(r)));
		if (read(r->signals, &info, sizeof(info)) == sizeof(info)) {
			take_signal(r, (int)info.ssi_signo);
		}
		if (r->ended && !observer->end) {
			observer->end = &r->end;
			observe(observer, EVENT_ENDED, 0, 0);
		}
		observe(observer, EVENT_WAKE, 0, 0);
		if (observer->words) {
			if (!job.max_restarts && strstr(observer->words, "starting again") &&
			    promise_is_on("no-restart-unasked")) {
				broken("no-restart-unasked", "%s says: %s", node->name, observer->words);
			}
			trace("%s: %s", observer->last_words ? "error" : "warning", observer->words);
			if (!is_lied_to()) {
				check_printed(node, t);
			}
		}
		observer->words = NULL;
		do_steps(r);
		if (r->ended && observer->end && !observer->busy && leftovers_are_gone(r)) {
			break;
		}
	}
	if (r->signals >= 0) {
		close(r->signals);
	}
	return observer->status ? observer->status : r->end.status;
}

// Between two starts.

static void report_first(struct together *t, const struct ended *first) {
	struct node *node = t->call->context;
	struct program *program = &node->programs[node->n_programs - 1];
	trace("knows: %s; again: %u", t->first, first->again);
	program->knows = true;
	program->knows_at = time_now;
	program->first = first->rank;
	program->why = first->why;
	program->again = first->again;
	if (!is_lied_to()) {
		check_first(node, t, first);
		check_no_progress(node, t, first);
	}
}

static void take_result(struct node *node, int r, const struct roll_end *end) {
	node->r = r;
	node->result = end->result;
	node->signal = end->signal;
	node->port = end->port;
	node->end_start = end->start;
	node->ended_at = time_now;
	snprintf(node->error, sizeof(node->error), "%s", end->error.text);
	trace("returns %d, result %d, signal %d, port %u, start %u: %s", r, end->result, end->signal,
	      end->port, end->start, end->error.text);
}

/** It calls once more, to say that it ends, if it has to. */
static void note_quit(struct node *node, const char *why) {
	if (why && job.n > 1) {
		trace("calls once more, to say that it ends: %s", why);
		faults_at_phase(node, PHASE_QUITS);
		node->called_at = time_now;
	}
}

/** Returns whether to call again. */
static bool call_again(struct node *node, struct together *t, struct roll_call *call, struct roll_end *end) {
	note_quit(node, job.max_restarts ? t->cancel_reason : NULL);
	*call = plan_call(node, call->arena);
	if (!together_again(t, call, &end->reserved, 2 * job.grace_ms)) {
		return false;
	}
	*call = plan_call(node, call->arena);
	together_call(t, call);
	return true;
}

/** A node that is alone calls no roll. */
static int call_roll(struct roll_call *call, struct roll_end *end) {
	if (call->size > 1) {
		return roll_call(call, end);
	}
	together_alone(call, end);
	return 0;
}

static struct together *make_together(struct arena *arena) {
	struct together *t = arena_alloc(arena, sizeof(*t));
	struct err err;
	memset(t, 0, sizeof(*t));
	t->relays = job.relays;
	t->always = job.always;
	t->by_workers = job.by_workers;
	t->linger_ms = job.linger_ms;
	t->max_restarts = job.max_restarts;
	t->is_final[job.final] = job.final;
	t->max_idle = job.max_idle;
	t->report = report_first;
	t->limit_at = clock_after(clock_now_ms(), job.limit_ms);
	if (job.progress_ms) {
		progress_read(arena, "--progress",
			      arena_format(arena, "/progress:%ums", (unsigned)job.progress_ms), &t->progress,
			      &err);
	}
	return t;
}

/** It exits as it is: the kernel closes what is open. */
static void exit_now(struct node *node) {
	struct process *process = node->process;
	node->returned = true;
	node->returned_at = time_now;
	for (int fd = 0; fd < FILES_MAX; fd++) {
		if (process->files[fd]) {
			close(fd);
		}
	}
	process_exit();
}

/** All start, and a signal has come since. Without --init it ends this node. */
static void take_late_signal(struct node *node, int number) {
	if (job.holds_signals) {
		// It waits for supervise().
		process_signal(node->process, number);
		return;
	}
	node->status = 128 + number;
	exit_now(node);
}

/** One start. Returns whether there is another one. */
static bool run_start(struct node *node, struct together *t, struct roll_call *call, struct roll_end *end) {
	struct err err;
	faults_at_phase(node, PHASE_CALLS);
	node->called_at = time_now;
	node->said_absent = false;
	node->call_timeout_ms = call->timeout_ms;
	take_result(node, call_roll(call, end), end);
	check_call_time(node, call);
	if (node->size > 1 && !is_lied_to()) {
		check_report(node, call, end);
		check_error(node, call, end);
	}
	if (end->result == ROLL_STARTED && end->signal) {
		take_late_signal(node, end->signal);
	}
	if (end->result != ROLL_STARTED) {
		node->status = roll_status(end);
		if (end->result == ROLL_SIGNAL && call->late_at && t && t->relays && node->n_programs) {
			*call = plan_call(node, call->arena);
			note_quit(node, "SIGTERM");
			together_cancel(t, call, "SIGTERM");
		}
		return false;
	}
	if (!t || node->n_programs == STARTS_MAX) {
		node->status = 0;
		return false;
	}
	t->start = end->start;
	node->start = end->start;
	node->programs[node->n_programs++] = (struct program){
		.start = end->start, .died_at = NEVER, .from = time_now, .to = NEVER, .raw = -1};
	if (together_begin(t, call, end, &err) < 0) {
		trace("together_begin: %s", err.text);
		if (!has_fault(WHAT_FAILS) && promise_is_on("all-start")) {
			broken("all-start", "%s cannot watch the others: %s", node->name, err.text);
		}
		node->status = 125;
		node->programs[--node->n_programs].to = time_now;
		exit_now(node);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->lines[i].line.fd > t->observer.kept && promise_is_on("connections-not-inherited")) {
			broken("connections-not-inherited", "%s: its program gets descriptor %d", node->name,
			       t->lines[i].line.fd);
		}
	}
	end->lines = NULL;
	node->status = supervise(node, t,
				 job.max_restarts ? t->limit_at : clock_after(clock_now_ms(), job.limit_ms));
	const bool again = call_again(node, t, call, end);
	end->reserved = -1;
	return again;
}

static void node_main(struct process *process) {
	struct node *node = process->context;
	struct arena arena;
	struct roll_end end = {.reserved = -1};
	char text[200];
	arena_init(&arena, NULL, 0, out_of_memory);
	process->soft = CHOOSE(open_files, index_of(node), 0, 1024, 1024, 1024, 14);
	process->mask = job.holds_signals ? ~(uint64_t)0 : 0;
	const uint64_t mask = process->mask, soft = process->soft;
	struct roll_call call = plan_call(node, &arena);
	struct together *t = job.together ? make_together(&arena) : NULL;
	trace("begins: rank %u of %u", node->rank, node->size);
	while (run_start(node, t, &call, &end)) {
		if (process_files(process, text, sizeof(text)) && promise_is_on("nothing-left")) {
			broken("nothing-left", "%s leaves%s between two starts", node->name, text);
		}
	}
	node->returned = true;
	node->returned_at = time_now;
	trace("exits with %d", node->status);
	if (end.lines) {
		if (end.result != ROLL_STARTED && promise_is_on("nothing-left")) {
			broken("nothing-left", "%s has connections, though it does not start", node->name);
		}
		for (unsigned i = 0; i < (node->rank ? 1 : node->size); i++) {
			if (end.lines[i].line.fd >= 0) {
				close(end.lines[i].line.fd);
			}
		}
	}
	if (end.reserved >= 0) {
		close(end.reserved);
	}
	if (process_files(process, text, sizeof(text)) && promise_is_on("nothing-left")) {
		broken("nothing-left", "%s leaves%s", node->name, text);
	}
	if ((process->mask != mask || process->soft != soft) && promise_is_on("nothing-left")) {
		broken("nothing-left", "%s has another signal mask or limit", node->name);
	}
	arena_done(&arena);
	if (process->mapped && promise_is_on("no-memory-kept")) {
		broken("no-memory-kept", "%s keeps %zu bytes beside its arena", node->name, process->mapped);
	}
}

void node_start(struct node *node, uint64_t at) {
	node->begins = at;
	node->process = process_start(at, node->host, node->name, node_main, node);
	node->process->clock_ahead = 5000 + 1000 * (unsigned)node->process->id;
	// 10 s are subtracted: a choice is not negative.
	node->process->wall_ahead =
		(int64_t)CHOOSE(wall_ahead, index_of(node), 0, 10000, 10000, 10000, 17000, 1000, 14000) -
		10000;
}
