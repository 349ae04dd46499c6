// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --clear: remove files that a killed run left. /dev/shm and /tmp of a pod outlive its containers, and
 * such files make the next start fail.
 *
 * Only regular files, sockets and FIFOs of our own uid are removed, and only if no process uses them,
 * including processes that we cannot see: of another user, or in another PID namespace. The kernel knows
 * that, so /proc is not searched:
 *
 *     a regular file   the kernel grants a lease only if no process has it open or mapped
 *     a socket         the kernel refuses a connection if no process has it open
 *     a FIFO           the kernel does not open it for writing if no process reads it
 *
 * A closed file that is still needed looks like a leftover.
 */

#include "base/err.h"
#include "base/notes.h"

#include <stdint.h>

/**
 * Remove the files that @list names, patterns joined by ',', with the rights that we have: those of the
 * workload, after privileges_drop(). @label is the option. Warn about files that stay, with the reason,
 * and about a folder that does not exist. *@removed is increased by the number of removed files.
 * Returns 0; -EINVAL if a pattern is wrong, -EPERM if a folder is neither a tmpfs nor sticky, another
 * negative errno if it cannot be opened: then nothing is removed.
 */
int clear_files(const char *label, const char *list, struct notes *notes, uint32_t *removed, struct err *err);
