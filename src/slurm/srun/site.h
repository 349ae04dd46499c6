// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Settings of 'distrun exec' and 'distrun launch' that are not on the command line: those in the site's
 * file, and the user's CSRUN_* variables.
 *
 * The file has NAME=VALUE lines. The names are those at the top of csrun_cpu, and more. The file may also
 * be an existing csrun_cpu, a shell script: then the first assignment of each known name counts, and all
 * other lines are ignored.
 */

#include "base/err.h"
#include "base/notes.h"
#include "env/env.h"

#include <stdint.h>

enum site_id {
	SITE_IMAGE,
	SITE_MOUNT_DIRS,
	SITE_NODES,
	SITE_TASKS_PER_NODE,
	SITE_CPUS_PER_TASK,
	SITE_GRES,
	SITE_GRES_NODE,
	SITE_RUNTIME,
	SITE_RUNTIME_ARGS,
	SITE_PARTITION,
	SITE_ACCOUNT,
	SITE_SRUN_ARGS,
	SITE_DISTINIT,
	/** From here on, only the user can set them, not the file. */
	SITE_SINGLE_TASK_NODES,
	SITE_CYCLIC,
	SITE_ALLOC_NODE,
	SITE_EXCLUDE_GRES,
	SITE_N,
};

/** The names of a setting. */
struct site_name {
	/** The name in the file; NULL: the file cannot set it. */
	const char *file;
	/** The environment variable, and the option. */
	const char *variable;
	const char *option;
};

extern const struct site_name site_names[SITE_N];

/** The size limit of the file, in bytes. */
#define SITE_BYTES ((size_t)1 << 20)

struct site {
	/** The file's path; NULL: there is no file. */
	const char *path;
	/** The values, which may be empty; NULL: not set in the file. */
	const char *value[SITE_N];
	/** The number of the line that sets each value, from 1. */
	uint32_t line[SITE_N];
};

/**
 * Parse @text, the contents of @path, into @out. Values are in the arena. Returns 0; or -EINVAL with
 * "PATH:LINE: ...".
 */
int site_parse(struct arena *arena, const char *path, struct str text, struct site *out, struct err *err);

/** Where the file may be. If the user gives a path, it is that; else the first of the others that exists. */
struct site_paths {
	/** The user's path, whose file has to exist, and the option or variable that gives it; NULL: none. */
	const char *given;
	const char *given_from;
	/** The system's file. */
	const char *system;
	/** The file beside this program; NULL: none. */
	const char *beside;
};

/** Find and read the file. If there is none, *@out is empty. Returns 0 or a negative errno. */
int site_read(struct arena *arena, const struct site_paths *paths, struct site *out, struct err *err);

/** Warn about each CSRUN_* variable that is not a setting. */
void site_check_variables(const struct env *env, struct notes *notes);
