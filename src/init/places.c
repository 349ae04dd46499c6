// SPDX-License-Identifier: Apache-2.0

/**
 * We may run for weeks beside the workload. So we release what others may need: the working
 * directory, whose filesystem could not be unmounted; and file descriptors, whose other end would
 * wait for us.
 */

#include "init/beside.h"
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

/** Close all descriptors above 2 except those that @plan keeps, also for what is beside. */
static void close_others(const struct init_plan *plan) {
	const struct beside *beside = plan->beside;
	unsigned from = 3;
	if (!beside && plan->kept_fd > 3) {
		close_descriptors(from, (unsigned)plan->kept_fd - 1);
	}
	if (!beside && plan->kept_fd >= 3) {
		from = (unsigned)plan->kept_fd + 1;
	}
	unsigned kept = beside ? beside_kept_from(beside, from) : ~0U;
	for (; kept != ~0U; kept = beside_kept_from(beside, from)) {
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

void leave_places(const struct init_plan *plan) {
	close_others(plan);
	if (chdir("/") < 0) {
		// We may not search the root directory: we stay where we are.
		return;
	}
}
