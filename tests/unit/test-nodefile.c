// SPDX-License-Identifier: Apache-2.0

#include "source/nodefile.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** "n1*2 n2*1" of @place. */
static const char *join(const struct placement *place) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		struct str name = hosts_at(&place->hosts, i);
		buf_putf(&buf, "%s%.*s*%u", i ? " " : "", (int)name.len, name.p, place->slots[i]);
	}
	return buf_text(&buf);
}

static void check_parse(enum nodefile_form form, const char *text, const char *want) {
	struct node_list nodes = NODE_LIST(&arena, "FILE");
	struct placement place = {0};
	struct err err = {""};
	int r = nodefile_parse(&nodes, str_of(text), form, &err);
	node_list_finish(&nodes, &place);
	check_text(r < 0 ? err.text : join(&place), want, "form %d: '%s'", (int)form, text);
}

/** A great many nodes, each three times, in an order that is not that of their numbers. */
static void check_many(uint32_t n) {
	struct node_list nodes = NODE_LIST(&arena, "FILE");
	struct placement place = {0};
	struct err err = {""};
	bool fine = true;
	for (uint32_t i = 0; i < 3 * n; i++) {
		const char *name = arena_format(&arena, "node%u", i % n * 7919 % n);
		fine &= node_list_add(&nodes, str_of(name), 1 + i / n, false, &err) == 0;
	}
	node_list_finish(&nodes, &place);
	checkf(fine && place.hosts.n == n, "%u nodes, each three times: %u, %s", n, place.hosts.n, err.text);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = arena_format(&arena, "node%u", i * 7919 % n);
		fine &= str_is(hosts_at(&place.hosts, i), name) && place.slots[i] == 6;
	}
	checkf(fine, "%u nodes: in the order of their first lines, with all slots", n);
	checkf(hosts_check(&place.hosts, &arena, "FILE", &err) == 0, "%u nodes: %s", n, err.text);
}

static void check_most(void) {
	struct node_list nodes = NODE_LIST(&arena, "FILE");
	struct err err = {""};
	int r = 0;
	for (uint32_t i = 0; i <= HOSTS_MAX && r == 0; i++) {
		r = node_list_add(&nodes, str_of(arena_format(&arena, "n%u", i)), 1, false, &err);
	}
	checkf(r == -E2BIG && nodes.n == HOSTS_MAX, "more nodes than there can be: %d", r);
	check_text(err.text, "FILE lists more than 1048576 hosts", "and what is said of them");
}

int main(void) {
	arena = fixture_arena();

	check_parse(NODEFILE_NAMES, "n1\nn1\nn2\n", "n1*2 n2*1");
	check_parse(NODEFILE_NAMES, "n2\r\n\n\t n1 \nn2", "n2*2 n1*1");
	check_parse(NODEFILE_NAMES, "", "");
	check_parse(NODEFILE_NAMES, "n1\nn2 2\n", "FILE:2: 'n2 2': one host name is expected");
	check_parse(NODEFILE_NAMES, "\n\n#n1\n",
		    "FILE:3: the host name '#n1' has '#' in it; letters, digits and . - _ : % are expected");
	check_parse(NODEFILE_COUNTS, "a 4 q1@a UNDEFINED\nb 2\na\t2 q2@a <NULL>\n", "a*6 b*2");
	check_parse(NODEFILE_COUNTS, "a 4\na 1048573\n", "FILE:2: host 'a' has more than 1048576 slots");
	check_parse(NODEFILE_COUNTS, "a 0\n",
		    "FILE:1: 'a 0': a host name and a number of slots (1 or more) are expected");
	check_parse(NODEFILE_ANY, "a\nb slots=2\nc:3\nd 4 x y\na # again\n", "a*2 b*2 c*3 d*4");
	check_parse(NODEFILE_ANY, "a max-slots=4\n", "a*1");
	check_parse(NODEFILE_ANY, "fd00::1\n[fd00::2]\n[fd00::3]:2\n::1 3\nfe80::1%eth0\n",
		    "fd00::1*1 fd00::2*1 fd00::3*2 ::1*3 fe80::1%eth0*1");
	check_parse(NODEFILE_ANY, "abc:4\n", "abc*4"); // letters of hexadecimal, and no address
	check_parse(NODEFILE_ANY, "a slots=2\na slots=2\n", "FILE:2: the slots of host 'a' are given twice");
	check_parse(NODEFILE_ANY, "a\na slots=2\n", "FILE:2: the slots of host 'a' are given twice");

	check_many(1);
	check_many(31);
	check_many(33);
	check_many(10007);
	check_most();

	arena_done(&arena);
	return check_done();
}
