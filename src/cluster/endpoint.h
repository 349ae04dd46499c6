// SPDX-License-Identifier: Apache-2.0
#pragma once

/** "host:port", as managers write it; an IPv6 address stands in brackets there. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/**
 * Cut @text into its host, without brackets, and its port in host byte order. "host" alone has port 0; so has an IPv6 address that
 * stands bare. @what names the variable.
 *
 * Returns 0; -EINVAL for a host that is missing, or a port that is none.
 */
int endpoint_read(const char *what, struct str text, struct str *host, uint16_t *port, struct err *err);

/** @host in brackets, if it is an IPv6 address without them. */
struct str bracketed(struct arena *arena, struct str host);
