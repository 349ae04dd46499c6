// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Frameworks, and code that all of them share. A framework turns a cluster into the variables that it
 * reads. It knows no manager.
 */

#include "base/err.h"
#include "cluster/cluster.h"
#include "framework/tf_roles.h"
#include "framework/torchrun.h"

/** --ranks: whether RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE are set. */
enum ranks {
	/** If the scope is "task". */
	RANKS_AUTO,
	/** Also with one process per node, which is then the node's only rank. */
	RANKS_ALWAYS,
	RANKS_NEVER,
};

/** A variable that a framework did not set, and why; for `explain`. */
struct remark {
	const char *name;
	/** The framework, or "user" if the user's value is kept. */
	const char *by;
	const char *why;
	bool kept;
	const struct remark *next;
};

struct framework;
struct view;

/**
 * The network interface that leads to the other nodes. Frameworks get it as input, and do not
 * search for it.
 */
struct interface {
	/** The kernel's name for it; NULL: it is not known. */
	const char *name;
	/** The network that it leads to, or why it is not known: a clause. */
	const char *why;
	/** This node's address on it; NULL if `name` is. */
	const char *address;
};

/** The form of the lines in a host file. */
enum hostfile_form {
	HOSTFILE_NONE,
	/** "host slots=4": Open MPI, Horovod, DeepSpeed. */
	HOSTFILE_SLOTS,
	/** "host:4": Hydra. */
	HOSTFILE_COLON,
};

/** The host file that frameworks need. They make its text, and flow_write_hostfile() writes it. */
struct hostfile {
	/** The path that the user gave; NULL: none. */
	const char *path;
	/** The text and its form. text.p is NULL: no framework needs a host file, or it cannot be made. */
	struct str text;
	enum hostfile_form form;
};

/** One run of the frameworks for a cluster. */
struct derivation {
	const struct cluster *cluster;
	struct env *env;
	struct notes *notes;
	enum ranks ranks;
	/**
	 * The files of this machine, for frameworks with `sees_machine`; NULL: they cannot be read, and
	 * `unseen` is the reason.
	 */
	struct view *view;
	const char *unseen;
	/** Seconds from TERM until distinit kills the workload (--grace); 0: not given. */
	uint32_t grace_s;
	/** The options of torchrun in the workload's command. */
	struct torchrun_words torchrun;
	/** The result of torchrun_alone(). */
	const char *torchrun_alone;
	/** The given roles for TF_CONFIG; empty: all tasks are workers. */
	struct tf_roles tf_roles;
	/** Set only if frameworks_want_interface() returns true. */
	struct interface interface;
	struct hostfile hostfile;
	/** The framework that is running. */
	const struct framework *framework;
	/** In order of creation. */
	const struct remark *remarks;
	struct remark *last_remark;
};

struct framework {
	const char *name;
	const char *about;
	/** The variables that it sets, for `distinit frameworks`. */
	const char *sets;
	/** Part of the default set. */
	bool standard;
	/** Not part of "all". */
	bool apart;
	/** It reads files of this machine. */
	bool sees_machine;
	/** The host file that it needs. */
	enum hostfile_form hostfile;
	/** The variable for the network interface; NULL: it needs none. */
	const char *interface;
	/** That variable gets this node's address on the interface, not its name. */
	bool own_address;
	/** The name gets the prefix '=': otherwise it stands for all interfaces whose names begin with it. */
	bool exact_interface;
	/**
	 * Checks the user's settings for it before it derives anything; NULL: there are none.
	 * Returns 0; -EINVAL.
	 */
	int (*check)(struct derivation *d, struct err *err);
	void (*derive)(struct derivation *d);
};

/** Set @name. If it has a value already, that is kept. @why is a clause. */
void derive(struct derivation *d, const char *name, struct str value, const char *why);

/** The same for a number. */
void derive_number(struct derivation *d, const char *name, uint32_t value, const char *why);

/**
 * The same for a number of this process or node. Warn if a different value is kept: two processes with
 * the same number hang.
 */
void derive_noted(struct derivation *d, const char *name, uint32_t value, const char *why);

/** The same with "NAME=VALUE" in one text, in the arena. */
void derive_text(struct derivation *d, const char *text, uint32_t name_len, const char *why);

/** Whether @name has a value. If so, it is recorded as kept. */
bool derive_keeps(struct derivation *d, const char *name);

/**
 * Remove @name, a port that Kubernetes made for @service ("tcp://10.0.0.1:80"), with a warning.
 */
void derive_replaces_link(struct derivation *d, const char *name, const char *service);

/** Record why @name is not set, although users may expect it. */
void derive_leaves_out(struct derivation *d, const char *name, const char *why);

/** The same for all of @names, which ends with NULL. */
void derive_leaves_all_out(struct derivation *d, const char *const *names, const char *why);

/** `derive` of the frameworks that need the network interface. */
void derive_interface(struct derivation *d);

/** Derive @name as the master's host, without brackets around an IPv6 address. */
void derive_master_addr(struct derivation *d, const char *name);

/**
 * The same as "host:port", with @before in front ("tcp://"), and with an IPv6 address in brackets. @port:
 * 0 for none.
 */
void derive_address(struct derivation *d, const char *name, const char *before, uint16_t port,
		    const char *why);

/**
 * `derive` of the frameworks that need a host file: make its text, and set all their variables to its
 * path. If that is not possible, warn if the user asked for a host file.
 */
void derive_hostfile(struct derivation *d);

/**
 * A process as frameworks count them: each rank in scope "task", else one per node. The master's process
 * has rank 0.
 */
struct counted {
	uint32_t rank;
	uint32_t size;
};

/**
 * The node where process 0 must run. This is the host or endpoint in the user's variable @name, if
 * it is in the list of hosts; else the master's node.
 */
uint32_t master_node_of(const struct derivation *d, const char *name);

/**
 * Find the rank of this process. Process 0 runs on the host in the variable @master. Returns NULL with
 * *@out set; or why this is not a process, or its number is not known.
 */
const char *process_of(const struct derivation *d, const char *master, struct counted *out);

/**
 * Derive @size (NULL: none) and @rank, the number of processes and this one's, as process_of() counts
 * them; or leave both out.
 */
void derive_process(struct derivation *d, const char *master, const char *size, const char *rank);

/**
 * Why torchrun would train without the cluster's other nodes: a clause with the way out. NULL: there are
 * no other nodes, its variables describe all of them, or its elastic rendezvous finds them. Call this
 * after all frameworks. @derives: torchrun is one of the frameworks; @asked: there is at least one
 * framework.
 */
const char *torchrun_alone(const struct derivation *d, bool derives, bool asked);

/** A sentence on a setting of torchrun that has no effect; NULL: there is none. */
const char *torchrun_hint(const struct derivation *d);

/**
 * Why a program that starts the ranks of its node (torchrun and similar) or of all nodes (mpirun)
 * is wrong here: the ranks are already running, or the program would run several times. NULL: it is
 * right.
 */
const char *starter_misplaced(const struct cluster *cluster);
