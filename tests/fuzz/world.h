// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A whole program in this process, in a world that the input describes. The input is split at NULs; the first byte of a
 * piece says what it is:
 *
 *     $WORD        a word of the command line
 *     %NAME        what the program is called
 *     /PATH\nTEXT  a file; a second one with the same path is added to it
 *     >NAME\nTEXT  what the tool NAME prints (squeue, sinfo, srun)
 *     !NAME\nTEXT  what it prints on stderr: it fails, unless that is empty
 *     *N           the text of the next piece comes N times; each '#' in it is the number of the copy
 *     NAME=VALUE   a variable, and whatever begins otherwise
 *
 * The linker puts the functions of world.c in the place of those of the C library: what leaves the process (files,
 * programs, signals, ids, sockets) ends there, execve() as the end of the run. WORLD_SHOW=1 in the environment shows
 * each run.
 */

#include "base/buf.h"

#include "fuzz.h"

#include <stdbool.h>

/** The program's main(), renamed by the build. */
int program_main(int argc, char **argv);

/** All processes of a world have these ids. */
#define WORLD_PID 4711

struct world_file {
	struct str path;
	struct buf text;
};

struct world {
	struct arena arena;
	char *called;
	/** These end with NULL. */
	char **words;
	char **env;
	unsigned n_words;
	unsigned n_env;
	struct world_file *files;
	unsigned n_files;
	struct world_file *tools;
	unsigned n_tools;
	/** How large it is after *N, and how large it may get. */
	size_t bytes;
	size_t most;
	/** What a run may ask for, in bytes. */
	size_t memory_most;
};

/** How a run ended. */
struct outcome {
	/** Whether a program was started. */
	bool started;
	int status;
	/** Of the program that was started; env is ended by NULL. */
	const char *program;
	char **env;
	struct str out;
	struct str err;
	/** What it asked the kernel or malloc() for, and how long it took. */
	size_t memory;
	uint64_t cpu_us;
	/** What it has read of files: one that is named a thousand times is read as often. */
	size_t read;
};

/** Read the input; by *N it grows to @most bytes, besides what tools print. Returns false if it is none. */
bool world_begin(struct world *world, const uint8_t *data, size_t size, size_t most);
void world_end(struct world *world);

/** Run the program once. @words are put behind its name; both lists end with NULL. */
void world_run(struct world *world, char *const *words, struct outcome *out);

/** Check what holds for every run: messages, memory, time. @name begins each line of stderr. */
void outcome_check(struct world *world, const struct outcome *out, const char *name);

/** Whether the text is for a terminal: printable ASCII and line feeds. */
bool is_plain(struct str text);

/**
 * Whether "hunter2" is in the world, and only as a secret: the whole value of a variable or directive whose name ends
 * in PASSWORD, TOKEN, SECRET or _KEY, or the password in a URL.
 */
bool world_has_secret(const struct world *world);

/** Whether @text has the secret. */
bool shows_secret(struct str text);
