// SPDX-License-Identifier: Apache-2.0

#include "flow/recognise.h"

#include "cluster/read.h"
#include "source/row.h"

#include <errno.h>
#include <string.h>

static int check_master(struct input *in, struct err *err) {
	struct setting *addr = &in->master_addr, *port = &in->master_port;
	int r = addr->value ? host_read(in->arena, addr->from, addr->value, &addr->value, err) : 0;
	uint16_t number;
	return r == 0 && port->value ? parse_port(port->from, port->value, &number, err) : r;
}

/** Check that the user describes the cluster in one way only. */
static int check_given_hosts(const struct input *in, struct err *err) {
	const struct {
		const struct setting *setting;
		const char *source;
	} ways[] = {{&in->hosts, "manual"}, {&in->hostfile, "hostfile"}, {&in->read, "read"}};
	const struct setting *first = NULL;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct setting *setting = ways[i].setting;
		if (setting->value && first) {
			return err_set(err, EINVAL, "%s and %s contradict each other; one of them is enough",
				       first->from, setting->from);
		}
		if (setting->value && in->cluster.value && strcmp(in->cluster.value, ways[i].source) != 0) {
			return err_set(err, EINVAL,
				       "%s and %s=%s contradict each other; one of them is enough",
				       setting->from, in->cluster.from, quote_text(in->cluster.value).s);
		}
		first = setting->value ? setting : first;
	}
	return 0;
}

int input_check(struct input *in, struct err *err) {
	const struct setting *read = &in->read, *nnodes = &in->nnodes;
	uint32_t number;
	int r = check_given_hosts(in, err);
	// A malformed --read is a wrong option, which --lenient does not forgive.
	r = r < 0 || !read->value ? r : row_check(read->from, read->value, err);
	r = r < 0 || !nnodes->value ? r : parse_nnodes(nnodes->from, nnodes->value, &number, err);
	return r < 0 ? r : check_master(in, err);
}
