// SPDX-License-Identifier: Apache-2.0

#include "cluster/hostlist.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

static const char *joined(const struct hosts *hosts) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (i) {
			buf_putc(&buf, ' ');
		}
		buf_put(&buf, hosts_at(hosts, i));
	}
	return buf_text(&buf);
}

/** The names as lines. */
static struct str lines_of(const struct hosts *hosts) {
	struct buf out = BUF(&arena);
	for (uint32_t i = 0; i < hosts->n; i++) {
		buf_put(&out, hosts_at(hosts, i));
		buf_putc(&out, '\n');
	}
	return buf_str(&out);
}

static void check_expand(const char *text, const char *want) {
	struct hosts hosts = {0};
	struct err err = {""};
	int r = hostlist_expand(&arena, "LIST", str_of(text), &hosts, &err);
	check_text(r < 0 ? err.text : joined(&hosts), want, "expand '%s'", text);
}

static void check_count(const char *text, uint32_t want, const char *first, const char *last) {
	struct hosts hosts = {0};
	struct err err = {""};
	int r = hostlist_expand(&arena, "LIST", str_of(text), &hosts, &err);
	if (checkf(r == 0 && hosts.n == want, "expand '%s': %u hosts %s", text, hosts.n, err.text)) {
		check(str_is(hosts_at(&hosts, 0), first) && str_is(hosts_at(&hosts, want - 1), last));
	}
}

/**
 * Check that @text is refused, that the message has the column and the reason, and that the result
 * is unchanged.
 */
static void check_wrong(const char *text, unsigned column, const char *want) {
	struct hosts hosts = {.n = 7};
	struct err err = {"no error"};
	int r = hostlist_expand(&arena, "LIST", str_of(text), &hosts, &err);
	checkf(r == -EINVAL && hosts.n == 7, "wrong '%.60s': %d", text, r);
	check_part(err.text, "LIST=", "wrong '%.60s' says where", text);
	check_part(err.text, arena_format(&arena, "', column %u: %s", column, want), "wrong '%.60s' says",
		   text);
}

static void check_too_many(const char *text) {
	struct hosts hosts = {.n = 7};
	struct err err = {"no error"};
	int r = hostlist_expand(&arena, "LIST", str_of(text), &hosts, &err);
	checkf(r == -E2BIG && hosts.n == 7, "too many '%s': %d", text, r);
	check_part(err.text, "stands for more than 1048576 hosts", "too many '%s' says", text);
}

/** The names in @text, cut at blanks, written as a list: @want. */
static void check_compress(const char *text, const char *want) {
	struct hosts hosts = {0};
	uint32_t empty;
	struct err err;
	struct buf buf = BUF(&arena);
	if (check(hosts_split(&arena, "LIST", text, ' ', &hosts, &empty, &err) == 0)) {
		hostlist_compress(&hosts, &buf);
		check_text(buf_text(&buf), want, "compress '%.60s'", text);
	}
}

static bool same_hosts(const struct hosts *a, const struct hosts *b) {
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		if (!str_eq(hosts_at(a, i), hosts_at(b, i))) {
			return false;
		}
	}
	return a->n == b->n;
}

/**
 * Whether @hosts, written as a list, expands to the same hosts. If not, *@list is the list written.
 */
static bool survives(const struct hosts *hosts, const char **list) {
	struct buf buf = BUF(&arena);
	struct hosts again = {0};
	struct err err;
	hostlist_compress(hosts, &buf);
	*list = buf_text(&buf);
	return hostlist_expand(&arena, "LIST", buf_str(&buf), &again, &err) == 0 && same_hosts(hosts, &again);
}

/** Names of few kinds, so that there are runs, breaks in them, doubles, and changes of width. */
static const char *random_names(uint64_t *random) {
	static const char *const prefixes[] = {"n", "n", "n", "n1", "gpu-", "", "a0", "x-1-"};
	static const uint64_t starts[] = {
		0, 1, 8, 9, 98, 99, 998, 65530, 99999999999999998, 999999999999999990};
	struct buf buf = BUF(&arena);
	for (uint32_t groups = 1 + fixture_random(random, 5); groups; groups--) {
		const char *prefix = prefixes[fixture_random(random, 8)];
		uint64_t number = starts[fixture_random(random, 10)] + fixture_random(random, 3);
		int width = (int)fixture_random(random, 4);
		uint32_t step = fixture_random(random, 4) ? 1 : fixture_random(random, 3);
		for (uint32_t n = 1 + fixture_random(random, 14); n; n--) {
			buf_putf(&buf, " %s%0*llu%s", prefix, width, (unsigned long long)number,
				 fixture_random(random, 12) ? "" : "-ib");
			number += step;
		}
	}
	return buf_text(&buf);
}

static void check_round_trips(void) {
	uint64_t random = 20240229;
	unsigned failed = 0, shorter = 0;
	for (unsigned i = 0; i < 3000; i++) {
		const char *names = random_names(&random);
		struct hosts hosts = {0};
		uint32_t empty;
		struct err err;
		const char *list = NULL;
		failed += hosts_split(&arena, "LIST", names, ' ', &hosts, &empty, &err) < 0;
		shorter += hosts.n > 1;
		if (!survives(&hosts, &list)) {
			failed++;
			printf("# %s\n# became %s\n", names, list);
		}
		shorter -= list && strlen(list) < strlen(names) / 2;
		arena_done(&arena);
	}
	checkf(failed == 0, "3000 lists compress to what expands to them (%u do not)", failed);
	checkf(shorter < 2500, "and many of them to less than half (%u do not)", shorter);
}

/** One name with a bracket, and what it stands for, made the plain way. */
static void random_bracket(uint64_t *random, struct buf *list, struct buf *want) {
	static const uint64_t starts[] = {0,	  5,	   9,	    95,	      998,	 65535,
					  999998, 9999990, 9999999, 99999000, 100000000, 123456789012};
	char head[41] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn",
	     tail[41] = "-nmlkjihgfedcbazyxwvutsrqponmlkjihgfedcb";
	head[fixture_random(random, 40)] = '\0';
	tail[fixture_random(random, 40)] = '\0';
	buf_putf(list, "%s%s[", list->len ? "," : "", head);
	for (uint32_t ranges = 1 + fixture_random(random, 3), i = 0; i < ranges; i++) {
		uint64_t first = starts[fixture_random(random, 12)] + fixture_random(random, 3);
		uint64_t last = first + fixture_random(random, 30);
		int width = (int)fixture_random(random, 12);
		buf_putf(list, "%s%0*llu-%llu", i ? "," : "", width, (unsigned long long)first,
			 (unsigned long long)last);
		for (uint64_t number = first; number <= last; number++) {
			// As wide as the first number came out.
			char digits[32];
			int wide =
				snprintf(digits, sizeof(digits), "%0*llu", width, (unsigned long long)first);
			buf_putf(want, "%s%0*llu%s\n", head, wide, (unsigned long long)number, tail);
		}
	}
	buf_putf(list, "]%s", tail);
}

/** Heads, tails and numbers of all lengths expand as they do the plain way. */
static void check_against_plain(void) {
	uint64_t random = 42;
	unsigned wrong = 0;
	for (unsigned i = 0; i < 3000; i++) {
		struct buf list = BUF(&arena), want = BUF(&arena);
		for (uint32_t names = 1 + fixture_random(&random, 3); names; names--) {
			random_bracket(&random, &list, &want);
		}
		struct hosts hosts = {0};
		struct err err = {""};
		bool same = hostlist_expand(&arena, "LIST", buf_str(&list), &hosts, &err) == 0 &&
			    str_eq(lines_of(&hosts), buf_str(&want));
		if (!same) {
			wrong++;
			printf("# '%s' %s\n", buf_text(&list), err.text);
		}
		arena_done(&arena);
	}
	checkf(wrong == 0, "3000 lists expand as they do the plain way (%u do not)", wrong);
}

/** A range that is longer than one may be is written as two. */
static void check_long_range(void) {
	struct hosts hosts = {0};
	struct err err;
	struct buf buf = BUF(&arena);
	check(hostlist_expand(&arena, "LIST", STR("n[0-65535,65536-70000]"), &hosts, &err) == 0);
	hostlist_compress(&hosts, &buf);
	check_text(buf_text(&buf), "n[0-65535,65536-70000]", "a range of more than 65536");
}

static void check_name_length(void) {
	char text[300];
	memset(text, 'a', sizeof(text));
	strcpy(text + HOST_NAME_BYTES, "");
	check_count(text, 1, text, text);
	strcpy(text + HOST_NAME_BYTES - 2, "[9-10]"); // the longest of these has 253
	check_count(text, 2, arena_format(&arena, "%.251s9", text), arena_format(&arena, "%.251s10", text));
	strcpy(text + HOST_NAME_BYTES - 2, "[9-100]");
	check_wrong(text, 1, "a host name of more than 253 bytes");
	text[HOST_NAME_BYTES - 2] = 'a';
	strcpy(text + HOST_NAME_BYTES - 1, "aa,b");
	check_wrong(text, 1, "a host name of more than 253 bytes");
}

int main(void) {
	arena = fixture_arena();

	check_expand("", "");
	// A counter of eight digits must not be counted beyond them.
	check_expand("n[99999998-99999999]", "n99999998 n99999999");
	check_expand(",, \t\r\n", "");
	check_expand("a", "a");
	check_expand("a,b", "a b");
	check_expand("a b\tc\nd\r\ne,,f", "a b c d e f");
	check_expand("n1,n1", "n1 n1"); // doubles are kept
	check_expand("b,a", "b a");
	check_expand("n-1-2,n_3.x", "n-1-2 n_3.x");
	check_expand("n[1-3]", "n1 n2 n3");
	check_expand("n[1]", "n1");
	check_expand("n[3,1,2]", "n3 n1 n2");
	check_expand("n[1-2,5,7-8]", "n1 n2 n5 n7 n8");
	check_expand("n[1-2],m5,o[3-4,6,7-9]", "n1 n2 m5 o3 o4 o6 o7 o8 o9");
	check_expand("n[1,1]", "n1 n1");
	check_expand("[1-2]", "1 2");
	check_expand("n[1-2]-ib", "n1-ib n2-ib");

	// As wide as the first number of the range is written.
	check_expand("n[08-11]", "n08 n09 n10 n11");
	check_expand("n[8-11]", "n8 n9 n10 n11");
	check_expand("n[098-101]", "n098 n099 n100 n101");
	check_expand("n[1-02]", "n1 n2");
	check_expand("n[01-2]", "n01 n02");
	check_expand("n[001,2]", "n001 n2");
	check_expand("n[0-0]", "n0");
	check_expand("n[00-01]", "n00 n01");
	check_expand("n[9999999-10000000]", "n9999999 n10000000");
	check_expand("n[99999998-100000001]", "n99999998 n99999999 n100000000 n100000001");
	check_expand("n[00000009-10]", "n00000009 n00000010");
	check_expand("n[000000009-10]", "n000000009 n000000010");

	// Several brackets: the last varies fastest, then the first, the second, and so on.
	check_expand("a[1-2]b[1-2]", "a1b1 a1b2 a2b1 a2b2");
	check_expand("r[1-2]c[1-2]n[1-2]", "r1c1n1 r1c1n2 r2c1n1 r2c1n2 r1c2n1 r1c2n2 r2c2n1 r2c2n2");
	check_expand("[1-2][3-4]", "13 14 23 24");
	check_expand("a[1-2]b[09-10],c", "a1b09 a1b10 a2b09 a2b10 c");
	check_count("a[0-1]b[0-1]c[0-1]d[0-1]e[0-1]f[0-1]g[0-1]h[0-1]", 256, "a0b0c0d0e0f0g0h0",
		    "a1b1c1d1e1f1g1h1");

	check_count("n[1-4096]", 4096, "n1", "n4096");
	check_count("n[0-65535]", 65536, "n0", "n65535");
	check_count("n[999999999999999998-999999999999999999]", 2, "n999999999999999998",
		    "n999999999999999999");
	check_count("a[0-1023]b[0-1023]", HOSTS_MAX, "a0b0", "a1023b1023");
	check_name_length();

	check_wrong("n[1-2", 2, "the bracket is not closed");
	check_wrong("n[", 2, "the bracket is not closed");
	check_wrong("a,n[1", 4, "the bracket is not closed");
	check_wrong("n1]", 3, "a ']' without its '['");
	check_wrong("]", 1, "a ']' without its '['");
	check_wrong("n[1]]", 5, "a ']' without its '['");
	check_wrong("n[]", 3, "a number or a range");
	check_wrong("n[1,]", 5, "a number or a range");
	check_wrong("n[,1]", 3, "a number or a range");
	check_wrong("n[1-]", 3, "a number or a range");
	check_wrong("n[-1]", 3, "a number or a range");
	check_wrong("n[1-2-3]", 3, "a number or a range");
	check_wrong("n[a-c]", 3, "a number or a range");
	check_wrong("n[1, 2]", 5, "a number or a range");
	check_wrong("n[1[2]]", 3, "a number or a range");
	check_wrong("n[+1]", 3, "a number or a range");
	check_wrong("n[3-1]", 3, "the range ends before it begins");
	check_wrong("a,b,n[1,5-4]", 9, "the range ends before it begins");
	check_wrong("n[0-65536]", 3, "the range has more than 65536 numbers");
	check_wrong("n[1-99999999999]", 3, "the range has more than 65536 numbers");
	check_wrong("n[1000000000000000000]", 3, "a number of more than 18 digits");
	check_wrong("n[1-1000000000000000000]", 3, "a number of more than 18 digits");
	check_wrong("n[99999999999999999999999999]", 3, "a number of more than 18 digits");
	check_wrong("[1][1][1][1][1][1][1][1][1]", 25, "more than 8 brackets in one name");
	check_wrong("ok[1-2]\nn[x]", 11, "a number or a range");

	check_too_many("a[0-1023]b[0-1024]");
	check_too_many("a[0-65535]b[0-65535]c[0-65535]d[0-65535]e[0-65535]f[0-65535]g[0-65535]h[0-65535]");
	check_too_many("a[0-1023]b[0-1023],c");
	check_too_many("c,a[0-1023]b[0-1023]");
	check_too_many("n[0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,"
		       "0-65535,0-65535,0-65535,0-65535,0-65535,0-65535,0]");

	check_compress("", "");
	check_compress("a", "a");
	check_compress("n1", "n1");
	check_compress("n1 n2 n3", "n[1-3]");
	check_compress("n1 n3", "n[1,3]");
	check_compress("n1 n2 n4 n5", "n[1-2,4-5]");
	check_compress("n2 n1", "n[2,1]");
	check_compress("n1 n1", "n[1,1]");
	check_compress("n1 m1", "n1,m1");
	check_compress("n1 n2 m1 n3", "n[1-2],m1,n3");
	check_compress("a b c", "a,b,c");
	check_compress("n9 n10", "n[9-10]");
	check_compress("n09 n10", "n[09-10]");
	check_compress("n1 n02", "n[1,02]");
	check_compress("n01 n2", "n[01,2]");
	check_compress("n99 n100 n101", "n[99-101]");
	check_compress("n099 n100", "n[099-100]");
	check_compress("n00 n01", "n[00-01]");
	check_compress("1 2", "[1-2]");
	check_compress("n1-ib n2-ib", "n1-ib,n2-ib");
	check_compress("n1 n n2", "n1,n,n2");
	check_compress("n999999999999999999 n1000000000000000000",
		       "n999999999999999999,n1000000000000000000");
	check_long_range();
	arena_done(&arena);
	check_round_trips();
	check_against_plain();

	arena_done(&arena);
	return check_done();
}
