// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The settings of 'distrun exec' and 'distrun launch' besides the command line: the site's file,
 * and the user's CSRUN_* variables.
 *
 * The file has NAME=VALUE lines, with the names at the top of csrun_cpu and more. It may also be an
 * existing csrun_cpu: then the first assignment of each known name counts, and nothing else is
 * read.
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
	/** From here on: set by the user only. */
	SITE_SINGLE_TASK_NODES,
	SITE_CYCLIC,
	SITE_ALLOC_NODE,
	SITE_EXCLUDE_GRES,
	SITE_N,
};

/** The names of a setting. */
struct site_name {
	/** In the file; NULL: the file cannot set it. */
	const char *file;
	/** As an environment variable, and as an option. */
	const char *variable;
	const char *option;
};

extern const struct site_name site_names[SITE_N];

/** The longest file that is read. */
#define SITE_BYTES ((size_t)1 << 20)

struct site {
	/** The file's path; NULL: there is no file. */
	const char *path;
	/** NULL: not set in the file. It may be empty. */
	const char *value[SITE_N];
	/** The line that sets it. */
	uint32_t line[SITE_N];
};

/** Parse @text of @path into @out, in the arena. Returns 0; or -EINVAL with "PATH:LINE: ..." in @err. */
int site_parse(struct arena *arena, const char *path, struct str text, struct site *out, struct err *err);

/** Where the file may be. The user's counts if given; else the first that exists. */
struct site_places {
	/** The user's path, and what gives it; NULL: none. The file must exist. */
	const char *given;
	const char *given_from;
	/** The system's file. */
	const char *system;
	/** The file beside this program. May be NULL. */
	const char *beside;
};

/** Find and read the file; @out is empty without one. Returns 0 or a negative errno. */
int site_read(struct arena *arena, const struct site_places *places, struct site *out, struct err *err);

/** Add a note for each CSRUN_* variable that is not a setting. */
void site_check_variables(const struct env *env, struct notes *notes);
