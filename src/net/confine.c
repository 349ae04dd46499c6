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
#define THIS_ARCH     AUDIT_ARCH_X86_64
#define SYS_OPEN      SYS_open
#define FLAGS_OF_OPEN args[1]
#elif defined(__aarch64__)
#define THIS_ARCH     AUDIT_ARCH_AARCH64
#define SYS_OPEN      SYS_openat
#define FLAGS_OF_OPEN args[2]
#endif

#if defined(THIS_ARCH) && !defined(__GLIBC__)

/** All that musl's resolver and malloc() call, its later versions' too, which also use TCP. */
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

#define LOAD(field) \
	(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(test, value, then, otherwise) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, then, otherwise)
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)

void confine_to_lookups(void) {
	struct sock_filter filter[N_ALLOWED + 8], *at = filter;
	*at++ = LOAD(arch);
	*at++ = IF(BPF_JEQ, THIS_ARCH, 0, N_ALLOWED + 4);
	*at++ = LOAD(nr);
	for (uint8_t i = 0; i < N_ALLOWED; i++) {
		*at++ = IF(BPF_JEQ, allowed[i], (uint8_t)(N_ALLOWED - i + 3), 0);
	}
	// A file may be opened to be read only. (The low half of the flags is at the field's address.)
	*at++ = IF(BPF_JEQ, SYS_OPEN, 0, 2);
	*at++ = LOAD(FLAGS_OF_OPEN);
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
