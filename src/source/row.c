// SPDX-License-Identifier: Apache-2.0

/** Reads the variables of a row. The rows themselves are in rows.c. */

#include "source/row.h"

#include "base/buf.h"
#include "base/num.h"
#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/batch.h"
#include "source/nodefile.h"

#include <errno.h>

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

/** A variable that was picked of a field's. */
struct picked {
	/** Its name; where none of several is set, all of them. */
	const char *name;
	/** NULL: it is not set. */
	const char *value;
	/** There is a "+1" behind it. */
	bool plus;
};

/** Take "+1" off @name. */
static bool cut_plus(struct str *name) {
	bool plus = name->len > 2 && str_is(str_from(*name, name->len - 2), "+1");
	name->len -= plus ? 2 : 0;
	return plus;
}

/** Pick the first of "A|B" that is set. */
static struct picked pick(const struct input *in, const char *names) {
	struct picked out = {names, NULL, false};
	struct str rest = str_of(names), name;
	while (str_cut(&rest, '|', &name) && !out.value) {
		bool whole = name.len && !name.p[name.len];
		out.plus = cut_plus(&name);
		const char *value = env_find(in->env, name);
		if (value && *value) {
			out.value = value;
			out.name = whole && !out.plus ? name.p : arena_text(in->arena, name.p, name.len);
		}
	}
	return out;
}

/** Whether @value is there, and a number if @field must be one. */
static bool is_there(const struct source_row *row, enum row_field field, const char *value) {
	uint32_t number;
	return value && (!(row->numbers & ROW_BIT(field)) || num_read_u32(str_of(value), &number) == 0);
}

const char *row_detect(const struct input *in, const struct source_row *row) {
	struct picked by = pick(in, row->variables[row->known_by]);
	if (!is_there(row, row->known_by, by.value)) {
		return NULL;
	}
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if ((row->known_with & ROW_BIT(i)) && !is_there(row, i, pick(in, row->variables[i]).value)) {
			return NULL;
		}
	}
	return by.name;
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
	struct picked p = pick(r->in, r->row->variables[field]);
	bool optional = r->row->optional & ROW_BIT(field);
	return optional && !p.value ? NULL : p.name;
}

/** Whether @hosts is a template of names. */
static bool is_template(const char *hosts) {
	return hosts && strchr(hosts, '{');
}

static int read_hosts(struct reading *r, struct err *err) {
	if (is_template(r->row->variables[ROW_HOSTS])) {
		return 0;
	}
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
	return r->row->slots
		       ? nodefile_list(r->in, hosts, value, separator, r->out, err)
		       : hosts_split(r->in->arena, hosts, value, separator, &r->out->hosts, &empty, err);
}

/** Read "A/B". */
static int read_quotient(struct reading *r, const char *name, size_t slash, uint32_t *out, struct err *err) {
	const char *first = arena_text(r->in->arena, name, slash), *second = name + slash + 1;
	uint32_t a, b;
	int x = need_nnodes(r->in, first, r->beside, &a, err);
	x = x < 0 ? x : need_nnodes(r->in, second, r->beside, &b, err);
	if (x < 0 || a % b) {
		return x < 0 ? x
			     : err_set(err, EINVAL, "%s=%u is not a multiple of %s=%u", first, a, second, b);
	}
	*out = a / b;
	return 0;
}

static int read_nnodes(struct reading *r, struct err *err) {
	const char *name = wanted(r, ROW_NNODES);
	uint32_t nnodes;
	size_t slash = str_find(str_of(name), '/');
	int x = !name	      ? 0
		: name[slash] ? read_quotient(r, name, slash, &nnodes, err)
			      : need_nnodes(r->in, name, r->beside, &nnodes, err);
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

/** This node's number, by its variable; or by this machine's place among the hosts. */
static int read_node_rank(struct reading *r, struct err *err) {
	struct placement *out = r->out;
	struct picked p = pick(r->in, r->row->variables[ROW_NODE_RANK]);
	out->node_rank_from = wanted(r, ROW_NODE_RANK);
	if (out->node_rank_from) {
		int x = need_u32(r->in, out->node_rank_from, r->beside, &out->node_rank, err);
		if (x < 0 || !p.plus) {
			return x;
		}
		out->node_rank++;
		return out->node_rank < out->nnodes
			       ? 0
			       : err_set(err, EINVAL, "%s=%s counts from the second node, but %s=%u",
					 out->node_rank_from, p.value, out->nnodes_from, out->nnodes);
	}
	if (!out->hosts.n || r->row->batch) {
		return 0;
	}
	out->node_rank = launcher_node_rank(r->in, &out->hosts);
	return out->node_rank == UNKNOWN && self_find(r->in, &out->hosts, &out->node_rank, err) < 0 ? -EINVAL
												    : 0;
}

/** Put @template into @out, with the values of its variables, but for {i}. Returns 0; 1 if one is not set. */
static int fill_template(const struct input *in, const char *template, struct buf *out, const char **unset) {
	struct str rest = str_of(template), piece;
	while (str_cut(&rest, '{', &piece)) {
		buf_put(out, piece);
		if (!str_cut(&rest, '}', &piece)) {
			break;
		}
		if (str_is(piece, "i")) {
			buf_puts(out, "{i}");
			continue;
		}
		struct picked p = pick(in, arena_text(in->arena, piece.p, piece.len));
		if (!p.value) {
			*unset = p.name;
			return 1;
		}
		buf_puts(out, p.value);
	}
	return 0;
}

/** Append the name of number @i, with @separator behind. */
static void put_name(struct buf *out, struct str filled, uint32_t i, char separator) {
	struct str mark = STR("{i}");
	for (size_t at = 0; at < filled.len; at++) {
		if (str_starts(str_from(filled, at), mark)) {
			buf_putu(out, i);
			at += mark.len - 1;
		} else {
			buf_putc(out, filled.p[at]);
		}
	}
	buf_putc(out, separator);
}

/** The hosts by their template. Without a number of nodes, only the first is known. */
static int make_hosts(struct reading *r, struct err *err) {
	struct placement *out = r->out;
	const char *template = r->row->variables[ROW_HOSTS], *unset = NULL;
	struct buf filled = BUF(r->in->arena), names = BUF(r->in->arena);
	uint32_t n = out->nnodes == UNKNOWN ? told_nnodes(r->in) : out->nnodes, empty;
	if (!is_template(template)) {
		return 0;
	}
	if (fill_template(r->in, template, &filled, &unset)) {
		bool optional = r->row->optional & ROW_BIT(ROW_HOSTS);
		return optional ? 0 : need_value(r->in, unset, r->beside, &template, err);
	}
	if (n == UNKNOWN) {
		put_name(&names, buf_str(&filled), 0, '\0');
		out->master_addr = str_of(buf_text(&names));
		out->master_addr_from = "number 0 of the names";
		return 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		put_name(&names, buf_str(&filled), i, ',');
	}
	out->hosts_from = out->nnodes_from ? out->nnodes_from : r->in->nnodes.from;
	int x = check_below(out->node_rank_from, out->node_rank, out->hosts_from, n, err);
	return x < 0 ? x
		     : hosts_split(r->in->arena, out->hosts_from, buf_text(&names), ',', &out->hosts, &empty,
				   err);
}

/** The host of rank 0. If there are hosts, it is the first of them, or another name of it. */
static int read_master_addr(struct reading *r, struct err *err) {
	struct placement *out = r->out;
	const char *name = wanted(r, ROW_MASTER_ADDR), *value = NULL;
	int x = name ? need_value(r->in, name, r->beside, &value, err) : 0;
	if (x < 0 || !name) {
		return x;
	}
	struct str host;
	x = endpoint_read(name, str_of(value), &host, &out->port, err);
	if (x < 0) {
		return x;
	}
	out->port_from = name;
	uint32_t place = hosts_find_loosely(&out->hosts, host);
	if (place > 0 && place < out->hosts.n) {
		return err_set(err, EINVAL, "%s=%s, but the first of %s is %s; pass --hosts", name,
			       quote(host).s, out->hosts_from, quote(hosts_at(&out->hosts, 0)).s);
	}
	if (!out->hosts.n || place) {
		out->master_addr = host;
		out->master_addr_from = name;
	}
	return 0;
}

static int read_master_port(struct reading *r, struct err *err) {
	const char *name = wanted(r, ROW_MASTER_PORT), *value = NULL;
	int x = name ? need_value(r->in, name, r->beside, &value, err) : 0;
	if (x < 0 || !name) {
		return x;
	}
	r->out->port_from = name;
	const char *first = arena_text(r->in->arena, value, str_find(str_of(value), ','));
	return parse_port(name, first, &r->out->port, err);
}

int row_read(struct input *in, const struct source_row *row, const char *recognised_by, struct placement *out,
	     struct err *err) {
	struct reading reading = {in, row, recognised_by, out};
	const char *job = pick(in, row->variables[ROW_JOB]).value;
	const char *nproc = pick(in, row->variables[ROW_NPROC_PER_NODE]).value;
	uint32_t n;
	int r = read_hosts(&reading, err);
	r = r < 0 ? r : read_nnodes(&reading, err);
	r = r < 0 ? r : read_node_rank(&reading, err);
	r = r < 0 ? r : make_hosts(&reading, err);
	r = r < 0 ? r : read_master_addr(&reading, err);
	r = r < 0 ? r : read_master_port(&reading, err);
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

/** Append the variables that @text names to @names, n of them so far; NULL: only count. */
static size_t add_names(struct arena *arena, const char *text, const char **names, size_t n) {
	bool inside = !is_template(text);
	for (size_t len; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, "|/+{}");
		if (inside && len > 1) {
			if (names) {
				names[n] = arena_text(arena, text, len);
			}
			n++;
		}
		inside = text[len] == '{' || (inside && text[len] != '}');
	}
	return n;
}

static size_t add_row(struct arena *arena, const struct source_row *row, const char **names) {
	size_t n = 0;
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		n = row->variables[i] ? add_names(arena, row->variables[i], names, n) : n;
	}
	return n;
}

const char *const *row_reads(struct arena *arena, const struct source_row *row) {
	const char **names = arena_array(arena, add_row(arena, row, NULL) + 1, sizeof(*names));
	names[add_row(arena, row, names)] = NULL;
	return names;
}
