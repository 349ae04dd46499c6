// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Connects to addresses, to find out whether a process listens there. */

#include "net/lookup.h"

/**
 * The time for one address, in milliseconds: a host that drops packets does not delay the attempts at the
 * others.
 */
#define CONNECT_MS 2000

/**
 * If the other side closes a connection within this time, in milliseconds, it is a proxy whose program does
 * not listen yet.
 */
#define CONNECT_KEPT_MS 200

/**
 * Connect to @addresses in turn, until one accepts and leaves the connection open for CONNECT_KEPT_MS or
 * until the deadline. Then close it. No bytes are sent.
 *
 * Returns 0 if one did; -EAGAIN if none did (yet), with @watch->failure set; -EINTR if a signal came.
 */
int connect_any(struct watch *watch, const struct addresses *addresses);

/**
 * Connect to @addresses in turn, until one accepts. Returns the descriptor, which does not block, with its
 * address's index in *@which; else as connect_any().
 */
int connect_open(struct watch *watch, const struct addresses *addresses, uint32_t *which);

/**
 * Whether no process has the Unix socket of @fd open, a descriptor with O_PATH. A process that has it does
 * not notice the test. Returns 0 if none has; -EBUSY if one has; another negative errno if that is unknown.
 */
int connect_is_dead(int fd);
