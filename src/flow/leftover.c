// SPDX-License-Identifier: Apache-2.0

#include "flow/leftover.h"

#include "base/file.h"
#include "base/proc.h"
#include "cluster/hostlist.h"

#include <unistd.h>

/** Enough for what a process begins with: the kernel allows 6 MiB for words and variables. */
#define PROC_BYTES ((size_t)8 << 20)

/** Read /proc/@pid/@file. Returns whether it can be read. */
static bool read_proc(struct arena *arena, pid_t pid, const char *file, struct str *out) {
	return file_read_path(arena, arena_format(arena, "/proc/%d/%s", (int)pid, file), PROC_BYTES, out) ==
	       0;
}

/** The parent of @pid, or 0. */
static pid_t parent_of(pid_t pid) {
	struct proc_stat stat;
	return proc_stat_read(pid, &stat) ? stat.parent : 0;
}

/** Whether @name has the same value, or none, here and in @environ, the text of /proc/PID/environ. */
static bool agrees(const struct input *in, struct str environ, const char *name) {
	struct str ours = str_of(env_get(in->env, name)), theirs = {NULL, 0}, entry;
	while (!theirs.p && str_cut(&environ, '\0', &entry)) {
		size_t n = str_find(entry, '=');
		if (n < entry.len && str_is((struct str){entry.p, n}, name)) {
			theirs = str_from(entry, n + 1);
		}
	}
	return !ours.p == !theirs.p && str_eq(ours, theirs);
}

/**
 * Whether a process of this job above us began with other values than ours of what @l sets: the launcher
 * is between it and us. What the manager itself started has begun with the same values.
 */
static bool set_above(const struct input *in, const char *by, const struct launcher *l) {
	const char *names[LAUNCHER_READS];
	launcher_reads(l, names);
	for (pid_t pid = getppid(); pid > 0; pid = parent_of(pid)) {
		struct str environ;
		if (!read_proc(in->arena, pid, "environ", &environ) || !agrees(in, environ, by)) {
			return false;
		}
		bool same = !l->complete || agrees(in, environ, "MASTER_ADDR");
		for (size_t i = 0; names[i]; i++) {
			same = same && agrees(in, environ, names[i]);
		}
		if (!same) {
			return true;
		}
	}
	return false;
}

/** Whether @host is a name: nothing is known of an address without a look-up. */
static bool is_name(struct str host) {
	return host.len && str_find(host, ':') == host.len && strspn(host.p, "0123456789.") < host.len;
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

bool leftover_found(struct input *in, const struct source *source, const char *by, const struct launcher *l) {
	const char *told[] = {l->complete ? "MASTER_ADDR" : l->host[0], l->host[1], NULL};
	const char *host_from = first_set(in->env, told);
	const char *list = source && source->job_hosts ? first_set(in->env, source->job_hosts) : NULL;
	struct str host = str_of(host_from ? env_value(in->env, host_from) : NULL);
	struct hosts hosts;
	struct err unused;
	if (!list || !is_name(host) ||
	    hostlist_expand(in->arena, list, str_of(env_value(in->env, list)), &hosts, &unused) < 0 ||
	    is_listed(&hosts, host) || (!l->complete && is_own(in, host)) || set_above(in, by, l)) {
		return false;
	}
	notes_add(in->notes,
		  "%s=%s is %s %s=%s%s, and no %s of this job runs above this process: what %s has set is "
		  "left over "
		  "from another job, and %s",
		  host_from, quote(host).s, l->complete ? "no host of" : "neither a host of", list,
		  quote_text(env_value(in->env, list)).s, l->complete ? "" : " nor this machine", l->name,
		  l->name,
		  l->complete ? "is removed and derived anew (--cluster=none keeps it)" : "is not used");
	return true;
}

void leftover_remove(struct env *env, const struct launcher *l) {
	static const struct origin ours = {.by = "distinit", .why = "left over from another job"};
	static const char *const read[] = {"PET_NNODES",
					   "PET_NODE_RANK",
					   "PET_MASTER_ADDR",
					   "PET_MASTER_PORT",
					   "PET_NPROC_PER_NODE",
					   "TF_CONFIG",
					   NULL};
	// What torchrun has read there, as distinit derived it.
	struct str pet = str_of(env_value(env, "PET_MASTER_ADDR"));
	bool derived = pet.len && str_is(pet, env_value(env, "MASTER_ADDR"));
	for (size_t i = 0; derived && read[i]; i++) {
		env_unset(env, str_of(read[i]), &ours);
	}
	for (size_t i = 0; l->sets[i]; i++) {
		env_unset(env, str_of(l->sets[i]), &ours);
	}
}
