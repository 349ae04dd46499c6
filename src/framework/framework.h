// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a framework is, and the table of them. A framework turns a cluster into the variables that it reads; it knows no
 * manager.
 */

#include "base/err.h"
#include "cluster/cluster.h"

/** --ranks: whether RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE are set. */
enum ranks {
	/** Where the scope is "task". */
	RANKS_AUTO,
	/** Also one per node, as its only rank. */
	RANKS_ALWAYS,
	RANKS_NEVER,
};

/** A variable that was not set, and why; for `explain`. */
struct remark {
	const char *name;
	/** The framework, or "user" where a value that was there is kept. */
	const char *by;
	const char *why;
	bool kept;
	const struct remark *next;
};

struct framework;

/** One run of the frameworks over a cluster. */
struct derivation {
	const struct cluster *cluster;
	struct env *env;
	struct notes *notes;
	enum ranks ranks;
	/** The one that is at work. */
	const struct framework *framework;
	/** In the order in which they were made. */
	const struct remark *remarks;
	struct remark *last_remark;
};

struct framework {
	const char *name;
	const char *about;
	/** The variables it sets, for `distinit frameworks`. */
	const char *sets;
	/** Part of the default set. */
	bool standard;
	void (*derive)(struct derivation *d);
};

/** In the order of deriving, NULL at the end. */
extern const struct framework *const frameworks[];

extern const struct framework framework_torch;
extern const struct framework framework_torchrun;
extern const struct framework framework_tensorflow;

/**
 * Read --frameworks, "all", "none", "default" or names joined by commas, into the set *@out: bit i stands for frameworks[i].
 * Returns 0; -EINVAL for an unknown name, with the nearest.
 */
int frameworks_parse(const char *label, const char *text, uint32_t *out, struct err *err);

/** The default set. */
uint32_t frameworks_standard(void);

/** Let each framework of @set derive its variables. Nothing at all for a cluster of one, nor for one that is none. */
void frameworks_derive(uint32_t set, struct derivation *d);

/** Set @name, unless it has a value already: then that is kept. @why is one clause. */
void derive(struct derivation *d, const char *name, struct str value, const char *why);

/** The same for a number. */
void derive_number(struct derivation *d, const char *name, uint32_t value, const char *why);

/** The same with "NAME=VALUE" in one text, in the arena. */
void derive_text(struct derivation *d, const char *text, uint32_t name_len, const char *why);

/** Whether @name has a value, which is then noted as kept. */
bool derive_keeps(struct derivation *d, const char *name);

/** Say why @name is not set, where one might expect it. */
void derive_leaves_out(struct derivation *d, const char *name, const char *why);
