// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What this machine, or container, has: devices and limits. Read in one pass, without a child and
 * without opening a device, which could wake it. The roll call compares it, and `check` holds it
 * against what was promised.
 */

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/** A number that could not be read. */
#define MACHINE_UNKNOWN UINT64_MAX
/** A limit that does not limit. */
#define MACHINE_UNLIMITED (UINT64_MAX - 1)

struct machine {
	/** Number of GPUs or similar (/dev/nvidia0, ...), or MACHINE_UNKNOWN without /dev. */
	uint64_t gpus;
	/** The version of their driver, or NULL. */
	const char *gpu_driver;
	/** RDMA devices that the kernel has, their ports that are ACTIVE, and those that may be opened. */
	uint64_t rdma_devices;
	uint64_t rdma_active;
	uint64_t rdma_verbs;
	/** The kernel's release, or NULL. */
	const char *kernel;
	/** MTU of the interface that was asked for, or of the default route. */
	uint64_t mtu;
	/** CPUs that this process may use: the smaller of its affinity and its cgroup's quota. */
	uint64_t cpus;
	/** In bytes: the smaller of the machine's memory and its cgroup's limit. */
	uint64_t memory;
	/** Whether `memory` is a cgroup's limit, and exact. */
	bool memory_limited;
	/** RLIMIT_MEMLOCK in bytes and RLIMIT_NOFILE, the soft limits. */
	uint64_t memlock;
	uint64_t nofile;
	/** Size of /dev/shm in bytes; 0: there is none. */
	uint64_t shm;
};

/**
 * Read it all. @root stands for "/" in the paths of /dev, /proc and /sys; NULL: "/". @interface:
 * whose MTU to read; NULL: that of the default route. Numbers that cannot be read are
 * MACHINE_UNKNOWN.
 */
void machine_read(struct arena *arena, const char *root, const char *interface, struct machine *out);
