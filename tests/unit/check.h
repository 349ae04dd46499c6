// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Checks for a test program that prints TAP. Each check is a line. The plan comes last, so that a
 * program that dies has none.
 *
 *     check(n == 2);
 *     checkf(n == want, "count of '%s'", text);
 *     check_text(got, want, "expand '%s'", text);
 *     return check_done();
 *
 * All of them return whether the check held, for a test that cannot continue otherwise.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned check_number;
static unsigned check_failures;

/** Print @text on one line: TAP has no line breaks, and control bytes are unreadable. */
static inline void check_print(const char *text) {
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == 0x7f) {
			printf("\\x%02x", c);
		} else {
			putchar(c);
		}
	}
}

__attribute__((format(printf, 4, 5))) static inline bool check_line(bool held, const char *file, int line,
								    const char *format, ...) {
	char text[1000];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	check_number++;
	check_failures += !held;
	printf("%s %u - ", held ? "ok" : "not ok", check_number);
	check_print(text);
	putchar('\n');
	if (!held) {
		printf("# %s:%d: ", file, line);
		check_print(text);
		putchar('\n');
	}
	// What was said before a crash is what tells where it was.
	(void)fflush(stdout);
	return held;
}

/**
 * Print the value found and the value expected after a failed check. NULL means that there is no
 * value.
 */
static inline bool check_shown(bool held, const char *got, const char *want) {
	if (!held) {
		printf("#   got:  ");
		check_print(got ? got : "(nothing)");
		printf("\n#   want: ");
		check_print(want ? want : "(nothing)");
		putchar('\n');
		(void)fflush(stdout);
	}
	return held;
}

static inline bool check_same(const char *got, const char *want) {
	return got && want ? strcmp(got, want) == 0 : got == want;
}

static inline bool check_has(const char *got, const char *part) {
	return got && strstr(got, part);
}

#define check(condition)       check_line((condition), __FILE__, __LINE__, "%s", #condition)
#define checkf(condition, ...) check_line((condition), __FILE__, __LINE__, __VA_ARGS__)

/** Check that the text @got is @want; the remaining arguments name the case. */
#define check_text(got, want, ...) \
	check_shown(check_line(check_same((got), (want)), __FILE__, __LINE__, __VA_ARGS__), (got), (want))

/** Check that the text @got contains @part. For messages, whose exact words are not fixed. */
#define check_part(got, part, ...) \
	check_shown(check_line(check_has((got), (part)), __FILE__, __LINE__, __VA_ARGS__), (got), (part))

/** Print the plan and return the exit status. */
static inline int check_done(void) {
	printf("1..%u\n", check_number);
	return check_failures != 0;
}
