// SPDX-License-Identifier: Apache-2.0

#include "facts/expect.h"

#include "access/try.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/nearest.h"
#include "base/num.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

const char expect_forms[] =
	"gpus=8, rdma>=8, cpus>=64, memory>=900GiB, shm>=64GiB, memlock=unlimited, nofile>=65536, mtu>=9000, "
	"driver>=550, clock<=2s, path=/ckpt or path:ro=/data";

/** How the value of a row is read. */
enum expect_kind {
	EXPECT_COUNT,
	/** In hundredths: "1.5" CPUs. */
	EXPECT_CPUS,
	/** With its unit; the fact is in units of `unit` bytes. */
	EXPECT_BYTES,
	/** Numbers with dots between. Only those that are given are compared: 550.54 is 550. */
	EXPECT_VERSION,
	EXPECT_CLOCK,
	EXPECT_WRITE,
	EXPECT_READ,
};

struct expected {
	const char *name;
	enum expect_kind kind;
	/** The fact that is compared; NULL: none. */
	const char *fact;
	uint64_t unit;
	/** The relations that it may have, as in struct expectation. */
	const char *relations;
	/** Whether there may be no limit. */
	bool unlimited;
};

static const struct expected names[] = {
	{"gpus", EXPECT_COUNT, "gpus", 1, "=><", false},
	{"rdma", EXPECT_COUNT, "rdma_active", 1, "=><", false},
	{"cpus", EXPECT_CPUS, "cpus", 1, "=><", false},
	{"memory", EXPECT_BYTES, "memory_mib", 1 << 20, "=><", false},
	{"shm", EXPECT_BYTES, "shm_mib", 1 << 20, "=><", false},
	{"memlock", EXPECT_BYTES, "memlock_kib", 1 << 10, "=><", true},
	{"nofile", EXPECT_COUNT, "nofile", 1, "=><", true},
	{"mtu", EXPECT_COUNT, "mtu", 1, "=><", false},
	{"driver", EXPECT_VERSION, "gpu_driver", 0, "=><", false},
	{"clock", EXPECT_CLOCK, NULL, 0, "<", false},
	{"path", EXPECT_WRITE, NULL, 0, "=", false},
	{"path:ro", EXPECT_READ, NULL, 0, "=", false},
};

#define UNLIMITED "unlimited"

// --- reading the list -----------------------------------------------------------------------------------

/** Read "1.5" or "64" into hundredths. */
static int read_hundredths(struct str text, uint64_t *out) {
	const size_t point = str_find(text, '.');
	struct str rest = str_from(text, point);
	uint64_t whole, part = 0;
	if (num_read((struct str){text.p, point}, UINT32_MAX, &whole) < 0) {
		return -EINVAL;
	}
	if (rest.len && (rest.len > 3 || num_read(str_from(rest, 1), 99, &part) < 0)) {
		return -EINVAL;
	}
	*out = whole * 100 + (rest.len == 2 ? 10 * part : part);
	return 0;
}

/** Read "64GiB", "900G", "16Gi" or "2TB": units of 1,024, but for KB, MB, GB and TB, which are of 1,000. */
static int read_bytes(struct str text, uint64_t *out) {
	static const char letters[] = "KMGT";
	size_t digits = 0;
	while (digits < text.len && text.p[digits] >= '0' && text.p[digits] <= '9') {
		digits++;
	}
	const struct str unit = str_from(text, digits);
	const char *letter = unit.len ? strchr(letters, unit.p[0]) : NULL;
	uint64_t number;
	if (!letter || num_read((struct str){text.p, digits}, 1 << 22, &number) < 0) {
		return -EINVAL;
	}
	const struct str rest = str_from(unit, 1);
	const bool decimal = str_is(rest, "B");
	if (rest.len && !decimal && !str_is(rest, "i") && !str_is(rest, "iB")) {
		return -EINVAL;
	}
	for (const char *at = letters; at <= letter; at++) {
		number *= decimal ? 1000 : 1024;
	}
	*out = number;
	return 0;
}

/** Read the next number of a version into *@out. Returns false at its end, or where something else is. */
static bool next_part(struct str *rest, uint64_t *out) {
	struct str part;
	return str_cut(rest, '.', &part) && num_read(part, UINT32_MAX, out) == 0;
}

static int read_version(struct str text) {
	uint64_t part;
	while (text.len) {
		if (!next_part(&text, &part)) {
			return -EINVAL;
		}
	}
	return 0;
}

/** Read the value of one expectation. Returns 0; -EINVAL with the form that is expected in *@form. */
static int read_value(struct expectation *one, const char **form) {
	const struct str text = str_of(one->value);
	if (one->what->unlimited && str_is(text, UNLIMITED)) {
		one->number = UINT64_MAX;
		return 0;
	}
	switch (one->what->kind) {
	case EXPECT_COUNT:
		*form = one->what->unlimited ? "a number or " UNLIMITED : "a number";
		return num_read(text, UINT32_MAX, &one->number);
	case EXPECT_CPUS:
		*form = "a number such as 64 or 1.5";
		return read_hundredths(text, &one->number);
	case EXPECT_BYTES:
		*form = one->what->unlimited ? "a size with its unit, such as 64GiB, or " UNLIMITED ","
					     : "a size with its unit, such as 64GiB,";
		return read_bytes(text, &one->number);
	case EXPECT_VERSION:
		*form = "a version such as 550 or 550.54";
		return text.len ? read_version(text) : -EINVAL;
	case EXPECT_CLOCK:
		*form = DURATION_FORM;
		return duration_read(text, &one->number);
	default:
		*form = "an absolute path of a folder";
		return text.len && text.p[0] == '/' ? 0 : -EINVAL;
	}
}

/** "=, >= or <=" as far as @what takes them. */
static const char *relations_text(const struct expected *what) {
	return strlen(what->relations) > 1 ? "=, >= or <=" : what->relations[0] == '<' ? "<=" : "=";
}

static int refuse_name(const char *from, const char *word, struct str name, struct err *err) {
	struct nearest best = {.word = name};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		nearest_try(&best, names[i].name);
	}
	return err_set(err, EINVAL, "%s: %s: expected a list of %s%s", from, quote_text(word).s, expect_forms,
		       nearest_hint(&best, "").s);
}

/** Read one word of the list. */
static int read_one(struct arena *arena, const char *from, struct str word, struct expectation *out,
		    struct err *err) {
	const char *text = arena_text(arena, word.p, word.len), *form = NULL;
	const size_t end = strcspn(text, "=<>");
	const struct str name = {text, end};
	// A relation is '=', ">=" or "<=".
	const size_t len = !text[end] ? 0 : text[end] == '=' ? 1 : text[end + 1] == '=' ? 2 : 0;
	*out = (struct expectation){.text = text, .relation = text[end], .value = text + end + len};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		out->what = str_is(name, names[i].name) ? &names[i] : out->what;
	}
	if (!out->what) {
		return refuse_name(from, text, name, err);
	}
	if (!len || !strchr(out->what->relations, out->relation)) {
		return err_set(err, EINVAL, "%s: %s: expected %s, then %s, then a value%s", from,
			       quote_text(text).s, out->what->name, relations_text(out->what),
			       len ? "" : "; in a shell, quote what has '<' or '>'");
	}
	if (read_value(out, &form) < 0) {
		return err_set(err, EINVAL, "%s: %s: expected %s after '%.*s'", from, quote_text(text).s,
			       form, (int)(end + len), text);
	}
	return 0;
}

int expect_read(struct arena *arena, const char *from, const char *list, struct expectations *out,
		struct err *err) {
	struct str rest = str_of(list), word;
	uint32_t n = 1;
	for (const char *at = list; *at; at++) {
		n += *at == ',';
	}
	*out = (struct expectations){.from = from, .at = arena_array(arena, n, sizeof(*out->at))};
	while (str_cut(&rest, ',', &word)) {
		int r = word.len ? read_one(arena, from, word, &out->at[out->n++], err) : 0;
		if (r < 0) {
			return r;
		}
	}
	return out->n ? 0 : refuse_name(from, list, str_of(list), err);
}

const struct expectation *expect_clock(const struct expectations *all) {
	const struct expectation *least = NULL;
	for (const struct expectation *one = all->at; one < all->at + all->n; one++) {
		if (one->what->kind == EXPECT_CLOCK && (!least || one->number < least->number)) {
			least = one;
		}
	}
	return least;
}

// --- looking --------------------------------------------------------------------------------------------

static bool holds(char relation, int order) {
	return relation == '=' ? order == 0 : relation == '>' ? order >= 0 : order <= 0;
}

static int order_of(uint64_t a, uint64_t b) {
	return a < b ? -1 : a > b;
}

/** Compare the numbers of version @have with those that are given of @want. */
static int order_versions(struct str have, struct str want) {
	uint64_t expected, found;
	int order = 0;
	while (!order && next_part(&want, &expected)) {
		order = order_of(next_part(&have, &found) ? found : 0, expected);
	}
	return order;
}

/** Look at one that is a fact. */
static void look_at_fact(struct expectation *one, const struct facts *facts, struct arena *arena) {
	const struct expected *what = one->what;
	const char *value = facts_find(&facts->list[FACTS_DEVICES], what->fact);
	value = value ? value : facts_find(&facts->list[FACTS_LIMITS], what->fact);
	one->have = value && strcmp(value, FACT_UNKNOWN) != 0 ? value : NULL;
	uint64_t number = 0;
	if (!one->have) {
		return;
	}
	if (what->kind == EXPECT_VERSION) {
		one->met = holds(one->relation, order_versions(str_of(value), str_of(one->value)));
		return;
	}
	if (strcmp(value, UNLIMITED) == 0) {
		one->met = holds(one->relation, order_of(UINT64_MAX, one->number));
		return;
	}
	const int r = what->kind == EXPECT_CPUS ? read_hundredths(str_of(value), &number)
						: num_read(str_of(value), UINT64_MAX / 1024 / 1024, &number);
	if (what->kind == EXPECT_BYTES) {
		one->have = arena_format(arena, "%s %s", value, what->unit == 1 << 20 ? "MiB" : "KiB");
	}
	// Facts are in whole units.
	const bool is_equal = one->relation == '=' && one->number != UINT64_MAX;
	const uint64_t want = is_equal && what->unit ? one->number / what->unit * what->unit : one->number;
	one->met = r == 0 && holds(one->relation, order_of(number * what->unit, want));
}

/** Why a folder cannot be used. */
static const char *step_text(struct arena *arena, const struct try_answer *answer) {
	static const char *const steps[] = {"",
					    "cannot be opened",
					    "cannot be listed",
					    "cannot be written",
					    "cannot be written",
					    "keeps what was written"};
	return arena_format(arena, "%s: %s", steps[answer->step], strerror(answer->code));
}

/** Take the child's answer, if it is there. */
static void take_answer(struct expectation *one, struct folder_try *folder, struct arena *arena) {
	struct try_answer answer;
	const int r = folder_try_read(folder, &answer);
	if (r == 0) {
		one->met = answer.step == TRY_ALL_WELL;
		one->have =
			one->met ? one->what->kind == EXPECT_WRITE ? "can be written" : "can be read" : NULL;
		one->why = one->met ? NULL : step_text(arena, &answer);
	} else if (r == -ECHILD) {
		one->why = "cannot be tried: its child was killed";
	}
}

/** Begin to try all folders. Returns how many. */
static uint32_t begin_folders(struct expectations *all, const struct facts_from *from,
			      struct folder_try *folders) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < all->n; i++) {
		struct expectation *one = &all->at[i];
		const bool write = one->what->kind == EXPECT_WRITE;
		folders[i] = (struct folder_try){-1, 0};
		if (write || one->what->kind == EXPECT_READ) {
			int r = folder_try_begin(from->view, one->value, write, &folders[i]);
			one->why =
				r < 0 ? arena_format(from->arena, "cannot be tried: %s", strerror(-r)) : NULL;
			n += r == 0;
		}
	}
	return n;
}

/** Returns as expect_look(). */
static int look_at_folders(struct expectations *all, const struct facts_from *from, uint64_t timeout_ms,
			   int *signal, struct err *err) {
	const struct wait_for wait = {.timeout_ms = timeout_ms};
	struct folder_try *folders = arena_array(from->arena, all->n + 1, sizeof(*folders));
	struct watch watch;
	if (!begin_folders(all, from, folders)) {
		return 0;
	}
	int r = watch_begin(&watch, &wait);
	if (r < 0) {
		*err = watch.failure;
	}
	for (uint32_t i = 0; r == 0 && i < all->n; i++) {
		struct expectation *one = &all->at[i];
		if (folders[i].fd < 0) {
			continue;
		}
		// After the deadline, those that have answered are still heard.
		r = watch_poll(&watch, folders[i].fd, POLLIN, CLOCK_NEVER) < 0 ? -EINTR : 0;
		take_answer(one, &folders[i], from->arena);
		if (!one->met && !one->why) {
			one->why = arena_format(from->arena, "does not answer within %s",
						duration_text(timeout_ms).s);
		}
	}
	for (uint32_t i = 0; i < all->n; i++) {
		folder_try_end(&folders[i]);
	}
	if (r == 0 || r == -EINTR) {
		watch_done(&watch);
		*signal = watch.signal;
	}
	return *signal ? -EINTR : r;
}

int expect_look(struct expectations *all, const struct facts_from *from, const struct facts *facts,
		uint64_t timeout_ms, int *signal, struct err *err) {
	*signal = 0;
	for (struct expectation *one = all->at; one < all->at + all->n; one++) {
		one->have = one->why = NULL;
		// Clocks are compared in the roll call.
		one->met = one->what->kind == EXPECT_CLOCK;
		if (one->what->fact) {
			look_at_fact(one, facts, from->arena);
		}
	}
	return look_at_folders(all, from, timeout_ms, signal, err);
}

void expect_check(const struct expectations *all, struct findings *out) {
	for (const struct expectation *one = all->at; one < all->at + all->n; one++) {
		if (one->met) {
			continue;
		}
		const char *text =
			one->why    ? arena_format(out->arena, "%s %s", one->text, one->why)
			: one->have ? arena_format(out->arena, "%s is %s here, and %s is expected",
						   one->what->name, one->have, one->text)
				    : arena_format(out->arena, "%s is not known here, and %s is expected",
						   one->what->name, one->text);
		findings_add(out, &(struct finding){.about = one->what->name,
						    .text = text,
						    .have = one->have,
						    .expected = one->text,
						    .source = all->from,
						    .stated = true});
	}
}
