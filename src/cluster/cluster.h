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

/** What this process is. */
enum scope {
	/** The only process on its node. It may start the ranks itself (torchrun in a container). */
	SCOPE_NODE,
	/** One of the ranks. */
	SCOPE_TASK,
	/** No rank, but a batch script or the like: it knows the nodes; all ranks inherit what it sets. */
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
	/** What gave the hosts, for messages. NULL: they are not known, and `hosts` is empty. */
	const char *hosts_from;
	/** Names in node-rank order. */
	struct hosts hosts;
	/** What the user can do if the names of the hosts are not known: a clause; NULL: the table says it. */
	const char *hosts_lack;
	/** The manager lists the hosts in another order, which is not known; then `hosts` is empty. */
	bool shuffled;
	/** Their number, or UNKNOWN, and what gave it. Set only without `hosts`, from which it follows. */
	uint32_t nnodes;
	const char *nnodes_from;
	/** This node's index in `hosts`, or UNKNOWN, and the variable that gives it. */
	uint32_t node_rank;
	const char *node_rank_from;
	/** SCOPE_NODE or SCOPE_ALLOCATION: what this process is if no launcher started it. */
	enum scope scope;
	/** The number of processes that a launcher on each node should start, or UNKNOWN. */
	uint32_t nproc_per_node;
	/** Ranks on each node, in the order of `hosts`, or NULL. */
	const uint32_t *tasks_per_node;
	/** How many processes a launcher may start on each node, in the same order; or NULL. */
	const uint32_t *slots;
	enum layout layout;
	/** Index in `hosts` of the node that rank 0 runs on. */
	uint32_t master;
	/** The host of rank 0 as the manager names it, and the variable. Empty: it is hosts[master]. */
	struct str master_addr;
	const char *master_addr_from;
	/** The manager's port in host byte order, and the variable. 0: there is none. */
	uint16_t port;
	const char *port_from;
	/** Jobs may share a node, so a fixed port would collide: derive the port from the job. */
	bool shared_nodes;
	/** Job id as the manager writes it, or NULL, and the step in the job. */
	const char *job_id;
	uint32_t step;
	/** A file that all members of the job have, and only they; or NULL. The roll call's secret. */
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
	/** The launcher that started this process. NULL: none did. */
	const struct launcher *launcher;
	/** The variable or option by which the source, or else the launcher, was recognised. */
	const char *recognised_by;
	enum scope scope;
	/** Number of nodes, or UNKNOWN. */
	uint32_t nnodes;
	struct placement place;
	struct task task;
	/** The rendezvous: a name or bare address, empty if unknown; and a port, in host byte order. */
	struct str master_addr;
	uint16_t master_port;
	/** The rendezvous in the hosts: place.master, or the host that the user chose. */
	uint32_t master_node;
	/** Where address and port come from: a clause. */
	const char *master_addr_why;
	const char *master_port_why;
	/** Who set the port: the user or the manager. NULL: it was derived. */
	const char *master_port_from;
	/** MASTER_PORT is not a port: Kubernetes set it for a service called "master". */
	bool service_link;
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
	/** Opens them; NULL: nothing is opened. */
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
	enum scope scope_told;
	/**
	 * Finds the first two of @hosts that are addresses of this machine, and returns how many
	 * were found, at most 2. It opens sockets, so it is called only if no name identifies this
	 * host.
	 */
	uint32_t (*own_addresses)(const struct hosts *hosts, uint32_t found[2]);
	/**
	 * A complete launcher (cluster/launcher.h) whose variables are left over from another job:
	 * recognising has to begin anew without them. NULL: none.
	 */
	const struct launcher *leftover;
	/** A launcher that has set a rank without a size, and so does not count; or NULL. */
	const struct launcher *half;
	/** The task layer as found so far; for sources. */
	const struct launcher *launcher;
	struct task task;
};

/** A cluster of one: one node and at most one task. Nothing needs to be derived for it. */
bool cluster_is_single(const struct cluster *cluster);

/** Neither the number of nodes nor the master is known. It is described; nothing is derived from it. */
bool cluster_is_vague(const struct cluster *cluster);

/**
 * This node's number for a static rendezvous. Number 0 opens the rendezvous, and the other nodes
 * look for it on the master. So the result is the node rank, except that the master's node gets 0
 * and the nodes before it move up by one. UNKNOWN if the node rank is UNKNOWN.
 */
uint32_t cluster_rendezvous_rank(const struct cluster *cluster);

/** The same for a rendezvous on the node with index @master. */
uint32_t cluster_rank_around(const struct cluster *cluster, uint32_t master);

/** The index of @host; the master's if it is not in the list. */
uint32_t cluster_node_at(const struct cluster *cluster, struct str host);

/** "node", "task" or "allocation". */
const char *scope_name(enum scope scope);
