// SPDX-License-Identifier: Apache-2.0

/** cmd/common's options, over a table that has each kind. */

#include "common/settings.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

enum { CMD_A = 1, CMD_B = 2 };
enum {
	OPT_TEXT,
	OPT_FLAG,
	OPT_LIST,
	OPT_MAYBE,
	OPT_FILE,
	OPT_VERBOSE,
	OPT_KEEP,
	OPT_LINES,
	OPT_SHARED,
	N_VALUES,
	OPT_VERB
};

static const struct option options[] = {
	{"some-text", 't', OPT_TEXT, TAKES_TEXT, CMD_A | CMD_B, true, "TEXT", "a text", "y xy"},
	{"other-text", 0, OPT_TEXT, TAKES_TEXT, CMD_A, false, NULL, NULL},
	{"flag", 'f', OPT_FLAG, TAKES_FLAG, CMD_A, true, NULL, "a flag"},
	{"list", 0, OPT_LIST, TAKES_LIST, CMD_A, true, "LIST", "a list"},
	{"maybe", 0, OPT_MAYBE, TAKES_OPTIONAL, CMD_A, true, "TEXT", "a text or nothing"},
	{"file", 0, OPT_FILE, TAKES_EACH, CMD_A, true, "FILE", "files"},
	{"pair", 0, OPT_VERB, TAKES_PAIR, CMD_A, false, NULL, NULL},
	{"set", 'e', OPT_VERB, TAKES_TEXT, CMD_A, false, "NAME", "a verb"},
	{"clean", 0, OPT_VERB, TAKES_FLAG, CMD_A, false, NULL, "a verb"},
	{"verbose", 'v', OPT_VERBOSE, TAKES_FLAG, CMD_A, false, NULL, "more"},
	{"keep", 0, OPT_KEEP, TAKES_FLAG, CMD_A, true, NULL, "the variables"},
	{NULL, 0, OPT_LINES, TAKES_TEXT, CMD_A, true, NULL, NULL},
	{"shared", 0, OPT_SHARED, TAKES_TEXT, CMD_A, true, "TEXT", "what others read too"},
	{0},
};

static struct arena arena;

/** Note what was handed over, in the buf @context. */
static int take(void *context, const struct option *option, const char *value, const char *next,
		struct err *err) {
	if (strcmp(value, "bad") == 0) {
		return err_set(err, EINVAL, "--%s: refused", option->name);
	}
	buf_putf(context, " %s(%s%s%s)", option->name, value, option->takes == TAKES_PAIR ? "," : "",
		 option->takes == TAKES_PAIR ? next : "");
	return 0;
}

static const struct option_table table = {
	.options = options,
	.program = "prog",
	.prefix = "PROG_",
	.unnamed = "lines",
	.n_values = N_VALUES,
	.verbose = OPT_VERBOSE,
	.keep = OPT_KEEP,
	.passed_on = OPT_SHARED,
	.told = OPTION_NONE,
	.underscores = true,
	.take = take,
};

/** All that was asked for, in a line. */
static const char *describe(const struct settings *s, const struct buf *taken) {
	static const char *const names[] = {"text",    "flag", "list",	"maybe", "file",
					    "verbose", "keep", "lines", "shared"};
	struct buf buf = BUF(&arena);
	for (unsigned id = 0; id < N_VALUES; id++) {
		if (s->value[id]) {
			buf_putf(&buf, " %s=%s", names[id], s->value[id]);
		}
	}
	buf_put(&buf, buf_str(taken));
	if (s->verbose) {
		buf_putf(&buf, " v%u", s->verbose);
	}
	buf_puts(&buf, s->separated ? " --" : "");
	for (char **argument = s->arguments; *argument; argument++) {
		buf_putf(&buf, " <%s>", *argument);
	}
	return buf.len ? buf_text(&buf) + 1 : "";
}

/** Read @words, which has '|' between them. @want: what comes of it, or the error behind a '!'. */
static void check_words(unsigned command, const char *words, const char *want) {
	struct settings s;
	struct buf taken = BUF(&arena);
	struct err err = {""};
	int r = settings_read_words(&s, &arena, &table, command, fixture_split(&arena, words, '|'), &taken,
				    &err);
	const char *got = r < 0 ? arena_format(&arena, "!%s", err.text) : describe(&s, &taken);
	checkf(strcmp(got, want) == 0, "'%s': '%s', and not '%s'", words, got, want);
}

/**
 * Read @variables, with --some-text given if @given. The rest of them follows a ';', notes follow
 * another ';'.
 */
static void check_variables(const char *variables, bool given, const char *want) {
	struct settings s;
	struct buf taken = BUF(&arena), got = BUF(&arena);
	struct err err = {""};
	struct env env;
	struct notes notes = {.arena = &arena};
	settings_read_words(&s, &arena, &table, CMD_A,
			    fixture_split(&arena, given ? "--some-text=here" : "", '|'), &taken, &err);
	env_init(&env, &arena, fixture_split(&arena, variables, '|'));
	if (settings_read_variables(&s, &env, &notes, &err) < 0) {
		buf_putf(&got, "!%s", err.text);
	} else {
		buf_puts(&got, describe(&s, &taken));
		buf_puts(&got, ";");
		for (char **left = env_vector(&env); *left; left++) {
			buf_putf(&got, " %s", *left);
		}
		for (const struct note *note = notes.first; note; note = note->next) {
			buf_putf(&got, "; %s", note->text);
		}
	}
	checkf(strcmp(buf_text(&got), want) == 0, "'%s': '%s', and not '%s'", variables, buf_text(&got),
	       want);
}

static void check_labels(void) {
	struct settings s;
	struct err err;
	settings_read_words(&s, &arena, &table, CMD_A, fixture_split(&arena, "--other_text=x|--list=9", '|'),
			    NULL, &err);
	check(strcmp(settings_label(&s, OPT_TEXT), "--other-text") == 0);
	check(strcmp(settings_label(&s, OPT_MAYBE), "PROG_MAYBE") == 0);
	check(strcmp(settings_label(&s, OPT_LINES), "PROG_LINES") == 0);
	uint64_t number = 7;
	check(settings_number(&s, OPT_LIST, 9, &number, &err) == 0 && number == 9);
	check(settings_number(&s, OPT_LIST, 8, &number, &err) == -EINVAL && number == 9);
	check(strcmp(err.text, "--list='9' is not a whole number from 0 to 8") == 0);
	check(settings_duration(&s, OPT_LIST, &number, &err) == 0 && number == 9000);
	check(settings_duration(&s, OPT_TEXT, &number, &err) == -EINVAL && number == 9000);
	check(settings_choose(&s, OPT_TEXT, &err) == -EINVAL);
	check(strstr(err.text, "--other-text='x': expected one of y, xy") != NULL);
}

static void check_help(void) {
	struct buf out = BUF(&arena);
	options_write_help(&out, &table, CMD_B, (struct str){0});
	checkf(strcmp(buf_text(&out), "  -t, --some-text=TEXT    a text\n") == 0, "'%s'", buf_text(&out));
	out = BUF(&arena);
	options_write_help(&out, &table, CMD_A, (struct str){0});
	const char *text = buf_text(&out);
	check(strstr(text, "--maybe[=TEXT]") && strstr(text, "--set NAME") && strstr(text, "--file=FILE"));
	check(!strstr(text, "other-text") && !strstr(text, "pair"));
}

int main(void) {
	arena = fixture_arena();
	check_words(CMD_A, "", "");
	check_words(CMD_A, "--some-text=a|b|--flag", "text=a <b> <--flag>");
	check_words(CMD_A, "--some_text|a|--|--flag", "text=a -- <--flag>");
	check_words(CMD_A, "-ta|-t|b|-", "text=b <->");
	check_words(CMD_A, "--other-text=a|--flag=no|--flag", "text=a flag=");
	check_words(CMD_A, "--flag|--flag=0", "");
	check_words(CMD_A, "--list=a|--list|b", "list=a,b");
	check_words(CMD_A, "--maybe|a", "maybe= <a>");
	check_words(CMD_A, "--maybe=a", "maybe=a");
	check_words(CMD_A, "--maybe=off", "");
	check_words(CMD_A, "--file=a|--set=b|--file|c|--pair|d|e|--clean|-ef",
		    &" file(a) set(b) file(c) pair(d,e) clean() set(f)"[1]);
	check_words(CMD_A, "-vv|--verbose", "verbose= v3");
	check_words(CMD_A, "--flag=maybe", "!'--flag=maybe': expected 1 or 0 after '='");
	check_words(CMD_A, "--clean=1", "!--clean takes no argument");
	check_words(CMD_A, "--pair|a", "!--pair needs a name and a value");
	check_words(CMD_A, "--pair", "!--pair needs an argument");
	check_words(CMD_A, "--some-text", "!--some-text needs TEXT");
	check_words(CMD_A, "--set=bad", "!--set: refused");
	check_words(CMD_A, "--some-txt=a",
		    "!unknown option '--some-txt=a'; did you mean '--some-text'?; see --help");
	check_words(CMD_A, "--some__text=a",
		    "!unknown option '--some__text=a'; did you mean '--some-text'?; see --help");
	check_words(CMD_A, "-fx", "!unknown option '-fx'; see --help");
	check_words(CMD_B, "--flag", "!unknown option '--flag'; see --help");

	check_variables("A=1|PROG_SOME_TEXT=a|PROG_FLAG=yes", false, "text=a flag=; A=1");
	check_variables("PROG_SOME_TEXT=a|PROG_SOME_TEXT=b", false, "text=a;");
	check_variables("PROG_SOME_TEXT=a", true, "text=here;");
	check_variables("PROG_FLAG=|PROG_FILE=x|PROG_LINES=y|PROG_MAYBE=1", false, "maybe= file=x lines=y;");
	check_variables("PROG_KEEP=1|PROG_LIST=a", false, "list=a keep=; PROG_KEEP=1 PROG_LIST=a");
	check_variables("PROG_SHARED=a|PROG_LIST=a", false, "list=a shared=a; PROG_SHARED=a");
	check_variables("PROG_LIST=|PROG_LIST=a", false, ";");
	check_variables("PROG_FLAG=maybe", false, "!PROG_FLAG='maybe': expected 1 or 0");
	check_variables("PROG_FLG=1", false,
			"; PROG_FLG=1; 'PROG_FLG' is not a setting of prog; did you mean 'PROG_FLAG'?");
	check_variables("PROG_SET=x", false,
			"; PROG_SET=x; 'PROG_SET' is not a setting of prog; write PROG_LINES='set NAME'");
	check_variables("PROG_=x", false, "; PROG_=x");
	check_labels();
	check_help();
	arena_done(&arena);
	return check_done();
}
