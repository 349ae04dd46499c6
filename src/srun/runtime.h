// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Container runtimes: their command lines to run a command in an image, with folders of the host. */

#include "base/words.h"
#include "env/env.h"
#include "srun/mounts.h"

/** What to run, and how. */
struct container {
	/** A path, or a name that the runtime knows; NULL if the runtime needs none. */
	const char *image;
	const struct mounts *mounts;
	/** The working directory in the container; NULL: the runtime's default. */
	const char *folder;
	/** The site's extra arguments for the runtime, ended by NULL; or NULL. */
	char *const *arguments;
	/** Its stdin and stdout are a terminal. */
	bool terminal;
};

struct runtime {
	const char *name;
	/** An alias, or NULL. */
	const char *alias;
	/** The program that `auto` looks for in PATH; NULL: `auto` never chooses it. */
	const char *program;
	/** Whether it uses an image. */
	bool has_image;
	/** srun starts the container, by options for each component. Else a command line comes first. */
	bool by_srun;
	/** Whether the first program is PID 1 of its container, and must act as init. */
	bool is_init;
	/** It creates mount targets that the image lacks. Else distinit's folder is mounted at /mnt/0. */
	bool makes_targets;
	/** The current folder must be mounted explicitly. Singularity mounts it by itself. */
	bool wants_current_folder;
	/** Whether it supports read-only mounts. */
	bool reads_only;
	/** Add its command line. Not called if `has_image` is false. */
	void (*put)(const struct container *container, struct words *words);
};

/** All runtimes, ended by an entry of zeros. */
extern const struct runtime runtimes[];

/**
 * Find the runtime @name. NULL or "auto": the first that takes such an image and whose program is
 * in the PATH of @env. @from names the option or variable in messages.
 * Returns 0; -EINVAL if @name is unknown; -ENOENT if none is installed.
 */
int runtime_find(struct arena *arena, const struct env *env, const char *from, const char *name,
		 const char *image, const struct runtime **out, struct err *err);

/**
 * Check what the runtime needs on the host. An image that is a path must exist. Read-only mounts
 * must be supported. If the runtime cannot create mount targets and the image is a folder, the
 * targets must exist in it. @from names the source of the image in messages.
 * Returns 0 or a negative errno.
 */
int runtime_check(const struct runtime *runtime, struct arena *arena, const struct container *container,
		  const char *from, struct err *err);

/** Whether @program is found in the PATH of @env, or is a path to an executable. */
bool program_is_there(struct arena *arena, const struct env *env, const char *program);
