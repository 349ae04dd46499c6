// SPDX-License-Identifier: Apache-2.0

#include "tape.h"

#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As text.

/** The names of a choice's values; NULL: they are numbers. */
static const char *const *value_names(enum choice what, size_t *n) {
	*n = what == C_what ? N_WHAT : what == C_when ? N_WHEN : 0;
	return what == C_what ? what_names : what == C_when ? when_names : NULL;
}

static void put_value(enum choice what, unsigned nth, uint64_t value) {
	size_t n;
	const char *const *names = value_names(what, &n);
	if (names && value < n) {
		printf("%s", names[value]);
	} else if (what == C_frame && nth == 0 && strcmp(frame_name((uint8_t)value), "bytes") != 0) {
		printf("%s", frame_name((uint8_t)value));
	} else if (value == UINT64_MAX) {
		printf("never");
	} else {
		printf("%llu", (unsigned long long)value);
	}
}

void tape_print(const struct chosen *at, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		const enum choice what = (enum choice)(at[i].key >> 48);
		const unsigned who = at[i].key >> 32 & 0xffff, nth = (unsigned)at[i].key;
		printf("%s", choice_names[what]);
		if (nth) {
			printf("(%u,%u)", who, nth);
		} else if (who || (what >= C_what && what <= C_code)) {
			printf("(%u)", who);
		}
		printf(" = ");
		put_value(what, nth, at[i].value);
		printf("\n");
	}
}

static int find_name(const char *const *names, size_t n, const char *name) {
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

/** Read a value. Returns whether it is one. */
static bool read_value(enum choice what, const char *text, uint64_t *out) {
	size_t n;
	const char *const *names = value_names(what, &n);
	const int named = names ? find_name(names, n, text) : -1;
	char *end;
	if (named >= 0) {
		*out = (uint64_t)named;
		return true;
	}
	for (unsigned type = 0; what == C_frame && type < 256; type++) {
		if (strcmp(frame_name((uint8_t)type), text) == 0) {
			*out = type;
			return true;
		}
	}
	if (strcmp(text, "never") == 0) {
		*out = UINT64_MAX;
		return true;
	}
	*out = strtoull(text, &end, 10);
	return end > text && !*end;
}

/** Read "NAME(WHO,NTH) = VALUE". */
static bool read_line(const char *line, struct chosen *out) {
	char name[40], value[40];
	unsigned who = 0, nth = 0;
	const bool read = sscanf(line, "%39[a-z_](%u,%u) = %39s", name, &who, &nth, value) == 4 ||
			  (nth = 0, sscanf(line, "%39[a-z_](%u) = %39s", name, &who, value) == 3) ||
			  (who = 0, sscanf(line, "%39[a-z_] = %39s", name, value) == 2);
	const int what = read ? find_name(choice_names, N_CHOICES, name) : -1;
	if (what < 0) {
		return false;
	}
	out->key = choice_key((enum choice)what, who, nth);
	return read_value((enum choice)what, value, &out->value);
}

int tape_read(const char *path, struct tape *out) {
	FILE *file = fopen(path, "re");
	char line[400];
	uint32_t room = 0, number = 0;
	int r = 0;
	*out = (struct tape){.at = NULL};
	if (!file) {
		fprintf(stderr, "sim: error: cannot open %s\n", path);
		return -1;
	}
	while (r == 0 && fgets(line, sizeof(line), file)) {
		number++;
		if (line[0] == '#') {
			sscanf(line, "# promise: %59s", out->promise);
			continue;
		}
		if (out->n == room) {
			room = room ? 2 * room : 64;
			out->at = realloc(out->at, room * sizeof(*out->at));
		}
		if (line[0] != '\n' && !read_line(line, &out->at[out->n++])) {
			fprintf(stderr,
				"sim: error: %s:%u: expected NAME(WHO,NTH) = VALUE with a name of choice.h, "
				"not '%.*s'\n",
				path, number, (int)strcspn(line, "\n"), line);
			r = -1;
		}
	}
	fclose(file);
	return r;
}

// Shrinking.

static bool still_breaks(const char *promise, const struct chosen *at, uint32_t n) {
	choices_begin(0, at, n);
	job_run();
	return strcmp(broken_name, promise) == 0;
}

/** Leave out pieces of @k choices. */
static uint32_t leave_out(const char *promise, struct chosen *at, uint32_t n, uint32_t k, int *tries) {
	struct chosen *fewer = malloc((n + 1) * sizeof(*fewer));
	for (uint32_t i = 0; i<n && * tries> 0;) {
		const uint32_t piece = i + k < n ? k : n - i;
		memcpy(fewer, at, i * sizeof(*at));
		memcpy(fewer + i, at + i + piece, (n - i - piece) * sizeof(*at));
		--*tries;
		if (still_breaks(promise, fewer, n - piece)) {
			n -= piece;
			memcpy(at, fewer, n * sizeof(*at));
		} else {
			i += piece;
		}
	}
	free(fewer);
	return n;
}

/** Make numbers smaller. Returns whether one is. */
static bool lower(const char *promise, struct chosen *at, uint32_t n, int *tries) {
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		size_t names;
		if (value_names((enum choice)(at[i].key >> 48), &names)) {
			continue;
		}
		for (uint64_t down = at[i].value; down && *tries > 0;) {
			const uint64_t was = at[i].value;
			--*tries;
			at[i].value = down <= was ? was - down : was;
			if (down <= was && still_breaks(promise, at, n)) {
				any = true;
				down = at[i].value < down ? at[i].value : down;
			} else {
				at[i].value = was;
				down /= 2;
			}
		}
	}
	return any;
}

uint32_t tape_shrink(const char *promise, struct chosen *at, uint32_t n, int tries) {
	for (bool better = true; better && tries > 0;) {
		const uint32_t before = n;
		for (uint32_t k = n / 2 ? n / 2 : 1; k && tries > 0; k /= 2) {
			n = leave_out(promise, at, n, k, &tries);
		}
		better = lower(promise, at, n, &tries) || n < before;
	}
	still_breaks(promise, at, n);
	// What was not asked for is not in the tape; what is always in it, is.
	n = n_chosen < n + TAPE_SPARE ? n_chosen : n;
	memcpy(at, chosen, n * sizeof(*at));
	return n;
}
