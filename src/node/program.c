// SPDX-License-Identifier: Apache-2.0

#include "node/program.h"

#include "base/arena.h"
#include "wire/key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_file(struct arena *arena, const char *path) {
	struct stat info;
	const char *text = NULL;
	// A FIFO must not block.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return NULL;
	}
	char *head = arena_alloc(arena, PROGRAM_HEAD);
	ssize_t n = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, head, PROGRAM_HEAD) : -1;
	if (n >= 0) {
		text = arena_format(arena, "%lu bytes, %s", (unsigned long)info.st_size,
				    digest_text(arena, (struct str){head, (size_t)n}));
	}
	close(fd);
	return text;
}

const char *program_script(struct arena *arena, char *const argv[]) {
	const char *found = NULL;
	for (uint32_t i = 1; argv[i] && !found; i++) {
		const char *end = strrchr(argv[i], '.');
		bool script = end && (strcmp(end, ".py") == 0 || strcmp(end, ".sh") == 0);
		found = script ? program_file(arena, argv[i]) : NULL;
	}
	return found;
}
