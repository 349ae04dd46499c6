// SPDX-License-Identifier: Apache-2.0

/**
 * `explain` if no manager is recognised: which managers are nearly recognised, and what --read
 * could say. These are guesses for the reader; nothing is derived from them.
 */

#include "distinit/commands.h"

#include "base/num.h"
#include "flow/tables.h"
#include "source/ask.h"
#include "source/row.h"

#include <ctype.h>
#include <strings.h>

bool explain_has_word(struct str text, struct str word) {
	size_t len;
	for (; text.len; text = str_from(text, len + (len < text.len))) {
		for (len = 0; len < text.len && isalpha((unsigned char)text.p[len]); len++) {
		}
		if (len == word.len && strncasecmp(text.p, word.p, len) == 0) {
			return true;
		}
	}
	return false;
}

/** Whether one of @words, with blanks between, is one of the words of @name. */
static bool has_word(struct str name, const char *words) {
	struct str rest = str_of(words), word;
	while (str_cut(&rest, ' ', &word)) {
		if (explain_has_word(name, word)) {
			return true;
		}
	}
	return false;
}

/** Whether another manager than @source reads @name, too: then it says nothing of this one. */
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

/** Say of @source what is there and what is missing, if anything is there that it alone has. */
static void put_nearly(struct session *s, struct buf *out, const struct source *source) {
	const char *known_by = source_known_by(&s->arena, source);
	struct buf set = BUF(&s->arena), missing = BUF(&s->arena);
	bool own = false;
	for (const char *const *name = source_reads(&s->arena, source); *name; name++) {
		if (env_value(&s->env, *name)) {
			own = own || !is_shared(s, source, *name);
			buf_putf(&set, " %s", *name);
		} else if (strstr(known_by, *name)) {
			buf_putf(&missing, " %s", *name);
		}
	}
	if (own) {
		buf_putf(out, "nearly         %s, which is recognised by %s; set:%s", source->name, known_by,
			 buf_text(&set));
		buf_putf(out, missing.len ? "; not set:%s\n" : "%s\n", buf_text(&missing));
	}
}

/** What --read could say. */
struct guess {
	struct session *s;
	const char *const *own;
	const char *names[ROW_FIELDS];
	char separator;
	uint32_t nnodes;
	/** UNKNOWN: any below nnodes will do. */
	uint32_t node_rank;
};

/** Whether @value is a list of hosts with this one in it. */
static bool is_list(struct guess *g, const char *value) {
	for (const char *separator = ",; \n"; *separator; separator++) {
		struct hosts hosts;
		struct err err;
		uint32_t empty;
		if (!strchr(value, *separator) ||
		    hosts_split(g->s->flow.arena, "", value, *separator, &hosts, &empty, &err) < 0 ||
		    hosts.n < 2 || hosts_check(&hosts, g->s->flow.arena, "", &err) < 0) {
			continue;
		}
		uint32_t self = hosts_find_loosely(&hosts, str_of(input_hostname(&g->s->flow.input)));
		if (self < hosts.n) {
			g->separator = *separator;
			g->nnodes = hosts.n;
			g->node_rank = self;
			return true;
		}
	}
	return false;
}

/** Whether the variable @name of @value may be @field, beside what is known so far. */
static bool may_be(struct guess *g, enum row_field field, struct str name, const char *value) {
	uint32_t number = UNKNOWN;
	bool numeric = num_read_u32(str_of(value), &number) == 0;
	bool of_master = has_word(name, "MASTER CHIEF LEADER HEAD COORDINATOR MAIN");
	bool of_nodes =
		numeric && !has_word(name, "LOCAL WORLD PROC PROCS GPU GPUS CPU CPUS TASK TASKS PORT");
	switch (field) {
	case ROW_HOSTS:
		return is_list(g, value);
	case ROW_NNODES:
		return of_nodes && number > 1 && (g->nnodes == UNKNOWN || number == g->nnodes) &&
		       has_word(name, "COUNT SIZE NUM NNODES NODES HOSTS WORKERS REPLICAS TOTAL");
	case ROW_NODE_RANK:
		return of_nodes && (g->node_rank == UNKNOWN ? number < g->nnodes : number == g->node_rank) &&
		       has_word(name, "RANK INDEX IDX ID NODEID ORDINAL");
	case ROW_MASTER_ADDR:
		return !numeric && of_master && host_name_is_fine(str_of(value));
	case ROW_MASTER_PORT:
		return number > 0 && number <= UINT16_MAX && of_master && has_word(name, "PORT");
	default:
		return false;
	}
}

/** Whether a table has @name: then it is no unknown manager's. */
static bool is_known(const struct guess *g, struct str name) {
	const char *const *own = g->own;
	while (*own && !str_like(name, str_of(*own))) {
		own++;
	}
	return *own || has_word(name, "SERVICE");
}

/** Find a variable for @field that begins with @family, "ACME_". */
static const char *find(struct guess *g, enum row_field field, struct str family) {
	const struct env *env = &g->s->env;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		struct str name = env_entry_name(entry);
		if (entry->state == ENV_LIVE && name.len && str_starts(name, family) && !is_known(g, name) &&
		    may_be(g, field, name, env_entry_value(entry))) {
			return g->names[field] = arena_text(&g->s->arena, name.p, name.len);
		}
	}
	return NULL;
}

static void put_guess(struct guess *g, struct buf *out) {
	buf_puts(out, "perhaps        --read='");
	for (unsigned i = 0; i < ROW_FIELDS; i++) {
		if (g->names[i]) {
			buf_puts(out, out->p[out->len - 1] == '\'' ? "" : " ");
			buf_puts(out, row_field_names[i]);
			if (i == ROW_HOSTS && g->separator != ',') {
				buf_putf(out, g->separator == '\n' ? "[\\n]" : "[%c]", g->separator);
			}
			buf_putc(out, '=');
			buf_put_plain(out, str_of(g->names[i]));
		}
	}
	buf_puts(out, "' (these variables look like a cluster's)\n");
}

/** Suggest what --read could say: a list of hosts with this one, or a number of nodes and this one's. */
static void put_suggestion(struct session *s, struct buf *out) {
	struct guess g = {.s = s, .own = own_variables(s), .nnodes = UNKNOWN, .node_rank = UNKNOWN};
	const char *anchor = find(&g, ROW_HOSTS, STR(""));
	if (!anchor) {
		anchor = find(&g, ROW_NNODES, STR(""));
		num_read_u32(str_of(anchor ? env_value(&s->env, anchor) : NULL), &g.nnodes);
	}
	if (!anchor) {
		return;
	}
	struct str family = {anchor, str_find(str_of(anchor), '_')};
	for (unsigned i = ROW_NNODES; i <= ROW_MASTER_PORT; i++) {
		// The list says where the master is.
		if (!g.names[i] && (i < ROW_MASTER_ADDR || !g.names[ROW_HOSTS])) {
			find(&g, i, family);
		}
	}
	if (g.names[ROW_HOSTS] || g.names[ROW_NODE_RANK]) {
		put_guess(&g, out);
	}
}

void explain_unknown(struct session *s, struct buf *out) {
	for (size_t i = 0; sources[i]; i++) {
		if (!sources[i]->by_hand) {
			put_nearly(s, out, sources[i]);
		}
	}
	put_suggestion(s, out);
}
