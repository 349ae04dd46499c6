// SPDX-License-Identifier: Apache-2.0

/** Sets a variable for a framework, keeps the user's value, or leaves the variable out. */

#include "base/buf.h"
#include "base/num.h"
#include "cluster/endpoint.h"
#include "framework/framework.h"

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

void derive_leaves_all_out(struct derivation *d, const char *const *names, const char *why) {
	for (; *names; names++) {
		derive_leaves_out(d, *names, why);
	}
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
	derive(d, name, str_of(arena_format(d->env->arena, "%u", value)), why);
}

void derive_noted(struct derivation *d, const char *name, uint32_t value, const char *why) {
	const char *set = env_value(d->env, name);
	uint32_t was;
	if (set && (num_read_u32(str_of(set), &was) < 0 || was != value)) {
		notes_add(d->notes,
			  "%s=%s was set already and is kept, but should be %u here; "
			  "unset it to have it derived",
			  name, quote_text(set).s, value);
	}
	derive_number(d, name, value, why);
}

void derive_replaces_link(struct derivation *d, const char *name, const char *service) {
	notes_add(d->notes,
		  "%s=%s was made by Kubernetes for a service called '%s' and is replaced; "
		  "enableServiceLinks: false in the pod prevents it",
		  name, quote_text(env_get(d->env, name)).s, service);
	env_unset(d->env, str_of(name), NULL);
}

/** Record that @name is not set because the master is not known. */
static void leave_master_out(struct derivation *d, const char *name) {
	if (!derive_keeps(d, name)) {
		derive_leaves_out(d, name, "the hosts are not known");
	}
}

void derive_master_addr(struct derivation *d, const char *name) {
	if (d->cluster->master_addr.len == 0) {
		leave_master_out(d, name);
		return;
	}
	derive(d, name, d->cluster->master_addr, d->cluster->master_addr_why);
}

void derive_address(struct derivation *d, const char *name, const char *before, uint16_t port,
		    const char *why) {
	const struct cluster *c = d->cluster;
	if (c->master_addr.len == 0) {
		leave_master_out(d, name);
		return;
	}
	struct buf buf = BUF(d->env->arena);
	buf_puts(&buf, before);
	endpoint_put(&buf, c->master_addr, port);
	derive(d, name, buf_str(&buf), why);
}

void derive_interface(struct derivation *d) {
	const struct framework *f = d->framework;
	const char *name = f->interface, *why = d->interface.why;
	const char *value = f->own_address ? d->interface.address : d->interface.name;
	if (derive_keeps(d, name)) {
		return;
	}
	if (!value) {
		notes_add(d->notes, "%s is left out: %s", name, why);
		derive_leaves_out(d, name, why);
		return;
	}
	derive(d, name, str_of(f->exact_interface ? arena_format(d->env->arena, "=%s", value) : value), why);
}
