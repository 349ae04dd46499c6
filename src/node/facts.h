// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a node believes and what it is, as names and values that nodes can compare. Each group has a
 * digest, so that equal nodes exchange nothing more.
 *
 * A fact's value never holds a secret: the value of a variable whose name looks secret is masked,
 * and so are passwords in URLs.
 */

#include "base/buf.h"
#include "cluster/cluster.h"
#include "wire/key.h"

struct view;

enum fact_group {
	/** What it believes of the cluster. */
	FACTS_WORLD,
	/** What it will run. */
	FACTS_PROGRAM,
	/** Variables that have to be the same on all nodes. */
	FACTS_ENV,
	FACTS_DEVICES,
	FACTS_LIMITS,
	N_FACT_GROUPS
};

/** "world", "program", "env", "devices", "limits". */
extern const char *const fact_groups[N_FACT_GROUPS];

/** A fact that is not known. It never differs from another. */
#define FACT_UNKNOWN "?"

/** A longer value is replaced by its digest. */
#define FACT_VALUE_MAX 200

/** The most bytes of an encoded group: the payload of the largest frame. */
#define FACTS_PAYLOAD_MAX (16384 - 4 - 16)

/** How the value of a secret begins. A digest follows, unless there is no key. */
#define FACT_MASKED "(masked)"

/** The only fact of a group that is too large to be sent: its digest. */
#define FACT_TOO_MANY "~"

/** The names in group env, unless the user has others: separated by ':', a final '*' matches any text. */
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
	 * What is sent, the payload of FACTS. Without a key, that has digests of most values.
	 * u8 group; u16 n; n x { u8 length, name; u16 length, value }. All numbers are little-endian.
	 */
	struct str payload[N_FACT_GROUPS];
	/** The first 8 bytes of the SHA-256 of the payload, little-endian. */
	uint64_t digest[N_FACT_GROUPS];
};

/** What the facts are read from. */
struct facts_from {
	struct arena *arena;
	/** /dev, /proc, /sys and the command's files are read through it. */
	const struct view *view;
	/** NULL: there is none. */
	const struct cluster *cluster;
	/** The master's host, or NULL, and port, or 0. */
	const char *master;
	uint16_t port;
	/** The environment that the program will get. */
	const struct env *env;
	/** Names for group env; NULL: facts_env_default. */
	const char *env_names;
	/**
	 * The job's key: masked values are compared by a digest that is made with it. So only those
	 * with the job's secret can try values. NULL: there is no secret. Masked values are not
	 * compared then, and others see digests only.
	 */
	const struct key *key;
	/** The command, which ends with NULL; NULL: there is none. */
	char *const *argv;
	/** The file of its program; NULL: it was not found. */
	const char *file;
	/** The options that have to be the same on all nodes, as "--max-restarts" and what it is here; by name. */
	const struct fact *options;
	uint32_t n_options;
	/**
	 * The interface that was found to lead to the other nodes, or NULL. A derived variable with
	 * this value is not compared: it belongs to the host.
	 */
	const char *interface;
};

/**
 * Read all facts. What cannot be read is FACT_UNKNOWN. Nothing is changed, and no child is started.
 * Call this before limits are changed: they are facts.
 */
void facts_read(const struct facts_from *from, struct facts *out);

/** @value as messages show it: without the digest of a secret. */
const char *fact_shown(const char *value);

/** The value of the fact @name in @list, or NULL. */
const char *facts_find(const struct fact_list *list, const char *name);

/**
 * Decode @payload, which may be hostile, into *@out. The texts are in @arena.
 * Returns 0; -EPROTO if it is malformed, or of another group than @group.
 */
int facts_decode(struct arena *arena, struct str payload, enum fact_group group, struct fact_list *out);
