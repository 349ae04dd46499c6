// SPDX-License-Identifier: Apache-2.0

/** Reads the cluster that a row describes. */

#include "source/row.h"

#include "base/buf.h"
#include "base/num.h"
#include "base/secret.h"
#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/batch.h"
#include "source/nodefile.h"

#include <errno.h>

/** One reading of a row. */
struct row_reading {
	struct input *in;
	struct row row;
	/** A variable that is set, for the message about one that is not. */
	const char *beside;
	/** The row is the user's --read, not one of the table. */
	bool by_user;
	struct placement *out;
};

/** Whether the field hosts is a variable with a list, not a template of names. */
static bool lists_hosts(const struct row_reading *r) {
	struct str hosts = r->row.variables[ROW_HOSTS];
	return hosts.len && str_find(hosts, '{') == hosts.len;
}

/** Refuse @found, which is not set and must be. */
static int refuse_unset(const struct row_reading *r, enum row_field field, const char *found,
			struct err *err) {
	const char *name = row_field_names[field];
	if (!r->by_user) {
		return err_set(err, EINVAL, "%s is set, but %s is not" MANAGERS_BOTH, r->beside,
			       secret_text(r->in->arena, found));
	}
	return err_set(err, EINVAL,
		       "%s: %s=%s: this variable is not set here; set it, "
		       "or write %s?=%s if it may be missing",
		       r->in->read.from, name, found, name, found);
}

/**
 * Read the variable of @field. Returns 1 with *@out set; 0 if the row does not have the field, or it is
 * optional and not set; -EINVAL.
 */
static int read_field(const struct row_reading *r, enum row_field field, struct row_value *out,
		      struct err *err) {
	struct str variables = r->row.variables[field];
	if (!variables.p) {
		return 0;
	}
	*out = row_value(r->in, variables, 0);
	if (out->value && !row_is_like(r->in, out->value, r->row.patterns[field])) {
		out->value = NULL;
	}
	return out->value ? 1 : r->row.optional & ROW_BIT(field) ? 0 : refuse_unset(r, field, out->name, err);
}

/** Read "A/B" into *@out. */
static int read_quotient(struct row_reading *r, struct str first, struct str second, struct err *err) {
	const char *names[2] = {arena_text(r->in->arena, first.p, first.len),
				arena_text(r->in->arena, second.p, second.len)};
	uint32_t a, b;
	int x = need_nnodes(r->in, names[0], r->beside, &a, err);
	x = x < 0 ? x : need_nnodes(r->in, names[1], r->beside, &b, err);
	if (x < 0 || a % b) {
		return x < 0 ? x
			     : err_set(err, EINVAL, "%s=%u is not a multiple of %s=%u" MANAGERS_COUNT,
				       names[0], a, names[1], b);
	}
	r->out->nnodes = a / b;
	r->out->nnodes_from = names[0];
	return 0;
}

static int read_nnodes(struct row_reading *r, struct err *err) {
	struct str variables = r->row.variables[ROW_NNODES];
	size_t slash = str_find(variables, '/');
	struct row_value found;
	if (slash < variables.len) {
		return read_quotient(r, (struct str){variables.p, slash}, str_from(variables, slash + 1),
				     err);
	}
	int x = read_field(r, ROW_NNODES, &found, err);
	if (x <= 0) {
		return x;
	}
	r->out->nnodes_from = found.name;
	r->beside = lists_hosts(r) ? r->beside : found.name;
	return parse_nnodes(found.name, found.value, &r->out->nnodes, err);
}

/** Read this node's number, if a variable has it. */
static int read_node_rank(struct row_reading *r, struct err *err) {
	struct placement *out = r->out;
	struct row_value found;
	int x = read_field(r, ROW_NODE_RANK, &found, err);
	if (x <= 0) {
		return x;
	}
	out->node_rank_from = found.name;
	x = parse_u32(found.name, found.value, &out->node_rank, err);
	out->node_rank += found.plus;
	if (x == 0 && found.plus && out->node_rank >= out->nnodes) {
		return err_set(err, EINVAL,
			       "%s=%s counts from the second node, but %s=%u has no such node" MANAGERS_COUNT,
			       found.name, found.value, out->nnodes_from, out->nnodes);
	}
	return x;
}

/**
 * Make the names of the hosts from their template. If the number of nodes is not known, make only the
 * first, which is the master.
 */
static int make_hosts(struct row_reading *r, struct err *err) {
	struct placement *out = r->out;
	struct buf names = BUF(r->in->arena);
	uint32_t n = out->nnodes == UNKNOWN ? given_nnodes(r->in) : out->nnodes;
	const char *n_from = out->nnodes_from ? out->nnodes_from : r->in->nnodes.from;
	struct row_value name = {.numbered = true};
	for (uint32_t i = 0; name.numbered && (i == 0 || (n != UNKNOWN && i < n)); i++) {
		name = row_value(r->in, r->row.variables[ROW_HOSTS], i);
		if (!name.value) {
			bool optional = r->row.optional & ROW_BIT(ROW_HOSTS);
			return optional ? 0 : refuse_unset(r, ROW_HOSTS, name.name, err);
		}
		buf_puts(&names, name.value);
		buf_putc(&names, ',');
	}
	if (name.numbered && n == UNKNOWN) {
		out->master_addr = str_of(name.value);
		out->master_addr_from = "number 0 of the names";
		return 0;
	}
	const char *from = name.numbered ? n_from : name.name;
	int x = name.numbered ? check_below(out->node_rank_from, out->node_rank, n_from, n, err) : 0;
	return x < 0 ? x : place_hosts(r->in, from, buf_text(&names), ',', out, err);
}

/** Read the hosts from a list or a file. */
static int list_hosts(struct row_reading *r, struct err *err) {
	struct placement *out = r->out;
	struct row_value list, file;
	bool slots = r->row.fields & ROW_BIT(ROW_SLOTS);
	int x = read_field(r, ROW_HOSTS, &list, err);
	if (x > 0) {
		return slots ? nodefile_list(r->in, list.name, list.value, r->row.separator, out, err)
			     : place_hosts(r->in, list.name, list.value, r->row.separator, out, err);
	}
	x = x < 0 ? x : read_field(r, ROW_HOSTFILE, &file, err);
	if (x > 0) {
		x = nodefile_read(r->in, file.name, file.value, NODEFILE_NAMES, out, err);
		out->slots = slots ? out->slots : NULL;
	}
	return x;
}

static int read_hosts(struct row_reading *r, struct err *err) {
	struct placement *out = r->out;
	int x = r->row.variables[ROW_HOSTS].len && !lists_hosts(r) ? make_hosts(r, err) : list_hosts(r, err);
	if (x == 0 && out->hosts_from && out->nnodes_from) {
		x = check_count(out->nnodes_from, out->nnodes, out, err);
		// It follows from the hosts.
		out->nnodes = UNKNOWN;
	}
	if (x < 0 || !out->hosts.n || out->node_rank_from || r->row.fields & ROW_BIT(ROW_BATCH)) {
		return x;
	}
	out->node_rank = launcher_node_rank(r->in, &out->hosts);
	return out->node_rank == UNKNOWN && self_find(r->in, &out->hosts, &out->node_rank, err) < 0 ? -EINVAL
												    : 0;
}

/** Read the host of rank 0. If the hosts are known, it must be the first of them, or another name for it. */
static int read_master_addr(struct row_reading *r, struct err *err) {
	struct placement *out = r->out;
	struct row_value found;
	struct str host;
	int x = read_field(r, ROW_MASTER_ADDR, &found, err);
	if (x <= 0) {
		return x;
	}
	x = endpoint_read(found.name, str_of(found.value), &host, &out->port, err);
	if (x < 0) {
		return x;
	}
	out->port_from = found.name;
	uint32_t index = hosts_find_loosely(&out->hosts, host);
	if (index > 0 && index < out->hosts.n) {
		return err_set(err, EINVAL, "%s=%s, but the first of %s is %s; pass --hosts", found.name,
			       quote_value(found.name, host).s, out->hosts_from,
			       quote(hosts_at(&out->hosts, 0)).s);
	}
	if (!out->hosts.n || index) {
		out->master_addr = host;
		out->master_addr_from = found.name;
	}
	return 0;
}

/** Read the port: "PORT", "PORT,PORT" or "HOST:PORT". */
static int read_master_port(struct row_reading *r, struct err *err) {
	struct row_value found;
	int x = read_field(r, ROW_MASTER_PORT, &found, err);
	if (x <= 0) {
		return x;
	}
	// NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): read_field() has found a value
	const char *colon = strrchr(found.value, ':'), *port = colon ? colon + 1 : found.value;
	r->out->port_from = found.name;
	port = arena_text(r->in->arena, port, str_find(str_of(port), ','));
	x = parse_port(found.name, port, &r->out->port, err);
	// Report the whole value: a part of it may no longer look secret.
	return x < 0 ? parse_port(found.name, found.value, &r->out->port, err) : x;
}

/** "7" of "1234[7].server", the seventh job of an array; or "". @job may be NULL. */
static const char *array_index(struct input *in, const char *job) {
	const char *at = job ? strchr(job, '[') : NULL;
	return at ? arena_text(in->arena, at + 1, str_find(str_of(at + 1), ']')) : "";
}

int row_read(struct input *in, const char *text, const char *by, struct placement *out, struct err *err) {
	struct row_reading r = {
		.in = in, .row = row_parse(text), .beside = by, .by_user = by == in->read.from, .out = out};
	uint32_t n;
	int x = read_nnodes(&r, err);
	x = x < 0 ? x : read_node_rank(&r, err);
	x = x < 0 ? x : read_hosts(&r, err);
	x = x < 0 ? x : read_master_addr(&r, err);
	x = x < 0 ? x : read_master_port(&r, err);
	if (x < 0) {
		return x;
	}
	if (num_read_u32(str_of(row_value(in, r.row.variables[ROW_NPROC_PER_NODE], 0).value), &n) == 0 && n) {
		out->nproc_per_node = n;
	}
	out->job_id = row_value(in, r.row.variables[ROW_JOB], 0).value;
	out->shared_nodes = r.row.fields & ROW_BIT(ROW_SHARED);
	if (r.row.fields & ROW_BIT(ROW_BATCH)) {
		batch_place(in, out, out->job_id, array_index(in, out->job_id));
	}
	return 0;
}
