// SPDX-License-Identifier: Apache-2.0

#include "facts/facts.h"

#include "base/num.h"
#include "base/secret.h"
#include "cluster/hostlist.h"
#include "cluster/source.h"
#include "env/bundle.h"
#include "facts/findings.h"
#include "facts/program.h"
#include "node/machine.h"
#include "node/rdma.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

const char *const fact_groups[N_FACT_GROUPS] = {"world", "program", "env", "devices", "limits"};

const char facts_env_default[] = "NCCL_*:TORCH_NCCL_*:GLOO_*:UCX_*:FI_*:OMPI_MCA_*:CUDA_*:PYTHONPATH:"
				 "LD_LIBRARY_PATH:LD_PRELOAD:OMP_NUM_THREADS";

/** The longest name or value that is accepted, in bytes: FACT_VALUE_MAX, or the name of a host. */
#define TEXT_MAX 255

/** A group has at most so many facts, not counting variables and options. */
#define OWN_MAX 13

/** A group that is being read. */
struct facts_reading {
	const struct facts_from *from;
	struct arena *arena;
	struct machine machine;
	struct fact_list list;
	/** The size of the list's array. */
	size_t room;
};

/** Add a fact; @value is NULL: not known. Callers add names in alphabetical order. */
static void add(struct facts_reading *r, const char *name, const char *value) {
	if (r->list.n == r->room) {
		abort(); // OWN_MAX is too small
	}
	r->list.at[r->list.n++] = (struct fact){name, value ? value : FACT_UNKNOWN};
}

static void add_number(struct facts_reading *r, const char *name, uint64_t number) {
	add(r, name, number == MACHINE_UNKNOWN ? NULL : arena_format(r->arena, "%lu", (unsigned long)number));
}

static void add_u32(struct facts_reading *r, const char *name, uint32_t number) {
	add_number(r, name, number == UNKNOWN ? MACHINE_UNKNOWN : number);
}

/** @value; if it is longer than FACT_VALUE_MAX, its digest and its length. */
static const char *shortened(struct arena *arena, const char *value) {
	struct str text = str_of(value);
	return text.len <= FACT_VALUE_MAX
		       ? value
		       : arena_format(arena, "%s (%zu bytes)", digest_text(arena, text), text.len);
}

// --- world ----------------------------------------------------------------------------------------------

/** @hosts as a host list; NULL: there are none. All nodes get the same names from the manager. */
static const char *hosts_text(struct facts_reading *r, const struct hosts *hosts) {
	struct buf list = BUF(r->arena);
	hostlist_compress(hosts, &list);
	return hosts->n ? shortened(r->arena, buf_text(&list)) : NULL;
}

/**
 * The master's address, or its short name, because nodes may have its name with or without a domain; NULL:
 * the loopback.
 */
static const char *master_text(struct facts_reading *r) {
	const char *master = r->from->master;
	if (!master || host_is_itself(str_of(master))) {
		return NULL;
	}
	return host_has_no_label(str_of(master)) ? master
						 : arena_text(r->arena, master, strcspn(master, "."));
}

/** "8 x 100,4": 8 tasks on each of 100 nodes, and 4 on the last. */
static const char *tasks_text(struct facts_reading *r, const struct placement *place) {
	struct buf list = BUF(r->arena);
	const uint32_t *tasks = place->tasks_per_node;
	for (uint32_t i = 0, n; tasks && i < place->hosts.n; i += n) {
		for (n = 1; i + n < place->hosts.n && tasks[i + n] == tasks[i]; n++) {
		}
		buf_putf(&list, n > 1 ? "%s%u x %u" : "%s%u", i ? "," : "", tasks[i], n);
	}
	return list.len ? shortened(r->arena, buf_text(&list)) : NULL;
}

static void read_world(struct facts_reading *r) {
	const struct cluster *c = r->from->cluster;
	if (!c) {
		return;
	}
	for (uint32_t i = 0; i < r->from->n_options; i++) {
		add(r, r->from->options[i].name, shortened(r->arena, r->from->options[i].value));
	}
	add(r, "hosts", c->place.shuffled ? "in another order" : hosts_text(r, &c->place.hosts));
	add(r, "manager", c->source ? c->source->name : NULL);
	add(r, "master", master_text(r));
	add_u32(r, "nodes", c->nnodes);
	add_u32(r, "port", r->from->port ? r->from->port : UNKNOWN);
	add(r, "scope", scope_name(c->scope));
	if (c->scope == SCOPE_TASK) {
		add_u32(r, "tasks", c->task.world_size);
	}
	add(r, "tasks_per_node", tasks_text(r, &c->place));
}

// --- program, env ---------------------------------------------------------------------------------------

/** The digest in place of a word that may be secret. With a key, only nodes of the job can try guesses. */
static const char *word_digest(struct facts_reading *r, const char *word) {
	unsigned char digest[SHA256_BYTES];
	if (!r->from->key) {
		return digest_text(r->arena, str_of(word));
	}
	key_hmac(r->from->key, str_of(word), STR(""), digest);
	return digest_text(r->arena, (struct str){(const char *)digest, sizeof(digest)});
}

/** A longer word, or one with a longer run of letters and digits, may be a key, so it is not shown. */
#define WORD_MAX 100
#define RUN_MAX	 24

/**
 * Whether @word looks plain: only letters, digits and common punctuation, and no long run of letters and
 * digits.
 */
static bool is_plain_word(const char *word) {
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	if (strlen(word) > WORD_MAX) {
		return false;
	}
	for (size_t run; (run = strspn(word, letters)) < RUN_MAX; word++) {
		word += run;
		if (!*word || !strchr("_-./=,:@%+*", *word)) {
			return !*word;
		}
	}
	return false;
}

/** The text that is sent for the word @i of the command; it has no blanks. */
static const char *open_word(struct facts_reading *r, uint32_t i) {
	const char *word = r->from->argv[i], *shown = secret_word(r->arena, r->from->argv, i);
	if (strcmp(shown, SECRET_MASK) != 0 && is_plain_word(shown)) {
		return shown;
	}
	return shown == word ? word_digest(r, word) : FACT_MASKED;
}

/** The command's words, without secrets. */
static const char *argv_text(struct facts_reading *r) {
	struct buf words = BUF(r->arena);
	char *const *argv = r->from->argv;
	for (uint32_t i = 0; argv[i]; i++) {
		buf_puts(&words, i ? " " : "");
		buf_puts(&words, open_word(r, i));
	}
	return shortened(r->arena, buf_text(&words));
}

static void read_program(struct facts_reading *r) {
	char *const *argv = r->from->argv;
	bool any = argv && argv[0];
	add(r, "argv", any ? argv_text(r) : NULL);
	add(r, "distinit", DISTINIT_VERSION);
	add(r, "file", r->from->file ? program_file(r->from->view, r->arena, r->from->file) : NULL);
	add(r, "script", any ? program_script(r->from->view, r->arena, argv) : NULL);
}

static bool is_compared(const struct facts_from *from, const struct env_entry *entry) {
	struct str rest = str_of(from->env_names ? from->env_names : facts_env_default), pattern;
	struct str name = env_entry_name(entry);
	const char *value = env_entry_value(entry);
	bool asked = false;
	while (!asked && str_cut(&rest, ':', &pattern)) {
		asked = pattern.len && env_matches(pattern, name);
	}
	// A derived interface belongs to the host; NCCL's begins with '='.
	bool found_here =
		entry->by && from->interface && strcmp(value + (*value == '='), from->interface) == 0;
	found_here = found_here || (entry->by && strcmp(entry->by->by, "rdma") == 0);
	return asked && !found_here && name.len <= TEXT_MAX && env_entry_counts(from->env, entry) &&
	       !bundle_is_own(name);
}

/** The text that is sent in place of the secret @value. */
static const char *masked(struct facts_reading *r, const char *value) {
	unsigned char digest[SHA256_BYTES];
	if (!r->from->key) {
		return FACT_MASKED;
	}
	key_hmac(r->from->key, str_of(value), STR(""), digest);
	return arena_format(r->arena, FACT_MASKED " %s",
			    digest_text(r->arena, (struct str){(const char *)digest, sizeof(digest)}));
}

const char *fact_shown(const char *value) {
	return str_starts(str_of(value), STR(FACT_MASKED)) ? FACT_MASKED : value;
}

static int compare_names(const void *a, const void *b) {
	return strcmp(((const struct fact *)a)->name, ((const struct fact *)b)->name);
}

static void read_env(struct facts_reading *r) {
	const struct env *env = r->from->env;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (is_compared(r->from, entry)) {
			const char *name = arena_text(r->arena, entry->text, entry->name_len);
			const char *value = env_entry_value(entry);
			add(r, name,
			    secret_name(str_of(name))
				    ? masked(r, value)
				    : shortened(r->arena, secret_mask(r->arena, name, value)));
		}
	}
	qsort(r->list.at, r->list.n, sizeof(*r->list.at), compare_names);
}

// --- devices, limits ------------------------------------------------------------------------------------

static void read_devices(struct facts_reading *r) {
	const struct cluster *c = r->from->cluster;
	const struct machine *m = &r->machine;
	const struct gpus gpus = machine_gpus(m);
	struct rdma cards;
	rdma_find(m, &cards);
	add(r, "gpu_driver", machine_gpu_driver(m));
	add_number(r, "gpus", gpus.n);
	add_number(r, "gpus_denied", gpus.denied);
	add(r, "kernel", machine_text(m, "/proc/sys/kernel/osrelease"));
	add_number(r, "mtu", machine_mtu(m, r->from->interface));
	add(r, "nccl_plugin", plugin_fact(r->from));
	// Here and not in group world, because each node may be given another number.
	add_u32(r, "nproc_per_node", c ? c->place.nproc_per_node : UNKNOWN);
	add_number(r, "rdma", machine_count(m, "/sys/class/infiniband/*", NULL));
	add_number(r, "rdma_active", machine_count(m, "/sys/class/infiniband/*/ports/*/state", "4:"));
	add(r, "rdma_family", cards.family);
	add(r, "rdma_layer", cards.layer);
	add_number(r, "rdma_ports", cards.ports);
	add_number(r, "rdma_verbs", machine_count(m, "/dev/infiniband/uverbs*", NULL));
}

/** Add a limit of the kernel, in units of @unit bytes. */
static void add_limit(struct facts_reading *r, const char *name, rlim_t limit, uint64_t unit) {
	if (limit == RLIM_INFINITY) {
		add(r, name, "unlimited");
	} else {
		add_number(r, name, limit / unit);
	}
}

/** "2", "1.5", "0.25". */
static const char *cpus_text(struct facts_reading *r, uint64_t hundredths) {
	unsigned long whole = hundredths / 100, rest = hundredths % 100;
	return hundredths == MACHINE_UNKNOWN ? NULL
	       : !rest			     ? arena_format(r->arena, "%lu", whole)
	       : rest % 10		     ? arena_format(r->arena, "%lu.%02lu", whole, rest)
					     : arena_format(r->arena, "%lu.%lu", whole, rest / 10);
}

static void read_limits(struct facts_reading *r) {
	const struct machine *m = &r->machine;
	struct rlimit memlock = {0}, nofile = {0};
	prlimit(0, RLIMIT_MEMLOCK, NULL, &memlock);
	prlimit(0, RLIMIT_NOFILE, NULL, &nofile);
	add(r, "cpus", cpus_text(r, machine_cpus(m)));
	add_limit(r, "memlock_kib", memlock.rlim_cur, 1024);
	add_number(r, "memory_mib", machine_memory(m));
	add_limit(r, "nofile", nofile.rlim_cur, 1);
	add_number(r, "shm_mib", machine_shm(m));
}

// --- the payload ----------------------------------------------------------------------------------------

static void append_number(struct buf *out, uint64_t number, unsigned bytes) {
	unsigned char wire[8];
	put_number(wire, number, bytes);
	buf_put(out, (struct str){(const char *)wire, bytes});
}

/** Append the length of @text, as a number of @bytes bytes, and @text. */
static void put_text(struct buf *out, const char *text, unsigned bytes) {
	append_number(out, strlen(text), bytes);
	buf_puts(out, text);
}

/** Whether the value of @fact may be sent in clear: a number, a name of the cluster, a digest. */
static bool is_open(enum fact_group group, const struct fact *fact) {
	uint64_t number;
	struct str value = str_of(fact->value);
	return group == FACTS_WORLD || group == FACTS_LIMITS ||
	       (group == FACTS_PROGRAM && strcmp(fact->name, "argv") != 0) ||
	       strcmp(fact->value, FACT_UNKNOWN) == 0 || str_starts(value, STR(FACT_MASKED)) ||
	       num_read(value, UINT64_MAX, &number) == 0;
}

/** The value that is sent of @fact. Without the job's secret, texts of users are sent as digests. */
static const char *sent_value(struct facts_reading *r, enum fact_group group, const struct fact *fact) {
	struct buf words = BUF(r->arena);
	struct str rest = str_of(fact->value), word;
	if (r->from->key || is_open(group, fact)) {
		return fact->value;
	}
	if (group != FACTS_PROGRAM || str_starts(rest, STR(DIGEST_MARK))) {
		return digest_text(r->arena, rest);
	}
	// Words of a command are compared one by one, so each gets its own digest.
	while (str_cut(&rest, ' ', &word)) {
		const struct fact one = {"", arena_text(r->arena, word.p, word.len)};
		buf_puts(&words, words.len ? " " : "");
		buf_puts(&words, is_open(FACTS_ENV, &one) ? one.value : digest_text(r->arena, word));
	}
	return shortened(r->arena, buf_text(&words));
}

/** Encode @list. If it is too large, encode a single fact instead: its digest. */
static struct str encode(struct facts_reading *r, enum fact_group group, const struct fact_list *list) {
	struct buf out = BUF(r->arena);
	append_number(&out, group, 1);
	append_number(&out, list->n, 2);
	for (const struct fact *fact = list->at; fact < list->at + list->n; fact++) {
		put_text(&out, fact->name, 1);
		put_text(&out, sent_value(r, group, fact), 2);
	}
	if (out.len > FACTS_PAYLOAD_MAX) {
		struct fact whole = {FACT_TOO_MANY, digest_text(r->arena, buf_str(&out))};
		return encode(r, group, &(struct fact_list){&whole, 1});
	}
	return buf_str(&out);
}

static void (*const readers[N_FACT_GROUPS])(struct facts_reading *) = {read_world, read_program, read_env,
								       read_devices, read_limits};

void facts_read(const struct facts_from *from, struct facts *out) {
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		struct facts_reading r = {
			.from = from, .arena = from->arena, .machine = {from->arena, from->view}};
		r.room = from->env->n + OWN_MAX + from->n_options;
		r.list.at = arena_array(r.arena, r.room, sizeof(*r.list.at));
		readers[group](&r);
		out->list[group] = r.list;
		out->payload[group] = encode(&r, (enum fact_group)group, &r.list);
		out->digest[group] = digest_64(out->payload[group]);
	}
}

const char *facts_find(const struct fact_list *list, const char *name) {
	const struct fact key = {name, NULL}, *found = NULL;
	if (list->n) {
		found = bsearch(&key, list->at, list->n, sizeof(key), compare_names);
	}
	return found ? found->value : NULL;
}

/**
 * Cut a length of @bytes bytes and so much text off @rest. Returns a copy; NULL if the text is cut off, too
 * long, or contains a NUL.
 */
static const char *take_text(struct arena *arena, struct str *rest, unsigned bytes) {
	uint64_t n;
	struct str text;
	if (!take_number(rest, &n, bytes) || n > TEXT_MAX || !take_bytes(rest, n, &text) ||
	    memchr(text.p, '\0', text.len)) {
		return NULL;
	}
	return arena_text(arena, text.p, text.len);
}

int facts_decode(struct arena *arena, struct str payload, enum fact_group group, struct fact_list *out) {
	uint8_t its_group;
	uint16_t n;
	// A fact has at least four bytes.
	if (!take_u8(&payload, &its_group) || its_group != group || !take_u16(&payload, &n) ||
	    n > payload.len / 4) {
		return -EPROTO;
	}
	struct fact *list = arena_array(arena, n + 1U, sizeof(*list)), *at = list;
	for (; at < list + n; at++) {
		const char *before = at == list ? "" : at[-1].name;
		at->name = take_text(arena, &payload, 1);
		at->value = at->name ? take_text(arena, &payload, 2) : NULL;
		// The names must be sorted, and not empty.
		if (!at->value || strcmp(before, at->name) >= 0) {
			return -EPROTO;
		}
	}
	if (payload.len) {
		return -EPROTO;
	}
	*out = (struct fact_list){list, n};
	return 0;
}
