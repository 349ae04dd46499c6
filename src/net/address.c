// SPDX-License-Identifier: Apache-2.0

#include "net/lookup.h"

#include <arpa/inet.h>

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
