// SPDX-License-Identifier: Apache-2.0

#include "report/termination.h"

#include "base/file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void termination_log(struct access *access, const char *path, struct str line, bool if_empty) {
	const struct setting file = {path, "the termination log", BY_MANAGER};
	struct stat info;
	struct err ignored;
	// An option that is wrong ends us before anything is known of the program. Kubernetes made this
	// file for our words, and nobody told its name.
	bool early = access->program == RIGHTS_UNKNOWN && strcmp(path, TERMINATION_LOG) == 0;
	int fd = early ? access_append_constant(path)
		       : access_append(access, &file, APPEND_EXISTING, &ignored);
	if (fd >= 0 && fstat(fd, &info) == 0 && !(if_empty && info.st_size)) {
		write_all(fd, line);
	}
	if (fd >= 0) {
		close(fd);
	}
}
