// SPDX-License-Identifier: Apache-2.0

/** The list of --expect: what is read is what was written, and it is judged by facts, which are the second line. */

#include "facts/expect.h"

#include "fuzz.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {"gpus", "rdma", "cpus",   "memory", "shm",	 "memlock",
				    "mtu",  "path", "nofile", "driver", "clock", "path:ro"};

/** Whether @text begins with one of the names, and the relation behind it. */
static bool is_whole(const char *text, char relation) {
	const size_t n = strcspn(text, "=<>");
	bool known = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		known |= strlen(names[i]) == n && strncmp(names[i], text, n) == 0;
	}
	return known && text[n] == relation && (relation == '=' || text[n + 1] == '=');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct arena arena = fuzz_arena();
	const char *text = arena_text(&arena, (const char *)data, size);
	const size_t line = strcspn(text, "\n");
	const char *list = arena_text(&arena, text, line), *value = text[line] ? text + line + 1 : "8";
	struct expectations all;
	struct err err = {0};
	struct facts facts = {0};
	struct fact limits[] = {{"cpus", value},
				{"memlock_kib", value},
				{"memory_mib", value},
				{"nofile", value},
				{"shm_mib", value}};
	struct fact devices[] = {
		{"gpu_driver", value}, {"gpus", value}, {"mtu", value}, {"rdma_active", value}};
	const struct facts_from from = {.arena = &arena};
	facts.list[FACTS_LIMITS] = (struct fact_list){limits, 5};
	facts.list[FACTS_DEVICES] = (struct fact_list){devices, 4};
	const int r = expect_read(&arena, "--expect", list, &all, &err);
	HOLDS(r == 0 || (r == -EINVAL && err.text[0]));
	if (r == 0) {
		struct findings findings = {.arena = &arena};
		uint32_t unmet = 0;
		int signal = 0;
		HOLDS(all.n >= 1);
		// Without a view no folder is tried.
		HOLDS(expect_look(&all, &from, &facts, 10, &signal, &err) == 0 && !signal);
		expect_check(&all, &findings);
		for (uint32_t i = 0; i < all.n; i++) {
			HOLDS(strstr(list, all.at[i].text) && is_whole(all.at[i].text, all.at[i].relation));
			HOLDS(!all.at[i].met || !all.at[i].why);
			unmet += !all.at[i].met;
		}
		HOLDS(findings.n == unmet);
		const struct expectation *clock = expect_clock(&all);
		HOLDS(!clock || clock->relation == '<');
	}
	arena_done(&arena);
	return 0;
}
