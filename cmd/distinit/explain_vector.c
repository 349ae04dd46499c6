// SPDX-License-Identifier: Apache-2.0

/**
 * `explain --format=vector`: what was read, as a case for tests/vectors/run.py, so that a report is a test.
 *
 * The flow runs twice. The first run finds the files that are read. Then all values and files are
 * replaced by anonymised ones, and the second run gives the answer for these.
 */

#include "distinit/commands.h"

#include "base/hash.h"
#include "base/words.h"
#include "env/secret.h"
#include "flow/tables.h"
#include "source/ask.h"

#include <ctype.h>
#include <unistd.h>

/** What stands for the root folder in a case. */
#define ROOT "@ROOT@"

/** A word that was met in a value. */
struct seen {
	struct str word;
	/** What stands for it. */
	const char *alias;
	struct seen *next;
};

struct report {
	struct session *s;
	struct arena *arena;
	/** Words that say nothing of a site: those of our own tables. */
	struct buf known;
	/** The names of variables and files in the tables. */
	const char *const *own;
	struct seen *seen;
	unsigned n;
	/** How far the two middle numbers of an address are moved, and a hexadecimal digit. */
	unsigned shift;
	/** The root folder that was asked for, or "". */
	struct str root;
};

// --- replacing --------------------------------------------------------------------------------------

static bool is_letter(char c) {
	return isalpha((unsigned char)c);
}

static bool is_digit(char c) {
	return isdigit((unsigned char)c);
}

/**
 * Take the names in the tables, names that launchers look at beside theirs, and words of values that
 * managers go by. tests/vectors/reports.py fails where one is missing.
 */
static void learn_words(struct report *r) {
	const char *read = r->s->settings.value[OPT_READ];
	for (const char *const *name = r->own; *name; name++) {
		buf_putf(&r->known, "%s ", *name);
	}
	for (size_t i = 0; sources[i]; i++) {
		buf_putf(&r->known, "%s %s %s ", sources[i]->about, source_known_by(r->arena, sources[i]),
			 sources[i]->leaves ? sources[i]->leaves : "");
	}
	for (size_t i = 0; frameworks[i]; i++) {
		buf_putf(&r->known, "%s ", frameworks[i]->sets);
	}
	buf_puts(&r->known,
		 "x local svc launcher leader sub parameter server type current interface true false auto "
		 "PALS_APID PMI_JOBID HOROVOD_GLOO_RENDEZVOUS_ADDR HOROVOD_ELASTIC block cyclic plane "
		 "arbitrary pack nopack max qrsh undefined tcp ");
	buf_puts(&r->known, read ? read : "");
}

/** What stands for @word: the same for the same word. */
static const char *alias_of(struct report *r, struct str word) {
	for (struct seen *seen = r->seen; seen; seen = seen->next) {
		if (str_eq(seen->word, word)) {
			return seen->alias;
		}
	}
	struct seen *new = arena_alloc(r->arena, sizeof(*new));
	*new = (struct seen){word, arena_text(r->arena, word.p, word.len), r->seen};
	if (!explain_has_word(buf_str(&r->known), word, false)) {
		char alias[8] = "x";
		size_t at = 1;
		for (unsigned n = r->n++; at < sizeof(alias) - 1 && (n || at == 1); n /= 26) {
			alias[at++] = (char)('a' + n % 26);
		}
		new->alias = arena_text(r->arena, alias, at);
	}
	r->seen = new;
	return new->alias;
}

/**
 * The length of the IPv4 address at the start of @text, 0 if there is none. Its numbers are separated
 * by '.' or, in names, by '-'; the last may be a range in brackets.
 */
static size_t ipv4_length(struct str text) {
	size_t at = 0;
	for (unsigned i = 0; i < 4; i++) {
		size_t digits = 0;
		while (at < text.len && is_digit(text.p[at]) && digits < 4) {
			at++;
			digits++;
		}
		if (i == 3) {
			return digits <= 3 && (digits || (at < text.len && text.p[at] == '[')) ? at : 0;
		}
		if (!digits || digits > 3 || at == text.len || (text.p[at] != '.' && text.p[at] != '-')) {
			return 0;
		}
		at++;
	}
	return 0;
}

/** Write the address with other numbers in its middle: the network is hidden, and order remains. */
static void put_ipv4(struct report *r, struct buf *out, struct str text) {
	bool own = str_starts(text, STR("127."));
	for (size_t i = 0, number = 0, value = 0; i <= text.len; i++) {
		if (i < text.len && is_digit(text.p[i])) {
			value = value * 10 + (size_t)(text.p[i] - '0');
			continue;
		}
		if (i && is_digit(text.p[i - 1])) {
			buf_putu(out,
				 (number == 1 || number == 2) && !own ? (value + r->shift) & 255 : value);
		}
		if (i < text.len) {
			buf_putc(out, text.p[i]);
		}
		number++;
		value = 0;
	}
}

/** The same for IPv6: hexadecimal digits and at least two colons. */
static size_t ipv6_length(struct str text) {
	size_t at = 0, colons = 0;
	while (at < text.len && (text.p[at] == ':' || isxdigit((unsigned char)text.p[at]))) {
		colons += text.p[at++] == ':';
	}
	return colons > 1 && (at == text.len || !is_letter(text.p[at])) ? at : 0;
}

static void put_ipv6(struct report *r, struct buf *out, struct str text) {
	static const char hex[] = "0123456789abcdef";
	size_t first = str_find(text, ':'), last = text.len;
	while (text.p[--last] != ':') {
	}
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		if (i > first && i < last && c != ':') {
			unsigned digit = is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c | 0x20) - 'a' + 10;
			c = hex[(digit + r->shift) & 15];
		}
		buf_putc(out, c);
	}
}

/** Return @text with other words and addresses. */
static const char *hidden(struct report *r, struct str text) {
	struct buf out = BUF(r->arena);
	char before = 0;
	for (size_t len; text.len; before = text.p[len - 1], text = str_from(text, len)) {
		bool starts = !is_letter(before) && !is_digit(before);
		len = 1;
		if (r->root.len && str_starts(text, r->root)) {
			len = r->root.len;
		} else if (starts && ipv4_length(text)) {
			len = ipv4_length(text);
			put_ipv4(r, &out, (struct str){text.p, len});
		} else if (starts && ipv6_length(text)) {
			len = ipv6_length(text);
			put_ipv6(r, &out, (struct str){text.p, len});
		} else if (is_letter(text.p[0])) {
			while (len < text.len && is_letter(text.p[len])) {
				len++;
			}
			buf_puts(&out, alias_of(r, (struct str){text.p, len}));
		} else {
			buf_putc(&out, text.p[0]);
		}
	}
	return buf_text(&out);
}

// --- the input --------------------------------------------------------------------------------------

/** Whether the variable @name is read: a table or --read names it, or it tells torchrun what to do. */
static bool is_read(struct report *r, struct str name) {
	if (name.len == 0 || str_starts(name, STR("DISTINIT_"))) {
		return false;
	}
	for (const char *const *own = r->own; *own; own++) {
		if (str_like(name, str_of(*own))) {
			return true;
		}
	}
	return str_starts(name, STR("PET_")) || explain_has_word(buf_str(&r->known), name, true);
}

/** Write @text so that a line of a case holds it. */
static void put_value(struct buf *out, struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i], next = i + 1 < text.len ? text.p[i + 1] : 0;
		if (c == '#' || (c == '\\' && next == 'x') || (c == '{' && is_digit(next))) {
			buf_putf(out, "\\x%02x", c);
		} else {
			buf_put_plain(out, (struct str){&text.p[i], 1});
		}
	}
}

/** Take the environment that the second run begins with, and write it. */
static void put_environment(struct report *r, struct buf *out) {
	struct env all;
	env_init(&all, r->arena, environ);
	char **kept = (char **)arena_array(r->arena, all.n + 1, sizeof(*kept));
	uint32_t n = 0;
	for (uint32_t i = 0; i < all.n; i++) {
		const struct env_entry *entry = &all.entries[i];
		struct str name = env_entry_name(entry);
		if (!env_entry_first(&all, entry) || !is_read(r, name)) {
			continue;
		}
		const char *text = arena_text(r->arena, name.p, name.len);
		if (secret_name(name)) {
			buf_putf(out, "# %s is left out, because its name says that it is secret\n", text);
			continue;
		}
		buf_putf(&r->known, " %s", text);
		const char *shown = secret_mask(r->arena, text, env_entry_value(entry));
		kept[n] = arena_format(r->arena, "%s=%s", text, shown);
		n++;
	}
	kept[n] = NULL;
	// Only now all words are known that may stay.
	for (uint32_t i = 0; i < n; i++) {
		struct str whole = str_of(kept[i]);
		size_t name = str_find(whole, '=') + 1;
		const char *value = hidden(r, str_from(whole, name));
		kept[i] = arena_format(r->arena, "%.*s%s", (int)name, whole.p, value);
		put_value(out, str_of(kept[i]));
		buf_putc(out, '\n');
	}
	env_init(&r->s->env, r->arena, kept);
}

/** Write the options that a cluster is found by. Others are left out, in the second run too. */
static void put_options(struct report *r, struct buf *out) {
	struct settings *settings = &r->s->settings;
	for (unsigned id = 0; id < N_VALUES; id++) {
		const char *value = settings->value[id];
		bool names = id == OPT_HOSTS || id == OPT_HOSTFILE || id == OPT_MASTER_ADDR;
		if (id > OPT_LENIENT || id == OPT_HOSTFILE_OUTPUT) {
			settings->value[id] = NULL;
		} else if (value) {
			const char *label = settings_label(settings, id);
			value = id == OPT_LENIENT ? "1" : names ? hidden(r, str_of(value)) : value;
			settings->value[id] = value;
			const char *word = arena_format(r->arena, "%s=%s", label, value);
			buf_puts(out, label[0] == '-' ? "$ " : "");
			if (label[0] == '-') {
				word_put(out, word);
			} else {
				put_value(out, str_of(word));
			}
			buf_putc(out, '\n');
		}
	}
}

/** Write the files that the first run has read, and keep them for the second. */
static void put_files(struct report *r, const struct input_file *files, struct buf *out) {
	struct input *in = &r->s->flow.input;
	for (; files; files = files->next) {
		struct buf text = BUF(r->arena);
		struct str rest = str_of(hidden(r, files->text)), line;
		struct input_file *copy = arena_alloc(r->arena, sizeof(*copy));
		const char *path = hidden(r, str_of(files->path));
		buf_putf(out, "file %s\n", path);
		while (str_cut(&rest, '\n', &line)) {
			// A case has no blank lines.
			if (str_trim(line).len) {
				buf_putc(out, '\t');
				put_value(out, line);
				buf_putc(out, '\n');
				buf_put(&text, line);
				buf_putc(&text, '\n');
			}
		}
		*copy = (struct input_file){path, {buf_text(&text), text.len}, in->files};
		in->files = copy;
	}
}

// --- the answer -------------------------------------------------------------------------------------

static void put_number(struct buf *out, const char *key, uint32_t number) {
	buf_putf(out, number == UNKNOWN ? "cluster.%s -\n" : "cluster.%s %u\n", key, number);
}

static void put_cluster(struct buf *out, const struct cluster *c) {
	buf_putf(out, "cluster.source %s\ncluster.launcher %s\ncluster.scope %s\ncluster.hosts",
		 c->source ? c->source->name : "-", c->launcher ? c->launcher->name : "-",
		 scope_name(c->scope));
	for (uint32_t i = 0; i < c->place.hosts.n; i++) {
		buf_putc(out, ' ');
		buf_put_plain(out, hosts_at(&c->place.hosts, i));
	}
	buf_puts(out, c->place.hosts.n ? "\n" : " -\n");
	put_number(out, "nnodes", c->nnodes);
	put_number(out, "node_rank", c->place.node_rank);
}

static void put_answer(struct report *r, struct buf *out) {
	const struct env *env = &r->s->env;
	size_t before = out->len;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (env_entry_changed(env, entry)) {
			put_value(out, str_of(entry->text));
			buf_putc(out, '\n');
		} else if (entry->state == ENV_GONE && i < env->n_inherited) {
			buf_putf(out, "-%.*s\n", (int)entry->name_len, entry->text);
		}
	}
	buf_puts(out, out->len == before ? "unchanged\n" : "");
	if (r->s->flow.has_cluster) {
		put_cluster(out, &r->s->flow.cluster);
	} else {
		buf_puts(out, "cluster none\n");
	}
	for (const struct note *note = r->s->notes.first; note; note = note->next) {
		buf_putf(out, "distinit: warning: %s\n", note->text);
	}
}

/** What this host is called in the case: as its manager calls it, where its name tells nothing. */
static const char *own_name(struct report *r) {
	struct cluster *c = &r->s->flow.cluster;
	struct str name = str_of(input_hostname(&r->s->flow.input));
	bool listed = r->s->flow.has_cluster && c->place.node_rank < c->place.hosts.n;
	if (listed && hosts_find_loosely(&c->place.hosts, name) == c->place.hosts.n &&
	    !c->place.node_rank_from) {
		name = hosts_at(&c->place.hosts, c->place.node_rank);
	}
	return hidden(r, name);
}

int explain_vector(struct session *s, struct buf *out, struct err *err) {
	struct report r = {.s = s,
			   .arena = &s->arena,
			   .known = BUF(&s->arena),
			   .own = own_variables(s),
			   .root = str_of(s->settings.value[OPT_ROOT])};
	r.shift = (unsigned)(hash_key % 255) + 1;
	int x = session_wants(s, err);
	if (x < 0) {
		return x;
	}
	s->flow.input.keeps_files = true;
	struct err ignored; // it comes again
	(void)flow_derive(&s->flow, &ignored);
	const struct input_file *files = s->flow.input.files;

	learn_words(&r);
	buf_puts(out, "[a report]\n# distinit " DISTINIT_VERSION "\n");
	put_environment(&r, out);
	const char *name = own_name(&r);
	buf_putf(out, "hostname %s\n", name);
	put_options(&r, out);
	s->settings.value[OPT_ROOT] = ROOT;
	s->settings.value[OPT_HOSTNAME] = name;
	s->overrides = (struct overrides){.directives = {.arena = &s->arena}};
	s->notes = (struct notes){.arena = &s->arena};
	flow_init(&s->flow, &s->arena, &s->env, &s->notes);
	put_files(&r, files, out);
	buf_puts(out, "--\n");
	x = session_derive(s, err);
	if (x < 0) {
		buf_putf(out, "distinit: error: %s\n", err->text);
	} else {
		put_answer(&r, out);
	}
	return 0;
}
