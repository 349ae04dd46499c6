// SPDX-License-Identifier: Apache-2.0

/** What the two sides of the roll call share: whose host is whose, statuses, times. */

#include "rollcall/rollcall.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

/** Check the hosts of all ranks, and of one rank more: "a a b". */
static void check_hosts(const struct roll_call *call, uint32_t ranks, const char *want, const char *what) {
	struct buf out = BUF(&arena);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		buf_puts(&out, rank ? " " : "");
		buf_puts(&out, arena_text(&arena, roll_host(call, rank).p, roll_host(call, rank).len));
	}
	check_text(buf_text(&out), want, "hosts of ranks, %s", what);
	check(roll_host(call, ranks).len == 0);
}

static void test_hosts(void) {
	uint32_t tasks[] = {2, 1, 3}, empty;
	struct err err;
	struct cluster cluster = {.scope = SCOPE_TASK, .nnodes = 3};
	const struct roll_call call = {.arena = &arena, .cluster = &cluster};
	hosts_split(&arena, "HOSTS", "a,b,c", ',', &cluster.place.hosts, &empty, &err);
	check(roll_host(&call, 0).len == 0);
	cluster.place.tasks_per_node = tasks;
	check(roll_host(&call, 0).len == 0);
	cluster.place.layout = LAYOUT_BLOCK;
	check_hosts(&call, 6, "a a b c c c", "block");
	cluster.place.layout = LAYOUT_CYCLIC;
	check_hosts(&call, 6, "a b c a c c", "cyclic");
	cluster.scope = SCOPE_NODE;
	check_hosts(&call, 3, "a b c", "nodes");
	cluster.master_node = 1;
	check_hosts(&call, 3, "b a c", "nodes, the master is the second");
	cluster.master_node = 2;
	check_hosts(&call, 3, "c a b", "nodes, the master is the third");
}

static void check_status(enum roll_result result, int signal, int want) {
	const struct roll_end end = {.result = result, .signal = signal};
	checkf(roll_status(&end) == want, "result %d: status %d, and not %d", (int)result, want,
	       roll_status(&end));
}

int main(void) {
	arena = fixture_arena();
	test_hosts();
	check_status(ROLL_STARTED, 0, 0);
	check_status(ROLL_ABSENT, 0, 124);
	check_status(ROLL_SIGNAL, 15, 143);
	check_status(ROLL_ERROR, 0, 125);
	check_status(ROLL_ASKED_TO_END, 0, 123);
	check_status(ROLL_REPLACED, 0, 123);
	return check_done();
}
