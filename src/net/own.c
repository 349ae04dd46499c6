// SPDX-License-Identifier: Apache-2.0

#include "net/own.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/** One unbound socket per address family; -1: not open. */
struct probes {
	int v4, v6;
};

/** Whether @text is an address of this machine. A socket whose bind() failed serves for the next one. */
static bool is_own_address(struct str text, struct probes *probes) {
	char copy[INET6_ADDRSTRLEN];
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	if (text.len >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	bool is_v6 = inet_pton(AF_INET6, copy, &v6.sin6_addr) == 1;
	if (!is_v6 && inet_pton(AF_INET, copy, &v4.sin_addr) != 1) {
		return false;
	}
	int *fd = is_v6 ? &probes->v6 : &probes->v4;
	if (*fd < 0) {
		*fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	const void *address = is_v6 ? (const void *)&v6 : (const void *)&v4;
	bool own = *fd >= 0 && bind(*fd, address, is_v6 ? sizeof(v6) : sizeof(v4)) == 0;
	if (own) {
		close(*fd);
		*fd = -1;
	}
	return own;
}

static void close_probe(int fd) {
	if (fd >= 0) {
		close(fd);
	}
}

uint32_t own_addresses(const struct hosts *hosts, uint32_t found[2]) {
	struct probes probes = {-1, -1};
	uint32_t n = 0;
	for (uint32_t i = 0; i < hosts->n && n < 2; i++) {
		if (is_own_address(hosts_at(hosts, i), &probes)) {
			found[n++] = i;
		}
	}
	close_probe(probes.v4);
	close_probe(probes.v6);
	return n;
}

bool own_address(const struct address *address) {
	int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct address any_port = *address;
	address_set_port(&any_port, 0);
	bool own = fd >= 0 && bind(fd, &any_port.any, any_port.len) == 0;
	close_probe(fd);
	return own;
}
