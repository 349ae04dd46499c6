// SPDX-License-Identifier: Apache-2.0

/** Functions of the C library for descriptors, signals, clocks, random numbers and memory. */

#include "inside.h"

#include "init/observer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool tracing;
char broken_name[60], broken_text[500];

void trace(const char *format, ...) {
	if (!tracing) {
		return;
	}
	va_list args;
	va_start(args, format);
	printf("%12.3f %-4s ", (double)(time_now - 1000 * S) / 1000, current ? current->name : "");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

void broken(const char *name, const char *format, ...) {
	va_list args;
	if (broken_name[0]) {
		return;
	}
	va_start(args, format);
	snprintf(broken_name, sizeof(broken_name), "%s", name);
	vsnprintf(broken_text, sizeof(broken_text), format, args);
	va_end(args);
}

// Memory.

REAL(void *, mmap, void *, size_t, int, int, int, off_t);
REAL(int, munmap, void *, size_t);
REAL(void *, malloc, size_t);
REAL(void, free, void *);

#define POOL ((size_t)256 << 20)
static char *pool, *pool_next;

void *job_memory(size_t size) {
	size = (size + 15) & ~(size_t)15;
	if (!pool) {
		pool = __real_mmap(NULL, POOL, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		pool_next = pool;
	}
	if (current && size > (size_t)(pool + POOL - ((size_t)1 << 20) - pool_next) && !broken_name[0]) {
		broken("little-memory", "%s asks for %zu bytes more", current->name, size);
		job_ends();
	}
	if (pool == MAP_FAILED || pool_next + size > pool + POOL) {
		fprintf(stderr, "sim: a job takes too much memory\n");
		abort();
	}
	void *at = pool_next;
	pool_next += size;
	return at;
}

/** Blocks of simulated processes: under AddressSanitizer the arena has one for each request. */
struct block {
	struct block *next, *previous;
	struct process *owner;
	size_t size;
};
static struct block blocks = {.next = &blocks, .previous = &blocks};

void *__wrap_malloc(size_t size) {
	if (!current) {
		return __real_malloc(size);
	}
	if (size > POOL) {
		broken("little-memory", "%s asks for %zu bytes", current->name, size);
		job_ends();
	}
	struct block *block = __real_malloc(sizeof(*block) + size);
	*block = (struct block){blocks.next, &blocks, current, size};
	blocks.next->previous = block;
	blocks.next = block;
	current->mapped += size;
	return block + 1;
}

static void free_block(struct block *block) {
	block->next->previous = block->previous;
	block->previous->next = block->next;
	block->owner->mapped -= block->size;
	__real_free(block);
}

void __wrap_free(void *at) {
	if (current && at) {
		free_block((struct block *)at - 1);
	} else {
		__real_free(at);
	}
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t from) {
	if (!current) {
		return __real_mmap(at, size, protection, flags, fd, from);
	}
	current->mapped += size;
	// Nobody may rely on what was there before.
	return memset(job_memory(size), 0xbe, size);
}

int __wrap_munmap(void *at, size_t size) {
	if (!current) {
		return __real_munmap(at, size);
	}
	current->mapped -= size;
	memset(at, 0xbe, size);
	return 0;
}

void kernel_begin(void) {
	// Those of processes that were killed.
	while (blocks.next != &blocks) {
		free_block(blocks.next);
	}
	pool_next = pool;
	time_now = 1000 * S;
	events_begin();
	processes_begin();
	network_begin();
	programs_begin();
	broken_name[0] = broken_text[0] = '\0';
	weather = (struct weather){.call = 1, .window = 200000};
	watchers = (struct watchers){.on_call = NULL};
}

// Descriptors.

REAL(ssize_t, read, int, void *, size_t);
ssize_t __wrap_read(int fd, void *bytes, size_t n) {
	if (!current) {
		return __real_read(fd, bytes, n);
	}
	struct file *file = file_at(fd);
	if (!file) {
		return -1;
	}
	const int code = enter(file->kind == FILE_SOCKET ? CALL_RECEIVE : CALL_NONE);
	if (code) {
		errno = code;
		return -1;
	}
	if (file->kind != FILE_SIGNALS) {
		return file_receive(file, bytes, n, 0);
	}
	const uint64_t set = current->pending & file->signals;
	if (!set) {
		errno = EAGAIN;
		return -1;
	}
	const int number = __builtin_ctzll(set) + 1;
	const struct signalfd_siginfo info = {.ssi_signo = (uint32_t)number};
	current->pending &= ~((uint64_t)1 << (number - 1));
	memcpy(bytes, &info, sizeof(info) < n ? sizeof(info) : n);
	return sizeof(info);
}

REAL(ssize_t, write, int, const void *, size_t);
ssize_t __wrap_write(int fd, const void *bytes, size_t n) {
	if (!current) {
		return __real_write(fd, bytes, n);
	}
	struct file *file = file_at(fd);
	const int code = enter(CALL_SEND);
	if (!file || code) {
		errno = code ? code : EBADF;
		return -1;
	}
	return sockets_send(file, bytes, n);
}

REAL(int, close, int);
int __wrap_close(int fd) {
	if (!current) {
		return __real_close(fd);
	}
	struct file *file = file_at(fd);
	if (!file) {
		broken("nothing-left", "%s closes descriptor %d, which is not open", current->name, fd);
		return -1;
	}
	enter(CALL_NONE);
	if (file->kind == FILE_SOCKET && file->connection) {
		trace("connection %d: closes", file->connection->id);
	}
	file_close(file);
	return 0;
}

int __wrap_fcntl(int fd, int what, ...) {
	(void)what;
	return file_at(fd) ? 0 : -1;
}

REAL(int, open, const char *, int, ...);
int __wrap_open(const char *path, int flags, ...) {
	if (!current) {
		return __real_open(path, flags, 0644);
	}
	const int code = enter(CALL_OPEN);
	if (code) {
		errno = code;
		return -1;
	}
	struct file *file = programs_open(path);
	return file ? file_open(file) : -1;
}

int __wrap_pipe2(int fds[2], int flags) {
	(void)fds, (void)flags;
	abort(); // lookup.c has no child here
}

pid_t __wrap_fork(void) {
	abort();
}

int __wrap_kill(pid_t pid, int number) {
	(void)pid, (void)number;
	enter(CALL_NONE);
	return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options) {
	(void)status, (void)options;
	enter(CALL_NONE);
	return pid;
}

int __wrap_prlimit(pid_t pid, enum __rlimit_resource what, const struct rlimit *limit, struct rlimit *old) {
	(void)pid, (void)what;
	enter(CALL_NONE);
	if (old) {
		*old = (struct rlimit){current->soft, current->hard};
	}
	if (limit) {
		current->soft = limit->rlim_cur;
		current->hard = limit->rlim_max;
	}
	return 0;
}

// Clocks and random numbers.

REAL(int, clock_gettime, clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
	if (!current) {
		return __real_clock_gettime(id, out);
	}
	uint64_t us = time_now;
	if (id == CLOCK_MONOTONIC) {
		us += current->clock_ahead * MS;
	} else if (id == CLOCK_BOOTTIME) {
		us += UP_FOR;
	} else if (id == CLOCK_REALTIME) {
		us += 1700000000 * S + (uint64_t)(current->wall_ahead * (int64_t)MS);
	}
	*out = (struct timespec){(time_t)(us / S), (long)(us % S * 1000)};
	return 0;
}

REAL(ssize_t, getrandom, void *, size_t, unsigned);
ssize_t __wrap_getrandom(void *at, size_t n, unsigned flags) {
	(void)flags;
	unsigned char *out = at;
	if (!current) {
		return __real_getrandom(at, n, flags);
	}
	const int code = enter(CALL_RANDOM);
	if (code) {
		errno = code;
		return -1;
	}
	for (size_t i = 0; i < n; i += 8) {
		const uint64_t word = choose_noise((uint64_t)current->id, current->n_random++);
		memcpy(out + i, &word, n - i < 8 ? n - i : 8);
	}
	return (ssize_t)n;
}

// Signals.

int __wrap_signalfd(int fd, const sigset_t *set, int flags) {
	(void)fd, (void)flags;
	const int code = enter(CALL_SIGNALS);
	if (code) {
		errno = code;
		return -1;
	}
	struct file *file = file_new(FILE_SIGNALS);
	for (int number = 1; number < 32; number++) {
		file->signals |= sigismember(set, number) == 1 ? (uint64_t)1 << (number - 1) : 0;
	}
	return file_open(file);
}

int __wrap_sigpending(sigset_t *set) {
	sigemptyset(set);
	for (int number = 1; number < 32; number++) {
		if (current->pending >> (number - 1) & 1) {
			sigaddset(set, number);
		}
	}
	return 0;
}

REAL(int, sigaction, int, const struct sigaction *, struct sigaction *);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
	if (!current) {
		return __real_sigaction(number, action, old);
	}
	if (old) {
		*old = (struct sigaction){.sa_handler = SIG_DFL};
	}
	return 0;
}

static long change_mask(long how, const uint64_t *set, uint64_t *old) {
	struct process *process = current;
	if (old) {
		*old = process->mask;
	}
	if (set) {
		process->mask = how == SIG_BLOCK     ? process->mask | *set
				: how == SIG_UNBLOCK ? process->mask & ~*set
						     : *set;
	}
	const uint64_t due = process->pending & ~process->mask;
	if (due) {
		process->pending &= ~due;
		process_signal(process, __builtin_ctzll(due) + 1);
		fiber_leave();
	}
	return 0;
}

int programs_pidfd(int pid);

/** As in src/meet/together/workers.c. */
struct end_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

static long end_of(int fd, struct end_info *info) {
	const struct file *file = file_at(fd);
	if (!file || file->kind != FILE_PIDFD || !programs_has_ended(file->program)) {
		errno = ESRCH;
		return -1;
	}
	info->mask = 1 << 3;
	info->exit_code = file->program->status;
	return 0;
}

static long read_folder(int fd, void *bytes, size_t n) {
	struct file *file = file_at(fd);
	enter(CALL_NONE);
	const uint32_t some = file->n < n ? file->n : (uint32_t)n;
	if (some) {
		memcpy(bytes, file->bytes + file->at, some);
	}
	file->at += some;
	file->n -= some;
	return some;
}

REAL(long, syscall, long, ...);
long __wrap_syscall(long number, ...) {
	va_list args;
	va_start(args, number);
	const long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long),
		   d = va_arg(args, long);
	va_end(args);
	if (!current) {
		return __real_syscall(number, a, b, c, d);
	}
	switch (number) {
	case SYS_rt_sigprocmask:
		enter(CALL_NONE);
		return change_mask(a, (const uint64_t *)b, (uint64_t *)c);
	case SYS_rt_sigtimedwait:
		errno = EAGAIN;
		return -1;
	case SYS_pidfd_open:
		return programs_pidfd((int)a);
	case SYS_getdents64:
		return read_folder((int)a, (void *)b, (size_t)c);
	case SYS_ioctl:
		enter(CALL_NONE);
		return end_of((int)a, (struct end_info *)c);
	default:
		errno = ENOSYS;
		return -1;
	}
}

// The same functions have other names where files may be large.

void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t from)
	__attribute__((alias("__wrap_mmap")));
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
int __wrap_fcntl64(int fd, int what, ...) __attribute__((alias("__wrap_fcntl")));
int __wrap_prlimit64(pid_t pid, enum __rlimit_resource what, const struct rlimit *limit, struct rlimit *old)
	__attribute__((alias("__wrap_prlimit")));

// What src/meet/together asks --init.

uint32_t __wrap_observer_oom_kills(const struct observer *observer) {
	(void)observer;
	return weather.oom_kills;
}

bool __wrap_was_ignored(int signal) {
	(void)signal;
	return false;
}
