// SPDX-License-Identifier: Apache-2.0

/** What goes wrong, and when. */

#include "job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *const what_names[N_WHAT] = {"unable",   "asked",  "term",  "int",  "kill",	"replaced",
					"gone",	    "back",   "twin",  "cut",  "reset", "stop",
					"stranger", "liar",   "taken", "late", "never", "differs",
					"no_names", "counts", "fails", "ends"};
const char *const when_names[N_WHEN] = {"time", "call", "sends", "sent", "arrives", "phase"};
const char *const phase_names[N_PHASES] = {"calls", "starts", "ended", "leftovers", "quits"};

static const uint64_t frames[] = {FRAME_GO,   FRAME_HELLO, FRAME_PROOF, FRAME_GREETING, FRAME_MEET,
				  FRAME_WAIT, FRAME_ASK,   FRAME_FACTS, FRAME_NO,	FRAME_HEARD,
				  FRAME_BYE,  FRAME_END,   FRAME_ENDED, FRAME_DIED};

static struct node *node_of(const struct fault *f) {
	return &job.nodes[f->node];
}

unsigned count_faults(enum what what) {
	unsigned n = 0;
	for (unsigned i = 0; i < job.n_faults; i++) {
		n += job.faults[i].what == what;
	}
	return n;
}

bool has_fault(enum what what) {
	return count_faults(what) > 0;
}

/** Kinds of calls that do not fail for long: a loop that waits for such a one would turn, and may. */
static bool is_once_only(enum call call, int code) {
	return code == ECONNABORTED || call == CALL_POLL || call == CALL_EPOLL_WAIT || call == CALL_RECEIVE ||
	       call == CALL_SEND;
}

/** In @on: the node that it happens to. */
#define SAME_NODE 99

static void fault_plan(unsigned i) {
	struct fault *f = &job.faults[i];
	uint64_t allowed[N_WHAT], n = 0;
	for (uint64_t what = 0; what < N_WHAT; what++) {
		const bool only_together = what == WHAT_ENDS;
		if (rules.faults >> what & 1 && (job.together || !only_together)) {
			allowed[n++] = what;
		}
	}
	if (!n) {
		allowed[n++] = WHAT_LATE;
	}
	f->what = (enum what)(choose_always(C_what, allowed, n, i) % N_WHAT);
	f->node = (int)(job.n - 1 - choose(C_node, i, 0, job.n));
	f->when = (enum when)(CHOOSE(when, i, 0, WHEN_TIME, WHEN_CALL, WHEN_SENDS, WHEN_SENT, WHEN_ARRIVES,
				     WHEN_ARRIVES, job.together ? WHEN_PHASE : WHEN_SENDS,
				     job.together ? WHEN_PHASE : WHEN_CALL) %
			      N_WHEN);
	// These come from outside, at a time.
	if (f->what == WHAT_STRANGER || f->what == WHAT_TAKEN || f->what == WHAT_LIAR) {
		f->when = WHEN_TIME;
	}
	const uint64_t scale = CHOOSE(at, i, 1, 0, 10 * MS, 1 * MS, 100 * MS, 1 * S, 10 * S, 30 * S);
	f->at = scale ? choose(C_at, i, 0, scale) : 0;
	if (f->when == WHEN_TIME) {
		f->at += BEGIN;
	} else if (CHOOSE(at, i, 2, 1, 1, 1, 0)) {
		f->at = 0;
	}
	f->frame = (uint8_t)(f->when == WHEN_PHASE
				     ? choose(C_frame, i, 1, N_PHASES)
				     : choose_of(C_frame, i, 0, frames, sizeof(frames) / sizeof(frames[0])));
	f->nth = 1 + (uint32_t)(f->when == WHEN_CALL ? choose(C_nth, i, 1, job.together ? 300 : 140)
						     : CHOOSE(nth, i, 0, 0, 0, 1, 2, 3));
	f->on = (int)CHOOSE(on, i, 0, SAME_NODE, SAME_NODE, SAME_NODE, 0);
	f->on = f->on == SAME_NODE || f->on >= (int)job.n ? f->node : f->on;
	f->kind = (uint32_t)choose(C_kind, i, 0, 16);
	f->code = (uint32_t)choose(C_code, i, 0, 4);
	const uint64_t lasts = CHOOSE(lasts, i, 1, 1 * S, 100 * MS, 5 * S, 10 * MS, 25 * S, 3 * S, 60 * S);
	f->lasts = lasts - choose(C_lasts, i, 0, lasts);
	f->twice = CHOOSE(twice, i, 0, 0, 0, 0, 0, 0, 1 * MS, 100 * MS, 3 * S);
}

/** Some jobs are about what seldom comes together by chance. */
static void aim(uint64_t what) {
	struct fault *f = job.faults;
	if (what == 1 && !job.together && job.n > 2) {
		// A machine goes, and another one is waited for until the deadline.
		job.timeout_ms = 60000;
		f[0].what = f[0].kind % 2 ? WHAT_GONE : WHAT_CUT;
		f[0].when = WHEN_TIME;
		f[0].at = BEGIN + job.spread + 1 * S + f[0].at % (15 * S);
		f[0].lasts = 70 * S;
		f[0].node = (int)job.n - 1;
		f[1].what = f[1].kind % 4 ? WHAT_LATE : WHAT_NEVER;
		f[1].kind |= 8;
		f[1].node = 1;
	} else if (what == 2) {
		// A member is asked to end at about the time of GO.
		f[0].what = f[0].kind % 4 ? WHAT_TERM : WHAT_INT;
		f[0].node = (int)(1 + f[0].kind % (job.n > 1 ? job.n - 1 : 1));
		f[0].node = f[0].node < (int)job.n ? f[0].node : 0;
		f[0].on = 0;
		f[0].when = WHEN_ARRIVES;
		f[0].frame = FRAME_HELLO;
		f[0].nth = job.n > 1 ? job.n - 1 : 1;
		f[0].at %= 2 * (weather.latency + weather.jitter) + 1 * MS;
		f[0].twice = 0;
		job.n_faults = 1;
	}
}

void faults_plan(void) {
	const uint64_t aimed = CHOOSE(aim, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
	if (aimed && job.n_faults < 2) {
		job.n_faults = 2;
	}
	for (unsigned i = 0; i < job.n_faults; i++) {
		fault_plan(i);
	}
	aim(aimed);
}

static void harm(uint64_t until) {
	job.harm_until = until > job.harm_until ? until : job.harm_until;
}

/** Another process comes in the place of one that was killed. */
static void come_back(void *a) {
	const struct fault *f = a;
	const struct node *old = node_of(f);
	char name[8];
	if (job.n_nodes == (int)(sizeof(job.nodes) / sizeof(job.nodes[0]))) {
		return;
	}
	if (f->what == WHAT_BACK) {
		host_up(old->host);
	}
	snprintf(name, sizeof(name), "%.5s%s", old->name, f->kind % 2 ? "b" : "");
	struct node *node = node_add(old->rank, old->host, name);
	// A pod that was made anew counts from 0; a process that was not restarted by distinit, too.
	node->start = f->kind % 4 < 2 ? old->start : 0;
	node->is_replacement = true;
	node_start(node, time_now);
}

static void start_twin(const struct fault *f) {
	const struct node *old = node_of(f);
	char name[8];
	if (job.n_nodes == (int)(sizeof(job.nodes) / sizeof(job.nodes[0]))) {
		return;
	}
	snprintf(name, sizeof(name), "%.5s%s", old->name, f->kind % 2 ? "b" : "");
	struct node *twin = node_add(old->rank, SPARE_HOST, name);
	twin->start = old->start + (f->kind % 4 >= 2);
	twin->is_replacement = true;
	node_start(twin, time_now);
}

static void reset(const struct node *node) {
	for (int host = 1; host < MACHINES_MAX; host++) {
		if ((node->host == 0 || host == node->host) && network_reset(0, host)) {
			harm(time_now);
		}
	}
}

static void signal_node(struct node *node, int number) {
	if (!node->signalled) {
		node->signalled = true;
		node->signalled_at = time_now;
	}
	process_signal(node->process, number);
}

static void fire(struct fault *f) {
	struct node *node = node_of(f);
	struct process *process = node->process;
	const bool alive = process_is_alive(process);
	f->fired = true;
	f->fired_at = time_now;
	if (f->what == WHAT_TWIN) {
		start_twin(f);
	} else if (f->what == WHAT_CUT) {
		trace("%s does not reach the others for %.3f ms", node->name, (double)f->lasts / 1000);
		harm(time_now + f->lasts);
		network_cut(f->lasts, 1U << node->host);
	} else if (f->what == WHAT_RESET) {
		reset(node);
	}
	if (!alive) {
		return;
	}
	switch (f->what) {
	case WHAT_TERM:
	case WHAT_INT:
		signal_node(node, f->what == WHAT_TERM ? SIGTERM : SIGINT);
		break;
	case WHAT_KILL:
	case WHAT_REPLACED:
	case WHAT_GONE:
	case WHAT_BACK:
		node->killed = true;
		node->killed_at = time_now;
		node->gone = f->what == WHAT_GONE || f->what == WHAT_BACK;
		harm(time_now);
		if (node->gone) {
			host_down(node->host);
		} else {
			process_kill(process);
		}
		if (f->what == WHAT_REPLACED || f->what == WHAT_BACK) {
			at_time(time_now + f->lasts, come_back, f);
		}
		break;
	case WHAT_STOP:
		process_stop(process, f->lasts);
		break;
	case WHAT_FAILS: {
		const enum call call = (enum call)(1 + f->kind % (N_CALLS - 1));
		node->system_call_failed = true;
		// It may come later.
		harm(NEVER);
		const int code = call_errno(call, f->code);
		const bool once = f->code > 1 || is_once_only(call, code);
		process_fail(process, call, code, once ? 0 : time_now + f->lasts);
		break;
	}
	default:
		break;
	}
}

static void fire_now(void *a) {
	fire(a);
}

/** The moment for @f has come. */
static void come_to(struct fault *f) {
	const uint64_t after = f->when == WHEN_TIME ? 0 : f->at;
	f->planned = true;
	if (after) {
		at_time(time_now + after, fire_now, f);
	} else {
		fire(f);
	}
	if (f->twice) {
		at_time(time_now + after + f->twice, fire_now, f);
	}
}

/** Count what has happened to @node. */
static void count(const struct process *process, enum when when, uint8_t frame) {
	for (unsigned i = 0; i < job.n_faults; i++) {
		struct fault *f = &job.faults[i];
		if (f->when == when && f->frame == frame && !f->planned &&
		    job.nodes[f->on].process == process && ++f->seen == f->nth) {
			come_to(f);
		}
	}
}

static void at_call(struct process *process) {
	for (unsigned i = 0; i < job.n_faults; i++) {
		struct fault *f = &job.faults[i];
		if (f->when == WHEN_CALL && !f->planned && node_of(f)->process == process &&
		    process->calls >= f->nth) {
			come_to(f);
		}
	}
}

void faults_at_phase(struct node *node, enum phase phase) {
	trace("phase: %s", phase_names[phase]);
	count(node->process, WHEN_PHASE, (uint8_t)phase);
	if (node->process->state == PROCESS_DEAD || node->process->stopped_until > time_now) {
		process_sleep(0);
	}
}

static struct node *node_at(int host) {
	struct node *found = NULL;
	for (int i = 0; i < job.n_nodes; i++) {
		found = job.nodes[i].host == host && job.nodes[i].process ? &job.nodes[i] : found;
	}
	return found;
}

static void at_send(struct process *process, int to, uint8_t type) {
	(void)to;
	if (type == FRAME_GO && process == job.nodes[0].process) {
		job.last_go_at = time_now;
		if (!job.go_at && process->calls != job.look_calls + 1 && !weather.interrupt &&
		    weather.call == 1 && !has_fault(WHAT_FAILS) && promise_is_on("look-before-go")) {
			broken("look-before-go", "h0 makes %u system calls between its last look and GO",
			       process->calls - job.look_calls - 1);
		}
	}
	if (type == FRAME_GO && !job.go_at) {
		job.go_at = time_now;
		job.looked_at = job.last_look;
	}
	count(process, WHEN_SENDS, type);
}

static void at_sent(struct process *process, int to, uint8_t type) {
	(void)to;
	count(process, WHEN_SENT, type);
}

static void at_arrival(int from, struct process *to, uint8_t type) {
	struct node *node = node_at(from);
	trace("-> %s has %s from host %d", to ? to->name : "nobody", frame_name(type), from);
	if (to == job.nodes[0].process && node) {
		if (type == FRAME_BYE) {
			node->bye_at = node->bye_at ? node->bye_at : time_now;
			node->left_at = time_now;
		}
		if (type == FRAME_HELLO) {
			node->hello_at = time_now;
			node->left_at = 0;
		}
	}
	count(to, WHEN_ARRIVES, type);
}

static void at_end(int from, struct process *to) {
	struct node *node = node_at(from);
	if (to == job.nodes[0].process && node) {
		node->left_at = time_now;
	}
}

static void at_poll(struct process *process) {
	if (process == job.nodes[0].process && !job.go_at) {
		job.last_look = time_now;
		job.look_calls = process->calls;
	}
}

/** What a fault means from the beginning on. */
static void prepare(struct fault *f) {
	struct node *node = node_of(f);
	switch (f->what) {
	case WHAT_UNABLE:
	case WHAT_ASKED:
		node->unable = "the check 'shm' failed";
		node->asked = f->what == WHAT_ASKED;
		break;
	case WHAT_LATE:
		// Also about when the time is over.
		node->begins += f->kind < 8 ? f->lasts : job.timeout_ms * MS - 2 * S + f->lasts % (4 * S);
		break;
	case WHAT_NEVER:
		node->exists = false;
		break;
	case WHAT_DIFFERS:
		node->facts = 1 + (int)(f->kind % 6);
		break;
	case WHAT_NO_NAMES:
		weather.names_from = BEGIN + f->lasts;
		break;
	case WHAT_COUNTS:
		if (f->node) {
			node->size = f->kind % 2 && node->size > 2 ? node->size - 1 : node->size + 1;
			node->size = node->size > NODES_MAX + 1 ? NODES_MAX + 1 : node->size;
			node->size = node->rank >= node->size ? node->rank + 1 : node->size;
		}
		break;
	default:
		break;
	}
}

static bool is_from_outside(enum what what) {
	return what == WHAT_STRANGER || what == WHAT_LIAR || what == WHAT_TAKEN;
}

void faults_begin(void) {
	watchers = (struct watchers){at_call, at_send, at_sent, at_arrival, at_end, at_poll, plan_host_of};
	for (unsigned i = 0; i < job.n_faults; i++) {
		prepare(&job.faults[i]);
	}
	for (unsigned i = 0; i < job.n_faults; i++) {
		struct fault *f = &job.faults[i];
		if (f->what == WHAT_TAKEN) {
			process_start(f->kind & 8 ? f->at : BEGIN - 1 * S, 0, "port", taken_main, f);
		} else if (f->what == WHAT_STRANGER) {
			process_start(f->at, STRANGER_HOST, "who", stranger_main, f);
		} else if (f->what == WHAT_LIAR) {
			process_start(f->at, STRANGER_HOST, "liar", liar_main, f);
		} else if (f->when == WHEN_TIME && !is_from_outside(f->what)) {
			at_time(f->at, fire_now, f);
			if (f->twice) {
				at_time(f->at + f->twice, fire_now, f);
			}
		}
	}
}

void job_run(void) {
	kernel_begin();
	calls_most = promise_is_on("no-turning") ? CALLS_MOST : UINT32_MAX;
	plan_job();
	faults_begin();
	if (tracing) {
		job_show();
	}
	for (unsigned i = 0; i < job.n; i++) {
		struct node *node = &job.nodes[i];
		if (node->exists) {
			node_start(node, node->begins);
		}
	}
	kernel_run(BEGIN + (3 * job.timeout_ms + 200000 + (job.together ? 900000 : 0)) * MS);
	if (!broken_name[0]) {
		check_job();
	}
}
