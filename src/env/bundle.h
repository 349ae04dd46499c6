// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Bundles: the tracked variables of the process that starts workers, as a directive file that the workers' distinit
 * reads. Names are tracked; values are taken when the bundle is made, and a job that has it keeps them.
 *
 *     [distinit bundle 1]
 *     set HF_HOME=/data/hf
 *     set NOTE="two\nlines"
 *     [end crc32=1c291ca3]
 *
 * The last line vouches for those above it, so that a bundle which was cut off or changed on its way is refused: a worker
 * that lacks half of its variables would run, and differ. The checksum is gzip's. An older reader takes neither line.
 */

#include "base/buf.h"
#include "env/directive.h"

struct bundle_request {
	/** What is tracked: names joined by ':', of which a final '*' stands for any rest; and where that was told. */
	struct str names;
	const char *names_from;
	/**
	 * Variables that belong to a worker's host or rank, beside those that bundle.c knows: names, in which one '*' stands for
	 * any text, then NULL. Where NULL itself, there are none.
	 */
	const char *const *own;
	/** Carry these too. */
	bool force;
	/** Write an `unset` for a tracked name that is not set. */
	bool carry_unset;
};

/**
 * Write the bundle of @env's variables into @out, each once, in the environment's order. What is tracked but does not
 * travel is told in @notes.
 *
 * Returns 0; -EINVAL where a tracked name is none, or is one that no directive can set; -EFBIG where it would be more than
 * a directive file may have. @err names the variable.
 */
int bundle_write(const struct bundle_request *request, const struct env *env, struct buf *out,
		 struct notes *notes, struct err *err);

/**
 * If @text is a bundle, check that it is whole, and cut it down to the lines between its first and its last; they
 * begin on line 2.
 *
 * Returns 1; 0 if it is none, and then @text is as it was; -EINVAL if it is not as it was written, or of another
 * version: @err says "WHERE: ...".
 */
int bundle_open(const char *where, struct str *text, struct err *err);

/** Whether @name is @pattern, in which one '*' stands for any text, as in bundle_request.own. */
bool bundle_is_like(struct str name, struct str pattern);
