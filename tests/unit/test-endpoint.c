// SPDX-License-Identifier: Apache-2.0

/** "host:port", cut in two. */

#include "cluster/endpoint.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

/** @want: "HOST PORT", or "refused". */
static void check_endpoint(const char *text, const char *want) {
	struct err err = {"no error"};
	struct str host = STR("before");
	uint16_t port = 7;
	int r = endpoint_read("E", str_of(text), &host, &port, &err);
	const char *got = r < 0 ? "refused" : arena_format(&arena, "%.*s %u", (int)host.len, host.p, port);
	checkf(strcmp(got, want) == 0, "'%s': got '%s'", text, got);
	checkf(r == 0 || (str_is(host, "before") && port == 7), "'%s': a refusal leaves the outputs alone",
	       text);
	checkf(r == 0 || strncmp(err.text, "E: '", 4) == 0, "'%s': says '%s'", text, err.text);
}

int main(void) {
	arena = fixture_arena();
	check_endpoint("n1:2222", "n1 2222");
	check_endpoint("n1", "n1 0");
	check_endpoint("n1.a.b:65535", "n1.a.b 65535");
	check_endpoint("10.0.0.4:6000", "10.0.0.4 6000");
	check_endpoint("fd00::12", "fd00::12 0");
	check_endpoint("::1", "::1 0");
	check_endpoint("[fd00::12]:80", "fd00::12 80");
	check_endpoint("[fd00::12]", "fd00::12 0");
	check_endpoint("n1:0", "refused");
	check_endpoint("n1:65536", "refused");
	check_endpoint("n1:http", "refused");
	check_endpoint("n1:", "refused");
	check_endpoint(":6000", "refused");
	check_endpoint("", "refused");
	check_endpoint("[fd00::12]80", "refused");
	check_endpoint("[]:80", "refused");
	check_endpoint("[fd00::12", "refused");
	check_endpoint("[", "refused");
	arena_done(&arena);
	return check_done();
}
