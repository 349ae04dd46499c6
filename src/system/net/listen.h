// SPDX-License-Identifier: Apache-2.0
#pragma once

/** TCP listeners and connections, for the roll call only. */

#include "base/arena.h"
#include "net/lookup.h"

/**
 * Listen on TCP port @port of all addresses, IPv6 and IPv4. As soon as the listener is closed, programs that
 * set SO_REUSEADDR may bind the port, even if connections remain. Accepted connections inherit the options of
 * stream_keepalive(), so that these are set from the first packet on. Returns the descriptor; -EADDRINUSE if
 * another process has the port; another negative errno.
 */
int listen_open(uint16_t port);

/**
 * Accept a connection. *@peer is the address of the other side; an IPv4 address mapped into IPv6 is written
 * as IPv4. Returns the descriptor, which does not block; -EAGAIN if no connection waits; another negative
 * errno.
 */
int listen_accept(int listener, struct address *peer);

/**
 * Reserve @port for a program that will bind it later: other distinits in the same network namespace do not
 * use a reserved port. Returns a descriptor; closing it ends the reservation; -EADDRINUSE if the port is
 * reserved already; another negative errno.
 */
int listen_reserve(uint16_t port);

/**
 * Whether the listener on @port of this machine sends the @n bytes at @begin within half a second. We send no
 * bytes.
 */
bool listener_begins(uint16_t port, const void *begin, size_t n);

/** The owner of the listener on @port, from /proc/net: " (by a listener of uid 1001)"; "": not known. */
const char *listen_owner(struct arena *arena, uint16_t port);

/**
 * Send @n bytes, without SIGPIPE. Returns 0; or a negative errno if they could not all be sent at once: then
 * the connection is shut down, because no frame can follow half a frame, and both sides read its end.
 */
int stream_send(int fd, const void *bytes, size_t n);

/** Enable keepalive on @fd: within 25 s the kernel reports that the other machine is gone. */
void stream_keepalive(int fd);

/** Whether the other side of @fd has not answered the kernel's last two packets. */
bool stream_is_silent(int fd);

/**
 * Copy at most @n bytes that have come, without removing them. Returns how many; 0 at the end; a negative
 * errno.
 */
ssize_t stream_peek(int fd, void *bytes, size_t n);

/** Close @fd with a reset, so that the port does not stay in TIME_WAIT on this side. */
void stream_reset(int fd);
