// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

#include "check.h"
#include "fixture.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>

static struct arena arena;

static const char *report(const struct roll_call *call, const struct roll_end *end) {
	struct buf out = BUF(&arena);
	roll_report(call, end, &(struct json){.out = &out});
	return arena_format(&arena, "{%s}", buf_text(&out));
}

int main(void) {
	arena = fixture_arena();
	struct cluster cluster = {.scope = SCOPE_NODE, .nnodes = 3};
	struct err err;
	uint32_t empty;
	hosts_split(&arena, "HOSTS", "n0,n1,n2", ',', &cluster.place.hosts, &empty, &err);
	struct roll_call call = {.arena = &arena,
				 .cluster = &cluster,
				 .size = 3,
				 .job = "slurm:4711",
				 .master = "n0",
				 .port = 29500,
				 .secret = true};
	struct roll_end end = {.result = ROLL_STARTED,
			       .port = 23117,
			       .moved = true,
			       .took_ms = 12345,
			       .waited_ms = 12346,
			       .present = 3,
			       .restarts = 1,
			       .last = 2,
			       .last_ms = 12339,
			       .clock_ms = -92000,
			       .clock_rank = 2};
	check_text(
		report(&call, &end),
		"{\"version\": 2, \"result\": \"started\", \"role\": \"coordinator\", \"job\": "
		"\"slurm:4711\", "
		"\"rank\": 0, \"size\": 3, \"scope\": \"node\", \"port\": 23117, \"port_moved_from\": 29500, "
		"\"authenticated\": true, \"took_ms\": 12345, \"waited_ms\": 12346, \"signal\": null, "
		"\"present\": 3, "
		"\"absent\": [], "
		"\"restarts\": 1, \"last\": {\"rank\": 2, \"host\": \"n2\", \"after_ms\": 12339}, "
		"\"differs\": [], "
		"\"clocks\": {\"worst_ms\": -92000, \"rank\": 2}, \"strangers\": [], \"error\": null}",
		"a start");
	end.clock_ms = INT64_MIN;
	check_part(report(&call, &end), "\"worst_ms\": -9223372036854775808,",
		   "a clock that is off as far as can be");
	const struct lookup_answer unknown = {.code = EAI_NONAME};
	struct lookup_answer known = {.addresses = {.n = 1}};
	known.addresses.at[0].v4 =
		(struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct absentee absent[] = {{1, STR("n1"), 4000, &unknown}, {2, STR(""), UINT64_MAX, &known}};
	const struct stranger stranger = {.address = known.addresses.at[0], .as = STRANGER_TORCH, .times = 3};
	end = (struct roll_end){.result = ROLL_ABSENT,
				.port = 29500,
				.present = 1,
				.absent = absent,
				.n_absent = 2,
				.strangers = &stranger,
				.n_strangers = 1};
	err_set(&end.error, 1, "2 of 3 'n\"x'");
	const char *text = report(&call, &end);
	check_part(text, "\"result\": \"absent\"", "absent");
	check_part(text,
		   "\"absent\": [{\"rank\": 1, \"host\": \"n1\", \"seen\": \"gone\", \"gone_ms\": 4000, "
		   "\"resolves\": "
		   "false, \"addresses\": []}, {\"rank\": 2, \"host\": null, \"seen\": \"never\", "
		   "\"gone_ms\": null, "
		   "\"resolves\": true, \"addresses\": [\"127.0.0.1\"]}]",
		   "who is absent");
	check_part(text, "\"strangers\": [{\"address\": \"127.0.0.1\", \"times\": 3, \"as\": \"torch\"}]",
		   "strangers");
	check_part(text, "\"error\": \"2 of 3 'n\\\"x'\"}", "the sentence");
	call.rank = 1;
	end.reached = true;
	err_set(&end.failure, 1, "why");
	check_part(report(&call, &end),
		   "\"coordinator\": \"n0:29500\", \"reached\": true, \"failure\": \"why\"", "a member");
	const struct wait_news news = {.present = 2, .absent = 1, .n = 1, .at = {{2, STR("n2")}}};
	end = (struct roll_end){.result = ROLL_SIGNAL, .signal = SIGTERM, .news = &news};
	text = report(&call, &end);
	check_part(text, "\"signal\": \"TERM\"", "what ended it");
	check_part(text, "\"present\": 2, \"absent\": [{\"rank\": 2, \"host\": \"n2\"}], \"coordinator\"",
		   "what the coordinator said");
	return check_done();
}
