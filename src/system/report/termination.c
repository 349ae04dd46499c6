// SPDX-License-Identifier: Apache-2.0

#include "report/termination.h"

#include "base/file.h"
#include "base/proc.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** /proc/PID/cgroup is shorter than this. */
#define CGROUP_BYTES 8192

/**
 * Whether another distinit owns this container's termination message. That is so in two cases:
 * - A distinit is among our ancestors. (@outside: this does not count.)
 * - We were started into a running container from outside, as a probe or by "kubectl exec". Then our topmost
 *   ancestor is a process that the container does not see. If the containers of a pod share a PID namespace, all
 *   their first processes look like this; there, PID 1 is in another cgroup than we.
 */
static bool is_apart(bool outside) {
	char ours[CGROUP_BYTES], first[CGROUP_BYTES];
	struct proc_stat stat;
	for (pid_t pid = getpid(); pid != 0; pid = stat.parent) {
		if (!proc_stat_read(pid, &stat)) {
			return false;
		}
		if (pid != getpid() && strcmp(stat.name, "distinit") == 0) {
			return !outside;
		}
		if (pid == 1) {
			return false;
		}
	}
	const ssize_t n = file_read_small("/proc/self/cgroup", ours, sizeof(ours));
	return n >= 0 && file_read_small("/proc/1/cgroup", first, sizeof(first)) == n &&
	       strcmp(ours, first) == 0;
}

bool joins_another(void) {
	struct proc_stat first;
	return proc_stat_read(1, &first) && strcmp(first.name, "distinit") == 0 && is_apart(true);
}

const char *termination_path(struct arena *arena, const struct setting *root) {
	const struct setting file = {TERMINATION_LOG, "the termination log", BY_MANAGER};
	return setting_under_root(arena, root, &file).value;
}

void termination_log(struct access *access, const char *path, struct str line, bool if_empty) {
	const struct setting file = {path, "the termination log", BY_MANAGER};
	struct stat info;
	struct err ignored;
	bool is_pods = strcmp(path, TERMINATION_LOG) == 0;
	if (is_pods && is_apart(false)) {
		return;
	}
	// If an option is wrong, the workload's rights are not known yet. TERMINATION_LOG may be written without
	// them, because Kubernetes made it for this purpose, and its name is not given by the user.
	bool early = access->workload == RIGHTS_UNKNOWN && is_pods;
	int fd = early ? access_append_constant(path)
		       : access_append(access, &file, APPEND_EXISTING, &ignored);
	if (fd >= 0 && fstat(fd, &info) == 0 && !(if_empty && info.st_size)) {
		write_all(fd, line);
	}
	if (fd >= 0) {
		close(fd);
	}
}
