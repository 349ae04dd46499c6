// SPDX-License-Identifier: Apache-2.0

#include "rollcall/agree.h"

#include "base/duration.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

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

void agree_drop(struct agree *a) {
	lookups_end(&a->child);
	a->state = NOT_COMPARING;
	a->n_asked = 0;
}

void agree_begin(struct agree *a) {
	agree_drop(a);
	a->state = ASKING;
	a->until = a->guests->now + TELL_MS;
	a->changes = a->guests->changes;
	a->compare.n = 0;
	a->master = NULL;
	a->differences = NULL;
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

/** Find all differences, group after group. */
static void find_differences(struct agree *a) {
	struct difference **end = &a->differences;
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
}

/** Some nodes may know the master by its address, and others by its name: look up what they call it. */
static void look_up_master(struct agree *a) {
	const char *names[COMPARE_PARTIES];
	const char *own = facts_find(&a->call->facts->list[FACTS_WORLD], "master");
	for (uint32_t i = 0; i < a->master->n_values; i++) {
		// The fact has its short name. We know it as it was given.
		const char *name = a->master->values[i].value;
		names[i] = own && strcmp(name, own) == 0 ? a->call->master : name;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = a};
	a->n_answers = 0;
	if (lookups_begin(&a->child, names, a->master->n_values, a->guests->port) == 0 &&
	    epoll_ctl(a->guests->epoll, EPOLL_CTL_ADD, a->child.fd, &event) == 0) {
		a->state = LOOKING_UP;
		// A name server that does not answer holds up all.
		a->until = a->guests->now + MASTER_MS;
		return;
	}
	lookups_end(&a->child);
}

void agree_read(struct agree *a) {
	struct pollfd more = {.events = POLLIN};
	// All that have come: the time may be over, and they count.
	do {
		if (a->state == LOOKING_UP && a->n_answers < a->master->n_values &&
		    lookups_read(&a->child, &a->answers[a->n_answers]) > 0) {
			a->n_answers++;
		} else {
			lookups_end(&a->child);
		}
		more.fd = a->child.fd;
	} while (more.fd >= 0 && poll(&more, 1, 0) > 0);
}

bool agree_go_on(struct agree *a) {
	const bool late = a->guests->now >= a->until;
	if (a->state == ASKING && !a->n_asked) {
		a->state = DONE;
		find_differences(a);
		if (a->master) {
			look_up_master(a);
		}
	} else if (a->state == LOOKING_UP &&
		   (late || a->child.fd < 0 || a->n_answers == a->master->n_values)) {
		a->state = DONE;
		lookups_end(&a->child);
	}
	return a->state == DONE;
}

static bool have_common(const struct addresses *a, const struct addresses *b) {
	for (uint32_t i = 0; i < a->n * b->n; i++) {
		if (str_eq(address_bytes(&a->at[i / b->n]), address_bytes(&b->at[i % b->n]))) {
			return true;
		}
	}
	return false;
}

/** Whether all that the nodes call the master leads to one address. */
static bool is_same_master(const struct agree *a) {
	bool same = a->master && a->n_answers == a->master->n_values;
	for (uint32_t i = 0; same && i < a->n_answers; i++) {
		same = lookup_fault(&a->answers[i]) == LOOKUP_FOUND &&
		       have_common(&a->answers[0].addresses, &a->answers[i].addresses);
	}
	return same;
}

/** Take the difference @a->master out. */
static void drop_master(struct agree *a) {
	struct difference **at = &a->differences;
	while (*at != a->master) {
		at = &(*at)->next;
	}
	*at = a->master->next;
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
	if (is_same_master(a)) {
		drop_master(a);
	}
	const struct difference *all = a->differences;
	a->state = NOT_COMPARING;
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
