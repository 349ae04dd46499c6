// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Pass the variables of a host, a launcher and distinit into a container whose runtime may remove them
 * (apptainer --cleanenv): pack all into one variable, which the runtime keeps.
 */

#include "base/err.h"
#include "env/env.h"

/** Whether @entry, "NAME=VALUE", is that variable, or a copy of it under a name for a runtime. */
bool carried_is(const char *entry);

/**
 * Outside the container: set that variable, and its copies under the names that runtimes pass on. Returns
 * 0; -E2BIG if it is too large.
 */
int carried_pack(struct env *env, struct err *err);

/**
 * Inside the container: set the packed variables that are missing, and remove that variable. Returns 0;
 * -ENOENT if it did not arrive, -EINVAL if it was changed.
 */
int carried_unpack(struct env *env, struct err *err);
