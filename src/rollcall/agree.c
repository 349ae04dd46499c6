// SPDX-License-Identifier: Apache-2.0

/** The coordinator's comparison: whom it asks, and what it makes of the answers. */

#include "rollcall/coordinator.h"

#include "base/duration.h"

#include <errno.h>

/** A look-up of the master may take so long. */
#define MASTER_MS 2000

/** A clock that is wrong by more than this is worth a warning. */
#define CLOCK_MS 5000

/** Add @guest, or ourselves (NULL), to those that are compared. */
static void add_member(struct coordinator *co, struct compare_member *at, const struct guest *guest) {
	const struct roll_call *call = co->call;
	struct str own = roll_host(call, call->rank);
	*at = (struct compare_member){
		.rank = guest ? guest->rank : call->rank,
		.host = guest	  ? guest_name(guest)
			: own.len ? own
				  : str_of(call->node),
	};
	memcpy(at->digest, guest ? guest->digest : call->facts->digest, sizeof(at->digest));
}

/** List all that are here, in the order of ranks, with their guests. */
static struct guest **list_members(struct coordinator *co) {
	struct compare_member *members = arena_array(&co->scratch, co->n_members + 1, sizeof(*members));
	struct guest **guests = arena_array(&co->scratch, co->n_members + 1, sizeof(void *));
	uint32_t n = 0;
	co->compare = (struct compare){.arena = &co->scratch,
				       .members = members,
				       .facts = co->call->facts->list,
				       .tasks = co->call->cluster->scope == SCOPE_TASK};
	for (uint32_t rank = 0; rank < co->size; rank++) {
		struct guest *guest = co->seats[rank].guest;
		if (guest || rank == co->call->rank) {
			co->compare.own = guest ? co->compare.own : n;
			guests[n] = guest;
			add_member(co, &members[n++], guest);
		}
	}
	for (struct guest *guest = co->known.first; guest; guest = guest->next) {
		if (guest->state == GUEST_BEYOND) {
			guests[n] = guest;
			add_member(co, &members[n++], guest);
		}
	}
	co->compare.n = n;
	return guests;
}

/** Ask the speakers of @group's parties. We speak for our own. */
static void ask_speakers(struct coordinator *co, enum fact_group group, struct guest **guests) {
	struct compare_parties *parties = &co->parties[group];
	compare_whom(&co->compare, group, parties);
	for (uint32_t i = 0; i < parties->n; i++) {
		struct guest *guest = guests[parties->speaker[i]];
		co->speakers[group][i] = guest;
		co->payloads[group][i] = guest ? STR("") : co->call->facts->payload[group];
		if (guest && parties->n > 1) {
			const unsigned char which = (unsigned char)group;
			co->n_asked++;
			guest->asked++;
			line_send(&guest->line, FRAME_TELL, &which, 1);
		}
	}
}

/** Whether all that are here have our digests: then nothing needs to be listed. */
static bool all_alike(const struct coordinator *co) {
	const struct guest *guest = co->known.first;
	while (guest && memcmp(guest->digest, co->call->facts->digest, sizeof(guest->digest)) == 0) {
		guest = guest->next;
	}
	return !guest && !co->others;
}

void agree_begin(struct coordinator *co) {
	co->n_asked = 0;
	co->compare.n = 0;
	// Members come and go, and each time all is compared anew.
	arena_done(&co->scratch);
	arena_init(&co->scratch, NULL, 0, co->arena->full);
	if (!all_alike(co)) {
		struct guest **guests = list_members(co);
		for (enum fact_group group = 0; group < N_FACT_GROUPS; group++) {
			ask_speakers(co, group, guests);
		}
	}
}

void agree_take(struct coordinator *co, const struct guest *guest, struct str payload) {
	unsigned group = payload.len ? (unsigned char)payload.p[0] : N_FACT_GROUPS;
	// Others answer a comparison that began anew since.
	for (uint32_t i = 0; group < N_FACT_GROUPS && co->n_asked && i < co->parties[group].n; i++) {
		if (co->speakers[group][i] == guest && !co->payloads[group][i].len) {
			co->payloads[group][i] =
				(struct str){arena_text(&co->scratch, payload.p, payload.len), payload.len};
			co->n_asked--;
			return;
		}
	}
}

void agree_give_up(struct coordinator *co) {
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		for (uint32_t i = 0; i < co->parties[group].n; i++) {
			struct guest *guest = co->speakers[group][i];
			if (guest && !co->payloads[group][i].len && co->parties[group].n > 1) {
				guest_close(co, guest, true);
			}
		}
	}
}

static bool is_error(const struct coordinator *co, const struct difference *d) {
	return co->call->agree >> d->group & 1;
}

/** The number of members differs: other differences of the group follow from it. */
static bool is_size(const struct difference *d) {
	return d->group == FACTS_WORLD && (strcmp(d->name, "nodes") == 0 || strcmp(d->name, "tasks") == 0);
}

/** Report @d, unless it is the one that the error names. */
static void say_difference(struct coordinator *co, const struct difference *d) {
	struct buf text = BUF(&co->scratch);
	difference_text(&co->compare, d, &text);
	roll_say(co->call, ROLL_WARNING, "roll call: %s", buf_text(&text));
}

/** Look up @master, as a node calls it. Ours is not the short name. */
static bool find_master(struct coordinator *co, const char *master, struct addresses *out) {
	const char *own = facts_find(&co->call->facts->list[FACTS_WORLD], "master");
	return lookup(&co->watch, strcmp(master, own) == 0 ? co->call->master : master, co->port, out) == 0;
}

static bool have_common(const struct addresses *a, const struct addresses *b) {
	for (uint32_t i = 0; i < a->n * b->n; i++) {
		if (str_eq(address_bytes(&a->at[i / b->n]), address_bytes(&b->at[i % b->n]))) {
			return true;
		}
	}
	return false;
}

/** Whether @d is only that some nodes know the master by its address, and others by its name. */
static bool is_same_master(struct coordinator *co, const struct difference *d) {
	struct addresses first, other;
	const uint64_t deadline = co->watch.deadline;
	if (d->group != FACTS_WORLD || strcmp(d->name, "master") != 0) {
		return false;
	}
	// A name server that does not answer holds up all.
	co->watch.deadline = clock_after(co->now, MASTER_MS);
	bool same = find_master(co, d->values[0].value, &first);
	for (uint32_t i = 1; i < d->n_values && same; i++) {
		same = find_master(co, d->values[i].value, &other) && have_common(&first, &other);
	}
	co->watch.deadline = deadline;
	return same;
}

/** Find all differences, group after group. */
static struct difference *find_differences(struct coordinator *co) {
	struct difference *first = NULL, **end = &first;
	for (enum fact_group group = 0; group < N_FACT_GROUPS; group++) {
		uint32_t bad;
		struct str *payloads = co->payloads[group];
		if (co->parties[group].n < 2) {
			continue;
		}
		// A malformed answer counts as none. There is one more only after one was taken out.
		while (compare_group(&co->compare, group, &co->parties[group], payloads, end, &bad) < 0) {
			payloads[bad] = STR("");
		}
		while (*end) {
			if (is_same_master(co, *end)) {
				*end = (*end)->next;
			} else {
				end = &(*end)->next;
			}
		}
	}
	return first;
}

static void find_clocks(struct coordinator *co) {
	uint64_t worst = 0;
	struct str name = STR("");
	for (const struct guest *guest = co->known.first; guest; guest = guest->next) {
		uint64_t off = roll_clock_off(guest->clock_ms);
		if (off > worst) {
			worst = off;
			co->end->clock_ms = guest->clock_ms;
			co->end->clock_rank = guest->rank;
			name = guest_name(guest);
		}
	}
	if (worst > CLOCK_MS) {
		roll_say(co->call, ROLL_WARNING, "roll call: %.*s's clock is %s %s %s's", (int)name.len,
			 name.p, duration_text(worst / 1000 * 1000).s,
			 co->end->clock_ms < 0 ? "behind" : "ahead of", co->call->master);
	}
}

int agree_conclude(struct coordinator *co) {
	const struct difference *fatal = NULL;
	struct difference *all = co->compare.n ? find_differences(co) : NULL;
	for (const struct difference *d = all; d; d = d->next) {
		if (is_error(co, d) && (!fatal || (is_size(d) && !is_size(fatal)))) {
			fatal = d;
		}
	}
	for (const struct difference *d = all; d; d = d->next) {
		if (d != fatal) {
			say_difference(co, d);
		}
	}
	find_clocks(co);
	co->end->differences = all;
	co->end->compared = &co->compare;
	struct buf text = BUF(&co->scratch);
	if (fatal) {
		difference_text(&co->compare, fatal, &text);
		return err_set(&co->end->error, EPROTO,
			       "roll call: the %s do not agree%s: %s; nothing was started", co->call->noun,
			       fatal->group == FACTS_WORLD ? " on the cluster" : "", buf_text(&text));
	}
	if (co->others) {
		return err_set(&co->end->error, EPROTO, "roll call: the %s do not agree on how many they are",
			       co->call->noun);
	}
	return 0;
}
