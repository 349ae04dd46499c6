// SPDX-License-Identifier: Apache-2.0

/**
 * The static programs' strstr(), strtoul(), mbstowcs(), qsort() and fork() (base/libc.c), which
 * this program is linked with, too.
 */

#include "check.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_strtoul(const char *text, int base, unsigned long want, size_t length, int error) {
	char *end;
	errno = 0;
	unsigned long number = strtoul(text, &end, base);
	checkf(number == want && (size_t)(end - text) == length && errno == error, "'%s' in %d: %lu, %zu, %d",
	       text, base, number, (size_t)(end - text), errno);
}

static int compare(const void *a, const void *b) {
	uint32_t x, y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/** Sort @n numbers, with @spread different values. */
static void check_sort(size_t n, uint32_t spread) {
	static struct {
		uint32_t key, seed;
		char tail;
	} items[5000];
	uint64_t sum = 0, after = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t seed = (uint32_t)i * 2654435761u;
		items[i].key = (seed >> 8) % spread;
		items[i].seed = seed;
		items[i].tail = (char)seed;
		sum += seed;
	}
	qsort(items, n, sizeof(items[0]), compare);
	for (size_t i = 0; i < n; i++) {
		bool whole =
			items[i].key == (items[i].seed >> 8) % spread && items[i].tail == (char)items[i].seed;
		if (!whole || (i && items[i - 1].key > items[i].key)) {
			checkf(false, "%zu of %u: wrong at %zu", n, spread, i);
			return;
		}
		after += items[i].seed;
	}
	checkf(sum == after, "%zu of %u", n, spread);
}

static void check_fork(void) {
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		_exit(7);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	      WEXITSTATUS(status) == 7);
}

int main(void) {
	const char *text = "abcabd";
	check(strstr(text, "abd") == text + 3);
	check(strstr(text, "") == text);
	check(strstr(text, "d") == text + 5);
	check(strstr(text, "de") == NULL);
	check(strstr("", "a") == NULL);
	check(strstr("", "") != NULL);

	check_strtoul("0", 10, 0, 1, 0);
	check_strtoul(" \t+42x", 10, 42, 5, 0);
	check_strtoul("-1", 10, ULONG_MAX, 2, 0);
	check_strtoul("18446744073709551615", 10, ULONG_MAX, 20, 0);
	check_strtoul("18446744073709551616 ", 10, ULONG_MAX, 20, ERANGE);
	check_strtoul("99999999999999999999999", 10, ULONG_MAX, 23, ERANGE);
	check_strtoul("0x1fG", 0, 0x1f, 4, 0);
	check_strtoul("0x1fG", 16, 0x1f, 4, 0);
	check_strtoul("FFFF", 16, 0xffff, 4, 0);
	check_strtoul("0x", 0, 0, 1, 0);
	check_strtoul("0xg", 16, 0, 1, 0);
	check_strtoul("0778", 0, 077, 3, 0);
	check_strtoul("10z", 36, 36 * 36 + 35, 3, 0);
	check_strtoul("", 10, 0, 0, 0);
	check_strtoul(" -", 10, 0, 0, 0);
	check_strtoul("x", 10, 0, 0, 0);
	check(strtoul("7", NULL, 10) == 7);

	wchar_t wide[4] = {1, 1, 1, 1};
	check(mbstowcs(NULL, "h\xc3\xa4", 0) == 3);
	check(mbstowcs(wide, "a\xff", 4) == 2 && wide[0] == 'a' && wide[1] == 0xdfff && wide[2] == 0 &&
	      wide[3] == 1);
	check(mbstowcs(wide, "bcd", 2) == 2 && wide[1] == 'c' && wide[2] == 0);

	for (size_t n = 0; n < 40; n++) {
		check_sort(n, 7);
		check_sort(n, UINT32_MAX);
	}
	check_sort(5000, 1);
	check_sort(5000, 100);
	check_sort(5000, UINT32_MAX);
	check_fork();
	return check_done();
}
