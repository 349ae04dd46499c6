// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A folder that stands for "/": files are put into it, and all of it is removed at the end. */

#include "access/view.h"
#include "base/arena.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline const char *tree_new(struct arena *arena) {
	const char *folder = getenv("TMPDIR");
	char *root = arena_format(arena, "%s/distinit-tree.XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(root)) {
		printf("Bail out! cannot make %s\n", root);
		exit(1);
	}
	return root;
}

/** What we see below @root. */
static inline const struct view *tree_view(struct arena *arena, const char *root) {
	struct access *access = arena_alloc(arena, sizeof(*access));
	struct view *view;
	struct err err;
	*access = (struct access){.arena = arena, .workload = RIGHTS_SAME};
	if (view_open(access, root, &view, &err) < 0) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return view;
}

/** Write @text to the file @path, which begins with '/'. Folders are made. */
static inline void tree_put(const char *root, const char *path, const char *text) {
	char whole[1000];
	size_t start = strlen(root) + 1;
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + start, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	FILE *file = fopen(whole, "we");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
		printf("Bail out! cannot write %s\n", whole);
		exit(1);
	}
}

static inline int tree_remove_one(const char *path, const struct stat *info, int type, struct FTW *at) {
	(void)info, (void)type, (void)at;
	return remove(path);
}

static inline void tree_remove(const char *root) {
	nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
