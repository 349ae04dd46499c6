// SPDX-License-Identifier: Apache-2.0

/** Finds this machine among the hosts, if no manager identifies the node. */

#include "cluster/self.h"

#include "cluster/read.h"

#include <errno.h>
#include <unistd.h>

struct own_name input_own_name(const struct input *in) {
	struct own_name name = {""};
	if (!in->hostname) {
		gethostname(name.s, sizeof(name.s) - 1);
		return name;
	}
	size_t len = strlen(in->hostname);
	memcpy(name.s, in->hostname, len < sizeof(name.s) ? len : sizeof(name.s) - 1);
	return name;
}

const char *input_hostname(struct input *in) {
	if (!in->hostname) {
		struct own_name name = input_own_name(in);
		in->hostname = arena_text(in->arena, name.s, strlen(name.s));
	}
	return in->hostname;
}

/** The way to give this node's number: an option or a variable, as the hosts were given. */
static const char *number_this(const struct input *in) {
	const struct setting *list = in->hosts.value ? &in->hosts : &in->hostfile;
	return list->value && !setting_by_option(list) ? "set DISTINIT_NODE_RANK=N" : "pass --node-rank=N";
}

int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err) {
	uint32_t i = hosts_find_loosely(hosts, str_of(input_hostname(in))), found[2];
	if (i < hosts->n) {
		*index = i;
		return 1;
	}
	uint32_t n = in->own_addresses(hosts->names, hosts->n, found);
	if (n == 2) {
		return err_set(err, EINVAL, "both %s and %s are addresses of this machine; %s (0 to %u)",
			       quote(hosts_at(hosts, found[0])).s, quote(hosts_at(hosts, found[1])).s,
			       number_this(in), hosts->n - 1);
	}
	if (n == 1) {
		*index = found[0];
	}
	return (int)n;
}

uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts) {
	uint32_t i = hosts_find_loosely(hosts, in->found.task.host);
	if (i == hosts->n) {
		i = hosts_find_loosely(hosts, str_of(input_hostname(in)));
	}
	return i == hosts->n ? UNKNOWN : i;
}

int self_node_rank(struct input *in, const char *list, struct placement *out, struct err *err) {
	if (in->node_rank.value) {
		out->node_rank_from = in->node_rank.from;
		return parse_u32(in->node_rank.from, in->node_rank.value, &out->node_rank, err);
	}
	// The launcher's name for this host comes first: the launcher used that name to start us
	// here.
	out->node_rank = out->hosts.n <= 1 ? 0 : hosts_find_loosely(&out->hosts, in->found.task.host);
	if (out->hosts.n <= 1 || out->node_rank < out->hosts.n) {
		return 0;
	}
	int r = self_find(in, &out->hosts, &out->node_rank, err);
	if (r == 0) {
		// If a name is not valid, that is the better error message.
		r = hosts_check(&out->hosts, in->arena, out->hosts_from, err);
		if (r < 0) {
			return r;
		}
		return err_set(err, EINVAL, "%s=%s: this machine, %s, is not in the list; %s (0 to %u)",
			       out->hosts_from, quote_text(list).s, quote_text(input_hostname(in)).s,
			       number_this(in), out->hosts.n - 1);
	}
	return r < 0 ? r : 0;
}
