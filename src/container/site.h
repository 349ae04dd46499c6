// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The settings of 'distrun exec' and 'distrun launch' that are no command line: the site's file, and the user's CSRUN_* variables.
 *
 * The file has NAME=VALUE lines, of the names that csrun_cpu has at its top, and more; or it is an existing csrun_cpu, of which the first
 * assignment of each known name counts, and nothing else is read.
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
	/** From here on: told by the user alone. */
	SITE_SINGLE_TASK_NODES,
	SITE_CYCLIC,
	SITE_ALLOC_NODE,
	SITE_EXCLUDE_GRES,
	SITE_N,
};

/** What a setting is called. */
struct site_name {
	/** In the file; NULL where it is not the file's. */
	const char *file;
	/** As a variable. */
	const char *variable;
};

extern const struct site_name site_names[SITE_N];

/** The longest file that is read. */
#define SITE_BYTES ((size_t)1 << 20)

struct site {
	/** The file; NULL: there is none. */
	const char *path;
	/** NULL: the file does not have it. It may be empty. */
	const char *value[SITE_N];
	/** The line in which it has it. */
	uint32_t line[SITE_N];
};

/**
 * Read @text, which is the file @path, into @out. Texts are the arena's.
 * Returns 0; -EINVAL with "PATH:LINE: ..." in @err.
 */
int site_parse(struct arena *arena, const char *path, struct str text, struct site *out, struct err *err);

/** Where the file may be: the first of these that is told or there. */
struct site_places {
	/** What the user told, and by what; NULL: nothing. It has to be there. */
	const char *told;
	const char *told_from;
	/** The system's. */
	const char *system;
	/** Beside this program. May be NULL. */
	const char *beside;
};

/** Find and read it; without any, @out has no path and no values. Returns 0; or a negative errno. */
int site_read(struct arena *arena, const struct site_places *places, struct site *out, struct err *err);

/** Add a note for each CSRUN_* variable that is no setting. */
void site_check_variables(const struct env *env, struct notes *notes);
