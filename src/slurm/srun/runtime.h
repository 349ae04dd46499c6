// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Container runtimes, and their command lines that run a command in an image, with folders of the host. */

#include "base/words.h"
#include "env/env.h"
#include "srun/mounts.h"

/** The container in which a command runs. */
struct container {
	/** A path, or a name that the runtime knows; NULL: the runtime needs no image. */
	const char *image;
	const struct mounts *mounts;
	/** The working directory in the container; NULL: the runtime's default. */
	const char *folder;
	/** The site's extra arguments for the runtime, ended by NULL; NULL: none. */
	char *const *arguments;
	/** The command's stdin and stdout are a terminal. */
	bool terminal;
};

struct runtime {
	const char *name;
	/** Another name; NULL: none. */
	const char *alias;
	/** The program that `auto` looks for in PATH; NULL: `auto` never chooses this runtime. */
	const char *program;
	/** The runtime uses an image. */
	bool has_image;
	/**
	 * srun starts the container, by options of each component. Else the runtime's command line precedes
	 * the command.
	 */
	bool by_srun;
	/** The first program is PID 1 of its container, and has to act as init. */
	bool is_init;
	/**
	 * The runtime creates mount targets that the image lacks. Else distinit's folder is mounted at /mnt/0.
	 */
	bool makes_targets;
	/** The current folder has to be mounted by an option. (Singularity mounts it by default.) */
	bool wants_current_folder;
	/** The runtime supports read-only mounts. */
	bool reads_only;
	/** Append the runtime's command line. Not called if `has_image` is false. */
	void (*put)(const struct container *container, struct words *words);
};

/** All runtimes, ended by an entry of zeros. */
extern const struct runtime runtimes[];

/**
 * Find the runtime @name. NULL or "auto": the first runtime that can run @image and whose program is in the
 * PATH of @env. @from names the option or variable in messages.
 * Returns 0; -EINVAL if @name is unknown; -ENOENT if none is installed.
 */
int runtime_find(struct arena *arena, const struct env *env, const char *from, const char *name,
		 const char *image, const struct runtime **out, struct err *err);

/**
 * Check that the runtime can run @container:
 * - If the image is a path, it exists.
 * - If a mount is read-only, the runtime supports that.
 * - If the runtime cannot create mount targets and the image is a folder, the targets exist in it.
 * @from names the option, variable or file with the image in messages. Returns 0 or a negative errno.
 */
int runtime_check(const struct runtime *runtime, struct arena *arena, const struct container *container,
		  const char *from, struct err *err);

/** Whether @program is in a folder of the PATH of @env; or, if it has a '/', is an executable file. */
bool program_is_there(struct arena *arena, const struct env *env, const char *program);
