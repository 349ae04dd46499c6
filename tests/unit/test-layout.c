// SPDX-License-Identifier: Apache-2.0

#include "srun/layout.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** srun's words for @layout with @more in each part, joined by blanks; or the message. */
static void check_layout(struct layout layout, const char *more, uint64_t tasks, const char *want) {
	struct layout_part *parts;
	size_t n;
	struct err err = {""};
	int r = layout_parts(&arena, &layout, &parts, &n, &err);
	struct words words = WORDS(&arena);
	struct buf got = BUF(&arena);
	if (r == 0) {
		layout_put(&layout, parts, n, fixture_split(&arena, more, ' '), &words);
		words_put(&got, words_vector(&words));
		checkf(layout_tasks(&layout) == tasks, "%u nodes: %lu tasks", layout.nodes,
		       (unsigned long)layout_tasks(&layout));
	}
	check_text(r < 0 ? err.text : buf_text(&got), want, "%u nodes, %u of them single, %u tasks, %u CPUs",
		   layout.nodes, layout.single_task_nodes, layout.tasks_per_node, layout.cpus_per_task);
	checkf(r == 0 || r == -EINVAL, "%u nodes return %d", layout.nodes, r);
}

int main(void) {
	arena = fixture_arena();
	check_layout((struct layout){1, 0, 4, 2, false, NULL}, "", 4,
		     "--exclusive --nodes=1 --tasks-per-node=4 --cpus-per-task=2");
	check_layout((struct layout){1, 0, 4, 0, true, "cs:1"}, "", 4,
		     "--exclusive --nodes=1 --tasks-per-node=4 --gres=cs:1");
	check_layout((struct layout){2, 0, 2, 8, false, NULL}, "", 4,
		     "--nodes=1 --tasks-per-node=2 --cpus-per-task=8 : --nodes=1 --tasks-per-node=2 "
		     "--cpus-per-task=8 --exclusive");
	check_layout((struct layout){4, 0, 3, 0, true, "cs:1"}, "--mem=0 -x", 12,
		     "--nodes=1 --tasks-per-node=3 --gres=cs:1 --mem=0 -x : --nodes=3 --tasks-per-node=3 "
		     "--distribution=cyclic --exclusive --mem=0 -x");
	// The peer's own example: 14 tasks.
	check_layout((struct layout){5, 2, 4, 0, false, "cs:1"}, "", 14,
		     "--exclusive --nodes=1 --tasks-per-node=1 --gres=cs:1 : --nodes=1 --tasks-per-node=1 "
		     "--exclusive : --nodes=3 --tasks-per-node=4 --exclusive");
	check_layout((struct layout){2, 1, 4, 2, true, NULL}, "-x", 5,
		     "--exclusive --nodes=1 --tasks-per-node=1 -x : --nodes=1 --tasks-per-node=4 "
		     "--cpus-per-task=2 --distribution=cyclic --exclusive -x");

	check_layout((struct layout){2, 2, 4, 0, false, NULL}, "", 0,
		     "2 single-task nodes of 2 nodes: at least one node must remain for several tasks");
	check_layout((struct layout){0, 0, 4, 0, false, NULL}, "", 0,
		     "0 nodes with 4 tasks each: at least one of both is needed");
	check_layout((struct layout){2, 0, 0, 0, false, NULL}, "", 0,
		     "2 nodes with 0 tasks each: at least one of both is needed");
	struct layout large = {4294967294, 1, 4294967294, 0, false, NULL};
	checkf(layout_tasks(&large) == 1 + 4294967293UL * 4294967294UL, "no overflow: %lu",
	       (unsigned long)layout_tasks(&large));
	arena_done(&arena);
	return check_done();
}
