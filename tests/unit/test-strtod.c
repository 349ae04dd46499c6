// SPDX-License-Identifier: Apache-2.0

/** cJSON's strtod() (subprojects/packagefiles/cjson/small.h) beside the C library's. */

#include "check.h"

#include <math.h>
#include <stdlib.h>

static double library_strtod(const char *text, char **end) {
	return strtod(text, end);
}

#pragma GCC diagnostic ignored "-Wcast-qual" // strtod() hands its const text back so
#include "../../subprojects/packagefiles/cjson/small.h"

static void check_same_as_library(const char *text, double tolerance) {
	char *got_end, *want_end;
	double got = small_strtod(text, &got_end), want = library_strtod(text, &want_end);
	checkf(got_end == want_end, "'%s' ends where it does for the C library", text);
	checkf(fabs(got - want) <= fabs(want) * tolerance, "'%s' is %g", text, want);
}

int main(void) {
	static const char *const exact[] = {
		"0",	"-0",  "1",    "-1",	"7 rest", "65535", "4294967296", "9007199254740991",
		"-42]", "1e3", "1E+3", "12e0,", "5e",	  "5e+",   "3.",	 "2.5",
		"0.125"};
	static const char *const near[] = {"0.1",     "-3.14159", "1e-5",      "6.02e23",
					   "1.7e308", "2.2e-308", "123.456e-7"};
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		check_same_as_library(exact[i], 0);
	}
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		check_same_as_library(near[i], 1e-13);
	}
	char *end;
	check(small_strtod("1e999", &end) > 1e307 && *end == '\0');
	check(small_strtod("1e-999", &end) == 0 && *end == '\0');
	check(small_strtod("1e99999999999999999999", &end) > 1e307 && *end == '\0');
	const char *none = "x";
	check(small_strtod(none, &end) == 0 && end == none);
	const char *minus = "-";
	small_strtod(minus, &end);
	check(end == minus);
	return check_done();
}
