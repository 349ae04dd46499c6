// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The names in a folder, without the heap of opendir(): what runs beside a workload allocates nothing. */

#include <stddef.h>

struct entries {
	int fd;
	/** The entries of the last call that are not yet returned: from `at` to `end` in `raw`. */
	size_t at, end;
	/** Why the reading ended early, an errno; 0: it did not. */
	int error;
	_Alignas(max_align_t) char raw[2048];
};

/** Open the folder @path, close-on-exec; else it reads as empty. Read it to its end, which closes it. */
void entries_open(struct entries *entries, const char *path);

/** Return the next name, valid until the next call; NULL at the end. */
const char *entries_next(struct entries *entries);
