// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * One run: from the inherited environment and the user's settings to the environment of the workload.
 *
 *     input -> source, launcher -> cluster -> frameworks -> env block -> directives
 *
 * The change of privileges is planned first, because files are opened with the rights that the workload
 * will have, unless the command line names them (access/access.h).
 */

#include "access/access.h"
#include "cluster/cluster.h"
#include "env/directive.h"
#include "framework/framework.h"
#include "priv/plan.h"

/** The user's settings, except those for reading a cluster (struct input). All zero: none. */
struct wants {
	/** --cluster=none. */
	bool no_cluster;
	/** If the cluster is broken, warn instead of failing, and derive nothing. */
	bool lenient;
	struct setting frameworks;
	/** The workload's command; NULL: none. It is read for warnings only. */
	char *const *command;
	/** The mark of an outer distinit on its variables (flow/derived.h); NULL: none. */
	const char *derived;
	enum ranks ranks;
	/** Seconds, as in struct derivation. */
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
	/** The app whose sections of the files are applied. */
	struct setting app;

	struct priv_options privileges;
	/** We stay the workload's parent, and keep the capability to terminate it. */
	bool supervises;
	/**
	 * If a change of privileges is not possible, fail; otherwise, the reason is stored in
	 * flow.plan_error.
	 */
	bool must_change;
	/** Show the user the warnings about the change. */
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
	/**
	 * The launcher that started this process, also where no cluster follows from it: torchrun has set all
	 * variables of its children, and PRRTE does not tell the number of ranks. NULL: no launcher did.
	 */
	const struct launcher *started_by;
	/** If `lenient`: why the recognised cluster is broken; or NULL. */
	const char *broken;
	struct derivation derivation;
	/** The interface that leads to the other nodes. `why` is NULL: not searched yet. */
	struct interface interface;
	/** The user's TF_CONFIG that flow_changes() has judged, and what it is. */
	const char *judged, *judged_as;
	/** The signal that ended a look-up of names, and so the derivation; or 0. */
	int signal;
	struct directive_levels levels;

	/** The requested privileges. If there are any: our credentials at the start, and the plan. */
	struct wishes wishes;
	struct credentials was;
	struct priv_plan plan;
	/** Why the plan failed, or NULL. */
	const char *plan_error;
	/** Opens files, once the privileges are planned. */
	struct access access;
};

/** Initialise @flow. The caller then fills in the fields of the input and the wants. */
void flow_init(struct flow *flow, struct arena *arena, struct env *env, struct notes *notes);

/** Find the cluster. Returns 0, also if there is none; -EINVAL; or the error of a file. */
int flow_find_cluster(struct flow *flow, struct err *err);

/**
 * Run all steps: plan the privileges, read the directives, find the cluster, derive, set the user's
 * identity, apply the directives. Nothing outside of @flow changes.
 * Returns 0; -EINVAL, -E2BIG, the error of a directive file, the result of priv_plan(), or -EINTR, with
 * @flow->signal, if a signal came while a name was looked up.
 */
int flow_derive(struct flow *flow, struct err *err);

/**
 * Derive again from @before, the environment before flow_derive(), because the caller has changed the
 * cluster. The interface that leads to the other nodes stays. Returns as flow_derive().
 */
int flow_derive_again(struct flow *flow, const struct env *before, struct err *err);

/** The same, because the master has another port than the derived one. @why is a clause. */
int flow_move_port(struct flow *flow, const struct env *before, uint16_t port, const char *why,
		   struct err *err);

/** Write the host file, if a framework made one. Returns 0; or the negative errno of what failed. */
int flow_write_hostfile(struct flow *flow, struct err *err);
