// SPDX-License-Identifier: Apache-2.0

/** The functions for sockets, in the place of the C library's. */

#include "inside.h"

#include "rollcall/frame.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

static int fail(int code) {
	errno = code;
	return -1;
}

int __wrap_socket(int domain, int type, int protocol) {
	(void)protocol;
	const int code = enter(CALL_SOCKET);
	if (code) {
		return fail(code);
	}
	const bool datagram = (type & 0xf) == SOCK_DGRAM;
	struct file *file = file_new(domain == AF_UNIX ? FILE_NAME : datagram ? FILE_DATAGRAM : FILE_SOCKET);
	file->nonblocking = type & SOCK_NONBLOCK;
	return file_open(file);
}

static uint16_t port_of(const struct sockaddr *at) {
	const void *any = at;
	return ntohs(at->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)any)->sin6_port
					       : ((const struct sockaddr_in *)any)->sin_port);
}

static uint32_t ip_of(const struct sockaddr *at) {
	const void *any = at;
	return ntohl(((const struct sockaddr_in *)any)->sin_addr.s_addr);
}

/** The host with an address; -1: there is none. */
static int host_at(uint32_t ip) {
	if (ip >> 24 == 127) {
		return current->host;
	}
	const uint32_t host = ip - host_address(0);
	return host < MACHINES_MAX ? (int)host : -1;
}

/** Names of sockets are those of a host: an abstract socket belongs to its network namespace. */
static bool is_name_taken(const char *name) {
	for (int i = 0; i < n_processes; i++) {
		const struct process *process = &processes[i];
		for (int fd = 0;
		     process->host == current->host && process_is_alive(process) && fd < FILES_MAX; fd++) {
			const struct file *file = process->files[fd];
			if (file && file->kind == FILE_NAME && strcmp(file->name, name) == 0) {
				return true;
			}
		}
	}
	return false;
}

int __wrap_bind(int fd, const struct sockaddr *at, socklen_t len) {
	struct file *file = file_at(fd);
	const int code = enter(CALL_BIND);
	(void)len;
	if (code) {
		return fail(code);
	}
	if (file->kind == FILE_NAME) {
		const void *any = at;
		const char *name = ((const struct sockaddr_un *)any)->sun_path + 1;
		if (is_name_taken(name)) {
			return fail(EADDRINUSE);
		}
		snprintf(file->name, sizeof(file->name), "%s", name);
		return 0;
	}
	if (file->kind == FILE_DATAGRAM) {
		return ip_of(at) == host_address(current->host) ? 0 : fail(EADDRNOTAVAIL);
	}
	file->port = port_of(at);
	return network_listener(current->host, file->port) ? fail(EADDRINUSE) : 0;
}

int __wrap_listen(int fd, int backlog) {
	struct file *file = file_at(fd);
	const int code = enter(CALL_LISTEN);
	(void)backlog;
	if (code || network_listener(current->host, file->port)) {
		return fail(code ? code : EADDRINUSE);
	}
	network_listen(file);
	return 0;
}

int __wrap_connect(int fd, const struct sockaddr *at, socklen_t len) {
	struct file *file = file_at(fd);
	const int code = enter(CALL_CONNECT);
	(void)len;
	const int to = host_at(ip_of(at));
	if (code || to < 0) {
		return fail(code ? code : EHOSTUNREACH);
	}
	network_connect(file, to, port_of(at));
	if (file->nonblocking) {
		return fail(EINPROGRESS);
	}
	const uint64_t until = file->send_within ? time_now + file->send_within : NEVER;
	while (file->state == SOCKET_CONNECTING && time_now < until) {
		sleep_until(until);
	}
	if (file->state != SOCKET_OPEN) {
		const int error = file->error ? file->error : EINPROGRESS;
		file->error = 0;
		return fail(error);
	}
	return 0;
}

socklen_t address_write(void *out, bool v6, int host, uint16_t port) {
	const uint32_t ip = htonl(host_address(host));
	if (v6) {
		struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
		six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
		memcpy(six.sin6_addr.s6_addr + 12, &ip, sizeof(ip));
		memcpy(out, &six, sizeof(six));
		return sizeof(six);
	}
	const struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = ip};
	memcpy(out, &four, sizeof(four));
	return sizeof(four);
}

int __wrap_accept4(int fd, struct sockaddr *at, socklen_t *len, int flags) {
	struct file *listener = file_at(fd), *file;
	const int code = enter(CALL_ACCEPT);
	if (code) {
		return fail(code);
	}
	while (!(file = listener->backlog)) {
		if (listener->nonblocking) {
			return fail(EAGAIN);
		}
		sleep_until(NEVER);
	}
	const int r = file_open(file);
	if (r < 0) {
		return -1;
	}
	listener->backlog = file->next;
	file->next = NULL;
	file->nonblocking = flags & SOCK_NONBLOCK;
	file->kept_alive = listener->kept_alive;
	if (at) {
		*len = address_write(at, true, file->connection->host[0], file->connection->port[0]);
	}
	trace("connection %d: accepted", file->connection->id);
	return r;
}

int __wrap_getsockname(int fd, struct sockaddr *at, socklen_t *len) {
	const struct file *file = file_at(fd);
	enter(CALL_NONE);
	*len = address_write(at, false, current->host, file->port);
	return 0;
}

int __wrap_getpeername(int fd, struct sockaddr *at, socklen_t *len) {
	const struct file *file = file_at(fd);
	enter(CALL_NONE);
	if (!file->connection || file->state != SOCKET_OPEN) {
		return fail(ENOTCONN);
	}
	*len = address_write(at, false, file->connection->host[!file->side],
			     file->connection->port[!file->side]);
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len) {
	struct file *file = file_at(fd);
	enter(CALL_NONE);
	if (level == SOL_SOCKET && name == SO_ERROR) {
		memcpy(value, &file->error, sizeof(int));
		file->error = 0;
	} else if (level == IPPROTO_TCP && name == TCP_INFO) {
		struct tcp_info info = {0};
		if (file->connection && network_apart(file->connection)) {
			info.tcpi_probes = info.tcpi_retransmits = 3;
		}
		memcpy(value, &info, *len < sizeof(info) ? *len : sizeof(info));
	}
	return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len) {
	struct file *file = file_at(fd);
	const int code = enter(CALL_OPTION);
	(void)len;
	if (code) {
		return fail(code);
	}
	if (level == SOL_SOCKET && name == SO_LINGER) {
		file->resets = true;
	} else if (level == SOL_SOCKET && name == SO_KEEPALIVE) {
		file->kept_alive = true;
	} else if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
		const struct timeval *time = value;
		*(name == SO_RCVTIMEO ? &file->receive_within : &file->send_within) =
			(uint64_t)time->tv_sec * S + (uint64_t)time->tv_usec;
	}
	return 0;
}

const char *frame_name(uint8_t type) {
	static const char *const names[256] = {
		[FRAME_HELLO] = "HELLO",       [FRAME_FACTS] = "FACTS", [FRAME_BYE] = "BYE",
		[FRAME_ENDED] = "ENDED",       [FRAME_DIED] = "DIED",	[FRAME_WAIT] = "WAIT",
		[FRAME_ASK] = "ASK",	       [FRAME_GO] = "GO",	[FRAME_NO] = "NO",
		[FRAME_PROOF] = "PROOF",       [FRAME_END] = "END",	[FRAME_HEARD] = "HEARD",
		[FRAME_GREETING] = "GREETING", [FRAME_MEET] = "MEET",
	};
	return names[type] ? names[type] : "bytes";
}

/** What the @n bytes are that are sent as the @nth piece of this direction. */
static uint8_t type_of(const unsigned char *bytes, size_t n, uint32_t nth) {
	if (n == GREETING_BYTES && memcmp(bytes, GREETING_MAGIC, 8) == 0) {
		return FRAME_GREETING;
	}
	if (nth == 0 && n == MEET_BYTES) {
		return FRAME_MEET;
	}
	return n >= FRAME_MIN && (size_t)(bytes[0] | bytes[1] << 8) == n && bytes[3] == ROLL_VERSION
		       ? bytes[2]
		       : 0;
}

ssize_t sockets_send(struct file *file, const void *bytes, size_t n) {
	struct connection *c = file->connection;
	if (file->error) {
		const int error = file->error;
		file->error = 0;
		return fail(error);
	}
	if (file->state != SOCKET_OPEN || file->write_shut) {
		return fail(file->state == SOCKET_NEW || file->state == SOCKET_CONNECTING ? ENOTCONN : EPIPE);
	}
	const struct way *way = &c->way[!file->side];
	const uint32_t room = way->unread < weather.window ? weather.window - way->unread : 0;
	const uint32_t some = n < room ? (uint32_t)n : room;
	if (!some) {
		return fail(EAGAIN);
	}
	const int to = c->host[!file->side];
	const uint8_t type = some == n ? type_of(bytes, n, c->way[!file->side].frames++) : 0;
	if (watchers.on_send) {
		watchers.on_send(current, to, type);
	}
	if (current->state == PROCESS_DEAD) {
		fiber_leave();
	}
	trace("sends %s to host %d", frame_name(type), to);
	if (!c->dead) {
		network_send(c, !file->side, bytes, some, type);
	}
	if (watchers.on_sent) {
		watchers.on_sent(current, to, type);
	}
	if (current->state == PROCESS_DEAD) {
		fiber_leave();
	}
	return (ssize_t)some;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags) {
	struct file *file = file_at(fd);
	(void)flags;
	if (!file) {
		return -1;
	}
	const int code = enter(CALL_SEND);
	return code ? fail(code) : sockets_send(file, bytes, n);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags) {
	struct file *file = file_at(fd);
	if (!file) {
		return -1;
	}
	const int code = enter(CALL_RECEIVE);
	return code ? fail(code) : file_receive(file, bytes, n, flags);
}

int __wrap_shutdown(int fd, int how) {
	struct file *file = file_at(fd);
	(void)how;
	enter(CALL_NONE);
	if (file->state == SOCKET_OPEN && !file->write_shut) {
		file->write_shut = file->read_shut = true;
		network_end(file->connection, !file->side);
		file_notify(file);
	}
	return 0;
}
