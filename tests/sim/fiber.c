// SPDX-License-Identifier: Apache-2.0

/**
 * Fibers: each simulated process has a stack of its own. ucontext starts them; afterwards setjmp() and longjmp() switch, as
 * swapcontext() makes a system call each time. Under AddressSanitizer it is swapcontext(), as that knows what a longjmp() means.
 */

#include "inside.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK ((size_t)512 << 10)

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

struct fiber {
	char *stack;
	ucontext_t context;
	jmp_buf jump;
	bool begun;
};

static struct fiber fibers[PROCESSES_MAX];
static ucontext_t scheduler;
static jmp_buf scheduler_jump;

REAL(void *, mmap, void *, size_t, int, int, int, off_t);

#if UNDER_ASAN
static const void *scheduler_stack;
static size_t scheduler_size;

static void leaves(void **fake, const void *stack, size_t size) {
	__sanitizer_start_switch_fiber(fake, stack, size);
}

static void arrives(void *fake, const void **stack, size_t *size) {
	__sanitizer_finish_switch_fiber(fake, stack, size);
}
#endif

static void run_main(void) {
#if UNDER_ASAN
	arrives(NULL, &scheduler_stack, &scheduler_size);
#endif
	struct process *process = current;
	process->main(process);
	if (process->state != PROCESS_DEAD) {
		process->state = PROCESS_DONE;
		process->ended_at = now;
	}
	fiber_leave();
	abort();
}

void fiber_begin(struct process *process) {
	struct fiber *fiber = &fibers[process->id];
	if (!fiber->stack) {
		fiber->stack = __real_mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fiber->stack == MAP_FAILED) {
			fprintf(stderr, "sim: no memory for a stack\n");
			abort();
		}
	}
#if UNDER_ASAN
	// Whoever had it before may have been killed.
	ASAN_UNPOISON_MEMORY_REGION(fiber->stack, STACK);
#endif
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
#if UNDER_ASAN
	void *fake;
	leaves(&fake, fiber->stack, STACK);
	swapcontext(&scheduler, &fiber->context);
	arrives(fake, NULL, NULL);
#else
	if (_setjmp(scheduler_jump) == 0) {
		if (first) {
			swapcontext(&scheduler, &fiber->context);
		}
		_longjmp(fiber->jump, 1);
	}
#endif
	current = NULL;
}

void fiber_leave(void) {
	struct process *process = current;
	process->errno_kept = errno;
#if UNDER_ASAN
	void *fake;
	leaves(&fake, scheduler_stack, scheduler_size);
	swapcontext(&process->fiber->context, &scheduler);
	arrives(fake, &scheduler_stack, &scheduler_size);
#else
	if (_setjmp(process->fiber->jump) == 0) {
		_longjmp(scheduler_jump, 1);
	}
#endif
	errno = process->errno_kept;
}
