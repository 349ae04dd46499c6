// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What 'distrun exec' (csrun_cpu) and 'distrun launch' (csrun_wse) share: settings from the command line, variables and the site's file; the
 * container; the tracked variables that go into it; and how the command is shown or run. In the order in which they are called.
 */

#include "container/runtime.h"
#include "container/site.h"
#include "distrun/commands.h"
#include "slurm/nodes.h"

struct csrun {
	struct session *s;
	struct arena *arena;
	struct site site;
	/** By enum site_id: the value and what told it; NULL: nobody has. An empty one counts as not told. */
	const char *value[SITE_N];
	const char *from[SITE_N];
	/** Whether it is the site's, which is a default. */
	bool by_site[SITE_N];
	const struct runtime *runtime;
	struct mounts mounts;
	struct container container;
	/** distinit, as it is called inside; NULL: it is not to be there. */
	const char *first;
	/** How many tasks there will be; 0: one, without a layout. */
	uint64_t tasks;
	/** What was taken out of the environment: names. And what the bundle carries: names, too. */
	struct words unset;
	struct words carried;
};

#define SETTING(id) (1U << (id))

/** What both commands take. */
#define SETTINGS_OF_BOTH \
	(SETTING(SITE_IMAGE) | SETTING(SITE_MOUNT_DIRS) | SETTING(SITE_RUNTIME) | \
	 SETTING(SITE_RUNTIME_ARGS) | SETTING(SITE_PARTITION) | SETTING(SITE_ACCOUNT) | \
	 SETTING(SITE_SRUN_ARGS) | SETTING(SITE_DISTINIT))

/** Say that there is no command. Returns the status to exit with. */
int csrun_refuse(struct session *s);

/** Begin, and read the site's file alone. Returns 0; or a negative errno. */
int csrun_site(struct csrun *c, struct session *s, struct err *err);

/**
 * Begin, and read the settings @ids, flags by SETTING(): the option, else the CSRUN_* variable, else the site's file.
 * Returns 0; or a negative errno.
 */
int csrun_settings(struct csrun *c, struct session *s, uint32_t ids, struct err *err);

/** Read @id as a number from 1 to @max. Where nobody told it, *@out stays. Returns 0; -EINVAL. */
int csrun_number(const struct csrun *c, enum site_id id, uint32_t max, uint32_t *out, struct err *err);

/** Read @id as True or False. Where nobody told it, *@out stays. Returns 0; -EINVAL. */
int csrun_truth(const struct csrun *c, enum site_id id, bool *out, struct err *err);

/**
 * Choose the runtime, look for image, folders and distinit, and put the tracked variables into the environment. @terminal: the command talks to one.
 * Returns 0; or a negative errno.
 */
int csrun_contain(struct csrun *c, bool terminal, struct err *err);

/**
 * Put the tracked variables (DISTINIT_TRACK) into the environment as a bundle, for the distinit inside to set before anything else. A variable takes no
 * file that somebody would have to remove, on whatever machine, however this ends.
 * Returns 0; or a negative errno.
 */
int csrun_carry(struct csrun *c, struct err *err);

/** Take @names, joined by blanks, out of the environment, those that are set. After csrun_contain(), which may carry them. */
void csrun_unset(struct csrun *c, const char *names);

/**
 * Look for srun and, as nodes_find() does, for the nodes that it can have; what would steer it beside our words is taken out of the environment.
 * Returns 0; -ENOENT where there is no srun; -ESRCH where the job that this is in has ended.
 */
int csrun_ready_srun(struct csrun *c, struct nodes *nodes, struct err *err);

/** srun's options that come from the site: for each part of a step. Returns 0; -EINVAL. */
int csrun_srun_options(struct csrun *c, struct words *words, struct err *err);

/** Add what is to run: the runtime, distinit and the command. */
void csrun_command(const struct csrun *c, struct words *words);

/** Become @words, or with several tasks its parent; or show them (--dry-run). Returns the status to exit with, if it returns. */
int csrun_run(struct csrun *c, struct words *words);

/** Print the site's settings, for --help. */
void csrun_help(struct session *s, struct buf *out);
