// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A training cluster, whoever manages it: sources and launchers fill it in, frameworks read it, and neither knows the other.
 *
 * It has two layers with different owners. The placement (hosts, nodes, job) is the cluster manager's; the task (rank,
 * size) is that of whatever started this very process. A launcher often runs inside a manager, as mpirun does in a Slurm
 * job; each layer is taken whole from one owner, never mixed.
 */

#include "base/notes.h"
#include "base/told.h"
#include "cluster/hosts.h"
#include "env/env.h"

/** A number that nobody tells. */
#define UNKNOWN UINT32_MAX

/** What this process is. */
enum scope {
	/** One of one process per node, which may start the ranks itself (torchrun in a container). */
	SCOPE_NODE,
	/** One of the ranks. */
	SCOPE_TASK,
	/** A batch script or the like: the nodes are known, but this is no rank, and what it sets reaches every rank. */
	SCOPE_ALLOCATION,
};

/** In what order the ranks are dealt to the nodes. */
enum layout {
	LAYOUT_UNKNOWN,
	/** Node after node. */
	LAYOUT_BLOCK,
	/** A rank to each node in turn, passing over those that are full. */
	LAYOUT_CYCLIC,
};

/** The manager's layer. A source may leave out what it does not know; each field has a value that says so. */
struct placement {
	/** The variable or option that gave the hosts, for messages. NULL: the hosts are not told, and `hosts` is empty. */
	const char *hosts_from;
	/** Names in node-rank order. */
	struct hosts hosts;
	/** How many nodes there are, or UNKNOWN, and where that stands. Only where the hosts are not told: else it follows. */
	uint32_t nnodes;
	const char *nnodes_from;
	/** This node's index in `hosts`, or UNKNOWN, and where that stands. */
	uint32_t node_rank;
	const char *node_rank_from;
	/** SCOPE_NODE or SCOPE_ALLOCATION: what this process is where no launcher started it. */
	enum scope scope;
	/** Processes that a launcher on each node is to start, or UNKNOWN. */
	uint32_t nproc_per_node;
	/** Ranks on each node, in the order of `hosts`, or NULL. */
	const uint32_t *tasks_per_node;
	/** Slots on each node, in the same order, or NULL: what a launcher may start there, and not what runs. For `explain`. */
	const uint32_t *slots;
	enum layout layout;
	/** Index in `hosts` of the node that rank 0 runs on. */
	uint32_t master;
	/** The host of rank 0 as the manager names it, with where it stands; empty: it is hosts[master]. */
	struct str master_addr;
	const char *master_addr_from;
	/** Rendezvous port that the manager tells, in host byte order, with where it stands. 0: it tells none. */
	uint16_t port;
	const char *port_from;
	/** Jobs may share a node, so that a fixed port would collide: derive it from the job. */
	bool shared_nodes;
	/** Job id as the manager writes it, or NULL, and the step in it. */
	const char *job_id;
	uint32_t step;
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
	/** Who gave the placement; NULL: only a launcher was found. */
	const struct source *source;
	/** Who gave the task; NULL: no launcher started this process. */
	const struct launcher *launcher;
	/** The variable or option by which the source, or else the launcher, was recognised. */
	const char *recognised_by;
	enum scope scope;
	/** Number of nodes, or UNKNOWN. */
	uint32_t nnodes;
	struct placement place;
	struct task task;
	/** The rendezvous: a name or a bare address, empty if unknown; and a port, in host byte order. */
	struct str master_addr;
	uint16_t master_port;
	/** Index in the hosts of the node that it is on: place.master, or that of the host that the user chose. */
	uint32_t master_node;
	/** Where address and port come from: one clause. */
	const char *master_addr_why;
	const char *master_port_why;
	/** MASTER_PORT is what Kubernetes made for a service called "master", not a port. */
	bool service_link;
};

/** A manager's file. */
struct input_file {
	const char *path;
	struct str text;
	const struct input_file *next;
};

/** What a cluster is read from. */
struct input {
	struct arena *arena;
	const struct env *env;
	struct notes *notes;
	/** Stands for "/" where a manager's file is looked for; NULL: "/". */
	const char *root;
	/** Files that stand for those on the disk; NULL: none. */
	const struct input_file *files;
	/** Add each file that is read to `files`, for a report. */
	bool keeps_files;
	/** This host's name; NULL: ask the kernel, once it matters. */
	const char *hostname;
	/** --cluster: a source's name; NULL: the first that recognises its manager. */
	struct told cluster;
	struct told hosts;
	struct told node_rank;
	struct told nnodes;
	struct told master_addr;
	struct told master_port;
	/** --hostfile: a path. */
	struct told hostfile;
	/** --read: what a manager's variables are called (source/read.h). */
	struct told read;
	/** --scope: the scope's name, for messages; NULL: what the manager or launcher says. */
	struct told scope;
	enum scope scope_told;
	/**
	 * Finds the first two of @hosts that are addresses of this machine, and returns how many there are, at most 2.
	 * It opens sockets, so it is asked only where no name tells which host this is.
	 */
	uint32_t (*own_addresses)(const struct hosts *hosts, uint32_t found[2]);
	/** What has been found of the task layer; for sources. */
	const struct launcher *launcher;
	struct task task;
};

/** A cluster of one: one node and at most one task. It needs nothing. */
bool cluster_is_single(const struct cluster *cluster);

/**
 * What is told is no cluster: neither how many nodes there are nor where the master is, but this node's number at most. It is described,
 * and nothing follows from it.
 */
bool cluster_is_vague(const struct cluster *cluster);

/**
 * This node's number for a static rendezvous, which opens on number 0 and is looked for at the master: the node rank, but that the
 * master's node changes places with those in front of it. UNKNOWN where the node rank is.
 */
uint32_t cluster_rendezvous_rank(const struct cluster *cluster);

/** The same for a rendezvous on another node, number @master of the hosts. */
uint32_t cluster_rank_around(const struct cluster *cluster, uint32_t master);

/** The node that is called @host, which may have the brackets of an IPv6 address; the master's where it is none of the hosts. */
uint32_t cluster_node_at(const struct cluster *cluster, struct str host);

/** "node", "task" or "allocation". */
const char *scope_name(enum scope scope);
