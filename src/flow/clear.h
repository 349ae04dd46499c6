// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --clear: remove what a predecessor left that was killed. /dev/shm and /tmp of a pod outlive its containers, and what
 * lies there makes the next start fail.
 *
 * Only regular files, sockets and FIFOs of our own uid are removed, and only those that nobody uses: also no
 * process that we cannot see, of another user or in another PID namespace. The kernel knows that, so nothing is
 * looked up in /proc:
 *
 *     a regular file   a lease can be had only on what nobody has open or mapped
 *     a socket         a connection to one that nobody has is refused
 *     a FIFO           one that nobody reads cannot be opened to write
 *
 * What nobody has open, but somebody wants to open later, cannot be told from what is left.
 */

#include "base/err.h"
#include "base/notes.h"

#include <stdint.h>

/**
 * Remove the files that @list names, patterns joined by ',', with the rights that we have: those of the
 * program, after privileges_drop(). @label names the option. A note names
 * what stays, and why; also a folder that does not exist. *@removed counts.
 * Returns 0; -EINVAL if a pattern is wrong, -EPERM if a folder is neither a tmpfs nor sticky, another negative errno
 * if it cannot be opened: nothing is removed then.
 */
int clear_files(const char *label, const char *list, struct notes *notes, uint32_t *removed, struct err *err);
