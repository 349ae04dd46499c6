// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A variable that distinit itself has set is not the user's choice. A job script passes what it
 * derives on to steps that may have other nodes and another master. So it marks that by one more
 * variable, and distinit derives it anew in the step:
 *
 *     DISTINIT_DERIVED=MASTER_ADDR=9ae16a3b2f90404f:MASTER_PORT=c949d7c7509e6557
 *
 * The number is a digest of the value: a variable that has changed since is the user's.
 */

#include "flow/flow.h"

#define DERIVED_NAME "DISTINIT_DERIVED"

/** Mark what the frameworks of a job script set, but for what follows from the user's own master or port. */
void derived_mark(struct flow *f);

/**
 * Remove the variables that the inherited mark names and that have not changed since, as far as they
 * would be derived here: those of the frameworks @set, and the rendezvous. An empty @set removes none.
 */
void derived_forget(struct flow *f, uint32_t set);
