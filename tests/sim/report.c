// SPDX-License-Identifier: Apache-2.0

/**
 * What a roll call reports has to be true: the line of --report, read as a program would read it, when the roll call returns. What
 * a fault makes uncertain is not judged: each question says which jobs it is asked in.
 */

#include "job.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Messages and answers of one moment may be so much apart. */
#define SLACK_MS 30

static const char *report;
static const struct node *reporter;

/** What the report says is so. */
#define TRUE_IN_REPORT(condition, ...) \
	do { \
		if (!(condition) && promise_is_on("report-is-true")) { \
			broken_saying("report-is-true", reporter, report, __VA_ARGS__); \
		} \
	} while (0)

/** What is behind @key; "" if it is not there. */
static const char *value_of(const char *key) {
	char word[40];
	const size_t n = (size_t)snprintf(word, sizeof(word), "\"%s\": ", key);
	const char *at = strstr(report, word);
	return at ? at + n : "";
}

/** The error of the whole is behind those of differences. */
static const char *error_said(void) {
	const char *at = value_of("error"), *next;
	for (; (next = strstr(at, "\"error\": ")); at = next + strlen("\"error\": ")) {
	}
	return at;
}

static bool is_null(const char *key) {
	return strncmp(value_of(key), "null", 4) == 0;
}

/** UINT64_MAX: it is no number. */
static uint64_t number_of(const char *key) {
	char *end;
	const char *at = value_of(key);
	const uint64_t n = strtoull(at, &end, 10);
	return end > at ? n : UINT64_MAX;
}

static bool is_word(const char *key, const char *word) {
	const char *at = value_of(key);
	const size_t n = strlen(word);
	return at[0] == '"' && strncmp(at + 1, word, n) == 0 && at[n + 1] == '"';
}

static bool is_near(uint64_t a, uint64_t b, uint64_t slack) {
	return a <= b + slack && b <= a + slack;
}

/** How many objects an array has. */
static unsigned count_in(const char *key) {
	unsigned n = 0, depth = 0;
	const char *at = value_of(key);
	if (*at != '[') {
		return UINT32_MAX;
	}
	do {
		n += *at == '{' && depth == 1;
		depth += *at == '[' || *at == '{';
		depth -= *at == ']' || *at == '}';
	} while (*at++ && depth);
	return n;
}

/** The object of @rank in the array "absent"; NULL: it is not there. */
static const char *absentee(uint32_t rank) {
	char word[40];
	snprintf(word, sizeof(word), "{\"rank\": %u, \"host\": \"h%u\"", rank, rank);
	const char *list = value_of("absent"), *at = strstr(list, word);
	const char *end = strstr(list, reporter->rank ? "\"coordinator\"" : "\"restarts\"");
	return at && at < end ? at + strlen(word) : NULL;
}

/** Nothing is wrong but what nodes say of themselves, who comes when, and who ends. */
static bool is_plain(void) {
	const uint32_t plain = 1U << WHAT_UNABLE | 1U << WHAT_ASKED | 1U << WHAT_DIFFERS | 1U << WHAT_LATE |
			       1U << WHAT_NEVER | 1U << WHAT_STRANGER | 1U << WHAT_TERM | 1U << WHAT_INT |
			       1U << WHAT_KILL | 1U << WHAT_GONE;
	bool is = weather.latency + weather.jitter <= 15 * MS && !weather.late && !weather.interrupt &&
		  weather.window > 2000;
	for (unsigned i = 0; i < job.n_faults; i++) {
		is &= plain >> job.faults[i].what & 1;
	}
	return is;
}

static void check_absent(uint64_t now_ms) {
	unsigned n = 0;
	// Who is absent is decided at the deadline; then the others hear it, for a second.
	const uint64_t decided = !reporter->rank && is_word("result", "absent")
					 ? reporter->called_at / MS + number_of("took_ms")
					 : now_ms;
	for (uint32_t rank = 0; rank < job.n; rank++) {
		const struct node *node = &job.nodes[rank];
		const char *said = absentee(rank);
		// What was before this roll call does not count.
		const uint64_t came = node->hello_at >= reporter->called_at ? node->hello_at / MS : 0,
			       left = came ? node->left_at / MS : 0;
		n += said != NULL;
		TRUE_IN_REPORT(!said || rank != reporter->rank, "it says that it is absent itself");
		if (!is_plain() || !rank) {
			continue;
		}
		// What has just happened may not be known yet.
		const bool here = came && came + SLACK_MS < decided && !left && !node->gone;
		TRUE_IN_REPORT(!said || !here, "h%u is here, and said to be absent", rank);
		TRUE_IN_REPORT(said || came || is_word("result", "signal"),
			       "h%u never came, and is not said to be absent", rank);
		const bool never =
			said && strstr(said, "\"seen\": \"never\", \"gone_ms\": null") == said + strlen(", ");
		TRUE_IN_REPORT(!said || never == !came || decided < came + SLACK_MS,
			       "h%u %s, and it says otherwise", rank, came ? "came" : "never came");
		unsigned gone_ms = 0;
		if (said && !never && left &&
		    sscanf(said, ", \"seen\": \"gone\", \"gone_ms\": %u", &gone_ms) == 1) {
			TRUE_IN_REPORT(is_near(gone_ms, now_ms - left, SLACK_MS + 1000),
				       "h%u left %llu ms ago", rank, (unsigned long long)(now_ms - left));
		}
		const char *resolves = said ? strstr(said, "\"resolves\": true") : NULL;
		if (resolves && resolves < strchr(said, '}')) {
			char address[60];
			snprintf(address, sizeof(address), "\"addresses\": [\"10.0.0.%u\"]", rank + 1);
			TRUE_IN_REPORT(strstr(resolves, address), "h%u has another address", rank);
		}
	}
	TRUE_IN_REPORT(n == count_in("absent"), "some of the absent have other names");
	TRUE_IN_REPORT(number_of("present") + n == reporter->size, "not all %u are counted", reporter->size);
}

/** What strangers are taken for, by what they do (others.c). */
static void check_strangers(void) {
	static const char *const as[] = {"silent", "silent", "other",  "torch",
					 NULL,	   "key",    "silent", "silent"};
	const struct fault *f = NULL;
	unsigned n = 0, n_others = 0;
	for (unsigned i = 0; i < job.n_faults; i++) {
		const enum what what = job.faults[i].what;
		n += what == WHAT_STRANGER;
		// One that ends before it has said anything is taken for a stranger.
		n_others += what == WHAT_TERM || what == WHAT_INT || what == WHAT_KILL || what == WHAT_GONE;
		f = job.faults[i].what == WHAT_STRANGER ? &job.faults[i] : f;
	}
	for (unsigned i = 1; i < job.n; i++) {
		// So is one that gives up then.
		n_others += job.nodes[i].result == ROLL_ABSENT;
	}
	const unsigned said = count_in("strangers");
	TRUE_IN_REPORT(said <= n + n_others, "there were %u strangers", n);
	// The master listens when it comes, and long after it has gone. Who closes at once may not have been greeted, and is not told then.
	const bool seen = n == 1 && f->at > reporter->called_at + 200 * MS && !job.restart &&
			  f->kind % 8 != 7 && f->at + f->lasts + 8 * S < time_now &&
			  reporter->port == JOB_PORT && !reporter->n_programs;
	TRUE_IN_REPORT(!seen || said, "the stranger is not told");
	if (n != 1 || said != 1 || n_others) {
		return;
	}
	// The last key of the array's objects is the only "as".
	const char *word = as[f->kind % 8];
	TRUE_IN_REPORT(!word || is_word("as", word), "who came was %s", word);
	TRUE_IN_REPORT(is_word("address", "10.0.0.9"), "the stranger has another address");
	TRUE_IN_REPORT(number_of("times") >= 1 && number_of("times") <= 1 + f->kind / 8 * 20,
		       "the stranger came up to %u times", 1 + f->kind / 8 * 20);
}

/** Whose HELLO came last; NULL: two came at about the same time. */
static const struct node *find_last(void) {
	const struct node *last = NULL;
	for (unsigned i = 1; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		last = !last || node->hello_at > last->hello_at ? node : last;
	}
	for (unsigned i = 1; last && i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		if (node != last && node->hello_at + 5 * MS > last->hello_at) {
			return NULL;
		}
	}
	return last;
}

/** The worst clock, and how far it is off. */
static void check_clocks(void) {
	const struct node *master = &job.nodes[0];
	int64_t worst = 0;
	uint32_t rank = 0;
	bool clear = true;
	for (unsigned i = 1; i < job.n; i++) {
		const int64_t off = job.nodes[i].process->wall_ahead - master->process->wall_ahead,
			      far = off < 0 ? -off : off, before = worst < 0 ? -worst : worst;
		clear = far > before ? far > before + 200 : clear && far + 200 < before;
		rank = far > before ? i : rank;
		worst = far > before ? off : worst;
	}
	if (clear && worst) {
		const int64_t said = atoll(value_of("worst_ms"));
		const char *clocks = value_of("clocks"), *at = strstr(clocks, "\"rank\": ");
		TRUE_IN_REPORT(said <= worst + 50 && said + 50 >= worst, "the worst clock is %lld ms off",
			       (long long)worst);
		TRUE_IN_REPORT(at && (uint32_t)atoi(at + 8) == rank, "that is the clock of rank %u", rank);
	}
}

/** One node's facts differ: it is named in each difference, and the others are counted. */
static void check_differences(void) {
	static const char *const groups[] = {"world", "program", "env", "devices", "limits"};
	const struct node *master = &job.nodes[0], *odd = NULL;
	unsigned n_odd = 0;
	for (unsigned i = 1; i < job.n; i++) {
		const struct node *node = &job.nodes[i];
		n_odd += node->facts != master->facts;
		odd = node->facts != master->facts ? node : odd;
	}
	const unsigned said = count_in("differs");
	TRUE_IN_REPORT(n_odd || !said, "nothing differs");
	if (n_odd != 1 || master->facts || odd->facts > 5) {
		return;
	}
	char word[200];
	const unsigned n_facts = odd->facts == 1 ? 3 : odd->facts == 2 ? 2 : 1;
	TRUE_IN_REPORT(said == n_facts, "%u facts differ", n_facts);
	snprintf(word, sizeof(word), "\"group\": \"%s\", \"error\": %s, ", groups[odd->facts - 1],
		 odd->facts == 1 || (odd->facts == 4 && job.agree) ? "true" : "false");
	TRUE_IN_REPORT(strstr(report, word), "they are in %s", word);
	snprintf(word, sizeof(word), "\"value\": \"other\", \"nodes\": 1, \"ranks\": \"%u\"", odd->rank);
	TRUE_IN_REPORT(strstr(report, word), "rank %u has the other value", odd->rank);
	snprintf(word, sizeof(word), "\"value\": \"same\", \"nodes\": %u, ", job.n - 1);
	TRUE_IN_REPORT(strstr(report, word), "%u have the same", job.n - 1);
}

static void check_master(uint64_t now_ms) {
	const bool starts = is_word("result", "started");
	TRUE_IN_REPORT(!starts || number_of("present") == job.n, "all start, and not all are there");
	check_absent(now_ms);
	if (!is_plain()) {
		return;
	}
	check_strangers();
	// A process that is killed is not replaced here.
	TRUE_IN_REPORT(reporter->n_programs || number_of("restarts") == 0, "nobody came twice");
	if (!starts || job.harm_until) {
		return;
	}
	const struct node *last = find_last();
	// Within the first millisecond nobody is named.
	if (last && last->hello_at > reporter->called_at + 3 * MS) {
		const char *said = value_of("last"), *after = strstr(said, "\"after_ms\": ");
		TRUE_IN_REPORT(strncmp(said, "{\"rank\": ", 9) == 0 && (uint32_t)atoi(said + 9) == last->rank,
			       "%s came last", last->name);
		const uint64_t ms = (last->hello_at - reporter->called_at) / MS;
		TRUE_IN_REPORT(after && is_near((uint64_t)atoll(after + 12), ms, SLACK_MS),
			       "that was after %llu ms", (unsigned long long)ms);
	}
	check_clocks();
	check_differences();
}

static void check_member(void) {
	char address[30];
	snprintf(address, sizeof(address), "h0:%u", reporter->port);
	TRUE_IN_REPORT(is_word("coordinator", address), "the master is at %s", address);
	TRUE_IN_REPORT(is_word("result", "started") ? is_null("failure") : value_of("failure")[0],
		       "failures are told if it does not start");
	const bool reached = strncmp(value_of("reached"), "true", 4) == 0;
	TRUE_IN_REPORT(reached || !(reporter->hello_at > reporter->called_at && is_plain()),
		       "the master has its HELLO");
	if (value_of("absent")[0]) {
		unsigned n = 0;
		for (uint32_t rank = 0; rank < job.n; rank++) {
			n += absentee(rank) != NULL;
		}
		TRUE_IN_REPORT(has_fault(WHAT_COUNTS) || has_fault(WHAT_LIAR) || has_fault(WHAT_TAKEN) ||
				       number_of("present") + n == job.n,
			       "not all %u are counted", job.n);
	}
}

static const char *result_word(enum roll_result result) {
	switch (result) {
	case ROLL_STARTED:
		return "started";
	case ROLL_ABSENT:
		return "absent";
	case ROLL_DISAGREE:
		return "disagree";
	case ROLL_DUPLICATE:
		return "duplicate";
	case ROLL_SIGNAL:
		return "signal";
	case ROLL_ERROR:
		return "error";
	case ROLL_REPLACED:
		return "replaced";
	case ROLL_PORT:
		return "port";
	default:
		return NULL;
	}
}

void check_report(const struct node *node, const struct roll_call *call, const struct roll_end *end) {
	struct buf text = BUF(call->arena);
	struct json json = {.out = &text};
	json_open(&json, NULL, '{');
	roll_report(call, end, &json);
	json_close(&json, '}');
	report = buf_text(&text);
	reporter = node;
	const uint64_t waited = (time_now - node->called_at) / MS, said = number_of("waited_ms");
	const char *word = result_word(end->result);
	TRUE_IN_REPORT(!word || is_word("result", word), "the result is %s", word);
	TRUE_IN_REPORT(is_word("role", node->rank ? "member" : "coordinator") &&
			       number_of("rank") == node->rank && number_of("size") == node->size &&
			       is_word("job", "manual:sim") && is_word("scope", "node"),
		       "it is rank %u of %u", node->rank, node->size);
	TRUE_IN_REPORT(number_of("port") == end->port &&
			       (end->port == JOB_PORT ? is_null("port_moved_from")
						      : number_of("port_moved_from") == JOB_PORT),
		       "the port is %u", end->port);
	TRUE_IN_REPORT(strncmp(value_of("authenticated"), job.secret ? "true" : "false", 4) == 0,
		       "the secret");
	TRUE_IN_REPORT(is_near(said, waited, 2 + (node->process->stopped + 4 * weather.interrupt_most) / MS),
		       "it took %llu ms", (unsigned long long)waited);
	TRUE_IN_REPORT(end->signal ? strstr(value_of("signal"), signal_name(end->signal).s) != NULL
				   : is_null("signal"),
		       "the signal is %d", end->signal);
	TRUE_IN_REPORT(
		strncmp(error_said(), end->error.text[0] ? "\"" : "null", end->error.text[0] ? 1 : 4) == 0,
		"the error: %s", end->error.text);
	if (node->rank) {
		check_member();
	} else if (node->size == job.n && !has_fault(WHAT_FAILS) && end->result != ROLL_PORT &&
		   end->result != ROLL_SIGNAL && !strstr(end->error.text, "another job without an id")) {
		// Without a port, it counted nobody.
		TRUE_IN_REPORT(number_of("took_ms") <= said, "the master called for longer than it waited");
		check_master(time_now / MS);
	}
}
