// SPDX-License-Identifier: Apache-2.0

/**
 * `explain --format=vector`: what was read, as a case for tests/vectors/run.py, so that a report is a test.
 *
 * The flow runs twice. The first run finds the files that are read. Then the site's words and addresses are
 * replaced in all values and files, and the second run gives the answer for these.
 */

#include "explain/explain.h"

#include "base/hash.h"
#include "base/secret.h"
#include "base/words.h"
#include "flow/derived.h"
#include "flow/tables.h"
#include "source/ask.h"
#include "source/row.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/** What stands for the root folder in a case. */
#define ROOT "@ROOT@"

/** A word of a site. */
struct seen {
	struct str word;
	/** What stands for it; NULL: itself. */
	const char *alias;
	struct seen *next;
};

struct case_writer {
	struct session *s;
	struct buf *out;
	/** Names of variables, each between blanks; then words that say nothing of a site. */
	struct buf known;
	const char *const *own;
	struct seen *seen;
	unsigned n;
	/** How far the numbers in the middle of an address are moved. */
	unsigned shift;
	/** The root folder that was asked for, or "". */
	struct str root;
};

/** Learn the words that may stay. tests/vectors/reports.py fails where one is missing. */
static void learn_words(struct case_writer *r) {
	const char *read = r->s->settings.value[OPT_READ];
	for (const char *const *name = r->own; *name; name++) {
		buf_putf(&r->known, " %s", *name);
	}
	for (const char *const *name = read ? row_reads(&r->s->arena, read) : NULL; name && *name; name++) {
		buf_putf(&r->known, " %s", *name);
	}
	for (size_t i = 0; frameworks[i]; i++) {
		buf_putf(&r->known, " %s", frameworks[i]->sets);
	}
	buf_puts(&r->known,
		 " PALS_APID PMI_JOBID PMIX_NAMESPACE PRTE_LAUNCHED SPUR_NTASKS HOROVOD_GLOO_RENDEZVOUS_ADDR "
		 "HOROVOD_ELASTIC CROSS_RANK x local svc slurm crane pmix "
		 "config required count member members id ids network ips exposed ports "
		 "launcher leader sub parameter server type current interface true false auto "
		 "block cyclic plane arbitrary pack nopack max qrsh undefined tcp ");
	for (size_t i = 0; sources[i]; i++) {
		buf_putf(&r->known, "%s %s %s ", sources[i]->about, source_known_by(&r->s->arena, sources[i]),
			 sources[i]->leaves ? sources[i]->leaves : "");
	}
}

/** What stands for @word, or NULL. */
static const char *alias_of(struct case_writer *r, struct str word) {
	struct seen *seen = r->seen;
	while (seen && !str_eq(seen->word, word)) {
		seen = seen->next;
	}
	if (!seen) {
		seen = arena_alloc(&r->s->arena, sizeof(*seen));
		*seen = (struct seen){.word = word, .next = r->seen};
		if (!explain_has_word(buf_str(&r->known), word)) {
			unsigned n = r->n++;
			seen->alias = arena_format(&r->s->arena, "x%c%c%c", 'a' + n / 676 % 26,
						   'a' + n / 26 % 26, 'a' + n % 26);
		}
		r->seen = seen;
	}
	return seen->alias;
}

/** Write the number in the middle of an address ("10.N.N.5", "fe80:N::1") at @text. Returns its length. */
static size_t put_number(struct case_writer *r, struct buf *out, const char *text, char before, bool dashes) {
	bool ipv6 = before == ':';
	char *end;
	if (!isxdigit((unsigned char)*text) || (before != '.' && !ipv6 && !(before == '-' && dashes))) {
		return 0;
	}
	unsigned long number = strtoul(text, &end, ipv6 ? 16 : 10), largest = ipv6 ? 0xffff : 255;
	if (end == text || *end != before || number > largest) {
		return 0;
	}
	// 0 stays: 127.0.0.1 is every machine.
	number = number ? (number - 1 + r->shift) % largest + 1 : 0;
	buf_putf(out, ipv6 ? "%lx" : "%lu", number);
	return (size_t)(end - text);
}

/** The length of the address of IPv6 at @text, or 0: its letters are no words. */
static size_t ipv6_length(const char *text) {
	size_t len = strspn(text, "0123456789abcdefABCDEF:");
	const char *colon = memchr(text, ':', len);
	colon = colon ? memchr(colon + 1, ':', len - (size_t)(colon + 1 - text)) : NULL;
	return colon && !isalpha((unsigned char)text[len]) ? len : 0;
}

/** Return @text with other words and addresses, without the root folder. */
static const char *hidden(struct case_writer *r, struct str whole) {
	struct buf out = BUF(&r->s->arena);
	const char *text = arena_text(&r->s->arena, whole.p, whole.len), *address = text;
	char before = '\0';
	bool dashes = false;
	for (size_t len; *text; before = text[len - 1], text += len) {
		if (r->root.len && strncmp(text, r->root.p, r->root.len) == 0) {
			len = r->root.len;
			continue;
		}
		len = put_number(r, &out, text, before, dashes);
		if (len) {
			continue;
		}
		if (text >= address && !isalnum((unsigned char)before)) {
			address = text + ipv6_length(text);
		}
		while (isalpha((unsigned char)text[len])) {
			len++;
		}
		struct str word = {text, len ? len : 1};
		const char *alias = len && text >= address ? alias_of(r, word) : NULL;
		dashes = len ? str_is(word, "ip") : dashes;
		buf_put(&out, alias ? str_of(alias) : word);
		len = word.len;
	}
	return buf_text(&out);
}

/** Write @text so that a line of a case holds it. */
static void put_line(struct case_writer *r, const char *text) {
	for (const char *p = text; *p; p++) {
		if (*p == '#' || (*p == '\\' && p[1] == 'x') || (*p == '{' && isdigit((unsigned char)p[1]))) {
			buf_putf(r->out, "\\x%02x", *p);
		} else {
			buf_put_plain(r->out, (struct str){p, 1});
		}
	}
	buf_putc(r->out, '\n');
}

/** Whether the variable @name is read: a table or --read names it, or it tells torchrun what to do. */
static bool is_read(struct case_writer *r, const char *name) {
	return str_like_any(str_of(name), r->own) || strncmp(name, "PET_", 4) == 0 ||
	       strstr(buf_text(&r->known), arena_format(&r->s->arena, " %s ", name));
}

/** Take the environment that the second run begins with, without secrets, and write it. */
static void put_environment(struct case_writer *r) {
	struct env all;
	env_init(&all, &r->s->arena, environ);
	char **kept = (char **)arena_array(all.arena, all.n + 1, sizeof(*kept));
	uint32_t n = 0;
	for (uint32_t i = 0; i < all.n; i++) {
		struct str name = env_entry_name(&all.entries[i]);
		const char *text = arena_text(all.arena, name.p, name.len);
		if (!env_entry_first(&all, &all.entries[i]) || !is_read(r, text)) {
			continue;
		}
		if (secret_name(name)) {
			buf_putf(r->out, "# %s is left out, because its name says that it is secret\n", text);
			continue;
		}
		buf_putf(&r->known, " %s", text);
		kept[n++] = arena_format(all.arena, "%s=%s", text,
					 secret_mask(all.arena, text, env_entry_value(&all.entries[i])));
	}
	kept[n] = NULL;
	// Only now all words are known that may stay, those of the names among them.
	for (uint32_t i = 0; i < n; i++) {
		const char *other = hidden(r, str_of(kept[i]));
		put_line(r, other);
		kept[i] = arena_text(all.arena, other, strlen(other));
	}
	env_init(&r->s->env, all.arena, kept);
}

/** Write the options that a cluster is found by. Others are left out, in the second run too. */
static void put_options(struct case_writer *r) {
	struct settings *settings = &r->s->settings;
	for (unsigned id = 0; id < N_VALUES; id++) {
		const char *value = settings->value[id], *label = settings_label(settings, id);
		bool names = id == OPT_HOSTS || id == OPT_HOSTFILE || id == OPT_MASTER_ADDR;
		settings->value[id] = NULL;
		if (!value || id > OPT_LENIENT || id == OPT_HOSTFILE_OUTPUT) {
			continue;
		}
		value = id == OPT_LENIENT ? "1"
			: names		  ? hidden(r, str_of(value))
					  : secret_text(&r->s->arena, value);
		settings->value[id] = value;
		const char *word = arena_format(&r->s->arena, "%s=%s", label, value);
		if (label[0] != '-') {
			put_line(r, word);
			continue;
		}
		buf_puts(r->out, "$ ");
		word_put(r->out, word);
		buf_putc(r->out, '\n');
	}
}

/** Write the files that the first run has read, and keep them for the second. A case has no blank lines. */
static void put_files(struct case_writer *r, const struct input_file *files) {
	struct input *in = &r->s->flow.input;
	for (; files; files = files->next) {
		struct buf text = BUF(&r->s->arena);
		struct str rest = files->text, line;
		struct input_file *copy = arena_alloc(&r->s->arena, sizeof(*copy));
		copy->path = hidden(r, str_of(files->path));
		buf_putf(r->out, "file %s\n", copy->path);
		while (str_cut(&rest, '\n', &line)) {
			if (str_trim(line).len) {
				const char *other = hidden(r, line);
				buf_putc(r->out, '\t');
				put_line(r, other);
				buf_puts(&text, other);
				buf_putc(&text, '\n');
			}
		}
		copy->text = (struct str){buf_text(&text), text.len};
		copy->next = in->files;
		in->files = copy;
	}
}

/** What this host is called in the case: as its manager calls it, where its name tells nothing to anybody. */
static const char *own_name(struct case_writer *r) {
	const struct placement *place = &r->s->flow.cluster.place;
	struct str name = str_of(input_hostname(&r->s->flow.input));
	if (place->node_rank < place->hosts.n && !place->node_rank_from &&
	    !str_eq(name, r->s->flow.input.task.host) &&
	    hosts_find_loosely(&place->hosts, name) == place->hosts.n) {
		name = hosts_at(&place->hosts, place->node_rank);
	}
	return hidden(r, name);
}

static void put_count(struct buf *out, const char *key, uint32_t number) {
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
	put_count(out, "nnodes", c->nnodes);
	put_count(out, "node_rank", c->place.node_rank);
}

static void put_answer(struct case_writer *r) {
	const struct env *env = &r->s->env;
	size_t before = r->out->len;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		// The mark of a job script follows from the others.
		bool mark = str_is(env_entry_name(entry), DERIVED_NAME);
		if (env_entry_changed(env, entry) && !mark) {
			put_line(r, entry->text);
		} else if (entry->state == ENV_GONE && i < env->n_inherited) {
			buf_putf(r->out, "-%.*s\n", (int)entry->name_len, entry->text);
		}
	}
	buf_puts(r->out, r->out->len == before ? "unchanged\n" : "");
	if (r->s->flow.has_cluster) {
		put_cluster(r->out, &r->s->flow.cluster);
	} else {
		buf_puts(r->out, "cluster none\n");
	}
	for (const struct note *note = r->s->notes.first; note; note = note->next) {
		buf_putf(r->out, "distinit: warning: %s\n", note->text);
	}
}

int explain_vector(struct session *s, struct buf *out, struct err *err) {
	struct case_writer r = {.s = s,
				.out = out,
				.known = BUF(&s->arena),
				.own = own_variables(s),
				.shift = (unsigned)(hash_key % 254) + 1,
				.root = str_of(s->settings.value[OPT_ROOT])};
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
	put_environment(&r);
	const char *name = own_name(&r);
	buf_putf(out, "hostname %s\n", name);
	put_options(&r);
	s->settings.value[OPT_ROOT] = ROOT;
	s->settings.value[OPT_HOSTNAME] = name;
	s->overrides = (struct overrides){.directives = {.arena = &s->arena}};
	s->notes = (struct notes){.arena = &s->arena};
	flow_init(&s->flow, &s->arena, &s->env, &s->notes);
	put_files(&r, files);
	buf_puts(out, "--\n");
	x = session_derive(s, err);
	if (x < 0) {
		buf_putf(out, "distinit: error: %s\n", err->text);
	} else {
		put_answer(&r);
	}
	return 0;
}
