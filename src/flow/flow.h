// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * One run: from the inherited environment and the user's wishes to the environment of the program.
 *
 *     input -> source, launcher -> cluster -> frameworks -> env block -> directives
 *
 * The change of privileges is planned first, because files are opened with the rights that the program
 * will have, unless the command line names them (access/access.h).
 */

#include "access/access.h"
#include "cluster/cluster.h"
#include "env/directive.h"
#include "framework/framework.h"
#include "priv/plan.h"

/** The user's wishes, except what a cluster is read from (struct input). All zero: no wishes. */
struct wants {
	/** --cluster=none. */
	bool no_cluster;
	/** A broken cluster causes a warning instead of an error, and nothing is derived. */
	bool lenient;
	struct setting frameworks;
	/** The words of the program, or NULL. They change no variable: a warning may depend on them. */
	char *const *command;
	/** What an earlier distinit has derived (flow/derived.h); NULL: nothing. */
	const char *derived;
	enum ranks ranks;
	/** As in struct derivation. */
	uint32_t grace_s;
	struct setting tf_roles;
	struct setting hostfile_output;

	/** Directives in reading order: a bundle, the files and lines of variables, files of options. */
	const char *bundle;
	/** Paths, separated by ':'. */
	struct setting variable_files;
	const char *variable_lines;
	const char *const *option_files;
	uint32_t n_option_files;
	/** Directives given as options. They are applied last. */
	struct directives options;
	/** The app whose sections of the files apply. */
	struct setting app;

	struct priv_options privileges;
	/** We stay the program's parent, and keep the capability to terminate it. */
	bool supervises;
	/** A change of privileges that fails is an error; else its reason is kept in flow.plan_error. */
	bool must_change;
	/** Notes about the change go to the user's notes. */
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

	/** The privileges wished for. If there are any: our credentials at the start, and the plan. */
	struct wishes wishes;
	struct credentials was;
	struct priv_plan plan;
	/** Why the plan failed, or NULL. */
	const char *plan_error;
	/** Opens files, once the privileges are planned. */
	struct access access;
};

/** Initialise. The caller then fills in the fields of the input and the wants. */
void flow_init(struct flow *flow, struct arena *arena, struct env *env, struct notes *notes);

/** Find the cluster. Returns 0, also if there is none; -EINVAL; or the error of a file. */
int flow_find_cluster(struct flow *flow, struct err *err);

/**
 * Run all steps: plan the privileges, read the directives, find the cluster, derive, set the user's
 * identity, apply the directives. Nothing outside of @flow changes.
 * Returns 0; -EINVAL, -E2BIG, the error of a directive file, or the result of priv_plan().
 */
int flow_derive(struct flow *flow, struct err *err);

/**
 * Derive again from @before, the environment before flow_derive(), as the caller has changed the cluster.
 * Returns as flow_derive().
 */
int flow_derive_again(struct flow *flow, const struct env *before, struct err *err);

/**
 * The same, as the rendezvous has another
 * port than was derived. @why is a clause. Returns as flow_derive().
 */
int flow_move_port(struct flow *flow, const struct env *before, uint16_t port, const char *why,
		   struct err *err);

/** Write the host file that a framework has made, if any. Returns 0; or the negative errno of what failed. */
int flow_write_hostfile(struct flow *flow, struct err *err);
