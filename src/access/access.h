// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Files that somebody named: only this room opens them. The rights that open a file follow from who
 * named it (struct setting), so callers need not remember it:
 *
 *     reading   what the command line told: with our rights; all else with the program's
 *     writing   with the program's rights, whoever told
 *
 * The program's rights are those that it will have after --user and the like. Until they are known,
 * nothing is opened with them. `tests/lint/opens.sh` lists who may call open() beside this room.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/setting.h"
#include "priv/credentials.h"

#include <sys/types.h>

/** What is known of the rights of the program. A struct of zeros knows nothing. */
enum program_rights {
	/** They are not planned, or the plan failed: nothing is opened with them. */
	RIGHTS_UNKNOWN,
	/** They are ours: no change is wanted, or it was made. */
	RIGHTS_SAME,
	/** They are `programs`; we have `ours`. */
	RIGHTS_FEWER,
};

struct access {
	struct arena *arena;
	enum program_rights program;
	struct credentials ours;
	struct credentials programs;
};

/** @file below @root, as named by the less trusted of the two. Neither is copied. */
struct setting setting_under_root(struct arena *arena, const struct setting *root,
				  const struct setting *file);

/**
 * Read @file, of at most @max bytes, into @out, and put a NUL after its last byte. @what names it in
 * messages. Opening a FIFO without a writer does not wait.
 * Returns 0; -EISDIR for a directory, -EFBIG for more than @max bytes, -EPERM if the rights are not
 * known or cannot be taken; or another negative errno.
 */
int access_read(struct access *access, struct arena *arena, const char *what, const struct setting *file,
		size_t max, struct str *out, struct err *err);

/**
 * The same for a secret. *@mode is that of the file. If a manager named it, it is in the same place
 * in each job: then it has to be a regular file, and no link on the way may be one that others than
 * us and root can make.
 */
int access_read_secret(struct access *access, struct arena *arena, const char *what,
		       const struct setting *file, size_t max, struct str *out, mode_t *mode,
		       struct err *err);

/** Whether @file exists, as far as it can be seen with those rights. */
bool access_exists(struct access *access, const struct setting *file);

/**
 * Whether the rights by which files are opened now allow @how on @path: R_OK, W_OK, X_OK, or F_OK for none of these.
 * access() asks with the real ids, which access_become() leaves as they are. Returns 0; a negative errno.
 */
int access_allows(const char *path, int how);

/** What is no regular file. */
enum special {
	/** Write into a FIFO or a device of ours or root's, and into our own stdout and stderr. */
	SPECIAL_OURS,
	/** Write only into our own stdout and stderr. */
	SPECIAL_NONE,
};

/**
 * Write @text to a new file with permissions @mode, then rename it to @file, so that readers never see
 * a part of it. A symlink to a file is replaced. A file that is not a regular one is written into,
 * if @special allows it. The reader of a FIFO has a second to come. Returns 0; or the negative
 * errno of the failure: the file is then unchanged.
 */
int access_write(struct access *access, const struct setting *file, struct str text, mode_t mode,
		 enum special special, struct err *err);

enum append {
	/** Make it with mode 0644 if it does not exist, whatever the umask is. */
	APPEND_MAKE,
	/** Only into a regular file that exists, and is no symlink. */
	APPEND_EXISTING,
};

/**
 * Open @file to append to it; it never waits. No memory is allocated. A file with several names, in
 * a folder that others can write, may belong elsewhere, so that is an error. Returns the
 * descriptor; a negative errno.
 */
int access_append(struct access *access, const struct setting *file, enum append how, struct err *err);

/** The same for @path, a constant, with our own rights: only a regular file that exists, no symlink. */
int access_append_constant(const char *path);

/** Open the folder @folder, in which we write. Returns the descriptor; a negative errno without a message. */
int access_folder(const struct setting *folder);

/** What the errors of this room mean: strerror() with the way out. */
const char *access_why(int error);

/**
 * Take the program's rights for good, for opening files. A change of privileges is more than this.
 * Returns 0; -EPERM if they are not known or cannot be taken.
 */
int access_become(struct access *access, struct err *err);
