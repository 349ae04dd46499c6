// SPDX-License-Identifier: Apache-2.0

/** Folders: of no file, of more than one call of the kernel returns, and none. */

#include "base/entries.h"

#include "check.h"
#include "fixture.h"

#include <fcntl.h>
#include <unistd.h>

/** A descriptor that is free: where a folder stayed open, it differs. */
static int free_fd(void) {
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	return fd;
}

/** Read @path: how many names there are, and the sum of those that are numbers. */
static void check_folder(const char *path, unsigned want, unsigned want_sum) {
	struct entries folder;
	unsigned n = 0, sum = 0;
	int before = free_fd();
	entries_open(&folder, path);
	for (const char *name; (name = entries_next(&folder));) {
		n += *name != '.';
		sum += (unsigned)strtoul(name, NULL, 10);
	}
	checkf(n == want && sum == want_sum, "%s has %u names with the sum %u", path, n, sum);
	check(!entries_next(&folder) && free_fd() == before);
}

int main(void) {
	char folder[] = "/tmp/test-entries-XXXXXX", path[64];
	if (!mkdtemp(folder)) {
		printf("1..0 # SKIP no folder can be made in /tmp\n");
		return 0;
	}
	check_folder(folder, 0, 0);
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	}
	check_folder(folder, 500, 500 * 501 / 2);
	check_folder(path, 0, 0);
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		unlink(path);
	}
	rmdir(folder);
	check_folder(folder, 0, 0);
	return check_done();
}
