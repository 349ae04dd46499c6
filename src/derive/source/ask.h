// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Calls a source, which has either its own functions or a row. */

#include "cluster/source.h"

/** Like source->detect(). */
const char *source_detect(const struct input *in, const struct source *source);

/** The variables and files that @source reads, in the form of READS(). */
const char *const *source_reads(struct arena *arena, const struct source *source);

/** The facts that @source does not provide, and the way out; or NULL. */
const char *source_lacks(const struct source *source);

/** The condition for recognising @source, in words. */
const char *source_known_by(struct arena *arena, const struct source *source);
