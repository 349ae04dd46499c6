// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a process is to the kernel: its ids, capabilities and no_new_privs. Read by system calls alone: this works without /proc. */

#include "priv/capability.h"

/** Indices of uid and gid. */
enum { ID_REAL, ID_EFFECTIVE, ID_SAVED, N_IDS };

struct credentials {
	uint32_t uid[N_IDS];
	uint32_t gid[N_IDS];
	/** The supplementary groups. */
	const uint32_t *groups;
	uint32_t n_groups;
	struct cap_sets caps;
	/** All capabilities that this kernel knows. */
	uint64_t caps_known;
	/** Flags of linux/securebits.h. */
	unsigned securebits;
	bool no_new_privs;
};

/** Read our own, the groups into the arena. Returns 0 or a negative errno. */
int credentials_read(struct arena *arena, struct credentials *out, struct err *err);

/** Whether real, effective and saved id are all @id. */
bool ids_are(const uint32_t ids[N_IDS], uint32_t id);

/**
 * Whether the two lists are the same groups. It does not count whether @gid is among them: it is the process's group in any
 * case.
 */
bool groups_are(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t gid);

/** The capabilities that are effective behind an execve() of an ordinary file: neither setuid nor with capabilities of its own. */
uint64_t credentials_after_exec(const struct credentials *c);
