// SPDX-License-Identifier: Apache-2.0

/** The language of rows and of --read, and every row of the table. */

#include "source/row.h"

#include "check.h"
#include "fixture.h"
#include "flow/tables.h"

#include <errno.h>

static struct arena arena;

/** What is written in @text, word by word: "hosts[\x3b]?!=A:P". */
static const char *words_of(const char *text) {
	struct buf out = BUF(&arena);
	struct row_word word;
	while (row_next(&text, &word)) {
		buf_puts(&out, out.len ? " " : "");
		buf_puts(&out, word.field < ROW_FIELDS ? row_field_names[word.field] : "?");
		if (word.separator) {
			buf_putf(&out, "[\\x%02x]", (unsigned)word.separator);
		}
		buf_putf(&out, "%s%s%s", word.optional ? "?" : "", word.known_by ? "!" : "",
			 word.is_number ? "#" : "");
		buf_putf(&out, "%s%.*s", word.variables.p ? "=" : "", (int)word.variables.len,
			 word.variables.p ? word.variables.p : "");
		buf_putf(&out, "%s%.*s", word.pattern.len ? ":" : "", (int)word.pattern.len,
			 word.pattern.len ? word.pattern.p : "");
	}
	return buf_text(&out);
}

static void check_words(const char *text, const char *want) {
	struct err err = {""};
	check_text(words_of(text), want, "words of '%s'", text);
	int r = row_check("--read", text, &err);
	checkf(r == 0, "'%s' is fine: %s", text, err.text);
}

static void check_wrong(const char *text, const char *want) {
	struct err err = {"no error"};
	int r = row_check("DISTINIT_READ", text, &err);
	checkf(r == -EINVAL, "wrong '%s': %d", text, r);
	check_part(err.text, want, "wrong '%s' says", text);
	check_part(err.text, "DISTINIT_READ", "wrong '%s' says where", text);
}

static void check_language(void) {
	check_words("hosts=A", "hosts=A");
	check_words(" \n hosts=A\tnode-rank=B_2\r\n", "hosts=A node-rank=B_2");
	check_words("job=G nproc-per-node=F master-port=E master-addr=D node-rank=C nnodes=B hostfile=A",
		    "job=G nproc-per-node=F master-port=E master-addr=D node-rank=C nnodes=B hostfile=A");
	check_words("hosts=A job?=J nnodes?=N", "hosts=A job?=J nnodes?=N");
	check_words("hosts=A|B|C", "hosts=A|B|C");
	check_words("hosts={JOB}-{i}.{DOMAIN} nnodes=N", "hosts={JOB}-{i}.{DOMAIN} nnodes=N");
	check_words("hosts=w-{i} nnodes={N_{J}}", "hosts=w-{i} nnodes={N_{J}}");
	check_words("hosts[;]=A", "hosts[\\x3b]=A");
	check_words("hosts[ ]=A nnodes=N", "hosts[\\x20]=A nnodes=N");
	check_words("hosts[\n]=A", "hosts[\\x0a]=A");
	check_words("hosts[\\n]=A", "hosts[\\x0a]=A");
	check_words("hosts[\\t]?=A nnodes=B", "hosts[\\x09]?=A nnodes=B");
	check_words("hosts[=]=A", "hosts[\\x3d]=A");
	check_words("hosts[?]=A", "hosts[\\x3f]=A");
	check_words("slots hosts=A batch shared", "slots hosts=A batch shared");
	check_words("hosts!=A nnodes#=N node-rank?!=R", "hosts!=A nnodes!#=N node-rank?!=R");
	check_words("hosts=A with=B:b* without=C with?=D:d|e", "hosts=A with!=B:b* without!=C with?!=D:d|e");
	check_words("nnodes?=A:1 node-rank=B+1|C", "nnodes?=A:1 node-rank=B+1|C");
	check_words("nnodes=A/B", "nnodes=A/B");
}

static void check_errors(void) {
	check_wrong("", "one of hosts, hostfile, nnodes and master-addr is expected");
	check_wrong("job=J node-rank=R", "one of hosts, hostfile, nnodes and master-addr is expected");
	check_wrong("host=A", "there is no field 'host'; did you mean 'hosts'?");
	check_wrong("=A", "there is no field ''");
	check_wrong("node_rank=A", "did you mean 'node-rank'?");
	check_wrong("hosts=A slot", "there is no field 'slot'");
	check_wrong("hosts=A slots=B", "there is no field 'slots'");
	check_wrong("hosts=A hosts=B", "the field hosts is given twice");
	check_wrong("hosts=A hosts?=B", "the field hosts is given twice");
	check_wrong("hosts=A hostfile=B", "hosts and hostfile contradict each other");
	check_wrong("hosts", "'hosts': FIELD=VARIABLE is expected");
	check_wrong("hosts=", "'hosts=': FIELD=VARIABLE is expected");
	check_wrong("hosts= A", "'hosts=': FIELD=VARIABLE is expected");
	check_wrong("hosts=$A", "'hosts=$A': FIELD=VARIABLE is expected");
	check_wrong("hosts=1A", "'hosts=1A': FIELD=VARIABLE is expected");
	check_wrong("hosts=A,nnodes=B", "FIELD=VARIABLE is expected");
	check_wrong("hosts[]=A", "FIELD=VARIABLE is expected");
	check_wrong("hosts[;=A", "FIELD=VARIABLE is expected");
	check_wrong("hosts[ab]=A", "FIELD=VARIABLE is expected");
	check_wrong("hosts[", "FIELD=VARIABLE is expected");
	check_wrong("hosts=A nnodes[;]=N", "'nnodes[;]=N': FIELD=VARIABLE is expected");
	check_wrong("hosts=A-B", "'hosts=A-B': FIELD=VARIABLE is expected");
	check_wrong("hosts=A:b", "'hosts=A:b': FIELD=VARIABLE is expected");
}

static struct input input_of(struct env *env, struct notes *notes, const char *variables) {
	fixture_env(env, &arena, variables, ' ');
	*notes = (struct notes){.arena = &arena};
	return (struct input){.arena = &arena,
			      .env = env,
			      .notes = notes,
			      .access = &fixture_access,
			      .hostname = "me-1.svc"};
}

static void check_value(const char *variables, const char *text, uint32_t i, const char *want) {
	struct env env;
	struct notes notes;
	struct input in = input_of(&env, &notes, variables);
	struct row_value found = row_value(&in, str_of(text), i);
	const char *have = arena_format(&arena, "%s=%s%s", found.name, found.value ? found.value : "-",
					found.plus ? "+1" : "");
	check_text(have, want, "%s in '%s', node %u", text, variables, i);
}

static void check_values(void) {
	check_value("A=1 B=2", "A", 0, "A=1");
	check_value("A=1 B=2", "C|B|A", 0, "B=2");
	check_value("A= B=2", "A|B", 0, "B=2");
	check_value("A=1", "B|C", 0, "B|C=-");
	check_value("A=1", "B|A+1", 0, "A=1+1");
	check_value("J=job D=svc", "{J}-{i}.{D}", 3, "J with D=job-3.svc");
	check_value("J=job", "{K|J}-{i}", 0, "J=job-0");
	check_value("J=job", "{J}-{i}.{D}", 0, "D=-");
	check_value("H=h0,h1 M=m", "{M},{H}", 0, "M with H=m,h0,h1");
	check_value("R=w IP_w_0=a IP_w_1=b", "{IP_{R}_{i}}", 1, "IP_w_1=b");
	check_value("R=w IP_w_0=a", "{IP_{R}_{i}}", 1, "IP_w_1=-");
	check_value("IP_w_0=a", "{IP_{R}_{i}}", 0, "R=-");
	check_value("A=job-worker-0.svc:1", "{A#i}", 12, "A=job-worker-12.svc");
	check_value("A=job", "{A#i}", 0, "A=-");
	check_value("", "{hostname}", 0, "{hostname}=me-1.svc");
	check_value("A=1", "{A", 0, "A=1");
}

static void check_holds(const char *variables, const char *text, const char *want) {
	struct env env;
	struct notes notes;
	struct input in = input_of(&env, &notes, variables);
	const char *by = row_detect(&in, text);
	check_text(by ? by : "-", want, "'%s' for '%s'", variables, text);
}

static void check_conditions(void) {
	check_holds("A=1 B=2", "hosts!=A nnodes=B", "A");
	check_holds("B=2", "hosts!=A nnodes=B", "-");
	check_holds("A=", "hosts!=A", "-");
	check_holds("ABD=2", "hosts!=ABC|ABD", "ABD");
	check_holds("A=1", "hosts!=A nnodes!=B", "-");
	check_holds("A=1 B=x", "hosts!=A nnodes#=B", "-");
	check_holds("A=1 B=3", "hosts!=A nnodes#=B", "A");
	check_holds("A=1 B=3", "hosts!=A without=B", "-");
	check_holds("A=1", "hosts!=A without=B|C", "A");
	check_holds("A=1 B=1:2", "hosts!=A without=B:*:*", "-");
	check_holds("A=1 B=2", "hosts!=A without=B:*:*", "A");
	check_holds("AA=job-master-0.svc", "with=AA:*-master-0", "AA");
	check_holds("AA=job-master-01.svc", "with=AA:*-master-0", "-");
	check_holds("AA=0,1,2", "with=AA:0,1*", "AA");
	check_holds("AA=0", "with=AA:0,1*", "-");
	check_holds("AA=WORKER", "with=AA:worker|WORKER", "AA");
	check_holds("A=1 B=ps", "with=A with?=B:worker", "-");
	check_holds("A=1", "with=A with?=B:worker", "A");
	check_holds("A=1 B=2 C=2", "with=A with?=B:{C}", "A");
	check_holds("A=1 B=3 C=2", "with=A with?=B:{C}", "-");
	check_holds("A=1 J=me", "with=A with={hostname}:{J}-*", "A");
	check_holds("A=1 J=you", "with=A with={hostname}:{J}-*", "-");
	check_holds("A=1", "with=A with={hostname}:{J}-*", "-");
}

/**
 * What row_read() makes of @variables: "hosts nnodes node_rank master port nproc job", or its
 * error.
 */
static void check_read(const char *variables, const char *text, const char *want) {
	struct env env;
	struct notes notes;
	struct input in = input_of(&env, &notes, variables);
	struct placement place = {.nnodes = UNKNOWN, .node_rank = UNKNOWN, .nproc_per_node = UNKNOWN};
	struct err err = {""};
	struct buf out = BUF(&arena);
	if (row_read(&in, text, "BY", &place, &err) < 0) {
		check_text(err.text, want, "'%s' of '%s'", text, variables);
		return;
	}
	for (uint32_t i = 0; i < place.hosts.n; i++) {
		buf_puts(&out, i ? "," : "");
		buf_put(&out, hosts_at(&place.hosts, i));
	}
	buf_putf(&out, " %d %d %.*s %u %d %s", (int)place.nnodes, (int)place.node_rank,
		 (int)place.master_addr.len, place.master_addr.len ? place.master_addr.p : "", place.port,
		 (int)place.nproc_per_node, place.job_id ? place.job_id : "-");
	check_text(buf_text(&out), want, "'%s' of '%s'", text, variables);
}

static void check_reading(void) {
	check_read("H=a,b R=1", "hosts=H node-rank=R", "a,b -1 1  0 -1 -");
	check_read("H=a;b N=2 R=0 J=7", "hosts[;]=H nnodes=N node-rank=R job=J", "a,b -1 0  0 -1 7");
	check_read("H=a,b N=3 R=0", "hosts=H nnodes=N node-rank=R",
		   "N=3, but H lists 2; both are the manager's: if one was set by hand, remove it; --hosts "
		   "replaces both");
	check_read("H=a:8,b:8 R=0", "hosts=H node-rank=R slots", "a,b -1 0  0 8 -");
	check_read("H=me-0,me-1", "hosts=H", "me-0,me-1 -1 1  0 -1 -");
	check_read("N=2 R=1 M=m", "nnodes=N node-rank=R master-addr=M", " 2 1 m 0 -1 -");
	check_read("N=2 R=1 M=m:70", "nnodes=N node-rank=R master-addr=M", " 2 1 m 70 -1 -");
	check_read("N=0", "nnodes=N", "N=0: a number of nodes from 1 to 1048576 is expected");
	check_read("N=two", "nnodes=N", "N='two' is not a whole number");
	check_read(
		"N=2", "nnodes=N node-rank=R",
		"N is set, but R is not; the manager sets both: pass both to this process, or pass --hosts");
	check_read(
		"H=a", "hosts=H nnodes=N",
		"BY is set, but N is not; the manager sets both: pass both to this process, or pass --hosts");
	check_read("N=2", "nnodes=N node-rank?=R", " 2 -1  0 -1 -");
	check_read("N=8", "nnodes?=N:1", " -1 -1  0 -1 -");
	check_read("N=1", "nnodes?=N:1", " 1 -1  0 -1 -");
	check_read("N=3 R=1", "nnodes=N node-rank=X|R+1", " 3 2  0 -1 -");
	check_read("N=3 R=2", "nnodes=N node-rank=R+1",
		   "R=2 counts from the second node, but N=3 has no such node" MANAGERS_COUNT);
	check_read("W=16 L=8", "nnodes=W/L", " 2 -1  0 -1 -");
	check_read("W=15 L=8", "nnodes=W/L", "W=15 is not a multiple of L=8" MANAGERS_COUNT);
	check_read(
		"W=15", "nnodes=W/L",
		"BY is set, but L is not; the manager sets both: pass both to this process, or pass --hosts");
	check_read("N=2 P=9", "nnodes=N master-port=P", " 2 -1  9 -1 -");
	check_read("N=2 P=9,10", "nnodes=N master-port=P", " 2 -1  9 -1 -");
	check_read("N=2 P=h:9", "nnodes=N master-port=P", " 2 -1  9 -1 -");
	check_read("N=2 P=x", "nnodes=N master-port=P", "P='x' is not a port (1 to 65535)");
	check_read("N=2 G=4", "nnodes=N nproc-per-node=G", " 2 -1  0 4 -");
	check_read("N=2 G=auto", "nnodes=N nproc-per-node=G", " 2 -1  0 -1 -");
	check_read("N=2 R=1 J=j", "hosts={J}-{i} nnodes=N node-rank=R", "j-0,j-1 -1 1  0 -1 -");
	check_read("N=2 R=2 J=j", "hosts={J}-{i} nnodes=N node-rank=R", "R=2 is not below N=2" ONE_IS_STALE);
	check_read("R=1 J=j", "hosts={J}-{i} node-rank=R", " -1 1 j-0 0 -1 -");
	check_read(
		"N=2 R=1", "hosts={J}-{i} nnodes=N node-rank=R",
		"N is set, but J is not; the manager sets both: pass both to this process, or pass --hosts");
	check_read("N=2 R=1", "hosts?={J}-{i} nnodes=N node-rank=R", " 2 1  0 -1 -");
	check_read("M=m H=a,b N=3 R=2", "hosts={M},{H} nnodes=N node-rank=R", "m,a,b -1 2  0 -1 -");
	check_read("M=m H=a N=3", "hosts={M},{H} nnodes=N",
		   "N=3, but M with H lists 2; both are the manager's: if one was set by hand, remove it; "
		   "--hosts replaces both");
	check_read("H=a,b M=a R=0", "hosts=H master-addr=M node-rank=R", "a,b -1 0  0 -1 -");
	check_read("H=a,b M=b R=0", "hosts=H master-addr=M node-rank=R",
		   "M='b', but the first of H is 'a'; pass --hosts");
}

/** The rows of the table are right: no run checks them. */
static void check_table(void) {
	for (size_t i = 0; sources[i]; i++) {
		const char *name = sources[i]->name, *text = sources[i]->row;
		struct row_word word;
		struct err err = {""};
		if (!text) {
			checkf(sources[i]->detect && sources[i]->read && sources[i]->reads &&
				       sources[i]->known_by,
			       "%s has all that a row would have", name);
			continue;
		}
		// A row that describes no cluster alone is fine: the user gives the rest.
		const char *whole =
			arena_format(&arena, "%s%s", text, strstr(text, "nnodes") ? "" : " nnodes=X");
		checkf(row_check(name, whole, &err) == 0, "%s: the row is right: %s", name, err.text);
		if (sources[i]->detect) {
			continue;
		}
		row_next(&text, &word);
		size_t names = strspn(word.variables.p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_|");
		checkf(word.known_by && word.field != ROW_WITHOUT && !word.optional &&
			       names == word.variables.len,
		       "%s: the first word is a condition, of names", name);
	}
}

/** The rows of launchers have conditions only. */
static void check_launchers(void) {
	for (size_t i = 0; launchers[i]; i++) {
		struct row_word word;
		for (const char *rest = launchers[i]->row; rest && row_next(&rest, &word);) {
			checkf((word.field == ROW_WITH || word.field == ROW_WITHOUT) && word.variables.len,
			       "%s: a condition, of a variable", launchers[i]->name);
		}
	}
}

int main(void) {
	arena = fixture_arena();
	check_language();
	check_errors();
	check_values();
	check_conditions();
	check_reading();
	check_table();
	check_launchers();

	const char *row = "hosts!=A|B nnodes#=N_{J} with?=W:x without=V|U job=J";
	check_text(row_known_by(&arena, row),
		   "A or B and N_{J} (a number) and W of the form x (or not set) without V or U", "known by");
	struct buf names = BUF(&arena);
	for (const char *const *name =
		     row_reads(&arena, "hosts={AB|CD}-{i}.{EF_{GH}_{i}} nnodes=IJ/KL "
				       "node-rank=MN+1 with={hostname}:{AB}-x master-addr={OP#i} _Q=_RS");
	     *name; name++) {
		buf_putf(&names, "%s ", *name);
	}
	check_text(buf_text(&names), "AB CD EF_* GH IJ KL MN OP _RS ", "reads");

	arena_done(&arena);
	return check_done();
}
