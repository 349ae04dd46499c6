// SPDX-License-Identifier: Apache-2.0

#include "cluster/hosts.h"

#include "base/hash.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>

/** How many pieces @separator cuts @text into. */
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
	size_t size = rest.len, pieces = count_pieces(rest, separator);
	if (pieces > HOSTS_MAX || size > UINT32_MAX / 2) {
		return err_set(err, E2BIG, "%s lists more than %u hosts", what, HOSTS_MAX);
	}
	struct span *spans = arena_array(arena, pieces, sizeof(*spans));
	uint32_t n = 0;
	while (str_cut(&rest, separator, &name)) {
		if (name.len > 2 && name.p[0] == '[' && name.p[name.len - 1] == ']') {
			name = (struct str){name.p + 1, name.len - 2};
		}
		if (name.len) {
			spans[n++] = (struct span){(uint32_t)(name.p - text), (uint32_t)name.len};
		}
	}
	*empty = (uint32_t)pieces - n;
	*out = (struct hosts){.text = text, .spans = spans, .n = n, .size = (uint32_t)size};
	return 0;
}

void hosts_single(struct arena *arena, struct str name, struct hosts *out) {
	*out = (struct hosts){.text = name.p,
			      .spans = arena_alloc(arena, sizeof(struct span)),
			      .n = 1,
			      .size = (uint32_t)name.len};
	out->spans[0] = (struct span){0, (uint32_t)name.len};
}

uint32_t hosts_find(const struct hosts *hosts, struct str name) {
	uint32_t i = 0;
	// Names of one cluster differ in their last bytes most.
	for (; i < hosts->n; i++) {
		struct str host = hosts_at(hosts, i);
		if (host.len == name.len && host.p[host.len - 1] == name.p[name.len - 1] &&
		    str_eq(host, name)) {
			break;
		}
	}
	return i;
}

static struct str short_name(struct str name) {
	return (struct str){name.p, str_find(name, '.')};
}

static bool same_short_name(struct str a, struct str b) {
	a = short_name(a);
	b = short_name(b);
	return a.len == b.len && strncasecmp(a.p, b.p, a.len) == 0;
}

/** Whether @name is an address, such as "10.0.0.1" or "::1". An address has no short name. */
static bool is_address(struct str name) {
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
	if (found < hosts->n || name.len == 0 || is_address(name)) {
		return found;
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (same_short_name(hosts_at(hosts, i), name)) {
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

static bool bytes_are_fine(struct str name) {
	size_t i = 0;
	while (i < name.len && is_host_byte((unsigned char)name.p[i])) {
		i++;
	}
	return i == name.len;
}

/** Whether @name has no ':', or is an IPv6 address, perhaps with a zone: "fe80::1%eth0". */
static bool colon_is_fine(struct str name) {
	char text[INET6_ADDRSTRLEN] = "";
	unsigned char address[16];
	size_t len = str_find(name, '%');
	if (str_find(name, ':') == name.len) {
		return true;
	}
	memcpy(text, name.p, len < sizeof(text) ? len : 0);
	return inet_pton(AF_INET6, text, address) == 1;
}

bool host_name_is_fine(struct str name) {
	return name.len && name.len <= HOST_NAME_BYTES && bytes_are_fine(name) && colon_is_fine(name);
}

int host_name_refuse(struct str name, const char *what, struct err *err) {
	if (name.len > HOST_NAME_BYTES) {
		return err_set(err, EINVAL, "%s: the host name %s has %zu bytes; the longest possible has %d",
			       what, quote(name).s, name.len, HOST_NAME_BYTES);
	}
	if (name.len && bytes_are_fine(name)) {
		return err_set(err, EINVAL,
			       "%s: the host name %s contains ':' but is not an IPv6 address; "
			       "give slots with --hostfile, a port with --master-port",
			       what, quote(name).s);
	}
	size_t i = 0;
	while (i + 1 < name.len && is_host_byte((unsigned char)name.p[i])) {
		i++;
	}
	return err_set(err, EINVAL,
		       "%s: the host name %s has %s in it; letters, digits and . - _ : %% are expected", what,
		       quote(name).s, quote((struct str){name.p + i, 1}).s);
}

static int check_names(struct hosts *hosts, const char *what, struct err *err) {
	hosts->ipv6 = memchr(hosts->text, ':', hosts->size);
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		if (name.len > HOST_NAME_BYTES || !bytes_are_fine(name) ||
		    (hosts->ipv6 && !colon_is_fine(name))) {
			return host_name_refuse(name, what, err);
		}
	}
	return 0;
}

/** Whether @a comes before @b: by first letter, then length, then bytes. */
static bool comes_before(struct str a, struct str b) {
	if (a.p[0] != b.p[0]) {
		return a.p[0] < b.p[0];
	}
	return a.len == b.len ? memcmp(a.p, b.p, a.len) < 0 : a.len < b.len;
}

/**
 * Whether the names are in order, as in "main1, sub1, sub2, ..., sub10". Then no name is there twice.
 * Most lists are so.
 */
static bool names_ascend(const struct hosts *hosts) {
	for (uint32_t i = 1; i < hosts->n; i++) {
		if (!comes_before(hosts_at(hosts, i - 1), hosts_at(hosts, i))) {
			return false;
		}
	}
	return true;
}

/** A slot holds the index of a name + 1, and in the bits above it a part of its hash. */
#define SLOT_INDEX ((uint32_t)HOSTS_MAX * 2 - 1)

/** Find a name that is listed twice, in one pass over a table of what was seen. */
static int check_doubles(const struct hosts *hosts, struct arena *arena, const char *what, struct err *err) {
	uint32_t slots = 8;
	while (slots < hosts->n * 2) {
		slots *= 2;
	}
	uint32_t *seen = arena_array(arena, slots, sizeof(*seen));
	memset(seen, 0, slots * sizeof(*seen));
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		uint64_t hash = hash_text(name);
		uint32_t tag = (uint32_t)hash & ~SLOT_INDEX;
		uint32_t slot = (uint32_t)(hash >> 32) & (slots - 1);
		for (; seen[slot]; slot = (slot + 1) & (slots - 1)) {
			uint32_t other = (seen[slot] & SLOT_INDEX) - 1;
			if ((seen[slot] & ~SLOT_INDEX) == tag && str_eq(hosts_at(hosts, other), name)) {
				return err_set(err, EINVAL, "%s lists the host %s twice, as number %u and %u",
					       what, quote(name).s, other + 1, i + 1);
			}
		}
		seen[slot] = tag | (i + 1);
	}
	return 0;
}

int hosts_check(struct hosts *hosts, struct arena *arena, const char *what, struct err *err) {
	if (hosts->n == 0) {
		return err_set(err, EINVAL, "%s lists no host", what);
	}
	int r = check_names(hosts, what, err);
	return r < 0 || names_ascend(hosts) ? r : check_doubles(hosts, arena, what, err);
}
