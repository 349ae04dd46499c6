// SPDX-License-Identifier: Apache-2.0

#include "reached.h"

#include <stdbool.h>
#include <stdio.h>

static const struct table_of_states *const tables[] = {&table_coordinator, &table_member, &table_together};
static bool seen[N_MACHINES][REACHED_MAX][REACHED_MAX][REACHED_MAX];

void reached(enum machine machine, unsigned state, unsigned event, unsigned to) {
	seen[machine][state][event][to] = true;
}

void reached_show(void) {
	for (unsigned i = 0; i < N_MACHINES * REACHED_MAX * REACHED_MAX * REACHED_MAX; i++) {
		const unsigned to = i % REACHED_MAX, event = i / REACHED_MAX % REACHED_MAX,
			       state = i / REACHED_MAX / REACHED_MAX % REACHED_MAX,
			       machine = i / REACHED_MAX / REACHED_MAX / REACHED_MAX;
		const struct table_of_states *table = tables[machine];
		if (seen[machine][state][event][to]) {
			printf("reached %s: %s %s -> %s\n", table->name, table->states[state],
			       table->events[event], table->states[to]);
		}
	}
}
