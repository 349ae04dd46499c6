// SPDX-License-Identifier: Apache-2.0

/**
 * We may run for weeks beside the workload. So we release what others may need: the working
 * directory, whose filesystem could not be unmounted; and file descriptors, whose other end would
 * wait for us.
 */

#include "init/supervisor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/** How many descriptors are closed one by one if Linux is older than 5.9 (no close_range()). */
#define DESCRIPTORS_MOST 65536

/** Close the descriptors from @from to @last. */
static void close_descriptors(unsigned from, unsigned last) {
	if (syscall(SYS_close_range, from, last, 0U) == 0) {
		return;
	}
	struct rlimit limit = {.rlim_cur = DESCRIPTORS_MOST};
	prlimit(0, RLIMIT_NOFILE, NULL, &limit);
	for (unsigned fd = from; fd <= last && fd < DESCRIPTORS_MOST && fd < limit.rlim_cur; fd++) {
		close((int)fd);
	}
}

/** The lowest descriptor, @from or above, that stays open for @observer; ~0U: none. */
static unsigned kept_from(const struct observer *observer, unsigned from) {
	int fd = (int)from, last = observer->kept;
	for (int i = 0; i < OBSERVER_FDS; i++) {
		last = observer->fds[i].fd > last ? observer->fds[i].fd : last;
	}
	while (fd <= last && fcntl(fd, F_GETFD) != FD_CLOEXEC) {
		fd++;
	}
	return fd <= last ? (unsigned)fd : ~0U;
}

/** Close all descriptors above 2 except those that @observer keeps. */
static void close_others(const struct observer *observer) {
	unsigned from = 3, kept;
	while ((kept = kept_from(observer, from)) != ~0U) {
		if (kept > from) {
			close_descriptors(from, kept - 1);
		}
		from = kept + 1;
	}
	close_descriptors(from, ~0U);
}

int leave_folder(void) {
	int here = open(".", O_PATH | O_CLOEXEC);
	if (here >= 0 && (fchdir(here) < 0 || chdir("/") < 0)) {
		close(here);
		here = -1;
	}
	return here;
}

void leave_places(const struct observer *observer) {
	close_others(observer);
	if (chdir("/") < 0) {
		// We may not search the root directory: we stay where we are.
		return;
	}
}
