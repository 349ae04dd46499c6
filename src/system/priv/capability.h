// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Sets of capabilities, as 64-bit numbers: bit N is capability N (linux/capability.h). Only this
 * room uses libcap: for the names, and for the calls that read and change the sets.
 */

#include "base/buf.h"
#include "base/err.h"

#define CAP_BIT(n) ((uint64_t)1 << (n))

/** What "all" means: also the capabilities of future kernels. */
#define CAPS_ALL UINT64_MAX

/** The capability sets of a process. */
struct cap_sets {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
	/** The capabilities that executing a file can still add. */
	uint64_t bounding;
	/** The capabilities that a process keeps on execve() if it is not root. */
	uint64_t ambient;
};

struct cap_name {
	char s[32];
};

/** Name a capability: "cap_ipc_lock"; or "cap_63" if libcap has no name for it. */
struct cap_name cap_name(unsigned cap);

/** Find a capability by its name or number: "ipc_lock", "CAP_IPC_LOCK", "cap_63". Returns its number; -EINVAL. */
int cap_find(struct str word);

/**
 * Read @text, names joined by commas, into the set *@out. "" is the empty set. "all" is CAPS_ALL if
 * @takes_all, else an error. @label, such as "--cap-drop", names the option in messages.
 * Returns 0; -EINVAL for an unknown name: the message suggests the nearest one.
 */
int caps_parse(const char *label, const char *text, bool takes_all, uint64_t *out, struct err *err);

/** Append the names of @set, with blanks between them. */
void caps_put(struct buf *out, uint64_t set);

/** The lowest capability in @set, which must not be empty. */
unsigned caps_first(uint64_t set);

/**
 * Read our own sets by system calls only, so that this works without /proc. *@known gets all
 * capabilities of this kernel.
 * Returns 0 or a negative errno.
 */
int caps_read(struct cap_sets *out, uint64_t *known, struct err *err);

/**
 * Set the effective, permitted and inheritable sets. If a capability is no longer permitted or
 * inheritable, the kernel also removes it from the ambient set.
 * Returns 0 or a negative errno.
 */
int caps_write(uint64_t effective, uint64_t permitted, uint64_t inheritable);

/**
 * Set the real, effective and saved uid to @uid, and keep the permitted set. The effective set is
 * empty afterwards. Returns 0 or a negative errno.
 */
int caps_keep_over_setuid(uint32_t uid);

/** Drop @set from the bounding set. Returns 0; or a negative errno, and *@at is the capability that failed. */
int caps_drop_bounding(uint64_t set, unsigned *at);

/**
 * Make @wanted the ambient set. The kernel requires that each of these capabilities is permitted, and in
 * @inheritable, our inheritable set.
 * Returns 0; or a negative errno, and *@at is the capability that failed.
 */
int caps_write_ambient(uint64_t wanted, uint64_t inheritable, unsigned *at);
