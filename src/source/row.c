// SPDX-License-Identifier: Apache-2.0

/** Reads the variables of a row. The rows themselves are in rows.c. */

#include "source/row.h"

#include "base/num.h"
#include "cluster/source.h"
#include "source/batch.h"
#include "source/nodefile.h"

const char *const row_field_names[ROW_FIELDS] = {
	[ROW_HOSTS] = "hosts",
	[ROW_HOSTFILE] = "hostfile",
	[ROW_NNODES] = "nnodes",
	[ROW_NODE_RANK] = "node-rank",
	[ROW_MASTER_ADDR] = "master-addr",
	[ROW_MASTER_PORT] = "master-port",
	[ROW_NPROC_PER_NODE] = "nproc-per-node",
	[ROW_JOB] = "job",
};

static const char *value_of(const struct input *in, const struct source_row *row, enum row_field field) {
	return row->variables[field] ? env_value(in->env, row->variables[field]) : NULL;
}

const char *row_detect(const struct input *in, const struct source_row *row) {
	const char *value = value_of(in, row, row->known_by);
	uint32_t number;
	if (!value || (row->known_by_number && num_read_u32(str_of(value), &number) < 0)) {
		return NULL;
	}
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if ((row->known_with & ROW_BIT(i)) && !value_of(in, row, i)) {
			return NULL;
		}
	}
	return row->variables[row->known_by];
}

/** One reading of a row. */
struct reading {
	struct input *in;
	const struct source_row *row;
	/** A variable that is set, for the message about one that is not. */
	const char *beside;
	struct placement *out;
};

/** The variable of @field if it must be read: the row has it, and it is set or required. */
static const char *wanted(const struct reading *r, enum row_field field) {
	const char *name = r->row->variables[field];
	bool optional = r->row->optional & ROW_BIT(field);
	return name && optional && !env_value(r->in->env, name) ? NULL : name;
}

static int read_hosts(struct reading *r, struct err *err) {
	const char *hosts = wanted(r, ROW_HOSTS), *file = wanted(r, ROW_HOSTFILE), *value = NULL;
	char separator = r->row->separator ? r->row->separator : ',';
	uint32_t empty;
	int x = hosts || file ? need_value(r->in, hosts ? hosts : file, r->beside, &value, err) : 0;
	if (x < 0 || !value) {
		return x;
	}
	if (!hosts) {
		x = nodefile_read(r->in, file, value, NODEFILE_NAMES, r->out, err);
		r->out->slots = r->row->lines_are_slots ? r->out->slots : NULL;
		return x;
	}
	r->out->hosts_from = r->beside = hosts;
	return hosts_split(r->in->arena, hosts, value, separator, &r->out->hosts, &empty, err);
}

static int read_nnodes(struct reading *r, struct err *err) {
	const char *name = wanted(r, ROW_NNODES);
	uint32_t nnodes;
	int x = name ? need_nnodes(r->in, name, r->beside, &nnodes, err) : 0;
	if (x < 0 || !name) {
		return x;
	}
	if (r->out->hosts_from) {
		return check_count(name, nnodes, r->out, err);
	}
	r->out->nnodes = nnodes;
	r->out->nnodes_from = r->beside = name;
	return 0;
}

static int read_node_rank(struct reading *r, struct err *err) {
	r->out->node_rank_from = wanted(r, ROW_NODE_RANK);
	return r->out->node_rank_from
		       ? need_u32(r->in, r->out->node_rank_from, r->beside, &r->out->node_rank, err)
		       : 0;
}

static int read_master(struct reading *r, struct err *err) {
	const char *addr = wanted(r, ROW_MASTER_ADDR), *port = wanted(r, ROW_MASTER_PORT), *value = NULL;
	int x = addr ? need_value(r->in, addr, r->beside, &value, err) : 0;
	r->out->master_addr = str_of(value);
	r->out->master_addr_from = addr;
	r->out->port_from = port;
	x = x < 0 || !port ? x : need_value(r->in, port, r->beside, &value, err);
	return x < 0 || !port ? x : parse_port(port, value, &r->out->port, err);
}

int row_read(struct input *in, const struct source_row *row, const char *recognised_by, struct placement *out,
	     struct err *err) {
	struct reading reading = {in, row, recognised_by, out};
	const char *job = value_of(in, row, ROW_JOB), *nproc = value_of(in, row, ROW_NPROC_PER_NODE);
	uint32_t n;
	int r = read_hosts(&reading, err);
	r = r < 0 ? r : read_nnodes(&reading, err);
	r = r < 0 ? r : read_node_rank(&reading, err);
	r = r < 0 ? r : read_master(&reading, err);
	if (r < 0) {
		return r;
	}
	if (num_read_u32(str_of(nproc), &n) == 0 && n) {
		out->nproc_per_node = n;
	}
	out->job_id = job;
	if (row->batch) {
		batch_place(in, out, job, NULL);
	}
	return 0;
}
