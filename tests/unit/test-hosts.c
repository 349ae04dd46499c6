// SPDX-License-Identifier: Apache-2.0

#include "cluster/hosts.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** Split at commas; text that came from elsewhere would do as well, as it is in the tests below. */
static struct hosts hosts_of(const char *text) {
	struct hosts hosts = {0};
	uint32_t empty;
	struct err err;
	check(hosts_split(&arena, "HOSTS", text, ',', &hosts, &empty, &err) == 0);
	return hosts;
}

static const char *joined(const struct hosts *hosts) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < hosts->n; i++) {
		buf_putc(&buf, '<');
		buf_put(&buf, hosts_at(hosts, i));
		buf_putc(&buf, '>');
	}
	return buf_text(&buf);
}

static void check_split(const char *text, char separator, const char *want, uint32_t want_empty) {
	struct hosts hosts = {0};
	uint32_t empty = 99;
	struct err err;
	int r = hosts_split(&arena, "HOSTS", text, separator, &hosts, &empty, &err);
	checkf(r == 0 && empty == want_empty, "split '%s': %d, %u empty", text, r, empty);
	check_text(joined(&hosts), want, "split '%s'", text);
}

static void check_find(const char *list, const char *name, uint32_t want, uint32_t want_loosely) {
	struct hosts hosts = hosts_of(list);
	uint32_t got = hosts_find(&hosts, str_of(name));
	uint32_t loosely = hosts_find_loosely(&hosts, str_of(name));
	checkf(got == want && loosely == want_loosely, "find '%s' in '%s': %u, loosely %u", name, list, got,
	       loosely);
}

/** hosts_check() of @text; @want: a part of its message, or NULL where there is nothing to say. */
static void check_check(const char *text, const char *want) {
	struct hosts hosts = hosts_of(text);
	struct err err = {"untouched"};
	int r = hosts_check(&hosts, &arena, "HOSTS", &err);
	checkf(r == (want ? -EINVAL : 0), "check '%.60s': %d", text, r);
	check_part(err.text, want ? want : "untouched", "check '%.60s' says", text);
}

/** A list of @n names, of which number @at is called @name. */
static const char *many(uint32_t n, uint32_t at, const char *name) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < n; i++) {
		buf_putf(&buf, "%s", i ? "," : "");
		if (i == at) {
			buf_puts(&buf, name);
		} else {
			buf_putf(&buf, "n%u", i);
		}
	}
	return buf_text(&buf);
}

/** As many separators as @n pieces have. */
static char *separators(size_t n) {
	char *text = arena_alloc(&arena, n);
	memset(text, ',', n - 1);
	text[n - 1] = '\0';
	return text;
}

static void check_limit(void) {
	struct hosts hosts = {.n = 7};
	uint32_t empty = 7;
	struct err err;
	check(hosts_split(&arena, "HOSTS", separators(HOSTS_MAX + 1), ',', &hosts, &empty, &err) == -E2BIG);
	check(hosts.n == 7 && empty == 7);
	check_text(err.text, "HOSTS lists more than 1048576 hosts", "split of too many says");
	check(hosts_split(&arena, "HOSTS", separators(HOSTS_MAX), ',', &hosts, &empty, &err) == 0);
	check(hosts.n == 0 && empty == HOSTS_MAX);
}

/**
 * Every byte that is or is not allowed in a name. A ':' is allowed only in an address, and "a:b" is
 * not an address.
 */
static void check_bytes(void) {
	for (unsigned c = 1; c < 256; c++) {
		char name[] = {'a', (char)c, 'b', '\0'};
		struct hosts hosts;
		struct err err;
		hosts_single(&arena, str_of(name), &hosts);
		bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    strchr(".-_%", (int)c);
		checkf((hosts_check(&hosts, &arena, "HOSTS", &err) == 0) == fine, "byte %u in a name is %s",
		       c, fine ? "fine" : "refused");
	}
}

/** What hosts_split() does, a byte at a time. Returns the names, each in "<>". */
static const char *split_slowly(const char *text, char separator, uint32_t *empty) {
	struct buf buf = BUF(&arena);
	*empty = 0;
	const char *from = text;
	for (const char *p = text;; p++) {
		if (*p && *p != separator) {
			continue;
		}
		bool bracket = p - from > 2 && from[0] == '[' && p[-1] == ']';
		*empty += p == from;
		if (p > from) {
			buf_putf(&buf, "<%.*s>", (int)(p - from) - 2 * bracket, from + bracket);
		}
		from = p + 1;
		if (!*p) {
			return buf_text(&buf);
		}
	}
}

/** Lists of @bytes, of every length, at every alignment. */
static void check_splits(const char *bytes, char separator) {
	uint64_t random = 7;
	unsigned wrong = 0;
	uint32_t kinds = (uint32_t)strlen(bytes);
	for (unsigned i = 0; i < 4000; i++) {
		char text[64];
		size_t len = i % 50;
		for (size_t k = 0; k < len; k++) {
			text[k] = bytes[fixture_random(&random, kinds)];
		}
		// A text of its own size, so that a sanitizer sees who reads beyond it.
		const char *exact = arena_text(&arena, text, len);
		struct hosts hosts = {0};
		uint32_t empty = 0, want_empty = 0;
		struct err err;
		const char *want = split_slowly(exact, separator, &want_empty);
		bool same = hosts_split(&arena, "HOSTS", exact, separator, &hosts, &empty, &err) == 0 &&
			    empty == want_empty && strcmp(joined(&hosts), want) == 0;
		if (!same) {
			wrong++;
			printf("# '%s' became %s\n", exact, joined(&hosts));
		}
	}
	checkf(wrong == 0, "4000 texts of '%s' are split as a slow one does (%u are not)", bytes, wrong);
}

/** A ':' makes a name an address of IPv6, and nothing else. */
static void check_colons(void) {
#define NO_ADDRESS "contains ':' but is not an IPv6 address; give slots with --hostfile"
	check_check("::1", NULL);
	check_check("fe80::1%eth0,fe80::1%eth1", NULL);
	check_check("fd00::1,n2,::ffff:10.0.0.1", NULL);
	check_check("0123:4567:89ab:cdef:0123:4567:255.255.255.255", NULL);
	check_check("n1,n2:8", "HOSTS: the host name 'n2:8' " NO_ADDRESS ", a port with --master-port");
	check_check("10.0.0.1:8", NO_ADDRESS);
	check_check("fd00::1::2", NO_ADDRESS);
	check_check("1:2:3:4:5:6:7:8:9", NO_ADDRESS);
	check_check(":", NO_ADDRESS);
	check_check("%eth0:1", NO_ADDRESS);
	check_check("0123:4567:89ab:cdef:0123:4567:255.255.255.2555", NO_ADDRESS);
	check_check("0123:4567:89ab:cdef:0123:4567:89ab:cdef:0123:4567:89ab:cdef", NO_ADDRESS);
	check_check("a-rather-long-name-of-a-host-that-is-beyond-any-address:8", NO_ADDRESS);
}

/**
 * Whether hosts_check() must accept @hosts, found in a slow and simple way. They contain no IPv6
 * addresses.
 */
static bool passes(const struct hosts *hosts) {
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str name = hosts_at(hosts, i);
		if (name.p[0] == '-') {
			return false;
		}
		for (size_t k = 0; k < name.len; k++) {
			if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_%",
				    name.p[k])) {
				return false;
			}
		}
		for (uint32_t k = 0; k < i; k++) {
			if (str_eq(hosts_at(hosts, k), name)) {
				return false;
			}
		}
	}
	return hosts->n > 0;
}

/** One name; with @ascending, such as comes behind that of @i - 1 in most lists. */
static void put_name(struct buf *buf, uint64_t *random, uint32_t i, bool ascending) {
	static const char *const prefixes[] = {"n", "main", "a-long-prefix-of-a-name-", "gpu.rack-1.", ""};
	if (ascending) {
		buf_putf(buf, "%s%u", prefixes[(i & 1) + 1], i / 2);
	} else {
		buf_puts(buf, prefixes[fixture_random(random, 5)]);
		for (uint32_t k = 1 + fixture_random(random, 3); k; k--) {
			buf_putc(buf, (char)('a' + fixture_random(random, 4)));
		}
	}
}

/**
 * Lists with and without duplicates and unusual bytes, sorted and unsorted: each gets the right
 * result.
 */
static void check_judgements(void) {
	uint64_t random = 11;
	unsigned wrong = 0, fine = 0;
	for (unsigned i = 0; i < 4000; i++) {
		struct buf text = BUF(&arena);
		uint32_t n = 1 + fixture_random(&random, i % 10 == 0 ? 120 : 12);
		for (uint32_t k = 0; k < n; k++) {
			if (k) {
				buf_putc(&text, ',');
			}
			put_name(&text, &random, 2 * k, i % 2);
		}
		buf_text(&text);
		if (i % 7 == 0) {
			text.p[fixture_random(&random, (uint32_t)text.len)] =
				";[ \xff:,n"[fixture_random(&random, 7)];
		}
		struct hosts hosts = {0};
		uint32_t empty;
		struct err err;
		bool split = hosts_split(&arena, "HOSTS", arena_text(&arena, text.p, text.len), ',', &hosts,
					 &empty, &err) == 0;
		bool want = passes(&hosts);
		fine += want;
		if (!split || (hosts_check(&hosts, &arena, "HOSTS", &err) == 0) != want) {
			wrong++;
			printf("# %s '%s'\n", want ? "refused" : "passed", text.p);
		}
		arena_done(&arena);
	}
	checkf(wrong == 0 && fine > 1000 && fine < 3500, "of 4000 lists %u are fine; %u are misjudged", fine,
	       wrong);
}

static void check_itself(void) {
	static const char *const itself[] = {
		"localhost",
		"LOCALHOST",
		"localhost.",
		"localhost.localdomain",
		"a.localhost",
		"a.Localhost.",
		"localhost4",
		"localhost6",
		"localhost4.localdomain4",
		"ip6-localhost",
		"ip6-loopback",
		"127.0.0.1",
		"127.0.1.1",
		"127.1",
		"0.0.0.0",
		"0",
		"0x7f000001",
		"::1",
		"::",
		"0:0:0:0:0:0:0:1",
		"::ffff:127.0.0.1",
		"::FFFF:7f00:1",
		"::ffff:0.0.0.0",
		"::1%lo",
	};
	static const char *const others[] = {
		"n1",	       "localhosts", "localhos", "my-localhost",       "128.0.0.1", "1.0.0.127",
		"10.0.0.1",    "::2",	     "::1:1",	 "::ffff:10.0.0.1",    "fe80::1",   "fd00::1",
		"127.example", "127",	     "0.0.0.1",	 "::ffff:1:127.0.0.1", "",
	};
	for (size_t i = 0; i < sizeof(itself) / sizeof(itself[0]); i++) {
		checkf(host_is_itself(str_of(itself[i])), "'%s' is each node itself", itself[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		checkf(!host_is_itself(str_of(others[i])), "'%s' is another node", others[i]);
	}
	// The text goes on behind the name.
	checkf(host_is_itself((struct str){"127.0.0.1x", 9}) && !host_is_itself((struct str){"127.0.0.1", 3}),
	       "a slice of a text");
}

int main(void) {
	arena = fixture_arena();

	check_split("", ',', "", 1);
	check_split("a", ',', "<a>", 0);
	check_split("a,b", ',', "<a><b>", 0);
	check_split(",a,,b,", ',', "<a><b>", 3);
	check_split("a b", ',', "<a b>", 0);
	check_split("a b", ' ', "<a><b>", 0);
	check_split("a,a", ',', "<a><a>", 0);
	check_split("[::1],[fe80::1%eth0]", ',', "<::1><fe80::1%eth0>", 0);
	check_split("::1,10.0.0.1", ',', "<::1><10.0.0.1>", 0);
	check_split("[],[", ',', "<[]><[>", 0); // nothing to take off; hosts_check() refuses them
	check_split("[a", ',', "<[a>", 0);
	check_split("a]", ',', "<a]>", 0);
	check_limit();

	struct hosts one;
	hosts_single(&arena, STR("main1"), &one);
	check_text(joined(&one), "<main1>", "a list of one");

	check_find("a,b,c", "b", 1, 1);
	check_find("a,b,c", "d", 3, 3);
	check_find("a,b", "", 2, 2);
	check_find("ab,a", "a", 1, 1);
	check_find("n1.x,n2.x", "n2", 2, 1);
	check_find("n1,n2", "n2.cluster.local", 2, 1);
	check_find("n1.x,n2.x", "n2.y", 2, 1);
	check_find("N1,N2", "n2", 2, 1);
	check_find("n1.a,n1.b", "n1", 2, 2); // could be either
	check_find("n1.a,n1", "n1", 1, 1);   // the very name goes before
	check_find("n1,n1.a", "N1", 2, 2);
	check_find("10.0.0.1,10.0.0.2", "10.0.0.2", 1, 1);
	check_find("10.0.0.1", "10.0.0.2", 1, 1); // not found: an address has no short name
	check_find("n10,n1", "n1.x", 2, 1);
	check_find("main1,sub1", "sub1", 1, 1);

	check_check("a", NULL);
	check_check("a,b,A", "HOSTS lists the host 'A' twice, as number 1, 'a', and 3");
	check_check("n1.example.com,n-2,n_3,10.0.0.1,::1,fe80::1%eth0", NULL);
	check_check("", "HOSTS lists no host");
	check_check(",", "HOSTS lists no host");
	check_check("a,b,a", "HOSTS lists the host 'a' twice, as number 1 and 3");
	check_check("a,b c", "the host name 'b c' has ' ' in it");
	check_check("a;b", "has ';' in it");
	check_check("a\nb", "has '\\x0a' in it");
	check_check("[]", "has '[' in it");
	check_check("n[1-2]", "has '[' in it");
	check_check("main1,h\xc3\xb6st", "has '\\xc3' in it");
	check_check("x/y", "has '/' in it");
	check_check("-F.cfg",
		    "HOSTS: the host name '-F.cfg' begins with '-', which other programs read as an option");
	check_check("n1,-", "the host name '-' begins with '-'");
	check_check("n-1,n1-", NULL);
	check_bytes();
	check_colons();

	const char *longest = arena_format(&arena, "%0253d", 0);
	check(strlen(longest) == HOST_NAME_BYTES);
	check_check(longest, NULL);
	check_check(arena_format(&arena, "a,%s0", longest), "has 254 bytes; the longest possible has 253");

	// Doubles among many, wherever they are, and names that differ in one byte only.
	check_check(many(5000, 5000, ""), NULL);
	check_check(many(5000, 4999, "n0"), "'n0' twice, as number 1 and 5000");
	check_check(many(5000, 1, "n0"), "'n0' twice, as number 1 and 2");
	check_check(many(5000, 2500, "n4321"), "'n4321' twice, as number 2501 and 4322");
	check_check("aaaaaaaab,aaaaaaaac,baaaaaaaa,aaaabaaaa,aaaaaaaa,aaaaaaa,aaaaaa,aaaaa,aaaa,aaa,aa,a",
		    NULL);
	check_check("abc,axc", NULL);
	check_check("n1,n2,n10,sub1,sub10", NULL);
	check_check("n1,n2,n10,n10", "'n10' twice, as number 3 and 4");
	check_check("n2,n1,n2", "'n2' twice, as number 1 and 3");
	check_check("n10,n2,n10", "'n10' twice, as number 1 and 3");
	check_check("n2,n10,n2", "'n2' twice, as number 1 and 3");
	check_check("a-long-name-1,a-long-name-1", "twice, as number 1 and 2");
	check_check("a-long-name-2,a-long-name-1", NULL);
	check_check("aaaaaaaab,aaaaaaaac,aaaaaaaab", "'aaaaaaaab' twice, as number 1 and 3");

	arena_done(&arena);
	check_splits("a,", ',');
	check_splits("ab,[]", ',');
	check_splits("ab ,\n", ' ');
	check_splits("a,\xac\x2d\x2b", ','); // the neighbours of the comma, and itself with the upper bit
	arena_done(&arena);
	check_judgements();
	check_itself();
	arena_done(&arena);
	return check_done();
}
