// SPDX-License-Identifier: Apache-2.0

#include "source/slurm.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

static void check_read(const char *text, uint32_t nnodes, const char *want) {
	const uint32_t *counts = NULL;
	struct err err = {""};
	struct buf got = BUF(&arena);
	int r = tasks_per_node_read(&arena, "TASKS", str_of(text), nnodes, &counts, &err);
	for (uint32_t i = 0; r == 0 && i < nnodes; i++) {
		buf_putf(&got, "%s%u", i ? " " : "", counts[i]);
	}
	check_text(r < 0 ? err.text : buf_text(&got), want, "'%s' on %u nodes", text, nnodes);
}

static void check_wrong(const char *text, uint32_t nnodes, const char *want) {
	uint32_t before = 7;
	const uint32_t *counts = &before;
	struct err err = {"no error"};
	int r = tasks_per_node_read(&arena, "TASKS", str_of(text), nnodes, &counts, &err);
	checkf(r == -EINVAL && counts == &before, "wrong '%s' on %u nodes: %d", text, nnodes, r);
	check_part(err.text, want, "wrong '%s' says", text);
	check_part(err.text, "TASKS=", "wrong '%s' says where", text);
}

int main(void) {
	arena = fixture_arena();

	check_read("2", 1, "2");
	check_read("2(x3)", 3, "2 2 2");
	check_read("2(x3),1", 4, "2 2 2 1");
	check_read("1,2(x2),3", 4, "1 2 2 3");
	check_read("2(x1)", 1, "2");
	check_read("0,1", 2, "0 1"); // a node without a task
	check_read("65535", 1, "65535");
	check_read("007(x02)", 2, "7 7");
	check_read("", 0, "TASKS='': '' is not a count such as 2 or 2(x3)");

	check_wrong("2(x3)", 2, "has counts for more nodes than there are (2)");
	check_wrong("1,1,1", 2, "has counts for more nodes than there are (2)");
	check_wrong("1(x4294967295)", 2, "has counts for more nodes than there are (2)");
	check_wrong("1,2(x4294967295)", 2, "has counts for more nodes than there are (2)");
	check_wrong("1", 2, "has counts for 1 nodes, but there are 2");
	check_wrong("1(x3)", 4, "has counts for 3 nodes, but there are 4");

	check_wrong("", 1, "'' is not a count");
	check_wrong(",", 1, "'' is not a count");
	check_wrong("1,", 1, "'' is not a count");
	check_wrong("one", 1, "'one' is not a count");
	check_wrong("-1", 1, "'-1' is not a count");
	check_wrong("1 ", 1, "'1 ' is not a count");
	check_wrong("65536", 1, "'65536' is not a count");
	check_wrong("2(x0)", 1, "'2(x0)' is not a count");
	check_wrong("2(x)", 1, "'2(x)' is not a count");
	check_wrong("2(3)", 1, "'2(3)' is not a count");
	check_wrong("2(x3", 3, "'2(x3' is not a count");
	check_wrong("2(", 1, "'2(' is not a count");
	check_wrong("2()", 1, "'2()' is not a count");
	check_wrong("(x3)", 3, "'(x3)' is not a count");
	check_wrong("2(X3)", 3, "'2(X3)' is not a count");
	check_wrong("2(x3)4", 3, "'2(x3)4' is not a count");
	check_wrong("2(x3))", 3, "'2(x3))' is not a count");
	check_wrong("2(x-1)", 1, "'2(x-1)' is not a count");
	check_wrong("2(x4294967296)", 1, "'2(x4294967296)' is not a count");
	check_wrong("99999999999999999999", 1, "is not a count");

	arena_done(&arena);
	return check_done();
}
