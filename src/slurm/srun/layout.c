// SPDX-License-Identifier: Apache-2.0

#include "srun/layout.h"

#include <errno.h>

int layout_parts(struct arena *arena, const struct layout *layout, struct layout_part **parts, size_t *n,
		 struct err *err) {
	const uint32_t singles = layout->single_task_nodes;
	if (layout->nodes == 0 || layout->tasks_per_node == 0) {
		return err_set(err, EINVAL, "%u nodes with %u tasks each: at least one of both is needed",
			       layout->nodes, layout->tasks_per_node);
	}
	if (singles >= layout->nodes) {
		return err_set(
			err, EINVAL,
			"%u single-task nodes of %u nodes: at least one node must remain for several tasks",
			singles, layout->nodes);
	}
	// The first node, which has the generic resource, is a component of its own.
	uint32_t alone = singles ? singles : layout->nodes > 1;
	struct layout_part *at = arena_array(arena, (size_t)alone + 1, sizeof(*at));
	for (uint32_t i = 0; i < alone; i++) {
		at[i] = (struct layout_part){
			.nodes = 1,
			.tasks_per_node = singles ? 1 : layout->tasks_per_node,
			.cpus_per_task = singles ? 0 : layout->cpus_per_task,
			.gres = i == 0,
			.exclusive = singles,
		};
	}
	at[alone] = (struct layout_part){
		.nodes = layout->nodes - alone,
		.tasks_per_node = layout->tasks_per_node,
		.cpus_per_task = layout->cpus_per_task,
		.gres = alone == 0,
		.cyclic = layout->cyclic && layout->nodes > 1,
		.exclusive = true,
	};
	*parts = at;
	*n = (size_t)alone + 1;
	return 0;
}

uint64_t layout_tasks(const struct layout *layout) {
	return layout->single_task_nodes +
	       (uint64_t)(layout->nodes - layout->single_task_nodes) * layout->tasks_per_node;
}

void layout_put(const struct layout *layout, const struct layout_part *parts, size_t n, char *const more[],
		struct words *words) {
	for (size_t i = 0; i < n; i++) {
		const struct layout_part *part = &parts[i];
		if (i) {
			words_add(words, ":");
		} else if (part->exclusive) {
			words_add(words, "--exclusive");
		}
		words_addf(words, "--nodes=%u", part->nodes);
		words_addf(words, "--tasks-per-node=%u", part->tasks_per_node);
		if (part->cpus_per_task) {
			words_addf(words, "--cpus-per-task=%u", part->cpus_per_task);
		}
		if (part->gres && layout->gres) {
			words_addf(words, "--gres=%s", layout->gres);
		}
		if (part->cyclic) {
			words_add(words, "--distribution=cyclic");
		}
		if (part->exclusive && i) {
			words_add(words, "--exclusive");
		}
		words_add_all(words, more);
	}
}
