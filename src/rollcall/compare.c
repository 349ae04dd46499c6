// SPDX-License-Identifier: Apache-2.0

#include "rollcall/compare.h"

#include "base/json_write.h"
#include "cluster/hostlist.h"

#include <errno.h>

/** The most nodes that a sentence names, and the most bytes of their list. */
#define NAMED_MAX 8
#define LIST_MAX  120

static bool same_digest(const struct compare *c, enum fact_group group, uint32_t a, uint32_t b) {
	return c->members[a].digest[group] == c->members[b].digest[group];
}

/** Members with the same digest: the first of them, or the coordinator; and how many. */
struct party {
	uint32_t speaker;
	uint32_t n;
};

/** Count the parties of @group in @parties, of which there is room for c->n. Returns their number. */
static uint32_t count_parties(const struct compare *c, enum fact_group group, struct party *parties) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t k = 0;
		while (k < n && !same_digest(c, group, parties[k].speaker, i)) {
			k++;
		}
		if (k == n) {
			parties[n++] = (struct party){.speaker = i};
		}
		parties[k].n++;
		parties[k].speaker = i == c->own ? i : parties[k].speaker;
	}
	return n;
}

void compare_whom(const struct compare *c, enum fact_group group, struct compare_parties *out) {
	struct party *parties = arena_array(c->arena, c->n, sizeof(*parties));
	uint32_t n = count_parties(c, group, parties);
	*out = (struct compare_parties){.unasked = c->n};
	while (out->n < COMPARE_PARTIES && out->n < n) {
		struct party *best = parties;
		for (struct party *p = parties; p < parties + n; p++) {
			bool own = p->speaker == c->own;
			best = p->n > best->n || (own && p->n == best->n) ? p : best;
		}
		out->speaker[out->n++] = best->speaker;
		out->unasked -= best->n;
		best->n = 0;
	}
}

// --- comparing ------------------------------------------------------------------------------------------

/** One group of all parties. */
struct comparison {
	const struct compare *c;
	enum fact_group group;
	const struct compare_parties *parties;
	/** What each party has, and how many members it has; 0: it did not answer. */
	struct fact_list list[COMPARE_PARTIES];
	uint32_t n[COMPARE_PARTIES];
};

/** Decode the payloads. Returns 0; -EPROTO with *@bad. */
static int read_lists(struct comparison *x, const struct str payloads[], uint32_t *bad) {
	for (uint32_t i = 0; i < x->parties->n; i++) {
		if (payloads[i].len == 0) {
			continue;
		}
		if (facts_decode(x->c->arena, payloads[i], x->group, &x->list[i]) < 0) {
			*bad = i;
			return -EPROTO;
		}
		for (uint32_t k = 0; k < x->c->n; k++) {
			x->n[i] += same_digest(x->c, x->group, k, x->parties->speaker[i]);
		}
	}
	return 0;
}

/** Whether the value of party @i is known. NULL: it has none. */
static bool is_known(const struct comparison *x, uint32_t i, const char *value) {
	if (value) {
		return strcmp(value, FACT_UNKNOWN) != 0;
	}
	// A variable that is not there is not set. Other facts that are not there are those of another
	// version of distinit.
	return x->n[i] && x->group == FACTS_ENV && !facts_find(&x->list[i], FACT_TOO_MANY);
}

/** Add the value of party @i to @d. The most common value is the first; at a tie, the coordinator's. */
static void add_value(const struct comparison *x, struct difference *d, const char *value, uint32_t i) {
	struct difference_value *v = d->values, *end = v + d->n_values;
	while (v < end && (v->value && value ? strcmp(v->value, value) != 0 : v->value != value)) {
		v++;
	}
	d->n_values += v == end;
	v->value = value;
	v->n += x->n[i];
	v->parties |= 1U << i;
	v->own = v->own || x->parties->speaker[i] == x->c->own;
}

static void put_first(struct difference *d) {
	struct difference_value *first = d->values, *best = first;
	for (uint32_t i = 1; i < d->n_values; i++) {
		struct difference_value *v = &d->values[i];
		best = v->n > best->n || (v->n == best->n && v->own) ? v : best;
	}
	struct difference_value swap = *first;
	*first = *best;
	*best = swap;
}

/** Compare the fact @name of all parties. Returns the difference, or NULL. */
static struct difference *compare_fact(const struct comparison *x, const char *name) {
	struct difference *d = arena_alloc(x->c->arena, sizeof(*d));
	*d = (struct difference){.group = x->group, .name = name, .parties = x->parties};
	for (uint32_t i = 0; i < x->parties->n; i++) {
		const char *value = facts_find(&x->list[i], name);
		if (is_known(x, i, value)) {
			add_value(x, d, value, i);
		}
	}
	put_first(d);
	return d->n_values < 2 ? NULL : d;
}

/** Whether a party before @i has @name, so that it was compared already. */
static bool is_compared(const struct comparison *x, uint32_t i, const char *name) {
	while (i-- > 0) {
		if (facts_find(&x->list[i], name)) {
			return true;
		}
	}
	return false;
}

int compare_group(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		  const struct str payloads[], struct difference **out, uint32_t *bad) {
	struct comparison x = {.c = c, .group = group, .parties = parties};
	struct difference *first = NULL, **last = &first;
	if (read_lists(&x, payloads, bad) < 0) {
		return -EPROTO;
	}
	for (uint32_t i = 0; i < parties->n; i++) {
		for (uint32_t k = 0; k < x.list[i].n; k++) {
			const char *name = x.list[i].at[k].name;
			*last = is_compared(&x, i, name) ? NULL : compare_fact(&x, name);
			last = *last ? &(*last)->next : last;
		}
	}
	*out = first;
	return 0;
}

uint32_t difference_member(const struct compare *c, const struct difference *d,
			   const struct difference_value *v, uint32_t from) {
	for (; from < c->n; from++) {
		for (uint32_t i = 0; i < d->parties->n; i++) {
			if (v->parties >> i & 1 && same_digest(c, d->group, from, d->parties->speaker[i])) {
				return from;
			}
		}
	}
	return from;
}

// --- for people -----------------------------------------------------------------------------------------

/** Names for a sentence: at most NAMED_MAX of them are kept apart. */
struct names {
	struct buf text;
	struct hosts hosts;
};

static void add_name(struct names *names, struct str name) {
	struct hosts *h = &names->hosts;
	uint32_t at = (uint32_t)names->text.len;
	buf_put(&names->text, name);
	buf_putc(&names->text, ',');
	h->spans[h->n++] = (struct span){at, (uint32_t)name.len};
	h->text = names->text.p;
	h->size = (uint32_t)names->text.len;
}

static struct str name_of(const struct compare *c, uint32_t i) {
	const struct compare_member *m = &c->members[i];
	return m->host.len ? m->host : str_of(arena_format(c->arena, "rank %u", m->rank));
}

/** Write the names of those that have @v: as a host list; if that is long, the first ones. */
static void put_names(const struct compare *c, const struct difference *d, const struct difference_value *v,
		      struct buf *out) {
	struct names names = {.text = BUF(c->arena)};
	struct buf list = BUF(c->arena);
	names.hosts.spans = arena_array(c->arena, v->n, sizeof(*names.hosts.spans));
	for (uint32_t i = difference_member(c, d, v, 0); i < c->n; i = difference_member(c, d, v, i + 1)) {
		struct hosts *h = &names.hosts;
		struct str name = name_of(c, i);
		// The tasks of a node follow each other.
		if (!h->n || !str_eq(hosts_at(h, h->n - 1), name)) {
			add_name(&names, name);
		}
	}
	hostlist_compress(&names.hosts, &list);
	uint32_t more = 0;
	if (list.len > LIST_MAX && names.hosts.n > NAMED_MAX) {
		more = names.hosts.n - NAMED_MAX;
		names.hosts.n = NAMED_MAX;
		list.len = 0;
		hostlist_compress(&names.hosts, &list);
	}
	buf_put(out, buf_str(&list));
	if (more) {
		buf_putf(out, " and %u more", more);
	}
}

static bool is_masked(const char *value) {
	return fact_shown(value) != value;
}

/** Write @value, in quotes if it could be taken for a part of the sentence. */
static void put_value(const char *value, bool other, struct buf *out) {
	if (!value) {
		buf_puts(out, "not set");
	} else if (is_masked(value)) {
		buf_puts(out, other ? "(another, masked)" : FACT_MASKED);
	} else if (*value && !strpbrk(value, " ,'")) {
		buf_put_plain(out, str_of(value));
	} else {
		buf_puts(out, quote(str_of(value)).s);
	}
}

void difference_text(const struct compare *c, const struct difference *d, struct buf *out) {
	bool masked = false;
	buf_puts(out, d->name);
	for (uint32_t i = 0; i < d->n_values; i++) {
		const struct difference_value *v = &d->values[i];
		buf_puts(out, i ? ", " : v->value ? "=" : " ");
		put_value(v->value, masked, out);
		masked = masked || is_masked(v->value);
		if (i == 0 && v->n > 1) {
			buf_putf(out, " on %u %s", v->n, c->tasks ? "tasks" : "nodes");
			continue;
		}
		buf_puts(out, " on ");
		put_names(c, d, v, out);
		uint32_t only = difference_member(c, d, v, 0);
		if (v->n == 1 && d->group == FACTS_WORLD && c->members[only].host.len) {
			buf_putf(out, " (rank %u)", c->members[only].rank);
		}
	}
	if (d->parties->unasked) {
		buf_putf(out, "; %u more differ in this group", d->parties->unasked);
	}
}

// --- for programs ---------------------------------------------------------------------------------------

/** Write the ranks of those that have @v: "3-5,9". */
static void put_ranks(const struct compare *c, const struct difference *d, const struct difference_value *v,
		      struct buf *out) {
	const char *before = "";
	for (uint32_t i = difference_member(c, d, v, 0); i < c->n;) {
		uint32_t first = c->members[i].rank, last = first;
		for (i = difference_member(c, d, v, i + 1); i < c->n && c->members[i].rank == last + 1;
		     i = difference_member(c, d, v, i + 1)) {
			last++;
		}
		buf_putf(out, last > first ? "%s%u-%u" : "%s%u", before, first, last);
		before = ",";
	}
}

void difference_json(const struct compare *c, const struct difference *d, bool error, struct buf *out) {
	buf_putf(out, "{\"group\": \"%s\", \"name\": ", fact_groups[d->group]);
	json_put_text(out, d->name);
	buf_puts(out, ", \"values\": [");
	for (uint32_t i = 0; i < d->n_values; i++) {
		const struct difference_value *v = &d->values[i];
		buf_puts(out, i ? ", {\"value\": " : "{\"value\": ");
		json_put_text(out, fact_shown(v->value));
		buf_putf(out, ", \"nodes\": %u, \"ranks\": \"", v->n);
		put_ranks(c, d, v, out);
		buf_puts(out, "\"}");
	}
	buf_putf(out, "], \"error\": %s}", error ? "true" : "false");
}
