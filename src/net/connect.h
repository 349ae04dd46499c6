// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Does anybody listen there? */

#include "net/lookup.h"

/** The most that one address may take, in milliseconds, so that a host which drops packets does not hold up the others. */
#define CONNECT_MS 2000

/**
 * Connect to each of @addresses in turn, until one takes the connection, which is closed at once: nothing is sent.
 *
 * Returns 0 if one did; -EAGAIN if none (yet), with @watch->failure set; -EINTR if a signal came.
 */
int connect_any(struct watch *watch, const struct addresses *addresses);
