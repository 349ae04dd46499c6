// SPDX-License-Identifier: Apache-2.0

#include "framework/framework.h"

#include "base/nearest.h"
#include "base/num.h"

#include <errno.h>

const struct framework *const frameworks[] = {
	&framework_torch,
	&framework_torchrun,
	&framework_tensorflow,
	&framework_jax,
	&framework_xgboost,
	&framework_paddle,
	&framework_mpi,
	&framework_mpich,
	&framework_horovod,
	&framework_deepspeed,
	&framework_nccl,
	&framework_gloo,
	NULL,
};

uint32_t frameworks_standard(void) {
	uint32_t set = 0;
	for (uint32_t i = 0; frameworks[i]; i++) {
		set |= (uint32_t)frameworks[i]->standard << i;
	}
	return set;
}

/** The set that one word stands for; 0 for one that is unknown, and for "none". */
static uint32_t set_of(struct str word, struct nearest *best) {
	for (uint32_t i = 0; frameworks[i]; i++) {
		if (str_is(word, frameworks[i]->name)) {
			return (uint32_t)1 << i;
		}
		nearest_try(best, frameworks[i]->name);
	}
	nearest_try(best, "default");
	if (str_is(word, "all")) {
		return UINT32_MAX;
	}
	return str_is(word, "default") ? frameworks_standard() : 0;
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
				       quote(str_of(text)).s, quote(word).s, nearest_hint(&best, "").s);
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

static void remark(struct derivation *d, const char *name, const char *by, const char *why, bool kept) {
	struct remark *r = arena_alloc(d->env->arena, sizeof(*r));
	*r = (struct remark){.name = name, .by = by, .why = why, .kept = kept};
	if (d->last_remark) {
		d->last_remark->next = r;
	} else {
		d->remarks = r;
	}
	d->last_remark = r;
}

bool derive_keeps(struct derivation *d, const char *name) {
	if (!env_value(d->env, name)) {
		return false;
	}
	remark(d, name, "user", "it was set already", true);
	return true;
}

void derive_leaves_out(struct derivation *d, const char *name, const char *why) {
	remark(d, name, d->framework->name, why, false);
}

static const struct origin *origin_of(struct derivation *d, const char *why) {
	struct origin *by = arena_alloc(d->env->arena, sizeof(*by));
	*by = (struct origin){.by = d->framework->name, .why = why};
	return by;
}

void derive_text(struct derivation *d, const char *text, uint32_t name_len, const char *why) {
	env_set_text(d->env, text, name_len, origin_of(d, why));
}

void derive(struct derivation *d, const char *name, struct str value, const char *why) {
	if (!derive_keeps(d, name)) {
		env_set(d->env, str_of(name), value, origin_of(d, why));
	}
}

void derive_number(struct derivation *d, const char *name, uint32_t value, const char *why) {
	char digits[NUM_DIGITS];
	derive(d, name, (struct str){digits, num_write(digits, value)}, why);
}
