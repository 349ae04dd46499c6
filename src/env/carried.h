// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The variables of a host, a launcher and distinit, passed into a container whose runtime may
 * remove them (apptainer --cleanenv): all in one variable, which it keeps.
 */

#include "base/err.h"
#include "env/env.h"

/** Whether @entry, "NAME=VALUE", is that variable, or a copy that a runtime has made of it. */
bool carried_is(const char *entry);

/** Outside: set that variable, by names that runtimes pass on. Returns 0; -E2BIG if it is too large. */
int carried_pack(struct env *env, struct err *err);

/** Inside: set what is missing, remove ours. Returns 0; -ENOENT if it did not arrive, -EINVAL. */
int carried_unpack(struct env *env, struct err *err);
