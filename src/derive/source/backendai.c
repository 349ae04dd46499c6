// SPDX-License-Identifier: Apache-2.0

/**
 * Backend.AI sessions. The manager sets in each container, here in the second of two:
 *
 *     BACKENDAI_CLUSTER_SIZE=2             the number of containers
 *     BACKENDAI_CLUSTER_HOSTS=main1,sub1   all containers, in the same order everywhere
 *     BACKENDAI_CLUSTER_HOST=sub1          the name of this container
 *     BACKENDAI_CLUSTER_LOCAL_RANK=1       this container's rank in the whole session, from 0
 *     BACKENDAI_DIST_MASTER_PORT=12345     the user's rendezvous port, if one was chosen
 *
 * The list has the order of the database: "sub1,main1" was seen (lablup/backend.ai#802), although
 * LOCAL_RANK 0 is main1's. So the main containers are moved to the front and the others keep their
 * order. The result is the same in every container.
 *
 * A session with one container has BACKENDAI_CLUSTER_SIZE=1, and nothing is derived for it. It is
 * recognised only if no other manager describes a cluster. So this source is asked a second time,
 * near the end of the list.
 *
 * Reference: docs/concepts/networking.rst and
 * src/ai/backend/manager/sokovan/scheduler/launcher/launcher.py of Backend.AI.
 */

#include "base/num.h"
#include "cluster/source.h"

#include <errno.h>

#define SIZE  "BACKENDAI_CLUSTER_SIZE"
#define HOSTS "BACKENDAI_CLUSTER_HOSTS"
#define HOST  "BACKENDAI_CLUSTER_HOST"
#define RANK  "BACKENDAI_CLUSTER_LOCAL_RANK"
#define PORT  "BACKENDAI_DIST_MASTER_PORT"

/** The private key of the session, by which its containers reach each other. */
#define SECRET "/home/config/ssh/id_cluster"

/** Whether there is at most one container. Then the other variables describe no cluster. */
static bool is_alone(const struct input *in) {
	uint32_t size;
	return num_read_u32(str_of(env_value(in->env, SIZE)), &size) == 0 && size <= 1;
}

static const char *backendai_detect(const struct input *in) {
	return env_value(in->env, SIZE) && !is_alone(in) ? SIZE : NULL;
}

/** Whether @name is "main" and a number. */
static bool is_main(struct str name) {
	uint32_t number;
	return str_starts(name, STR("main")) && num_read_u32(str_from(name, 4), &number) == 0;
}

/**
 * Set the node rank to this container's index in the list, which is the same in all containers. If its
 * name is not known, use the manager's rank.
 */
static int read_rank(struct input *in, struct placement *out, struct err *err) {
	if (in->found.launcher) {
		// A launcher may have copied these variables from the container that it runs in, as
		// mpirun -x does.
		out->node_rank = launcher_node_rank(in, &out->hosts);
		if (out->node_rank != UNKNOWN || in->found.launcher->copies_env) {
			return 0;
		}
	}
	uint32_t rank = UNKNOWN;
	out->node_rank_from = RANK;
	int r = read_u32(in, RANK, &rank, err);
	r = r < 0 ? r : check_index(RANK, rank, out, err);
	if (r < 0) {
		return r;
	}
	const char *self = env_value(in->env, HOST);
	uint32_t index = self ? hosts_find(&out->hosts, str_of(self)) : out->hosts.n;
	if (index < out->hosts.n) {
		if (rank != UNKNOWN && rank != index) {
			notes_add(in->notes,
				  RANK "=%u, but " HOST "=%s is number %u of the hosts: %u is used", rank,
				  quote_text(self).s, index, index);
		}
		out->node_rank = index;
		return 0;
	}
	if (rank == UNKNOWN && self) {
		return err_set(err, EINVAL,
			       HOST "=%s is not in " HOSTS "=%s, and " RANK " is not set; pass --node-rank",
			       quote_text(self).s, quote_text(env_value(in->env, HOSTS)).s);
	}
	if (rank == UNKNOWN) {
		notes_add(in->notes, "neither " RANK " nor " HOST
				     " is set: node rank 0 is used; --node-rank gives another");
		rank = 0;
	}
	out->node_rank = rank;
	return 0;
}

static int backendai_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t size = 0;
	out->hosts_from = HOSTS;
	int r = read_u32(in, SIZE, &size, err);
	if (r < 0) {
		return r;
	}
	const char *list = env_value(in->env, HOSTS);
	if (!list) {
		return err_set(err, EINVAL, SIZE "=%u, but " HOSTS " is not set" MANAGERS_BOTH, size);
	}
	uint32_t empty;
	r = hosts_split(in->arena, HOSTS, list, ',', &out->hosts, &empty, err);
	if (r < 0) {
		return r;
	}
	if (out->hosts.n != size) {
		return err_set(err, EINVAL, SIZE "=%u, but " HOSTS "=%s lists %u%s" MANAGERS_COUNT, size,
			       quote_text(list).s, out->hosts.n,
			       strchr(list, ' ') ? ": hosts are joined by ','" : "");
	}
	if (empty) {
		notes_add(in->notes, HOSTS "=%s contains an empty name, which is skipped",
			  quote_text(list).s);
	}
	struct str *others = arena_array(in->arena, out->hosts.n, sizeof(*others));
	uint32_t mains = 0, n = 0;
	for (uint32_t i = 0; i < out->hosts.n; i++) {
		struct str name = hosts_at(&out->hosts, i);
		*(is_main(name) ? &out->hosts.names[mains++] : &others[n++]) = name;
	}
	memcpy(out->hosts.names + mains, others, n * sizeof(*others));
	r = read_rank(in, out, err);
	out->port_from = PORT;
	out->secret_file = SECRET;
	return r < 0 ? r : read_port(in, PORT, &out->port, err);
}

const struct source source_backendai = {
	.name = "backendai",
	.about = "Backend.AI session with several containers",
	.known_by = SIZE " of 2 or more",
	.reads = READS(SIZE, HOSTS, HOST, RANK, PORT, SECRET),
	.leaves = "a " RANK " that contradicts " HOST,
	.detect = backendai_detect,
	.read = backendai_read,
};

static const char *alone_detect(const struct input *in) {
	return is_alone(in) ? SIZE : NULL;
}

static int alone_read(struct input *in, struct placement *out, struct err *err) {
	(void)err;
	const char *self = env_value(in->env, HOST);
	out->hosts_from = HOST;
	hosts_single(in->arena, self ? str_of(self) : STR("main1"), &out->hosts);
	out->node_rank = 0;
	return 0;
}

const struct source source_backendai_alone = {
	.name = "backendai",
	.about = "Backend.AI session with one container: nothing is derived",
	.known_by = SIZE " of 0 or 1",
	.reads = READS(SIZE, HOST),
	.detect = alone_detect,
	.read = alone_read,
};
