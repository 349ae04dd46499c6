// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The files of the command, so that nodes can compare them: "5120 bytes, sha256:0123456789abcdef".
 * The digest is that of the first PROGRAM_HEAD bytes: reading gigabytes would delay the start, and
 * a compiler's build id stands at the beginning.
 */

#include "base/str.h"

struct arena;
struct view;

#define PROGRAM_HEAD ((size_t)64 << 10)

/** The file @path of the program. NULL: it cannot be read. */
const char *program_file(const struct view *view, struct arena *arena, const char *path);

/** The first argument that is a readable file and ends with .py or .sh, or NULL. */
const char *program_script(const struct view *view, struct arena *arena, char *const argv[]);
