// SPDX-License-Identifier: Apache-2.0

/**
 * Releases what other processes may need, because we may run for weeks beside the workload: the working
 * directory, whose filesystem could not be unmounted; and descriptors, whose readers would not see the end
 * of file.
 */

#include "base/file.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <unistd.h>

/** Find the lowest descriptor, @from or above, that stays open for @observer; ~0U: none. */
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
		// If we may not enter the root directory, we stay in the working directory.
		return;
	}
}
