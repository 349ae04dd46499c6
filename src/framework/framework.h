// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a framework is, and what frameworks share. A framework turns a cluster into the variables that it reads; it knows no
 * manager.
 */

#include "base/err.h"
#include "cluster/cluster.h"
#include "framework/tf_roles.h"

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

/** The network interface that leads to the other nodes. Frameworks are told it, and look for nothing. */
struct interface {
	/** As the kernel calls it; NULL: it is not known. */
	const char *name;
	/** What it leads to, or why it is not known: one clause. */
	const char *why;
};

/** What the lines of a host file look like. */
enum hostfile_form {
	/** "host slots=4": Open MPI, Horovod, DeepSpeed. */
	HOSTFILE_SLOTS,
	/** "host:4": Hydra. */
	HOSTFILE_COLON,
};

/** The host file that frameworks ask for. They make its text; somebody else writes it. */
struct hostfile {
	/** Where it is to be, as the user says; NULL: nowhere. */
	const char *path;
	/** Its text, and of which form that is; NULL: none has asked for one, or there can be none. */
	struct str text;
	enum hostfile_form form;
};

/** One run of the frameworks over a cluster. */
struct derivation {
	const struct cluster *cluster;
	struct env *env;
	struct notes *notes;
	enum ranks ranks;
	/** Who is what in TF_CONFIG; empty: all are workers. */
	struct tf_roles tf_roles;
	/** Found only where frameworks_want_interface() says so. */
	struct interface interface;
	struct hostfile hostfile;
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
	/** It asks for a host file. */
	bool hostfile;
	/** The variable that it puts the network interface into; NULL: it needs none. */
	const char *interface;
	/** What the user told for it is checked before anything is derived; NULL: there is nothing. Returns 0; -EINVAL. */
	int (*check)(struct derivation *d, struct err *err);
	void (*derive)(struct derivation *d);
};

/** Set @name, unless it has a value already: then that is kept. @why is one clause. */
void derive(struct derivation *d, const char *name, struct str value, const char *why);

/** The same for a number. */
void derive_number(struct derivation *d, const char *name, uint32_t value, const char *why);

/** The same for a number of this process or node: another one that is kept is told of, as two with the same hang. */
void derive_noted(struct derivation *d, const char *name, uint32_t value, const char *why);

/** The same with "NAME=VALUE" in one text, in the arena. */
void derive_text(struct derivation *d, const char *text, uint32_t name_len, const char *why);

/** Whether @name has a value, which is then noted as kept. */
bool derive_keeps(struct derivation *d, const char *name);

/** Say why @name is not set, where one might expect it. */
void derive_leaves_out(struct derivation *d, const char *name, const char *why);

/** Derive variable @name from the network interface, with @before in front of its name. */
void derive_interface(struct derivation *d, const char *name, const char *before);

/** Derive @name as the host of the rendezvous; an IPv6 address stands bare. */
void derive_master_addr(struct derivation *d, const char *name);

/** Derive @name as the rendezvous, "host:port", with an IPv6 address in brackets. */
void derive_endpoint(struct derivation *d, const char *name, const char *why);

/**
 * Make the text of the host file, in @form. @counted: a line without its number of ranks is of no use.
 * Returns NULL; or why there is none for this framework, which is noted as well if the user wants one.
 */
const char *derive_hostfile(struct derivation *d, enum hostfile_form form, bool counted);

/** The same, and derive each of @names, which end with NULL, as its path. */
void derive_hostfile_path(struct derivation *d, const char *const *names, enum hostfile_form form);

/** A process as frameworks count them: each rank in scope "task", else one per node, the master's being 0. */
struct counted {
	uint32_t rank;
	uint32_t size;
};

/**
 * The node that process 0 has to be on: the one that @name names, a host or an endpoint, if the user has set it and it is one of the
 * hosts; else the master's.
 */
uint32_t master_node_of(const struct derivation *d, const char *name);

/**
 * Find out which process this is, process 0 being where variable @master says. Returns NULL with *@out set; or why it is none, or not
 * told.
 */
const char *process_of(const struct derivation *d, const char *master, struct counted *out);

/**
 * Why a program that starts the ranks of its node (torchrun and the like) or of all nodes (mpirun) has no place here: the ranks
 * are started already, or several of it would be. NULL: it has one.
 */
const char *starter_misplaced(const struct cluster *cluster);
