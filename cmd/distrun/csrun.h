// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The common part of 'distrun exec' (csrun_cpu) and 'distrun launch' (csrun_wse): settings from the command
 * line, from variables and from the site's file; the container; the tracked variables that are carried into
 * it; and running or printing the command. The functions stand in the order in which they are called.
 */

#include "distrun/commands.h"
#include "srun/nodes.h"
#include "srun/runtime.h"
#include "srun/site.h"

struct csrun {
	struct distrun_session *s;
	struct arena *arena;
	struct site site;
	/** Indexed by enum site_id: the value and its source; NULL: not set, or empty. */
	const char *value[SITE_N];
	const char *from[SITE_N];
	/** The value is from the site's file, so it is only a default. */
	bool by_site[SITE_N];
	const struct runtime *runtime;
	struct mounts mounts;
	struct container container;
	/** distinit's path in the container; NULL: distinit is not used. */
	const char *first;
	/** The path of the distinit on the host that hands variables into the container; NULL: none does. */
	const char *carrier;
	/** The distinits of all tasks hold a roll call before the command. */
	bool roll_call;
	/** distinit fills the command's words. */
	bool fill;
	/** The number of tasks; 0: one task, without a layout. */
	uint64_t tasks;
	/** The names of the variables that were removed from the environment, and of those in the bundle. */
	struct words unset;
	struct words carried;
};

/** Print that the command is missing. Returns the status to exit with. */
int csrun_refuse(struct distrun_session *s);

/** Initialise @c, and read only the site's file. Returns 0 or a negative errno. */
int csrun_site(struct csrun *c, struct distrun_session *s, struct err *err);

/** Initialise @c, and choose the value of each setting of this subcommand. Returns 0 or a negative errno. */
int csrun_settings(struct csrun *c, struct distrun_session *s, struct err *err);

/** Choose the value of @id: the option's, else the CSRUN_* variable's, else the site file's. */
void csrun_choose(struct csrun *c, enum site_id id);

/**
 * Read setting @id as a number from 1 to @max. If it is not set, *@out is unchanged. Returns 0 or
 * -EINVAL.
 */
int csrun_number(const struct csrun *c, enum site_id id, uint32_t max, uint32_t *out, struct err *err);

/** Read setting @id as True or False. If it is not set, *@out is unchanged. Returns 0 or -EINVAL. */
int csrun_truth(const struct csrun *c, enum site_id id, bool *out, struct err *err);

/**
 * Choose the runtime; find the image, the folders and distinit; and put the tracked variables into
 * the environment. @terminal: stdin and stdout are a terminal.
 * Returns 0 or a negative errno.
 */
int csrun_contain(struct csrun *c, bool terminal, struct err *err);

/** Unset the variables @names, separated by blanks. Call this after csrun_contain(), which may carry them. */
void csrun_unset(struct csrun *c, const char *names);

/**
 * Find srun, and the nodes that it can use (see nodes_find()). Remove the variables that would override our
 * options from the environment.
 * Returns 0; -ENOENT if there is no srun; -ESRCH if our job has ended.
 */
int csrun_ready_srun(struct csrun *c, struct nodes *nodes, struct err *err);

/** Add srun's options from the settings, for each component of a step. Returns 0 or -EINVAL. */
int csrun_srun_options(struct csrun *c, struct words *words, struct err *err);

/** Add the command line: the runtime, distinit and the command. */
void csrun_command(const struct csrun *c, struct words *words);

/**
 * Run the subcommand: build the command line by @put_all, then execute it, run it as its parent if it has several tasks, or
 * print it (--dry-run). Returns the exit status.
 */
int csrun_run(struct distrun_session *s, int (*put_all)(struct csrun *, struct words *, struct err *));
