// SPDX-License-Identifier: Apache-2.0

#include "flow/master.h"

#include "cluster/read.h"

#include <errno.h>
#include <string.h>

const char *master_why_not(const struct flow *f, bool asked) {
	const struct cluster *c = &f->cluster;
	if (!f->has_cluster) {
		bool told = env_value(f->env, "MASTER_ADDR") || f->input.master_addr.value;
		return asked && told ? NULL : "no cluster";
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
	const char *from = "MASTER_ADDR", *value = env_value(f->env, from);
	if (!value && f->has_cluster && f->cluster.master_addr.len) {
		value = arena_text(f->arena, f->cluster.master_addr.p, f->cluster.master_addr.len);
	} else if (!value && f->input.master_addr.value) {
		from = f->input.master_addr.from;
		value = f->input.master_addr.value;
	}
	if (!value) {
		return err_set(err, EINVAL,
			       "cannot wait for the master, because its address is not known: set "
			       "MASTER_ADDR, or pass --master-addr or --hosts");
	}
	return host_read(f->arena, from, value, host, err);
}

int master_port(const struct flow *f, uint16_t *out, struct err *err) {
	const char *value = env_value(f->env, "MASTER_PORT");
	bool service_link = value && f->has_cluster && f->cluster.service_link && strchr(value, ':');
	if (value && !service_link) {
		return parse_port("MASTER_PORT", value, out, err);
	}
	if (f->has_cluster) {
		*out = f->cluster.master_port;
		return 0;
	}
	const struct setting *setting = &f->input.master_port;
	return setting->value ? parse_port(setting->from, setting->value, out, err)
			      : err_set(err, EINVAL,
					"--for=tcp: the master's port is not known: set MASTER_PORT, or pass "
					"--master-port");
}
