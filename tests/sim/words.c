// SPDX-License-Identifier: Apache-2.0

/** What is printed has to be true: each sentence of the roll call and of --together, at the moment when it is printed. */

#include "job.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct node *speaker;
static const char *words;

/** What is printed is so. */
#define TRUE_WORDS(condition, ...) \
	do { \
		if (!(condition) && promise_is_on("words-are-true")) { \
			broken_saying("words-are-true", speaker, words, __VA_ARGS__); \
		} \
	} while (0)

static bool says(const char *part) {
	return strstr(words, part) != NULL;
}

/** How late a sentence may come, in us. */
static uint64_t slack_of(const struct node *node) {
	// Each stranger is a few calls more, which may be interrupted.
	const uint64_t calls = has_fault(WHAT_STRANGER) ? 80 : 20;
	return 60 * MS + node->process->stopped + calls * (weather.interrupt ? weather.interrupt_most : 0) +
	       weather.lookup;
}

static unsigned count(const char *text, const char *part) {
	unsigned n = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) {
		n++;
	}
	return n;
}

// The roll call.

/** The names of a list, "h1, h2", or "h1 (rank 1, why), h2 (rank 2, why)". Each is that of another rank than the speaker's master. */
static unsigned count_names(const char *list) {
	unsigned n = 0;
	for (unsigned rank = 0; rank < NODES_MAX + 2; rank++) {
		char name[8], long_name[24];
		snprintf(name, sizeof(name), "h%u", rank);
		snprintf(long_name, sizeof(long_name), "h%u (rank %u, ", rank, rank);
		const char *at = strstr(list, name);
		n += at != NULL;
		TRUE_WORDS(!at || !strstr(list, "(rank") || strstr(list, long_name),
			   "the rank of h%u is wrong", rank);
		TRUE_WORDS(!at || rank, "the master is not absent");
	}
	return n;
}

/** "N of M nodes are here" */
static void check_count(uint64_t passed) {
	unsigned here = 0, all = 0;
	char time[20] = "";
	const char *list = strstr(words, "absent: ");
	if (sscanf(words, "roll call: %u of %u nodes are here%*[, a-z]%19[0-9.]s", &here, &all, time) != 3) {
		TRUE_WORDS(false, "it is no count");
		return;
	}
	TRUE_WORDS(all == speaker->size, "there are %u", speaker->size);
	TRUE_WORDS(here + (list ? count_names(list) : 0) == all, "not all are counted");
	const uint64_t said = (uint64_t)atoi(time) * S;
	TRUE_WORDS(!strchr(time, '.') && said <= passed + 1 * MS && passed < said + 1 * S + slack_of(speaker),
		   "that was %llu ms ago", (unsigned long long)(passed / MS));
}

/** Warnings come after 10, 20 and 40 s, then each minute. */
static void check_when(uint64_t passed) {
	static const uint64_t first[] = {10 * S, 20 * S, 40 * S};
	uint64_t due = 0;
	for (int i = 0; i < 3; i++) {
		due = passed + 1 * MS >= first[i] ? first[i] : due;
	}
	while (passed + 1 * MS >= due + 60 * S && due >= 40 * S) {
		due += 60 * S;
	}
	// It does not come while facts are compared, or a given port that is taken is tried again.
	const uint64_t compares = has_fault(WHAT_DIFFERS) || has_fault(WHAT_COUNTS) ? 6 * S : 0,
		       tries = (has_fault(WHAT_TAKEN) || has_fault(WHAT_TWIN)) &&
					       (job.restart || job.together)
				       ? 31 * S
				       : 0;
	TRUE_WORDS(due && passed <= due + slack_of(speaker) + compares + tries + 2 * S * (due > 40 * S),
		   "it comes after %llu ms", (unsigned long long)(passed / MS));
}

/** "X (rank N) cannot start: why" */
static void check_unable(void) {
	const char *at = strstr(words, ") cannot start");
	const bool asked = !at && (at = strstr(words, ") was "));
	if (!at || (asked && !strstr(at, " to end: the check"))) {
		return;
	}
	while (at > words && at[-1] != ' ') {
		at--;
	}
	const unsigned rank = (unsigned)atoi(at);
	bool any = false;
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		any |= node->rank == rank && node->unable && node->asked == asked;
	}
	// A second master of a job without an id tells the first one that it ends.
	const bool mixed = job.nameless && has_fault(WHAT_TWIN) && strstr(at, ": another job without an id");
	TRUE_WORDS(any || mixed || job.together, "rank %u can", rank);
}

/** "NCCL_DEBUG=same on 4 nodes, other on h3": each value has its nodes, by name or number. */
static void check_difference(void) {
	static const char *const values[] = {"same on ", "other on "};
	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(words, values[i]);
		at = at ? at + strlen(values[i]) : "h";
		TRUE_WORDS(*at == 'h' || (*at >= '1' && *at <= '9'), "on whom");
	}
	TRUE_WORDS(says(values[0]) == says(values[1]), "one value is no difference");
	TRUE_WORDS(!says("argv") || says("argv[0]=") || says("argv[0] "), "which word");
}

static void check_strange(void) {
	TRUE_WORDS(!says(" times, and sent nothing") || says("connected 3 times"), "not after three");
	TRUE_WORDS(!says("GO was sent to ") || !says(" more"), "there are no more than five");
	const bool torch = says("as PyTorch does"), key = says("calls with another secret");
	bool any = false;
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		const bool stranger = f->what == WHAT_STRANGER;
		any |= torch && stranger && f->kind % 8 == 3;
		any |= key && ((stranger && f->kind % 8 == 5) || f->what == WHAT_LIAR);
	}
	TRUE_WORDS(!(torch || key) || any, "nobody did");
}

static void check_clock(void) {
	unsigned rank = 0;
	char time[20] = "", how[20] = "";
	if (sscanf(words, "roll call: h%u's clock is %19[0-9.]s %19s", &rank, time, how) != 3) {
		return;
	}
	TRUE_WORDS(rank < job.n, "there is no such node");
	const struct node *node = &job.nodes[rank % NODES_MAX];
	// There may be another process there now, and a HELLO may have been on its way for long.
	if (node->process && !job.harm_until && !has_fault(WHAT_BACK) && !has_fault(WHAT_REPLACED) &&
	    !has_fault(WHAT_TWIN)) {
		const int64_t ms = node->process->wall_ahead - job.nodes[0].process->wall_ahead,
			      said = (int64_t)atoi(time) * 1000 * (strcmp(how, "behind") == 0 ? -1 : 1),
			      may = 1100 + (int64_t)((2 * weather.latency + 2 * weather.jitter +
						      (weather.late ? 2 * weather.late_by : 0) +
						      slack_of(node) + slack_of(&job.nodes[0])) /
						     MS);
		TRUE_WORDS(said <= ms + may && said + may >= ms, "it is %lld ms", (long long)ms);
	}
}

void check_saying(const struct node *node, enum roll_level level, const char *text) {
	const uint64_t passed = time_now - node->called_at;
	speaker = node;
	words = text;
	TRUE_WORDS(level != ROLL_STATUS || (job.terminal && passed + 1 * MS >= 2 * S),
		   "it is not a terminal, or early");
	if (has_fault(WHAT_FAILS) || is_lied_to()) {
		return;
	}
	TRUE_WORDS(!says("no address of this host") || node->is_replacement, "it is one");
	TRUE_WORDS(!says("publishNotReadyAddresses") || (job.pod && weather.names_from),
		   "this is no pod, or all names resolve");
	if (says(" nodes are here after ") || says(" nodes are here, ")) {
		unsigned all = 0;
		if (sscanf(text, "roll call: all %u nodes", &all) == 1) {
			TRUE_WORDS(all == node->size, "there are %u", node->size);
			TRUE_WORDS((strstr(text, "not authenticated") == NULL) == job.secret, "the secret");
			TRUE_WORDS(level == (node->said_absent ? ROLL_WARNING : ROLL_INFO),
				   "it was %s before who is absent", node->said_absent ? "said" : "not said");
		} else {
			check_count(passed);
			if (level == ROLL_WARNING) {
				TRUE_WORDS(says("absent: h"), "nobody is absent");
				check_when(passed);
			}
		}
	}
	if (says("still waiting for")) {
		const uint64_t said =
			(uint64_t)atoi(strstr(text, " after ") ? strstr(text, " after ") + 7 : "0") * S;
		TRUE_WORDS(said >= 10 * S && passed + 1 * MS >= said &&
				   passed <= said + 1 * S + slack_of(node),
			   "it is after %llu ms", (unsigned long long)(passed / MS));
		// The master closes who does not answer it in time.
		const bool slow =
			weather.latency + weather.jitter > 20 * MS || weather.late || weather.interrupt;
		TRUE_WORDS(slow || job.harm_until || has_fault(WHAT_STOP) || has_fault(WHAT_TWIN) ||
				   has_fault(WHAT_TAKEN) || node->hello_at < node->called_at ||
				   node->left_at || !process_is_alive(job.nodes[0].process) ||
				   job.nodes[0].signalled,
			   "the master is there");
	}
	if (says("is there, and all start, after ")) {
		TRUE_WORDS(node->said_absent, "it did not say before that it waits");
	}
	const char *counts = strstr(text, " counts ");
	unsigned here, all;
	if (counts && sscanf(counts, " counts %u of %u nodes", &here, &all) == 2 && !has_fault(WHAT_COUNTS) &&
	    !has_fault(WHAT_TAKEN) && !has_fault(WHAT_LIAR)) {
		const char *list = strstr(counts, "absent: ");
		TRUE_WORDS(all == job.n && here + (list ? count_names(list) : 0) == all,
			   "not all %u are counted", job.n);
	}
	check_unable();
	check_difference();
	check_strange();
	check_clock();
}

/** "two nodes say that they are rank 1: h1 (10.0.0.2) and h1b (10.0.0.7)" */
static void check_duplicate(void) {
	unsigned rank = 0;
	char first[40] = "", second[40] = "", names[2][20];
	const char *at = strstr(words, " say that they are rank ");
	if (at) {
		TRUE_WORDS(sscanf(at, " say that they are rank %u: h%19s (%39[^)]) and h%19s (%39[^)])",
				  &rank, names[0], first, names[1], second) == 5,
			   "who they are");
		// Several twins share a host.
		TRUE_WORDS(rank < job.n && (strcmp(first, second) != 0 || count_faults(WHAT_TWIN) > 1),
			   "that is one process");
		TRUE_WORDS((strcmp(first, "coordinator") == 0) == (rank == 0), "the master has rank 0");
	}
}

/** Why a roll call of @node has failed. */
static void check_late(const struct node *node, const struct roll_call *call) {
	const char *list = strstr(words, ": h");
	char within[40];
	unsigned gone = 0, all = 0;
	snprintf(within, sizeof(within), " within %s", duration_text(call->timeout_ms).s);
	if (sscanf(words, "roll call: %u of %u nodes did not come", &gone, &all) == 2) {
		TRUE_WORDS(all == node->size && says(within), "%u nodes, and%s", node->size, within);
		TRUE_WORDS(list && count_names(list) == gone, "not all are named");
	} else if (strncmp(words, "h0 says: ", 9) != 0) {
		TRUE_WORDS(says(within) || says(" ended after ") || says(" for "), "it waited%s", within);
		const bool heard = node->hello_at >= node->called_at && node->hello_at;
		const bool cut = job.harm_until || has_fault(WHAT_TWIN) || has_fault(WHAT_LIAR) ||
				 has_fault(WHAT_TAKEN);
		TRUE_WORDS(cut || !says("could not be reached") || !heard, "the master has its HELLO");
	}
}

void check_error(const struct node *node, const struct roll_call *call, const struct roll_end *end) {
	speaker = node;
	words = end->error.text;
	const uint64_t passed = time_now - node->called_at;
	if (has_fault(WHAT_FAILS)) {
		return;
	}
	TRUE_WORDS((end->result == ROLL_STARTED) == !*words || end->result == ROLL_SIGNAL, "the result is %d",
		   (int)end->result);
	if (end->result == ROLL_ABSENT && strncmp(words, "h0 says: ", 9) != 0) {
		TRUE_WORDS(passed + 2 * MS >= call->timeout_ms * MS || has_fault(WHAT_COUNTS),
			   "it waited for %llu of %llu ms", (unsigned long long)(passed / MS),
			   (unsigned long long)call->timeout_ms);
	}
	if (end->result == ROLL_ABSENT) {
		check_late(node, call);
	}
	check_unable();
	check_difference();
	// A twin that comes twice comes from one host.
	bool twice = has_fault(WHAT_REPLACED) || has_fault(WHAT_BACK);
	for (unsigned i = 0; i < job.n_faults; i++) {
		twice |= job.faults[i].twice > 0;
	}
	if (!twice) {
		check_duplicate();
	}
}

// --together.

/** The program of @rank in start @start; NULL: there is none. */
static const struct program *program_of(uint32_t rank, uint32_t start) {
	const struct program *found = NULL;
	for (int i = 0; i < job.n_nodes; i++) {
		const struct node *node = &job.nodes[i];
		for (int k = 0; k < node->n_programs && node->rank == rank; k++) {
			found = node->programs[k].start == start ? &node->programs[k] : found;
		}
	}
	return found;
}

/** Whether no program wrote its file in the last @n starts up to @start, but where that may not be seen: before the first look, and in
 *  the last @unseen of each start. */
static bool is_idle(uint32_t start, uint32_t n, uint64_t unseen) {
	bool idle = start + 1 >= n;
	for (int i = 0; i < job.n_nodes; i++) {
		for (int k = 0; k < job.nodes[i].n_programs; k++) {
			const struct program *p = &job.nodes[i].programs[k];
			const uint64_t first = p->wrote_before ? p->wrote_before : p->wrote_at;
			const uint64_t to = p->knows && p->knows_at < p->to ? p->knows_at : p->to;
			const uint64_t end = to < time_now ? to : time_now;
			const bool among = p->start <= start && p->start + n > start;
			const bool overlooked =
				unseen && (first + unseen >= end || first <= p->from + unseen / 10);
			idle &= !among || !first || overlooked;
		}
	}
	return idle;
}

/** The same, where all is seen: each program ran for 3 s, and wrote nothing. What it wrote at once in start 0 was there before. What the
 *  start before wrote since its last look counts for the next one. */
static bool is_idle_for_long(uint32_t start, uint32_t n) {
	bool idle = start + 1 >= n;
	for (int i = 0; i < job.n_nodes; i++) {
		for (int k = 0; k < job.nodes[i].n_programs; k++) {
			const struct program *p = &job.nodes[i].programs[k];
			const uint64_t end = p->to < time_now ? p->to : time_now;
			const bool among = p->start <= start && p->start + n > start;
			const bool wrote = p->wrote_at > (p->start ? 0 : p->from);
			const uint64_t look = job.progress_ms > 10000 ? job.progress_ms / 10 * MS : 1 * S;
			idle &= !among || (!wrote && end >= p->from + 3 * S);
			// Nobody looks once the end of the start is known.
			const uint64_t looked = p->knows && p->knows_at < end ? p->knows_at : end;
			idle &= p->start + n != start || p->wrote_last + look + 200 * MS < looked;
		}
	}
	return idle;
}

/** Whether something may have befallen @rank for which the others take it for lost. */
static bool may_be_lost(void) {
	// A time limit may be over while GO of the next start is on its way.
	return job.n_faults > 0 || (job.max_restarts && job.limit_ms != CLOCK_NEVER) ||
	       weather.latency + weather.jitter + weather.late_by > 200 * MS;
}

/** What follows from @first, as the pages say it. */
static void check_clause(const struct together *t, const struct ended *first, const char *then) {
	char wanted[100] = "ending";
	const struct program *p = program_of(first->rank, t->start);
	bool is = true;
	switch ((enum again)first->again) {
	case AGAIN_YES: {
		const size_t n = (size_t)snprintf(wanted, sizeof(wanted), "starting again (%u", t->start + 1);
		const size_t m =
			t->max_restarts == RESTARTS_UNLIMITED
				? 0
				: (size_t)snprintf(wanted + n, sizeof(wanted) - n, " of %u", t->max_restarts);
		snprintf(wanted + n + m, sizeof(wanted) - n - m, ")%s%s", first->pause_ms ? " in " : "",
			 first->pause_ms ? duration_text(first->pause_ms).s : "");
		// What nobody has written, and all that live could tell, is an end.
		is = t->start < t->max_restarts &&
		     !(job.max_idle && job.progress_ms && !job.n_faults && longest_way() < 200 * MS &&
		       (is_idle(t->start, job.max_idle + 1, 0) || is_idle_for_long(t->start, job.max_idle)));
		break;
	}
	case AGAIN_USED_UP:
		snprintf(wanted, sizeof(wanted), "not starting again: %u of %u restarts used", t->start,
			 t->max_restarts);
		is = t->start >= t->max_restarts;
		break;
	case AGAIN_LIMIT:
		snprintf(wanted, sizeof(wanted), "not starting again: the time limit is used up");
		is = job.limit_ms != CLOCK_NEVER;
		break;
	case AGAIN_MISTAKE:
		snprintf(wanted, sizeof(wanted),
			 "not starting again: the exit status says that it cannot be run");
		is = !p || (p->raw >= 125 && p->raw <= 127) || has_fault(WHAT_TWIN) ||
		     first->why != END_FAILED || strstr(words, "its process");
		break;
	case AGAIN_FINAL:
		snprintf(wanted, sizeof(wanted), "not starting again: %s is final (--no-restart)",
			 job.final == 137 ? "SIGKILL (137)" : "exit status 1");
		is = job.final &&
		     (!p || p->raw == (int)job.final || (job.always && !p->raw && job.final == 1) ||
		      has_fault(WHAT_TWIN) || first->why != END_FAILED || strstr(words, "its process"));
		break;
	case AGAIN_IDLE:
		snprintf(wanted, sizeof(wanted), "not starting again: %u start%s wrote nothing to /progress",
			 job.max_idle, job.max_idle == 1 ? "" : "s in a row");
		is = job.max_idle &&
		     (job.n_faults || is_idle(t->start, job.max_idle, 1500 * MS + 20 * longest_way()));
		break;
	case AGAIN_ENDED_WELL: {
		const char *who = strstr(then, "again: h");
		const uint32_t rank = who ? (uint32_t)atoi(who + 8) : UINT32_MAX;
		const struct program *well = program_of(rank, t->start);
		snprintf(wanted, sizeof(wanted), "not starting again: h%u (rank %u) has ended well", rank,
			 rank);
		is = (well && well->raw == 0) || has_fault(WHAT_TWIN);
		break;
	}
	default:
		break;
	}
	const size_t n = strlen(wanted);
	TRUE_WORDS(strncmp(then, wanted, n) == 0 && (!then[n] || then[n] == ';'), "wanted: %s", wanted);
	TRUE_WORDS(is, "that is not why");
}

/** "its processes: 1 in D (nfs_wait), 0 running, 2 sleeping", of program @p. */
static void check_states(uint32_t rank, const struct program *p) {
	const uint64_t since = p ? p->from : 0;
	// A new one may have been started since they were counted.
	const bool may_be_more = p && p->anew_at && p->anew_at + 12 * S > time_now;
	const char *at = strstr(words, "its processes: ");
	unsigned blocked = 0, running = 0, sleeping = 0;
	if (at) {
		at += strlen("its processes: ");
		const bool waits = sscanf(at, "%u in D (nfs_wait), %u running, %u sleeping", &blocked,
					  &running, &sleeping) == 3;
		// It may end after it was counted, before it is asked what it waits for.
		const bool ended =
			weather.interrupt && !waits &&
			sscanf(at, "%u in D, %u running, %u sleeping", &blocked, &running, &sleeping) == 3;
		TRUE_WORDS(waits || ended ||
				   (blocked = 0,
				    sscanf(at, "%u running, %u sleeping", &running, &sleeping) == 2),
			   "their states");
		TRUE_WORDS(may_be_more ||
				   (!running &&
				    blocked + sleeping >= programs_alive((int)rank, since, time_now, false) &&
				    blocked + sleeping <= programs_alive((int)rank, 0, 0, false) &&
				    blocked >= programs_alive((int)rank, since, time_now, true) &&
				    blocked <= programs_alive((int)rank, 0, 0, true)),
			   "%u processes are left, and %u wait",
			   programs_alive((int)rank, since, time_now, false),
			   programs_alive((int)rank, since, time_now, true));
	}
}

/** "and that of h2 (rank 2) within 5ms": of two processes that died within 20 ms both are named, and of others one. */
static void check_both(const struct together *t, const struct ended *first) {
	const struct program *p = program_of(first->rank, t->start);
	const bool both = says(", and that of h");
	bool any = false;
	for (uint32_t rank = 0; p && p->died_at != NEVER && rank < job.n; rank++) {
		const struct program *other = program_of(rank, t->start);
		const uint64_t at = other && rank != first->rank ? other->died_at : NEVER,
			       apart = at > p->died_at ? at - p->died_at : p->died_at - at;
		any |= (other && other->unclear) || (at != NEVER && apart < 25 * MS + 6 * longest_way());
	}
	TRUE_WORDS(!both || any || !p || p->unclear, "no other died within 20 ms");
}

/** The sentence of who was first, by all that knows of it. */
static void check_sentence(const struct together *t, const struct ended *first) {
	static const char *const verbs[] = {"failed first:", "is lost:", NULL, "has made"};
	char head[60] = "";
	const struct program *p = program_of(first->rank, t->start);
	if (job.n > 1 && first->why < 4 && verbs[first->why]) {
		snprintf(head, sizeof(head), "h%u (rank %u) %s ", first->rank, first->rank,
			 verbs[first->why]);
	} else if (job.n > 1) {
		snprintf(head, sizeof(head), "h%u (rank %u) was ", first->rank, first->rank);
	}
	TRUE_WORDS(strncmp(words, head, strlen(head)) == 0, "wanted: %s", head);
	TRUE_WORDS(first->rank < job.n, "there is no such rank");
	if (has_fault(WHAT_TWIN) || has_fault(WHAT_FAILS) || has_fault(WHAT_REPLACED) ||
	    has_fault(WHAT_BACK)) {
		return;
	}
	TRUE_WORDS(first->why != END_LOST || may_be_lost(), "nobody is lost");
	if (first->why == END_FAILED && p && !says("its process")) {
		char status[40];
		snprintf(status, sizeof(status), "exit status %d", p->raw);
		TRUE_WORDS(p->raw < 0 || says(status), "its program ended with %d", p->raw);
		// At its time limit it has failed with 124, whatever it exits with.
		TRUE_WORDS(p->raw >= 0 && (p->raw || job.always || job.limit_ms != CLOCK_NEVER),
			   "its program has not failed");
	}
	if (says("its process ") && !job.n_faults) {
		char kills[80];
		snprintf(kills, sizeof(kills), OOM_TEXT, weather.oom_kills);
		TRUE_WORDS(says("lack of memory") ==
					   (weather.oom_kills && weather.oom_kills != OOM_UNKNOWN) &&
				   (!says("lack of memory") || says(kills)),
			   "the kernel killed %u", weather.oom_kills);
	}
	const bool well = p && p->raw == 0 && job.limit_ms == CLOCK_NEVER && !p->asked &&
			  !(p->knows && p->to >= p->knows_at) && p->to + 1 * S + 3 * longest_way() < time_now;
	TRUE_WORDS(!says("its process ") || job.by_workers || job.always || job.n_faults || !well,
		   "its program ended with 0");
	if (first->why == END_FAILED && says("its process ") && !job.n_faults) {
		check_both(t, first);
		// A launcher's new processes are seen within a second, or 10 s after a minute.
		TRUE_WORDS(!p || !p->anew_at || p->failed_at > p->anew_at || p->knows ||
				   time_now < p->anew_at + (p->anew_at > p->from + 55 * S ? 11 : 2) * S +
						      4 * longest_way(),
			   "its launcher has started another one");
	}
	if (first->why == END_NO_PROGRESS) {
		char allowed[60];
		snprintf(allowed, sizeof(allowed), "no progress for %s", duration_text(job.progress_ms).s);
		TRUE_WORDS(job.progress_ms && says("/progress"), "there is no --progress");
		TRUE_WORDS(says("no progress for "), "wanted: %s", allowed);
		check_states(first->rank, p);
	}
	const char *ended = strstr(words, "then the program ended on ");
	if (ended) {
		const unsigned n = (unsigned)atoi(ended + strlen("then the program ended on "));
		unsigned failed = 0;
		for (uint32_t rank = 0; rank < job.n; rank++) {
			const struct program *one = program_of(rank, t->start);
			failed += one && one->raw >= 0 &&
				  (one->raw > 0 || job.always || job.limit_ms != CLOCK_NEVER);
		}
		TRUE_WORDS(n >= 1 && n <= failed && strstr(ended, n == 1 ? "1 node:" : " nodes:"),
			   "it failed on %u", failed);
	}
	TRUE_WORDS(count(words, "its process") <= 1, "it is said twice");
}

void check_first(const struct node *node, const struct together *t, const struct ended *first) {
	static const char *const why[] = {"failed", "lost", NULL, "stale"};
	char wanted[160];
	struct buf text = BUF(t->call->arena);
	struct json json = {.out = &text};
	speaker = node;
	words = t->first;
	if (job.n > 1 || first->why == END_NO_PROGRESS) {
		check_sentence(t, first);
	}
	// On one node, a process that soon fails by itself is a probe.
	const struct program *p = job.n == 1 && !job.n_faults ? program_of(0, t->start) : NULL;
	TRUE_WORDS(!p || !says("its process ") || !says("ended with exit status") ||
			   p->failed_at + 200 * MS >= p->from + 10 * S,
		   "it was a probe");
	check_clause(t, first,
		     first->then.len ? arena_text(t->call->arena, first->then.p, first->then.len) : "");
	json_open(&json, NULL, '{');
	together_json(first, &json);
	json_close(&json, '}');
	words = buf_text(&text);
	const bool has_status = first->why == END_FAILED || first->why == END_NO_PROGRESS;
	snprintf(wanted, sizeof(wanted), "\"rank\": %u, \"host\": \"h%u\", \"status\": ", first->rank,
		 first->rank);
	TRUE_WORDS(says(wanted) || job.n == 1, "wanted: %s", wanted);
	TRUE_WORDS(!says("\"status\": null") == has_status, "a status");
	snprintf(wanted, sizeof(wanted), "\"why\": \"%s\"", why[first->why & 3]);
	TRUE_WORDS(!why[first->why & 3] || says(wanted), "wanted: %s", wanted);
}

void check_printed(const struct node *node, const struct together *t) {
	const struct observer *observer = &t->observer;
	const struct program *p = &node->programs[node->n_programs - 1];
	const size_t n = t->first ? strlen(t->first) : 0;
	speaker = node;
	words = observer->words;
	if (strncmp(words, "ended because ", 14) == 0) {
		const char *ago = words + 14 + n;
		TRUE_WORDS(n && strncmp(words + 14, t->first, n) == 0, "wanted: %s", t->first);
		const uint64_t ms = (time_now - p->knows_at) / MS;
		const double said = strncmp(ago, ", ", 2) == 0 ? atof(ago + 2) * 1000 : -1;
		const double slack = 100 + (double)(slack_of(node) / MS);
		TRUE_WORDS(said >= 0 && said <= (double)ms + slack && (double)ms <= said + slack,
			   "that was %llu ms ago", (unsigned long long)ms);
		TRUE_WORDS(observer->last_words && observer->end, "these are its last words");
	} else if (n && strncmp(words, t->first, n) == 0) {
		TRUE_WORDS(strncmp(words + n, "; ", 2) == 0, "what follows");
		const bool hints = says("if it could not bind port 29500");
		// At its time limit it exits with 124.
		const bool fails = (p->raw > 0 && p->raw < 128) || job.limit_ms != CLOCK_NEVER || job.always;
		TRUE_WORDS(!hints || (node->rank == 0 && p->first == 0 && fails && p->to < p->from + 61 * S),
			   "it cannot be the port");
		TRUE_WORDS(observer->last_words == (observer->end && observer->status), "its last words");
	}
}
