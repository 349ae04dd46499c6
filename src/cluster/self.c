// SPDX-License-Identifier: Apache-2.0

/** Which of these hosts is this machine? Asked only where no manager says it. */

#include "cluster/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct own_name input_own_name(const struct input *in) {
	struct own_name name = {""};
	if (!in->hostname) {
		gethostname(name.s, sizeof(name.s) - 1);
		return name;
	}
	size_t len = strlen(in->hostname);
	memcpy(name.s, in->hostname, len < sizeof(name.s) ? len : sizeof(name.s) - 1);
	return name;
}

const char *input_hostname(struct input *in) {
	if (!in->hostname) {
		struct own_name name = input_own_name(in);
		in->hostname = arena_text(in->arena, name.s, strlen(name.s));
	}
	return in->hostname;
}

/** Sockets that are bound to nothing yet, one for each family; -1: there is none. */
struct probes {
	int v4, v6;
};

/**
 * Whether @text is an address of this machine: the kernel lets a socket be bound to those alone. Nothing is sent. A socket that could not
 * be bound serves for the next address: of thousands, all but one are others'.
 */
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

int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err) {
	uint32_t found = hosts_find_loosely(hosts, str_of(input_hostname(in)));
	if (found < hosts->n) {
		*index = found;
		return 1;
	}
	struct probes probes = {-1, -1};
	int r = 0;
	for (uint32_t i = 0; i < hosts->n && r >= 0; i++) {
		if (!is_own_address(hosts_at(hosts, i), &probes)) {
			continue;
		}
		if (r == 1) {
			r = err_set(
				err, EINVAL,
				"both %s and %s are addresses of this machine; pass --node-rank=N (0 to %u)",
				quote(hosts_at(hosts, found)).s, quote(hosts_at(hosts, i)).s, hosts->n - 1);
		} else {
			found = i;
			r = 1;
		}
	}
	close_probe(probes.v4);
	close_probe(probes.v6);
	if (r == 1) {
		*index = found;
	}
	return r;
}

int self_told(struct input *in, const char *list, struct placement *out, struct err *err) {
	if (in->node_rank.value) {
		out->node_rank_from = in->node_rank.from;
		return parse_u32(in->node_rank.from, in->node_rank.value, &out->node_rank, err);
	}
	// A launcher's word for this host comes first: it is by that name that it went there.
	out->node_rank = out->hosts.n <= 1 ? 0 : hosts_find_loosely(&out->hosts, in->task.host);
	if (out->hosts.n <= 1 || out->node_rank < out->hosts.n) {
		return 0;
	}
	int r = self_find(in, &out->hosts, &out->node_rank, err);
	if (r == 0) {
		// A name that is none is the better reason.
		r = hosts_check(&out->hosts, in->arena, out->hosts_from, err);
		if (r < 0) {
			return r;
		}
		return err_set(err, EINVAL,
			       "%s=%s: this machine, %s, is not in the list; pass --node-rank=N (0 to %u)",
			       out->hosts_from, quote(str_of(list)).s, quote(str_of(input_hostname(in))).s,
			       out->hosts.n - 1);
	}
	return r < 0 ? r : 0;
}
