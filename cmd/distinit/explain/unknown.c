// SPDX-License-Identifier: Apache-2.0

/** The part of `explain` if no manager is recognised: guesses for the reader, from which nothing is derived. */

#include "explain/explain.h"

#include "base/num.h"
#include "flow/frameworks.h"
#include "flow/tables.h"
#include "source/ask.h"
#include "source/row.h"

/** Whether one of @words, with blanks between them, is one of the words of @name. */
static bool has_word(struct str name, const char *words) {
	struct str rest = str_of(words), word;
	while (str_cut(&rest, ' ', &word)) {
		if (str_has_word(name, word)) {
			return true;
		}
	}
	return false;
}

/** Whether another manager than @source reads @name, too, so that it is no sign of @source. */
static bool is_shared(struct session *s, const struct source *source, const char *name) {
	for (size_t i = 0; sources[i]; i++) {
		const char *const *reads = source_reads(&s->arena, sources[i]);
		for (; strcmp(sources[i]->name, source->name) != 0 && *reads; reads++) {
			if (strcmp(*reads, name) == 0) {
				return true;
			}
		}
	}
	return false;
}

/** Append the variables that are not set, but that @row needs to be recognised. */
static void put_missing(struct session *s, struct buf *out, const char *row) {
	struct row_word word;
	while (row_next(&row, &word)) {
		struct row_value found = row_value(&s->flow.input, word.variables, 0);
		if (word.known_by && !word.optional && word.field != ROW_WITHOUT && !found.value) {
			buf_putf(out, " %s", found.name);
		}
	}
}

/**
 * If a variable is set that only @source has, append what is missing to recognise it. Returns whether there is
 * one.
 */
static bool put_nearly(struct session *s, struct buf *out, const struct source *source) {
	const char *known_by = source_known_by(&s->arena, source);
	struct buf set = BUF(&s->arena), missing = BUF(&s->arena);
	bool own = false;
	for (const char *const *name = source_reads(&s->arena, source); *name; name++) {
		if (env_value(&s->env, *name)) {
			own = own || !is_shared(s, source, *name);
			buf_putf(&set, " %s", *name);
		} else if (!source->row && strstr(known_by, *name)) {
			buf_putf(&missing, " %s", *name);
		}
	}
	if (source->row) {
		put_missing(s, &missing, source->row);
	}
	if (own) {
		buf_putf(out, "nearly         %s, which is recognised by %s; set:%s", source->name, known_by,
			 buf_text(&set));
		buf_putf(out, missing.len ? "; not set:%s\n" : "%s\n", buf_text(&missing));
	}
	return own;
}

/** A --read option to suggest. */
struct guess {
	struct session *s;
	const char *const *own;
	/** The words so far, the fields in them, and the variable in the first word. */
	struct buf words;
	unsigned fields;
	struct str first;
	uint32_t nnodes;
	/** This node's rank; UNKNOWN: any rank below nnodes fits. */
	uint32_t node_rank;
};

/** If @value is a list of hosts with this one in it, return its separator in the form of --read; else NULL. */
static const char *separator_of(struct guess *g, const char *value) {
	static const char *const separators[] = {"", "[;]", "[ ]", "[\\n]"};
	for (unsigned i = 0; i < 4; i++) {
		struct arena *arena = g->s->flow.arena;
		struct hosts hosts;
		struct err err;
		uint32_t empty;
		if (hosts_split(arena, "", value, ",; \n"[i], &hosts, &empty, &err) < 0 || hosts.n < 2 ||
		    hosts_check(&hosts, arena, "", &err) < 0) {
			continue;
		}
		uint32_t self = hosts_find_loosely(&hosts, str_of(input_hostname(&g->s->flow.input)));
		if (self < hosts.n) {
			g->nnodes = hosts.n;
			g->node_rank = self;
			return separators[i];
		}
	}
	return NULL;
}

/**
 * If the variable @name may be @field, as far as is known, return the text after the field's name in --read;
 * else NULL.
 */
static const char *may_be(struct guess *g, enum row_field field, struct str name, const char *value) {
	static const char *const words[] = {
		[ROW_NNODES] = "COUNT SIZE NUM NNODES NODES HOSTS WORKERS REPLICAS TOTAL",
		[ROW_NODE_RANK] = "RANK INDEX IDX ID NODEID ORDINAL",
		[ROW_MASTER_ADDR] = "MASTER CHIEF LEADER HEAD COORDINATOR MAIN",
		[ROW_MASTER_PORT] = "PORT",
	};
	uint32_t number = UNKNOWN;
	bool numeric = num_read_u32(str_of(value), &number) == 0, fits;
	if (field == ROW_HOSTS) {
		return separator_of(g, value);
	}
	if (!has_word(name, words[field])) {
		return NULL;
	}
	if (field == ROW_MASTER_ADDR || field == ROW_MASTER_PORT) {
		fits = numeric == (field == ROW_MASTER_PORT) && has_word(name, words[ROW_MASTER_ADDR]) &&
		       (!numeric || number - 1 < UINT16_MAX) && host_name_is_fine(str_of(value));
		return fits ? "" : NULL;
	}
	if (!numeric || has_word(name, "LOCAL WORLD PROC PROCS GPU GPUS CPU CPUS TASK TASKS PORT")) {
		return NULL;
	}
	if (field == ROW_NNODES) {
		fits = number > 1 && (g->nnodes == UNKNOWN || number == g->nnodes);
		g->nnodes = fits ? number : g->nnodes;
	} else {
		fits = g->node_rank == UNKNOWN ? number < g->nnodes : number == g->node_rank;
	}
	return fits ? "" : NULL;
}

/** Whether a table has @name, so that it does not belong to an unknown manager. */
static bool is_known(const struct guess *g, struct str name) {
	return str_like_any(name, g->own) || has_word(name, "SERVICE");
}

/** If a variable that begins with @family ("ACME") may be @field, add a word for it. */
static void find(struct guess *g, enum row_field field, struct str family) {
	const struct env *env = &g->s->env;
	for (uint32_t i = 0; i < env->n && !(g->fields & ROW_BIT(field)); i++) {
		const struct env_entry *entry = &env->entries[i];
		struct str name = env_entry_name(entry);
		const char *mark = NULL;
		if (entry->state == ENV_LIVE && name.len && str_starts(name, family) && !is_known(g, name)) {
			mark = may_be(g, field, name, env_entry_value(entry));
		}
		if (mark) {
			buf_putf(&g->words, "%s%s%s=", g->fields ? " " : "", row_field_names[field], mark);
			buf_put_plain(&g->words, name);
			g->first = g->fields ? g->first : name;
			g->fields |= ROW_BIT(field);
		}
	}
}

/** Suggest a --read of a list of hosts with this one; or of a number of nodes and this node's number. */
static void put_suggestion(struct session *s, struct buf *out) {
	struct guess g = {.s = s,
			  .own = own_variables(s),
			  .words = BUF(&s->arena),
			  .nnodes = UNKNOWN,
			  .node_rank = UNKNOWN};
	find(&g, ROW_HOSTS, STR(""));
	if (!g.fields) {
		find(&g, ROW_NNODES, STR(""));
	}
	struct str family = {g.first.p, str_find(g.first, '_')};
	// If there is a list, it has the master.
	unsigned last = g.fields & ROW_BIT(ROW_HOSTS) ? ROW_NODE_RANK : ROW_MASTER_PORT;
	for (unsigned i = ROW_NNODES; g.fields && i <= last; i++) {
		find(&g, i, family);
	}
	if (g.fields & (ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_NODE_RANK))) {
		buf_putf(out, "perhaps        --read='%s' (these variables look like a cluster's)\n",
			 buf_text(&g.words));
	}
}

/** Names without a prefix, for a number of nodes and for a node's number: any program may set them. */
static const char *const plain_numbers[][2] = {
	{"NNODES", "NODE_RANK"},
	{"NUM_NODES", "NODE_RANK"},
	{"NODE_COUNT", "NODE_RANK"},
	{"WORLD_SIZE", "RANK"},
};

#define N_PLAIN (sizeof(plain_numbers) / sizeof(plain_numbers[0]))

static bool is_plain(struct str name) {
	size_t i = 0;
	while (i < N_PLAIN && !str_is(name, plain_numbers[i][0]) && !str_is(name, plain_numbers[i][1])) {
		i++;
	}
	return i < N_PLAIN || frameworks_set_variable(frameworks_standard(), name);
}

/** Append the variables of frameworks that are set, and so reach the workload. Returns whether there are any. */
static bool put_kept(struct session *s, struct buf *out) {
	struct buf names = BUF(&s->arena);
	for (uint32_t i = 0; i < s->env.n; i++) {
		const struct env_entry *entry = &s->env.entries[i];
		struct str name = env_entry_name(entry);
		if (entry->state == ENV_LIVE && !entry->by && *env_entry_value(entry) && is_plain(name)) {
			buf_putc(&names, ' ');
			buf_put(&names, name);
		}
	}
	if (names.len) {
		buf_putf(out,
			 "kept          %s: as they are set; nothing is derived from them, and they are not "
			 "checked\n",
			 buf_text(&names));
	}
	return names.len;
}

/** Suggest a --read of variables without a prefix. */
static void put_plain_suggestion(struct session *s, struct buf *out) {
	static const char *const masters[][2] = {{"master-addr", "MASTER_ADDR"},
						 {"master-port", "MASTER_PORT"}};
	uint32_t n, rank;
	size_t i = 0;
	while (i < N_PLAIN &&
	       (num_read_u32(str_of(env_value(&s->env, plain_numbers[i][0])), &n) < 0 || n < 2 ||
		num_read_u32(str_of(env_value(&s->env, plain_numbers[i][1])), &rank) < 0 || rank >= n)) {
		i++;
	}
	if (i == N_PLAIN) {
		return;
	}
	buf_putf(out, "perhaps        --read='nnodes=%s node-rank=%s", plain_numbers[i][0],
		 plain_numbers[i][1]);
	for (size_t k = 0; k < 2; k++) {
		if (env_value(&s->env, masters[k][1])) {
			buf_putf(out, " %s=%s", masters[k][0], masters[k][1]);
		}
	}
	buf_puts(out, "' (if they count nodes; ranks that are all there need nothing)\n");
}

void explain_unknown(struct session *s, struct buf *out) {
	bool nearly = false;
	for (size_t i = 0; sources[i]; i++) {
		nearly = (!sources[i]->by_hand && put_nearly(s, out, sources[i])) || nearly;
	}
	if (put_kept(s, out) && !nearly) {
		put_plain_suggestion(s, out);
	}
	put_suggestion(s, out);
}
