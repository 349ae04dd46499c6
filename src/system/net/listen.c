// SPDX-License-Identifier: Apache-2.0

#include "net/listen.h"

#include "base/file.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/** The kernel limits the backlog to net.core.somaxconn. */
#define BACKLOG 65535

static int set_option(int fd, int level, int name, int value) {
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/** Listen on @address. Returns the descriptor or a negative errno. */
static int listen_at(const struct address *address) {
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	bool both = address->any.sa_family == AF_INET6;
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	// Connections inherit these options. TCP_NODELAY: frames are small, and each is complete.
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	stream_keepalive(fd);
	if ((both && set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) < 0) ||
	    bind(fd, &address->any, address->len) < 0 || listen(fd, BACKLOG) < 0) {
		int code = errno;
		close(fd);
		return -code;
	}
	return fd;
}

int listen_open(uint16_t port) {
	struct address any = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)},
			      .len = sizeof(any.v6)};
	int fd = listen_at(&any);
	if (fd >= 0 || fd == -EADDRINUSE) {
		return fd;
	}
	// There is no IPv6 in the kernel or in this container.
	any = (struct address){.v4 = {.sin_family = AF_INET, .sin_port = htons(port)}, .len = sizeof(any.v4)};
	return listen_at(&any);
}

int listen_reserve(uint16_t port) {
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	// The first byte is NUL: the name is in the abstract namespace, not in the file system.
	int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "distinit/%u", port);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) < 0) {
		int code = errno;
		close(fd);
		return -code;
	}
	return fd < 0 ? -errno : fd;
}

bool listener_begins(uint16_t port, const void *begin, size_t n) {
	const struct timeval patience = {.tv_usec = 500000};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	char bytes[64];
	bool begins = false;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		// If the time-outs cannot be set, give up: a silent listener would block us for ever.
		begins = setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
			 setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
			 n <= sizeof(bytes) && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
			 recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n && memcmp(bytes, begin, n) == 0;
		stream_reset(fd);
	}
	return begins;
}

/** If @address is an IPv4 address mapped into IPv6, make it IPv4. */
static void unmap(struct address *address) {
	if (address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr)) {
		struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = address->v6.sin6_port};
		memcpy(&v4.sin_addr, address->v6.sin6_addr.s6_addr + 12, sizeof(v4.sin_addr));
		*address = (struct address){.v4 = v4, .len = sizeof(v4)};
	}
}

int listen_accept(int listener, struct address *peer) {
	*peer = (struct address){.len = sizeof(peer->v6)};
	int fd = accept4(listener, &peer->any, &peer->len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	unmap(peer);
	return fd;
}

int stream_send(int fd, const void *bytes, size_t n) {
	ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
	int r = sent < 0 ? -errno : (size_t)sent < n ? -EAGAIN : 0;
	if (r < 0) {
		shutdown(fd, SHUT_RDWR);
	}
	return r;
}

void stream_keepalive(int fd) {
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 8);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 4);
	// This limits unanswered probes, and also bytes that were sent and not acknowledged.
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 20000);
}

bool stream_is_silent(int fd) {
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	// The answer to a single packet may still be in transit.
	return info.tcpi_probes > 1 || info.tcpi_retransmits > 1;
}

ssize_t stream_peek(int fd, void *bytes, size_t n) {
	ssize_t there = recv(fd, bytes, n, MSG_PEEK);
	return there < 0 ? -errno : there;
}

void stream_reset(int fd) {
	struct linger reset = {.l_onoff = 1};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

/** The word of @line with index @n. */
static struct str word_at(struct str line, int n) {
	struct str word;
	while (str_word(&line, &word) && n-- > 0) {
	}
	return word;
}

/** Whether @line, "0: ADDRESS:PORT ADDRESS:PORT STATE ...", describes a listener on @port. */
static bool is_listener(struct str line, uint16_t port) {
	static const char digits[] = "0123456789ABCDEF";
	const char end[] = {':', digits[port >> 12], digits[port >> 8 & 15], digits[port >> 4 & 15],
			    digits[port & 15]};
	struct str address = word_at(line, 1);
	return address.len > sizeof(end) &&
	       memcmp(address.p + address.len - sizeof(end), end, sizeof(end)) == 0 &&
	       str_is(word_at(line, 3), "0A");
}

/**
 * Find the uid of the listener on @port in @path, a table of the kernel. It lists listeners first, so its
 * beginning is enough. Returns 0; -ENOENT.
 */
static int find_owner(const char *path, uint16_t port, uint32_t *uid) {
	char text[16384];
	const ssize_t n = file_read_small(path, text, sizeof(text));
	struct str rest = {text, n == -EFBIG ? sizeof(text) - 1 : n > 0 ? (size_t)n : 0}, line;
	while (str_cut(&rest, '\n', &line)) {
		if (is_listener(line, port)) {
			return num_read_u32(word_at(line, 7), uid);
		}
	}
	return -ENOENT;
}

const char *listen_owner(struct arena *arena, uint16_t port) {
	uint32_t uid;
	bool known =
		find_owner("/proc/net/tcp6", port, &uid) == 0 || find_owner("/proc/net/tcp", port, &uid) == 0;
	return known ? arena_format(arena, " (by a listener of uid %u)", uid) : "";
}
