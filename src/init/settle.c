// SPDX-License-Identifier: Apache-2.0

/**
 * Once the workload runs we may stay for weeks. So we hold nothing that others may want back: no folder, whose filesystem could then not be
 * unmounted; no descriptor, whose other end would wait for us; and next to no memory.
 */

#include "init/supervisor.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/** As many descriptors as are closed one by one where Linux is older than 5.9. */
#define DESCRIPTORS_MOST 65536

/** The code, as the linker tells it. */
extern const char __executable_start[], etext[]; // NOLINT(bugprone-reserved-identifier): the linker's name

static void close_descriptors(void) {
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0) {
		return;
	}
	struct rlimit limit = {.rlim_cur = DESCRIPTORS_MOST};
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 3; fd < DESCRIPTORS_MOST && (rlim_t)fd < limit.rlim_cur; fd++) {
		close(fd);
	}
}

/** Apply @advice to the whole pages between @from and @to. What cannot be advised stays as it is. */
static void advise(uintptr_t from, uintptr_t to, int advice) {
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to) {
		madvise((void *)from, to - from, advice); // NOLINT(performance-no-int-to-ptr): rounded
	}
}

/** Give back what was used to get here: the memory of reading options, the stack below us, the code that will not run again. */
static void give_memory_back(const struct init_plan *plan) {
	char here;
	uintptr_t stack = (uintptr_t)&here;
	uintptr_t scratch = (uintptr_t)plan->scratch;
	uintptr_t code = (uintptr_t)__executable_start, code_end = (uintptr_t)etext;
	advise(stack - (uintptr_t)256 * 1024, stack - 4096, MADV_DONTNEED);
	advise(scratch, scratch + plan->scratch_size, MADV_DONTNEED);
	// Each page of code that is needed comes back alone, not with its neighbours.
	advise(code, code_end, MADV_RANDOM);
	advise(code, code_end, MADV_DONTNEED);
}

void settle(const struct init_plan *plan) {
	close_descriptors();
	if (chdir("/") < 0) {
		// It cannot be searched by us; then we stay where we are.
		return;
	}
	give_memory_back(plan);
}
