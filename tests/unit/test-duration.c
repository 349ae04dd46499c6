// SPDX-License-Identifier: Apache-2.0

#include "base/duration.h"

#include "check.h"

#include <errno.h>

/** The initial value of the result. A failure must not change it. */
#define BEFORE 7

static void check_read(const char *text, int want_r, uint64_t want) {
	uint64_t got = BEFORE;
	int r = duration_read(str_of(text), &got);
	checkf(r == want_r && got == (r < 0 ? BEFORE : want), "duration '%s': %d, %llu", text, r,
	       (unsigned long long)got);
}

static void check_said(uint64_t ms, const char *want) {
	check_text(duration_text(ms).s, want, "%llu ms", (unsigned long long)ms);
}

int main(void) {
	check_said(0, "0s");
	check_said(1, "0.001s");
	check_said(20, "0.02s");
	check_said(500, "0.5s");
	check_said(1099, "1s");
	check_said(1250, "1.2s");
	check_said(13000, "13s");
	check_said(92399, "92.3s");
	check_said(UINT64_MAX, "18446744073709551.6s");
	check_read("0", 0, 0);
	check_read("90", 0, 90000);
	check_read("90s", 0, 90000);
	check_read("0s", 0, 0);
	check_read("500ms", 0, 500);
	check_read("5m", 0, 300000);
	check_read("1h30m", 0, 5400000);
	check_read("1h0m30s", 0, 3630000);
	check_read("2d", 0, 172800000);
	check_read("1d1h1m1s1ms", 0, 90061001);
	check_read("007s", 0, 7000);
	check_read("3650d", 0, DURATION_MAX_MS);

	check_read("1.5s", 0, 1500);
	check_read("1.5", 0, 1500);
	check_read(".1", 0, 100);
	check_read("10.34", 0, 10340);
	check_read("0.0", 0, 0);
	check_read("1.5h", 0, 5400000);
	check_read(".5d", 0, 43200000);
	check_read("1h.5m", 0, 3630000);
	check_read("1h30.25s", 0, 3630250);
	check_read("1.5ms", 0, 2);
	check_read("0.0000000000000000000000000000001", 0, 1); // more than 0
	check_read("0.99999999999999999999999999999999", 0, 1000);
	check_read("3650.0d", 0, DURATION_MAX_MS);

	check_read("3650.000000001d", -ERANGE, 0);
	check_read("3650d.1ms", -ERANGE, 0);
	check_read("3650d1ms", -ERANGE, 0);
	check_read("99999999999h", -ERANGE, 0);
	check_read("315360001", -ERANGE, 0);
	check_read("18446744073709551616", -ERANGE, 0);
	check_read("18446744073709551616h", -ERANGE, 0);
	check_read("5124095576030431h", -ERANGE, 0); // its milliseconds wrap round

	check_read("", -EINVAL, 0);
	check_read("-1", -EINVAL, 0);
	check_read("+1", -EINVAL, 0);
	check_read("1x", -EINVAL, 0);
	check_read("s", -EINVAL, 0);
	check_read("1.", -EINVAL, 0);
	check_read(".", -EINVAL, 0);
	check_read(".s", -EINVAL, 0);
	check_read("1.s", -EINVAL, 0);
	check_read("1..5", -EINVAL, 0);
	check_read("1.5.5", -EINVAL, 0);
	check_read("1,5", -EINVAL, 0);
	check_read("1e3", -EINVAL, 0);
	check_read("-.5", -EINVAL, 0);
	check_read("1.5h30m", -EINVAL, 0); // only the last one has a fraction
	check_read("1h1.5", -EINVAL, 0);
	check_read("1 s", -EINVAL, 0);
	check_read(" 1s", -EINVAL, 0);
	check_read("1s ", -EINVAL, 0);
	check_read("30m1h", -EINVAL, 0); // the larger unit first
	check_read("1m1m", -EINVAL, 0);
	check_read("1h30", -EINVAL, 0); // of what?
	check_read("1S", -EINVAL, 0);
	check_read("inf", -EINVAL, 0);
	check_read("99999999999hx", -EINVAL, 0); // -EINVAL before -ERANGE
	return check_done();
}
