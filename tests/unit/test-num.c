// SPDX-License-Identifier: Apache-2.0

#include "base/num.h"

#include "check.h"

#include <errno.h>

/** The initial value of the result. A failure must not change it. */
#define BEFORE 7

static void check_read(struct str text, uint64_t max, int want_r, uint64_t want) {
	uint64_t got = BEFORE;
	int r = num_read(text, max, &got);
	checkf(r == want_r && got == (r < 0 ? BEFORE : want), "num_read '%.*s' up to %llu: %d, %llu",
	       (int)text.len, text.p, (unsigned long long)max, r, (unsigned long long)got);
}

static void check_u32(const char *text, int want_r, uint32_t want) {
	uint32_t got = BEFORE;
	int r = num_read_u32(str_of(text), &got);
	checkf(r == want_r && got == (r < 0 ? BEFORE : want), "num_read_u32 '%s': %d, %u", text, r, got);
}

int main(void) {
	check_read(STR("0"), 0, 0, 0);
	check_read(STR("1"), 0, -ERANGE, 0);
	check_read(STR("007"), 7, 0, 7);
	check_read(STR("0000000000000000000000000000000000000001"), 9, 0, 1);
	check_read(STR("65535"), UINT16_MAX, 0, 65535);
	check_read(STR("65536"), UINT16_MAX, -ERANGE, 0);
	check_read(STR("18446744073709551615"), UINT64_MAX, 0, UINT64_MAX);
	check_read(STR("18446744073709551616"), UINT64_MAX, -ERANGE, 0);
	check_read(STR("18446744073709551620"), UINT64_MAX, -ERANGE, 0);
	check_read(STR("99999999999999999999999999"), UINT64_MAX, -ERANGE, 0);
	check_read(STR("184467440737095516160"), UINT64_MAX, -ERANGE, 0); // wraps round to 0
	check_read(STR("99999999999999999999999999x"), 9, -EINVAL, 0);	  // -EINVAL before -ERANGE
	check_read(STR(""), 9, -EINVAL, 0);
	check_read((struct str){NULL, 0}, 9, -EINVAL, 0);
	check_read(STR("+1"), 9, -EINVAL, 0);
	check_read(STR("-1"), 9, -EINVAL, 0);
	check_read(STR(" 1"), 9, -EINVAL, 0);
	check_read(STR("1 "), 9, -EINVAL, 0);
	check_read(STR("1\n"), 9, -EINVAL, 0);
	check_read(STR("1\0"), 9, -EINVAL, 0);
	check_read(STR("0x1"), 9, -EINVAL, 0);
	check_read(STR("1.0"), 9, -EINVAL, 0);
	check_read(STR("1e3"), 9999, -EINVAL, 0);
	check_read(STR("/"), 9, -EINVAL, 0); // the neighbours of '0' and '9'
	check_read(STR(":"), 9, -EINVAL, 0);
	check_read(STR("\xb2"), 9, -EINVAL, 0);
	check_read((struct str){"12345", 2}, 99, 0, 12); // a slice has no NUL behind it

	check_u32("007", 0, 7);
	check_u32("4294967294", 0, UINT32_MAX - 1);
	check_u32("4294967295", -ERANGE, 0); // kept for "unknown"
	check_u32("4294967296", -ERANGE, 0);
	check_u32("", -EINVAL, 0);
	check_u32("+1", -EINVAL, 0);
	check_u32("one", -EINVAL, 0);

	return check_done();
}
