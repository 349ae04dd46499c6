// SPDX-License-Identifier: Apache-2.0

#include "env/env.h"

#include "base/hash.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

static const struct origin us = {.by = "us"};

/** Do one step: "NAME=VALUE" (set), "-NAME" (unset), "+NAME" (pass) or "!" (clean). */
static void step(struct env *env, const char *text) {
	struct str rest = str_from(str_of(text), 1);
	if (text[0] == '-') {
		env_unset(env, rest, &us);
	} else if (text[0] == '+') {
		env_pass(env, rest);
	} else if (text[0] == '!') {
		env_clean(env, &us);
	} else {
		size_t equals = str_find(str_of(text), '=');
		env_set(env, (struct str){text, equals}, str_of(text + equals + 1), &us);
	}
}

/** Take @steps from @start: lists separated by '|'. */
static void take_steps(struct env *env, const char *start, const char *steps) {
	fixture_env(env, &arena, start, '|');
	for (char **list = fixture_split(&arena, steps, '|'); *list; list++) {
		step(env, *list);
	}
}

/** Check that @steps turn @start into @want. All three are lists separated by '|'. */
static void check_steps(const char *start, const char *steps, const char *want) {
	struct env env;
	take_steps(&env, start, steps);
	check_text(fixture_join(&env, '|'), want, "%s, then %s", start, steps);
}

static void check_get(const char *start, const char *name, const char *want, const char *want_value) {
	struct env env;
	fixture_env(&env, &arena, start, '|');
	check_text(env_get(&env, name), want, "get %s of %s", name, start);
	check_text(env_value(&env, name), want_value, "value of %s in %s", name, start);
}

/** How many entries "pass" brings back, from a cleaned @start. */
static void check_pass(const char *start, const char *name, uint32_t want) {
	struct env env;
	fixture_env(&env, &arena, start, '|');
	check(env_pass(&env, str_of(name)) == 0); // nothing has been put aside
	env_clean(&env, &us);
	uint32_t got = env_pass(&env, str_of(name));
	checkf(got == want, "clean %s, pass %s: %u come", start, name, got);
	check(env_pass(&env, str_of(name)) == 0);
}

static void check_matches(const char *pattern, const char *name, bool want) {
	checkf(env_matches(str_of(pattern), str_of(name)) == want, "'%s' %s '%s'", pattern,
	       want ? "matches" : "does not match", name);
}

/** The names of entries that differ from what was inherited. */
static void check_changed(const char *start, const char *steps, const char *want) {
	struct env env;
	struct buf got = BUF(&arena);
	take_steps(&env, start, steps);
	for (uint32_t i = 0; i < env.n; i++) {
		if (env_entry_changed(&env, &env.entries[i])) {
			buf_putc(&got, ' ');
			buf_put(&got, env_entry_name(&env.entries[i]));
		}
	}
	check_text(buf_text(&got), want, "changed in %s by %s", start, steps);
}

/** The entries of the environment that count, after @steps. Each name that the workload gets is there once. */
static void check_counts(const char *start, const char *steps, const char *want) {
	struct env env;
	struct buf got = BUF(&arena);
	take_steps(&env, start, steps);
	for (uint32_t i = 0; i < env.n; i++) {
		if (env_entry_counts(&env, &env.entries[i])) {
			buf_puts(&got, got.len ? "|" : "");
			buf_puts(&got, env.entries[i].text);
		}
	}
	check_text(buf_text(&got), want, "what counts of %s after %s", start, steps);
}

/**
 * An unchanged entry is the very text that was inherited, wherever it is and whatever it contains.
 */
static void check_untouched(void) {
	static const char *const texts[] = {"A=1", "no equals", "", "=x", "A=2", "B=\xff\n", "C==", "A"};
	char *inherited[9] = {0};
	for (unsigned i = 0; i < 8; i++) {
		inherited[i] = arena_text(&arena, texts[i], strlen(texts[i]));
	}
	struct env env;
	env_init(&env, &arena, inherited);
	char **vector = env_vector(&env);
	unsigned same = 0;
	for (unsigned i = 0; i < 8; i++) {
		same += vector[i] == inherited[i];
	}
	checkf(same == 8 && !vector[8], "%u of 8 entries are passed on as they are", same);
	check_text(env_get(&env, "C"), "=", "a value that is '='");
	check_text(env_get(&env, "A"), "1", "the first of a doubled name");
	check(!env_get(&env, "no equals"));
	check_text(env_entry_value(&env.entries[1]), "", "no value without '='");

	env_set_text(&env, "B=new", 1, &us);
	vector = env_vector(&env);
	check(strcmp(vector[5], "B=new") == 0 && vector[6] == inherited[6] && vector[4] == inherited[4]);
	check(env.entries[5].by == &us && !env.entries[6].by);
}

/**
 * Many more entries than there is room for at first. Each keeps its value, and the first ones their
 * places.
 */
static void check_growth(unsigned count) {
	struct env env;
	fixture_env(&env, &arena, "A=1|B=2", '|');
	for (unsigned i = 0; i < count; i++) {
		const char *name = arena_format(&arena, "N%u", i);
		env_set(&env, str_of(name), str_of(arena_format(&arena, "%u", i * 7)), &us);
	}
	env_set(&env, STR("A"), STR("3"), &us);
	unsigned wrong = 0;
	for (unsigned i = 0; i < count; i++) {
		const char *got = env_get(&env, arena_format(&arena, "N%u", i));
		wrong += !got || strcmp(got, arena_format(&arena, "%u", i * 7)) != 0;
	}
	check_text(env_get(&env, "A"), "3", "of %u added: an inherited one can be set", count);
	check_text(env_get(&env, "B"), "2", "of %u added: an inherited one is found", count);
	checkf(wrong == 0 && env.n == count + 2, "of %u added, %u are wrong", count, wrong);
	check(!env_get(&env, "N") && !env_get(&env, arena_format(&arena, "N%u", count)));
	env_unset(&env, STR("N*"), &us);
	check_text(fixture_join(&env, '|'), "A=3|B=2", "of %u added: all removed", count);
}

/** A large environment, with every third name repeated at its end. */
static void check_large(void) {
	struct buf buf = BUF(&arena);
	for (unsigned i = 0; i < 3000; i++) {
		buf_putf(&buf, "%sV%u=%u", i ? "|" : "", i, i);
	}
	for (unsigned i = 0; i < 3000; i += 3) {
		buf_putf(&buf, "|V%u=double", i);
	}
	struct env env;
	fixture_env(&env, &arena, buf_text(&buf), '|');
	unsigned wrong = 0;
	for (unsigned i = 0; i < 3000; i++) {
		const char *got = env_get(&env, arena_format(&arena, "V%u", i));
		wrong += !got || strcmp(got, arena_format(&arena, "%u", i)) != 0;
	}
	checkf(wrong == 0, "of 3000 variables the first is found (%u are not)", wrong);
	env_unset(&env, STR("V0"), &us);
	env_set(&env, STR("V3"), STR("x"), &us);
	check(!env_get(&env, "V0"));
	unsigned left = 0;
	for (char **v = env_vector(&env); *v; v++) {
		left += strncmp(*v, "V0=", 3) == 0;
		left += strncmp(*v, "V3=", 3) == 0 ? 10 : 0;
	}
	checkf(left == 10, "none of two removed, one of two set (%u)", left);
}

static void check_slices(void) {
	struct env env;
	fixture_env(&env, &arena, "AB=1|ABC=2", '|');
	check_text(env_find(&env, (struct str){"ABCD", 2}), "1", "a name that is a slice");
	check_text(env_find(&env, (struct str){"ABCD", 3}), "2", "a longer slice");
	check(!env_find(&env, (struct str){"ABCD", 4}));
	env_set(&env, (struct str){"NEWxx", 3}, (struct str){"valuexx", 5}, &us);
	check_text(env_get(&env, "NEW"), "value", "set from slices");
	env_set(&env, STR("EMPTY"), (struct str){NULL, 0}, &us);
	check_text(env_get(&env, "EMPTY"), "", "set to nothing");
}

int main(void) {
	arena = fixture_arena();

	const uint64_t told = hash_key;
	check_get("A=1|B=2", "A", "1", "1");
	checkf(hash_key != told, "names are hashed with a key that anybody can read in the source");
	check_get("A=1|B=2", "B", "2", "2");
	check_get("A=1", "a", NULL, NULL);
	check_get("A=1|AB=2", "AB", "2", "2");
	check_get("AB=2", "A", NULL, NULL);
	check_get("A=", "A", "", NULL);
	check_get("A=|A=2", "A", "", NULL);
	check_get("A=1|A=2", "A", "1", "1");
	check_get("A", "A", NULL, NULL);
	check_get("A|A=1", "A", "1", "1");
	check_get("A==", "A", "=", "=");
	check_get("", "A", NULL, NULL);

	check_steps("A=1|B=2", "", "A=1|B=2");
	check_steps("A=1|B=2", "A=3", "A=3|B=2");
	check_steps("A=1|B=2", "C=3", "A=1|B=2|C=3");
	check_steps("A=1", "A=", "A=");
	check_steps("A=1", "A=x=y", "A=x=y");
	check_steps("A=1", "A=2|A=3", "A=3");
	check_steps("", "A=1|A=2", "A=2");
	check_steps("A=1|B=2|A=3", "A=4", "A=4|B=2"); // a double goes
	check_steps("A=1|A=2|A=3", "A=4", "A=4");
	check_steps("A=1|B=2|A=3", "B=4", "A=1|B=4|A=3"); // one that is not meant stays
	check_steps("A|A=1|B", "A=2", "A|A=2|B");	  // an entry without '=' has no name
	check_steps("=x|A=1", "A=2", "=x|A=2");

	check_steps("A=1|B=2", "-A", "B=2");
	check_steps("A=1|B=2|A=3", "-A", "B=2");
	check_steps("A=1", "-B", "A=1");
	check_steps("A=1|AB=2", "-A", "AB=2");
	check_steps("A=1|AB=2|BA=3", "-A*", "BA=3");
	check_steps("A1=1|A2=2|B=3|A3=4", "-A*", "B=3");
	check_steps("A=1", "-AB*", "A=1");
	check_steps("A=1|B=2", "-*", "");
	check_steps("A|A=1", "-A", "A");
	check_steps("A|A=1", "-A*", "A");
	check_steps("A*=1|AB=2", "-A*", "");
	check_steps("A=1", "-A|A=2", "A=2");
	check_steps("A=1|B=2", "-A|A=3|-A", "B=2");
	check_steps("A=1|B=2", "-A|A=3", "B=2|A=3"); // it comes back at the end

	check_steps("A=1|B=2", "!", "");
	check_steps("A=1|B=2", "!|+A", "A=1");
	check_steps("A=1|B=2", "!|+B|+A", "A=1|B=2"); // in their old places
	check_steps("A=1|AB=2|B=3", "!|+A*", "A=1|AB=2");
	check_steps("A=1|B=2", "!|+*", "A=1|B=2");
	check_steps("A=1|B=2", "+A", "A=1|B=2");
	check_steps("A=1|A=2|B=3", "!|+A", "A=1|A=2");
	check_steps("A=1", "!|A=2", "A=2");
	check_steps("A=1", "!|A=2|+A", "A=2"); // what is set for good is not undone
	check_steps("A=1", "A=2|!|+A", "A=2");
	check_steps("A=1", "-A|!|+A", "");
	check_steps("A=1", "!|-A|+A", ""); // removed also from what was put aside
	check_steps("A=1|AB=2", "!|-A*|+*", "");
	check_steps("A=1", "!|!|+A", "A=1");
	check_steps("A=1|B=2", "!|+A|!|+B", "B=2");
	check_steps("A=1|no equals", "!", "");
	check_steps("A=1|no equals", "!|+*", "A=1");
	check_steps("A=1", "C=3|!|+C", "C=3");

	check_pass("A=1|A=2|B=3", "A", 2);
	check_pass("A=1|A=2|B=3", "B", 1);
	check_pass("A=1|A=2|B=3", "*", 3);
	check_pass("A=1|B", "B", 0);
	check_pass("A=1", "", 0);

	check_matches("A", "A", true);
	check_matches("A", "AB", false);
	check_matches("AB", "A", false);
	check_matches("A*", "A", true);
	check_matches("A*", "AB", true);
	check_matches("A*", "BA", false);
	check_matches("*", "", true);
	check_matches("*", "A", true);
	check_matches("", "", true);
	check_matches("", "A", false);
	check_matches("A*B", "AxB", false); // only a final star is one
	check_matches("A**", "A*", true);
	check_matches("A**", "AB", false);

	check_changed("A=1|B=2", "A=1", "");
	check_changed("A=1|B=2", "A=2", " A");
	check_changed("A=1", "B=1", " B");
	check_changed("A=1", "-A", "");
	check_changed("A=1", "-A|A=1", " A"); // it stands elsewhere
	check_changed("A=1|A=1", "A=1", "");
	check_changed("A=1", "!|+A", "");
	check_changed("A=1", "A=2|!|+A", " A");
	check_changed("", "A=1|-A", "");

	check_counts("A=1|B=2|A=3", "C=4", "A=1|B=2|C=4");
	check_counts("NCCL_DEBUG=INFO|PATH=/bin", "!|+PATH|NCCL_DEBUG=WARN", "PATH=/bin|NCCL_DEBUG=WARN");
	check_counts("A=1|B=2", "-A|A=3", "B=2|A=3");
	check_counts("A=1|A=2", "-A", "");
	check_counts("A|B=1", "C=2", "B=1|C=2"); // no variable
	check_untouched();
	check_growth(10);
	check_growth(24);
	check_growth(25);
	check_growth(5000);
	check_large();
	check_slices();

	arena_done(&arena);
	return check_done();
}
