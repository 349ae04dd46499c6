// SPDX-License-Identifier: Apache-2.0

#include "flow/frameworks.h"

#include "base/nearest.h"

#include <errno.h>

/** The default set; if @all, the set of the word "all". */
static uint32_t usual_set(bool all) {
	uint32_t set = 0;
	for (uint32_t i = 0; frameworks[i]; i++) {
		set |= (uint32_t)(all ? !frameworks[i]->apart : frameworks[i]->standard) << i;
	}
	return set;
}

uint32_t frameworks_standard(void) {
	return usual_set(false);
}

/** The set for one word; 0 for "none" and for an unknown word. */
static uint32_t set_of(struct str word, struct nearest *best) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		if (str_is(word, frameworks[i]->name)) {
			return (uint32_t)1 << i;
		}
		nearest_try(best, frameworks[i]->name);
	}
	nearest_try(best, "default");
	bool all = str_is(word, "all");
	return all || str_is(word, "default") ? usual_set(all) : 0;
}

int frameworks_parse(const char *label, const char *text, uint32_t *out, struct err *err) {
	uint32_t set = 0;
	struct str rest = str_of(text), word;
	while (str_cut(&rest, ',', &word)) {
		struct nearest best = {.word = word};
		uint32_t one = set_of(word, &best);
		if (!one && !str_is(word, "none")) {
			return err_set(err, EINVAL,
				       "%s=%s: there is no framework %s%s; see 'distinit frameworks'", label,
				       quote_text(text).s, quote(word).s, nearest_hint(&best, "").s);
		}
		set |= one;
	}
	*out = set;
	return 0;
}

bool frameworks_want_interface(uint32_t set, const struct env *env) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		const char *name = frameworks[i]->interface;
		if ((set >> i & 1) && name && !env_value(env, name)) {
			return true;
		}
	}
	return false;
}

bool frameworks_see_machine(uint32_t set) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		if ((set >> i & 1) && frameworks[i]->sees_machine) {
			return true;
		}
	}
	return false;
}

bool frameworks_set_variable(uint32_t set, struct str name) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		struct str rest = str_of(set >> i & 1 ? frameworks[i]->sets : NULL), word;
		while (rest.p && str_cut(&rest, ' ', &word)) {
			if (word.len && str_eq(word, name)) {
				return true;
			}
		}
	}
	return false;
}

const char *frameworks_named_for_hostfile(const char *text) {
	struct str rest = str_of(text), word;
	while (str_cut(&rest, ',', &word)) {
		for (uint32_t i = 0; frameworks[i]; i++) {
			if (frameworks[i]->hostfile && str_is(word, frameworks[i]->name)) {
				return frameworks[i]->name;
			}
		}
	}
	return NULL;
}

bool frameworks_want_hostfile(uint32_t set) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		if ((set >> i & 1) && frameworks[i]->hostfile) {
			return true;
		}
	}
	return false;
}

int frameworks_derive(uint32_t set, struct derivation *d, struct err *err) {
	if (cluster_is_single(d->cluster) || cluster_is_vague(d->cluster)) {
		return 0;
	}
	for (uint32_t i = 0; frameworks[i]; i++) {
		if (!(set >> i & 1)) {
			continue;
		}
		d->framework = frameworks[i];
		int r = d->framework->check ? d->framework->check(d, err) : 0;
		if (r < 0) {
			return r;
		}
		d->framework->derive(d);
	}
	return 0;
}
