// SPDX-License-Identifier: Apache-2.0

#include "exec/exec.h"

#include "access/access.h"
#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/** The search path if PATH is not set; shells have the same. */
#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** So many bytes at the beginning show whether a file is a script or a program, and which interpreter it has. */
#define HEAD_BYTES 128

/**
 * Read the beginning of @file into @head, and put a NUL behind it. Returns the number of bytes; -1 on failure.
 */
static ssize_t read_head(const char *file, char head[HEAD_BYTES]) {
	const ssize_t n = file_read_small(file, head, HEAD_BYTES);
	return n == -EFBIG ? HEAD_BYTES - 1 : n < 0 ? -1 : n;
}

/** Whether the first bytes of @file look like text. Those of a program for another machine do not. */
static bool is_script(const char *file) {
	char head[HEAD_BYTES];
	const ssize_t len = read_head(file, head);
	return len >= 0 && strlen(head) == (size_t)len && strncmp(head, "\177ELF", 4) != 0;
}

/** Run @file, which has no "#!", with /bin/sh. Returns only on failure, with errno set. */
static void exec_script(struct arena *arena, const char *file, char *const argv[], char *const envp[]) {
	static char shell[] = "/bin/sh";
	size_t n = 0;
	while (argv[n]) {
		n++;
	}
	char **more = arena_array(arena, n + 2, sizeof(*more));
	more[0] = shell;
	more[1] = arena_text(arena, file, strlen(file));
	memcpy(more + 2, argv + 1, n * sizeof(*more));
	execve(shell, more, envp);
}

/** The largest string of @list, the usual cause of E2BIG. Adds the size of all to *@total. */
static const char *largest(char *const list[], size_t *total) {
	const char *most = "";
	for (; *list; list++) {
		*total += strlen(*list) + 1;
		most = strlen(*list) > strlen(most) ? *list : most;
	}
	return most;
}

/**
 * Report that execve() did not find the interpreter of @file: the one in its "#!" line, or the dynamic loader.
 */
static void name_interpreter(const char *file, struct err *err) {
	char head[HEAD_BYTES];
	if (read_head(file, head) < 0) {
		err_set(err, ENOENT,
			"%s cannot be started: the file exists, but its interpreter does not; "
			"the interpreter's name is not known, because the file cannot be read",
			quote_text(file).s);
		return;
	}
	const bool line = strncmp(head, "#!", 2) == 0;
	const char *at = line ? head + 2 + strspn(head + 2, " \t") : "";
	struct str name = {at, strcspn(at, " \t\n")};
	bool windows = memchr(name.p, '\r', name.len);
	err_set(err, ENOENT, "%s cannot be started: the file exists, but its interpreter%s%s does not%s",
		quote_text(file).s, line ? " " : ", the dynamic loader,", line ? quote(name).s : "",
		windows ? ": the file has line ends of Windows (CR LF)" : "");
}

/** Explain "Permission denied"; "" if the reason is not known. */
static const char *why_denied(const char *file) {
	struct stat info;
	bool known = stat(file, &info) == 0;
	return known && S_ISDIR(info.st_mode)	     ? ": it is a directory"
	       : known && (info.st_mode & 0111) == 0 ? ": it is not executable (chmod +x)"
						     : "";
}

static int cannot_run(const char *file, int code, char *const argv[], char *const envp[], struct err *err) {
	if (code == E2BIG) {
		size_t total = 0;
		const char *a = largest(argv, &total), *e = largest(envp, &total);
		const char *most = strlen(a) > strlen(e) ? a : e;
		struct str head = {most, str_find(str_of(most), '=')};
		head.len = head.len > 60 ? 60 : head.len;
		err_set(err, code,
			"%s cannot be started: arguments and environment have %zu bytes, more than the "
			"kernel takes (the largest, %s, has %zu)",
			quote_text(file).s, total, quote(head).s, strlen(most) + 1);
	} else if (code == ENOENT && access_allows(file, F_OK) == 0) {
		name_interpreter(file, err);
	} else if (code == ENOEXEC) {
		err_set(err, code, "%s cannot be started: it is a program for another machine, or damaged",
			quote_text(file).s);
	} else {
		err_set(err, code, "%s cannot be started: %s%s", quote_text(file).s, strerror(code),
			code == EACCES ? why_denied(file) : "");
	}
	return EXIT_NOT_RUNNABLE;
}

/** Whether to search the next folder after @code. The last three come from a network file system that is down. */
static bool is_elsewhere(int code) {
	return code == ENOENT || code == ENOTDIR || code == EACCES || code == ENAMETOOLONG || code == ELOOP ||
	       code == ESTALE || code == ENODEV || code == ETIMEDOUT;
}

/** Check whether @file can be executed, without opening it. Returns 0 or the errno. */
static int look_at(const char *file) {
	struct stat info = {.st_mode = S_IFREG};
	int code = stat(file, &info) < 0 ? errno : -access_allows(file, X_OK);
	if (code == 0 && !S_ISREG(info.st_mode)) {
		return EACCES;
	}
	// For other errors, let execve() decide.
	return is_elsewhere(code) ? code : 0;
}

/**
 * Execute @argv[0]; if @found is not NULL, only find it. It is looked for in each folder of @path, unless it has a '/'.
 */
static int find(struct arena *arena, char *const argv[], char *const envp[], const char *path,
		const char **found, struct err *err) {
	const bool is_path = strchr(argv[0], '/');
	struct str rest = str_of(is_path ? "" : path ? path : PATH_DEFAULT), folder;
	const char *first = NULL;
	int first_code = 0;
	if (argv[0][0] == '\0') {
		err_set(err, ENOENT, "the command is an empty word");
		return EXIT_NOT_FOUND;
	}
	while (str_cut(&rest, ':', &folder)) {
		const char *file = is_path ? argv[0]
					   : arena_format(arena, "%.*s%s%s", (int)folder.len, folder.p,
							  folder.len ? "/" : "", argv[0]);
		int code = found ? look_at(file) : execve(file, argv, envp) < 0 ? errno : 0;
		if (found && code == 0) {
			*found = file;
			return 0;
		}
		if (!found && code == ENOEXEC && is_script(file)) {
			exec_script(arena, file, argv, envp);
			code = errno;
		}
		if (is_path && (code == ENOTDIR || (code == ENOENT && access_allows(file, F_OK) != 0))) {
			err_set(err, code, "%s was not found", quote_text(file).s);
			return EXIT_NOT_FOUND;
		}
		if (is_path || !is_elsewhere(code)) {
			return cannot_run(file, code, argv, envp, err);
		}
		// Keep the first file that exists but cannot run, for the message if no later file can. (If we
		// may not search the folder, the file counts as absent.)
		if (!first && access_allows(file, F_OK) == 0) {
			first = file;
			first_code = code;
		}
	}
	if (first) {
		return cannot_run(first, first_code, argv, envp, err);
	}
	err_set(err, strlen(argv[0]) > NAME_MAX ? ENAMETOOLONG : ENOENT, "%s was not found in PATH=%s",
		quote_text(argv[0]).s, quote_text(path ? path : PATH_DEFAULT).s);
	return EXIT_NOT_FOUND;
}

int exec_program(struct arena *arena, char *const argv[], char *const envp[], const char *path,
		 struct err *err) {
	return find(arena, argv, envp, path, NULL, err);
}

int exec_find(struct arena *arena, char *const argv[], const char *path, const char **file, struct err *err) {
	char *const no_env[] = {NULL};
	return find(arena, argv, no_env, path, file, err);
}
