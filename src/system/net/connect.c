// SPDX-License-Identifier: Apache-2.0

#include "net/connect.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/**
 * Whether @fd is connected to itself. On the same host, the kernel may choose the target port as
 * the source port if no process listens there yet. TCP then connects the socket to itself. This
 * would keep the master from binding its port, so the connection is reset: a reset leaves no TIME_WAIT.
 */
static bool is_self_connected(int fd) {
	struct address own = {.len = sizeof(own.v6)}, peer = {.len = sizeof(peer.v6)};
	if (getsockname(fd, &own.any, &own.len) < 0 || getpeername(fd, &peer.any, &peer.len) < 0 ||
	    own.len != peer.len || memcmp(&own.any, &peer.any, own.len) != 0) {
		return false;
	}
	struct linger reset = {.l_onoff = 1};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	return true;
}

/** The result of connecting @fd: 0, or a positive errno. */
static int outcome(int fd) {
	int code = 0;
	socklen_t len = sizeof(code);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0) {
		return errno;
	}
	return code == 0 && is_self_connected(fd) ? ECONNREFUSED : code;
}

/** Connect @fd. Returns 0; a positive errno; -EINTR if a signal came. */
static int try_connect(struct watch *watch, int fd, const struct address *address, uint64_t until) {
	if (connect(fd, &address->any, address->len) < 0 && errno != EINPROGRESS) {
		return errno;
	}
	int r = watch_poll(watch, fd, POLLOUT, until);
	return r < 0 ? r : r == 0 ? ETIMEDOUT : outcome(fd);
}

/** Connect to @address. Returns as try_connect(); with 0, *@out is the descriptor. */
static int try_address(struct watch *watch, const struct address *address, uint64_t until, int *out) {
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return errno;
	}
	int r = try_connect(watch, fd, address, until);
	if (r != 0) {
		close(fd);
		return r;
	}
	*out = fd;
	return 0;
}

/** As connect_open(), from the address with index @first on. */
static int open_from(struct watch *watch, const struct addresses *addresses, uint32_t first,
		     uint32_t *which) {
	for (uint32_t i = first; i < addresses->n; i++) {
		// Divide the time until the deadline between the remaining addresses.
		uint64_t now = clock_now_ms();
		uint64_t share = clock_left(now, watch->deadline) / (addresses->n - i);
		int fd = -EAGAIN;
		int r = try_address(watch, &addresses->at[i],
				    clock_after(now, clock_earlier(share, CONNECT_MS)), &fd);
		if (r <= 0) {
			*which = i;
			return r < 0 ? r : fd;
		}
		char text[ADDRESS_TEXT];
		address_text(&addresses->at[i], text);
		struct err failure;
		err_set(&failure, EAGAIN, "%s: %s", text, r == ETIMEDOUT ? "no answer" : strerror(r));
		if (r == ETIMEDOUT && clock_now_ms() >= watch->deadline) {
			return watch_cut_short(watch, failure.text);
		}
		watch->failure = failure;
	}
	return -EAGAIN;
}

int connect_open(struct watch *watch, const struct addresses *addresses, uint32_t *which) {
	return open_from(watch, addresses, 0, which);
}

/**
 * Whether the other side leaves the connection @fd open for CONNECT_KEPT_MS. A proxy (Istio's, docker's)
 * accepts even if its program does not listen yet, and then closes. Returns 1; 0; -EINTR if a signal came.
 */
static int is_kept(struct watch *watch, int fd) {
	char byte;
	int r = watch_poll(watch, fd, POLLIN, clock_after(clock_now_ms(), CONNECT_KEPT_MS));
	return r <= 0 ? r < 0 ? r : 1 : recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

int connect_any(struct watch *watch, const struct addresses *addresses) {
	for (uint32_t i = 0; i < addresses->n; i++) {
		int fd = open_from(watch, addresses, i, &i);
		if (fd < 0) {
			return fd;
		}
		int r = is_kept(watch, fd);
		close(fd);
		if (r != 0) {
			return r < 0 ? r : 0;
		}
		char text[ADDRESS_TEXT];
		address_text(&addresses->at[i], text);
		err_set(&watch->failure, EAGAIN,
			"%s: it accepted, and closed the connection at once, as a proxy does", text);
	}
	return -EAGAIN;
}

int connect_is_dead(int fd) {
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", fd);
	// A datagram socket: a listener of another type fails with EPROTOTYPE, and gets no connection.
	int own = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r = own < 0							     ? -errno
		: connect(own, (const struct sockaddr *)&to, sizeof(to)) < 0 ? -errno
									     : -EBUSY;
	if (own >= 0) {
		close(own);
	}
	return r == -ECONNREFUSED ? 0 : r == -EPROTOTYPE || r == -EPERM ? -EBUSY : r;
}
