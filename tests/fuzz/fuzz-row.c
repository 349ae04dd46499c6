// SPDX-License-Identifier: Apache-2.0

/**
 * The text of --read: what passes the check can be read, and names and conditions can be asked.
 */

#include "access/access.h"
#include "source/row.h"

#include "base/buf.h"
#include "fuzz.h"

#define INPUT_MAX 4096

static uint32_t no_addresses(const struct str *hosts, uint32_t n, uint32_t found[2]) {
	(void)hosts, (void)n;
	(void)found;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	static char variable[] = "A=1,2";
	char *variables[] = {variable, NULL};
	struct arena arena = fuzz_arena();
	struct access access = {.workload = RIGHTS_SAME};
	struct env env;
	struct notes notes = {.arena = &arena};
	struct err err = {""};
	const char *text = arena_text(&arena, (const char *)data, size), *by;
	int r = row_check("READ", text, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	if (r == 0) {
		env_init(&env, &arena, variables);
		struct input in = {
			.arena = &arena, .env = &env, .notes = &notes, .access = &access, .hostname = "a"};
		struct placement place = {.nnodes = UNKNOWN, .node_rank = UNKNOWN, .nproc_per_node = UNKNOWN};
		HOLDS(row_parse(text).fields != 0);
		HOLDS(row_matches(&in, text, &by) || true);
		HOLDS(row_reads(&arena, text) && row_known_by(&arena, text));
		in.own_addresses = no_addresses;
		err.text[0] = '\0';
		r = row_read(&in, text, "READ", &place, &err);
		HOLDS((r == 0) == (err.text[0] == '\0'));
	}
	arena_done(&arena);
	return 0;
}
