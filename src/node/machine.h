// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What this machine, or container, has. Everything is read from files; no device is opened, as that
 * could wake it. A number that cannot be read is NOT_TOLD.
 */

#include "access/view.h"
#include "base/str.h"

#include <stdint.h>

#define NOT_TOLD UINT64_MAX

struct machine {
	struct arena *arena;
	/** All is read through it: with the program's rights. */
	const struct view *view;
};

/**
 * How many files match @path, in which a '*' stands for any name, or for the number at the end of
 * one. With @text, only those that begin with it.
 */
uint64_t machine_count(const struct machine *m, const char *path, const char *text);

/** How many files match @path, as there, that this process may read and write. They are not opened. */
uint64_t machine_writable(const struct machine *m, const char *path);

/** The names in the folder @path, without hidden ones, sorted; NULL behind the last. */
const char **machine_names(const struct machine *m, const char *path);

/** Whether the file @path, of at most 16 MiB, contains @text. */
bool machine_mentions(const struct machine *m, const char *path, const char *text);

/** The file @path without blanks at its end, or NULL. */
const char *machine_text(const struct machine *m, const char *path);

/** Where the symlink @path leads to, as it says; or NULL. */
const char *machine_link(const struct machine *m, const char *path);

/** GPUs or other accelerators in /dev. */
uint64_t machine_gpus(const struct machine *m);

/** The version of their driver, or NULL. */
const char *machine_gpu_driver(const struct machine *m);

/** MTU of @interface; NULL: that of IPv4's default route. */
uint64_t machine_mtu(const struct machine *m, const char *interface);

/** Hundredths of CPUs that this process may use: the smaller of its affinity and the quotas of its cgroups. */
uint64_t machine_cpus(const struct machine *m);

/**
 * Memory in MiB: the smallest limit of its cgroups, or else all of it. The latter is rounded up, as
 * a machine has a bit less than its hardware, and equal machines differ.
 */
uint64_t machine_memory(const struct machine *m);

/** The size of /dev/shm in MiB, rounded likewise; 0: there is none. */
uint64_t machine_shm(const struct machine *m);
