// SPDX-License-Identifier: Apache-2.0

/** --fill: the syntax of placeholders and marks, and the values of a cluster. */

#include "fill/fill.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** @want: "AT NAME NUMBER", with "escaped" behind; "none"; or "refused". */
static void check_find(const char *word, size_t from, const char *want) {
	struct placeholder p = {.name = STR("before")};
	struct err err = {"", 0};
	size_t at = 7;
	bool escaped = false;
	int r = placeholder_find(word, from, &at, &escaped, &p, &err);
	const char *got = r < 0 ? "refused" : "none";
	if (r > 0) {
		got = arena_format(&arena, "%zu %.*s %.*s%s", at, (int)p.name.len, p.name.p,
				   (int)p.number.len, p.number.p, escaped ? " escaped" : "");
	}
	check_text(got, want, "the first placeholder of '%s' from %zu", word, from);
	checkf((r < 0) == (err.text[0] != '\0'), "'%s': says '%s'", word, err.text);
}

static void check_mark(const char *word, int want) {
	enum role role = ROLE_ALL;
	int got = role_mark_read(word, &role) ? 1 + (int)role : 0;
	checkf(got == want, "'%s': got %d", word, got);
}

static void check_syntax(void) {
	check_find("{nnodes}", 0, "0 nnodes ");
	check_find("a{nnodes*8}b", 0, "1 nnodes 8");
	check_find("{hosts:8000}", 0, "0 hosts 8000");
	check_find("{rank}{nnodes}", 6, "6 nnodes ");
	check_find("{X}", 0, "0 X ");
	check_find("{nnodes*X_1}", 0, "0 nnodes X_1");
	check_find("{X_1...}", 0, "0 X_1 ");
	check_find("\\{X...}b", 0, "1 X  escaped");
	check_find("{x...}", 0, "none");
	check_find("{X..}", 0, "none");
	check_find("{X....}", 0, "none");
	check_find("a{X...}", 0, "refused");
	check_find("{X...}{Y}", 0, "refused");
	check_find("{hosts:X}", 0, "none");
	check_find("{rank*X-1}", 0, "refused");
	check_find("{_X_1}", 0, "0 _X_1 ");
	check_find("\\{rank}", 0, "1 rank  escaped");
	check_find("\\\\{rank}", 0, "2 rank  escaped");
	// The backslash belongs to what came before.
	check_find("\\{rank}", 1, "1 rank ");
	check_find("\\{rnak}", 0, "1 rnak  escaped");
	check_find("{{rank}{rank}", 0, "7 rank ");
	check_find("{\"a\":{rank}}", 0, "5 rank ");
	check_find("{}{rank}", 0, "2 rank ");
	check_find("{a{rank}", 0, "2 rank ");
	const char *const text[] = {
		"",	 "{",	       "}",	     "{}",	     "{{}}",	   "{{rank}}", "${rank}",
		"{rank", "rank}",      "{ rank}",    "{rank }",	     "{rank:03d}", "{rank:3}", "{1}",
		"{1A}",	 "{Rank}",     "{a:b}",	     "{a,b}",	     "{nnodes.x}", "{:1}",     "{*1}",
		"{-}",	 "{hosts:>9}", "{unlikely}", "{unlikely*2}", "{rnak:x}",   "{A-B}",    "{a*}"};
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		check_find(text[i], 0, "none");
	}
	const char *const wrong[] = {"{rnak}",	  "{node_rank}", "{host}",  "{host:80}",
				     "{nnode*2}", "{rank*x}",	 "{rank*}", "{hosts*2}",
				     "{rank*-1}", "{master*2}",	 "x{rnak}", "{master-addr:1}"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		check_find(wrong[i], 0, "refused");
	}
	check_mark(":all:", 1);
	check_mark(":master:", 2);
	check_mark(":workers:", 3);
	check_mark(":worker:", 0);
	check_mark(":masters:", 0);
	check_mark("master", 0);
	check_mark(":8000:", 0);
	check_mark("::", 0);
	check_mark("", 0);
}

/** What is filled in @words (with '|' between them) in the environment @text: words, or the error. */
static const char *fill_in(const char *text, const char *words) {
	struct env env;
	struct notes notes = {.arena = &arena};
	struct flow flow;
	struct err err = {"", 0};
	char **out;
	fixture_env(&env, &arena, text, '|');
	flow_init(&flow, &arena, &env, &notes);
	flow.input.hostname = "here";
	if (flow_derive(&flow, &err) < 0) {
		return err.text[0] ? arena_format(&arena, "%s", err.text) : "no reason";
	}
	struct fill fill = {.arena = &arena, .flow = &flow, .stand_in = "192.0.2.9"};
	char **in = fixture_split(&arena, words, '|');
	if (fill_words(&fill, in, &out, &err) < 0) {
		return arena_format(&arena, "%s", err.text);
	}
	struct buf joined = BUF(&arena);
	for (size_t i = 0; out[i]; i++) {
		buf_puts(&joined, i ? "|" : "");
		buf_puts(&joined, out[i]);
	}
	return buf_text(&joined);
}

#define PAIR "BACKENDAI_CLUSTER_SIZE=2|BACKENDAI_CLUSTER_HOSTS=main1,sub1|BACKENDAI_CLUSTER_LOCAL_RANK="
#define MPI  "OMPI_COMM_WORLD_RANK=3|OMPI_COMM_WORLD_SIZE=4|OMPI_COMM_WORLD_LOCAL_RANK="

static void check_fill(const char *env, const char *words, const char *want) {
	check_text(fill_in(env, words), want, "'%s' in '%s'", words, env);
}

static void check_refused(const char *env, const char *words, const char *part) {
	check_part(fill_in(env, words), part, "'%s' in '%s'", words, env);
}

static void check_values(void) {
	check_fill(PAIR "1", "{nnodes}|{node-rank}|{master}|{hosts}|{workers:1}|{node-addr}",
		   "2|1|main1:29500|main1,sub1|sub1:1|192.0.2.9");
	check_fill(PAIR "1|MASTER_ADDR=sub1", "{node-rank}|{hosts}|{workers}", "0|sub1,main1|main1");
	check_fill(PAIR "0|MASTER_ADDR=sub1", "{node-rank}|:master:|m|:workers:|w", "1|w");
	check_fill(MPI "1", "{rank}|{world-size}|{local-rank}", "3|4|1");
	check_refused(MPI "1", "{local-world-size}", "openmpi does not provide it");
	check_refused(MPI "1", "{nnodes}", "pass --hosts or --nnodes");
	check_refused(MPI "1", "{node-addr}", "pass --hosts");
	check_fill("", "{rank}|{nnodes}|{node-addr}|{hosts:1}|", "0|1|127.0.0.1|127.0.0.1:1|");
	check_fill("A={B}|B=b", "{A}{B}|{A}", "{B}b|{B}");
	check_fill(PAIR "1|N=8", "{nnodes*N}|{node-rank*N}", "16|8");
	check_refused(PAIR "1|N=8x", "{nnodes*N}", "the variable N is no number");
	check_refused(PAIR "1|N=", "{nnodes*N}", "the variable N is no number");
	check_refused(PAIR "1", "{nnodes*N}", "the variable N is not set");
	check_refused(PAIR "1|N=2147483648", "{nnodes*N}", "beyond 2^31");
	check_fill("X= a  'b c'\td\"e f\"g\\ h ''", "x|{X...}|y", "x|a|b c|de fg h||y");
	check_fill("X='$Y' {nnodes}", "x|{X...}", "x|$Y|{nnodes}");
	check_fill("X=", "x|{X...}|{Y...}|y", "x|y");
	check_refused("X=", "{X...}", "the command has no word");
	check_refused("X=a 'b", "{X...}", "an open quote");
	check_refused("X=a $b", "{X...}", "no shell expands here");
	check_refused("X=a", "b{X...}", "a word of its own");
	check_fill(PAIR "1|X=a b", ":master:|m|{X...}|:workers:|w", "w");
	check_fill("", "{master-ip}", "127.0.0.1");
	check_fill(PAIR "1", "{master-ip}", "192.0.2.9");
	check_refused(MPI "1", "{master-ipp}", "the nearest is master-ip");
	check_refused("", ":master:|a", "no word for :workers:");
	check_refused("", ":workers:|a", "no word for :master:");
	check_refused("", ":master:|a|:workers:|{rnak}", "the nearest is rank");
	check_fill("", ":master:|a|:workers:|{NOT_SET}", "a");
	check_fill("", "\\:all:|\\:x:", "\\:all:|\\:x:");
}

static void check_forgotten(const char *words, const char *want) {
	check_text(fill_forgotten(fixture_split(&arena, words, '|')), want, "'%s' without --fill", words);
}

int main(void) {
	arena = fixture_arena();
	check_syntax();
	check_values();
	check_forgotten("a|{nnodes}|{rank}|{X}|{master}", NULL);
	check_forgotten("a|x{rank}{node-rank}|b", "x{rank}{node-rank}");
	check_forgotten("a|:workers:", ":workers:");
	check_forgotten("${node-rank}|\\{node-rank}|{{node-rank}}|{node-rnk}|:worker:", NULL);
	arena_done(&arena);
	return check_done();
}
