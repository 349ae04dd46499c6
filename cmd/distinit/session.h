// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * One run of the flow, for whichever subcommand:
 *
 *     environ, options -> cluster -> frameworks -> env block -> privileges -> directives
 */

#include "cluster/cluster.h"
#include "common/say.h"
#include "distinit/options.h"
#include "framework/framework.h"
#include "priv/plan.h"

struct session {
	enum command command;
	struct arena arena;
	struct env env;
	struct notes notes;
	struct settings settings;
	struct overrides overrides;
	struct directive_levels levels;
	struct input input;
	/** Whether `cluster` is set. */
	bool has_cluster;
	struct cluster cluster;
	struct derivation derivation;
	/** The privileges that are asked for; if any: what we had at the start, and the plan. */
	struct wishes wishes;
	struct credentials was;
	struct priv_plan plan;
	/** Why the plan failed, or NULL. */
	const char *plan_error;
	/** Whether the workload will have fewer rights; files of variables are opened with these. */
	bool has_more_rights;
	struct credentials opens_as;
	struct speaker speaker;
	/** Why nothing is derived although a manager was recognised (--lenient), or NULL. */
	const char *broken;
};

/** Begin with our own environment. @memory is for the arena. */
void session_init(struct session *s, void *memory, size_t size);

/**
 * Read the command line of @command and our variables.
 * Returns 0; -EINVAL.
 */
int session_options(struct session *s, enum command command, char **argv, struct err *err);

/** Find the cluster. Returns 0, also where there is none; -EINVAL. */
int session_cluster(struct session *s, struct err *err);

/** Derive the variables and apply the directives. Returns 0; -EINVAL, -E2BIG, or what a directive file failed with. */
int session_derive(struct session *s, struct err *err);

/** Write the host file that frameworks have made, if there is one. Returns 0, or the negative errno of what failed. */
int session_write_hostfile(struct session *s, struct err *err);

/**
 * Read @value, told by @from, as one host, a name or an address, into *@out, which has no brackets.
 * Returns 0; -EINVAL.
 */
int session_host(struct session *s, const char *from, const char *value, const char **out, struct err *err);

/** Print the sentence in @err and return the status to exit with. */
static inline int session_fail(struct session *s, const struct err *err) {
	return say_failure(&s->speaker, err);
}
