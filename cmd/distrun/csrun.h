// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What 'distrun exec' (csrun_cpu) and 'distrun launch' (csrun_wse) share: settings from the command
 * line, from variables and from the site's file; the container; the tracked variables that are
 * carried into it; and running or printing the command. The functions are in the order in which
 * they are called.
 */

#include "distrun/commands.h"
#include "srun/nodes.h"
#include "srun/runtime.h"
#include "srun/site.h"

struct csrun {
	struct distrun_session *s;
	struct arena *arena;
	struct site site;
	/** By enum site_id: the value, and its source; NULL, also of an empty value: not set. */
	const char *value[SITE_N];
	const char *from[SITE_N];
	/** Whether the value is from the site's file, and so a default. */
	bool by_site[SITE_N];
	const struct runtime *runtime;
	struct mounts mounts;
	struct container container;
	/** distinit's path in the container; NULL: it is not used. */
	const char *first;
	/** Its path outside, from where it hands variables into the container; NULL: it does not. */
	const char *carrier;
	/** Whether distinit calls the roll of the tasks before the command. */
	bool roll_call;
	/** Whether it fills the command's words. */
	bool fill;
	/** The number of tasks; 0: one task, without a layout. */
	uint64_t tasks;
	/** Names of variables: those removed from the environment, and those that the bundle carries. */
	struct words unset;
	struct words carried;
};

/** Print that the command is missing. Returns the status to exit with. */
int csrun_refuse(struct distrun_session *s);

/** Begin, and read only the site's file. Returns 0 or a negative errno. */
int csrun_site(struct csrun *c, struct distrun_session *s, struct err *err);

/** Begin, and choose the value of each of this subcommand's settings. Returns 0 or a negative errno. */
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

/** Unset the variables @names, separated by blanks. After csrun_contain(), which may carry them. */
void csrun_unset(struct csrun *c, const char *names);

/**
 * Find srun, and the nodes it can use (see nodes_find()). Remove variables that would override our
 * options from the environment.
 * Returns 0; -ENOENT if there is no srun; -ESRCH if our job has ended.
 */
int csrun_ready_srun(struct csrun *c, struct nodes *nodes, struct err *err);

/** Add srun's options from the settings, for each component of a step. Returns 0 or -EINVAL. */
int csrun_srun_options(struct csrun *c, struct words *words, struct err *err);

/** Add the command line: the runtime, distinit and the command. */
void csrun_command(const struct csrun *c, struct words *words);

/**
 * Run the subcommand: execute the command line that @put_all builds, stay as several tasks' parent, or print it
 * (--dry-run). Returns the exit status.
 */
int csrun_run(struct distrun_session *s, int (*put_all)(struct csrun *, struct words *, struct err *));
