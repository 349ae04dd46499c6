// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A training cluster under any manager. Sources and launchers fill it in, frameworks read it, and
 * neither side knows the other.
 *
 * It has two layers with different owners. The placement (hosts, nodes, job) belongs to the cluster
 * manager. The task (rank, size) belongs to the launcher that started this process. A launcher
 * often runs inside a manager, as mpirun does in a Slurm job. Each layer comes from one owner as a
 * whole, and is never mixed.
 */

#include "base/notes.h"
#include "base/setting.h"
#include "cluster/hosts.h"
#include "env/env.h"

/** A number that is not known. */
#define UNKNOWN UINT32_MAX

/** The kind of this process. */
enum scope {
	/** The only process on its node. It may start the ranks itself (torchrun in a container). */
	SCOPE_NODE,
	/** One of the ranks. */
	SCOPE_TASK,
	/**
	 * A batch script or the like, not a rank. It knows the nodes, and all ranks inherit its
	 * environment.
	 */
	SCOPE_ALLOCATION,
};

/** The order in which the ranks are distributed to the nodes. */
enum layout {
	LAYOUT_UNKNOWN,
	/** Node after node. */
	LAYOUT_BLOCK,
	/** One rank to each node in turn, skipping full nodes. */
	LAYOUT_CYCLIC,
};

/** The manager's layer. A source may leave fields unset: each field has a value for "not known". */
struct placement {
	/**
	 * The origin of the hosts, for messages: a variable, option or file. NULL: the hosts are not
	 * known, and `hosts` is empty.
	 */
	const char *hosts_from;
	/** Names in node-rank order. */
	struct hosts hosts;
	/**
	 * If the names of the hosts are not known: what is missing, and the way out, as a clause. NULL: a
	 * general text is used.
	 */
	const char *hosts_lack;
	/** The order of the manager's list is not known; `hosts` is then empty. */
	bool shuffled;
	/**
	 * The number of nodes, or UNKNOWN, and the variable that gives it. A source sets it only if
	 * `hosts` is empty.
	 */
	uint32_t nnodes;
	const char *nnodes_from;
	/** This node's index in `hosts`, or UNKNOWN, and the variable that gives it. */
	uint32_t node_rank;
	const char *node_rank_from;
	/** The scope if no launcher started this process: SCOPE_NODE or SCOPE_ALLOCATION. */
	enum scope scope;
	/** The number of processes that a launcher on each node should start, or UNKNOWN. */
	uint32_t nproc_per_node;
	/** Ranks on each node, in the order of `hosts`, or NULL. */
	const uint32_t *tasks_per_node;
	/**
	 * The number of processes that a launcher may start on each node, in the order of `hosts`; or
	 * NULL.
	 */
	const uint32_t *slots;
	enum layout layout;
	/** Index in `hosts` of the node that rank 0 runs on. */
	uint32_t master;
	/**
	 * The host of rank 0 as the manager names it, and the variable. Empty: rank 0 runs on
	 * hosts[master].
	 */
	struct str master_addr;
	const char *master_addr_from;
	/** The manager's port in host byte order, and the variable. 0: none. */
	uint16_t port;
	const char *port_from;
	/** Jobs may share a node, so a fixed port would collide: derive the port from the job. */
	bool shared_nodes;
	/** Job id as the manager writes it, or NULL, and the step in the job. */
	const char *job_id;
	uint32_t step;
	/**
	 * The path of a file that the members of the job can read, and no other process: the roll call's
	 * secret. NULL: none.
	 */
	const char *secret_file;
};

/** The launcher's layer: numbers, or UNKNOWN. */
struct task {
	uint32_t world_size;
	uint32_t rank;
	uint32_t local_size;
	uint32_t local_rank;
	/** This process's host as the launcher names it, or empty. */
	struct str host;
};

struct source;
struct launcher;

struct cluster {
	/** The source of the placement. NULL: only a launcher was found. */
	const struct source *source;
	/** The launcher that gives the task. NULL: none does. */
	const struct launcher *launcher;
	/**
	 * A launcher started this process as one of several ranks, but does not provide their number: no
	 * ranks are derived, and `launcher` is NULL.
	 */
	bool uncounted;
	/** The variable or option by which the source, or else the launcher, was recognised. */
	const char *recognised_by;
	enum scope scope;
	/** Number of nodes, or UNKNOWN. */
	uint32_t nnodes;
	struct placement place;
	struct task task;
	/** The master: a name or bare address, empty if unknown; and its port, in host byte order. */
	struct str master_addr;
	uint16_t master_port;
	/** The master's index in the hosts: place.master, or that of the host that the user gave. */
	uint32_t master_node;
	/** The origin of address and port: a clause each. */
	const char *master_addr_why;
	const char *master_port_why;
	/**
	 * The variable or option by which the user or the manager set the port. NULL: the port was
	 * derived.
	 */
	const char *master_port_from;
};

/** A file of a manager. */
struct input_file {
	const char *path;
	struct str text;
	const struct input_file *next;
};

/** The input from which a cluster is read. */
struct input {
	struct arena *arena;
	const struct env *env;
	struct notes *notes;
	/** Replaces "/" in the paths of managers' files; NULL: "/". */
	struct setting root;
	/** Opens the managers' files; NULL: no file is opened. */
	struct access *access;
	/** Files that replace those on the disk; NULL: none. */
	const struct input_file *files;
	/** Add each file that is read to `files`, for a report. */
	bool keeps_files;
	/** This host's name; NULL: ask the kernel when it is needed. */
	const char *hostname;
	/** --cluster: a source's name; NULL: the first source that recognises its manager. */
	struct setting cluster;
	struct setting hosts;
	struct setting node_rank;
	struct setting nnodes;
	struct setting master_addr;
	struct setting master_port;
	/** --hostfile: a path. */
	struct setting hostfile;
	/** --read: the names of a manager's variables (source/read.h). */
	struct setting read;
	/** --scope: the scope's name, for messages; NULL: use the manager's or launcher's. */
	struct setting scope;
	enum scope scope_given;
	/**
	 * Finds the first two of the @n @hosts that are addresses of this machine, and returns the number
	 * found, at most 2. It opens sockets, so it is called only if no name identifies this host.
	 */
	uint32_t (*own_addresses)(const struct str *hosts, uint32_t n, uint32_t found[2]);
	/** For sources: what recognition found before it reads one. No input, but they need both. */
	struct found {
		/** The launcher that started this process, and its task. NULL: no launcher did. */
		const struct launcher *launcher;
		struct task task;
	} found;
};

/** Whether it is a cluster of one: one node and at most one task. Nothing needs to be derived for it. */
bool cluster_is_single(const struct cluster *cluster);

/** Whether there is one node; or, of several, all ranks of the launcher run on one. */
bool cluster_has_one_node(const struct cluster *cluster);

/** Whether all ranks of the launcher run on one node, which need not be the manager's first. */
bool cluster_shares_node(const struct cluster *cluster);

/**
 * Whether neither the number of nodes nor the master is known. Such a cluster is described, but nothing
 * is derived from it.
 */
bool cluster_is_vague(const struct cluster *cluster);

/**
 * This node's number for torchrun's static rendezvous, which number 0 opens on the master and to which
 * the other nodes connect. So the result is the node rank, except that the master's node gets 0 and the
 * nodes before it move up by one. UNKNOWN if the node rank is UNKNOWN.
 */
uint32_t cluster_rendezvous_rank(const struct cluster *cluster);

/** The same if the master is the node with index @master. */
uint32_t cluster_rank_around(const struct cluster *cluster, uint32_t master);

/** The index of @host; the master's index if the list does not have @host. */
uint32_t cluster_node_at(const struct cluster *cluster, struct str host);

/** "node", "task" or "allocation". */
const char *scope_name(enum scope scope);
