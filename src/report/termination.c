// SPDX-License-Identifier: Apache-2.0

#include "report/termination.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Read the start of /proc/@pid/@file into @text, which ends with a NUL. */
static void read_proc(int pid, const char *file, char *text, size_t size) {
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0) {
		close(fd);
	}
}

/**
 * Whether our words are not the container's last: another distinit above us has started the program (not with
 * @outside), or we came into a running container from outside, as a probe or "kubectl exec". Our parents then
 * end at one that the container does not see. In a pod whose containers share their processes this is so for
 * each of them; PID 1 is in another control group there.
 */
static bool is_apart(bool outside) {
	char stat[1024], first[sizeof(stat)];
	for (int pid = getpid(); pid != 0;) {
		read_proc(pid, "stat", stat, sizeof(stat));
		const char *end = strrchr(stat, ')');
		if (pid != getpid() && strstr(stat, "(distinit)")) {
			return !outside;
		}
		if (pid == 1 || !end || strlen(end) < 5) {
			return false;
		}
		pid = (int)strtoul(end + 4, NULL, 10); // ") S 1"
	}
	read_proc(getpid(), "cgroup", stat, sizeof(stat));
	read_proc(1, "cgroup", first, sizeof(first));
	return strcmp(stat, first) == 0;
}

bool joins_another(void) {
	char first[1024];
	read_proc(1, "stat", first, sizeof(first));
	return strstr(first, "(distinit)") && is_apart(true);
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
	// An option that is wrong ends us before anything is known of the program. Kubernetes made this
	// file for our words, and nobody told its name.
	bool early = access->program == RIGHTS_UNKNOWN && is_pods;
	int fd = early ? access_append_constant(path)
		       : access_append(access, &file, APPEND_EXISTING, &ignored);
	if (fd >= 0 && fstat(fd, &info) == 0 && !(if_empty && info.st_size)) {
		write_all(fd, line);
	}
	if (fd >= 0) {
		close(fd);
	}
}
