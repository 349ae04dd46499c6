// SPDX-License-Identifier: Apache-2.0

#include "env/bundle.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** The result of a request. */
struct outcome {
	struct buf out;
	struct notes notes;
	struct err err;
	int r;
};

static struct outcome write_request(const char *start, const struct bundle_request *request) {
	struct outcome o = {.out = BUF(&arena), .notes = {.arena = &arena}, .err = {"no error"}};
	struct env env;
	fixture_env(&env, &arena, start, '|');
	o.r = bundle_write(request, &env, &o.out, &o.notes, &o.err);
	buf_text(&o.out);
	return o;
}

static struct bundle_request request_of(const char *names) {
	return (struct bundle_request){.names = str_of(names), .names_from = "TRACK"};
}

/** The bundle without its first and last line. */
static const char *lines_of(const struct outcome *o) {
	struct str text = buf_str(&o->out);
	struct err err = {""};
	if (o->r < 0 || bundle_open("FILE", &text, &err) != 1) {
		return o->r < 0 ? o->err.text : arena_text(&arena, err.text, strlen(err.text));
	}
	return text.len ? arena_text(&arena, text.p, text.len) : "";
}

/**
 * With the entries @start and the tracked @names, the bundle has the lines @want, and there are the
 * warnings @notes.
 */
static void check_request(const char *start, const struct bundle_request *request, const char *want,
			  const char *notes) {
	struct outcome o = write_request(start, request);
	check_text(lines_of(&o), want, "track %s of %s", request->names.p, start);
	check_text(fixture_notes(&o.notes), notes, "track %s of %s: what is noted", request->names.p, start);
}

static void check_tracked(const char *start, const char *names, const char *want, const char *notes) {
	struct bundle_request request = request_of(names);
	check_request(start, &request, want, notes);
}

static void check_selection(void) {
	check_tracked("A=1|B=2", "A", "set A=1\n", "");
	check_tracked("A=1|B=2|C=3", "C:A", "set A=1\nset C=3\n", "");
	check_tracked("A=1|B=2", "", "", "");
	check_tracked("A=1", ":A::", "set A=1\n", "");
	check_tracked("A=1", "A:A:A*", "set A=1\n", "");
	check_tracked("A=", "A", "set A=\n", "");
	check_tracked("A=1|A=2", "A", "set A=1\n", "");
	check_tracked("HF_HOME=/h|HF_|HF_=x|HFX=2|HF_TOKEN=t", "HF_*",
		      "set HF_HOME=/h\nset HF_=x\nset HF_TOKEN=t\n", "");
	check_tracked("A=1|B=2", "*", "set A=1\nset B=2\n", "");
	check_tracked("A=1|=x|noequals", "*", "set A=1\n", "");
	check_tracked("A=1", "X*", "", "");
	check_tracked("A=1", "NO", "",
		      "TRACK: 'NO': not carried, as it is not set; --carry-unset removes it in the workers");
	check_tracked("A=1", "NO:A:NO2:NO", "set A=1\n",
		      "TRACK: 'NO', 'NO2': not carried, as it is not set; --carry-unset removes it in the "
		      "workers");
}

#define HELD "not carried, as each worker has its own from its host or launcher; --force carries it"

static void check_own(void) {
	static const char *const held[] = {
		"HOSTNAME",
		"CUDA_VISIBLE_DEVICES",
		"SLURM_JOB_ID",
		"SLURMD_NODENAME",
		"RANK",
		"WORLD_SIZE",
		"LOCAL_RANK",
		"LOCAL_WORLD_SIZE",
		"PMI_RANK",
		"PMIX_RANK",
		"MASTER_ADDR",
		"OMPI_COMM_WORLD_RANK",
		"TF_CONFIG",
		"PET_NODE_RANK",
		"_",
		"BACKENDAI_CLUSTER_HOST",
		"DISTINIT_HOSTS",
	};
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		const char *start = arena_format(&arena, "A=1|%s=x", held[i]);
		const char *note = arena_format(&arena, "TRACK: '%s': " HELD, held[i]);
		check_tracked(start, arena_format(&arena, "A:%s", held[i]), "set A=1\n", note);
		check_tracked(start, "*", "set A=1\n", note);
		check_tracked("A=1", arena_format(&arena, "A:%s", held[i]), "set A=1\n", note);
	}
	static const char *const carried[] = {
		"PATH",
		"PYTHONPATH",
		"LD_PRELOAD",
		"LD_LIBRARY_PATH",
		"HOME",
		"HOSTNAMES",
		"RANKS",
		"HF_HOME",
		"OMP_NUM_THREADS",
		"NCCL_DEBUG",
		"SBATCH_QOS",
		"PET_NPROC_PER_NODE",
		"OMPI_MCA_btl_tcp",
		"MASTER_KEY",
		"_X",
	};
	for (size_t i = 0; i < sizeof(carried) / sizeof(carried[0]); i++) {
		check_tracked(arena_format(&arena, "%s=x", carried[i]), carried[i],
			      arena_format(&arena, "set %s=x\n", carried[i]), "");
	}
}

static void check_options(void) {
	struct bundle_request request = request_of("A:HOSTNAME:SLURM_*:NO");
	request.force = true;
	check_request("A=1|HOSTNAME=h|SLURM_X=2", &request, "set A=1\nset HOSTNAME=h\nset SLURM_X=2\n",
		      "TRACK: 'NO': not carried, as it is not set; --carry-unset removes it in the workers");

	request = request_of("A:NO:NO:B:X*:RANK");
	request.carry_unset = true;
	check_request("A=1", &request, "set A=1\nunset NO\nunset B\n", "TRACK: 'RANK': " HELD);

	static const char *const own[] = {"ACME_NODE", "ACME_A", "ACME_B*", "X_*_HOSTS", NULL};
	request = request_of("*");
	request.own = own;
	check_request("ACME_A=1|ACME_AA=2|ACME_BB=3|ACME_NODE=4|X_W_HOSTS=5|X_W_NUM=6|X_HOSTS=7", &request,
		      "set ACME_AA=2\nset X_W_NUM=6\nset X_HOSTS=7\n",
		      "TRACK: 'ACME_A', 'ACME_BB', 'ACME_NODE', 'X_W_HOSTS': " HELD);

	struct buf many = BUF(&arena);
	for (int i = 0; i < 25; i++) {
		buf_putf(&many, "%sSLURM_%d=x", i ? "|" : "", i);
	}
	request = request_of("SLURM_*");
	struct outcome o = write_request(buf_text(&many), &request);
	check_part(fixture_notes(&o.notes), "'SLURM_19' and 5 more: not carried", "a long list ends");
}

/** Check how a value is written, and that reading it gives the same value. */
static void check_value(const char *value, const char *want) {
	struct env env;
	struct notes notes = {.arena = &arena};
	struct err err = {"no error"};
	struct buf out = BUF(&arena);
	char *entries[] = {arena_format(&arena, "V=%s", value), NULL};
	env_init(&env, &arena, entries);
	struct bundle_request request = request_of("V");
	check(bundle_write(&request, &env, &out, &notes, &err) == 0);
	check_part(buf_text(&out), arena_format(&arena, "\nset V=%s\n[end ", want), "'%s' is written", value);

	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	int r = directive_read(&levels, "FILE", buf_str(&out), NULL, &err);
	if (checkf(r == 0 && levels.job.n == 1, "'%s' is read: %s", value, err.text)) {
		struct str got = levels.job.items[0].value;
		check_text(arena_text(&arena, got.len ? got.p : "", got.len), value, "'%s' is read", value);
	}
}

static void check_values(void) {
	check_value("", "");
	check_value("/a:/b c", "/a:/b c");
	check_value("a=b#c$d*\\n", "a=b#c$d*\\n");
	check_value("it's \"so\" x", "it's \"so\" x");
	check_value("'quoted'", "\"'quoted'\"");
	check_value("\"quoted\"", "\"\\\"quoted\\\"\"");
	check_value("\"", "\"\\\"\"");
	check_value("'", "\"'\"");
	check_value("'a", "\"'a\"");
	check_value("a\nb", "\"a\\nb\"");
	check_value("\n", "\"\\n\"");
	check_value("a\n[end crc32=00000000]\n", "\"a\\n[end crc32=00000000]\\n\"");
	check_value("\\\n\\", "\"\\\\\\n\\\\\"");
	check_value("a\tb", "\"a\tb\"");
	check_value("a\r", "\"a\r\"");
	check_value("a\rb\\n", "\"a\rb\\\\n\"");
	check_value(" a", "\" a\"");
	check_value("a ", "\"a \"");
	check_value(" ", "\" \"");
	check_value("\\", "\\");
	check_value("\x01\x7f\xff\xfe", "\"\x01\x7f\xff\xfe\"");
	check_value("\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac");
}

static void check_refused(const char *start, const char *names, const char *want) {
	struct bundle_request request = request_of(names);
	struct outcome o = write_request(start, &request);
	checkf(o.r == -EINVAL, "track '%s' of %s: %d", names, start, o.r);
	check_text(o.err.text, want, "track '%s' of %s says", names, start);
}

static void check_all_refused(void) {
	check_refused("A=1", "A,B", "TRACK: 'A,B' is not a name; separate names with ':'");
	check_refused("A=1", "A B", "TRACK: 'A B' is not a name; separate names with ':'");
	check_refused("A=1", "A=1", "TRACK: 'A=1': expected a name without '='");
	check_refused("A=1", "A:*B",
		      "TRACK: '*B': '*' is allowed only at the end of a name, in unset and pass");
	check_refused("A=1", "A\nB", "TRACK: the name 'A\\x0aB' contains a blank or control character");
	check_refused("A B=1", "A*",
		      "a bundle cannot carry 'A B': the name 'A B' contains a blank or control character");
	check_refused("A[x]=1", "A*",
		      "a bundle cannot carry 'A[x]': 'A': only prepend, append and first take a [separator]");
}

/** The size limit is the same for writer and reader. */
static void check_size(void) {
	enum { VARIABLES = 33, VALUE = 131000 };
	char *entries[VARIABLES + 1] = {0};
	for (int i = 0; i < VARIABLES; i++) {
		char *text = arena_alloc(&arena, VALUE + 8);
		memset(text, '\n', VALUE + 7);
		memcpy(text, "BIG", 3);
		text[3] = (char)('0' + i / 10);
		text[4] = (char)('0' + i % 10);
		text[5] = '=';
		text[VALUE + 6] = '\0';
		entries[i] = text;
	}
	struct env env;
	struct notes notes = {.arena = &arena};
	struct err err = {"no error"};
	struct bundle_request request = request_of("BIG*");
	struct buf out = BUF(&arena);
	env_init(&env, &arena, entries);
	check(bundle_write(&request, &env, &out, &notes, &err) == -EFBIG);
	check_text(err.text,
		   "the bundle would exceed 8388608 bytes, the limit of a directive file; there "
		   "is no "
		   "room for 'BIG32'; track fewer variables",
		   "a bundle that is too large");

	entries[VARIABLES - 1] = NULL;
	out.len = 0;
	env_init(&env, &arena, entries);
	check(bundle_write(&request, &env, &out, &notes, &err) == 0 && out.len <= DIRECTIVE_FILE_MAX);
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	check(directive_read(&levels, "FILE", buf_str(&out), NULL, &err) == 0);
	check(levels.job.n == VARIABLES - 1 && levels.job.items[31].value.len == VALUE);
}

/** What bundle_open() reports about a text; "none" if it is not a bundle. */
static const char *opened(struct str text) {
	struct err err = {"no error"};
	struct str body = text;
	int r = bundle_open("FILE", &body, &err);
	if (r == 0) {
		return str_eq(body, text) ? "none" : "changed";
	}
	return r < 0 ? arena_text(&arena, err.text, strlen(err.text))
		     : arena_text(&arena, body.len ? body.p : "", body.len);
}

#define CUT_OFF \
	"FILE: the bundle is cut off: its last line is missing or incomplete; make it again with " \
	"'distinit bundle'"
#define CHANGED \
	"FILE: the bundle was changed after it was made: its checksum does not match; make it again with " \
	"'distinit bundle'"
#define BEHIND \
	"FILE: the bundle was changed after it was made: there is text after its last line; make it again " \
	"with " \
	"'distinit bundle'"

/**
 * The checksum is gzip's:
 * printf '[distinit bundle 1]\nset A=1\nset B="x\\ny"\n' | gzip | tail -c 8 | od -tx4 -N4
 */
static const char whole[] = "[distinit bundle 1]\nset A=1\nset B=\"x\\ny\"\n[end crc32=bdb4e8c7]\n";

static void check_damage(void) {
	size_t len = sizeof(whole) - 1;
	check_text(opened(STR(whole)), "set A=1\nset B=\"x\\ny\"\n", "a whole one");
	check_text(opened((struct str){whole, len - 1}), "set A=1\nset B=\"x\\ny\"\n",
		   "no newline at its end");
	for (size_t n = 2; n < len - 1; n++) {
		check_text(opened((struct str){whole, n}), CUT_OFF, "cut off after %zu bytes", n);
	}
	check_text(opened((struct str){whole, 0}), "none", "an empty text");
	check_text(opened((struct str){whole, 1}), "none", "a bracket alone, which is no directive either");

	// Flip each bit of each byte, except in the last newline, which is optional.
	unsigned taken = 0;
	for (size_t i = 0; i < len - 1; i++) {
		for (int bit = 0; bit < 8; bit++) {
			char copy[sizeof(whole)];
			memcpy(copy, whole, sizeof(whole));
			copy[i] = (char)(copy[i] ^ 1 << bit);
			struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
			taken += directive_read(&levels, "FILE", (struct str){copy, len}, NULL,
						&(struct err){""}) == 0;
		}
	}
	checkf(taken == 0, "with one bit changed: %u are taken", taken);

	check_text(opened(STR("[distinit bundle 1]\nset A=2\nset B=\"x\\ny\"\n[end crc32=bdb4e8c7]\n")),
		   CHANGED, "another value");
	check_text(opened(STR("[distinit bundle 1]\nset B=\"x\\ny\"\n[end crc32=bdb4e8c7]\n")), CHANGED,
		   "a line less");
	check_text(opened(STR("[distinit bundle 1]\nset A=1\nset B=\"x\\ny\"\n[end crc32=bdb4e8c7]\nC=1\n")),
		   BEHIND, "a line more");
	check_text(opened(STR("[distinit bundle 1]\nset A=1\nset B=\"x\\ny\"\n[end crc32=bdb4e8c7] \n")),
		   BEHIND, "a blank more");
	check_text(opened(STR("[distinit bundle 1]\r\nset A=1\r\n[end crc32=bdb4e8c7]\r\n")), CHANGED,
		   "Windows' line ends");
	check_text(opened(STR("[distinit bundle 2]\nset A=1\n[END]\n")),
		   "FILE: the bundle has version '2', but this distinit (" DISTINIT_VERSION
		   ") reads version 1; make it with the distinit of the workers",
		   "another version");
	check_part(opened(STR("[distinit bundle 1.5\nset A=1\n[end crc32=bdb4e8c7]\n")),
		   "the bundle has version '1.5'", "another version, and no bracket");

	check_text(opened(STR("A=1\n")), "none", "a plain file");
	check_text(opened(STR("[app me]\nA=1\n")), "none", "a plain file with a section");
	check_text(opened(STR("\n[distinit bundle 1]\n")), "none", "a head that is not the first line");
}

/** Line numbers in a bundle count from its first line. */
static void check_places(void) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {"no error"};
	if (check(directive_read(&levels, "FILE", STR(whole), NULL, &err) == 0 && levels.job.n == 2)) {
		check(levels.job.items[0].by->line == 2 && levels.job.items[1].by->line == 3);
	}
	check(directive_read(&levels, "FILE", STR("A=1\n[distinit bundle 1]\n"), NULL, &err) == -EINVAL);
	check_part(err.text, "FILE:2:1: unknown section '[distinit bundle 1]'",
		   "a bundle behind other lines");
	check(directive_read(&levels, "FILE", STR("A=1\n[end crc32=00000000]\n"), NULL, &err) == -EINVAL);
	check_part(err.text, "FILE:2:1: unknown section '[end crc32=00000000]'", "an end without a head");
}

int main(void) {
	arena = fixture_arena();
	check_selection();
	check_own();
	check_options();
	check_values();
	check_all_refused();
	check_size();
	check_damage();
	check_places();
	arena_done(&arena);
	return check_done();
}
