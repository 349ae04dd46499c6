// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Describes the files of the command, so that nodes can compare them: "5120 bytes, sha256:0123456789abcdef".
 * The digest is of the first PROGRAM_HEAD bytes only, because reading gigabytes would delay the start, and
 * the build id is at the beginning.
 */

#include "base/str.h"

struct arena;
struct view;

#define PROGRAM_HEAD ((size_t)64 << 10)

/** Describe the file @path of the program; NULL: it cannot be read. */
const char *program_file(const struct view *view, struct arena *arena, const char *path);

/** Describe the first argument that ends with .py or .sh and is a readable file; NULL: there is none. */
const char *program_script(const struct view *view, struct arena *arena, char *const argv[]);
