// SPDX-License-Identifier: Apache-2.0

#include "rollcall/compare.h"

#include "base/hash.h"
#include "base/json_write.h"
#include "cluster/hostlist.h"

#include <errno.h>

/** The most nodes that a sentence names, and the most bytes of their list. */
#define NAMED_MAX 8
#define LIST_MAX  120

/** Members with the same digest: the first of them, or the coordinator; and how many. */
struct party {
	uint32_t speaker;
	uint32_t n;
};

static bool same_digest(const struct compare *c, enum fact_group group, uint32_t a, uint32_t b) {
	return c->members[a].digest[group] == c->members[b].digest[group];
}

static bool all_agree(const struct compare *c, enum fact_group group) {
	for (uint32_t i = 1; i < c->n; i++) {
		if (!same_digest(c, group, 0, i)) {
			return false;
		}
	}
	return true;
}

/** Count the parties of @group in @parties, of which there is room for c->n. Returns their number. */
static uint32_t count_parties(const struct compare *c, enum fact_group group, struct party *parties) {
	uint32_t n = 0, mask = 15;
	while (mask < 2 * c->n) {
		mask = 2 * mask + 1;
	}
	// A hash table with open addressing: index + 1 of a party, or 0.
	uint32_t *slots = arena_array(c->arena, mask + (size_t)1, sizeof(*slots));
	memset(slots, 0, (mask + (size_t)1) * sizeof(*slots));
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t at = (uint32_t)hash_mix(c->members[i].digest[group], hash_key) & mask;
		while (slots[at] && !same_digest(c, group, parties[slots[at] - 1].speaker, i)) {
			at = (at + 1) & mask;
		}
		if (!slots[at]) {
			parties[n++] = (struct party){.speaker = i};
			slots[at] = n;
		}
		struct party *party = &parties[slots[at] - 1];
		party->n++;
		party->speaker = i == c->own ? i : party->speaker;
	}
	return n;
}

void compare_whom(const struct compare *c, enum fact_group group, struct compare_parties *out) {
	*out = (struct compare_parties){.speaker = {c->own}, .n = 1};
	if (all_agree(c, group)) {
		return;
	}
	struct party *parties = arena_array(c->arena, c->n, sizeof(*parties));
	uint32_t n = count_parties(c, group, parties);
	out->n = 0;
	out->unasked = c->n;
	while (out->n < COMPARE_PARTIES && out->n < n) {
		struct party *best = &parties[0];
		for (uint32_t i = 1; i < n; i++) {
			bool own = parties[i].speaker == c->own && parties[i].n == best->n;
			best = parties[i].n > best->n || own ? &parties[i] : best;
		}
		out->speaker[out->n++] = best->speaker;
		out->unasked -= best->n;
		best->n = 0;
	}
}

// --- comparing ------------------------------------------------------------------------------------------

/** The facts of one party, and the first of them that was not compared yet. */
struct side {
	struct fact_list list;
	uint32_t at;
	/** Members in the party; 0: it did not answer. */
	uint32_t n;
};

/** The smallest name that was not compared yet, or NULL. */
static const char *next_name(const struct side *sides, uint32_t n) {
	const char *least = NULL;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = sides[i].at < sides[i].list.n ? sides[i].list.at[sides[i].at].name : NULL;
		least = name && (!least || strcmp(name, least) < 0) ? name : least;
	}
	return least;
}

/** The value of @name in @side, which goes on behind it; NULL if it is not there. */
static const char *take_value(struct side *side, const char *name) {
	const struct fact *fact = &side->list.at[side->at];
	if (side->at == side->list.n || strcmp(fact->name, name) != 0) {
		return NULL;
	}
	side->at++;
	return fact->value;
}

/** Whether @side may have facts that it did not send, as there were too many. */
static bool is_cut(const struct side *side) {
	return side->list.n && strcmp(side->list.at[side->list.n - 1].name, FACT_REST) == 0;
}

static bool same_value(const char *a, const char *b) {
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/** Add the value of party @i, of @n members, to @d. */
static void add_value(struct difference *d, const char *value, uint32_t i, uint32_t n) {
	struct difference_value *v = d->values;
	while (v < d->values + d->n_values && !same_value(v->value, value)) {
		v++;
	}
	if (v == d->values + d->n_values) {
		d->n_values++;
		*v = (struct difference_value){.value = value};
	}
	v->n += n;
	v->parties |= 1U << i;
}

/** Put the most common value first; at a tie, that of @own, the bit of the coordinator's party. */
static void sort_values(struct difference *d, uint32_t own) {
	for (uint32_t i = 1; i < d->n_values; i++) {
		for (uint32_t k = i; k > 0; k--) {
			struct difference_value *a = &d->values[k - 1], *b = &d->values[k], swap = *a;
			if (a->n > b->n || (a->n == b->n && !(b->parties & own))) {
				break;
			}
			*a = *b;
			*b = swap;
		}
	}
}

/** Decode the payloads into @sides. Returns 0; -EPROTO with *@bad. */
static int read_sides(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		      const struct str payloads[], struct side *sides, uint32_t *bad) {
	for (uint32_t i = 0; i < parties->n; i++) {
		if (payloads[i].len == 0) {
			continue;
		}
		if (facts_decode(c->arena, payloads[i], group, &sides[i].list) < 0) {
			*bad = i;
			return -EPROTO;
		}
		for (uint32_t k = 0; k < c->n; k++) {
			sides[i].n += same_digest(c, group, k, parties->speaker[i]);
		}
	}
	return 0;
}

/** Compare the fact @name of all sides. Returns the difference, or NULL. */
static struct difference *compare_fact(const struct compare *c, enum fact_group group,
				       const struct compare_parties *parties, struct side *sides,
				       const char *name) {
	struct difference d = {.group = group, .name = name, .parties = parties};
	uint32_t own = 0;
	// A variable that is not there is not set. Other facts that are not there are those of another
	// version of distinit.
	bool can_lack = group == FACTS_ENV && strcmp(name, FACT_REST) != 0;
	for (uint32_t i = 0; i < parties->n; i++) {
		const char *value = take_value(&sides[i], name);
		own |= (uint32_t)(parties->speaker[i] == c->own) << i;
		bool known = value ? strcmp(value, FACT_UNKNOWN) != 0 : can_lack && !is_cut(&sides[i]);
		if (sides[i].n && known) {
			add_value(&d, value, i, sides[i].n);
		}
	}
	if (d.n_values < 2) {
		return NULL;
	}
	sort_values(&d, own);
	struct difference *out = arena_alloc(c->arena, sizeof(*out));
	*out = d;
	return out;
}

int compare_group(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		  const struct str payloads[], struct difference **out, uint32_t *bad) {
	struct side sides[COMPARE_PARTIES] = {0};
	struct difference *first = NULL, **last = &first;
	if (read_sides(c, group, parties, payloads, sides, bad) < 0) {
		return -EPROTO;
	}
	for (const char *name; (name = next_name(sides, parties->n));) {
		*last = compare_fact(c, group, parties, sides, name);
		last = *last ? &(*last)->next : last;
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
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+@%^=*";
	if (!value) {
		buf_puts(out, "not set");
	} else if (is_masked(value)) {
		buf_puts(out, other ? "(another, masked)" : FACT_MASKED);
	} else if (*value && value[strspn(value, plain)] == '\0') {
		buf_puts(out, value);
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
