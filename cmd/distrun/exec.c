// SPDX-License-Identifier: Apache-2.0

/** distrun exec, also csrun_cpu: one command in a container, on a node of its own. */

#include "distrun/csrun.h"

#include "srun/nodes.h"

#include <errno.h>
#include <unistd.h>

/** Variables of login hosts that must not reach the container, as in csrun_cpu. */
static const char unset[] = "PYTHONPATH LD_LIBRARY_PATH GITTOP LLVM_TOP LLVM_MLIR_PATH CBCORE "
			    "CEREBRAS_INCLUDE_PATH CEREBRAS_ANGLER_SHARE_PATH";

/** csrun_cpu's options that print a setting of the site, and whether the setting is required. */
static const struct query {
	unsigned option;
	enum site_id id;
	bool needed;
} queries[] = {
	{OPT_DEF_NODES, SITE_NODES, true},
	{OPT_DEF_TASKS, SITE_TASKS_PER_NODE, true},
	{OPT_DEF_CPUS, SITE_CPUS_PER_TASK, true},
	{OPT_SINGULARITY, SITE_IMAGE, true},
	{OPT_DEF_MOUNT_DIRS, SITE_MOUNT_DIRS, false},
	{OPT_DEF_GRES, SITE_GRES, false},
	{OPT_DEF_GRES_NODE, SITE_GRES_NODE, false},
};

/** Find the query among the options; NULL: none. */
static const struct query *asked(const struct distrun_session *s) {
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		if (settings_on(&s->settings, queries[i].option)) {
			return &queries[i];
		}
	}
	return NULL;
}

static int answer(struct distrun_session *s, const struct query *query, struct err *err) {
	struct csrun c;
	int r = csrun_site(&c, s, err);
	if (r < 0) {
		return session_fail(s, err);
	}
	const char *value = c.site.value[query->id];
	if (query->needed && (!value || !*value)) {
		const char *name = site_names[query->id].file;
		if (c.site.path) {
			err_set(err, ENOENT, "%s: %s is not set; add it there", c.site.path, name);
		} else {
			err_set(err, ENOENT,
				"there is no site file (/etc/distinit/site.conf), so %s is not set", name);
		}
		return session_fail(s, err);
	}
	return say_result(&s->speaker, str_of(arena_format(&s->arena, "%s\n", value ? value : "")));
}

/** Add srun's options: one task on a node of its own. */
static int put_srun(struct csrun *c, struct words *words, struct err *err) {
	struct nodes nodes;
	bool exclude = true;
	int r = csrun_truth(c, SITE_EXCLUDE_GRES, &exclude, err);
	r = r < 0 ? r : csrun_ready_srun(c, &nodes, err);
	if (r < 0) {
		return r;
	}
	words_add(words, "srun");
	// Only on a terminal: without one, --pty makes srun print an error.
	if (c->container.terminal) {
		words_add(words, "--pty");
	}
	words_add(words, "--nodes=1");
	if (exclude && c->value[SITE_GRES_NODE]) {
		words_addf(words, "--exclude=%s", c->value[SITE_GRES_NODE]);
	}
	words_add(words, "--exclusive");
	return csrun_srun_options(c, words, err);
}

/** Build the complete command line. */
static int put_all(struct csrun *c, struct words *words, struct err *err) {
	bool alloc_node = true;
	int r = csrun_truth(c, SITE_ALLOC_NODE, &alloc_node, err);
	r = r < 0 ? r : csrun_contain(c, isatty(0) && isatty(1), err);
	if (r < 0) {
		return r;
	}
	csrun_unset(c, unset);
	if (alloc_node) {
		r = put_srun(c, words, err);
	} else if (c->runtime->by_srun) {
		r = err_set(
			err, EINVAL,
			"%s=%s: srun starts the container with %s, so a node must be allocated; leave %s out",
			c->from[SITE_ALLOC_NODE], c->value[SITE_ALLOC_NODE], c->runtime->name,
			c->from[SITE_ALLOC_NODE]);
	}
	csrun_command(c, words);
	return r;
}

int command_exec(struct distrun_session *s) {
	struct err err;
	const struct query *query = asked(s);
	return query ? answer(s, query, &err) : csrun_run(s, put_all);
}
