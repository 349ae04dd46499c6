// SPDX-License-Identifier: Apache-2.0

#include "flow/stale.h"

#include "base/file.h"
#include "base/num.h"
#include "base/proc.h"
#include "cluster/hostlist.h"

#include <unistd.h>

/** More bytes than an environment can have: the kernel allows 6 MiB for arguments and variables. */
#define PROC_BYTES ((size_t)8 << 20)

/** Read /proc/@pid/@file into *@out. Returns whether that succeeded. */
static bool read_proc(struct arena *arena, pid_t pid, const char *file, struct str *out) {
	return file_read_path(arena, arena_format(arena, "/proc/%d/%s", (int)pid, file), PROC_BYTES, out) ==
	       0;
}

/** The parent of @pid; 0: not known. */
static pid_t parent_of(pid_t pid) {
	struct proc_stat stat;
	return proc_stat_read(pid, &stat) ? stat.parent : 0;
}

/**
 * Whether @name has the same value in our environment and in @began, the text of /proc/PID/environ, or is
 * set in neither.
 */
static bool has_same_value(const struct input *in, struct str began, const char *name) {
	struct str ours = str_of(env_get(in->env, name)), theirs = {NULL, 0}, entry;
	while (!theirs.p && str_cut(&began, '\0', &entry)) {
		size_t n = str_find(entry, '=');
		if (n < entry.len && str_is((struct str){entry.p, n}, name)) {
			theirs = str_from(entry, n + 1);
		}
	}
	return !ours.p == !theirs.p && str_eq(ours, theirs);
}

/** Where the variables of a launcher come from. */
enum origin_of {
	/** An ancestor process in this job started with other values: the launcher runs between it and us. */
	FROM_ANCESTOR,
	/** All processes up to the manager's daemon started with the same values, so they came with the job. */
	FROM_JOB,
	/** As FROM_JOB, but no daemon was seen: it may be outside of our PID namespace, and so may the launcher. */
	FROM_ABOVE,
};

/** Whether @pid is the daemon by which @source starts processes. */
static bool is_daemon(const struct source *source, pid_t pid) {
	struct proc_stat stat;
	return source->daemon && proc_stat_read(pid, &stat) && strcmp(stat.name, source->daemon) == 0;
}

/** Find out where the variables that @l sets come from. @by: the variable that identifies the job. */
static enum origin_of find_origin(const struct input *in, const struct source *source, const char *by,
				  const struct launcher *l) {
	const char *names[LAUNCHER_READS];
	launcher_reads(l, names);
	for (pid_t pid = getppid(); pid > 0; pid = parent_of(pid)) {
		struct str began;
		if (!read_proc(in->arena, pid, "environ", &began) || !has_same_value(in, began, by)) {
			return is_daemon(source, pid) ? FROM_JOB : FROM_ABOVE;
		}
		bool same = !l->complete || has_same_value(in, began, "MASTER_ADDR");
		for (size_t i = 0; names[i]; i++) {
			same = same && has_same_value(in, began, names[i]);
		}
		if (!same) {
			return FROM_ANCESTOR;
		}
	}
	return FROM_ABOVE;
}

static bool is_listed(const struct hosts *hosts, struct str host) {
	return hosts_find_loosely(hosts, host) < hosts->n;
}

static bool is_own(struct input *in, struct str host) {
	struct hosts own;
	hosts_single(in->arena, str_of(input_hostname(in)), &own);
	return is_listed(&own, host);
}

/** The first of the variables @names that is set, or NULL. */
static const char *first_set(const struct env *env, const char *const *names) {
	while (*names && !env_value(env, *names)) {
		names++;
	}
	return *names;
}

/** End the warning that the variables of @l are stale, which begins with @found. */
static void note_stale(struct input *in, const struct launcher *l, const char *found) {
	if (l->complete) {
		notes_add(in->notes,
			  "%s, and no %s of this job runs above this process: "
			  "the variables of %s are left over from another job, "
			  "so they are removed and derived anew (--cluster=none keeps them)",
			  found, l->name, l->name);
	} else {
		notes_add(in->notes,
			  "%s, and no %s of this job runs above this process: "
			  "the variables of %s are left over from another job, and are not used",
			  found, l->name, l->name);
	}
}

/** Read the size in the variable @name; 0: it has none. */
static uint32_t size_in(const struct input *in, const char *name) {
	uint32_t n = 0;
	return name && num_read_u32(str_of(env_value(in->env, name)), &n) == 0 ? n : 0;
}

/**
 * Whether the sizes of @l are stale. If both jobs have the host that @l names, @l may still count other nodes
 * than the step has. But a launcher may also use some of the step's nodes only, so its variables are stale only
 * if they came with the job. A launcher that names no host may be the step's own.
 */
static bool has_stale_sizes(struct input *in, const struct source *source, const char *by,
			    const struct launcher *l) {
	const uint32_t nnodes = size_in(in, source->step_nnodes), size = size_in(in, l->size),
		       local_size = size_in(in, l->local_size);
	if (!(l->complete || l->host[0]) || !nnodes || !size || !local_size ||
	    (size - 1) / local_size + 1 == nnodes || find_origin(in, source, by, l) != FROM_JOB) {
		return false;
	}
	note_stale(in, l,
		   arena_format(in->arena, "%s=%u and %s=%u do not fit %s=%u", l->size, size, l->local_size,
				local_size, source->step_nnodes, nnodes));
	return true;
}

/** Whether @l names a host that is not of this job. */
static bool has_stale_host(struct input *in, const struct source *source, const char *by,
			   const struct launcher *l) {
	const char *host_names[] = {l->complete ? "MASTER_ADDR" : l->host[0], l->host[1], NULL};
	const char *host_from = first_set(in->env, host_names);
	const char *list = source->job_hosts ? first_set(in->env, source->job_hosts) : NULL;
	struct str host = str_of(host_from ? env_value(in->env, host_from) : NULL);
	struct hosts hosts;
	struct err unused;
	// An address cannot be compared with the list without a look-up.
	if (!list || host_has_no_label(host) ||
	    hostlist_expand(in->arena, list, str_of(env_value(in->env, list)), &hosts, &unused) < 0 ||
	    is_listed(&hosts, host) || (!l->complete && is_own(in, host)) ||
	    find_origin(in, source, by, l) == FROM_ANCESTOR) {
		return false;
	}
	note_stale(in, l,
		   arena_format(in->arena,
				l->complete ? "%s=%s is no host of %s=%s"
					    : "%s=%s is neither a host of %s=%s nor this machine",
				host_from, quote(host).s, list, quote_text(env_value(in->env, list)).s));
	return true;
}

bool stale_found(struct input *in, const struct source *source, const char *by, const struct launcher *l) {
	return source && (has_stale_host(in, source, by, l) || has_stale_sizes(in, source, by, l));
}

void stale_remove(struct env *env, const struct launcher *l) {
	static const struct origin ours = {.by = "distinit", .why = "left over from another job"};
	static const char *const for_torchrun[] = {"PET_NNODES",
						   "PET_NODE_RANK",
						   "PET_MASTER_ADDR",
						   "PET_MASTER_PORT",
						   "PET_NPROC_PER_NODE",
						   "TF_CONFIG",
						   NULL};
	// In the other job, distinit derived these variables for torchrun.
	struct str pet = str_of(env_value(env, "PET_MASTER_ADDR"));
	bool derived = pet.len && str_is(pet, env_value(env, "MASTER_ADDR"));
	for (size_t i = 0; derived && for_torchrun[i]; i++) {
		env_unset(env, str_of(for_torchrun[i]), &ours);
	}
	for (size_t i = 0; l->sets[i]; i++) {
		env_unset(env, str_of(l->sets[i]), &ours);
	}
}
