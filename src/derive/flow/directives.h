// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The sources of directives, and their order. */

#include "flow/flow.h"

/**
 * Read all directives of @flow's wants into its levels, in this order: the bundle from distrun, so
 * that the other directives see its contents; the files and lines of variables; the files of
 * options.
 * Returns 0; -EINVAL, -E2BIG, or the error of a file.
 */
int directives_read(struct flow *flow, struct err *err);
