// SPDX-License-Identifier: Apache-2.0

/** distrun launch, also csrun_wse: a command in containers, as several tasks on several nodes. */

#include "distrun/csrun.h"

#include "srun/layout.h"

#include <errno.h>
#include <sys/random.h>

#define SECRET "DISTINIT_SECRET"

/** Set setting @id to a computed @value. @from explains it, for --dry-run and errors. */
static void conclude(struct csrun *c, enum site_id id, uint32_t value, const char *from) {
	c->value[id] = arena_format(c->arena, "%u", value);
	c->from[id] = from;
}

static int find_nodes(struct csrun *c, const struct nodes *have, uint32_t *out, struct err *err) {
	if (!c->value[SITE_NODES]) {
		if (!have->of_job || have->n == UINT32_MAX) {
			return err_set(err, EINVAL,
				       "the number of nodes is missing; set --total-nodes=N, CSRUN_NODES, or "
				       "DEF_NODES in the site file");
		}
		conclude(c, SITE_NODES, have->n, "all nodes of the job");
	}
	int r = csrun_number(c, SITE_NODES, UINT32_MAX - 1, out, err);
	// If there are 0 nodes, sinfo does not show this partition, and srun will report why.
	if (r == 0 && *out > have->n && have->n > 0) {
		return err_set(err, ERANGE, "%s=%u, but %s %u (%s)", c->from[SITE_NODES], *out,
			       have->of_job ? "the job has" : "the partition has", have->n, have->from);
	}
	return r;
}

/** If only --cpus-per-task is given, use as many tasks as fit on a node. Returns 0 or a negative errno. */
static int fill_node(struct csrun *c, const struct nodes *have, const struct layout *layout,
		     struct err *err) {
	if (have->cpus == 0) {
		return err_set(err, ENOENT,
			       "%s without --tasks-per-node: %s does not report how many CPUs a node has; "
			       "set both",
			       c->from[SITE_CPUS_PER_TASK], have->from);
	}
	if (have->cpus < layout->cpus_per_task) {
		return err_set(err, ERANGE, "%s=%u, but a node has %u (%s)", c->from[SITE_CPUS_PER_TASK],
			       layout->cpus_per_task, have->cpus, have->from);
	}
	conclude(c, SITE_TASKS_PER_NODE, have->cpus / layout->cpus_per_task,
		 arena_format(c->arena, "as many as fit in %u CPUs (%s)", have->cpus, have->from));
	return 0;
}

/**
 * Find the number of tasks and their CPUs. The site's two defaults belong together: if the user sets one of them, the
 * other default is used only if both fit on a node.
 */
static int find_tasks(struct csrun *c, const struct nodes *have, struct layout *out, struct err *err) {
	bool tasks_given = c->value[SITE_TASKS_PER_NODE] && !c->by_site[SITE_TASKS_PER_NODE];
	bool cpus_given = c->value[SITE_CPUS_PER_TASK] && !c->by_site[SITE_CPUS_PER_TASK];
	int r = csrun_number(c, SITE_CPUS_PER_TASK, UINT32_MAX - 1, &out->cpus_per_task, err);
	if (r == 0 && cpus_given && !tasks_given) {
		r = fill_node(c, have, out, err);
	}
	if (r == 0 && !c->value[SITE_TASKS_PER_NODE]) {
		return err_set(
			err, EINVAL,
			"the number of tasks is missing; set --tasks-per-node=N, CSRUN_TASKS_PER_NODE, or "
			"DEF_TASKS_PER_NODE in the site file");
	}
	r = r < 0 ? r : csrun_number(c, SITE_TASKS_PER_NODE, UINT32_MAX - 1, &out->tasks_per_node, err);
	bool fits = out->cpus_per_task && out->tasks_per_node <= have->cpus / out->cpus_per_task;
	if (r == 0 && tasks_given && !cpus_given && out->cpus_per_task && !fits) {
		// Let Slurm decide.
		out->cpus_per_task = 0;
		c->value[SITE_CPUS_PER_TASK] = NULL;
	}
	return r;
}

static int find_layout(struct csrun *c, const struct nodes *have, struct layout *out, struct err *err) {
	*out = (struct layout){.gres = c->value[SITE_GRES]};
	int r = find_nodes(c, have, &out->nodes, err);
	r = r < 0 ? r : find_tasks(c, have, out, err);
	r = r < 0 ? r : csrun_truth(c, SITE_CYCLIC, &out->cyclic, err);
	r = r < 0 ? r : csrun_number(c, SITE_SINGLE_TASK_NODES, UINT32_MAX - 1, &out->single_task_nodes, err);
	if (r == 0 && out->single_task_nodes >= out->nodes) {
		return err_set(err, ERANGE,
			       "%s=%u: at least one of %u nodes (%s) must remain for several tasks",
			       c->from[SITE_SINGLE_TASK_NODES], out->single_task_nodes, out->nodes,
			       c->from[SITE_NODES]);
	}
	return r;
}

/** Read --for and --fill, which are passed to distinit. */
static int read_for_distinit(struct csrun *c, struct err *err) {
	const char *what = c->s->settings.value[OPT_FOR];
	if (what && strcmp(what, "all") != 0) {
		return err_set(err, EINVAL, "--for=%s: expected all", quote_text(what).s);
	}
	if (what && !c->first) {
		return err_set(err, EINVAL, "--for=all: distinit calls the roll, but %s=none leaves it out",
			       c->from[SITE_DISTINIT]);
	}
	c->roll_call = what;
	c->fill = settings_on(&c->s->settings, OPT_FILL);
	if (c->fill && !c->first) {
		return err_set(err, EINVAL, "--fill: distinit fills words, but %s=none leaves it out",
			       c->from[SITE_DISTINIT]);
	}
	return 0;
}

/** Put the roll call's secret into the tasks' environment, because all users of a node can read command lines. */
static void share_secret(struct csrun *c) {
	unsigned char bytes[16];
	struct buf text = BUF(c->arena);
	if (!c->first || env_value(&c->s->env, SECRET)) {
		return;
	}
	while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		buf_putf(&text, "%02x", bytes[i]);
	}
	env_set(&c->s->env, STR(SECRET), buf_str(&text), NULL);
}

/** Build the complete command line. */
static int put_all(struct csrun *c, struct words *words, struct err *err) {
	struct words more = WORDS(c->arena);
	struct nodes nodes;
	struct layout layout;
	struct layout_part *parts;
	size_t n;
	int r = csrun_contain(c, false, err);
	r = r < 0 ? r : read_for_distinit(c, err);
	r = r < 0 ? r : csrun_ready_srun(c, &nodes, err);
	r = r < 0 ? r : find_layout(c, &nodes, &layout, err);
	r = r < 0 ? r : layout_parts(c->arena, &layout, &parts, &n, err);
	r = r < 0 ? r : csrun_srun_options(c, &more, err);
	if (r < 0) {
		return r;
	}
	share_secret(c);
	words_add(words, "srun");
	words_add(words, "--unbuffered");
	words_add(words, "--kill-on-bad-exit");
	layout_put(&layout, parts, n, words_vector(&more), words);
	csrun_command(c, words);
	c->tasks = layout_tasks(&layout);
	return 0;
}

int command_launch(struct distrun_session *s) {
	return csrun_run(s, put_all);
}
