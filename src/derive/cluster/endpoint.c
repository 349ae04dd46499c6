// SPDX-License-Identifier: Apache-2.0

#include "cluster/endpoint.h"

#include "base/num.h"
#include "cluster/hosts.h"

#include <errno.h>

void endpoint_split(struct str text, struct str *host, struct str *rest) {
	size_t colon = str_find(text, ':');
	*host = text;
	*rest = STR("");
	if (text.len && text.p[0] == '[') {
		size_t close = str_find(text, ']');
		// Without the closing bracket there is no name.
		*host = close < text.len ? (struct str){text.p + 1, close - 1} : STR("");
		*rest = str_from(text, close < text.len ? close + 1 : close);
	} else if (colon < text.len && str_find(str_from(text, colon + 1), ':') == text.len - colon - 1) {
		host->len = colon;
		*rest = str_from(text, colon);
	}
}

int endpoint_read(const char *what, struct str text, struct str *host, uint16_t *port, struct err *err) {
	struct str name, rest;
	endpoint_split(text, &name, &rest);
	uint64_t number = 0;
	bool fine = name.len > 0;
	if (rest.len) {
		fine = fine && rest.p[0] == ':' && num_read(str_from(rest, 1), UINT16_MAX, &number) == 0 &&
		       number;
	}
	if (!fine) {
		return err_set(err, EINVAL, "%s: %s is not a host with a port, such as n1:2222", what,
			       quote_value(what, text).s);
	}
	*host = name;
	if (port) {
		*port = (uint16_t)number;
	}
	return 0;
}

void endpoint_put(struct buf *out, struct str host, uint32_t port) {
	bool ipv6 = str_find(host, ':') < host.len && host_name_is_fine(host);
	if (ipv6) {
		buf_putc(out, '[');
	}
	buf_put(out, host);
	if (ipv6) {
		buf_putc(out, ']');
	}
	if (port) {
		buf_putc(out, ':');
		buf_putu(out, port);
	}
}

const char *endpoint_text(struct arena *arena, const char *host, uint32_t port) {
	struct buf out = BUF(arena);
	endpoint_put(&out, str_of(host), port);
	return buf_text(&out);
}
