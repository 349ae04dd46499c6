// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Recognises variables that distinit itself derived in a job script. Steps inherit the variables of their job
 * script, but may have other nodes and another master. So in a job script, distinit lists the variables that
 * it derives in one more variable, and in a step it derives these again:
 *
 *     DISTINIT_DERIVED=MASTER_ADDR=9ae16a3b2f90404f:MASTER_PORT=c949d7c7509e6557
 *
 * The number is a digest of the value. If the value has another digest, the user has changed the variable,
 * and it is kept.
 */

#include "flow/flow.h"

#define DERIVED_NAME "DISTINIT_DERIVED"

/**
 * In a job script: list the variables that frameworks set. If the master or the port is given, leave out
 * those that depend on it.
 */
void derived_mark(struct flow *f);

/**
 * Remove the variables that the inherited list names and whose values have not changed. Only variables that
 * this run would derive are removed: those of the frameworks @set, and the master's. If @set is empty, none
 * are removed.
 */
void derived_remove(struct flow *f, uint32_t set);
