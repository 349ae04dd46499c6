// SPDX-License-Identifier: Apache-2.0

/**
 * Which blocks of a program run, for cover.py: gcc -fsanitize-coverage=trace-pc calls this at the start of each. A byte
 * for each address is in a file that all processes of the program share, so exec, _exit and SIGKILL lose nothing. Files
 * are in /run/cover, if it exists, one for each program: its name is made of the sizes of its sections.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE (4u << 20)

extern char __executable_start[], etext[], edata[];

void __sanitizer_cov_trace_pc(void);

static uint8_t *seen;

__attribute__((constructor)) static void open_file(void) {
	char path[64];
	(void)snprintf(path, sizeof(path), "/run/cover/%lx-%lx", (unsigned long)(etext - __executable_start),
		       (unsigned long)(edata - etext));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		return;
	}
	void *map = MAP_FAILED;
	if (fchmod(fd, 0666) == 0 || access(path, W_OK) == 0) {
		map = ftruncate(fd, SIZE) == 0 ? mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
					       : map;
	}
	(void)close(fd);
	seen = map == MAP_FAILED ? NULL : map;
}

void __sanitizer_cov_trace_pc(void) {
	uintptr_t offset = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start;
	if (seen && offset < SIZE) {
		seen[offset] = 1;
	}
}
