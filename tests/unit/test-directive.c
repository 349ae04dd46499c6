// SPDX-License-Identifier: Apache-2.0

#include "env/directive.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

static const struct origin option = {.by = "--option"};

/** The environment of the examples in the manual. */
#define EXAMPLE "PATH=/usr/bin:/bin|FOO=1|E=|CFLAGS=-g|LD_PRELOAD=x.so|SLURM_A=1|SLURM_B=2"

/** The result of applying directives to an environment. */
struct outcome {
	struct env env;
	struct notes notes;
	struct err err;
	int r;
};

/** Apply @list to the entries of @start. */
static struct outcome apply(const char *start, const struct directives *list) {
	struct outcome out = {.notes = {.arena = &arena}, .err = {"no error"}};
	fixture_env(&out.env, &arena, start, '|');
	out.r = directives_apply(list, &out.env, &out.notes, &out.err);
	return out;
}

/** Add "VERB ARGUMENT", as an option would be. */
static int add_word(struct directives *list, const char *text, size_t *column, struct err *err) {
	size_t end = str_find(str_of(text), ' ');
	enum verb verb = VERB_SET;
	const char *nearest;
	checkf(verb_find((struct str){text, end}, &verb, &nearest), "the verb of '%s'", text);
	return directive_add(list, verb, str_of(text[end] ? text + end + 1 : text + end), &option, column,
			     err);
}

static struct outcome apply_words(const char *start, const char *words) {
	struct directives list = {.arena = &arena};
	size_t column;
	struct err err = {""};
	for (char **word = fixture_split(&arena, words, '|'); *word; word++) {
		checkf(add_word(&list, *word, &column, &err) == 0, "add '%s' %s", *word, err.text);
	}
	return apply(start, &list);
}

/**
 * Check that the entries @start become @want after the directives @words. All three are lists
 * separated by '|'.
 */
static void check_words(const char *start, const char *words, const char *want) {
	struct outcome out = apply_words(start, words);
	check_text(out.r < 0 ? out.err.text : fixture_join(&out.env, '|'), want, "%s: %s", start, words);
	check_text(fixture_notes(&out.notes), "", "%s: %s: nothing to note", start, words);
}

/** The same, with a note expected. */
static void check_noted(const char *start, const char *words, const char *want, const char *note) {
	struct outcome out = apply_words(start, words);
	check_text(out.r < 0 ? out.err.text : fixture_join(&out.env, '|'), want, "%s: %s", start, words);
	check_text(fixture_notes(&out.notes), note, "%s: %s: what is noted", start, words);
}

/** Check that an argument is refused, and the position of the error. */
static void check_refused(const char *word, size_t want_column, const char *want) {
	struct directives list = {.arena = &arena};
	size_t column = 99;
	struct err err = {"no error"};
	int r = add_word(&list, word, &column, &err);
	checkf(r == -EINVAL && list.n == 0 && column == want_column, "refuse '%s': %d, column %zu", word, r,
	       column);
	check_part(err.text, want, "refuse '%s' says", word);
}

/** The lines of a file, without and with an application, applied to @start. */
static void check_file(const char *start, const char *text, const char *app, const char *want) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {"no error"};
	if (directive_read(&levels, "FILE", str_of(text), app, &err) < 0) {
		check_text(err.text, want, "file '%s'", text);
		return;
	}
	struct outcome job = apply(start, &levels.job);
	int r = directives_apply(&levels.app, &job.env, &job.notes, &job.err);
	check_text(job.r < 0 || r < 0 ? job.err.text : fixture_join(&job.env, '|'), want, "file '%s' for %s",
		   text, app ? app : "nobody");
}

/** Check that a value on a line of a file is read as @want. */
static void check_value(const char *line, const char *want) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {""};
	if (checkf(directive_read(&levels, "FILE", str_of(line), NULL, &err) == 0 && levels.job.n == 1,
		   "line '%s' %s", line, err.text)) {
		struct str value = levels.job.items[0].value;
		check_text(arena_text(&arena, value.len ? value.p : "", value.len), want, "value of '%s'",
			   line);
	}
}

static void check_file_wrong(struct str text, const char *place, const char *want) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {"no error"};
	int r = directive_read(&levels, "FILE", text, "me", &err);
	checkf(r == -EINVAL, "wrong file '%s': %d", text.p, r);
	check_part(err.text, want, "wrong file '%s' says", text.p);
	checkf(strncmp(err.text, place, strlen(place)) == 0, "wrong file '%s' is wrong at %s: %s", text.p,
	       place, err.text);
}

static void check_verb(const char *word, int want, const char *want_nearest) {
	enum verb verb = VERB_SET;
	const char *nearest = NULL;
	bool found = verb_find(str_of(word), &verb, &nearest);
	checkf(found ? (int)verb == want : want < 0, "verb '%s': %s", word, found ? "known" : "unknown");
	check_text(nearest, want_nearest, "verb '%s': nearest", word);
}

static void check_verbs(void) {
	check_verb("set", VERB_SET, NULL);
	check_verb("add", VERB_ADD, NULL);
	check_verb("unset", VERB_UNSET, NULL);
	check_verb("prepend", VERB_PREPEND, NULL);
	check_verb("append", VERB_APPEND, NULL);
	check_verb("first", VERB_FIRST, NULL);
	check_verb("clean", VERB_CLEAN, NULL);
	check_verb("pass", VERB_PASS, NULL);
	check_verb("PMIX_SET_ENVAR", VERB_SET, NULL);
	check_verb("PMIX_ADD_ENVAR", VERB_ADD, NULL);
	check_verb("PMIX_UNSET_ENVAR", VERB_UNSET, NULL);
	check_verb("PMIX_PREPEND_ENVAR", VERB_PREPEND, NULL);
	check_verb("PMIX_APPEND_ENVAR", VERB_APPEND, NULL);
	check_verb("PMIX_FIRST_ENVAR", VERB_FIRST, NULL);
	check_verb("pmix.envar.set", VERB_SET, NULL);
	check_verb("pmix.envar.add", VERB_ADD, NULL);
	check_verb("pmix.envar.unset", VERB_UNSET, NULL);
	check_verb("pmix.envar.prepnd", VERB_PREPEND, NULL);
	check_verb("pmix.envar.appnd", VERB_APPEND, NULL);
	check_verb("pmix.envar.first", VERB_FIRST, NULL);
	check_verb("SET", -1, NULL);
	check_verb("sett", -1, "set");
	check_verb("prepnd", -1, "prepend");
	check_verb("remove", -1, NULL);
}

static void check_examples(void) {
	check_words(EXAMPLE, "set FOO=2",
		    "PATH=/usr/bin:/bin|FOO=2|E=|CFLAGS=-g|LD_PRELOAD=x.so|SLURM_A=1|SLURM_B=2");
	check_words(EXAMPLE, "add FOO=2|add NEW=3",
		    "PATH=/usr/bin:/bin|FOO=1|E=|CFLAGS=-g|LD_PRELOAD=x.so|SLURM_A=1|SLURM_B=2|NEW=3");
	check_words(EXAMPLE, "unset LD_PRELOAD|unset SLURM_*", "PATH=/usr/bin:/bin|FOO=1|E=|CFLAGS=-g");
	check_words("PATH=/usr/bin:/bin", "prepend PATH=/opt/bin", "PATH=/opt/bin:/usr/bin:/bin");
	check_words("CFLAGS=-g", "append CFLAGS[ ]=-O2", "CFLAGS=-g -O2");
	check_words("E=", "prepend E=/x", "E=/x");
	check_words("FOO=1", "set FOO=1|prepend FOO=x|set FOO=2", "FOO=2");
	check_words("PATH=/usr/bin:/bin", "first PATH=/bin", "PATH=/bin:/usr/bin");
	check_words("NCCL_DEBUG=INFO|HOME=/|NCCL_X=1|PATH=/bin", "clean|pass NCCL_*|pass PATH",
		    "NCCL_DEBUG=INFO|NCCL_X=1|PATH=/bin");
	const char *file = "prepend PATH=/job\n[app trainer]\nappend PATH=/app\n";
	check_file("PATH=/usr/bin:/bin", file, "trainer", "PATH=/job:/usr/bin:/bin:/app");
	check_file("PATH=/usr/bin:/bin", file, NULL, "PATH=/job:/usr/bin:/bin");
	check_file("PATH=/usr/bin:/bin", file, "other", "PATH=/job:/usr/bin:/bin");
}

/** Directives apply strictly in the given order, whatever the verbs. */
static void check_order(void) {
	check_words("", "set FOO=1|prepend FOO=x", "FOO=x:1");
	check_words("", "prepend FOO=x|set FOO=1", "FOO=1");
	check_words("", "set FOO=1|prepend FOO=x|set FOO=2", "FOO=2");
	check_words("", "set A=1|set B=2|set C=3", "A=1|B=2|C=3");
	check_words("FOO=old", "prepend FOO=x", "FOO=x:old"); // once, not twice
	check_words("FOO=old", "prepend FOO=x|prepend FOO=y", "FOO=y:x:old");
	check_words("FOO=old", "append FOO=x|append FOO=y", "FOO=old:x:y");
	check_words("FOO=old", "unset FOO|append FOO=x", "FOO=x");
	check_words("A=1", "unset A|add A=2", "A=2");
	check_words("A=1", "add A=2|unset A", "");
	check_words("A=1", "unset A|set A=2|prepend A=3", "A=3:2");
	check_words("A=1|B=2", "clean|set C=3|pass A", "A=1|C=3");
	check_words("A=1|B=2", "set C=3|clean|pass B", "B=2");
	check_words("A=1|B=2", "pass A|clean", "");
	check_words("A=1", "clean|append A=2", "A=2"); // what was put aside is not there
	check_words("A=1", "clean|add A=2", "A=2");
}

static void check_each_verb(void) {
	check_words("FOO=1", "set FOO=", "FOO=");
	check_words("FOO=1", "set FOO=a=b", "FOO=a=b");
	check_words("FOO=1|FOO=2", "set FOO=3", "FOO=3");
	check_words("FOO=1", "set foo=2", "FOO=1|foo=2");
	check_words("FOO=1", "add FOO=2", "FOO=1");
	check_words("FOO=", "add FOO=2", "FOO="); // an empty one is there
	check_words("FOO=1|FOO=2", "unset FOO", "");
	check_words("FOO=1", "unset NOPE", "FOO=1");
	check_words("A1=1|A2=2|A3=3|B=4", "unset A*", "B=4");
	check_words("A=1|AB=2", "unset A", "AB=2");
	check_words("A=1", "unset *", "");
	check_words("PATHEXT=.exe|PATH=/bin", "prepend PATH=/x", "PATHEXT=.exe|PATH=/x:/bin");
	check_words("PATH=/bin|PATHEXT=.exe", "append PATH=/x", "PATH=/bin:/x|PATHEXT=.exe");
	check_words("", "prepend A=x", "A=x");
	check_words("", "append A=x", "A=x");
	check_words("", "first A=x", "A=x");
	check_words("A=1|A=2", "append A=3", "A=1:3");
	check_words("E=", "append E=/x", "E=/x");
	check_words("E=", "first E=/x", "E=/x");
	check_words("A=1", "clean", "");
	check_words("A=1", "pass A", "A=1");
	check_words("A=1", "pass NOPE*", "A=1");
	check_words("A=1", "clean|pass A=2", "A=2"); // mpirun's -x NAME=VALUE
	check_words("A=1|AB=2", "clean|pass *", "A=1|AB=2");

	const char *empty = ": the value is empty, so nothing changes";
	check_noted("PATH=/bin", "prepend PATH=", "PATH=/bin",
		    arena_format(&arena, "prepend 'PATH'%s", empty));
	check_noted("PATH=/bin", "append PATH=", "PATH=/bin", arena_format(&arena, "append 'PATH'%s", empty));
	check_noted("PATH=/bin", "first PATH=", "PATH=/bin", arena_format(&arena, "first 'PATH'%s", empty));
	check_noted("", "append NEW=", "", arena_format(&arena, "append 'NEW'%s", empty));
	check_noted("A=1", "clean|pass B", "", "pass 'B': there is no such variable");
	check_noted("A=1", "pass B", "A=1", "pass 'B': there is no such variable");
}

static void check_separators(void) {
	check_words("A=1", "append A[;]=2", "A=1;2");
	check_words("A=1", "prepend A[ ]=2", "A=2 1");
	check_words("A=1", "append A[,]=2", "A=1,2");
	check_words("A=1", "append A[, ]=2", "A=1, 2");
	check_words("A=1", "append A[=]=2", "A=1=2");
	check_words("A=1", "append A[[]=2", "A=1[2");
	check_words("A=1", "append A[]]=2", "A=1]2");
	check_words("A=1", "append A[;]=[;]=2", "A=1;[;]=2");
	check_words("A=1", "append A=2[;]=3", "A=1:2[;]=3"); // behind the '=' it is the value
	check_words("A=1;2;3", "first A[;]=3", "A=3;1;2");
	check_words("A=1, 2, 3", "first A[, ]=2", "A=2, 1, 3");
	check_words("A=1:2", "first A[;]=2", "A=2;1:2");
}

static void check_first(void) {
	check_words("PATH=/usr/bin:/bin", "first PATH=/bin|first PATH=/bin", "PATH=/bin:/usr/bin");
	check_words("PATH=/bin:/usr/bin", "first PATH=/bin", "PATH=/bin:/usr/bin");
	check_words("PATH=/a:/b:/a:/c:/a", "first PATH=/a", "PATH=/a:/b:/c"); // once
	check_words("PATH=/a:/b", "first PATH=/c", "PATH=/c:/a:/b");
	check_words("PATH=/a", "first PATH=/a", "PATH=/a");
	check_words("PATH=/a:/a", "first PATH=/a", "PATH=/a");
	check_words("PATH=/ab:/a", "first PATH=/a", "PATH=/a:/ab");
	check_words("PATH=/a::/b", "first PATH=/b", "PATH=/b:/a:"); // the current folder stays in
	check_words("A=1:2:3", "first A=2:3", "A=2:3:1:2:3");	    // one element is looked for
	check_words("A=1, 2,3", "first A[, ]=3", "A=3, 1, 2,3");
}

static void check_all_refused(void) {
	check_refused("set A", 1, "'A' has no '='; NAME=VALUE is expected");
	check_refused("set ", 0, "'' has no '='");
	check_refused("prepend PATH", 4, "'PATH' has no '='");
	check_refused("set =x", 0, "the variable's name is empty");
	check_refused("set =", 0, "the variable's name is empty");
	check_refused("prepend =x", 0, "the variable's name is empty");
	check_refused("prepend [;]=x", 0, "the variable's name is empty");
	check_refused("unset ", 0, "the variable's name is empty");
	check_refused("pass ", 0, "the variable's name is empty");
	check_refused("pass =x", 0, "the variable's name is empty");
	check_refused("unset A=1", 1, "'A=1': expected a name without '='");
	check_refused("set A B=1", 1, "the name 'A B' contains a blank or control character");
	check_refused("set A\tB=1", 1, "'A\\x09B' contains a blank or control character");
	check_refused("set A\x7f=1", 1, "contains a blank or control character");
	check_refused("unset A\n", 1, "contains a blank or control character");
	check_refused("set A*=1", 1, "'*' is allowed only at the end of a name, in unset and pass");
	check_refused("add *=1", 0, "'*' is allowed only at the end of a name, in unset and pass");
	check_refused("unset A*B", 1, "'*' is allowed only at the end of a name, in unset and pass");
	check_refused("unset **", 0, "'*' is allowed only at the end of a name, in unset and pass");
	check_refused("pass *A", 0, "'*' is allowed only at the end of a name, in unset and pass");
	check_refused("set A[;]=1", 1, "'A': only prepend, append and first take a [separator]");
	check_refused("add A[;]=1", 1, "'A': only prepend, append and first take a [separator]");
	check_refused("append A[]=1", 1, "'A'[]: the separator between the brackets is empty");
}

/** Values are not interpreted: they arrive byte for byte. */
static void check_bytes(void) {
	struct buf value = BUF(&arena);
	for (unsigned i = 0; i < 100000; i++) {
		buf_putc(&value, (char)(1 + i % 255));
	}
	struct buf word = BUF(&arena);
	buf_puts(&word, "BIG=");
	buf_put(&word, buf_str(&value));

	struct directives list = {.arena = &arena};
	size_t column;
	struct err err = {""};
	check(directive_add(&list, VERB_SET, buf_str(&word), &option, &column, &err) == 0);
	check(directive_add(&list, VERB_SET, STR("NL=a\nb = \xc3\xa4 \xff'\" "), &option, &column, &err) ==
	      0);
	struct outcome out = apply("OLD=1", &list);
	check(out.r == 0 && str_is(buf_str(&value), env_get(&out.env, "BIG")));
	check_text(env_get(&out.env, "NL"), "a\nb = \xc3\xa4 \xff'\" ", "a value of odd bytes");
	check(out.env.entries[1].by == &option);
}

/** A text of @len letters. */
static struct str letters(size_t len) {
	char *text = arena_alloc(&arena, len);
	memset(text, 'a', len);
	return (struct str){text, len};
}

/** Name, '=', value and NUL may have 131072 bytes in total. */
static void check_size(void) {
	struct directives list = {.arena = &arena};
	size_t column;
	struct err err = {"no error"};
	struct buf word = BUF(&arena);
	buf_puts(&word, "BIG=");
	buf_put(&word, letters(131072 - 5));
	check(directive_add(&list, VERB_SET, buf_str(&word), &option, &column, &err) == 0);
	check(apply("", &list).r == 0);
	buf_putc(&word, 'a');
	check(directive_add(&list, VERB_SET, buf_str(&word), &option, &column, &err) == -E2BIG);
	check_text(err.text, "'BIG' would have 131073 bytes, name and NUL included; the kernel takes 131072",
		   "a variable that is too large");

	check(directive_add(&list, VERB_APPEND, STR("BIG=x"), &option, &column, &err) == 0);
	struct outcome out = apply("", &list);
	check(out.r == -E2BIG);
	check_part(out.err.text, "'BIG' would have 131074 bytes", "one that grows too large");
	check(env_get(&out.env, "BIG") && strlen(env_get(&out.env, "BIG")) == 131067);
}

/**
 * The size of the variable counts, not that of the line, where each of these newlines takes two
 * bytes.
 */
static void check_size_unquoted(size_t newlines, int want_r) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {"no error"};
	struct buf file = BUF(&arena);
	buf_puts(&file, "set BIG=\"");
	for (size_t i = 0; i < newlines; i++) {
		buf_puts(&file, "\\n");
	}
	buf_puts(&file, "\"\n");
	int r = directive_read(&levels, "FILE", buf_str(&file), NULL, &err);
	checkf(r == want_r, "%zu newlines: %d", newlines, r);
	if (r == 0) {
		checkf(levels.job.n == 1 && levels.job.items[0].value.len == newlines,
		       "%zu newlines are read", newlines);
	} else {
		check_text(err.text,
			   "FILE:1:5: 'BIG' would have 131073 bytes, name and NUL included; the kernel takes "
			   "131072",
			   "%zu newlines", newlines);
	}
}

/** mpirun's two arguments. */
static void check_pairs(void) {
	struct directives list = {.arena = &arena};
	struct err err = {"no error"};
	check(directive_add_pair(&list, VERB_PREPEND, STR("PATH[:]"), STR("/a=b"), &option, &err) == 0);
	check(directive_add_pair(&list, VERB_APPEND, STR("CFLAGS[ ]"), STR("-O2"), &option, &err) == 0);
	check(directive_add_pair(&list, VERB_APPEND, STR("PATH"), STR("/c"), &option, &err) == 0);
	struct outcome out = apply("PATH=/bin|CFLAGS=-g", &list);
	check_text(fixture_join(&out.env, '|'), "PATH=/a=b:/bin:/c|CFLAGS=-g -O2", "pairs");

	check(directive_add_pair(&list, VERB_PREPEND, STR("PATH[]"), STR("/a"), &option, &err) == -EINVAL);
	check(directive_add_pair(&list, VERB_PREPEND, STR(""), STR("/a"), &option, &err) == -EINVAL);
	check(directive_add_pair(&list, VERB_PREPEND, STR("A=b"), STR("/a"), &option, &err) == -EINVAL);
	check_text(err.text, "'A=b': expected a name without '='", "a pair with '='");
	check(list.n == 3);
}

static void check_values(void) {
	check_value("A=plain", "plain");
	check_value("A=", "");
	check_value("A= two blanks  ", " two blanks  ");
	check_value("A=a#b # c", "a#b # c"); // only a line that begins so is a comment
	check_value("A=$HOME `x` \\n", "$HOME `x` \\n");
	check_value("A=b\r", "b");
	check_value("A=b\r\r", "b\r");
	check_value("A=\"quoted\"", "quoted");
	check_value("A='quoted'", "quoted");
	check_value("A=\"\"", "");
	check_value("A=''", "");
	check_value("A=\" a \"", " a ");
	check_value("A=  \"a\"  ", "a");
	check_value("A=\"n\\n t\\t q\\\" b\\\\ x\\x\"", "n\n t\t q\" b\\ x\\x");
	check_value("A='n\\n'", "n\\n");
	check_value("A=\"half", "\"half");
	check_value("A=half\"", "half\"");
	check_value("A=\"", "\"");
	check_value("A=\"a\" \"b\"", "\"a\" \"b\"");
	check_value("A='a' 'b'", "'a' 'b'");
	check_value("A=\"a\\\"", "\"a\\\""); // the last quote is escaped
	check_value("A=\"a'", "\"a'");
	check_value("prepend A[;]=\"x y\"", "x y");
	check_value("set A=b", "b");
	check_value("set \t A=b", "b");
	check_value("\t set A=b", "b");
	check_value("export=1", "1");
	check_value("set=1", "1"); // a variable may be called so
	check_value("pmix.envar.set A=b", "b");
	check_value("pass A=b", "b");
}

static void check_files(void) {
	check_file("A=1", "", NULL, "A=1");
	check_file("A=1", "\n\n \t\n# A=2\n  # A=3\n", NULL, "A=1");
	check_file("", "A=1\nB=2", NULL, "A=1|B=2");
	check_file("", "A=1\r\nB=2\r\n", NULL, "A=1|B=2");
	check_file("",
		   "\xef\xbb\xbf"
		   "A=1\n",
		   NULL, "A=1"); // as some editors begin a file
	check_file("A=1|B=2", "unset A \nunset C\n", NULL, "B=2");
	check_file("A=1|B=2", "clean\npass B\n", NULL, "B=2");
	check_file("A=1|B=2", "clean\nB\n", NULL, "B=2"); // as in docker's files
	check_file("A=1|AB=2|B=3", "clean\nA*\n", NULL, "A=1|AB=2");
	check_file("A=1", "append A=\n", NULL, "A=1");
	check_file("A=1", "append A[ ]=2 3\n", NULL, "A=1 2 3");

	// Sections apply in the order job, then application, wherever they are in the file.
	check_file("", "A=job\n[app me]\nappend A=app\n", "me", "A=job:app");
	check_file("", "A=job\n[app me]\nappend A=app\n", "you", "A=job");
	check_file("", "[app me]\nA=1\n[app you]\nB=2\n[app me]\nC=3\n", "me", "A=1|C=3");
	check_file("", "[app me]\nA=1\n[app you]\nB=2\n", NULL, "");
	check_file("", " [app  me ] \nA=1\n", "me", "A=1");
	check_file("", "[app two words]\nA=1\n", "two words", "A=1");
	check_file("", "[app me]\nA=1\n", "", "");
}

static void check_files_wrong(void) {
	check_file_wrong(STR("A=1\nfrobnicate B=2\n"), "FILE:2:1: ", "unknown verb 'frobnicate'; expected");
	check_file_wrong(STR("sett B=2"), "FILE:1:1: ", "unknown verb 'sett'; did you mean 'set'?");
	check_file_wrong(STR("  prepnd B=2"), "FILE:1:3: ", "did you mean 'prepend'?");
	check_file_wrong(STR("export A=1"),
			 "FILE:1:1: ", "unknown verb 'export'; write the line without it, or with 'set'");
	check_file_wrong(STR("set"), "FILE:1:4: ", "'set' needs a variable after it");
	check_file_wrong(STR("set "), "FILE:1:5: ", "'set' needs a variable after it");
	check_file_wrong(STR("unset  "), "FILE:1:8: ", "'unset' needs a variable after it");
	check_file_wrong(STR("set A"), "FILE:1:6: ", "'A' has no '='");
	check_file_wrong(STR("=x"), "FILE:1:1: ", "the variable's name is empty");
	check_file_wrong(STR("set =x"), "FILE:1:5: ", "the variable's name is empty");
	check_file_wrong(STR("prepend A B=x"), "FILE:1:10: ", "contains a blank or control character");
	check_file_wrong(STR("unset A=1"), "FILE:1:8: ", "expected a name without '='");
	check_file_wrong(STR("unset A*B"), "FILE:1:8: ", "'*' is allowed only at the end");
	check_file_wrong(STR("set A[;]=1"),
			 "FILE:1:6: ", "only prepend, append and first take a [separator]");
	check_file_wrong(STR("A*=1"), "FILE:1:2: ", "'*' is allowed only at the end");
	check_file_wrong(STR("clean A"), "FILE:1:7: ", "clean takes no argument; found 'A'");
	check_file_wrong(STR("A=1\n\n[app]"), "FILE:3:1: ", "unknown section '[app]'; expected [app NAME]");
	check_file_wrong(STR("[app ]"), "FILE:1:1: ", "unknown section");
	check_file_wrong(STR("[job]"), "FILE:1:1: ", "unknown section");
	check_file_wrong(STR(" [app me"), "FILE:1:2: ", "unknown section");
	check_file_wrong(STR("[app me] x"), "FILE:1:1: ", "unknown section");
	check_file_wrong(STR("["), "FILE:1:1: ", "unknown section");
	check_file_wrong(STR("A=1\nB=\0x\n"), "FILE:2:3: ", "a NUL byte; a text file is expected");
	check_file_wrong(STR("# comment \0\n"), "FILE:1:11: ", "a NUL byte");
	// Errors count in sections of others too.
	check_file_wrong(STR("[app you]\nset A\n"), "FILE:2:6: ", "'A' has no '='");
}

/** Each directive remembers its line; several files and options make one list. */
static void check_origins(void) {
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err;
	check(directive_read(&levels, "one", STR("A=1\n\nB=2\n[app me]\nC=3\n"), "me", &err) == 0);
	// The section ends with its file.
	check(directive_read(&levels, "two", STR("append A=2\nclean\n"), "me", &err) == 0);
	check(levels.job.n == 4 && levels.app.n == 1);
	const struct origin *by = levels.job.items[1].by;
	check(strcmp(by->by, "one") == 0 && by->line == 3);
	by = levels.job.items[3].by;
	check(strcmp(by->by, "two") == 0 && by->line == 2);
	by = levels.app.items[0].by;
	check(strcmp(by->by, "one") == 0 && by->line == 5);
}

/** More directives than the list has room for at first. */
static void check_many(void) {
	struct buf text = BUF(&arena);
	for (unsigned i = 0; i < 1000; i++) {
		buf_putf(&text, "append A=%u\n", i);
	}
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err;
	check(directive_read(&levels, "FILE", buf_str(&text), NULL, &err) == 0 && levels.job.n == 1000);
	struct outcome out = apply("A=x", &levels.job);
	const char *value = env_get(&out.env, "A");
	check(out.r == 0 && value && strlen(value) == 1 + 10 * 2 + 90 * 3 + 900 * 4);
	check(value && strncmp(value, "x:0:1:2:", 8) == 0 &&
	      strcmp(value + strlen(value) - 8, ":998:999") == 0);
}

/** A failure leaves the output alone. */
static void check_untouched(void) {
	struct directive d = {.verb = VERB_CLEAN, .name = STR("before")};
	struct err err;
	size_t column;
	check(directive_parse(VERB_SET, STR("A"), &option, &d, &column, &err) == -EINVAL);
	check(directive_parse(VERB_SET, STR("=1"), &option, &d, &column, &err) == -EINVAL);
	check(directive_parse(VERB_APPEND, STR("A*=1"), &option, &d, &column, &err) == -EINVAL);
	check(d.verb == VERB_CLEAN && str_is(d.name, "before"));
}

int main(void) {
	arena = fixture_arena();
	check_untouched();
	check_verbs();
	check_examples();
	check_order();
	check_each_verb();
	check_separators();
	check_first();
	check_all_refused();
	check_bytes();
	check_size();
	check_size_unquoted(131072 - 5, 0);
	check_size_unquoted(131072 - 4, -E2BIG);
	check_pairs();
	check_values();
	check_files();
	check_files_wrong();
	check_origins();
	check_many();
	arena_done(&arena);
	return check_done();
}
