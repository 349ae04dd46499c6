// SPDX-License-Identifier: Apache-2.0

/**
 * The smallest workload there is: one system call, exit_group(0), and no C library. What is measured
 * around it is what is around it.
 */

#include <sys/syscall.h>

void _start(void);

void _start(void) {
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_exit_group;
	register long status __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#else
#error "how does this processor make a system call?"
#endif
	__builtin_unreachable();
}
