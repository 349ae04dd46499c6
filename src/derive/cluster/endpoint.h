// SPDX-License-Identifier: Apache-2.0
#pragma once

/** "host:port", as managers write it, with brackets around an IPv6 address. */

#include "base/buf.h"
#include "base/err.h"

/** Split @text into its host, without brackets, and the rest: ":PORT", or nothing. Neither is checked. */
void endpoint_split(struct str text, struct str *host, struct str *rest);

/**
 * Split @text into its host, without brackets, and its port in host byte order. The port is 0 for
 * "host" alone, and for an IPv6 address without brackets; @port may be NULL. @what names the variable.
 *
 * Returns 0; -EINVAL if the host is missing or the port is not valid.
 */
int endpoint_read(const char *what, struct str text, struct str *host, uint16_t *port, struct err *err);

/** Append @host, in brackets if it is an IPv6 address, and ":PORT" unless @port is 0. */
void endpoint_put(struct buf *out, struct str host, uint32_t port);

/** The same as a new text in the arena. */
const char *endpoint_text(struct arena *arena, const char *host, uint32_t port);
