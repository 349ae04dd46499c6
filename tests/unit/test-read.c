// SPDX-License-Identifier: Apache-2.0

#include "source/read.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** @row as a text: the fields in their order, "field[separator]?=variables", then the words. */
static const char *text_of(const struct source_row *row) {
	struct buf out = BUF(&arena);
	for (unsigned i = 0; i < ROW_FIELDS; i++) {
		if (row->variables[i]) {
			buf_puts(&out, out.len ? " " : "");
			buf_puts(&out, row_field_names[i]);
			if (i == ROW_HOSTS && row->separator) {
				buf_putf(&out, "[\\x%02x]", (unsigned)row->separator);
			}
			buf_putf(&out, "%s=%s", row->optional & ROW_BIT(i) ? "?" : "", row->variables[i]);
		}
	}
	buf_putf(&out, "%s%s", row->slots ? " slots" : "", row->batch ? " batch" : "");
	return buf_text(&out);
}

static void check_read(const char *text, const char *want) {
	struct source_row row = {0};
	struct err err = {""};
	int r = read_parse(&arena, "--read", text, &row, &err);
	check_text(r < 0 ? err.text : text_of(&row), want, "'%s'", text);
}

static void check_wrong(const char *text, const char *want) {
	const struct source_row before = {.separator = '!'};
	struct source_row row = before;
	struct err err = {"no error"};
	int r = read_parse(&arena, "DISTINIT_READ", text, &row, &err);
	checkf(r == -EINVAL && memcmp(&row, &before, sizeof(row)) == 0, "wrong '%s': %d", text, r);
	check_part(err.text, want, "wrong '%s' says", text);
	check_part(err.text, "DISTINIT_READ", "wrong '%s' says where", text);
}

int main(void) {
	arena = fixture_arena();

	check_read("hosts=A", "hosts=A");
	check_read(" \n hosts=A\tnode-rank=B_2\r\n", "hosts=A node-rank=B_2");
	check_read("job=G nproc-per-node=F master-port=E master-addr=D node-rank=C nnodes=B hostfile=A",
		   "hostfile=A nnodes=B node-rank=C master-addr=D master-port=E nproc-per-node=F job=G");
	check_read("hosts=A job?=J nnodes?=N", "hosts=A nnodes?=N job?=J");
	check_read("hosts=A|B|C", "hosts=A|B|C");
	check_read("hosts={JOB}-{i}.{DOMAIN} nnodes=N", "hosts={JOB}-{i}.{DOMAIN} nnodes=N");
	check_read("hosts=w-{i} nnodes=N", "hosts=w-{i} nnodes=N");
	check_read("hosts[;]=A", "hosts[\\x3b]=A");
	check_read("hosts[ ]=A nnodes=N", "hosts[\\x20]=A nnodes=N");
	check_read("hosts[\n]=A", "hosts[\\x0a]=A");
	check_read("hosts[\\n]=A", "hosts[\\x0a]=A");
	check_read("hosts[\\t]?=A nnodes=B", "hosts[\\x09]?=A nnodes=B");
	check_read("hosts[=]=A", "hosts[\\x3d]=A");
	check_read("hosts[?]=A", "hosts[\\x3f]=A");
	check_read("slots hosts=A batch", "hosts=A slots batch");

	check_wrong("", "one of hosts, hostfile, nnodes and master-addr is expected");
	check_wrong("job=J node-rank=R", "one of hosts, hostfile, nnodes and master-addr is expected");
	check_wrong("host=A", "there is no field 'host'; did you mean 'hosts'?");
	check_wrong("=A", "there is no field ''");
	check_wrong("node_rank=A", "did you mean 'node-rank'?");
	check_wrong("hosts=A slot", "there is no field 'slot'");
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
	check_wrong("hosts?\?=A", "FIELD=VARIABLE is expected");
	check_wrong("hosts=A nnodes[;]=N", "'nnodes[;]=N': FIELD=VARIABLE is expected");
	check_wrong("hosts=A nnodes={N}", "'nnodes={N}': FIELD=VARIABLE is expected");
	check_wrong("hosts=A-B", "'hosts=A-B': FIELD=VARIABLE is expected");

	arena_done(&arena);
	return check_done();
}
