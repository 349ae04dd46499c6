// SPDX-License-Identifier: Apache-2.0

/** Starting again: the pause before each start, how many there may be, and which ends are final. */

#include "together/together.h"

#include "exec/exec.h"

#include "check.h"
#include "fixture.h"

#include <sys/socket.h>
#include <unistd.h>

static uint32_t n_reports;

static const struct cluster nobody;

static void count_report(struct together *t, const struct ended *first) {
	(void)t;
	(void)first;
	n_reports++;
}

/** One start of a single node: the program runs for @ran_ms and ends as @end tells. */
static void play(struct arena *arena, struct together *t, uint64_t ran_ms, struct workload_end end) {
	struct kept_line *line = arena_alloc(arena, sizeof(*line));
	struct roll_call *call = arena_alloc(arena, sizeof(*call));
	struct err err;
	*line = (struct kept_line){.line.fd = -1};
	*call = (struct roll_call){.arena = arena, .cluster = &nobody, .size = 1, .node = "n0"};
	check(together_begin(t, call, &(struct roll_end){.lines = line}, &err) == 0);
	t->observer.event(&t->observer, EVENT_STARTED, 1, 0);
	t->begun -= ran_ms;
	t->observer.end = &end;
	n_reports = 0;
	t->observer.event(&t->observer, EVENT_ENDED, 0, 0);
	t->observer.end = NULL;
	together_end(t);
}

static struct workload_end failed(int status) {
	struct workload_end end = {.raw = status, .status = status, .exit_status = status};
	snprintf(end.text, sizeof(end.text), "exit status %d", status);
	return end;
}

static struct together at_most(uint32_t most) {
	return (struct together){.max_restarts = most, .limit_at = CLOCK_NEVER, .report = count_report};
}

static void check_pauses(struct arena *arena) {
	static const uint32_t pauses[] = {0,	 1000,	2000,  4000,  8000, 16000,
					  32000, 60000, 60000, 60000, 60000};
	struct together t = at_most(RESTARTS_UNLIMITED);
	for (uint32_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++, t.start++) {
		play(arena, &t, 599000, failed(3));
		checkf(t.observer.again && t.pause_ms == pauses[i] && n_reports == 1,
		       "the pause before restart %u: %u ms", i + 1, t.pause_ms);
	}
	play(arena, &t, 600000, failed(3));
	checkf(t.observer.again && t.pause_ms == 0, "after ten minutes: %u ms", t.pause_ms);
	play(arena, &t, 0, failed(3));
	checkf(t.observer.again && t.pause_ms == 1000, "and then: %u ms", t.pause_ms);
}

static void check_count(struct arena *arena) {
	struct together t = at_most(2);
	for (; t.start < 2; t.start++) {
		play(arena, &t, 600000, failed(3));
		checkf(t.observer.again, "restart %u of 2", t.start + 1);
	}
	play(arena, &t, 600000, failed(3));
	check(!t.observer.again && t.pause_ms == 0);
	check_part(t.observer.words, "; not starting again: 2 of 2 restarts used", "long runs count, too");
}

/** Of @end nothing follows, and the words end as @why. */
static void check_final(struct arena *arena, struct workload_end end, uint64_t left_ms, const char *why) {
	struct together t = at_most(5);
	// The next start would be after a pause.
	t.in_a_row = 1;
	t.limit_at = left_ms == CLOCK_NEVER ? left_ms : clock_now_ms() + left_ms;
	play(arena, &t, 0, end);
	check(!t.observer.again && t.pause_ms == 0);
	if (why) {
		check_part(t.observer.words, why, "the reason");
	} else {
		check(!t.observer.words);
	}
}

/**
 * The other side of a member's connection has gone, and the member's own program ends before it has noticed that: what it
 * sends cannot arrive. The other side is lost all the same, and all start again.
 */
static void check_lost_while_told(struct arena *arena) {
	struct together t = at_most(5);
	struct kept_line line = {.host = STR("h0")};
	struct roll_call call = {.arena = arena, .cluster = &nobody, .rank = 1, .size = 2, .node = "n1"};
	struct workload_end end = failed(3);
	struct err err;
	int pair[2];
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	line.line.fd = pair[0];
	check(together_begin(&t, &call, &(struct roll_end){.lines = &line}, &err) == 0);
	t.observer.event(&t.observer, EVENT_STARTED, 1, 0);
	close(pair[1]);
	n_reports = 0;
	t.observer.end = &end;
	t.observer.event(&t.observer, EVENT_ENDED, 0, 0);
	check(t.observer.busy);
	t.observer.event(&t.observer, EVENT_WAKE, 0, 0);
	check(t.observer.again && !t.observer.busy && t.observer.status == EXIT_ANOTHER && n_reports == 1);
	check_part(t.observer.words, "h0 (rank 0) is lost: its connection has ended; starting again (1 of 5)",
		   "who is lost");
	together_end(&t);
}

int main(void) {
	struct arena arena = fixture_arena();
	check_pauses(&arena);
	check_lost_while_told(&arena);
	check_count(&arena);
	for (int status = 124; status <= 128; status++) {
		if (status > 124 && status < 128) {
			check_final(&arena, failed(status), CLOCK_NEVER,
				    "; not starting again: the exit status says that it cannot be run");
		} else {
			struct together t = at_most(5);
			play(&arena, &t, 0, failed(status));
			checkf(t.observer.again, "a program's own status %d", status);
		}
	}
	check_final(&arena, failed(0), CLOCK_NEVER, NULL);
	struct workload_end end = failed(3);
	end.asked_to_end = true;
	check_final(&arena, end, CLOCK_NEVER, NULL);
	end = failed(3);
	end.limited = true;
	check_final(&arena, end, CLOCK_NEVER, "; not starting again: the time limit is used up");
	// The pause is 1 s.
	check_final(&arena, failed(3), 900, "; not starting again: the time limit is used up");
	struct together t = at_most(5);
	t.in_a_row = 1;
	t.limit_at = clock_now_ms() + 60000;
	play(&arena, &t, 0, failed(3));
	check(t.observer.again && t.pause_ms == 1000);
	arena_done(&arena);
	return check_done();
}
