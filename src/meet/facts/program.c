// SPDX-License-Identifier: Apache-2.0

#include "facts/program.h"

#include "access/view.h"
#include "base/arena.h"
#include "wire/key.h"

#include <sys/stat.h>
#include <unistd.h>

const char *program_file(const struct view *view, struct arena *arena, const char *path) {
	struct stat info;
	const char *text = NULL;
	int fd = view_open_program(view, path);
	if (fd < 0) {
		return NULL;
	}
	char *head = arena_alloc(arena, PROGRAM_HEAD);
	ssize_t n = fstat(fd, &info) == 0 ? read(fd, head, PROGRAM_HEAD) : -1;
	if (n >= 0) {
		text = arena_format(arena, "%lu bytes, %s", (unsigned long)info.st_size,
				    digest_text(arena, (struct str){head, (size_t)n}));
	}
	close(fd);
	return text;
}

const char *program_script(const struct view *view, struct arena *arena, char *const argv[]) {
	const char *found = NULL;
	for (uint32_t i = 1; argv[i] && !found; i++) {
		const char *end = strrchr(argv[i], '.');
		bool script = end && (strcmp(end, ".py") == 0 || strcmp(end, ".sh") == 0);
		found = script ? program_file(view, arena, argv[i]) : NULL;
	}
	return found;
}
