// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * One run: from the environment that we inherited, and what the user wants, to the environment of the program.
 *
 *     input -> source, launcher -> cluster -> frameworks -> env block -> directives
 *
 * Before it, the change of privileges is planned, since files that a variable names are opened with the rights that the
 * program will have.
 */

#include "cluster/cluster.h"
#include "env/directive.h"
#include "framework/framework.h"
#include "priv/plan.h"

/** What the user wants, beside what a cluster is read from (struct input). Nothing told: zero. */
struct wants {
	/** --cluster=none. */
	bool no_cluster;
	/** A broken cluster is a warning, and nothing is derived. */
	bool lenient;
	struct told frameworks;
	enum ranks ranks;
	struct told tf_roles;
	struct told hostfile_output;

	/** Directives in the order in which they are read: a bundle, the files and the lines of variables, the options' files. */
	const char *bundle;
	/** Paths, with ':' between. */
	const char *variable_files;
	const char *variable_lines;
	const char *const *option_files;
	uint32_t n_option_files;
	/** The options themselves. They are applied last. */
	struct directives options;
	/** Whose sections of the files count; NULL: none. */
	const char *app;

	struct priv_options privileges;
	/** We stay as the program's parent, and keep what it takes to end it. */
	bool supervises;
	/** A change of privileges that cannot be made is an error. Else it is kept in flow.plan_error. */
	bool must_change;
	/** What is noteworthy about the change goes to the notes. */
	bool notes_change;
};

struct flow {
	struct arena *arena;
	struct env *env;
	struct notes *notes;
	struct input input;
	struct wants wants;

	/** Whether `cluster` is set. */
	bool has_cluster;
	struct cluster cluster;
	/** Why nothing is derived although a manager was recognised (lenient), or NULL. */
	const char *broken;
	struct derivation derivation;
	struct directive_levels levels;

	/** The privileges that are asked for. If any are: what we had at the start, and the plan. */
	struct wishes wishes;
	struct credentials was;
	struct priv_plan plan;
	/** Why the plan failed, or NULL. */
	const char *plan_error;
	/** Whether the program will have fewer rights; files of variables are opened with these. */
	bool has_more_rights;
	struct credentials opens_as;
};

/** Begin. The input's and the wants' fields are then the caller's to fill in. */
void flow_init(struct flow *flow, struct arena *arena, struct env *env, struct notes *notes);

/** Find the cluster. Returns 0, also where there is none; -EINVAL; or what a file failed with. */
int flow_find_cluster(struct flow *flow, struct err *err);

/**
 * Do it all: plan the privileges, read the directives, find the cluster, derive, set the user's identity, apply the
 * directives. Nothing outside of @flow is changed.
 * Returns 0; -EINVAL, -E2BIG, what a directive file failed with, or what priv_plan() returns.
 */
int flow_derive(struct flow *flow, struct err *err);

/** Write the host file that frameworks have made, if there is one. Returns 0; or the negative errno of what failed. */
int flow_write_hostfile(struct flow *flow, struct err *err);
