// SPDX-License-Identifier: Apache-2.0

/** Which of these hosts is this machine? Asked only where no manager says it. */

#include "cluster/cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <unistd.h>

const char *input_hostname(struct input *in) {
	if (!in->hostname) {
		char name[HOST_NAME_BYTES + 2] = "";
		gethostname(name, sizeof(name) - 1);
		in->hostname = arena_text(in->arena, name, strlen(name));
	}
	return in->hostname;
}

/** An address of either family, or none. */
struct address {
	int family;
	unsigned char bytes[16];
};

static bool read_address(struct str text, struct address *out) {
	char copy[INET6_ADDRSTRLEN];
	if (text.len >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	memset(out, 0, sizeof(*out));
	out->family = strchr(copy, ':') ? AF_INET6 : AF_INET;
	return inet_pton(out->family, copy, out->bytes) == 1;
}

static bool is_ours(const struct address *address, const struct ifaddrs *list) {
	// All of 127.0.0.0/8 leads here.
	if (address->family == AF_INET && address->bytes[0] == 127) {
		return true;
	}
	for (; list; list = list->ifa_next) {
		const void *bytes = NULL;
		size_t len = 0;
		if (!list->ifa_addr || list->ifa_addr->sa_family != address->family) {
			continue;
		}
		if (address->family == AF_INET) {
			bytes = &((const struct sockaddr_in *)(const void *)list->ifa_addr)->sin_addr;
			len = 4;
		} else {
			bytes = &((const struct sockaddr_in6 *)(const void *)list->ifa_addr)->sin6_addr;
			len = 16;
		}
		if (memcmp(bytes, address->bytes, len) == 0) {
			return true;
		}
	}
	return false;
}

int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err) {
	uint32_t found = hosts_find_loosely(hosts, str_of(input_hostname(in)));
	if (found < hosts->n) {
		*index = found;
		return 1;
	}
	struct ifaddrs *list = NULL;
	if (getifaddrs(&list) < 0) {
		return 0;
	}
	int r = 0;
	for (uint32_t i = 0; i < hosts->n && r >= 0; i++) {
		struct address address;
		if (!read_address(hosts_at(hosts, i), &address) || !is_ours(&address, list)) {
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
	freeifaddrs(list);
	if (r == 1) {
		*index = found;
	}
	return r;
}
