// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Opens files that an option, a variable or a manager named; other rooms do not. struct setting says
 * where the name is from, and that decides with whose rights the file is opened:
 *
 *     read    a file that an option named: with our rights; any other: with the workload's
 *     write   always with the workload's rights
 *
 * The workload's rights are those after --user and the like. Until they are known, a file that needs
 * them is not opened. `tests/lint/opens.sh` lists the other files of this tree that may call open().
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/setting.h"
#include "priv/credentials.h"

#include <sys/types.h>

/** What is known of the workload's rights. */
enum workload_rights {
	/** They are not planned yet, or the plan failed: no file is opened with them. */
	RIGHTS_UNKNOWN,
	/** They are ours: no change is wanted, or it was made already. */
	RIGHTS_SAME,
	/** They are `workloads`; we have `ours`. */
	RIGHTS_FEWER,
};

struct access {
	struct arena *arena;
	enum workload_rights workload;
	struct credentials ours;
	struct credentials workloads;
};

/** Put @file below @root. The result is trusted as the less trusted of the two is. Copies neither. */
struct setting setting_under_root(struct arena *arena, const struct setting *root,
				  const struct setting *file);

/**
 * Read @file into @out, and put a NUL after its last byte. @what names the file in messages. Does not wait
 * for the writer of a FIFO.
 * Returns 0; -EISDIR for a directory, -EFBIG for more than @max bytes, -EPERM if the workload's rights are
 * not known or cannot be taken; or another negative errno.
 */
int access_read(struct access *access, struct arena *arena, const char *what, const struct setting *file,
		size_t max, struct str *out, struct err *err);

/**
 * Read a secret in the same way. *@mode gets the file's mode. If a manager named the file, its path is the
 * same in each job, so another user could prepare it: then it has to be a regular file, and each symlink on
 * the way has to belong to us or to root.
 */
int access_read_secret(struct access *access, struct arena *arena, const char *what,
		       const struct setting *file, size_t max, struct str *out, mode_t *mode,
		       struct err *err);

/** Whether @file exists, and the rights by which access_read() would open it can see it. */
bool access_exists(struct access *access, const struct setting *file);

/**
 * Check whether the rights by which files are opened now allow @how on @path: R_OK, W_OK and X_OK, or F_OK.
 * access(2) is no use here: it checks the real ids, which access_become() does not change.
 * Returns 0 if they do; else a negative errno.
 */
int access_allows(const char *path, int how);

/** How to treat targets that are not regular files. */
enum special {
	/** Write into our own stdout and stderr, and into a FIFO or a device that belongs to us or to root. */
	SPECIAL_OURS,
	/** Write into our own stdout and stderr only. */
	SPECIAL_NONE,
};

/**
 * Write @text to a new file with permissions @mode, then rename that to @file, so that readers never see
 * a part of it. If @file is a symlink to a regular file, the symlink is replaced. If it is not a regular
 * file, it is written into, as @special allows; a FIFO may stay without a reader for a second.
 * Returns 0; or a negative errno, and @file is unchanged.
 */
int access_write(struct access *access, const struct setting *file, struct str text, mode_t mode,
		 enum special special, struct err *err);

enum append {
	/** If the file does not exist, make it with mode 0644, regardless of the umask. */
	APPEND_MAKE,
	/** Open a regular file only. It has to exist, and not as a symlink. */
	APPEND_EXISTING,
};

/**
 * Open @file to append to it. Never waits, and allocates no memory. If the file has hard links and others
 * can write its folder, this is an error, because another user may have linked a foreign file there.
 * Returns the descriptor; or a negative errno.
 */
int access_append(struct access *access, const struct setting *file, enum append how, struct err *err);

/** Open the constant @path with our own rights, as APPEND_EXISTING does. */
int access_append_constant(const char *path);

/** Open @folder to write files in it. Returns the descriptor; or a negative errno, without a message. */
int access_folder(const struct setting *folder);

/** Explain an error of this room: strerror(), or a sentence with the way out. */
const char *access_why(int error);

/**
 * From now on, open all files with the workload's rights. This does not change the privileges otherwise.
 * Returns 0; -EPERM if these rights are not known or cannot be taken.
 */
int access_become(struct access *access, struct err *err);
