// SPDX-License-Identifier: Apache-2.0

/**
 * What has to hold. Each promise has a name; promises.txt has the sentence of a page or a header that makes it. A promise says
 * what it allows: what a fault may do is not broken.
 */

#include "job.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool promise_is_on(const char *name) {
	const char *at = strstr(rules.skip, name);
	const size_t n = strlen(name);
	return !at || (at > rules.skip && at[-1] != ',') || (at[n] && at[n] != ',');
}

void broken_saying(const char *promise, const struct node *node, const char *words, const char *format, ...) {
	char text[200];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	broken(promise, "%s, and %s says '%s'", text, node->name, words);
}

#define PROMISE(name, condition, ...) \
	do { \
		if (!(condition) && promise_is_on(name)) { \
			broken(name, __VA_ARGS__); \
		} \
	} while (0)

static const char *names_of(bool (*is)(const struct node *)) {
	static char text[2][200];
	static int which;
	char *out = text[which ^= 1];
	out[0] = '\0';
	for (int i = 0; i < job.n_nodes; i++) {
		if (is(&job.nodes[i])) {
			strcat(strcat(out, out[0] ? "," : ""), job.nodes[i].name);
		}
	}
	return out;
}

static bool started(const struct node *node) {
	return node->returned && node->result == ROLL_STARTED;
}

/** It is there to the end, nobody asked it to end, and nobody took its place. */
static bool stays(const struct node *node) {
	return node->process && !node->killed && !node->signalled &&
	       !(node->returned && node->result == ROLL_REPLACED);
}

static bool stays_and_does_not_start(const struct node *node) {
	return stays(node) && !started(node);
}

static bool is_unable(const struct node *node) {
	// Another may have come in its place.
	return node->unable && node->process && !node->killed && !node->signalled;
}

bool is_lied_to(void) {
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		const bool speaks = f->what == WHAT_LIAR || (f->what == WHAT_TAKEN && f->kind % 8 >= 4);
		if (speaks && f->code >= 2) {
			return true;
		}
	}
	return false;
}

uint64_t longest_way(void) {
	return weather.latency + weather.jitter + (weather.late ? weather.late_by : 0) +
	       (weather.interrupt ? weather.interrupt_most : 0);
}

/** Whether a crash, a cut or a failing system call may be the reason that some start and others do not. */
static bool is_excused(void) {
	if (job.harm_until >= job.looked_at) {
		return true;
	}
	// Its end was not known yet, or never will be.
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (node->killed && (node->gone || !node->left_at || node->left_at > job.looked_at ||
				     node->killed_at + longest_way() >= job.looked_at)) {
			return true;
		}
	}
	return false;
}

/** Whether all that do not start gave up while GO was on its way, or the news of that was; the master may be stopped just then. */
static bool is_at_the_deadline(void) {
	const uint64_t way = 2 * longest_way() + 50 * MS;
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		const bool gave_up = node->result == ROLL_ABSENT &&
				     node->returned_at + way >= job.looked_at &&
				     node->returned_at <= job.last_go_at + way + node->process->stopped;
		if (stays_and_does_not_start(node) && !gave_up) {
			return false;
		}
	}
	return true;
}

/** When it has to have returned. */
static uint64_t latest_end(const struct node *node) {
	const uint64_t ms = plan_timeout(node);
	return node->begins + (ms + (job.secret ? ms : 1000) + 10000) * MS + node->process->stopped +
	       40 * longest_way();
}

// After the roll call.

/** Nothing is wrong that keeps the job from starting. */
static bool is_benign(void) {
	bool benign = longest_way() <= 150 * MS && weather.window > 2000;
	// Members look for the master every 2 s.
	for (unsigned i = 1; i < job.n; i++) {
		benign &= job.nodes[0].begins + 2 * S + 10 * longest_way() <
			  job.nodes[i].begins + job.timeout_ms * MS;
	}
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		const struct node *node = &job.nodes[f->node];
		benign &= f->what == WHAT_STRANGER ||
			  (f->what == WHAT_TAKEN && !job.port_given && job.timeout_ms >= 60000 &&
			   (job.secret || f->kind % 8 < 4)) ||
			  (f->what == WHAT_DIFFERS && node->facts != 1 && node->facts != 4) ||
			  (f->what == WHAT_NO_NAMES && f->lasts + job.spread + 4 * S < job.timeout_ms * MS) ||
			  (f->what == WHAT_LATE && f->kind < 8 &&
			   node->begins + 4 * S < BEGIN + job.timeout_ms * MS) ||
			  (f->what == WHAT_LIAR && job.secret && f->code < 2);
	}
	return benign && !(has_fault(WHAT_TAKEN) && job.nameless && !job.secret);
}

/** Whatever was wrong is over long before the deadline. */
static bool is_mended(void) {
	bool mended =
		!job.go_at && job.timeout_ms >= 60000 && longest_way() <= 250 * MS && weather.window > 2000;
	mended &= job.secret || !job.nameless;
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		const struct node *node = &job.nodes[f->node];
		const bool passes = f->what == WHAT_CUT || f->what == WHAT_STOP || f->what == WHAT_REPLACED ||
				    f->what == WHAT_BACK || f->what == WHAT_RESET;
		mended &= (passes && (!f->fired || f->fired_at + f->twice + f->lasts < BEGIN + 25 * S)) ||
			  (f->what == WHAT_STRANGER && f->at + f->lasts < BEGIN + 25 * S) ||
			  (f->what == WHAT_TAKEN && !job.port_given && (job.secret || f->kind % 8 < 4)) ||
			  // Before a restart the port is tried for 30 s.
			  (f->what == WHAT_TAKEN && job.restart && f->kind < 4 && f->lasts < 20 * S) ||
			  (f->what == WHAT_DIFFERS && node->facts != 1 && node->facts != 4) ||
			  (f->what == WHAT_NO_NAMES && f->lasts < 20 * S) ||
			  (f->what == WHAT_LATE && f->kind < 8 && node->begins < BEGIN + 20 * S);
	}
	return mended;
}

/** For how long the master was stopped in all. */
static uint64_t master_stopped(void) {
	return job.nodes[0].process ? job.nodes[0].process->stopped : 0;
}

/** A machine that is gone or cut off for so long is not taken for one that is here. */
#define NOTICED (35 * S)

/** Whether @node is apart from the master from long before @at on. */
static bool is_lost_at(const struct node *node, uint64_t at) {
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		const bool apart =
			f->what == WHAT_GONE || (f->what == WHAT_CUT && f->fired_at + f->lasts > at);
		if (&job.nodes[f->node] == node && apart && f->fired &&
		    f->fired_at + NOTICED + master_stopped() < at) {
			return true;
		}
	}
	return false;
}

static void check_lost(unsigned n_started) {
	const struct node *master = &job.nodes[0];
	unsigned n_lost = 0, n_said = 0;
	const bool again = has_fault(WHAT_TWIN) || has_fault(WHAT_REPLACED) || has_fault(WHAT_BACK) ||
			   has_fault(WHAT_FAILS);
	for (unsigned i = 1; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		PROMISE("lost-is-not-here", again || !job.go_at || !n_started || !is_lost_at(node, job.go_at),
			"%s was lost long before GO, and %s start", node->name, names_of(started));
		n_lost += !node->process || node->process->calls == 0 || is_lost_at(node, master->ended_at);
	}
	if (!again && master->returned && master->result == ROLL_ABSENT &&
	    sscanf(master->error, "roll call: %u of", &n_said) == 1) {
		PROMISE("lost-is-not-here", n_said >= n_lost, "%u nodes are lost, and h0 says: %s", n_lost,
			master->error);
	}
}

/** Whether its facts are such that a difference is an error. */
static bool has_fatal_facts(const struct node *node) {
	return node->facts == 1 || (node->facts == 4 && job.agree);
}

static void check_start(unsigned n_started) {
	const struct node *master = &job.nodes[0], *asked = NULL;
	const char *unable = names_of(is_unable);
	const bool again = has_fault(WHAT_TWIN) || has_fault(WHAT_REPLACED) || has_fault(WHAT_BACK);
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (node->signalled && node->bye_at && node->bye_at < job.looked_at && !again) {
			asked = node;
		}
	}
	PROMISE("unable-nobody-starts", has_fault(WHAT_TWIN) || !(*unable && n_started),
		"%s cannot start, and %s start", unable, names_of(started));
	PROMISE("asked-nobody-starts", !(asked && n_started),
		"%s has said that it ends before GO was sent, and %s start", asked->name, names_of(started));
	bool signalled = false;
	for (int i = 0; i < job.n_nodes; i++) {
		signalled |= job.nodes[i].signalled;
	}
	// All may go between the last look and GO, which is sent to nobody then; so they do if the master is stopped there.
	PROMISE("nobody-before-all",
		!(n_started && !job.go_at && !job.harm_until && !signalled && !master_stopped()),
		"%s start without a GO", names_of(started));
	for (int i = 1; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		PROMISE("same-start",
			!started(node) || !started(master) || again ||
				(node->port == master->port && node->end_start == master->end_start),
			"%s has port %u, start %u; h0 has port %u, start %u", node->name, node->port,
			node->end_start, master->port, master->end_start);
	}
	if (is_benign()) {
		PROMISE("all-start", n_started == job.n, "nothing is wrong, and %s do not start: %s",
			names_of(stays_and_does_not_start), master->error);
	}
	PROMISE("all-start-when-mended", *unable || !is_mended() || n_started,
		"all was well again, and nobody starts: %s", master->error);
	check_lost(n_started);
	bool differs = false;
	for (int i = 1; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		differs |= node->process && stays(node) && node->facts != master->facts &&
			   (has_fatal_facts(node) || has_fatal_facts(master));
	}
	PROMISE("differing-nobody-starts", !differs || has_fault(WHAT_COUNTS) || again || !n_started,
		"the facts differ, and %s start", names_of(started));
}

static void check_all_or_none(void) {
	unsigned n_stay = 0, n_started = 0;
	for (int i = 0; i < job.n_nodes; i++) {
		n_stay += stays(&job.nodes[i]);
		n_started += stays(&job.nodes[i]) && started(&job.nodes[i]);
	}
	// Of two with one rank and name, the older one is taken for dead.
	if (!n_started || n_started == n_stay || has_fault(WHAT_TWIN)) {
		return;
	}
	const char *others = names_of(stays_and_does_not_start);
	PROMISE("all-or-none-at-the-deadline", is_excused() || !is_at_the_deadline(),
		"%s start, and the time was over for %s while GO was on its way", names_of(started), others);
	PROMISE("all-or-none", is_excused() || is_at_the_deadline(), "%s start, and %s do not",
		names_of(started), others);
	const struct node *master = &job.nodes[0];
	const bool again = has_fault(WHAT_REPLACED) || has_fault(WHAT_BACK) || has_fault(WHAT_FAILS);
	if (started(master) && !job.stay && !again) {
		PROMISE("warned-who-may-not-start", master->warned_deaf,
			"%s do not start, and h0 does without a warning", others);
	}
}

static void check_truth(void) {
	bool differs = has_fault(WHAT_COUNTS) || has_fault(WHAT_NO_NAMES) || has_fault(WHAT_CUT) ||
		       has_fault(WHAT_FAILS);
	for (int i = 0; i < job.n_nodes; i++) {
		differs |= job.nodes[i].facts == 1 || (job.nodes[i].facts == 4 && job.agree);
	}
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		PROMISE("no-difference-made-up", differs || !node->returned || node->result != ROLL_DISAGREE,
			"%s was sent: %s", node->name, node->error);
	}
}

/** Its error, without the words that only its own messages begin with. */
static const char *reason_of(const struct node *node) {
	const char *prefix = "roll call: ";
	return node->error + (strncmp(node->error, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0);
}

/** The master, the first one or one in its place, that ended for this reason; else the last of them. NULL if one of them was killed:
 *  it may have said anything. */
static const struct node *master_that_says(const char *reason) {
	const struct node *master = NULL;
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (node->rank == 0 && !node->returned) {
			return NULL;
		}
		if (node->rank == 0 && (!master || strcmp(reason_of(master), reason) != 0)) {
			master = node;
		}
	}
	return master;
}

static void check_reasons(void) {
	const char *prefix = "h0 says: ";
	for (int i = 1; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (!node->returned || strncmp(node->error, prefix, strlen(prefix)) != 0 ||
		    node->result == ROLL_REPLACED || node->result == ROLL_SIGNAL) {
			continue;
		}
		const char *reason = node->error + strlen(prefix);
		const struct node *master = master_that_says(reason);
		if (!master) {
			continue;
		}
		const char *own = reason_of(master);
		PROMISE("same-reason", strcmp(reason, own) == 0 || strlen(own) > 680,
			"%s was sent '%s', and h0 says '%s'", node->name, reason, own);
		PROMISE("same-result",
			node->result == master->result ||
				(master->result == ROLL_PORT && node->result == ROLL_ERROR),
			"%s has result %d, h0 has %d", node->name, (int)node->result, (int)master->result);
	}
}

static void check_in_time(void) {
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (node->process && !node->killed && node->process->state != PROCESS_DEAD) {
			PROMISE("in-time", node->returned && node->returned_at <= latest_end(node),
				"%s %s %.1f s after it began", node->name,
				node->returned ? "returns" : "has not returned",
				(double)((node->returned ? node->returned_at : time_now) - node->begins) / S);
		}
	}
}

/** Clocks, and whose facts differ. */
static void check_warnings(void) {
	const struct node *master = &job.nodes[0], *odd = NULL;
	bool far = false, near = true;
	unsigned n_odd = 0;
	for (unsigned i = 1; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		const int64_t ms =
			node->process ? node->process->wall_ahead - master->process->wall_ahead : 0;
		far |= ms > 5500 || ms < -5500;
		near &= ms < 4500 && ms > -4500;
		n_odd += node->facts != master->facts;
		odd = node->facts != master->facts ? node : odd;
	}
	PROMISE("clock-named", master->warned_clock || !far, "a clock is wrong, and h0 does not say so");
	PROMISE("clock-named", !master->warned_clock || !near, "h0 says that a clock is wrong, and none is");
	// Those of one group only.
	if (job.n >= 3 && n_odd == 1 && !master->facts && odd->facts < 6) {
		char on[20];
		snprintf(on, sizeof(on), "other on %s", odd->name);
		PROMISE("odd-one-named", strstr(master->difference, on), "%s differs, and h0 says: %s",
			odd->name, master->difference);
	}
}

/** Nothing is wrong but what nodes say of themselves, and who comes when. */
static bool is_quiet(void) {
	bool quiet = longest_way() <= 20 * MS && weather.window > 2000;
	for (unsigned i = 0; i < job.n_faults; i++) {
		const enum what what = job.faults[i].what;
		quiet &= what == WHAT_UNABLE || what == WHAT_ASKED || what == WHAT_DIFFERS ||
			 what == WHAT_LATE || what == WHAT_NEVER || what == WHAT_STRANGER;
	}
	return quiet;
}

/** A member that is here hears why nothing starts. */
static void check_refusal(void) {
	const struct node *master = &job.nodes[0];
	if (!is_quiet() || !master->returned || master->result == ROLL_STARTED) {
		return;
	}
	for (unsigned i = 1; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		// Who refuses does so for 10 s, or until its deadline.
		const uint64_t after = node->hello_at - master->called_at;
		const uint64_t most =
			master->call_timeout_ms * MS < 10 * S ? master->call_timeout_ms * MS : 10 * S;
		const bool last_moment = after + 50 * MS > most && after < most + 50 * MS;
		// Its own time may be over before that of the master.
		const bool here = node->hello_at && !last_moment &&
				  node->hello_at + 20 * MS < master->ended_at &&
				  master->ended_at <= node->begins + (plan_timeout(node) + 500) * MS;
		PROMISE("all-hear-why",
			!here || (node->returned && strncmp(node->error, "h0 says: ", 9) == 0),
			"%s is here, and ends with: %s; h0: %s", node->name, node->error, master->error);
	}
}

/** A member that is here, and prints much, prints who is absent. */
static void check_news(void) {
	const struct node *master = &job.nodes[0];
	for (unsigned i = 1; i < job.n && is_quiet() && job.verbose; i++) {
		const struct node *node = &job.nodes[i];
		const bool waits = node->hello_at && node->returned && master->returned &&
				   node->hello_at + 25 * S < node->returned_at &&
				   node->hello_at + 25 * S < master->returned_at;
		PROMISE("hears-who-is-absent", !waits || node->said_counts, "%s does not", node->name);
	}
}

static void check_roll_call(void) {
	unsigned n_started = 0;
	for (int i = 0; i < job.n_nodes; i++) {
		n_started += started(&job.nodes[i]);
	}
	check_in_time();
	if (is_lied_to()) {
		return;
	}
	check_start(n_started);
	check_all_or_none();
	check_truth();
	check_reasons();
	check_refusal();
	check_news();
	if (n_started == job.n && is_benign() && longest_way() <= 20 * MS && !has_fault(WHAT_LIAR)) {
		check_warnings();
	}
}

// With --together.

static uint64_t end_of(const struct node *node, const struct program *program) {
	return program->to != NEVER	 ? program->to
	       : node->process->ended_at ? node->process->ended_at
					 : time_now;
}

/** The program of the master ended with 0 in this start: the others go on without it. */
static bool master_left(uint32_t start) {
	for (int i = 0; i < job.n_nodes; i++) {
		for (int k = 0; k < job.nodes[i].n_programs; k++) {
			const struct program *program = &job.nodes[i].programs[k];
			if (job.nodes[i].rank == 0 && program->start == start &&
			    (program->raw == 0 || program->asked)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_apart(void) {
	return has_fault(WHAT_CUT) || has_fault(WHAT_GONE) || has_fault(WHAT_BACK);
}

static bool master_is_lost(const struct program *program) {
	return program->why == END_LOST && program->first == 0;
}

static void check_pair(const struct node *a, const struct program *pa, const struct node *b,
		       const struct program *pb) {
	const bool beside = pb->from < end_of(a, pa) && pa->from < end_of(b, pb);
	PROMISE("one-start-at-a-time",
		pa->start == pb->start || !beside || is_apart() || has_fault(WHAT_FAILS) ||
			has_fault(WHAT_TWIN),
		"start %u of %s runs beside start %u of %s", pa->start, a->name, pb->start, b->name);
	if (pa->start != pb->start || !beside) {
		return;
	}
	PROMISE("no-rank-twice",
		a->rank != b->rank || is_apart() || (has_fault(WHAT_TWIN) && job.n_faults > 1),
		"%s and %s both run rank %u in start %u", a->name, b->name, a->rank, pa->start);
	// A twin, and a master that came anew, may make a second job of the same name.
	const bool second = has_fault(WHAT_TWIN) && (has_fault(WHAT_BACK) || has_fault(WHAT_REPLACED));
	const bool both_know =
		!second && pa->knows && pb->knows && !master_is_lost(pa) && !master_is_lost(pb);
	PROMISE("same-first", !both_know || pa->first == pb->first,
		"in start %u %s says that rank %u was first, and %s says %u", pa->start, a->name, pa->first,
		b->name, pb->first);
	PROMISE("same-again", !both_know || pa->again == pb->again,
		"in start %u %s has again %u, and %s has %u", pa->start, a->name, pa->again, b->name,
		pb->again);
	// A twin may fail whose rank the others know by another process.
	const bool fails = pa->to != NEVER && pa->raw > 0 && !pa->asked && !pb->asked &&
			   !(has_fault(WHAT_TWIN) && job.n_faults > 1);
	const uint64_t stopped = 3 * (a->process->stopped + b->process->stopped + master_stopped());
	const uint64_t until = pa->to + (job.grace_ms + 11000) * MS + stopped + 10 * longest_way() +
			       (is_apart() || has_fault(WHAT_FAILS) ? 90 * S : 0);
	PROMISE("nobody-runs-on",
		!fails || b->killed || a->killed || end_of(b, pb) <= until || master_left(pa->start),
		"the program of %s fails in start %u, and that of %s runs for %.1f s more", a->name,
		pa->start, b->name, (double)(end_of(b, pb) - pa->to) / S);
}

/** The exit status of a node by what it knows. */
static void check_status(const struct node *node) {
	const struct program *last = node->n_programs ? &node->programs[node->n_programs - 1] : NULL;
	if (!last || !node->returned || node->result != ROLL_STARTED || node->signalled ||
	    has_fault(WHAT_FAILS) || last->raw < 0 || node->n_programs == STARTS_MAX) {
		return;
	}
	const bool first = last->knows && last->first == node->rank;
	const int own = job.always && last->raw == 0 ? 1 : last->raw;
	if (!last->knows) {
		PROMISE("status", node->status == own || node->status == 124,
			"%s exits with %d, though its program ended with %d and nobody was first", node->name,
			node->status, last->raw);
	} else if (first) {
		// One of its processes failed, or it hung, and it was asked to end for that.
		const bool ended_for_it = last->to >= last->knows_at;
		PROMISE("status",
			node->status == own || (node->status == 124 && job.limit_ms != CLOCK_NEVER) ||
				(ended_for_it && node->status && node->status != 123),
			"%s was first with %d, and exits with %d", node->name, last->raw, node->status);
	} else {
		PROMISE("status",
			node->status == 123 ||
				(last->raw == 0 && last->to <= last->knows_at + 1 * MS &&
				 node->status == own) ||
				node->status == 124,
			"%s was not first, and exits with %d (its program ended with %d)", node->name,
			node->status, last->raw);
	}
}

/** Nothing is wrong, and each program ends with 0 by itself: nobody is asked to end. */
static void check_peace(void) {
	if (job.n_faults || job.always || job.limit_ms != CLOCK_NEVER || job.progress_ms) {
		return;
	}
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		if (node->n_programs != 1 || node->programs[0].raw != 0 || node->programs[0].knows) {
			return;
		}
	}
	for (int i = 0; i < job.n_nodes; i++) {
		PROMISE("zero-ends-nothing", job.nodes[i].status == 0,
			"%s exits with %d, though all programs ended with 0", job.nodes[i].name,
			job.nodes[i].status);
	}
}

/** What a start of a job without a fault has come to. */
struct course {
	/** The first program that failed, and the first process that failed before; NEVER: none. */
	uint64_t failed_at, died_at, well_at;
	uint32_t failed, died;
	const struct program *of_failed;
	bool asked, all_know;
};

static struct course course_of(unsigned k) {
	struct course c = {NEVER, NEVER, NEVER, 0, 0, NULL, false, true};
	for (unsigned i = 0; i < job.n; i++) {
		const struct program *p =
			k < (unsigned)job.nodes[i].n_programs ? &job.nodes[i].programs[k] : NULL;
		if (!p || p->raw < 0) {
			c.all_know = false;
			continue;
		}
		c.all_know &= p->knows && !p->unclear;
		const bool fails = p->raw > 0 || job.always, by_itself = !p->knows || p->to < p->knows_at;
		const uint64_t beside = p->to > c.failed_at ? p->to - c.failed_at : c.failed_at - p->to;
		// Of two at about the same time, either may come first.
		c.all_know &= !(by_itself && fails && c.failed_at != NEVER && beside < 1 * S);
		if (by_itself && fails && p->to < c.failed_at) {
			c.failed_at = p->to;
			c.failed = i;
			c.of_failed = p;
		}
		if (by_itself && !fails && p->to < c.well_at) {
			c.well_at = p->to;
		}
		// A program that ends with 0 has handled what failed before.
		const uint64_t died_at =
			by_itself && !fails && p->to != NEVER && !job.by_workers ? NEVER : p->died_at;
		const uint64_t apart =
			p->died_at > c.died_at ? p->died_at - c.died_at : c.died_at - p->died_at;
		// Of two within 20 ms, either may come first.
		c.all_know &= p->died_at == NEVER || apart > 100 * MS;
		if (died_at < c.died_at) {
			c.died_at = died_at;
			c.died = i;
		}
	}
	return c;
}

/** Whether the course is so clear that it says who was first. */
static bool is_clear(const struct course *c) {
	const uint64_t gap =
		c->died_at > c->failed_at ? c->died_at - c->failed_at : c->failed_at - c->died_at;
	const uint64_t first = c->died_at < c->failed_at ? c->died_at : c->failed_at;
	return c->all_know && gap > 1 * S && c->well_at > first + 1 * S &&
	       (c->failed_at != NEVER || job.by_workers);
}

/** Without a fault nobody is lost. */
static void check_nobody_lost(void) {
	// A time limit may be over while GO of the next start is on its way.
	if (job.n_faults || longest_way() > 200 * MS || (job.max_restarts && job.limit_ms != CLOCK_NEVER)) {
		return;
	}
	for (unsigned i = 0; i < job.n; i++) {
		for (int k = 0; k < job.nodes[i].n_programs; k++) {
			const struct program *p = &job.nodes[i].programs[k];
			PROMISE("nobody-lost", !p->knows || p->why != END_LOST,
				"%s says that rank %u is lost", job.nodes[i].name, p->first);
		}
	}
}

/** Whether somebody's program ended in start @k before @at. */
static bool has_ended(unsigned k, uint64_t at) {
	for (unsigned i = 0; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		if (k >= (unsigned)node->n_programs || node->programs[k].to <= at ||
		    node->programs[k].from >= at) {
			return true;
		}
	}
	return false;
}

/** Whether a launcher has started a process anew in start @k. */
static bool any_anew(unsigned k) {
	bool any = false;
	for (unsigned i = 0; i < job.n; i++) {
		any |= k < (unsigned)job.nodes[i].n_programs && job.nodes[i].programs[k].anew_at;
	}
	return any;
}

/** All know of what happened at @at in start @k, soon. */
static void check_all_know(const char *name, unsigned k, uint64_t at) {
	for (unsigned i = 0; i < job.n && promise_is_on(name); i++) {
		const struct node *node = &job.nodes[i];
		if (node->signalled) {
			// It may have ended before it hears that it was first.
			continue;
		}
		const struct program *p = &node->programs[k];
		// What ended before the news came needs none.
		const bool over = !p->knows && p->to < at + 2 * longest_way() + 20 * MS;
		if (!over && (!p->knows || p->knows_at > at + 3 * S)) {
			broken(name, "%s does not know %.3f s after %.3f s what ends all in start %u",
			       node->name, 3.0, (double)(at - BEGIN) / S, k);
		}
	}
}

/** TERM to one ends all; so does a worker that fails. */
static void check_what_ends_all(void) {
	if (longest_way() > 20 * MS || job.n < 2 || job.progress_ms || job.limit_ms != CLOCK_NEVER) {
		return;
	}
	const struct node *asked =
		job.n_faults == 1 && job.faults[0].what == WHAT_TERM ? &job.nodes[job.faults[0].node] : NULL;
	if (asked && asked->signalled && job.relays && asked->n_programs) {
		const unsigned k = (unsigned)asked->n_programs - 1;
		if (!has_ended(k, asked->signalled_at)) {
			check_all_know("term-ends-all", k, asked->signalled_at);
		}
	}
	if (!job.n_faults && job.by_workers) {
		const struct course c = course_of(0);
		if (c.died_at != NEVER && !any_anew(0) && !has_ended(0, c.died_at)) {
			check_all_know("worker-ends-all", 0, c.died_at);
		}
	}
}

/** Who was first, whether all start again, and after which pause: in jobs without a fault. */
static void check_course(void) {
	if (job.n_faults || job.n < 2 || job.progress_ms || job.limit_ms != CLOCK_NEVER ||
	    longest_way() > 20 * MS) {
		return;
	}
	for (unsigned k = 0; k + 1 < STARTS_MAX && k < (unsigned)job.nodes[0].n_programs; k++) {
		const struct course c = course_of(k);
		if (!is_clear(&c)) {
			return;
		}
		const bool by_death = c.died_at < c.failed_at;
		const struct program *p = &job.nodes[0].programs[k];
		const uint32_t first = by_death ? c.died : c.failed;
		PROMISE("first-named", p->first == first, "rank %u was first in start %u, and h0 says %u",
			first, k, p->first);
		if (by_death) {
			return;
		}
		const bool mistake = c.of_failed->raw >= 125 && c.of_failed->raw <= 127,
			   final = job.final && (c.of_failed->raw ? c.of_failed->raw : 1) == (int)job.final,
			   again = job.max_restarts && !mistake && !final && k < job.max_restarts;
		PROMISE("again-as-said", (p->again == AGAIN_YES) == again,
			"start %u ends with %d, and again is %u", k, c.of_failed->raw, p->again);
		if (!again) {
			return;
		}
		// Clocks count in milliseconds.
		const uint64_t pause = k ? ((uint64_t)500 * MS << k) - 5 * MS : 0;
		for (unsigned i = 0; i < job.n; i++) {
			const struct node *node = &job.nodes[i];
			PROMISE("comes-back", (unsigned)node->n_programs > k + 1, "%s does not start %u: %s",
				node->name, k + 1, node->error);
			PROMISE("pause-grows",
				(unsigned)node->n_programs <= k + 1 ||
					node->programs[k + 1].from >= node->programs[k].knows_at + pause,
				"%s starts %u after %.3f s", node->name, k + 1,
				(double)(node->programs[k + 1].from - node->programs[k].knows_at) / S);
		}
	}
}

static void check_together(void) {
	check_peace();
	check_nobody_lost();
	check_what_ends_all();
	check_course();
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *a = &job.nodes[i];
		const bool dead = !a->process || a->killed || a->process->state == PROCESS_DEAD;
		PROMISE("all-end", dead || a->returned, "%s has not returned", a->name);
		if (is_lied_to()) {
			continue;
		}
		for (int k = 0; k < a->n_programs; k++) {
			const struct program *pa = &a->programs[k];
			PROMISE("each-start-once", k == 0 || pa->start > a->programs[k - 1].start,
				"%s starts %u twice", a->name, pa->start);
			PROMISE("no-more-restarts", pa->start <= job.max_restarts || has_fault(WHAT_TWIN),
				"%s starts %u of %u", a->name, pa->start, job.max_restarts);
			// A node that is alone does not know of another process.
			for (int j = i + 1; job.n > 1 && j < job.n_nodes; j++) {
				for (int m = 0; m < job.nodes[j].n_programs; m++) {
					check_pair(a, pa, &job.nodes[j], &job.nodes[j].programs[m]);
					check_pair(&job.nodes[j], &job.nodes[j].programs[m], a, pa);
				}
			}
		}
		if (!dead) {
			check_status(a);
		}
	}
}

void check_job(void) {
	if (job.together) {
		check_together();
	} else {
		check_roll_call();
	}
	if (!is_lied_to()) {
		check_times();
	}
}
