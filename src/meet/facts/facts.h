// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Facts of a node, as names and values that nodes can compare: what it has read of the cluster, its program,
 * its environment and its devices. Each group of facts has a digest. Nodes with the same digests exchange
 * nothing more.
 *
 * The value of a fact never contains a secret: the value of a variable whose name looks secret is masked, and
 * so are passwords in URLs.
 */

#include "base/buf.h"
#include "cluster/cluster.h"
#include "wire/key.h"

struct view;

enum fact_group {
	/** The cluster: nodes, tasks, master. */
	FACTS_WORLD,
	/** The program: its words and files. */
	FACTS_PROGRAM,
	/** Variables that must be the same on all nodes. */
	FACTS_ENV,
	FACTS_DEVICES,
	FACTS_LIMITS,
	N_FACT_GROUPS
};

/** "world", "program", "env", "devices", "limits". */
extern const char *const fact_groups[N_FACT_GROUPS];

/** An unknown value. It never counts as different. */
#define FACT_UNKNOWN "?"

/** A value with more bytes is replaced by its digest. */
#define FACT_VALUE_MAX 200

/** An encoded group has at most so many bytes: the payload of the largest frame. */
#define FACTS_PAYLOAD_MAX (16384 - 4 - 16)

/** The beginning of a masked value. With a key, a digest follows. */
#define FACT_MASKED "(masked)"

/** If a group is too large to be sent, this is its only fact: the digest of the group. */
#define FACT_TOO_MANY "~"

/** The names of group env, unless others are given: separated by ':'; a final '*' matches any text. */
extern const char facts_env_default[];

struct fact {
	const char *name;
	const char *value;
};

/** The facts of a group, sorted by name, each name once. */
struct fact_list {
	struct fact *at;
	uint32_t n;
};

struct facts {
	struct fact_list list[N_FACT_GROUPS];
	/**
	 * The payloads of FACTS. Without a key, most values are sent as digests.
	 * u8 group; u16 n; n x { u8 length, name; u16 length, value }. All numbers are little-endian.
	 */
	struct str payload[N_FACT_GROUPS];
	/** The first 8 bytes of the SHA-256 of the payload, little-endian. */
	uint64_t digest[N_FACT_GROUPS];
};

/** The sources of the facts. */
struct facts_from {
	struct arena *arena;
	/** /dev, /proc, /sys and the command's files are read through this view. */
	const struct view *view;
	/** NULL: there is none. */
	const struct cluster *cluster;
	/** The master's host; NULL: not known. */
	const char *master;
	/** The master's port; 0: not known. */
	uint16_t port;
	/** The environment that the program will get. */
	const struct env *env;
	/** The names of group env; NULL: facts_env_default. */
	const char *env_names;
	/**
	 * The job's key. A masked value has a digest that is made with it, so only a process with the job's
	 * secret can try values. NULL: there is no secret; then masked values are not compared, and most
	 * other values are sent as digests.
	 */
	const struct key *key;
	/** The command, which ends with NULL; NULL: there is none. */
	char *const *argv;
	/** The file of its program; NULL: it was not found. */
	const char *file;
	/**
	 * The options that must be the same on all nodes, with their values, sorted by name:
	 * "--max-restarts".
	 */
	const struct fact *options;
	uint32_t n_options;
	/**
	 * The interface of the route to the other nodes; NULL: not known. A derived variable with this value
	 * is not compared, because it may differ between hosts.
	 */
	const char *interface;
};

/**
 * Read all facts. A value that cannot be read is FACT_UNKNOWN. Changes nothing, and starts no child. Must be
 * called before limits are changed, because limits are facts.
 */
void facts_read(const struct facts_from *from, struct facts *out);

/** The text that messages show for @value: without the digest of a masked value. */
const char *fact_shown(const char *value);

/** The value of the fact @name in @list; NULL: @list does not have it. */
const char *facts_find(const struct fact_list *list, const char *name);

/**
 * Decode @payload, which may come from an attacker, into *@out. The texts are copied to @arena.
 * Returns 0; -EPROTO if the payload is malformed, or has another group than @group.
 */
int facts_decode(struct arena *arena, struct str payload, enum fact_group group, struct fact_list *out);
