// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Asks a source, whether it has functions of its own or is a row. */

#include "cluster/source.h"

/** As source->detect(). */
const char *source_detect(const struct input *in, const struct source *source);

/** As source->read(). @recognised_by is what source_detect() returned. */
int source_place(struct input *in, const struct source *source, const char *recognised_by,
		 struct placement *out, struct err *err);

/** What @source reads, as READS() makes it. */
const char *const *source_reads(struct arena *arena, const struct source *source);

/** What has to be there for @source to be recognised, in words. */
const char *source_known_by(struct arena *arena, const struct source *source);
