// SPDX-License-Identifier: Apache-2.0

/**
 * Once the workload runs we may stay for weeks. So we hold nothing that others may want back: no folder, whose filesystem could then not be
 * unmounted; no descriptor, whose other end would wait for us; and next to no memory.
 */

#include "init/beside.h"
#include "init/supervisor.h"

#include <elf.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/** As many descriptors as are closed one by one where Linux is older than 5.9. */
#define DESCRIPTORS_MOST 65536

/** The code marked RESIDENT, as the linker tells it. */
extern const char __start_init_resident[], __stop_init_resident[]; // NOLINT(bugprone-reserved-identifier)

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

/** Apply @advice to the whole pages between @from and @to. What cannot be advised stays as it is. */
static void advise(uintptr_t from, uintptr_t to, int advice) {
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to) {
		madvise((void *)from, to - from, advice); // NOLINT(performance-no-int-to-ptr): rounded
	}
}

/**
 * List the code and constants of the program in @out. A page of it that is needed brings its neighbours along, as far as they have the same
 * attributes: so the resident part gets others than the rest.
 */
static void list_code(struct code *out) {
	const Elf64_Phdr *headers =
		(const Elf64_Phdr *)getauxval(AT_PHDR); // NOLINT(performance-no-int-to-ptr)
	unsigned long n = headers ? getauxval(AT_PHNUM) : 0;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), base = 0;
	for (unsigned long i = 0; i < n; i++) {
		if (headers[i].p_type == PT_PHDR) {
			base = (uintptr_t)headers - headers[i].p_vaddr;
		}
	}
	advise((uintptr_t)__start_init_resident / page * page, (uintptr_t)__stop_init_resident + page - 1,
	       MADV_RANDOM);
	for (unsigned long i = 0; i < n && out->n < CODE_MAX; i++) {
		uintptr_t from = base + headers[i].p_vaddr, to = from + headers[i].p_memsz;
		if (headers[i].p_type == PT_LOAD && !(headers[i].p_flags & PF_W)) {
			out->part[out->n].from = from / page * page;
			out->part[out->n++].size = (to + page - 1) / page * page - from / page * page;
		}
	}
}

RESIDENT void give_code_back(const struct code *code) {
	for (unsigned i = 0; i < code->n; i++) {
		kernel(SYS_madvise, (long)code->part[i].from, (long)code->part[i].size, MADV_DONTNEED, 0);
	}
}

void give_memory_back(struct code *code) {
	uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
	// What lies below was used on the way here.
	advise(stack - (uintptr_t)256 * 1024, stack - 4096, MADV_DONTNEED);
	code->n = 0;
	list_code(code);
}

void leave_places(const struct beside *beside) {
	close_others(beside);
	if (chdir("/") < 0) {
		// A root that we may not search: we stay where we are.
		return;
	}
}
