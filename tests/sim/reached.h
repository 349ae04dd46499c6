// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Which rows of the tables of states jobs have come to: those of src/meet/rollcall/decide.h, member_decide.h and
 * src/meet/together/decide.h. rows.txt has them.
 */

enum machine { MACHINE_COORDINATOR, MACHINE_MEMBER, MACHINE_TOGETHER, N_MACHINES };

#define REACHED_MAX 40

/** Their names. */
struct table_of_states {
	const char *name, *states[REACHED_MAX], *events[REACHED_MAX];
};

extern const struct table_of_states table_coordinator, table_member, table_together;

void reached(enum machine machine, unsigned state, unsigned event, unsigned to);

/** Print all, a line each. */
void reached_show(void);
