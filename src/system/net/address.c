// SPDX-License-Identifier: Apache-2.0

#include "net/address.h"

#include <arpa/inet.h>

bool address_take(struct address *out, const struct sockaddr *from) {
	const bool v4 = from->sa_family == AF_INET;
	if (!v4 && from->sa_family != AF_INET6) {
		return false;
	}
	*out = (struct address){.len = v4 ? sizeof(out->v4) : sizeof(out->v6)};
	memcpy(&out->any, from, out->len);
	return true;
}

bool address_read(struct str text, struct address *out) {
	char copy[ADDRESS_TEXT] = "";
	if (text.len >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.p, text.len);
	*out = (struct address){.v6 = {.sin6_family = AF_INET6}, .len = sizeof(out->v6)};
	if (inet_pton(AF_INET6, copy, &out->v6.sin6_addr) == 1) {
		return true;
	}
	*out = (struct address){.v4 = {.sin_family = AF_INET}, .len = sizeof(out->v4)};
	return inet_pton(AF_INET, copy, &out->v4.sin_addr) == 1;
}

void address_text(const struct address *address, char text[ADDRESS_TEXT]) {
	bool v6 = address->any.sa_family == AF_INET6;
	inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr,
		  text, ADDRESS_TEXT);
}

struct str address_bytes(const struct address *address) {
	const struct in6_addr *v6 = &address->v6.sin6_addr;
	const struct in_addr *v4 = &address->v4.sin_addr;
	return address->any.sa_family == AF_INET6 ? (struct str){(const char *)v6, sizeof(*v6)}
						  : (struct str){(const char *)v4, sizeof(*v4)};
}

bool address_same(const struct address *a, const struct address *b) {
	return str_eq(address_bytes(a), address_bytes(b));
}

void address_set_port(struct address *address, uint16_t port) {
	if (address->any.sa_family == AF_INET6) {
		address->v6.sin6_port = htons(port);
	} else {
		address->v4.sin_port = htons(port);
	}
}

bool address_is_itself(struct str bytes) {
	const unsigned char *p = (const unsigned char *)bytes.p;
	size_t zeros = 0;
	while (zeros < bytes.len && !p[zeros]) {
		zeros++;
	}
	if (bytes.len == sizeof(struct in_addr)) {
		return p[0] == IN_LOOPBACKNET || zeros == bytes.len;
	}
	// ::ffff:127.0.0.1 is an IPv4 address.
	if (zeros == 10 && p[10] == 0xff && p[11] == 0xff) {
		return address_is_itself(str_from(bytes, 12));
	}
	return zeros == bytes.len || (zeros == bytes.len - 1 && p[zeros] == 1);
}
