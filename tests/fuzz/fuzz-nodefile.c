// SPDX-License-Identifier: Apache-2.0

/**
 * Node files. The input is a form (N, C, or anything else for a file of any kind), a line break,
 * and the text. A file that is accepted satisfies the rules for hosts, can be written again, and is
 * then read as the same.
 */

#include "source/nodefile.h"

#include "base/buf.h"
#include "fuzz.h"

#define INPUT_MAX 4096

/**
 * Write @place in the format of Open MPI's host files. The brackets of an address keep its colons
 * apart from that of "NAME:N".
 */
static void write_nodes(const struct placement *place, struct buf *out) {
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		struct str name = hosts_at(&place->hosts, i);
		bool colon = str_find(name, ':') < name.len;
		buf_puts(out, colon ? "[" : "");
		buf_put(out, name);
		buf_puts(out, colon ? "] slots=" : " slots=");
		buf_putu(out, place->slots[i]);
		buf_putc(out, '\n');
	}
}

static void check_again(struct arena *arena, const struct placement *place) {
	struct buf text = BUF(arena);
	struct node_list again = NODE_LIST(arena, "AGAIN");
	struct placement read = {0};
	struct err err = {""};
	write_nodes(place, &text);
	HOLDS(nodefile_parse(&again, buf_str(&text), NODEFILE_ANY, &err) == 0);
	node_list_finish(&again, &read);
	HOLDS(read.hosts.n == place->hosts.n);
	for (uint32_t i = 0; i < read.hosts.n; i++) {
		HOLDS(str_eq(hosts_at(&read.hosts, i), hosts_at(&place->hosts, i)));
		HOLDS(read.slots[i] == place->slots[i] && read.slots[i] > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct str text = {(const char *)data, size}, form;
	if (size > INPUT_MAX || !str_cut(&text, '\n', &form)) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct node_list nodes = NODE_LIST(&arena, "NODES");
	struct placement place = {0};
	struct err err = {""};
	int r = nodefile_parse(&nodes, text,
			       str_is(form, "N")   ? NODEFILE_NAMES
			       : str_is(form, "C") ? NODEFILE_COUNTS
						   : NODEFILE_ANY,
			       &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	node_list_finish(&nodes, &place);
	// Also for a refused file: the lines before the wrong one.
	HOLDS(place.hosts.n == 0 || hosts_check(&place.hosts, &arena, "NODES", &err) == 0);
	if (r == 0) {
		check_again(&arena, &place);
	}
	arena_done(&arena);
	return 0;
}
