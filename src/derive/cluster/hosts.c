// SPDX-License-Identifier: Apache-2.0

#include "cluster/hosts.h"

#include "base/table.h"
#include "net/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <strings.h>

/** The number of pieces into which @separator cuts @text. */
static size_t count_pieces(struct str text, char separator) {
	size_t n = 1;
	for (size_t i = 0; i < text.len; i++) {
		n += text.p[i] == separator;
	}
	return n;
}

int hosts_split(struct arena *arena, const char *what, const char *text, char separator, struct hosts *out,
		uint32_t *empty, struct err *err) {
	struct str rest = str_of(text), name;
	size_t pieces = count_pieces(rest, separator);
	if (pieces > HOSTS_MAX) {
		return err_set(err, E2BIG, "%s lists more than %u hosts", what, HOSTS_MAX);
	}
	*out = (struct hosts){.names = arena_array(arena, pieces, sizeof(struct str))};
	while (str_cut(&rest, separator, &name)) {
		if (name.len > 2 && name.p[0] == '[' && name.p[name.len - 1] == ']') {
			name = (struct str){name.p + 1, name.len - 2};
		}
		if (name.len) {
			out->names[out->n++] = name;
		}
	}
	if (empty) {
		*empty = (uint32_t)pieces - out->n;
	}
	return 0;
}

void hosts_single(struct arena *arena, struct str name, struct hosts *out) {
	*out = (struct hosts){.names = arena_alloc(arena, sizeof(struct str)), .n = 1};
	out->names[0] = name;
}

uint32_t hosts_find(const struct hosts *hosts, struct str name) {
	uint32_t i = 0;
	while (i < hosts->n && !str_eq(hosts_at(hosts, i), name)) {
		i++;
	}
	return i;
}

struct str host_label(struct str name) {
	return (struct str){name.p, str_find(name, '.')};
}

bool host_same_label(struct str a, struct str b) {
	a = host_label(a);
	b = host_label(b);
	return a.len == b.len && strncasecmp(a.p, b.p, a.len) == 0;
}

bool host_has_no_label(struct str name) {
	bool dotted = true;
	if (str_find(name, ':') < name.len) {
		return true;
	}
	for (size_t i = 0; i < name.len; i++) {
		dotted &= name.p[i] == '.' || (name.p[i] >= '0' && name.p[i] <= '9');
	}
	return dotted;
}

uint32_t hosts_find_loosely(const struct hosts *hosts, struct str name) {
	uint32_t found = hosts_find(hosts, name);
	if (found < hosts->n || name.len == 0 || host_has_no_label(name)) {
		return found;
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (host_same_label(hosts_at(hosts, i), name)) {
			if (found < hosts->n) {
				return hosts->n;
			}
			found = i;
		}
	}
	return found;
}

static bool is_host_byte(unsigned char c) {
	unsigned char lower = c | 0x20;
	return (c >= '0' && c <= ':') || (lower >= 'a' && lower <= 'z') || c == '-' || c == '.' || c == '_' ||
	       c == '%';
}

/** Whether @name has only bytes of host names. Other programs would read a '-' at its start as an option. */
static bool bytes_are_fine(struct str name) {
	size_t i = 0;
	if (name.len && name.p[0] == '-') {
		return false;
	}
	while (i < name.len && is_host_byte((unsigned char)name.p[i])) {
		i++;
	}
	return i == name.len;
}

/** Whether @name has no ':', or is an IPv6 address, perhaps with a zone: "fe80::1%eth0". */
static bool colon_is_fine(struct str name) {
	struct address unused;
	return str_find(name, ':') == name.len ||
	       address_read((struct str){name.p, str_find(name, '%')}, &unused);
}

bool host_name_is_fine(struct str name) {
	return name.len && name.len <= HOST_NAME_BYTES && bytes_are_fine(name) && colon_is_fine(name);
}

int host_name_refuse(struct str name, const char *what, struct err *err) {
	if (name.len > HOST_NAME_BYTES) {
		return err_set(err, EINVAL, "%s: the host name %s has %zu bytes; the longest possible has %d",
			       what, quote_value(what, name).s, name.len, HOST_NAME_BYTES);
	}
	if (name.len && bytes_are_fine(name)) {
		return err_set(err, EINVAL,
			       "%s: the host name %s contains ':' but is not an IPv6 address; "
			       "give slots with --hostfile, a port with --master-port",
			       what, quote_value(what, name).s);
	}
	if (name.len && name.p[0] == '-') {
		return err_set(err, EINVAL,
			       "%s: the host name %s begins with '-', "
			       "which other programs read as an option; "
			       "host names begin with a letter or a digit",
			       what, quote(name).s);
	}
	size_t i = 0;
	while (i + 1 < name.len && is_host_byte((unsigned char)name.p[i])) {
		i++;
	}
	return err_set(err, EINVAL,
		       "%s: the host name %s has %s in it; letters, digits and . - _ : %% are expected", what,
		       quote_value(what, name).s, quote((struct str){name.p + i, 1}).s);
}

struct str host_name_fold(struct arena *arena, struct str name) {
	size_t i = 0;
	while (i < name.len && !isupper((unsigned char)name.p[i])) {
		i++;
	}
	if (i == name.len) {
		return name;
	}
	char *low = arena_text(arena, name.p, name.len);
	for (; i < name.len; i++) {
		low[i] = (char)tolower((unsigned char)name.p[i]);
	}
	return (struct str){low, name.len};
}

/** Refuse a name that is listed twice. */
static int check_doubles(const struct hosts *hosts, struct arena *arena, const char *what, struct err *err) {
	struct table seen;
	table_init(&seen, arena, hosts->n);
	for (uint32_t i = 0; i < hosts->n; i++) {
		uint32_t *number = table_put(&seen, host_name_fold(arena, hosts_at(hosts, i)));
		if (*number && str_eq(hosts_at(hosts, *number - 1), hosts_at(hosts, i))) {
			return err_set(err, EINVAL, "%s lists the host %s twice, as number %u and %u", what,
				       quote(hosts_at(hosts, i)).s, *number, i + 1);
		}
		if (*number) {
			return err_set(err, EINVAL, "%s lists the host %s twice, as number %u, %s, and %u",
				       what, quote(hosts_at(hosts, i)).s, *number,
				       quote(hosts_at(hosts, *number - 1)).s, i + 1);
		}
		*number = i + 1;
	}
	return 0;
}

int hosts_check(const struct hosts *hosts, struct arena *arena, const char *what, struct err *err) {
	if (hosts->n == 0) {
		return err_set(err, EINVAL, "%s lists no host", what);
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		if (!host_name_is_fine(name)) {
			return host_name_refuse(name, what, err);
		}
	}
	return check_doubles(hosts, arena, what, err);
}

int host_read(struct arena *arena, const char *from, const char *value, const char **out, struct err *err) {
	struct hosts host = {0};
	int r = hosts_split(arena, from, value, ',', &host, NULL, err);
	r = r < 0 ? r : hosts_check(&host, arena, from, err);
	if (r < 0) {
		return r;
	}
	if (host.n != 1) {
		return err_set(err, EINVAL, "%s=%s: one host is expected", from, quote_text(value).s);
	}
	struct str bare = hosts_at(&host, 0);
	*out = arena_text(arena, bare.p, bare.len);
	return 0;
}

/** Whether @name is a usual name of the loopback in /etc/hosts, or ends with .localhost (RFC 6761). */
static bool is_localhost(struct str name) {
	static const char *const labels[] = {"localhost",     "localhost4",   "localhost6",
					     "ip6-localhost", "ip6-loopback", "ipv6-localhost",
					     "ipv6-loopback"};
	const struct str tail = STR(".localhost");
	name.len -= name.len && name.p[name.len - 1] == '.';
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (host_same_label(name, str_of(labels[i]))) {
			return true;
		}
	}
	return name.len > tail.len && strncasecmp(name.p + name.len - tail.len, tail.p, tail.len) == 0;
}

bool host_is_itself(struct str host) {
	char text[ADDRESS_TEXT] = "";
	struct in_addr v4;
	struct address address;
	struct str bare = {host.p, str_find(host, '%')}; // fe80::1%eth0
	if (address_read(bare, &address)) {
		return address_is_itself(address_bytes(&address));
	}
	// As resolvers read it: 127.1, 0x7f000001.
	memcpy(text, bare.p, bare.len < sizeof(text) ? bare.len : 0);
	if (text[0] && inet_aton(text, &v4)) {
		return address_is_itself((struct str){(const char *)&v4, sizeof(v4)});
	}
	return is_localhost(host);
}
