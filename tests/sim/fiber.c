// SPDX-License-Identifier: Apache-2.0

/**
 * Fibers: each simulated process has a stack of its own. ucontext starts them; afterwards setjmp() and longjmp() switch, as
 * swapcontext() makes a system call each time. AddressSanitizer is told of each switch.
 */

#include "inside.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK ((size_t)512 << 10)

struct fiber {
	char *stack;
	ucontext_t context;
	jmp_buf jump;
	bool begun;
};

static struct fiber fibers[PROCESSES_MAX];
static ucontext_t scheduler;
static jmp_buf scheduler_jump;
static const void *scheduler_stack;
static size_t scheduler_size;

REAL(void *, mmap, void *, size_t, int, int, int, off_t);

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static void leaves(void **fake, const void *stack, size_t size) {
	__sanitizer_start_switch_fiber(fake, stack, size);
}

static void arrives(void *fake, const void **stack, size_t *size) {
	__sanitizer_finish_switch_fiber(fake, stack, size);
}

static void clean(void *stack, size_t size) {
	ASAN_UNPOISON_MEMORY_REGION(stack, size);
}
#else
static void leaves(void **fake, const void *stack, size_t size) {
	(void)fake, (void)stack, (void)size;
}

static void arrives(void *fake, const void **stack, size_t *size) {
	(void)fake, (void)stack, (void)size;
}

static void clean(void *stack, size_t size) {
	(void)stack, (void)size;
}
#endif

static void run_main(void) {
	arrives(NULL, &scheduler_stack, &scheduler_size);
	struct process *process = current;
	process->main(process);
	if (process->state != PROCESS_DEAD) {
		process->state = PROCESS_DONE;
		process->ended_at = time_now;
	}
	fiber_leave();
	abort();
}

void fiber_begin(struct process *process) {
	struct fiber *fiber = &fibers[process->id];
	if (!fiber->stack) {
		fiber->stack =
			__real_mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fiber->stack == MAP_FAILED) {
			fprintf(stderr, "sim: no memory for a stack\n");
			abort();
		}
	}
	// The process that had it before may have been killed.
	clean(fiber->stack, STACK);
	fiber->begun = false;
	process->fiber = fiber;
}

/** Prepare the first entrance. */
static void make(struct fiber *fiber) {
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, run_main, 0);
	fiber->begun = true;
}

void fiber_enter(struct process *process) {
	struct fiber *fiber = process->fiber;
	const bool first = !fiber->begun;
	if (first) {
		make(fiber);
	}
	current = process;
	void *fake = NULL;
	leaves(&fake, fiber->stack, STACK);
	if (_setjmp(scheduler_jump) == 0) {
		if (first) {
			swapcontext(&scheduler, &fiber->context);
		}
		_longjmp(fiber->jump, 1);
	}
	arrives(fake, NULL, NULL);
	current = NULL;
}

void fiber_leave(void) {
	struct process *process = current;
	process->errno_kept = errno;
	void *fake = NULL;
	leaves(&fake, scheduler_stack, scheduler_size);
	if (_setjmp(process->fiber->jump) == 0) {
		_longjmp(scheduler_jump, 1);
	}
	arrives(fake, &scheduler_stack, &scheduler_size);
	errno = process->errno_kept;
}
