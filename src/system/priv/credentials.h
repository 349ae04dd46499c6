// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The ids, capabilities and no_new_privs of this process, read by system calls, so without /proc. */

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
	/** All capabilities of this kernel. */
	uint64_t caps_known;
	/** Flags of linux/securebits.h. */
	unsigned securebits;
	bool no_new_privs;
};

/** Read our own credentials. The list of groups is in @arena. Returns 0 or a negative errno. */
int credentials_read(struct arena *arena, struct credentials *out, struct err *err);

/** Whether the real, effective and saved ids are all @id. */
bool ids_are(const uint32_t ids[N_IDS], uint32_t id);

/** Whether both lists hold the same groups, apart from @gid, the process's own group. UINT32_MAX: none. */
bool groups_are(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t gid);

/** The effective set after execve() of an ordinary file: not setuid, without file capabilities. */
uint64_t credentials_after_exec(const struct credentials *c);
