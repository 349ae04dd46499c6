// SPDX-License-Identifier: Apache-2.0

#include "rollcall/program.h"

#include "base/buf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/** The size and the digest of the regular file @path, or NULL. */
static const char *describe(struct arena *arena, const char *path) {
	struct stat info;
	// Opening anything else than a regular file may block, or do something.
	if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) {
		return NULL;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return NULL;
	}
	char block[8192];
	unsigned char hash[SHA256_BYTES];
	struct sha256 sum;
	ssize_t n = 1;
	sha256_begin(&sum);
	for (size_t left = PROGRAM_HEAD; left && n > 0; left -= (size_t)n) {
		n = read(fd, block, left < sizeof(block) ? left : sizeof(block));
		sha256_add(&sum, block, n > 0 ? (size_t)n : 0);
		n = n < 0 ? 0 : n;
	}
	close(fd);
	sha256_end(&sum, hash);
	return arena_format(arena, "%lu bytes, %s", (unsigned long)info.st_size, digest_text(arena, hash));
}

const char *digest_text(struct arena *arena, const unsigned char hash[SHA256_BYTES]) {
	struct buf text = BUF(arena);
	buf_puts(&text, "sha256:");
	for (int i = 0; i < 8; i++) {
		buf_putf(&text, "%02x", hash[i]);
	}
	return buf_text(&text);
}

const char *program_file(struct arena *arena, const char *name, const char *path) {
	struct str rest = str_of(path), folder;
	if (strchr(name, '/')) {
		return describe(arena, name);
	}
	while (str_cut(&rest, ':', &folder)) {
		const char *file = arena_format(arena, "%.*s%s%s", (int)folder.len, folder.p,
						folder.len ? "/" : "", name);
		struct stat info;
		if (stat(file, &info) == 0 && S_ISREG(info.st_mode) && access(file, X_OK) == 0) {
			return describe(arena, file);
		}
	}
	return NULL;
}

static bool is_script(const char *word) {
	struct str name = str_of(word);
	return name.len > 3 &&
	       (str_is(str_from(name, name.len - 3), ".py") || str_is(str_from(name, name.len - 3), ".sh"));
}

const char *program_script(struct arena *arena, char *const argv[]) {
	const char *found = NULL;
	for (uint32_t i = 1; argv[i] && !found; i++) {
		found = is_script(argv[i]) ? describe(arena, argv[i]) : NULL;
	}
	return found;
}
