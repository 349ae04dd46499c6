// SPDX-License-Identifier: Apache-2.0

#include "source/json_hosts.h"

#include "base/json_read.h"
#include "cluster/endpoint.h"
#include "cluster/read.h"

#include <cjson/cJSON.h>
#include <errno.h>

int json_hosts_put(struct json_hosts *out, const char *what, const char *key, const struct cJSON *array,
		   struct err *err) {
	if (!cJSON_IsArray(array)) {
		return err_set(err, EINVAL, "%s has no list of hosts \"%s\"; an array of names is expected",
			       what, key);
	}
	const cJSON *item;
	cJSON_ArrayForEach(item, array) {
		struct str host = str_of(cJSON_GetStringValue(item));
		uint16_t port;
		// The comma is the separator of the names that are collected here.
		if (!cJSON_IsString(item) || str_find(host, ',') < host.len) {
			return err_set(err, EINVAL, "%s: number %u of the hosts is %s; a name is expected",
				       what, out->n + 1,
				       cJSON_IsString(item) ? quote(host).s : "not a string");
		}
		int r = endpoint_read(what, host, &host, &port, err);
		if (r < 0) {
			return r;
		}
		out->port = out->n ? out->port : port;
		buf_put(&out->text, host);
		buf_putc(&out->text, ',');
		out->n++;
	}
	return 0;
}

/** Read the task's pool and its index in that pool. */
static int read_task_of(const char *what, const cJSON *json, const char **type, uint32_t *index,
			struct err *err) {
	const cJSON *task = cJSON_GetObjectItemCaseSensitive(json, "task");
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(task, "index");
	*type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(task, "type"));
	double value = cJSON_IsNumber(number) ? number->valuedouble : -1;
	if (!*type || !(value >= 0 && value < HOSTS_MAX) || value != (uint32_t)value) {
		return err_set(err, EINVAL,
			       "%s has no task with a type and an index; "
			       "\"task\": {\"type\": \"worker\", \"index\": 0} is expected",
			       what);
	}
	*index = (uint32_t)value;
	return 0;
}

static int read_pools(const char *what, const cJSON *json, const char *const *pools, struct json_hosts *hosts,
		      uint32_t *rank, struct err *err) {
	const cJSON *cluster = cJSON_GetObjectItemCaseSensitive(json, "cluster");
	const char *type = "";
	uint32_t index = 0;
	if (!cJSON_IsObject(cluster)) {
		return err_set(err, EINVAL,
			       "%s has no object \"cluster\"; "
			       "\"cluster\": {\"worker\": [\"HOST:PORT\"]} is expected",
			       what);
	}
	int r = read_task_of(what, json, &type, &index, err);
	for (; r == 0 && *pools; pools++) {
		const cJSON *pool = cJSON_GetObjectItemCaseSensitive(cluster, *pools);
		uint32_t before = hosts->n;
		if (!pool) {
			continue;
		}
		if (cJSON_IsObject(pool)) {
			hosts->n = 0;
			*rank = UNKNOWN;
			return 0;
		}
		r = json_hosts_put(hosts, what, *pools, pool, err);
		if (r < 0 || strcmp(type, *pools) != 0) {
			continue;
		}
		if (index >= hosts->n - before) {
			return err_set(
				err, EINVAL,
				"%s: the task is %s %u, but \"cluster\" lists %u of them, counted from 0",
				what, *pools, index, hosts->n - before);
		}
		*rank = before + index;
	}
	return r;
}

int json_pools_read(struct input *in, const char *what, const char *const *pools, struct placement *out,
		    struct err *err) {
	cJSON *json;
	int r = json_read(what, env_get(in->env, what), &json, err);
	if (r < 0) {
		return r;
	}
	struct json_hosts hosts = {.text = BUF(in->arena)};
	r = read_pools(what, json, pools, &hosts, &out->node_rank, err);
	cJSON_Delete(json);
	if (r < 0 || hosts.n == 0) {
		return r;
	}
	out->node_rank_from = out->port_from = what;
	out->port = hosts.port;
	return place_hosts(in, what, buf_text(&hosts.text), ',', out, err);
}
