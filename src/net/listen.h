// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Listening and accepting, for the roll call only. */

#include "base/arena.h"
#include "net/lookup.h"

/**
 * Listen on TCP port @port of all addresses, IPv6 and IPv4. Programs that set SO_REUSEADDR may bind
 * the port as soon as the listener is closed, even if connections are left. Those are kept as by
 * stream_keep(), as they inherit it: one that came before the option was set would not be.
 * Returns the descriptor; -EADDRINUSE if another process has the port; another negative errno.
 */
int listen_open(uint16_t port);

/**
 * Accept a connection, which does not block. *@peer is the other side; an IPv4 address that came in
 * over IPv6 is given as IPv4. Returns the descriptor; -EAGAIN if there is none; a negative errno.
 */
int listen_accept(int listener, struct address *peer);

/**
 * Hold @port for a program that will bind it later: by a name in the network namespace that other
 * distinits look at. Closing the returned descriptor releases it; -EADDRINUSE if it is held
 * already; another negative errno.
 */
int listen_hold(uint16_t port);

/** Whether @port's listener here sends the @n bytes at @begin within half a second. Nothing is sent. */
bool listener_begins(uint16_t port, const void *begin, size_t n);

/** Who listens on @port, from /proc/net: " (by a listener of uid 1001)", or "" if it is not known. */
const char *listen_owner(struct arena *arena, uint16_t port);

/**
 * Send the @n bytes, all or nothing, without SIGPIPE. Returns 0; a negative errno: the connection is
 * shut down, as nothing can follow half a frame, so both sides read its end.
 */
int stream_send(int fd, const void *bytes, size_t n);

/** Keep the connection @fd for long: within 25 s the kernel notices that the other machine is gone. */
void stream_keep(int fd);

/** Whether the other side of @fd has not answered the kernel for a while. */
bool stream_is_silent(int fd);

/** Look at the first @n bytes of what came, at most. Returns how many; 0 at the end; a negative errno. */
ssize_t stream_peek(int fd, void *bytes, size_t n);

/** Close @fd with a reset: else the side that closes first would keep the port in TIME_WAIT. */
void stream_reset(int fd);
