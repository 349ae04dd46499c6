// SPDX-License-Identifier: Apache-2.0

#include "cluster/hosts.h"

#include <errno.h>
#include <strings.h>

static uint32_t count_pieces(const char *text, char separator, size_t *len) {
	uint32_t n = 1;
	const char *p = text;
	for (; *p; p++) {
		n += *p == separator;
	}
	*len = (size_t)(p - text);
	return n;
}

/** Take the brackets off "[::1]". */
static struct span bare(const char *text, struct span span) {
	if (span.len > 2 && text[span.at] == '[' && text[span.at + span.len - 1] == ']') {
		return (struct span){span.at + 1, span.len - 2};
	}
	return span;
}

int hosts_split(struct arena *arena, const char *what, const char *text, char separator, struct hosts *out,
		uint32_t *empty, struct err *err) {
	size_t len;
	uint32_t pieces = count_pieces(text, separator, &len);
	if (pieces > HOSTS_MAX || len > UINT32_MAX) {
		return err_set(err, E2BIG, "%s lists %u hosts; more than %u are refused", what, pieces,
			       HOSTS_MAX);
	}
	struct span *spans = arena_array(arena, pieces, sizeof(*spans));
	uint32_t n = 0;
	for (uint32_t at = 0, i = 0; i <= len; i++) {
		if (text[i] == separator || text[i] == '\0') {
			if (i > at) {
				spans[n++] = bare(text, (struct span){at, i - at});
			}
			at = i + 1;
		}
	}
	*empty = pieces - n;
	*out = (struct hosts){.text = text, .spans = spans, .n = n};
	return 0;
}

void hosts_single(struct arena *arena, struct str name, struct hosts *out) {
	*out = (struct hosts){.text = name.p, .spans = arena_alloc(arena, sizeof(struct span)), .n = 1};
	out->spans[0] = (struct span){0, (uint32_t)name.len};
}

uint32_t hosts_find(const struct hosts *hosts, struct str name) {
	uint32_t i = 0;
	while (i < hosts->n && !str_eq(hosts_at(hosts, i), name)) {
		i++;
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

uint32_t hosts_find_loosely(const struct hosts *hosts, struct str name) {
	uint32_t found = hosts_find(hosts, name);
	// "10.0.0.1" has no short name.
	if (found < hosts->n || name.len == 0 || (name.p[0] >= '0' && name.p[0] <= '9')) {
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
	bool fine = true;
	for (size_t i = 0; i < name.len; i++) {
		fine &= is_host_byte((unsigned char)name.p[i]);
	}
	return fine;
}

static int refuse_name(struct str name, const char *what, struct err *err) {
	if (name.len > HOST_NAME_BYTES) {
		return err_set(err, EINVAL, "%s: the host name %s has %zu bytes; the longest possible has %d",
			       what, quote(name).s, name.len, HOST_NAME_BYTES);
	}
	size_t i = 0;
	while (is_host_byte((unsigned char)name.p[i])) {
		i++;
	}
	return err_set(err, EINVAL,
		       "%s: the host name %s has %s in it; letters, digits and . - _ : %% are expected", what,
		       quote(name).s, quote((struct str){name.p + i, 1}).s);
}

static uint64_t load(const char *p, size_t n) {
	uint64_t word = 0;
	memcpy(&word, p, n);
	return word;
}

/** Names of one cluster are mostly alike but for their last digits: every byte counts, eight at a time. */
static uint32_t hash_name(struct str name) {
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t hash = name.len;
	const char *p = name.p;
	size_t left = name.len;
	for (; left >= 8; left -= 8, p += 8) {
		hash = (hash ^ load(p, 8)) * odd;
		hash ^= hash >> 29;
	}
	if (left >= 4) {
		hash = (hash ^ load(p, 4) << 32 ^ load(p + left - 4, 4)) * odd;
	} else if (left) {
		uint64_t first = (unsigned char)p[0], middle = (unsigned char)p[left / 2],
			 last = (unsigned char)p[left - 1];
		hash = (hash ^ first << 16 ^ middle << 8 ^ last) * odd;
	}
	return (uint32_t)(hash >> 32);
}

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
		uint32_t slot = hash_name(name) & (slots - 1);
		for (; seen[slot]; slot = (slot + 1) & (slots - 1)) {
			if (str_eq(hosts_at(hosts, seen[slot] - 1), name)) {
				return err_set(err, EINVAL, "%s lists the host %s twice, as number %u and %u",
					       what, quote(name).s, seen[slot], i + 1);
			}
		}
		seen[slot] = i + 1;
	}
	return 0;
}

int hosts_check(const struct hosts *hosts, struct arena *arena, const char *what, struct err *err) {
	if (hosts->n == 0) {
		return err_set(err, EINVAL, "%s lists no host", what);
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		if (name.len > HOST_NAME_BYTES || !bytes_are_fine(name)) {
			return refuse_name(name, what, err);
		}
	}
	return check_doubles(hosts, arena, what, err);
}
