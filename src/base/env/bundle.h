// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Bundles: the tracked variables of the process that starts workers, as a directive file for the distinit
 * of the workers. DISTINIT_TRACK lists names. Their values are read when the bundle is made, and stay the
 * same for the whole job.
 *
 *     [distinit bundle 1]
 *     set HF_HOME=/data/hf
 *     set NOTE="two\nlines"
 *     [end crc32=1c291ca3]
 *
 * The last line protects the lines above it: a bundle that was cut off or changed on its way is refused.
 * A worker without some of its variables would still run, but differently from the others. The checksum
 * is gzip's. Versions of distinit without bundles accept neither the first nor the last line.
 */

#include "base/buf.h"
#include "env/directive.h"

struct bundle_request {
	/** The tracked names, joined by ':'. A final '*' matches any text. */
	struct str names;
	/** The variable that lists them, for messages. */
	const char *names_from;
	/** More variables of a worker's host or rank. A name may have one '*'. Ends with NULL; NULL: none. */
	const char *const *own;
	/** Carry variables of a host or a rank, too. */
	bool force;
	/** Write an `unset` for each tracked name that is not set. */
	bool carry_unset;
};

/** Whether the variable @name belongs to a host or a rank, so that it is not the same on all nodes. */
bool bundle_is_own(struct str name);

/** The same, but false for variables of a single process, such as PWD. */
bool bundle_of_worker(struct str name);

/**
 * Write the bundle of @env's variables into @out, each once, in the order of the environment.
 * @notes gets warnings about tracked variables that are not carried.
 *
 * Returns 0; -EINVAL for a tracked name that is invalid, or that no directive can set; -EFBIG if
 * the bundle would be larger than a directive file may be. @err names the variable.
 */
int bundle_write(const struct bundle_request *request, const struct env *env, struct buf *out,
		 struct notes *notes, struct err *err);

/**
 * If @text is a bundle, check that it is complete and unchanged, and cut it down to the lines
 * between its first and its last; they begin on line 2.
 *
 * Returns 1; 0 if it is not a bundle, and then @text is unchanged; -EINVAL if it was cut off or
 * changed, or has another version: @err begins with "WHERE: ".
 */
int bundle_open(const char *where, struct str *text, struct err *err);
