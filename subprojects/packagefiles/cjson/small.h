/*
 * Included before cJSON.c: a strtod() of its own, as musl's takes 6 KB. It reads whole numbers up to 2^53 exactly, and
 * is off by a few units in the last place for others. distinit compares numbers with whole ones only.
 */
#include <stdlib.h>

static double small_strtod(const char *text, char **end) {
	const char *p = text + (*text == '-'), *digits = p;
	double number = 0;
	int scale = 0, exponent = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		number = number * 10 + (*p - '0');
	}
	if (p > digits && *p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, scale--) {
			number = number * 10 + (*p - '0');
		}
	}
	if (p > digits && (*p == 'e' || *p == 'E')) {
		const char *e = p + 1;
		int minus = *e == '-';
		e += minus || *e == '+';
		if (*e >= '0' && *e <= '9') {
			for (; *e >= '0' && *e <= '9'; e++) {
				exponent = exponent < 1000 ? exponent * 10 + (*e - '0') : exponent;
			}
			scale += minus ? -exponent : exponent;
			p = e;
		}
	}
	for (; scale > 0 && number != 0 && number < 1e308; scale--) {
		number *= 10;
	}
	for (; scale < 0 && number != 0; scale++) {
		number /= 10;
	}
	*end = (char *)(p > digits ? p : text);
	return *text == '-' ? -number : number;
}

#define strtod small_strtod
