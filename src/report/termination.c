// SPDX-License-Identifier: Apache-2.0

#include "report/termination.h"

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void termination_log(const char *path, struct str line, bool if_empty) {
	struct stat info;
	// Follow no symlink: its owner may not be allowed to write to the target.
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && !(if_empty && info.st_size)) {
		write_all(fd, line);
	}
	if (fd >= 0) {
		close(fd);
	}
}
