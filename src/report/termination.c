// SPDX-License-Identifier: Apache-2.0

#include "report/termination.h"

#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

void termination_log(struct access *access, const char *path, struct str line, bool if_empty) {
	const struct setting file = {path, "the termination log", BY_MANAGER};
	struct stat info;
	struct err ignored;
	int fd = access_append(access, &file, APPEND_EXISTING, &ignored);
	if (fd >= 0 && fstat(fd, &info) == 0 && !(if_empty && info.st_size)) {
		write_all(fd, line);
	}
	if (fd >= 0) {
		close(fd);
	}
}
