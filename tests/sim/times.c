// SPDX-License-Identifier: Apache-2.0

/** When things happen, in jobs in which nothing else disturbs: as soon as the pages say, and not before. */

#include "job.h"

#include "base/clock.h"

#include <string.h>

/** The longest pause of a member between two calls, and what a few messages and look-ups take. */
#define BACKOFF_MOST (2 * S)
#define MESSAGES     (10 * (weather.latency + weather.jitter) + 6 * weather.lookup + 100 * MS)

#define IN_TIME(name, condition, ...) \
	do { \
		if (!(condition) && promise_is_on(name)) { \
			broken(name, __VA_ARGS__); \
		} \
	} while (0)

/** The network does not hold anything up, and nothing is wrong but faults of these kinds: bit each. */
static bool is_only(uint32_t faults) {
	bool is = weather.latency + weather.jitter <= 15 * MS && !weather.late && !weather.interrupt &&
		  weather.window > 2000;
	for (unsigned i = 0; i < job.n_faults; i++) {
		is &= faults >> job.faults[i].what & 1;
	}
	return is;
}

static double seconds_of(uint64_t us) {
	return (double)us / S;
}

static uint64_t last_begin(void) {
	uint64_t last = 0;
	for (unsigned i = 0; i < job.n; i++) {
		last = job.nodes[i].begins > last ? job.nodes[i].begins : last;
	}
	return last;
}

/** How long the start is held at the master. */
static uint64_t hold(void) {
	const uint64_t ms = job.nameless && !job.secret && job.pause_ms < 1000 ? 1000 : job.pause_ms;
	return ms * MS;
}

/** All that are here start, or hear why not, at once. */
static void check_result_times(void) {
	const uint64_t decides = 1U << WHAT_DIFFERS | 1U << WHAT_UNABLE | 1U << WHAT_ASKED;
	if (!is_only((uint32_t)decides)) {
		return;
	}
	const uint64_t all = last_begin(), held = job.nodes[0].begins + hold();
	const uint64_t due = (all > held ? all : held) + BACKOFF_MOST + MESSAGES + 500 * MS;
	for (unsigned i = 0; i < job.n && job.spread < 4 * S; i++) {
		const struct node *node = &job.nodes[i];
		IN_TIME("start-at-once", due > BEGIN + 5 * S || node->ended_at <= due,
			"all are here after %.3f s, and %s has its result after %.3f s",
			seconds_of(all - BEGIN), node->name, seconds_of(node->ended_at - BEGIN));
	}
}

/** Who has no name for its job, or a pause, starts later. */
static void check_hold(void) {
	const struct node *master = &job.nodes[0];
	if (!master->returned || master->result != ROLL_STARTED || !job.n_faults ||
	    !is_only(1U << WHAT_DIFFERS)) {
		return;
	}
	IN_TIME("start-is-held", master->ended_at + 2 * MS >= master->begins + hold(),
		"h0 starts after %.3f s", seconds_of(master->ended_at - master->begins));
}

/** Who gives up does so at its deadline: in-time allows what others may cause. */
static void check_deadlines(void) {
	if (!is_only(1U << WHAT_NEVER | 1U << WHAT_LATE | 1U << WHAT_STRANGER | 1U << WHAT_KILL)) {
		return;
	}
	for (unsigned i = 0; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		if (node->returned && node->result == ROLL_ABSENT) {
			const uint64_t ms = plan_timeout(node);
			// It may have waited for as long as the master said, and lost it then.
			const bool heard = strncmp(node->error, "h0 says: ", 9) == 0 ||
					   strstr(node->error, "gave no result") ||
					   strncmp(node->error, "roll call: the connection to ", 29) == 0;
			const uint64_t more = heard ? (job.secret ? ms : 1000) : 0;
			// The master tells the others, and waits for them for a second.
			IN_TIME("gives-up-in-time",
				node->ended_at <= node->begins + (ms + more + 1100) * MS + MESSAGES,
				"%s gives up after %.3f s of %.3f s", node->name,
				seconds_of(node->ended_at - node->begins), seconds_of(ms * MS));
		}
	}
}

/** When the last program of start @k ends; NEVER: one is not over, or there is none. */
static uint64_t last_end(unsigned k) {
	uint64_t last = 0;
	for (unsigned i = 0; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		const uint64_t to = k < (unsigned)node->n_programs ? node->programs[k].to : NEVER;
		last = to > last ? to : last;
	}
	return last;
}

/** What ends a start is known, and all are over, at once. Who calls the roll again does so within its time limit. */
static void check_ends(void) {
	const unsigned k = (unsigned)job.nodes[0].n_programs - 1;
	const uint64_t over = last_end(k);
	if (over == NEVER || (job.max_restarts && job.limit_ms != CLOCK_NEVER)) {
		return;
	}
	for (unsigned i = 0; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		const struct program *p = &node->programs[k];
		// What it has left behind takes up to 1.5 s; it waits for the others to close for 2 s.
		const uint64_t left = (1600 < job.grace_ms ? 1600 : job.grace_ms) * MS + 2100 * MS + MESSAGES;
		const uint64_t stays = p->raw == 0 && i == 0 && !p->knows ? job.linger_ms * MS : 0;
		IN_TIME("over-at-once",
			!node->returned || node->result != ROLL_STARTED || node->returned_at <= over + left,
			"all is over after %.3f s, and %s ends after %.3f s", seconds_of(over - BEGIN),
			node->name, seconds_of(node->returned_at - BEGIN));
		IN_TIME("lingers", !stays || node->returned_at <= p->to + stays + left, "h0 stays for %.3f s",
			seconds_of(node->returned_at - p->to));
		IN_TIME("lingers",
			!stays || job.always || job.limit_ms != CLOCK_NEVER || job.progress_ms ||
				node->returned_at + 5 * MS >= over ||
				node->returned_at + 5 * MS >= p->to + stays,
			"h0 does not stay for the others");
		IN_TIME("time-limit",
			job.limit_ms == CLOCK_NEVER ||
				p->to <= node->programs[job.max_restarts ? 0 : k].from +
						 (job.limit_ms + job.grace_ms) * MS + 200 * MS,
			"%s: its program ran for %.3f s", node->name, seconds_of(p->to - p->from));
	}
}

/** The first failure, and what died before it, are named after 0.3 s. */
static void check_naming(void) {
	if (job.progress_ms || job.limit_ms != CLOCK_NEVER) {
		return;
	}
	for (unsigned k = 0; k < (unsigned)job.nodes[0].n_programs; k++) {
		uint64_t failed = NEVER, died = NEVER;
		bool unclear = false;
		for (unsigned i = 0; i < job.n; i++) {
			const struct program *p =
				k < (unsigned)job.nodes[i].n_programs ? &job.nodes[i].programs[k] : NULL;
			if (!p) {
				return;
			}
			const bool fails = p->raw > 0 || job.always;
			failed = p->to != NEVER && fails && !p->asked && p->to < failed ? p->to : failed;
			// A program that ends with 0 has handled what failed before.
			const bool well = p->raw == 0 && !fails && !p->asked && !job.by_workers;
			died = p->died_at < died && !well ? p->died_at : died;
			unclear |= p->unclear;
		}
		const struct program *master = &job.nodes[0].programs[k];
		const uint64_t first = job.by_workers && died < failed ? died : failed;
		if (unclear || !master->knows || first == NEVER || master->why != END_FAILED ||
		    first > master->knows_at) {
			return;
		}
		IN_TIME("named-soon", master->knows_at <= first + 450 * MS + MESSAGES,
			"h0 knows %.3f s after the first failure", seconds_of(master->knows_at - first));
		// Who has ended well itself waits for nothing when --linger is over.
		const bool lingers =
			master->to != NEVER && master->knows_at + 2 * MS >= master->to + job.linger_ms * MS;
		IN_TIME("named-soon",
			lingers || died > first || died + 1500 * MS > failed || job.linger_ms < 1000 ||
				master->knows_at + 2 * MS >= first + 300 * MS,
			"h0 does not wait for what died before");
	}
}

void check_call_time(const struct node *node, const struct roll_call *call) {
	const uint64_t ms = call->timeout_ms + (call->secret ? call->timeout_ms : 1000) + 10000;
	IN_TIME("in-time",
		time_now <= node->called_at + ms * MS + node->process->stopped + 40 * longest_way(),
		"%s calls for %.1f s, and has %.1f s", node->name, seconds_of(time_now - node->called_at),
		seconds_of(call->timeout_ms * MS));
}

/** Who is asked to end keeps its own status, in a job in which nothing else happens. */
static void check_asked(void) {
	const struct fault *f = &job.faults[0];
	const struct node *node = &job.nodes[f->node];
	// A second TERM ends what it still does.
	if (job.n_faults != 1 || f->what != WHAT_TERM || f->twice || !node->signalled || !node->returned) {
		return;
	}
	const struct program *last = node->n_programs ? &node->programs[node->n_programs - 1] : NULL;
	// What ends all may come in the same moment.
	const bool at_once = last && last->knows &&
			     last->knows_at < node->signalled_at + 100 * MS + 2 * longest_way() &&
			     node->signalled_at < last->knows_at + 100 * MS;
	// So may the end of its grace.
	const bool too_late = last && last->to < node->signalled_at + 1 * MS + longest_way();
	if (node->result == ROLL_SIGNAL) {
		IN_TIME("asked-own-status", node->status == 128 + 15,
			"%s was asked to end in a roll call, and exits with %d", node->name, node->status);
	} else if (last && !at_once && !too_late && node->result == ROLL_STARTED &&
		   node->signalled_at > last->from && node->signalled_at < last->to) {
		IN_TIME("asked-own-status", node->status != 123, "%s was asked to end, and exits with 123",
			node->name);
	}
	// The others end because of it, wherever it was: in the grace, in the pause, in the roll call.
	const bool quiet = is_only(1U << WHAT_TERM) && job.limit_ms == CLOCK_NEVER && !job.progress_ms &&
			   job.relays && last && node->n_programs < STARTS_MAX;
	const struct node *master = &job.nodes[0];
	const struct program *masters = master->n_programs ? &master->programs[master->n_programs - 1] : NULL;
	uint64_t over = masters && masters->to != NEVER ? masters->to + 1600 * MS : NEVER;
	for (unsigned i = 1; i < job.n; i++) {
		const uint64_t at = job.nodes[i].returned ? job.nodes[i].returned_at : NEVER;
		over = at > over ? at : over;
	}
	IN_TIME("over-at-once",
		!quiet || over == NEVER || !master->returned ||
			master->returned_at <= over + 3100 * MS + MESSAGES,
		"all is over after %.3f s, and h0 ends after %.3f s", seconds_of(over - BEGIN),
		seconds_of(master->returned_at - BEGIN));
	for (unsigned i = 0; i < job.n && quiet; i++) {
		const struct node *other = &job.nodes[i];
		const int raw = other->n_programs ? other->programs[other->n_programs - 1].raw : -1;
		IN_TIME("asked-ends-all",
			other == node || !other->returned || other->status == raw ||
				(other->status != 124 && other->status != 125),
			"%s was asked to end, and %s exits with %d: %s", node->name, other->name,
			other->status, other->error);
	}
}

/** In a job of one, and in others. */
void check_times(void) {
	check_asked();
	if (!job.together) {
		check_result_times();
		check_hold();
		check_deadlines();
	} else if (is_only(0) && job.n > 1 && job.nodes[0].n_programs &&
		   job.nodes[0].n_programs < STARTS_MAX) {
		check_ends();
		check_naming();
	}
}

void check_no_progress(const struct node *node, const struct together *t, const struct ended *first) {
	const struct program *named = NULL;
	uint64_t since = 0;
	if (first->why != END_NO_PROGRESS || node->rank || node->process->stopped ||
	    !is_only(1U << WHAT_STOP)) {
		return;
	}
	for (unsigned i = 0; i < job.n; i++) {
		const struct node *one = &job.nodes[i];
		const struct program *p = one->n_programs ? &one->programs[one->n_programs - 1] : NULL;
		if (!p || p->start != t->start) {
			return;
		}
		named = one->rank == first->rank ? p : named;
	}
	if (!named || named->to != NEVER || has_fault(WHAT_STOP)) {
		return;
	}
	const uint64_t step = job.progress_ms > 10000 ? job.progress_ms / 10 * MS : 1 * S;
	// It may write again after its last look, and while all are asked.
	const uint64_t wrote =
		named->wrote_at + step + MESSAGES > time_now ? named->wrote_before : named->wrote_at;
	since = wrote ? wrote : named->from;
	IN_TIME("oldest-named", time_now + 2 * step + 200 * MS >= since + job.progress_ms * MS,
		"h%u wrote %.3f s ago", first->rank, seconds_of(time_now - since));
	for (unsigned i = 0; i < job.n; i++) {
		const struct program *p = &job.nodes[i].programs[job.nodes[i].n_programs - 1];
		if (job.nodes[i].process->stopped) {
			// Who does not answer is waited for, and not named.
			continue;
		}
		const uint64_t at = p->wrote_at ? p->wrote_at : p->from;
		// Each knows the time of its file from one look to the next: clocks may differ.
		IN_TIME("oldest-named", p->to != NEVER || at + 2 * step + 100 * MS >= since,
			"h%u wrote %.3f s ago, and h%u %.3f s ago", first->rank, seconds_of(time_now - since),
			job.nodes[i].rank, seconds_of(time_now - at));
	}
	// Not all look at the same time.
	IN_TIME("oldest-named",
		time_now <= since + (named->wrote_at ? 1 : 2) * job.progress_ms * MS + 2 * step + 11 * S,
		"h%u wrote %.3f s ago", first->rank, seconds_of(time_now - since));
}
