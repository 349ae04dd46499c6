// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Container runtimes: how each is told to run a command in an image, with folders of the host. */

#include "base/words.h"
#include "container/mounts.h"
#include "env/env.h"

/** What is to be run, and how. */
struct container {
	/** A path, or a name that the runtime knows; NULL where it needs none. */
	const char *image;
	const struct mounts *mounts;
	/** The working folder inside; NULL: the runtime's default. */
	const char *folder;
	/** The site's own arguments for the runtime, ended by NULL; or NULL. */
	char *const *arguments;
	/** It talks to a terminal. */
	bool terminal;
};

struct runtime {
	const char *name;
	/** Another name for it, or NULL. */
	const char *alias;
	/** What `auto` looks for in PATH; NULL: it is never chosen so. */
	const char *program;
	/** Whether there is an image at all. */
	bool has_image;
	/** Whether srun itself does it, by options of each part; otherwise by words in front of the command. */
	bool by_srun;
	/** Whether the first program is PID 1 of its container, and has to do the duties of that. */
	bool is_init;
	/** Whether it makes a place to mount at that the image lacks; otherwise distinit comes by its folder, at /mnt/0. */
	bool makes_targets;
	/** Whether the current folder has to be mounted for it. Singularity does that by itself. */
	bool wants_current_folder;
	/** Whether it can mount read-only. */
	bool reads_only;
	/** Add the words. Not called where `has_image` is not set. */
	void (*put)(const struct container *container, struct words *words);
};

/** All, ended by an entry of zeros. */
extern const struct runtime runtimes[];

/**
 * Find the runtime @name; NULL or "auto": the first whose program is in the PATH of @env, of those that take such an image. @from names what told
 * it, for messages.
 * Returns 0; -EINVAL where it is not known; -ENOENT where none is installed.
 */
int runtime_find(struct arena *arena, const struct env *env, const char *from, const char *name,
		 const char *image, const struct runtime **out, struct err *err);

/**
 * Check what the runtime needs of the host: that an image which is a path is there, that nothing is to be read-only which cannot be, and that
 * places to mount at are there, where it makes none and the image is a folder. @from names what told the image.
 * Returns 0; or a negative errno.
 */
int runtime_check(const struct runtime *runtime, struct arena *arena, const struct container *container,
		  const char *from, struct err *err);

/** Whether @program is in the PATH of @env, or is a path to one. */
bool program_is_there(struct arena *arena, const struct env *env, const char *program);
