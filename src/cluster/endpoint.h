// SPDX-License-Identifier: Apache-2.0
#pragma once

/** "host:port", as managers write it, with brackets around an IPv6 address. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/**
 * Split @text into its host, without brackets, and its port in host byte order. The port is 0 for
 * "host" alone, and for an IPv6 address without brackets. @what names the variable.
 *
 * Returns 0; -EINVAL if the host is missing or the port is not valid.
 */
int endpoint_read(const char *what, struct str text, struct str *host, uint16_t *port, struct err *err);

/** @host, with brackets added if it is an IPv6 address without them. */
struct str bracketed(struct arena *arena, struct str host);
