// SPDX-License-Identifier: Apache-2.0

/**
 * We may run for weeks beside the workload. So we release what others may need: the working
 * directory, whose filesystem could not be unmounted; and file descriptors, whose other end would
 * wait for us.
 */

#include "base/file.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <unistd.h>

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
			file_close_range(from, kept - 1);
		}
		from = kept + 1;
	}
	file_close_range(from, ~0U);
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
