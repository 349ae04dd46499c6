// SPDX-License-Identifier: Apache-2.0

#include "base/format.h"

#include "check.h"

#include <limits.h>
#include <stdint.h>

/** The result must be that of the C library, for any buffer size. */
__attribute__((format(printf, 1, 2))) static void check_like_libc(const char *format, ...) {
	for (size_t size = 0; size <= 40; size += 5) {
		char want[48], got[48];
		va_list args, again;
		memset(want, '#', sizeof(want));
		memset(got, '#', sizeof(got));
		va_start(args, format);
		va_copy(again, args);
		int want_len = vsnprintf(want, size, format, args);
		size_t got_len = format_text(got, size, format, again);
		va_end(again);
		va_end(args);
		checkf(got_len == (size_t)want_len && memcmp(got, want, sizeof(got)) == 0,
		       "'%s' in %zu bytes: %zu, '%.47s'", format, size, got_len, size ? got : "");
	}
}

int main(void) {
	check_like_libc("plain");
	check_like_libc("%s", "");
	check_like_libc("%s=%s", "NAME", "a value");
	check_like_libc("%s", "longer than all the room that there is for it in any of these calls");
	check_like_libc("%-14s|", "left");
	check_like_libc("%14s|", "right");
	check_like_libc("%3s|", "wider than told");
	check_like_libc("%*s|", 26, "");
	check_like_libc("%.*s|", 2, "cut");
	check_like_libc("%.*s|", 0, "cut");
	check_like_libc("%.251s|%.1s", "short", "cut");
	check_like_libc("%8.2s|", "cut");
	check_like_libc("%c%c%%", 'a', 'b');
	check_like_libc("%d %d %d", 0, INT_MAX, INT_MIN);
	check_like_libc("%u %u", 0u, UINT_MAX);
	check_like_libc("%zu %zu", (size_t)0, SIZE_MAX);
	check_like_libc("%ld %ld", LONG_MAX, LONG_MIN);
	check_like_libc("%lu", ULONG_MAX);
	check_like_libc("%02x %02x %x %lx", 5, 255, 0, ULONG_MAX);
	check_like_libc("%5d|%-5u|%05u", -42, 7u, 7u);
	return check_done();
}
