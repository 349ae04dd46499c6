// SPDX-License-Identifier: Apache-2.0

#include "rollcall/decide.h"

#include "base/duration.h"

#include <errno.h>

/** Write the member of @guest, or the coordinator (NULL), to @at. */
static void add_member(struct agree *a, struct compare_member *at, const struct guest *guest) {
	const struct roll_call *call = a->roll->call;
	struct str own = roll_host(call, call->rank);
	*at = (struct compare_member){
		.rank = guest ? guest->rank : call->rank,
		.host = guest	  ? guest_name(guest)
			: own.len ? own
				  : str_of(call->node),
	};
	memcpy(at->digest, guest ? guest->digest : call->facts->digest, sizeof(at->digest));
}

/**
 * List all members that are present, in the order of ranks. Returns their connections; NULL in place of our
 * own.
 */
static struct guest **list_members(struct agree *a) {
	struct compare_member *members =
		arena_array(&a->scratch, a->roll->guests->n_members + 1, sizeof(*members));
	struct guest **guests = arena_array(&a->scratch, a->roll->guests->n_members + 1, sizeof(void *));
	uint32_t n = 0;
	a->compare = (struct compare){.arena = &a->scratch,
				      .members = members,
				      .facts = a->roll->call->facts->list,
				      .tasks = a->roll->call->cluster->scope == SCOPE_TASK};
	for (uint32_t rank = 0; rank < a->roll->call->size; rank++) {
		struct guest *guest = a->roll->seats[rank].guest;
		if (guest || rank == a->roll->call->rank) {
			a->compare.own = guest ? a->compare.own : n;
			guests[n] = guest;
			add_member(a, &members[n++], guest);
		}
	}
	for (struct guest *guest = a->roll->guests->known.first; guest; guest = guest->next) {
		if (guest->state == GUEST_BEYOND) {
			guests[n] = guest;
			add_member(a, &members[n++], guest);
		}
	}
	a->compare.n = n;
	return guests;
}

/** Choose the members to ask for @group, one of each party. The coordinator answers for its own party. */
static void ask_speakers(struct agree *a, enum fact_group group, struct guest **guests) {
	struct compare_parties *parties = &a->parties[group];
	compare_choose_speakers(&a->compare, group, parties);
	for (uint32_t i = 0; i < parties->n; i++) {
		struct guest *guest = guests[parties->speaker[i]];
		a->speakers[group][i] = guest;
		a->payloads[group][i] = guest ? STR("") : a->roll->call->facts->payload[group];
		if (guest && parties->n > 1) {
			a->n_asked++;
			guest->asked++;
		}
	}
}

/** Whether all members that are present have our digests and our size. */
static bool all_alike(const struct agree *a) {
	const struct guest *guest = a->roll->guests->known.first;
	while (guest && memcmp(guest->digest, a->roll->call->facts->digest, sizeof(guest->digest)) == 0) {
		guest = guest->next;
	}
	return !guest && !a->roll->others;
}

void agree_begin(struct agree *a, uint64_t now) {
	a->until = now + ANSWER_MS;
	a->n_asked = 0;
	a->compare.n = 0;
	a->master = NULL;
	a->differences = NULL;
	a->concluded = NULL;
	// Each time a member comes or goes, a new comparison begins: give the memory of the last one back.
	arena_done(&a->scratch);
	arena_init(&a->scratch, NULL, 0, a->roll->call->arena->full);
	if (!all_alike(a)) {
		struct guest **guests = list_members(a);
		for (enum fact_group group = 0; group < N_FACT_GROUPS; group++) {
			ask_speakers(a, group, guests);
		}
	}
}

void agree_take(struct agree *a, const struct guest *guest, struct str payload) {
	unsigned group = payload.len ? (unsigned char)payload.p[0] : N_FACT_GROUPS;
	// An answer that fits no speaker belongs to an earlier comparison.
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
	return a->roll->call->agree >> d->group & 1;
}

/** Whether @d is the number of members: other differences of its group follow from it. */
static bool is_size(const struct difference *d) {
	return d->group == FACTS_WORLD && (strcmp(d->name, "nodes") == 0 || strcmp(d->name, "tasks") == 0);
}

bool agree_compare(struct agree *a) {
	struct difference **end = &a->differences;
	a->n_answers = 0;
	a->all_answered = false;
	for (enum fact_group group = 0; group < N_FACT_GROUPS && a->compare.n; group++) {
		uint32_t bad;
		struct str *payloads = a->payloads[group];
		if (a->parties[group].n < 2) {
			continue;
		}
		// Drop a malformed answer and compare again. Each pass removes one, so this ends.
		while (compare_group(&a->compare, group, &a->parties[group], payloads, end, &bad) < 0) {
			payloads[bad] = STR("");
		}
		for (; *end; end = &(*end)->next) {
			if (group == FACTS_WORLD && strcmp((*end)->name, "master") == 0) {
				a->master = *end;
			}
		}
	}
	return a->master;
}

uint32_t agree_names(const struct agree *a, const char *names[COMPARE_PARTIES]) {
	const struct roll_call *call = a->roll->call;
	const char *own = facts_find(&call->facts->list[FACTS_WORLD], "master");
	for (uint32_t i = 0; i < a->master->n_values; i++) {
		// The fact has the short name only. Our own node has the name as it was given.
		const char *name = a->master->values[i].value;
		names[i] = own && strcmp(name, own) == 0 ? call->master : name;
	}
	return a->master->n_values;
}

void agree_looked_up(struct agree *a, const struct lookup_answer *answer) {
	if (answer && a->n_answers < a->master->n_values) {
		a->answers[a->n_answers++] = *answer;
	} else {
		a->all_answered = true;
	}
}

bool agree_is_looked_up(const struct agree *a) {
	return a->all_answered || a->n_answers == a->master->n_values;
}

static bool have_common(const struct addresses *a, const struct addresses *b) {
	for (uint32_t i = 0; i < a->n * b->n; i++) {
		if (address_same(&a->at[i / b->n], &b->at[i % b->n])) {
			return true;
		}
	}
	return false;
}

/** Whether all names of the master lead to one address. */
static bool is_same_master(const struct agree *a) {
	bool same = a->master && a->n_answers == a->master->n_values;
	for (uint32_t i = 0; same && i < a->n_answers; i++) {
		same = lookup_fault(&a->answers[i]) == LOOKUP_FOUND &&
		       have_common(&a->answers[0].addresses, &a->answers[i].addresses);
	}
	return same;
}

static void find_clocks(const struct agree *a, struct roll_end *end) {
	uint64_t worst = 0;
	for (const struct guest *guest = a->roll->guests->known.first; guest; guest = guest->next) {
		uint64_t off = roll_clock_off(guest->clock_ms);
		if (off > worst) {
			worst = off;
			end->clock_ms = guest->clock_ms;
			end->clock_rank = guest->rank;
		}
	}
}

/** Returns 0; -EPROTO if a clock is further off than the user allows. */
static int check_clocks(const struct agree *a, struct roll_end *end) {
	const struct roll_call *call = a->roll->call;
	const uint64_t off = roll_clock_off(end->clock_ms);
	const struct guest *guest = a->roll->guests->known.first;
	if (!call->clock_expected || off <= call->clock_most_ms) {
		return 0;
	}
	while (guest && guest->rank != end->clock_rank) {
		guest = guest->next;
	}
	const struct str name = guest ? guest_name(guest) : STR("a node");
	return err_set(
		&end->error, EPROTO,
		"roll call: the clock of %.*s (rank %u) is %s %s %s's, and %s is expected; nothing was "
		"started",
		(int)name.len, name.p, end->clock_rank, duration_text(off).s,
		end->clock_ms < 0 ? "behind" : "ahead of", call->master, call->clock_expected);
}

int agree_conclude(struct agree *a, struct roll_end *end, const struct difference **out) {
	const struct difference *fatal = NULL;
	if (is_same_master(a)) {
		// Different names of one machine are no difference.
		struct difference **at = &a->differences;
		while (*at != a->master) {
			at = &(*at)->next;
		}
		*at = a->master->next;
	}
	const struct difference *all = a->differences;
	for (const struct difference *d = all; d; d = d->next) {
		if (is_error(a, d) && (!fatal || (is_size(d) && !is_size(fatal)))) {
			fatal = d;
		}
	}
	*out = fatal;
	find_clocks(a, end);
	a->concluded = all;
	struct buf text = BUF(&a->scratch);
	if (fatal) {
		difference_text(&a->compare, fatal, &text);
		return err_set(&end->error, EPROTO,
			       "roll call: the %s do not agree%s: %s; nothing was started",
			       a->roll->call->noun, fatal->group == FACTS_WORLD ? " on the cluster" : "",
			       buf_text(&text));
	}
	if (a->roll->others) {
		return err_set(&end->error, EPROTO,
			       "roll call: the %s do not agree on how many they are; "
			       "nothing was started; 'distinit explain' shows each one's number",
			       a->roll->call->noun);
	}
	return check_clocks(a, end);
}
