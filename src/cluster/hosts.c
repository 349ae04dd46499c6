// SPDX-License-Identifier: Apache-2.0

#include "cluster/hosts.h"

#include "base/hash.h"
#include "base/word.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>

static uint32_t count_bytes(struct str text, char c) {
	uint32_t n = 0;
	for (; text.len >= 8; text = str_from(text, 8)) {
		n += word_count(word_bytes_equal(word_load(text.p, 8), c));
	}
	// The zeros that fill the word up are no separators.
	return n + word_count(word_bytes_equal(word_load(text.p, text.len), c));
}

/** Where the names are put that are cut off a text. */
struct cutter {
	const char *text;
	struct span *spans;
	uint32_t n;
	/** Where the present one began. */
	uint32_t from;
};

static inline void cut_at(struct cutter *cutter, uint32_t end) {
	struct span span = {cutter->from, end - cutter->from};
	cutter->from = end + 1;
	if (span.len == 0) {
		return;
	}
	const char *name = cutter->text + span.at;
	if (name[0] == '[' && span.len > 2 && name[span.len - 1] == ']') {
		span = (struct span){span.at + 1, span.len - 2};
	}
	cutter->spans[cutter->n++] = span;
}

/** Cut at each of @ends, the separators of the word at @at. */
static inline void cut_word(struct cutter *cutter, uint32_t at, uint64_t ends) {
	for (; ends; ends &= ends - 1) {
		cut_at(cutter, at + (uint32_t)__builtin_ctzll(ends) / 8);
	}
}

int hosts_split(struct arena *arena, const char *what, const char *text, char separator, struct hosts *out,
		uint32_t *empty, struct err *err) {
	struct str whole = str_of(text);
	uint32_t pieces = whole.len < UINT32_MAX / 2 ? count_bytes(whole, separator) + 1 : HOSTS_MAX + 1;
	if (pieces > HOSTS_MAX) {
		return err_set(err, E2BIG, "%s lists more than %u hosts", what, HOSTS_MAX);
	}
	struct cutter cutter = {.text = text, .spans = arena_array(arena, pieces, sizeof(struct span))};
	uint32_t size = (uint32_t)whole.len;
	uint32_t at = 0;
	for (; size - at >= 8; at += 8) {
		cut_word(&cutter, at, word_bytes_equal(word_load(text + at, 8), separator));
	}
	cut_word(&cutter, at, word_bytes_equal(word_load(text + at, size - at), separator));
	cut_at(&cutter, size);
	*empty = pieces - cutter.n;
	*out = (struct hosts){
		.text = text, .spans = cutter.spans, .n = cutter.n, .size = size, .separator = separator};
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

/** Whether @name is digits and dots alone, or has a ':': "10.0.0.1" and "::ffff:10.0.0.1" have no short name. */
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
	bool fine = true;
	for (size_t i = 0; i < name.len; i++) {
		fine &= is_host_byte((unsigned char)name.p[i]);
	}
	return fine;
}

/** Sixteen bytes; a comparison gives 0xff in each byte where it is true. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

static bool any_lane(bytes16 lanes) {
	uint64_t halves[2];
	memcpy(halves, &lanes, sizeof(halves));
	return halves[0] | halves[1];
}

/**
 * Whether all bytes of @text are fit for host names, or separators. A "no" may be due to brackets that were taken off. *@colon: one
 * is a ':'.
 */
static bool text_is_fine(struct str text, char separator, bool *colon) {
	bytes16 unfit = {0}, colons = {0};
	for (; text.len >= 16; text = str_from(text, 16)) {
		bytes16 c;
		memcpy(&c, text.p, 16);
		bytes16 lower = c | 0x20;
		colons |= (bytes16)(c == ':');
		unfit |= (bytes16) ~(((c >= '0') & (c <= ':')) | ((lower >= 'a') & (lower <= 'z')) |
				     (c == '-') | (c == '.') | (c == '_') | (c == '%') |
				     (c == (unsigned char)separator));
	}
	*colon = any_lane(colons);
	bool fine = !any_lane(unfit);
	for (size_t i = 0; i < text.len; i++) {
		*colon |= text.p[i] == ':';
		fine &= is_host_byte((unsigned char)text.p[i]) || text.p[i] == separator;
	}
	return fine;
}

/** Whether a ':' in @name, if there is one, is that of an IPv6 address, which may have a zone: "fe80::1%eth0". */
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
			       "%s: the host name %s has a ':' in it, but is no IPv6 address; "
			       "--hostfile tells slots, --master-port a port",
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
	bool fine = text_is_fine((struct str){hosts->text, hosts->size}, hosts->separator, &hosts->ipv6);
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		if (name.len > HOST_NAME_BYTES || (!fine && !bytes_are_fine(name)) ||
		    (hosts->ipv6 && !colon_is_fine(name))) {
			return host_name_refuse(name, what, err);
		}
	}
	return 0;
}

/** The bytes of a name that stands at the very end of its text. */
static __attribute__((noinline)) uint64_t load_short(struct str name) {
	return word_load(name.p, name.len);
}

/** The first eight bytes of a name, those of a shorter one in front of zeros, as a number that sorts as they do. */
static inline uint64_t first_word(const struct hosts *hosts, struct span span) {
	uint32_t n = span.len < 8 ? span.len : 8;
	// A load of constant size is one instruction; near the end of the text there is no room for it.
	uint64_t word = hosts->size - span.at >= 8 ? word_load(hosts->text + span.at, 8)
						   : load_short((struct str){hosts->text + span.at, n});
	uint32_t spare = 64 - 8 * n;
	return __builtin_bswap64(word) >> spare << spare;
}

/**
 * Whether each name stands behind its predecessor, in order of first letter, then length, then bytes: as "main1, sub1, sub2, ...,
 * sub10" do. There can be no doubles then, and most lists are like that.
 */
static bool names_ascend(const struct hosts *list) {
	const struct hosts hosts = *list;
	struct span a = hosts.spans[0];
	uint64_t before = first_word(&hosts, a);
	for (uint32_t i = 1; i < hosts.n; i++) {
		struct span b = hosts.spans[i];
		uint64_t word = first_word(&hosts, b);
		bool ascends = before < word;
		if (a.len != b.len && before >> 56 == word >> 56) {
			ascends = a.len < b.len;
		} else if (before == word && a.len > 8) {
			ascends = memcmp(hosts.text + a.at, hosts.text + b.at, a.len) < 0;
		}
		if (!ascends) {
			return false;
		}
		before = word;
		a = b;
	}
	return true;
}

/** A slot holds the index of a name + 1, and above that as much of its hash as there is room for. */
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
