// SPDX-License-Identifier: Apache-2.0

#include "priv/capability.h"

#include "base/nearest.h"
#include "base/num.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/capability.h>

#define CAPS_MAX 64

/** Copy @known, libcap's name of @cap; or write the number if @known is no name. */
static struct cap_name name_of(unsigned cap, const char *known) {
	struct cap_name name;
	if (known && *known == 'c') {
		snprintf(name.s, sizeof(name.s), "%s", known);
	} else {
		snprintf(name.s, sizeof(name.s), "cap_%u", cap);
	}
	return name;
}

struct cap_name cap_name(unsigned cap) {
	char *known = cap <= CAP_LAST_CAP ? cap_to_name((cap_value_t)cap) : NULL;
	struct cap_name name = name_of(cap, known);
	cap_free(known);
	return name;
}

/**
 * List the names of all capabilities. Free them at the end: freeing one at a time takes 0.4 ms of system
 * calls.
 */
static void all_names(struct cap_name names[CAP_LAST_CAP + 1]) {
	char *known[CAP_LAST_CAP + 1];
	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		known[cap] = cap_to_name((cap_value_t)cap);
		names[cap] = name_of(cap, known[cap]);
	}
	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		cap_free(known[cap]);
	}
}

/**
 * Write @word as libcap's names are written: in lower case, with "cap_" in front. "" if it is too long for a
 * name.
 */
static struct cap_name normal(struct str word) {
	struct cap_name name = {"cap_"};
	size_t at = word.len >= 4 && strncasecmp(word.p, name.s, 4) == 0 ? 0 : 4;
	if (word.len + at >= sizeof(name.s)) {
		return (struct cap_name){""};
	}
	for (size_t i = 0; i < word.len; i++) {
		char c = word.p[i];
		name.s[at + i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	name.s[at + word.len] = '\0';
	return name;
}

int cap_find(struct str word) {
	struct cap_name wanted = normal(word);
	uint64_t number;
	if (wanted.s[0] && num_read(str_of(wanted.s + 4), CAPS_MAX - 1, &number) == 0) {
		return (int)number;
	}
	// cap_from_name() knows only the first cap_max_bits() names, and that is 0 if libcap's constructor has
	// not run.
	struct cap_name names[CAP_LAST_CAP + 1];
	all_names(names);
	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		if (strcmp(names[cap].s, wanted.s) == 0) {
			return (int)cap;
		}
	}
	return -EINVAL;
}

static int refuse_name(const char *label, const char *text, struct str word, struct err *err) {
	struct cap_name names[CAP_LAST_CAP + 1], wanted = normal(word);
	struct nearest best = {.word = str_of(wanted.s + (wanted.s[0] ? 4 : 0))};
	all_names(names);
	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		nearest_try(&best, names[cap].s + 4);
	}
	return err_set(err, EINVAL, "%s=%s: there is no capability %s%s", label, quote_text(text).s,
		       quote(word).s, nearest_hint(&best, "").s);
}

int caps_parse(const char *label, const char *text, bool takes_all, uint64_t *out, struct err *err) {
	uint64_t set = 0;
	struct str rest = str_of(text), word;
	while (*text && str_cut(&rest, ',', &word)) {
		bool all = word.len == 3 && strncasecmp(word.p, "all", 3) == 0;
		if (all && !takes_all) {
			return err_set(err, EINVAL,
				       "%s=%s: 'all' is not accepted here; name the capabilities needed",
				       label, quote_text(text).s);
		}
		int cap = all ? 0 : cap_find(word);
		if (cap < 0) {
			return refuse_name(label, text, word, err);
		}
		set |= all ? CAPS_ALL : CAP_BIT(cap);
	}
	*out = set;
	return 0;
}

void caps_put(struct buf *out, uint64_t set) {
	const char *before = "";
	for (unsigned cap = 0; cap < CAPS_MAX; cap++) {
		if (set & CAP_BIT(cap)) {
			buf_puts(out, before);
			buf_puts(out, cap_name(cap).s);
			before = " ";
		}
	}
}

unsigned caps_first(uint64_t set) {
	return (unsigned)__builtin_ctzll(set);
}

static uint64_t get_flags(cap_t caps, cap_flag_t flag) {
	uint64_t set = 0;
	for (int cap = 0; cap < CAPS_MAX; cap++) {
		cap_flag_value_t on = CAP_CLEAR;
		if (cap_get_flag(caps, cap, flag, &on) == 0 && on == CAP_SET) {
			set |= CAP_BIT(cap);
		}
	}
	return set;
}

int caps_read(struct cap_sets *out, uint64_t *known, struct err *err) {
	cap_t caps = cap_get_proc();
	if (!caps) {
		return err_set(err, errno, "the capabilities cannot be read: %s", strerror(errno));
	}
	struct cap_sets sets = {
		.effective = get_flags(caps, CAP_EFFECTIVE),
		.permitted = get_flags(caps, CAP_PERMITTED),
		.inheritable = get_flags(caps, CAP_INHERITABLE),
	};
	cap_free(caps);
	int bound;
	uint64_t all = 0;
	for (int cap = 0; cap < CAPS_MAX && (bound = cap_get_bound(cap)) >= 0; cap++) {
		all |= CAP_BIT(cap);
		sets.bounding |= bound ? CAP_BIT(cap) : 0;
		// If a capability is not inheritable, it cannot be ambient, so the kernel need not be asked.
		// Linux before 4.3 has no ambient set and returns an error.
		bool may = sets.inheritable & CAP_BIT(cap);
		sets.ambient |= may && cap_get_ambient(cap) > 0 ? CAP_BIT(cap) : 0;
	}
	*out = sets;
	*known = all;
	return 0;
}

static int set_flags(cap_t caps, cap_flag_t flag, uint64_t set) {
	cap_value_t list[CAPS_MAX];
	int n = 0;
	for (int cap = 0; cap < CAPS_MAX; cap++) {
		if (set & CAP_BIT(cap)) {
			list[n++] = cap;
		}
	}
	return n ? cap_set_flag(caps, flag, n, list, CAP_SET) : 0;
}

int caps_write(uint64_t effective, uint64_t permitted, uint64_t inheritable) {
	cap_t caps = cap_init();
	if (!caps) {
		return -errno;
	}
	bool done = set_flags(caps, CAP_EFFECTIVE, effective) == 0 &&
		    set_flags(caps, CAP_PERMITTED, permitted) == 0 &&
		    set_flags(caps, CAP_INHERITABLE, inheritable) == 0 && cap_set_proc(caps) == 0;
	int r = done ? 0 : -errno;
	cap_free(caps);
	return r;
}

/**
 * Make libcap use its own system calls. libcap's constructor would do this before main(), but our build leaves it out,
 * because it also makes seven system calls in each run to find the kernel's last capability. If neither runs, libcap
 * takes errno as the result of a call. libcap 2.78 has no other function for this.
 */
static void use_own_calls(void) {
	cap_set_syscall(NULL, NULL);
}

int caps_keep_over_setuid(uint32_t uid) {
	use_own_calls();
	return cap_setuid(uid) < 0 ? -errno : 0;
}

int caps_drop_bounding(uint64_t set, unsigned *at) {
	use_own_calls();
	for (unsigned cap = 0; cap < CAPS_MAX; cap++) {
		if ((set & CAP_BIT(cap)) && cap_drop_bound((cap_value_t)cap) < 0) {
			*at = cap;
			return -errno;
		}
	}
	return 0;
}

int caps_write_ambient(uint64_t wanted, uint64_t inheritable, unsigned *at) {
	use_own_calls();
	for (unsigned cap = 0; cap < CAPS_MAX; cap++) {
		if (!(inheritable & CAP_BIT(cap))) {
			continue;
		}
		bool want = wanted & CAP_BIT(cap);
		bool have = cap_get_ambient((cap_value_t)cap) > 0;
		if (want != have && cap_set_ambient((cap_value_t)cap, want ? CAP_SET : CAP_CLEAR) < 0) {
			*at = cap;
			return -errno;
		}
	}
	return 0;
}
