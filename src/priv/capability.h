// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Sets of capabilities, as numbers of 64 bits: bit N is capability N (linux/capability.h). Their names are libcap's, and so are the
 * calls that read and change them: nobody outside of this folder knows it.
 */

#include "base/buf.h"
#include "base/err.h"

#define CAP_BIT(n) ((uint64_t)1 << (n))

/** What "all" stands for, also what a kernel to come may have. */
#define CAPS_ALL UINT64_MAX

/** Those of a process. */
struct cap_sets {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
	/** What can ever be gained again, by executing a file. */
	uint64_t bounding;
	/** What a process that is not root keeps when it executes a file. */
	uint64_t ambient;
};

struct cap_name {
	char s[32];
};

/** "cap_ipc_lock"; "cap_63" for one that has no name yet. */
struct cap_name cap_name(unsigned cap);

/** The capability that is called @word: "ipc_lock", "CAP_IPC_LOCK", "cap_63". Returns it, or -EINVAL. */
int cap_find(struct str word);

/**
 * Read @text, names joined by commas, into the set *@out; "" is the empty set, and "all" is CAPS_ALL where @takes_all.
 * @label is for the message, such as "--cap-drop".
 * Returns 0; -EINVAL for a name that is none, with the nearest.
 */
int caps_parse(const char *label, const char *text, bool takes_all, uint64_t *out, struct err *err);

/** Append the names of @set, joined by @separator. Of the empty set: nothing. */
void caps_put(struct buf *out, uint64_t set, const char *separator);

/** The lowest one of @set, which is not empty. */
unsigned caps_first(uint64_t set);

/**
 * Read our own sets, by system calls alone: this works without /proc. *@known becomes the set of all that this kernel knows.
 * Returns 0 or a negative errno, with the sentence in @err.
 */
int caps_read(struct cap_sets *out, uint64_t *known, struct err *err);

/**
 * Set the effective, permitted and inheritable sets. What leaves the permitted or inheritable set leaves the ambient one too.
 * Returns 0 or a negative errno.
 */
int caps_write(uint64_t effective, uint64_t permitted, uint64_t inheritable);

/** Become @uid, really, effectively and for good, and keep the permitted set. The effective one is empty then. Returns 0 or a negative errno. */
int caps_keep_over_setuid(uint32_t uid);

/** Drop @set, which is in it, from the bounding set. Returns 0 or a negative errno, and *@at, the one that it failed at. */
int caps_drop_bounding(uint64_t set, unsigned *at);

/**
 * Make the ambient set @wanted; it has to be permitted, and part of @inheritable, our inheritable set, out of which no ambient one can
 * be. Returns 0 or a negative errno, and *@at.
 */
int caps_write_ambient(uint64_t wanted, uint64_t inheritable, unsigned *at);
