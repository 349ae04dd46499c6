// SPDX-License-Identifier: Apache-2.0

#include "flow/master.h"

#include "base/num.h"
#include "cluster/launcher.h"
#include "cluster/read.h"
#include "cluster/rendezvous.h"

#include <errno.h>
#include <string.h>

bool master_is_given(const struct flow *f, struct given_master *out) {
	static const struct {
		const char *host, *port, *rank, *size;
	} ways[] = {{"PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK", "PET_NNODES"},
		    {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"}};
	bool known = f->has_cluster && !cluster_is_vague(&f->cluster);
	bool started = f->started_by && f->started_by->complete;
	for (size_t i = 0; !known && !started && !f->broken && i < sizeof(ways) / sizeof(ways[0]); i++) {
		uint32_t rank, size;
		if (env_value(f->env, ways[i].host) &&
		    num_read_u32(str_of(env_value(f->env, ways[i].rank)), &rank) == 0 &&
		    num_read_u32(str_of(env_value(f->env, ways[i].size)), &size) == 0 && size > 1 &&
		    rank < size) {
			*out = (struct given_master){ways[i].host, ways[i].port, rank};
			return true;
		}
	}
	return false;
}

bool master_is_uncounted(const struct flow *f, bool asked) {
	const struct cluster *c = &f->cluster;
	struct given_master unused;
	bool vague = f->has_cluster && !cluster_is_single(c) && cluster_is_vague(c) &&
		     !master_is_given(f, &unused);
	return vague && (asked || (c->place.node_rank != UNKNOWN && c->place.node_rank > 0));
}

const char *master_why_not(const struct flow *f, bool asked) {
	const struct cluster *c = &f->cluster;
	struct given_master given;
	if (master_is_given(f, &given)) {
		return given.rank ? NULL : "this is number 0, the master";
	}
	if (!f->has_cluster) {
		bool given_addr = env_value(f->env, "MASTER_ADDR") || f->input.master_addr.value;
		return asked && given_addr ? NULL : "no cluster";
	}
	if (cluster_is_single(c)) {
		return "a cluster of one";
	}
	if (cluster_is_vague(c)) {
		return "only this node's number is known, not the cluster";
	}
	switch (c->scope) {
	case SCOPE_ALLOCATION:
		return "this process is not a rank, and it starts the master itself";
	case SCOPE_TASK:
		return c->task.rank == 0 ? "this is rank 0, the master" : NULL;
	case SCOPE_NODE:
		break;
	}
	return cluster_rendezvous_rank(c) == 0 ? "this is the master's node" : NULL;
}

int master_host(const struct flow *f, const char **host, struct err *err) {
	struct given_master given;
	const char *from = master_is_given(f, &given) ? given.host_from : "MASTER_ADDR";
	const char *value = env_value(f->env, from);
	if (!value && f->has_cluster && f->cluster.master_addr.len) {
		value = arena_text(f->arena, f->cluster.master_addr.p, f->cluster.master_addr.len);
	} else if (!value && f->input.master_addr.value) {
		from = f->input.master_addr.from;
		value = f->input.master_addr.value;
	}
	if (!value) {
		return err_set(err, EINVAL,
			       "cannot wait for the master, because its address is not known: "
			       "set MASTER_ADDR, or pass --master-addr or --hosts");
	}
	return host_read(f->arena, from, value, host, err);
}

int master_port(const struct flow *f, uint16_t *out, struct err *err) {
	struct given_master given;
	bool is_given = master_is_given(f, &given);
	const char *from = is_given ? given.port_from : "MASTER_PORT", *value = env_value(f->env, from);
	bool service_link = f->has_cluster && is_service_link(value);
	if (value && !service_link) {
		return parse_port(from, value, out, err);
	}
	if (f->has_cluster) {
		*out = f->cluster.master_port;
		return 0;
	}
	if (is_given && !f->input.master_port.value) {
		*out = RENDEZVOUS_PORT;
		return 0;
	}
	const struct setting *setting = &f->input.master_port;
	return setting->value ? parse_port(setting->from, setting->value, out, err)
			      : err_set(err, EINVAL,
					"--for=tcp: the master's port is not known: set MASTER_PORT, "
					"or pass --master-port");
}
