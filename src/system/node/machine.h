// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Devices, CPUs, memory and versions of this machine or container. All are read from files. No device is
 * opened, because that could wake it. A number that cannot be read is MACHINE_UNKNOWN.
 */

#include "access/view.h"
#include "base/str.h"

#include <stdint.h>

#define MACHINE_UNKNOWN UINT64_MAX

struct machine {
	struct arena *arena;
	/** All files are read through this view, with the program's rights. */
	const struct view *view;
};

/**
 * Count the files that match @path. A '*' in it is a whole name, or the digits after a prefix. With @text,
 * count only the files that begin with it; NULL: all.
 */
uint64_t machine_count(const struct machine *m, const char *path, const char *text);

/** Count the files that match @path, and that this process may read and write. They are not opened. */
uint64_t machine_writable(const struct machine *m, const char *path);

/** The names in the folder @path, without hidden ones, sorted; then NULL. */
const char **machine_names(const struct machine *m, const char *path);

/** Whether the file @path contains @text. A file of more than 16 MiB is not searched: returns false. */
bool machine_mentions(const struct machine *m, const char *path, const char *text);

/** The text of the file @path, without blanks at its end; NULL: it cannot be read. */
const char *machine_text(const struct machine *m, const char *path);

/** The target of the symlink @path, unresolved; NULL: it is no symlink. */
const char *machine_link(const struct machine *m, const char *path);

/** GPUs or other accelerators in /dev. */
struct gpus {
	uint64_t n;
	/** How many of them the program's user may not read and write. They are not opened. */
	uint64_t denied;
};

struct gpus machine_gpus(const struct machine *m);

/** The size of the regular file @path in bytes; MACHINE_UNKNOWN: it is none. */
uint64_t machine_size(const struct machine *m, const char *path);

/** The version of NVIDIA's driver; NULL: there is none. */
const char *machine_gpu_driver(const struct machine *m);

/** The MTU of @interface; NULL: of the interface of IPv4's default route. */
uint64_t machine_mtu(const struct machine *m, const char *interface);

/**
 * The CPUs that this process may use, in hundredths: the smallest of its affinity and the quotas of its
 * cgroups.
 */
uint64_t machine_cpus(const struct machine *m);

/**
 * The memory in MiB: the smallest limit of the cgroups; without a limit, the memory of the machine. That is
 * rounded up, because equal machines report slightly different sizes.
 */
uint64_t machine_memory(const struct machine *m);

/** The size of /dev/shm in MiB, rounded in the same way; 0: there is none. */
uint64_t machine_shm(const struct machine *m);
