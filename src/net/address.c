// SPDX-License-Identifier: Apache-2.0

#include "net/lookup.h"

#include <arpa/inet.h>

void address_text(const struct address *address, char text[ADDRESS_TEXT]) {
	bool v6 = address->any.sa_family == AF_INET6;
	inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr,
		  text, ADDRESS_TEXT);
}
