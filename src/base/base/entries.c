// SPDX-License-Identifier: Apache-2.0

#include "base/entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

void entries_open(struct entries *entries, const char *path) {
	entries->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	entries->at = entries->end = 0;
	entries->error = 0;
}

const char *entries_next(struct entries *entries) {
	if (entries->fd < 0) {
		return NULL;
	}
	if (entries->at == entries->end) {
		// C libraries have different names for this call. In all of them the entries are struct
		// dirent.
		long n = syscall(SYS_getdents64, entries->fd, entries->raw, sizeof(entries->raw));
		if (n <= 0) {
			entries->error = n < 0 ? errno : 0;
			close(entries->fd);
			entries->fd = -1;
			return NULL;
		}
		entries->at = 0;
		entries->end = (size_t)n;
	}
	const struct dirent *entry = (const void *)(entries->raw + entries->at);
	entries->at += entry->d_reclen;
	return entry->d_name;
}
