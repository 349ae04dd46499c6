// SPDX-License-Identifier: Apache-2.0

/**
 * Once the workload runs we may stay for weeks. So we hold nothing that others may want back: no
 * folder, whose filesystem could then not be unmounted; no descriptor, whose other end would wait
 * for us.
 */

#include "init/beside.h"
#include "init/supervisor.h"

#include <sys/resource.h>
#include <unistd.h>

/** As many descriptors as are closed one by one where Linux is older than 5.9. */
#define DESCRIPTORS_MOST 65536

/** Close those from @from up to @last. */
static void close_descriptors(unsigned from, unsigned last) {
	if (syscall(SYS_close_range, from, last, 0U) == 0) {
		return;
	}
	struct rlimit limit = {.rlim_cur = DESCRIPTORS_MOST};
	getrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned fd = from; fd <= last && fd < DESCRIPTORS_MOST && fd < limit.rlim_cur; fd++) {
		close((int)fd);
	}
}

/** Close all above 2 but those that are kept for @beside, which may be NULL. */
static void close_others(const struct beside *beside) {
	unsigned from = 3, kept = beside ? beside->loop->kept_from(beside, from) : ~0U;
	for (; kept != ~0U; kept = beside->loop->kept_from(beside, from)) {
		if (kept > from) {
			close_descriptors(from, kept - 1);
		}
		from = kept + 1;
	}
	close_descriptors(from, ~0U);
}

void leave_places(const struct beside *beside) {
	close_others(beside);
	if (chdir("/") < 0) {
		// A root that we may not search: we stay where we are.
		return;
	}
}
