// SPDX-License-Identifier: Apache-2.0

/**
 * Executions of a distributed task of Valohai. Each has VH_JOB_ID=exec-..., as all executions do,
 * and a file /valohai/config/distributed.json, which only these have:
 *
 *     {"config": {"group_name": "task-0180...", "member_id": "2", "required_count": 3},
 *      "members": [{"member_id": "0", "network": {"local_ips": ["10.0.16.60", "fe80::..."],
 *                                                 "exposed_ports": {"1234": "1234"}}}, ...]}
 *
 * Members are in no order. The rank is a member's index when they are sorted by member_id: as
 * numbers, or as texts if one is not a number. The first local address is the one to use. Without the
 * host's network, only the exposed ports can be reached.
 *
 * Reference: "Configuration Files" of distributed training and "System Environment Variables" in
 * Valohai's documentation; valohai/internals/distributed_config, and tests/test_distributed.py, of
 * valohai-utils 0.7.0.
 */

#include "base/buf.h"
#include "base/json_read.h"
#include "base/num.h"
#include "cluster/source.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

#define FILE_PATH "/valohai/config/distributed.json"
#define JOB	  "VH_JOB_ID"

/** A member has about 600 bytes. */
#define FILE_BYTES ((size_t)16 << 20)

struct valohai_member {
	struct str id;
	uint32_t number;
	const cJSON *network;
};

static const char *valohai_detect(const struct input *in) {
	return env_value(in->env, JOB) && input_has_file(in, FILE_PATH) ? FILE_PATH : NULL;
}

static const cJSON *item(const cJSON *object, const char *key) {
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static int by_number(const void *a, const void *b) {
	const struct valohai_member *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_text(const void *a, const void *b) {
	const struct valohai_member *x = a, *y = b;
	return strcmp(x->id.p, y->id.p);
}

/** Read the members into @members, which has room for them, in the order of their ranks. */
static int read_members(const cJSON *list, struct valohai_member *members, struct err *err) {
	size_t n = 0;
	bool numbers = true;
	const cJSON *entry;
	cJSON_ArrayForEach(entry, list) {
		struct valohai_member *m = &members[n++];
		*m = (struct valohai_member){.id = str_of(cJSON_GetStringValue(item(entry, "member_id"))),
					     .network = item(entry, "network")};
		if (!m->id.p) {
			return err_set(err, EINVAL,
				       FILE_PATH ": number %zu of the members has no \"member_id\"; "
						 "pass --hosts and --node-rank",
				       n);
		}
		numbers = num_read_u32(m->id, &m->number) == 0 && numbers;
	}
	qsort(members, n, sizeof(*members), numbers ? by_number : by_text);
	for (size_t i = 1; i < n; i++) {
		if (str_eq(members[i].id, members[i - 1].id)) {
			return err_set(err, EINVAL,
				       FILE_PATH " has the member %s twice; pass --hosts and --node-rank",
				       quote(members[i].id).s);
		}
	}
	return 0;
}

/** The lowest port of @ports that has the same number in the container; 0: there is none. */
static uint16_t exposed_port(const cJSON *ports) {
	uint16_t lowest = 0;
	const cJSON *port;
	cJSON_ArrayForEach(port, ports) {
		uint64_t number;
		const char *inside = cJSON_GetStringValue(port);
		bool same = inside && strcmp(inside, port->string) == 0 &&
			    num_read(str_of(inside), UINT16_MAX, &number) == 0 && number;
		if (same && (!lowest || number < lowest)) {
			lowest = (uint16_t)number;
		}
	}
	return lowest;
}

/** Append the first local address of each of @n members. */
static int put_hosts(struct buf *hosts, const struct valohai_member *members, uint32_t n, struct err *err) {
	for (uint32_t i = 0; i < n; i++) {
		const cJSON *ips = item(members[i].network, "local_ips");
		struct str host = str_of(cJSON_GetStringValue(cJSON_GetArrayItem(ips, 0)));
		if (!host_name_is_fine(host)) {
			return err_set(err, EINVAL,
				       FILE_PATH ": the member %s has no address in \"local_ips\"; "
						 "pass --hosts and --node-rank",
				       quote(members[i].id).s);
		}
		buf_put(hosts, host);
		buf_putc(hosts, ',');
	}
	return 0;
}

/** Fill in @out from @members, in the order of their ranks. @self is this member's id. */
static int read_place(struct input *in, const struct valohai_member *members, uint32_t n, struct str self,
		      struct placement *out, struct err *err) {
	struct buf hosts = BUF(in->arena);
	out->node_rank_from = out->port_from = FILE_PATH;
	out->port = exposed_port(item(members[0].network, "exposed_ports"));
	for (out->node_rank = 0; out->node_rank < n && !str_eq(members[out->node_rank].id, self);
	     out->node_rank++) {
	}
	if (out->node_rank == n) {
		return err_set(err, EINVAL,
			       FILE_PATH
			       ": this member, %s, is not among the members; pass --hosts and --node-rank",
			       quote(self).s);
	}
	int r = put_hosts(&hosts, members, n, err);
	return r < 0 ? r : place_hosts(in, FILE_PATH, buf_text(&hosts), ',', out, err);
}

static int read_json(struct input *in, const cJSON *json, struct placement *out, struct err *err) {
	const cJSON *config = item(json, "config"), *list = item(json, "members");
	const cJSON *count = item(config, "required_count");
	struct str self = str_of(cJSON_GetStringValue(item(config, "member_id")));
	int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	if (!self.p || n == 0 || !cJSON_IsNumber(count)) {
		return err_set(err, EINVAL,
			       FILE_PATH " has no \"config\" with member_id and required_count, or no "
					 "\"members\"; pass --hosts and --node-rank");
	}
	if (count->valuedouble != n) {
		return err_set(
			err, EINVAL,
			FILE_PATH
			": required_count is %d, but there are %d members; pass --hosts and --node-rank",
			count->valueint, n);
	}
	struct valohai_member *members = arena_array(in->arena, (size_t)n, sizeof(*members));
	int r = read_members(list, members, err);
	return r < 0 ? r : read_place(in, members, (uint32_t)n, self, out, err);
}

static int valohai_read(struct input *in, struct placement *out, struct err *err) {
	struct str text;
	cJSON *json;
	int r = input_read_file(in, "Valohai's", FILE_PATH, FILE_BYTES, &text, err);
	r = r < 0 ? r : json_read(FILE_PATH, text.p, &json, err);
	if (r < 0) {
		return -EINVAL;
	}
	r = read_json(in, json, out, err);
	cJSON_Delete(json);
	out->job_id = env_value(in->env, "VH_TASK_ID");
	return r;
}

const struct source source_valohai = {
	.name = "valohai",
	.about = "Valohai execution of a distributed task",
	.known_by = JOB " and " FILE_PATH,
	.reads = READS(JOB, FILE_PATH, "VH_TASK_ID"),
	.leaves = "VH_DIST_MEMBER_INDEX, VH_LOCAL_IP: the file has both for all members",
	.detect = valohai_detect,
	.read = valohai_read,
};
