// SPDX-License-Identifier: Apache-2.0

#include "net/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define THIS_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define THIS_ARCH AUDIT_ARCH_S390X
#endif

// musl's open() calls open where the kernel has it; newer processors have only openat.
#ifdef SYS_open
#define SYS_OPEN      SYS_open
#define FLAGS_OF_OPEN args[1]
#else
#define SYS_OPEN      SYS_openat
#define FLAGS_OF_OPEN args[2]
#endif

// The flags are the low half of a 64-bit argument.
#define LOW_HALF (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0)

#if defined(THIS_ARCH) && !defined(__GLIBC__)

/** The system calls of musl's resolver and malloc(), including later versions, which also use TCP. */
static const uint16_t allowed[] = {
	SYS_read,	SYS_readv,	SYS_write,	   SYS_close,	       SYS_fcntl,
	SYS_lseek,	SYS_socket,	SYS_bind,	   SYS_connect,	       SYS_getsockname,
	SYS_setsockopt, SYS_sendto,	SYS_sendmsg,	   SYS_recvfrom,       SYS_recvmsg,
	SYS_ppoll,	SYS_brk,	SYS_mmap,	   SYS_munmap,	       SYS_mremap,
	SYS_futex,	SYS_exit_group, SYS_clock_gettime, SYS_rt_sigprocmask, SYS_rt_sigreturn,
#ifdef SYS_poll
	SYS_poll,
#endif
};
#define N_ALLOWED (sizeof(allowed) / sizeof(*allowed))

#define LOAD(offset) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define IF(test, value, then, otherwise) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, then, otherwise)
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)

void confine_to_lookups(void) {
	struct sock_filter filter[N_ALLOWED + 8], *at = filter;
	*at++ = LOAD(offsetof(struct seccomp_data, arch));
	*at++ = IF(BPF_JEQ, THIS_ARCH, 0, N_ALLOWED + 4);
	*at++ = LOAD(offsetof(struct seccomp_data, nr));
	for (uint8_t i = 0; i < N_ALLOWED; i++) {
		*at++ = IF(BPF_JEQ, allowed[i], (uint8_t)(N_ALLOWED - i + 3), 0);
	}
	// Allow open() for reading only.
	*at++ = IF(BPF_JEQ, SYS_OPEN, 0, 2);
	*at++ = LOAD(offsetof(struct seccomp_data, FLAGS_OF_OPEN) + LOW_HALF);
	*at++ = IF(BPF_JSET, O_WRONLY | O_RDWR | O_CREAT, 0, 1);
	*at++ = RETURN(SECCOMP_RET_ERRNO | EPERM);
	*at++ = RETURN(SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {(unsigned short)(at - filter), filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

void confine_to_lookups(void) {
}

#endif
