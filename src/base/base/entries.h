// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The names in a folder. Unlike opendir(), it allocates no memory: code that runs beside a workload must
 * not.
 */

#include <stddef.h>

struct entries {
	int fd;
	/** Offsets in `raw`: the entries from `at` up to `end` are not returned yet. */
	size_t at, end;
	/** The errno that ended the reading early; 0: none. */
	int error;
	_Alignas(max_align_t) char raw[2048];
};

/**
 * Open the folder @path, close-on-exec. If that fails, it reads as empty. Read it to its end: that closes
 * it.
 */
void entries_open(struct entries *entries, const char *path);

/** Return the next name, valid until the next call; NULL at the end. */
const char *entries_next(struct entries *entries);
