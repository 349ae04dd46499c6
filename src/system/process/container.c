// SPDX-License-Identifier: Apache-2.0

#include "process/process.h"

#include "access/view.h"

#include <unistd.h>

/** The inode of the initial PID namespace (the kernel's PROC_PID_INIT_INO). */
#define INITIAL_PIDNS "pid:[4026531836]"

/**
 * The marks of container engines, innermost first: a variable, or a file if the mark begins with '/'.
 * Kubernetes comes before the engine below it. The variable "container", which podman, LXC and
 * systemd-nspawn set, is read after these.
 */
static const struct {
	const char *mark;
	const char *kind;
} marks[] = {
	{"APPTAINER_CONTAINER", "apptainer"},
	{"SINGULARITY_CONTAINER", "singularity"},
	{"/.singularity.d", "singularity"},
	{"CH_RUNNING", "charliecloud"},
	{"KUBERNETES_SERVICE_HOST", "kubernetes"},
	{"/run/.containerenv", "podman"},
	{"/.dockerenv", "docker"},
};

static bool in_own_pid_namespace(void) {
	char name[64];
	ssize_t n = readlink("/proc/self/ns/pid", name, sizeof(name));
	return n > 0 && !str_is((struct str){name, (size_t)n}, INITIAL_PIDNS);
}

struct container_mark container_read(const struct view *view, const struct env *env) {
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *mark = marks[i].mark;
		if (*mark == '/' ? view && view_exists(view, mark) : env_value(env, mark) != NULL) {
			return (struct container_mark){marks[i].kind, mark};
		}
	}
	const char *named = env_value(env, "container");
	if (named) {
		return (struct container_mark){named, "container"};
	}
	if (in_own_pid_namespace()) {
		return (struct container_mark){CONTAINER_UNNAMED, "/proc/self/ns/pid"};
	}
	return (struct container_mark){NULL, NULL};
}
