// SPDX-License-Identifier: Apache-2.0

/** Tests the command line, and the variables that replace options. */

#include "distinit/options.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** The result of the command line. */
struct read {
	struct settings settings;
	struct overrides overrides;
};

/** Words that begin with '-' in a test's text, which has '|' between them. */
static char **words_of(const char *text) {
	return fixture_split(&arena, text, '|');
}

static int read_words(struct read *out, enum command command, const char *words, struct err *err) {
	return options_read(&out->settings, &out->overrides, &arena, command, words_of(words), err);
}

static void put_directive(struct buf *buf, const struct directive *d) {
	static const char *const verbs[] = {"set",    "add",   "unset", "prepend",
					    "append", "first", "clean", "pass"};
	buf_putf(buf, " %s(%.*s", verbs[d->verb], (int)d->name.len, d->name.p);
	if (d->value.len) {
		buf_putf(buf, "=%.*s", (int)d->value.len, d->value.p);
	}
	if (d->separator.len && !str_is(d->separator, ":")) {
		buf_putf(buf, ";%.*s", (int)d->separator.len, d->separator.p);
	}
	buf_putc(buf, ')');
}

/**
 * The parsed options in a line: NAME[=VALUE] of each option that has one, env-file(FILE), v for
 * each -v, the directives, and the arguments in "<>", after "--" if it was there.
 */
static const char *describe(const struct read *read) {
	const struct settings *s = &read->settings;
	const struct overrides *overrides = &read->overrides;
	struct buf buf = BUF(&arena);
	for (unsigned id = 0; id < N_VALUES; id++) {
		const struct option *o = distinit_options.options;
		while (o->commands && (o->id != id || !o->name)) {
			o++;
		}
		if (s->value[id]) {
			buf_putf(&buf, " %s%s%s", o->name ? o->name : "env", s->value[id][0] ? "=" : "",
				 s->value[id]);
		}
	}
	for (uint32_t i = 0; i < overrides->n_env_files; i++) {
		buf_putf(&buf, " env-file(%s)", overrides->env_files[i]);
	}
	buf_putf(&buf, "%s%.*s", s->verbose ? " " : "", (int)s->verbose, "vvvvvv");
	for (uint32_t i = 0; i < overrides->directives.n; i++) {
		put_directive(&buf, &overrides->directives.items[i]);
	}
	buf_puts(&buf, s->separated ? " --" : "");
	for (char **argument = s->arguments; *argument; argument++) {
		buf_putf(&buf, " <%s>", *argument);
	}
	return buf.len ? buf_text(&buf) + 1 : "";
}

static void check_parse(enum command command, const char *words, const char *want) {
	struct read read;
	struct err err = {"no error"};
	int r = read_words(&read, command, words, &err);
	check_text(r < 0 ? err.text : describe(&read), want, "options '%s'", words);
}

static void check_wrong(enum command command, const char *words, const char *want) {
	struct read read;
	struct err err = {"no error"};
	int r = read_words(&read, command, words, &err);
	checkf(r == -EINVAL, "wrong '%s': %d", words, r);
	check_part(err.text, want, "wrong '%s' says", words);
}

static void check_words(void) {
	check_parse(CMD_RUN, "", "");
	check_parse(CMD_RUN, "--|python|x.py", "-- <python> <x.py>");
	check_parse(CMD_RUN, "--", "--");
	check_parse(CMD_RUN, "--|--|-v", "-- <--> <-v>");
	check_parse(CMD_RUN, "--|--hosts=a", "-- <--hosts=a>"); // what follows is the command's
	check_parse(CMD_RUN, "python|-v", "<python> <-v>");
	check_parse(CMD_RUN, "-|x", "<-> <x>");
	check_parse(CMD_RUN, "--hosts=a,b|--node-rank=1|--|x", "hosts=a,b node-rank=1 -- <x>");
	check_parse(CMD_RUN, "--hosts|a,b|--node-rank|1", "hosts=a,b node-rank=1");
	check_parse(CMD_RUN, "--hosts|--|--|x", "--hosts needs HOSTLIST; '--' follows it");
	check_parse(CMD_RUN, "--hosts=--|--|x", "hosts=-- -- <x>"); // an argument
	check_parse(CMD_RUN, "--hosts=a=b", "hosts=a=b");
	check_parse(CMD_RUN, "--hosts=a|--hosts=b", "hosts=b");
	check_parse(CMD_RUN, "--hosts=|--root=", "hosts root");
	check_parse(CMD_RUN, "--lenient", "lenient");
	check_parse(CMD_RUN, "--lenient=1", "lenient");
	check_parse(CMD_RUN, "--lenient=yes|--keep-config=true", "lenient keep-config");
	check_parse(CMD_RUN, "--lenient=on", "lenient");
	check_parse(CMD_RUN, "--lenient|--lenient=0", "");
	check_parse(CMD_RUN, "--lenient=no", "");
	check_parse(CMD_RUN, "--lenient=false|--keep-config=off", "");
	check_parse(CMD_RUN, "-v", "verbose v");
	check_parse(CMD_RUN, "-vv", "verbose vv");
	check_parse(CMD_RUN, "-v|-v|--verbose", "verbose vvv");
	check_parse(CMD_RUN, "-h|-V", "help version");
	check_parse(CMD_RUN, "--env-file=a|--env-file|b|--env-file=a", "env-file(a) env-file(b) env-file(a)");
	check_parse(CMD_RUN, "--log=info|--app|me|--ranks=never|--frameworks=all|--cluster=none",
		    "cluster=none frameworks=all ranks=never app=me log=info");
	check_parse(CMD_RUN, "--master-addr=x|--master-port=1|--hostname=h|--root=/r",
		    "master-addr=x master-port=1 root=/r hostname=h");
	check_parse(CMD_RUN, "--wait|5m|--|x", "wait <5m> <--> <x>"); // never the next word
	check_parse(CMD_RUN, "--wait=5m|--for|dns|--|x", "wait=5m for=dns -- <x>");
	check_parse(CMD_RUN, "--wait=1", "wait");
	check_parse(CMD_RUN, "--wait=5m|--wait=0", "");
	check_parse(CMD_WAIT, "--for=tcp|--timeout=5m|--set|A=1", "for=tcp timeout=5m set(A=1)");
	check_parse(CMD_INSTALL, "-v|dir", "verbose v <dir>");
	check_parse(CMD_ENV, "--format=json|--all|-o|f|--output=g", "format=json all output=g");
	check_parse(CMD_ENV, "-of", "output=f");
	check_parse(CMD_EXPLAIN, "--format=json|--show-secrets", "format=json show-secrets");
	check_parse(CMD_BUNDLE, "--track=A:B|--force|--carry-unset|-o|f",
		    "output=f track=A:B force carry-unset");
	check_parse(CMD_HOSTS, "--count|--compress|n[1-2]", "count compress <n[1-2]>");
	check_parse(CMD_HOSTS, "--first|--nth=2", "first nth=2");
	check_parse(CMD_HOSTS, "--hosts=a,b|--node-rank=0", "hosts=a,b node-rank=0");
	check_parse(CMD_TABLE, "--help", "help");
}

static void check_directives(void) {
	check_parse(CMD_RUN, "--set|A=1", "set(A=1)");
	check_parse(CMD_RUN, "--set=A=1", "set(A=1)");
	check_parse(CMD_RUN, "-e|A=1|-eB=2", "set(A=1) set(B=2)");
	check_parse(CMD_RUN, "-u|A|-uB*|--unset=C", "unset(A) unset(B*) unset(C)");
	check_parse(CMD_RUN, "-x|A|-xB=1", "pass(A) set(B=1)");
	check_parse(CMD_RUN, "--add|A=1|--prepend|B=2|--append|C[;]=3|--first|D=4",
		    "add(A=1) prepend(B=2) append(C=3;;) first(D=4)");
	check_parse(CMD_RUN, "--clean|--pass|A*", "clean() pass(A*)");
	check_parse(CMD_RUN, "--append|C[, ]=3", "append(C=3;, )");
	check_parse(CMD_RUN, "--set|A=|--set|B==", "set(A) set(B==)");
	check_parse(CMD_RUN, "--set|A=1|--unset|A|--set|A=2", "set(A=1) unset(A) set(A=2)");
	check_parse(CMD_ENV, "--first|A=1", "first(A=1)");
	check_parse(CMD_EXPLAIN, "--first=A=1", "first(A=1)");

	// Options that people know from mpirun.
	check_parse(CMD_RUN, "--set-env|A=1|--unset-env|B*", "set(A=1) unset(B*)");
	check_parse(CMD_RUN, "--prepend-env|PATH[:]|/x|--append-env|C[ ]|-g",
		    "prepend(PATH=/x) append(C=-g; )");
	check_parse(CMD_RUN, "--prepend-env|PATH|/x|--|y", "prepend(PATH=/x) -- <y>");
	check_parse(CMD_RUN, "--append-env=PATH[:]|/x", "append(PATH=/x)");

	struct read read;
	struct err err;
	check(read_words(&read, CMD_RUN, "-e|A=1|--append-env|B|2", &err) == 0);
	check_text(read.overrides.directives.items[0].by->by, "--set",
		   "a letter's directive is by the whole word");
	check_text(read.overrides.directives.items[1].by->by, "--append-env", "an alias is by its own");
}

static void check_errors(void) {
	check_wrong(CMD_RUN, "--hots=a", "unknown option '--hots=a'; did you mean '--hosts'?; see --help");
	check_wrong(CMD_RUN, "--master_prt=1",
		    "unknown option '--master_prt=1'; did you mean '--master-port'?; see --help");
	check_wrong(CMD_RUN, "--frobnicate", "unknown option '--frobnicate'; see --help");
	check_wrong(CMD_RUN, "-z", "unknown option '-z'; see --help");
	check_wrong(CMD_RUN, "-hosts", "unknown option '-hosts'; did you mean '--hosts'?; see --help");
	check_wrong(CMD_RUN, "-vq", "unknown option '-vq'; see --help");
	check_wrong(CMD_RUN, "--=x", "unknown option '--=x'; see --help");
	check_wrong(CMD_RUN, "-=", "unknown option '-='; see --help");
	check_wrong(CMD_RUN, "--host", "unknown option '--host'; did you mean '--hosts'?; see --help");
	check_wrong(CMD_RUN, "--hosts\x1b",
		    "unknown option '--hosts\\x1b'; did you mean '--hosts'?; see --help");
	check_wrong(CMD_HOSTS, "--set|A=1", "unknown option '--set'; see --help");
	check_wrong(CMD_RUN, "--hosts", "--hosts needs HOSTLIST");
	check_wrong(CMD_RUN, "--set", "--set needs NAME=VALUE");
	check_wrong(CMD_RUN, "-e", "--set needs NAME=VALUE");
	check_wrong(CMD_RUN, "--prepend-env", "--prepend-env needs NAME[c] VALUE");
	check_wrong(CMD_RUN, "--prepend-env|PATH", "--prepend-env needs a name and a value");
	check_wrong(CMD_RUN, "--lenient=maybe", "'--lenient=maybe': expected 1 or 0 after '='");
	check_wrong(CMD_RUN, "--lenient=", "'--lenient=': expected 1 or 0 after '='");
	check_wrong(CMD_RUN, "--clean=1", "--clean takes no argument");

	check_wrong(CMD_RUN, "--set|=x",
		    "--set: the variable's name is empty; a name is expected before the '='");
	check_wrong(CMD_RUN, "--set|A", "--set: 'A' has no '='; NAME=VALUE is expected");
	check_wrong(CMD_RUN, "--set|A|--|x", "--set: 'A' has no '='; NAME=VALUE is expected");
	check_wrong(CMD_RUN, "--prepend|PATH|/x",
		    "--prepend: 'PATH' has no '='; NAME=VALUE is expected; write --prepend PATH=/x");
	check_wrong(CMD_RUN, "-e|A|1", "--set: 'A' has no '='; NAME=VALUE is expected; write --set A=1");
	check_wrong(CMD_RUN, "--unset|A=1", "--unset: 'A=1': expected a name without '='");
	check_wrong(CMD_RUN, "--prepend-env|A=b|x", "--prepend-env: 'A=b': expected a name without '='");
}

/** Read the variables of @env after the options @words. */
static int read_variables(const char *entries, const char *words, struct read *read, struct env *env,
			  struct notes *notes, struct err *err) {
	fixture_env(env, &arena, entries, '|');
	*notes = (struct notes){.arena = &arena};
	int r = read_words(read, CMD_RUN, words, err);
	return r < 0 ? r : settings_read_variables(&read->settings, env, notes, err);
}

/** @entries, after @words, ask for @want, and leave @want_env; @want_note is what is noted. */
static void check_variables(const char *entries, const char *words, const char *want, const char *want_env,
			    const char *want_note) {
	struct read read;
	struct env env;
	struct notes notes;
	struct err err = {"no error"};
	int r = read_variables(entries, words, &read, &env, &notes, &err);
	check_text(r < 0 ? err.text : describe(&read), want, "%s, options '%s'", entries, words);
	check_text(fixture_join(&env, '|'), want_env, "%s, options '%s': what is left", entries, words);
	check_text(fixture_notes(&notes), want_note, "%s, options '%s': noted", entries, words);
}

static void check_all_variables(void) {
	check_variables("A=1", "", "", "A=1", "");
	check_variables("DISTINIT_HOSTS=a,b|A=1|DISTINIT_NODE_RANK=1", "", "hosts=a,b node-rank=1", "A=1",
			"");
	check_variables("DISTINIT_MASTER_PORT=1", "--master-port=2", "master-port=2", "", "");
	check_variables("DISTINIT_MASTER_PORT=1", "--master-port=", "master-port", "", "");
	check_variables("DISTINIT_HOSTS=", "", "", "", "");
	check_variables("DISTINIT_LENIENT=1", "", "lenient", "", "");
	check_variables("DISTINIT_LENIENT=0", "", "", "", "");
	check_variables("DISTINIT_LENIENT=1", "--lenient=0", "", "", "");
	check_variables("DISTINIT_LENIENT=0", "--lenient", "lenient", "", "");
	check_variables("DISTINIT_WAIT=5m|DISTINIT_FOR=dns", "", "wait=5m for=dns", "", "");
	check_variables("DISTINIT_WAIT=yes", "", "wait", "", "");
	check_variables("DISTINIT_WAIT=0", "", "", "", "");
	check_variables("DISTINIT_WAIT=5m", "--wait", "wait", "", "");
	check_variables("DISTINIT_WAIT=5m", "--wait=0", "", "", "");
	check_variables("DISTINIT_ENV=A=1", "", "env=A=1", "", "");
	check_variables("DISTINIT_ENV_FILE=a:b", "--env-file=c", "env-file=a:b env-file(c)", "", "");
	check_variables("DISTINIT_APP=me|DISTINIT_LOG=info|DISTINIT_ROOT=/r", "", "app=me log=info root=/r",
			"", "");
	check_variables("A=1|DISTINIT_HOSTS=a|B=2", "--keep-config", "hosts=a keep-config",
			"A=1|DISTINIT_HOSTS=a|B=2", "");
	check_variables("DISTINIT_KEEP_CONFIG=1|DISTINIT_HOSTS=a", "", "hosts=a keep-config",
			"DISTINIT_KEEP_CONFIG=1|DISTINIT_HOSTS=a", "");
	check_variables("DISTINIT_TRACK=A:B|DISTINIT_LOG=warn", "", "log=warn track=A:B",
			"DISTINIT_TRACK=A:B", "");
	check_variables("DISTINIT_HOSTS=a|DISTINIT_HOSTS=a", "", "hosts=a", "", "");
	check_variables("DISTINIT_|DISTINIT_=1|XDISTINIT_HOSTS=a|distinit_hosts=a", "", "",
			"DISTINIT_|DISTINIT_=1|XDISTINIT_HOSTS=a|distinit_hosts=a", "");

	// An unknown variable stays, with a warning.
	check_variables("DISTINIT_HOST=a", "", "", "DISTINIT_HOST=a",
			"'DISTINIT_HOST' is not a setting of distinit; did you mean 'DISTINIT_HOSTS'?");
	check_variables("DISTINIT_XYZZYXYZZY=a|DISTINIT_HOSTS=a", "", "hosts=a", "DISTINIT_XYZZYXYZZY=a",
			"'DISTINIT_XYZZYXYZZY' is not a setting of distinit");
	check_variables("DISTINIT_VERBOSE=1", "", "", "DISTINIT_VERBOSE=1",
			"'DISTINIT_VERBOSE' is not a setting of distinit");
	check_variables(
		"DISTINIT_PREPEND=A=1", "", "", "DISTINIT_PREPEND=A=1",
		"'DISTINIT_PREPEND' is not a setting of distinit; write DISTINIT_ENV='prepend NAME=VALUE'");
	check_variables("DISTINIT_CLEAN=1", "", "", "DISTINIT_CLEAN=1",
			"'DISTINIT_CLEAN' is not a setting of distinit; write DISTINIT_ENV='clean'");

	struct read read;
	struct env env;
	struct notes notes;
	struct err err = {"no error"};
	check(read_variables("DISTINIT_LENIENT=maybe", "", &read, &env, &notes, &err) == -EINVAL);
	check_text(err.text, "DISTINIT_LENIENT='maybe': expected 1 or 0", "a flag that is neither");
}

static void check_labels(void) {
	struct read read;
	struct env env;
	struct notes notes;
	struct err err;
	check(read_variables("DISTINIT_MASTER_PORT=1", "--hosts=a", &read, &env, &notes, &err) == 0);
	check_text(settings_label(&read.settings, OPT_HOSTS), "--hosts", "an option's label");
	check_text(settings_label(&read.settings, OPT_MASTER_PORT), "DISTINIT_MASTER_PORT",
		   "a variable's label");
	check_text(settings_label(&read.settings, OPT_ENV_LINES), "DISTINIT_ENV", "the label of the lines");
}

/** The help has every option that is not hidden, and no line beyond column 80. */
static void check_help(enum command command, const char *has, const char *has_not) {
	struct buf help = BUF(&arena);
	options_write_help(&help, &distinit_options, command, (struct str){0});
	check_part(buf_text(&help), has, "help of %d has", command);
	checkf(!strstr(help.p, has_not), "help of %d has no %s", command, has_not);
	size_t longest = 0;
	struct str rest = buf_str(&help), line;
	while (str_cut(&rest, '\n', &line)) {
		longest = line.len > longest ? line.len : longest;
	}
	checkf(longest <= 80, "help of %d: the longest line has %zu columns", command, longest);
	for (const struct option *o = distinit_options.options; o->commands; o++) {
		if ((o->commands & command) && o->help && o->name) {
			check_part(help.p, arena_format(&arena, "--%s", o->name), "help of %d", command);
		}
	}
}

/** No two options of a command share a name or a letter. */
static void check_table(void) {
	unsigned clashes = 0;
	for (const struct option *a = distinit_options.options; a->commands; a++) {
		for (const struct option *b = distinit_options.options; b < a; b++) {
			bool together = a->commands & b->commands;
			clashes += together && a->name && b->name && strcmp(a->name, b->name) == 0;
			clashes += together && a->letter && a->letter == b->letter;
		}
	}
	checkf(clashes == 0, "no two options of a command are called alike (%u are)", clashes);

	struct buf letters = BUF(&arena), without = BUF(&arena);
	for (const struct option *a = distinit_options.options; a->commands; a++) {
		if (a->letter) {
			buf_putf(&letters, "%c=%s ", a->letter, a->name);
		}
		if (!a->variable && a->takes != TAKES_HEAD) {
			buf_putf(&without, "%s ", a->name);
		}
	}
	check_text(buf_text(&letters), "e=set u=unset x=pass o=output q=quiet v=verbose h=help V=version ",
		   "options with a letter");
	check_text(buf_text(&without),
		   "set add unset prepend append first clean pass set-env unset-env prepend-env append-env "
		   "options-from carried timeout format format all-nodes all output mode show-secrets "
		   "force "
		   "carry-unset as count "
		   "first nth compress dry-run quiet verbose help version ",
		   "options without a variable");
}

int main(void) {
	arena = fixture_arena();
	check_words();
	check_directives();
	check_errors();
	check_all_variables();
	check_labels();
	check_help(CMD_RUN, "--prepend NAME=VALUE", "--prepend-env");
	check_help(CMD_ENV, "--output=FILE", "--show-secrets");
	check_help(CMD_HOSTS, "--nth=N", "--set");
	check_table();
	arena_done(&arena);
	return check_done();
}
