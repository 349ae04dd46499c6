// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Does a process listen at these addresses? */

#include "net/lookup.h"

/** In milliseconds, for one address: a host that drops packets does not delay the others. */
#define CONNECT_MS 2000

/** In milliseconds: who closes a connection sooner than this is a proxy of one that does not listen yet. */
#define CONNECT_KEPT_MS 200

/**
 * Connect to each of @addresses in turn until one accepts, and keeps the connection for CONNECT_KEPT_MS or until the
 * deadline. Then it is closed: nothing is sent.
 *
 * Returns 0 if one did; -EAGAIN if none did (yet), with @watch->failure set; -EINTR if a
 * signal came.
 */
int connect_any(struct watch *watch, const struct addresses *addresses);

/** The same, but the connection stays open: returns it, not blocking; *@which is its address's index. */
int connect_open(struct watch *watch, const struct addresses *addresses, uint32_t *which);

/**
 * Whether nobody has the Unix socket that @fd, opened with O_PATH, is. Nobody who has it notices. Returns 0;
 * -EBUSY: somebody has it; another negative errno: that cannot be found out.
 */
int connect_is_dead(int fd);
