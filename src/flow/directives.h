// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Where directives come from, and in which order. */

#include "flow/flow.h"

/**
 * Read all directives of @flow's wants into its levels: the bundle that distrun hands over, so that all others see what it
 * carries; the variables' files and lines; the options' files.
 * Returns 0; -EINVAL, -E2BIG, or what a file failed with.
 */
int directives_read(struct flow *flow, struct err *err);
