// SPDX-License-Identifier: Apache-2.0

/** Which nodes differ, and in what: who is asked, what is found, and the sentence about it. */

#include "rollcall/compare.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

#define MEMBERS_MAX 10000

static struct arena arena;

/** Members whose facts of one group are texts: "A=1|B=2". */
struct room {
	struct compare compare;
	struct compare_member members[MEMBERS_MAX];
	const char *facts[MEMBERS_MAX];
	enum fact_group group;
};

static struct room room;

static void begin(enum fact_group group) {
	room.compare = (struct compare){.arena = &arena, .members = room.members};
	room.group = group;
}

/** A digest: equal facts have the same. */
static uint64_t digest_of(const char *facts) {
	uint64_t digest = 14695981039346656037u;
	for (; *facts; facts++) {
		digest = (digest ^ (unsigned char)*facts) * 1099511628211u;
	}
	return digest;
}

/** Add @n members with these facts, called "n0", "n1", ... by their ranks, unless @host is given. */
static void add(uint32_t n, const char *facts, const char *host) {
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = room.compare.n++;
		room.members[rank] = (struct compare_member){.rank = rank};
		room.members[rank].host = str_of(host ? host : arena_format(&arena, "n%u", rank));
		room.members[rank].digest[room.group] = digest_of(facts);
		room.facts[rank] = facts;
	}
}

/** FACTS with @facts, as the protocol has it. */
static struct str encode(enum fact_group group, const char *facts) {
	struct buf out = BUF(&arena);
	char **list = fixture_split(&arena, facts, '|');
	uint32_t n = 0;
	while (list[n]) {
		n++;
	}
	buf_putc(&out, (char)group);
	buf_putc(&out, (char)n);
	buf_putc(&out, 0);
	for (; *list; list++) {
		struct str name = {*list, str_find(str_of(*list), '=')};
		struct str value = str_of(*list + name.len + 1);
		buf_putc(&out, (char)name.len);
		buf_put(&out, name);
		buf_putc(&out, (char)value.len);
		buf_putc(&out, 0);
		buf_put(&out, value);
	}
	return buf_str(&out);
}

static struct difference *compare(struct compare_parties *parties) {
	struct str payloads[COMPARE_PARTIES];
	struct difference *list = NULL;
	uint32_t bad;
	compare_choose_speakers(&room.compare, room.group, parties);
	for (uint32_t i = 0; i < parties->n; i++) {
		payloads[i] = encode(room.group, room.facts[parties->speaker[i]]);
	}
	check(compare_group(&room.compare, room.group, parties, payloads, &list, &bad) == 0);
	return list;
}

/** All sentences, joined by " | ". */
static const char *sentences(void) {
	struct buf out = BUF(&arena);
	struct compare_parties parties;
	for (struct difference *d = compare(&parties); d; d = d->next) {
		buf_puts(&out, out.len ? " | " : "");
		difference_text(&room.compare, d, &out);
	}
	return buf_text(&out);
}

static const char *objects(void) {
	struct buf out = BUF(&arena);
	struct json json = {.out = &out};
	struct compare_parties parties;
	for (struct difference *d = compare(&parties); d; d = d->next) {
		difference_json(&room.compare, d, false, &json);
	}
	return buf_text(&out);
}

/** The speakers, joined by ',', and how many are not asked. */
static const char *whom(void) {
	struct buf out = BUF(&arena);
	struct compare_parties parties;
	compare_choose_speakers(&room.compare, room.group, &parties);
	for (uint32_t i = 0; i < parties.n; i++) {
		buf_putf(&out, "%s%u", i ? "," : "", parties.speaker[i]);
	}
	buf_putf(&out, "+%u", parties.unasked);
	return buf_text(&out);
}

static void test_whom(void) {
	begin(FACTS_ENV);
	add(1, "A=1", NULL);
	check_text(whom(), "0+0", "one member");
	add(63, "A=1", NULL);
	check_text(whom(), "0+0", "all agree: nobody is asked");
	begin(FACTS_ENV);
	add(1, "A=1", NULL);
	add(1, "A=2", NULL);
	check_text(whom(), "0,1+0", "two of two");
	room.compare.own = 1;
	check_text(whom(), "1,0+0", "at a tie, the coordinator's party is first");
	begin(FACTS_ENV);
	add(3, "A=1", NULL);
	add(5, "A=2", NULL);
	room.compare.own = 1;
	check_text(whom(), "3,1+0", "the largest first; the coordinator speaks for its own");
	begin(FACTS_ENV);
	for (int i = 0; i < 64; i++) {
		add(1, arena_format(&arena, "A=%d", i), NULL);
	}
	room.compare.own = 63;
	check_text(whom(), "63,0,1,2+60", "at most four are asked");
	add(2, "A=x", NULL);
	check_text(whom(), "64,63,0,1+61", "a party that comes last");
}

static void test_large(void) {
	begin(FACTS_ENV);
	for (int i = 0; i < MEMBERS_MAX / 2; i++) {
		add(1, arena_format(&arena, "A=%d", i), NULL);
	}
	add(MEMBERS_MAX / 2, "A=x", NULL);
	check_text(whom(), "5000,0,1,2+4997", "10,000 members, half of them alone");
}

static void test_values(void) {
	begin(FACTS_DEVICES);
	add(62, "gpus=8|mtu=1500", NULL);
	add(1, "gpus=7|mtu=1500", NULL);
	add(1, "gpus=8|mtu=9000", NULL);
	check_text(sentences(), "gpus=8 on 63 nodes, 7 on n62 | mtu=1500 on 63 nodes, 9000 on n63",
		   "parties with the same value count together");
	room.compare.tasks = true;
	check_text(sentences(), "gpus=8 on 63 tasks, 7 on n62 | mtu=1500 on 63 tasks, 9000 on n63", "tasks");

	begin(FACTS_ENV);
	add(1, "A=1", NULL);
	add(1, "B=1", NULL);
	check_text(sentences(), "A=1 on n0, not set on n1 | B not set on n0, 1 on n1", "not set");
	room.compare.own = 1;
	check_text(sentences(), "B=1 on n1, not set on n0 | A not set on n1, 1 on n0",
		   "at a tie, the coordinator is right");

	begin(FACTS_ENV);
	add(2, "A=1|B=1", NULL);
	add(1, "A=2|B=1", NULL);
	add(1, "A=2|B=2", NULL);
	room.compare.own = 3;
	check_text(sentences(), "A=2 on 2 nodes, 1 on n[0-1] | B=1 on 3 nodes, 2 on n3",
		   "a tie that values make, not parties");

	begin(FACTS_ENV);
	add(3, "A=a b", NULL);
	add(1, "A=", NULL);
	add(1, "A=1,2", NULL);
	add(1, "A=\033[31m", NULL);
	check_text(sentences(), "A='a b' on 3 nodes, '' on n3, '1,2' on n4, \\x1b[31m on n5",
		   "what could be taken for the sentence is quoted");
}

static void test_unknown(void) {
	begin(FACTS_DEVICES);
	add(2, "gpus=8", NULL);
	add(1, "gpus=?", NULL);
	check_text(sentences(), "", "an unknown fact is no difference");
	add(1, "gpus=7", NULL);
	check_text(sentences(), "gpus=8 on 2 nodes, 7 on n3", "nor is it counted");
	add(1, "kernel=6", NULL);
	check_text(sentences(), "gpus=8 on 2 nodes, 7 on n3", "nor is a fact of another version");

	begin(FACTS_ENV);
	add(2, "~=sha256:0", NULL);
	add(1, "A=1", NULL);
	check_text(sentences(), "~=sha256:0 on 2 nodes, not set on n2", "too many variables to be sent");
}

static void test_silent(void) {
	struct compare_parties parties;
	struct difference *list;
	uint32_t bad = 9;
	begin(FACTS_ENV);
	add(2, "A=1", NULL);
	add(1, "A=2", NULL);
	add(1, "A=3", NULL);
	compare_choose_speakers(&room.compare, FACTS_ENV, &parties);
	struct str payloads[] = {encode(FACTS_ENV, "A=1"), {0}, encode(FACTS_ENV, "A=3")};
	struct buf out = BUF(&arena);
	check(compare_group(&room.compare, FACTS_ENV, &parties, payloads, &list, &bad) == 0);
	difference_text(&room.compare, list, &out);
	check_text(buf_text(&out), "A=1 on 2 nodes, 3 on n3", "a party that does not answer is not compared");
	struct difference *before = list;
	payloads[2].len--;
	check(compare_group(&room.compare, FACTS_ENV, &parties, payloads, &list, &bad) == -EPROTO);
	checkf(bad == 2 && list == before, "a malformed answer is told from the others");
}

static void test_names(void) {
	begin(FACTS_WORLD);
	add(63, "nodes=64", NULL);
	add(1, "nodes=63", NULL);
	check_text(sentences(), "nodes=64 on 63 nodes, 63 on n63 (rank 63)", "the world names the rank");

	begin(FACTS_WORLD);
	add(2, "nodes=4", "");
	add(1, "nodes=3", "");
	check_text(sentences(), "nodes=4 on 2 nodes, 3 on rank-2", "nobody told the names");

	begin(FACTS_ENV);
	add(300, "A=1", NULL);
	add(200, "A=2", NULL);
	check_text(sentences(), "A=1 on 300 nodes, 2 on n[300-499]", "a long list is a host list");

	begin(FACTS_ENV);
	add(50, "A=1", NULL);
	for (int i = 0; i < 20; i++) {
		add(1, "A=2", arena_format(&arena, "a-long-name-%d-x", i));
	}
	check_text(sentences(),
		   "A=1 on 50 nodes, 2 on a-long-name-0-x,a-long-name-1-x,a-long-name-2-x,a-long-name-3-x,"
		   "a-long-name-4-x,a-long-name-5-x,a-long-name-6-x,a-long-name-7-x and 12 more",
		   "names that make no list are counted after eight");

	begin(FACTS_ENV);
	room.compare.tasks = true;
	add(8, "A=1", "n1");
	add(4, "A=2", "n2");
	check_text(sentences(), "A=1 on 8 tasks, 2 on n2", "a node's tasks are named once");

	begin(FACTS_ENV);
	for (int i = 0; i < 6; i++) {
		add(1, arena_format(&arena, "A=%d", i), NULL);
	}
	check_text(sentences(), "A=0 on n0, 1 on n1, 2 on n2, 3 on n3; 2 more differ in this group",
		   "some were not asked");
}

static void test_secrets(void) {
	begin(FACTS_ENV);
	add(3, "T=(masked) sha256:1", NULL);
	add(1, "T=(masked) sha256:2", NULL);
	add(1, "U=1", NULL);
	check_text(sentences(),
		   "T=(masked) on 3 nodes, (masked) on n3, not set on n4 | "
		   "U not set on 4 nodes, 1 on n4",
		   "secrets differ, and are not shown");
	check(!strstr(objects(), "sha256"));
}

/** Of commands, the first word that differs is named by its number. */
static void test_command(void) {
	begin(FACTS_PROGRAM);
	add(3, "argv=train --lr 1 x", NULL);
	add(1, "argv=train --lr 2 y", NULL);
	check_text(sentences(), "argv[2]=1 on 3 nodes, 2 on n3", "the third word");
	begin(FACTS_PROGRAM);
	add(3, "argv=train", NULL);
	add(1, "argv=train --lr", NULL);
	check_text(sentences(), "argv[1] not set on 3 nodes, --lr on n3", "one word more");
	begin(FACTS_PROGRAM);
	add(3, "argv=sha256:1 (300 bytes)", NULL);
	add(1, "argv=train", NULL);
	check_text(sentences(), "argv='sha256:1 (300 bytes)' on 3 nodes, train on n3", "a long one");
}

/** Without a secret digests are sent. Our own values are known. */
static void test_own(void) {
	struct fact own[] = {{"argv", "train --lr 1"}};
	const struct fact_list lists[N_FACT_GROUPS] = {[FACTS_PROGRAM] = {own, 1}};
	begin(FACTS_PROGRAM);
	add(3, "argv=sha256:1 sha256:2 sha256:3", NULL);
	add(1, "argv=sha256:1 sha256:2 sha256:4", NULL);
	room.compare.facts = lists;
	check_text(sentences(), "argv[2]=1 on 3 nodes, sha256:4 on n3", "our own is the common one");
	room.compare.own = 3;
	check_text(sentences(), "argv[2]=sha256:3 on 3 nodes, 1 on n3", "our own is the odd one");
	room.compare.facts = NULL;
}

static void test_json(void) {
	begin(FACTS_DEVICES);
	add(3, "gpus=8", NULL);
	add(1, "gpus=7", NULL);
	add(2, "gpus=8", NULL);
	add(1, "gpus=7", NULL);
	check_text(objects(),
		   "{\"group\": \"devices\", \"error\": false, \"name\": \"gpus\", \"values\": ["
		   "{\"value\": \"8\", \"nodes\": 5, \"ranks\": \"[0-2,4-5]\"}, "
		   "{\"value\": \"7\", \"nodes\": 2, \"ranks\": \"[3,6]\"}]}",
		   "all ranks are in the report");
	begin(FACTS_ENV);
	add(1, "A=\"", NULL);
	add(1, "", NULL);
	check_text(objects(),
		   "{\"group\": \"env\", \"error\": false, \"name\": \"A\", \"values\": ["
		   "{\"value\": \"\\\"\", \"nodes\": 1, \"ranks\": \"0\"}, "
		   "{\"value\": null, \"nodes\": 1, \"ranks\": \"1\"}]}",
		   "quotes; not set");
}

/** Random members: whoever is asked, each fact's members are counted once, and none is invented. */
static void test_random(void) {
	uint64_t state = 1;
	for (int round = 0; round < 200; round++) {
		begin(FACTS_ENV);
		uint32_t n = 2 + fixture_random(&state, 63);
		for (uint32_t i = 0; i < n; i++) {
			add(1,
			    arena_format(&arena, "A=%u|B=%u", fixture_random(&state, 3),
					 fixture_random(&state, 2)),
			    NULL);
		}
		room.compare.own = fixture_random(&state, n);
		struct compare_parties parties;
		uint32_t wrong = 0;
		for (struct difference *d = compare(&parties); d; d = d->next) {
			uint32_t counted = 0;
			for (uint32_t v = 0; v < d->n_values; v++) {
				const struct difference_value *value = &d->values[v];
				const char *fact = arena_format(&arena, "%s=%s", d->name, value->value);
				uint32_t have = 0;
				for (uint32_t i = 0; i < n; i++) {
					if (value->parties & parties.bits[i]) {
						wrong += !strstr(room.facts[i], fact);
						have++;
					}
				}
				wrong += have != value->n || value->n > d->values[d->common].n;
				counted += have;
			}
			wrong += counted + parties.unasked != n;
		}
		checkf(wrong == 0, "round %d: %u members", round, n);
	}
}

int main(void) {
	arena = fixture_arena();
	test_whom();
	test_large();
	test_values();
	test_unknown();
	test_silent();
	test_names();
	test_secrets();
	test_command();
	test_own();
	test_json();
	test_random();
	arena_done(&arena);
	return check_done();
}
