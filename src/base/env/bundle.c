// SPDX-License-Identifier: Apache-2.0

#include "env/bundle.h"

#include <errno.h>
#include <stdint.h>

#define HEAD	"[distinit bundle "
#define VERSION "1"
#define TAIL	"[end crc32="
/** The length of the checksum and the bracket after it. */
#define TAIL_REST 9

/** The most names that one warning lists. */
#define NAMES_SHOWN 20

/**
 * Variables that a worker gets from its host, its launcher or distinit. With the values of another
 * worker, it would act as that worker, or as a process of the host where the bundle was made.
 */
static const char own_words[] =
	// the host
	"HOSTNAME HOST NCCL_HOSTID *_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK "
	"HABANA_VISIBLE_MODULES NEURON_RT_VISIBLE_CORES TPU_VISIBLE_CHIPS TPU_WORKER_ID "
	"TPU_WORKER_HOSTNAMES KUBERNETES_* "
	// managers and launchers
	"SLURM_* SLURMD_* BACKENDAI_* PBS_* LSB_* JOB_COMPLETION_INDEX OMPI_COMM_WORLD_* OMPI_UNIVERSE_SIZE "
	"OMPI_MCA_orte_* OMPI_MCA_ess_* PRTE_* PMIX_* PMI_* PALS_* FLUX_* MV2_COMM_WORLD_* MPI_LOCAL* "
	"TORCHELASTIC_* VC_* "
	// ranks and the master, which are derived for each worker
	"RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK GROUP_WORLD_SIZE ROLE_RANK "
	"ROLE_WORLD_SIZE MASTER_ADDR MASTER_PORT PET_NNODES PET_NODE_RANK PET_MASTER_ADDR PET_MASTER_PORT "
	"TF_CONFIG JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID "
	// the worker's distinit reads its settings before it reads a bundle
	"DISTINIT_*";

bool bundle_of_worker(struct str name) {
	struct str rest = str_of(own_words), word;
	bool own = false;
	while (!own && str_cut(&rest, ' ', &word)) {
		own = str_like(name, word);
	}
	return own;
}

bool bundle_is_own(struct str name) {
	static const char *const of_process[] = {"PWD", "OLDPWD", "SHLVL", "_", NULL};
	return bundle_of_worker(name) || str_like_any(name, of_process);
}

static bool is_own(const struct bundle_request *request, struct str name) {
	return bundle_is_own(name) || (request->own && str_like_any(name, request->own));
}

/** Names for a warning, which lists the first NAMES_SHOWN. */
struct name_listing {
	struct buf text;
	uint32_t n;
};

static void list_name(struct name_listing *list, struct str name) {
	if (list->n < NAMES_SHOWN) {
		buf_puts(&list->text, list->n ? ", " : "");
		buf_puts(&list->text, quote(name).s);
	}
	list->n++;
}

static void note_listing(struct notes *notes, const struct bundle_request *request, struct name_listing *list,
			 const char *sentence) {
	if (list->n > NAMES_SHOWN) {
		buf_putf(&list->text, " and %u more", list->n - NAMES_SHOWN);
	}
	if (list->n) {
		notes_add(notes, "%s: %s: %s", request->names_from, buf_text(&list->text), sentence);
	}
}

static bool is_pattern(struct str name) {
	return name.p[name.len - 1] == '*';
}

/** Check the tracked names now: otherwise a mistake shows only in the worker, as a missing variable. */
static int check_names(const struct bundle_request *request, struct err *err) {
	struct str rest = request->names, name;
	while (str_cut(&rest, ':', &name)) {
		size_t column;
		struct directive d = {0};
		struct err cause;
		if (str_find(name, ',') < name.len || str_find(name, ' ') < name.len) {
			return err_set(err, EINVAL, "%s: %s is not a name; separate names with ':'",
				       request->names_from, quote(name).s);
		}
		if (name.len && directive_parse(VERB_UNSET, name, NULL, &d, &column, &cause) < 0) {
			return err_set(err, EINVAL, "%s: %s", request->names_from, cause.text);
		}
	}
	return 0;
}

static bool is_tracked(const struct bundle_request *request, struct str name) {
	struct str rest = request->names, pattern;
	while (str_cut(&rest, ':', &pattern)) {
		if (pattern.len && env_matches(pattern, name)) {
			return true;
		}
	}
	return false;
}

/** Whether @value needs quotes: the reader splits lines, and removes quotes around a value. */
static bool needs_quotes(struct str value) {
	if (value.len == 0) {
		return false;
	}
	for (size_t i = 0; i < value.len; i++) {
		if ((unsigned char)value.p[i] < ' ') {
			return true;
		}
	}
	const char ends[] = {value.p[0], value.p[value.len - 1]};
	return memchr(ends, ' ', 2) || memchr(ends, '"', 2) || memchr(ends, '\'', 2);
}

static void put_directive_quoted(struct buf *out, struct str value) {
	buf_reserve(out, value.len + 2);
	buf_putc(out, '"');
	for (size_t i = 0; i < value.len; i++) {
		char c = value.p[i];
		if (c == '"' || c == '\\' || c == '\n') {
			buf_putc(out, '\\');
			c = c == '\n' ? 'n' : c;
		}
		buf_putc(out, c);
	}
	buf_putc(out, '"');
}

/** Refuse a bundle that is too large for the reader. Its last line must fit as well. */
static int check_room(const struct buf *out, struct str name, struct err *err) {
	if (out->len + sizeof(TAIL) + TAIL_REST > DIRECTIVE_FILE_MAX) {
		return err_set(err, EFBIG,
			       "the bundle would exceed %zu bytes, the limit of a directive file; "
			       "there is no room for %s; track fewer variables",
			       DIRECTIVE_FILE_MAX, quote(name).s);
	}
	return 0;
}

/** Write the line that sets the variable of @entry. */
static int put_set(struct buf *out, const struct env_entry *entry, struct err *err) {
	size_t column;
	struct directive d = {0};
	struct err cause;
	struct str name = env_entry_name(entry), value = str_of(env_entry_value(entry));
	if (directive_parse(VERB_SET, str_of(entry->text), NULL, &d, &column, &cause) < 0) {
		return err_set(err, EINVAL, "a bundle cannot carry %s: %s", quote(name).s, cause.text);
	}
	buf_puts(out, "set ");
	buf_put(out, name);
	buf_putc(out, '=');
	if (needs_quotes(value)) {
		put_directive_quoted(out, value);
	} else {
		buf_put(out, value);
	}
	buf_putc(out, '\n');
	return check_room(out, name, err);
}

/** Write the tracked variables that are set. Variables of the worker's own are listed in @own instead. */
static int put_variables(const struct bundle_request *request, const struct env *env, struct buf *out,
			 struct name_listing *own, struct err *err) {
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		struct str name = env_entry_name(entry);
		// An entry without '=' is not a variable. If a name appears twice, its first entry
		// counts.
		if (name.len == 0 || !is_tracked(request, name) || !env_entry_counts(env, entry)) {
			continue;
		}
		if (!request->force && is_own(request, name)) {
			list_name(own, name);
			continue;
		}
		int r = put_set(out, entry, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/** Whether @name is a repetition of an earlier tracked name. */
static bool is_repeated(const struct bundle_request *request, struct str name) {
	struct str rest = {request->names.p, (size_t)(name.p - request->names.p)}, earlier;
	while (str_cut(&rest, ':', &earlier)) {
		if (str_eq(earlier, name)) {
			return true;
		}
	}
	return false;
}

/** Handle names that are tracked but not set: write an unset for them, or list them. */
static int put_absent(const struct bundle_request *request, const struct env *env, struct buf *out,
		      struct name_listing *own, struct name_listing *absent, struct err *err) {
	int r = 0;
	struct str rest = request->names, name;
	while (r == 0 && str_cut(&rest, ':', &name)) {
		if (name.len == 0 || is_pattern(name) || env_find(env, name) || is_repeated(request, name)) {
			continue;
		}
		if (!request->force && is_own(request, name)) {
			list_name(own, name);
		} else if (request->carry_unset) {
			buf_puts(out, "unset ");
			buf_put(out, name);
			buf_putc(out, '\n');
			r = check_room(out, name, err);
		} else {
			list_name(absent, name);
		}
	}
	return r;
}

/** The CRC-32 of gzip, zlib and Ethernet, bit by bit: it runs once per job, on a few kilobytes. */
static uint32_t crc32(struct str text) {
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < text.len; i++) {
		crc ^= (unsigned char)text.p[i];
		for (int bit = 0; bit < 8; bit++) {
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		}
	}
	return ~crc;
}

int bundle_write(const struct bundle_request *request, const struct env *env, struct buf *out,
		 struct notes *notes, struct err *err) {
	struct name_listing own = {.text = BUF(notes->arena)}, absent = {.text = BUF(notes->arena)};
	int r = check_names(request, err);
	if (r < 0) {
		return r;
	}
	buf_puts(out, HEAD VERSION "]\n");
	r = put_variables(request, env, out, &own, err);
	r = r < 0 ? r : put_absent(request, env, out, &own, &absent, err);
	if (r < 0) {
		return r;
	}
	buf_putf(out, TAIL "%08x]\n", crc32(buf_str(out)));
	note_listing(notes, request, &own,
		     "not carried, as each worker has its own from its host or launcher; --force carries it");
	note_listing(notes, request, &absent,
		     "not carried, as it is not set; --carry-unset removes it in the workers");
	return 0;
}

static int wrong_bundle(const char *where, const char *what, struct err *err) {
	return err_set(err, EINVAL, "%s: %s; make it again with 'distinit bundle'", where, what);
}

static int check_version(const char *where, struct str first_line, struct err *err) {
	struct str version = str_from(first_line, sizeof(HEAD) - 1);
	version.len = str_find(version, ']');
	if (str_is(version, VERSION)) {
		return 0;
	}
	return err_set(err, EINVAL,
		       "%s: the bundle has version %s, but this distinit (%s) reads version %s; "
		       "make it with the distinit of the workers",
		       where, quote(version).s, DISTINIT_VERSION, VERSION);
}

/** Whether the eight digits at @hex are @crc, followed by ']'. */
static bool is_checksum(const char *hex, uint32_t crc) {
	for (int shift = 28; shift >= 0; shift -= 4) {
		if (*hex++ != "0123456789abcdef"[crc >> shift & 15]) {
			return false;
		}
	}
	return *hex == ']';
}

/** The offset of the line that begins with TAIL; beyond @text if there is none. Values escape newlines. */
static size_t find_tail(struct str text) {
	size_t at = 0;
	do {
		at += str_find(str_from(text, at), '\n') + 1;
	} while (at < text.len && !str_starts(str_from(text, at), STR(TAIL)));
	return at;
}

int bundle_open(const char *where, struct str *text, struct err *err) {
	// A bundle that was cut off in its first line is a bundle, too. For a single '[', the reader of
	// directives reports an error.
	if (text->len < 2 || !(str_starts(*text, STR(HEAD)) || str_starts(STR(HEAD), *text))) {
		return 0;
	}
	size_t body = str_find(*text, '\n') + 1, tail = find_tail(*text);
	int r = body > text->len ? 0 : check_version(where, (struct str){text->p, body - 1}, err);
	if (r < 0) {
		return r;
	}
	size_t end = tail + sizeof(TAIL) - 1 + TAIL_REST;
	if (end > text->len) {
		return wrong_bundle(where, "the bundle is cut off: its last line is missing or incomplete",
				    err);
	}
	if (!is_checksum(text->p + tail + sizeof(TAIL) - 1, crc32((struct str){text->p, tail}))) {
		return wrong_bundle(
			where, "the bundle was changed after it was made: its checksum does not match", err);
	}
	struct str behind = str_from(*text, end);
	if (behind.len && !str_is(behind, "\n")) {
		return wrong_bundle(
			where, "the bundle was changed after it was made: there is text after its last line",
			err);
	}
	*text = (struct str){text->p + body, tail - body};
	return 1;
}
