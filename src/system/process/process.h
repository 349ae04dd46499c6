// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Reads what `explain` shows about this process: its rights, and where it runs. */

#include "env/env.h"
#include "priv/credentials.h"

struct view;

/** The value of a number that could not be read. */
#define NOT_KNOWN (-1)

/** The kind of a container that is recognised by its PID namespace only. */
#define CONTAINER_UNNAMED "namespace"

/** The kind of a container, and the mark that shows it. */
struct container_mark {
	/** "docker", "podman", "kubernetes", ...; NULL: no mark was found. */
	const char *kind;
	/** The file or variable that shows it. */
	const char *by;
};

struct process {
	uint32_t pid;
	struct container_mark container;
	struct credentials has;
	/** These two: 1, 0 or NOT_KNOWN. */
	int in_user_namespace;
	int root_read_only;
	/** SECCOMP_MODE_*: 0 off, 1 strict, 2 a filter; or NOT_KNOWN. */
	int seccomp;
	/** Whether the next two fields are known. Only /proc has them. */
	bool has_signals;
	/** Signals that were ignored or blocked at our start: bit N - 1 is signal N. */
	uint64_t ignored;
	uint64_t blocked;
	/** RLIMIT_MEMLOCK, the soft limit in bytes; UINT64_MAX: unlimited; 0 also if it could not be read. */
	uint64_t memlock;
};

/**
 * Read what is available. Texts are in the arena. The mark of a container is looked up as container_read()
 * does.
 * Returns 0; or a negative errno if our ids and capabilities cannot be read.
 */
int process_read(struct arena *arena, const struct view *view, const struct env *env, struct process *out,
		 struct err *err);

/**
 * Recognise the container by a file, through @view (NULL: no files), by a variable in @env, or by its PID
 * namespace.
 */
struct container_mark container_read(const struct view *view, const struct env *env);

/**
 * Read signals and seccomp from @status, the text of /proc/self/status. A field that it lacks keeps its value
 * in @out.
 */
void process_read_status(struct str status, struct process *out);
