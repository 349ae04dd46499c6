// SPDX-License-Identifier: Apache-2.0

#include "rollcall/compare.h"

#include "cluster/hostlist.h"

#include <errno.h>

/**
 * The longest list of nodes in a message, in bytes. Of a longer list, only the first NAMED_MAX nodes are
 * written.
 */
#define LIST_MAX  120
#define NAMED_MAX 8

/** Members with the same digest. */
struct party {
	uint64_t digest;
	/** The index of the first member, or of the coordinator if it is in this party. */
	uint32_t speaker;
	/** The number of members. */
	uint32_t n;
};

/** Write the parties of @group to @parties, which has room for c->n. Returns their end. */
static struct party *count_parties(const struct compare *c, enum fact_group group, struct party *parties) {
	struct party *end = parties;
	for (uint32_t i = 0; i < c->n; i++) {
		struct party *p = parties;
		uint64_t digest = c->members[i].digest[group];
		while (p < end && p->digest != digest) {
			p++;
		}
		if (p == end) {
			*end++ = (struct party){digest, i, 0};
		}
		p->n++;
		p->speaker = i == c->own ? i : p->speaker;
	}
	return end;
}

void compare_choose_speakers(const struct compare *c, enum fact_group group, struct compare_parties *out) {
	struct party *parties = arena_array(c->arena, c->n, sizeof(*parties));
	struct party *end = count_parties(c, group, parties);
	unsigned char *bits = arena_alloc(c->arena, c->n);
	memset(bits, 0, c->n);
	*out = (struct compare_parties){.unasked = c->n, .bits = bits};
	while (out->n < COMPARE_PARTIES && out->unasked) {
		struct party *best = parties;
		for (struct party *p = parties; p < end; p++) {
			best = p->n > best->n || (p->n == best->n && p->speaker == c->own) ? p : best;
		}
		for (uint32_t i = 0; i < c->n; i++) {
			bool in = c->members[i].digest[group] == best->digest;
			bits[i] |= (unsigned char)(in << out->n);
		}
		out->speaker[out->n] = best->speaker;
		out->size[out->n++] = best->n;
		out->unasked -= best->n;
		best->n = 0;
	}
}

// --- comparing ------------------------------------------------------------------------------------------

/** The comparison of one group. */
struct comparison {
	const struct compare *c;
	enum fact_group group;
	const struct compare_parties *parties;
	/** The facts of each party. If a party did not answer, its list is empty, and `at` is NULL. */
	struct fact_list list[COMPARE_PARTIES];
};

/**
 * Whether the value of a party is known. @value is NULL if @list does not have the fact: a missing variable
 * is not set; another fact is missing if the party has another version of distinit, and its value is unknown.
 */
static bool is_known(const struct comparison *x, const struct fact_list *list, const char *value) {
	return value ? strcmp(value, FACT_UNKNOWN) != 0
		     : list->at && x->group == FACTS_ENV && !facts_find(list, FACT_TOO_MANY);
}

/** Add the value of party @i to @d. */
static void add_value(const struct comparison *x, struct difference *d, const char *value, uint32_t i) {
	struct difference_value *v = d->values, *end = v + d->n_values;
	while (v < end && (v->value && value ? strcmp(v->value, value) != 0 : v->value != value)) {
		v++;
	}
	d->n_values += v == end;
	v->value = value;
	v->n += x->parties->size[i];
	v->parties |= 1U << i;
}

static uint32_t find_common(const struct comparison *x, const struct difference *d) {
	uint32_t best = 0;
	for (uint32_t i = 1; i < d->n_values; i++) {
		const struct difference_value *v = &d->values[i];
		bool own = v->parties & x->parties->bits[x->c->own];
		best = v->n > d->values[best].n || (v->n == d->values[best].n && own) ? i : best;
	}
	return best;
}

/** Compare the fact @name of all parties. Returns the difference; NULL: there is none. */
static struct difference *compare_fact(const struct comparison *x, const char *name) {
	struct difference *d = arena_alloc(x->c->arena, sizeof(*d));
	*d = (struct difference){.group = x->group, .name = name, .parties = x->parties};
	for (uint32_t i = 0; i < x->parties->n; i++) {
		const char *value = facts_find(&x->list[i], name);
		if (is_known(x, &x->list[i], value)) {
			add_value(x, d, value, i);
		}
	}
	d->common = find_common(x, d);
	d->own = x->c->facts ? facts_find(&x->c->facts[x->group], name) : NULL;
	return d->n_values < 2 ? NULL : d;
}

int compare_group(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		  const struct str payloads[], struct difference **out, uint32_t *bad) {
	struct comparison x = {.c = c, .group = group, .parties = parties};
	struct difference *first = NULL, **last = &first;
	for (uint32_t i = 0; i < parties->n; i++) {
		if (payloads[i].len && facts_decode(c->arena, payloads[i], group, &x.list[i]) < 0) {
			*bad = i;
			return -EPROTO;
		}
	}
	for (uint32_t i = 0; i < parties->n; i++) {
		for (uint32_t k = 0; k < x.list[i].n; k++) {
			const char *name = x.list[i].at[k].name;
			uint32_t before = 0;
			// Skip names that an earlier party already had.
			while (before < i && !facts_find(&x.list[before], name)) {
				before++;
			}
			*last = before < i ? NULL : compare_fact(&x, name);
			last = *last ? &(*last)->next : last;
		}
	}
	*out = first;
	return 0;
}

// --- output ---------------------------------------------------------------------------------------------

/**
 * Write the members that have @v, as a host list of names or ranks. If the list is long, write the first
 * @limit hosts and the number of the others; 0: no limit. Returns the last member.
 */
static const struct compare_member *put_members(const struct compare *c, const struct difference *d,
						const struct difference_value *v, bool ranks, uint32_t limit,
						struct buf *out) {
	struct buf text = BUF(c->arena);
	struct str before = {0};
	const struct compare_member *last = c->members;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct compare_member *m = &c->members[i];
		if (!(v->parties & d->parties->bits[i])) {
			continue;
		}
		last = m;
		struct str name = m->host;
		if (ranks || !name.len) {
			name = str_of(arena_format(c->arena, ranks ? "%u" : "rank-%u", m->rank));
		}
		// The tasks of a node have consecutive ranks: write the node once.
		if (!str_eq(name, before)) {
			buf_put(&text, name);
			buf_putc(&text, ',');
			before = name;
		}
	}
	struct hosts hosts = {0};
	struct err ignored;
	uint32_t empty;
	hosts_split(c->arena, "", buf_text(&text), ',', &hosts, &empty, &ignored);
	size_t start = out->len;
	hostlist_compress(&hosts, out);
	if (limit && hosts.n > limit && out->len - start > LIST_MAX) {
		out->len = start;
		uint32_t more = hosts.n - limit;
		hosts.n = limit;
		hostlist_compress(&hosts, out);
		buf_putf(out, " and %u more", more);
	}
	return last;
}

/** Write @value, in quotes if it has blanks, commas or quotes. */
static void put_value(const char *value, struct buf *out) {
	if (!value) {
		buf_puts(out, "not set");
	} else if (*value && !strpbrk(value, " ,'")) {
		buf_put_plain(out, str_of(value));
	} else {
		buf_puts(out, quote_text(value).s);
	}
}

/** The text that is shown of @v, a value of @d. The coordinator's own value is shown in clear. */
static const char *shown(const struct compare *c, const struct difference *d,
			 const struct difference_value *v) {
	bool own = c->facts && v->value && v->parties & d->parties->bits[c->own];
	return fact_shown(own ? d->own : v->value);
}

/** Cut *@text to the word with index @n. facts.c puts one blank between words, and none into them. */
static void cut_word(struct str *text, uint32_t n) {
	struct str rest = *text, word = {0};
	for (uint32_t i = 0; i <= n; i++) {
		if (!str_cut(&rest, ' ', &word)) {
			word = (struct str){0};
		}
	}
	*text = word;
}

/** The word of @command with index @n; NULL: @command has fewer words. */
static const char *command_word(const struct compare *c, const char *command, uint32_t n) {
	struct str word = str_of(command);
	cut_word(&word, n);
	return word.p ? arena_text(c->arena, word.p, word.len) : NULL;
}

/**
 * If @d is a difference in the command, find the first word that differs. Returns a copy of @d with that word
 * of each command, named by its index; or @d.
 */
static const struct difference *first_word(const struct compare *c, const struct difference *d) {
	struct difference *out = arena_alloc(c->arena, sizeof(*out));
	if (d->group != FACTS_PROGRAM || strcmp(d->name, "argv") != 0) {
		return d;
	}
	for (uint32_t i = 0; i < d->n_values; i++) {
		// A long command is sent as its digest and its length, so its words are unknown.
		const char *value = d->values[i].value;
		if (value && str_starts(str_of(value), STR(DIGEST_MARK)) && strstr(value, " bytes)")) {
			return d;
		}
	}
	for (uint32_t n = 0;; n++) {
		bool differs = false, any = false;
		*out = *d;
		out->name = arena_format(c->arena, "argv[%u]", n);
		out->own = d->own ? command_word(c, d->own, n) : NULL;
		for (uint32_t i = 0; i < d->n_values; i++) {
			const char *word = d->values[i].value ? command_word(c, d->values[i].value, n) : NULL;
			const char *first = out->values[0].value;
			out->values[i].value = word;
			any |= word != NULL;
			differs |= i && (word && first ? strcmp(word, first) != 0 : word != first);
		}
		if (differs || !any) {
			return differs ? out : d;
		}
	}
}

void difference_text(const struct compare *c, const struct difference *difference, struct buf *out) {
	const struct difference *d = first_word(c, difference);
	buf_puts(out, d->name);
	// The most common value comes first.
	for (uint32_t i = 0; i <= d->n_values; i++) {
		uint32_t at = i ? i - 1 : d->common;
		const struct difference_value *v = &d->values[at];
		if (i && at == d->common) {
			continue;
		}
		buf_puts(out, i ? ", " : v->value ? "=" : " ");
		put_value(shown(c, d, v), out);
		buf_puts(out, " on ");
		if (i || v->n == 1) {
			const struct compare_member *last = put_members(c, d, v, false, NAMED_MAX, out);
			if (d->group == FACTS_WORLD && v->n == 1 && last->host.len) {
				buf_putf(out, " (rank %u)", last->rank);
			}
		} else {
			buf_putf(out, "%u %s", v->n, c->tasks ? "tasks" : "nodes");
		}
	}
	if (d->parties->unasked) {
		buf_putf(out, "; %u more differ in this group", d->parties->unasked);
	}
}

void difference_json(const struct compare *compare, const struct difference *d, bool error,
		     struct json *json) {
	// The arena of the comparison now belongs to the caller of the roll call. Do not allocate in it.
	struct compare here = *compare;
	const struct compare *c = &here;
	here.arena = json->out->arena;
	json_open(json, NULL, '{');
	json_text(json, "group", fact_groups[d->group]);
	json_fact(json, "error", error);
	json_text(json, "name", d->name);
	json_open(json, "values", '[');
	for (uint32_t i = 0; i < d->n_values; i++) {
		const struct difference_value *v = &d->values[i];
		struct buf ranks = BUF(c->arena);
		json_open(json, NULL, '{');
		json_text(json, "value", shown(c, d, v));
		json_number(json, "nodes", v->n);
		put_members(c, d, v, true, 0, &ranks);
		json_string(json, "ranks", buf_str(&ranks));
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}
