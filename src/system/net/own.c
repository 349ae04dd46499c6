// SPDX-License-Identifier: Apache-2.0

#include "net/own.h"

#include <sys/socket.h>
#include <unistd.h>

/** One unbound socket per address family; -1: not open. */
struct probes {
	int v4, v6;
};

/**
 * Whether @text is an address of this machine. If bind() fails, its socket is used again for the next text.
 */
static bool is_own_address(struct str text, struct probes *probes) {
	struct address address;
	if (!address_read(text, &address)) {
		return false;
	}
	int *fd = address.any.sa_family == AF_INET6 ? &probes->v6 : &probes->v4;
	if (*fd < 0) {
		*fd = socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	bool own = *fd >= 0 && bind(*fd, &address.any, address.len) == 0;
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

uint32_t own_addresses(const struct str *hosts, uint32_t n, uint32_t found[2]) {
	struct probes probes = {-1, -1};
	uint32_t n_found = 0;
	for (uint32_t i = 0; i < n && n_found < 2; i++) {
		if (is_own_address(hosts[i], &probes)) {
			found[n_found++] = i;
		}
	}
	close_probe(probes.v4);
	close_probe(probes.v6);
	return n_found;
}

bool own_address(const struct address *address) {
	int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct address any_port = *address;
	address_set_port(&any_port, 0);
	bool own = fd >= 0 && bind(fd, &any_port.any, any_port.len) == 0;
	close_probe(fd);
	return own;
}
