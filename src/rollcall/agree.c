// SPDX-License-Identifier: Apache-2.0

#include "rollcall/agree.h"

#include "base/duration.h"

#include <errno.h>

/** A look-up of the master may take so long. */
#define MASTER_MS 2000

/** A clock that is wrong by more than this is worth a warning. */
#define CLOCK_MS 5000

/** Add @guest, or ourselves (NULL), to those that are compared. */
static void add_member(struct agree *a, struct compare_member *at, const struct guest *guest) {
	const struct roll_call *call = a->call;
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
static struct guest **list_members(struct agree *a) {
	struct compare_member *members = arena_array(&a->scratch, a->guests->n_members + 1, sizeof(*members));
	struct guest **guests = arena_array(&a->scratch, a->guests->n_members + 1, sizeof(void *));
	uint32_t n = 0;
	a->compare = (struct compare){.arena = &a->scratch,
				      .members = members,
				      .facts = a->call->facts->list,
				      .tasks = a->call->cluster->scope == SCOPE_TASK};
	for (uint32_t rank = 0; rank < a->call->size; rank++) {
		struct guest *guest = a->guests->seats[rank].guest;
		if (guest || rank == a->call->rank) {
			a->compare.own = guest ? a->compare.own : n;
			guests[n] = guest;
			add_member(a, &members[n++], guest);
		}
	}
	for (struct guest *guest = a->guests->known.first; guest; guest = guest->next) {
		if (guest->state == GUEST_BEYOND) {
			guests[n] = guest;
			add_member(a, &members[n++], guest);
		}
	}
	a->compare.n = n;
	return guests;
}

/** Ask the speakers of @group's parties. We speak for our own. */
static void ask_speakers(struct agree *a, enum fact_group group, struct guest **guests) {
	struct compare_parties *parties = &a->parties[group];
	compare_whom(&a->compare, group, parties);
	for (uint32_t i = 0; i < parties->n; i++) {
		struct guest *guest = guests[parties->speaker[i]];
		a->speakers[group][i] = guest;
		a->payloads[group][i] = guest ? STR("") : a->call->facts->payload[group];
		if (guest && parties->n > 1) {
			const unsigned char which = (unsigned char)group;
			a->n_asked++;
			guest->asked++;
			line_send(&guest->line, FRAME_TELL, &which, 1);
		}
	}
}

/** Whether all that are here have our digests: then nothing needs to be listed. */
static bool all_alike(const struct agree *a) {
	const struct guest *guest = a->guests->known.first;
	while (guest && memcmp(guest->digest, a->call->facts->digest, sizeof(guest->digest)) == 0) {
		guest = guest->next;
	}
	return !guest && !a->guests->others;
}

void agree_begin(struct agree *a) {
	a->n_asked = 0;
	a->compare.n = 0;
	// Members come and go, and each time all is compared anew.
	arena_done(&a->scratch);
	arena_init(&a->scratch, NULL, 0, a->call->arena->full);
	if (!all_alike(a)) {
		struct guest **guests = list_members(a);
		for (enum fact_group group = 0; group < N_FACT_GROUPS; group++) {
			ask_speakers(a, group, guests);
		}
	}
}

void agree_take(struct agree *a, const struct guest *guest, struct str payload) {
	unsigned group = payload.len ? (unsigned char)payload.p[0] : N_FACT_GROUPS;
	// Others answer a comparison that began anew since.
	for (uint32_t i = 0; group < N_FACT_GROUPS && a->n_asked && i < a->parties[group].n; i++) {
		if (a->speakers[group][i] == guest && !a->payloads[group][i].len) {
			a->payloads[group][i] =
				(struct str){arena_text(&a->scratch, payload.p, payload.len), payload.len};
			a->n_asked--;
			return;
		}
	}
}

struct guest *agree_silent(struct agree *a) {
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		for (uint32_t i = 0; i < a->parties[group].n && a->parties[group].n > 1; i++) {
			struct guest *guest = a->speakers[group][i];
			if (guest && !a->payloads[group][i].len) {
				a->speakers[group][i] = NULL;
				return guest;
			}
		}
	}
	return NULL;
}

static bool is_error(const struct agree *a, const struct difference *d) {
	return a->call->agree >> d->group & 1;
}

/** The number of members differs: other differences of the group follow from it. */
static bool is_size(const struct difference *d) {
	return d->group == FACTS_WORLD && (strcmp(d->name, "nodes") == 0 || strcmp(d->name, "tasks") == 0);
}

/** Report @d, unless it is the one that the error names. */
static void say_difference(struct agree *a, const struct difference *d) {
	struct buf text = BUF(&a->scratch);
	difference_text(&a->compare, d, &text);
	roll_say(a->call, ROLL_WARNING, "roll call: %s", buf_text(&text));
}

/** Look up @master, as a node calls it. Ours is not the short name. */
static bool find_master(struct agree *a, const char *master, struct addresses *out) {
	const char *own = facts_find(&a->call->facts->list[FACTS_WORLD], "master");
	return lookup(a->watch, strcmp(master, own) == 0 ? a->call->master : master, a->guests->port, out) ==
	       0;
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
static bool is_same_master(struct agree *a, const struct difference *d) {
	struct addresses first, other;
	const uint64_t deadline = a->watch->deadline;
	if (d->group != FACTS_WORLD || strcmp(d->name, "master") != 0) {
		return false;
	}
	// A name server that does not answer holds up all.
	a->watch->deadline = clock_after(a->guests->now, MASTER_MS);
	bool same = find_master(a, d->values[0].value, &first);
	for (uint32_t i = 1; i < d->n_values && same; i++) {
		same = find_master(a, d->values[i].value, &other) && have_common(&first, &other);
	}
	a->watch->deadline = deadline;
	return same;
}

/** Find all differences, group after group. */
static struct difference *find_differences(struct agree *a) {
	struct difference *first = NULL, **end = &first;
	for (enum fact_group group = 0; group < N_FACT_GROUPS; group++) {
		uint32_t bad;
		struct str *payloads = a->payloads[group];
		if (a->parties[group].n < 2) {
			continue;
		}
		// A malformed answer counts as none. There is one more only after one was taken out.
		while (compare_group(&a->compare, group, &a->parties[group], payloads, end, &bad) < 0) {
			payloads[bad] = STR("");
		}
		while (*end) {
			if (is_same_master(a, *end)) {
				*end = (*end)->next;
			} else {
				end = &(*end)->next;
			}
		}
	}
	return first;
}

static void find_clocks(const struct agree *a, struct roll_end *end) {
	uint64_t worst = 0;
	struct str name = STR("");
	for (const struct guest *guest = a->guests->known.first; guest; guest = guest->next) {
		uint64_t off = roll_clock_off(guest->clock_ms);
		if (off > worst) {
			worst = off;
			end->clock_ms = guest->clock_ms;
			end->clock_rank = guest->rank;
			name = guest_name(guest);
		}
	}
	if (worst > CLOCK_MS) {
		roll_say(a->call, ROLL_WARNING, "roll call: %.*s's clock is %s %s %s's", (int)name.len,
			 name.p, duration_text(worst / 1000 * 1000).s,
			 end->clock_ms < 0 ? "behind" : "ahead of", a->call->master);
	}
}

int agree_conclude(struct agree *a, struct roll_end *end) {
	const struct difference *fatal = NULL;
	struct difference *all = a->compare.n ? find_differences(a) : NULL;
	for (const struct difference *d = all; d; d = d->next) {
		if (is_error(a, d) && (!fatal || (is_size(d) && !is_size(fatal)))) {
			fatal = d;
		}
	}
	for (const struct difference *d = all; d; d = d->next) {
		if (d != fatal) {
			say_difference(a, d);
		}
	}
	find_clocks(a, end);
	end->differences = all;
	end->compared = &a->compare;
	struct buf text = BUF(&a->scratch);
	if (fatal) {
		difference_text(&a->compare, fatal, &text);
		return err_set(&end->error, EPROTO,
			       "roll call: the %s do not agree%s: %s; nothing was started", a->call->noun,
			       fatal->group == FACTS_WORLD ? " on the cluster" : "", buf_text(&text));
	}
	if (a->guests->others) {
		return err_set(&end->error, EPROTO, "roll call: the %s do not agree on how many they are",
			       a->call->noun);
	}
	return 0;
}
