// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What `explain` shows of this process: its rights, and where it runs. Nothing is changed. */

#include "env/env.h"
#include "priv/credentials.h"

struct view;

/** The value of numbers that could not be read. */
#define NOT_KNOWN (-1)

/** The kind of a container that only its PID namespace reveals. */
#define CONTAINER_UNNAMED "namespace"

/** What shows that this is a container. */
struct container_mark {
	/** "docker", "podman", "kubernetes", ...; NULL: no known mark. */
	const char *kind;
	/** The file or variable that shows it. */
	const char *by;
};

struct process {
	uint32_t pid;
	struct container_mark container;
	struct credentials has;
	/** 1 or 0, or NOT_KNOWN. */
	int in_user_namespace;
	int root_read_only;
	/** SECCOMP_MODE_*: 0 off, 1 strict, 2 a filter. */
	int seccomp;
	/** Whether the next two fields are known. Only /proc has them. */
	bool has_signals;
	/** Signals that were ignored or blocked at our start: bit N - 1 is signal N. */
	uint64_t ignored;
	uint64_t blocked;
	/** RLIMIT_MEMLOCK, the soft limit in bytes; UINT64_MAX: unlimited. */
	uint64_t memlock;
};

/**
 * Read everything that is available; the texts are in the arena. Marker files of containers are
 * looked up through @view (NULL: not at all), marker variables in @env.
 * Returns 0; a negative errno if not even our ids can be read.
 */
int process_read(struct arena *arena, const struct view *view, const struct env *env, struct process *out,
		 struct err *err);

/** Find out which container this is, and what shows it. */
struct container_mark container_read(const struct view *view, const struct env *env);

/** Read signals and seccomp from the text of /proc/self/status. What is missing stays as it was. */
void process_read_status(struct str status, struct process *out);
