// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What `explain` tells of this process: what it has and may do, and where it runs. Nothing is changed. */

#include "env/env.h"
#include "priv/credentials.h"

/** For numbers that could not be read. */
#define NOT_KNOWN (-1)

/** The kind of a container of which only a PID namespace is seen. */
#define CONTAINER_UNNAMED "namespace"

struct container {
	/** "docker", "podman", "kubernetes", ...; NULL: none that we recognise. */
	const char *kind;
	/** The file or variable that says so. */
	const char *by;
};

struct process {
	uint32_t pid;
	struct container container;
	struct credentials has;
	/** 1 or 0 where it is known. */
	int in_user_namespace;
	int root_read_only;
	/** SECCOMP_MODE_*: 0 off, 1 strict, 2 a filter. */
	int seccomp;
	/** Whether the two below are known: they are in /proc alone. */
	bool has_signals;
	/** Signals that were ignored or blocked when we began: bit N - 1 is signal N. */
	uint64_t ignored;
	uint64_t blocked;
	/** RLIMIT_MEMLOCK, the soft limit in bytes; UINT64_MAX: none. */
	uint64_t memlock;
};

/**
 * Read all that can be had; the texts are in the arena. Marker files of containers are looked for under @root (NULL: "/"),
 * their variables in @env.
 * Returns 0; a negative errno where the kernel tells us not even our ids.
 */
int process_read(struct arena *arena, const char *root, const struct env *env, struct process *out,
		 struct err *err);

/** Which container this is, and by what that is known. */
struct container container_read(struct arena *arena, const char *root, const struct env *env);

/** What is said in the text of /proc/self/status: ignored, blocked and seccomp of @out. A field that is missing stays as it is. */
void process_read_status(struct str status, struct process *out);
