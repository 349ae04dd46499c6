// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Checks the user's settings for a cluster. They apply whether or not there is a cluster. */

#include "cluster/cluster.h"

/**
 * Check all of the user's settings in @in. Returns 0, with brackets removed from an address;
 * -EINVAL.
 */
int settings_check(struct input *in, struct err *err);
