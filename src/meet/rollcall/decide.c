// SPDX-License-Identifier: Apache-2.0

#include "rollcall/decide.h"

#include "base/duration.h"

#include <errno.h>

/** How long the coordinator waits for members to close their connections after GO, and after NO. */
#define GO_MS 2000
#define NO_MS 1000

/** After a refusal: how long the coordinator stays, so that members that come later get the reason. */
#define REFUSE_MS 10000

/** How long before a report the names of absentees are looked up. */
#define LOOK_UP_MS 2000

/** When the master's own name is looked up, if members are absent then. */
#define OWN_NAME_MS 1000

/** If another host takes a rank, the start waits so long: if the older process is alive, it reconnects. */
#define RECONNECT_MS 1000

/** One event while it is handled. */
struct decision {
	struct roll *roll;
	uint64_t now;
	struct coordinator_todo todo;
};

// --- the result

/** End the roll call without a start. end->result and end->error are already set. */
static void fail(struct decision *d) {
	struct roll *roll = d->roll;
	roll->state = COORDINATOR_FAILED;
	roll->until = clock_after(d->now, NO_MS);
	roll->end->took_ms = d->now - roll->started;
	roll->end->present = roll->present;
	absent_report(roll->absent, d->now, roll->end);
	d->todo.what |= DO_FAIL;
}

static void fail_absent(struct decision *d) {
	struct roll *roll = d->roll;
	const struct roll_call *call = roll->call;
	roll->end->result = ROLL_ABSENT;
	if (roll->present == call->size) {
		err_set(&roll->end->error, ETIMEDOUT,
			"roll call: all %u %s came, but not all answered within %s; nothing was started; "
			"%s=DURATION waits longer",
			call->size, call->noun, duration_text(call->timeout_ms).s, call->longer);
		fail(d);
		return;
	}
	err_set(&roll->end->error, ETIMEDOUT,
		"roll call: %u of %u %s did not come within %s: %s; nothing was started; %s=DURATION waits "
		"longer",
		call->size - roll->present, call->size, call->noun, duration_text(call->timeout_ms).s,
		absent_text(roll->absent, d->now), call->longer);
	fail(d);
}

int coordinator_mixed(struct roll_end *end) {
	end->result = ROLL_DUPLICATE;
	return err_set(
		&end->error, EEXIST,
		"roll call: another master calls the roll on this port: another job without an id (set "
		"DISTINIT_SECRET or DISTINIT_JOB to tell them apart), or another node of rank 0; nothing was started");
}

/**
 * Fail: @older and @newer have the same rank, and both are alive. @older is NULL: the rank is the
 * coordinator's.
 */
static void fail_duplicate(struct decision *d, const struct guest *older, const struct guest *newer) {
	struct roll *roll = d->roll;
	const struct guest *both[] = {older ? older : newer, newer};
	char address[2][ADDRESS_TEXT];
	struct str name[2];
	for (int i = 0; i < 2; i++) {
		// Both may name the same listed host, so the message has the names of their machines.
		name[i] = both[i]->node.len ? both[i]->node : guest_name(both[i]);
		address_text(&both[i]->peer, address[i]);
	}
	if (!older) {
		name[0] = str_of(roll->call->master);
		memcpy(address[0], "coordinator", sizeof("coordinator"));
	}
	roll->end->result = ROLL_DUPLICATE;
	err_set(&roll->end->error, EEXIST,
		"roll call: two %s say that they are rank %u: %.*s (%s) and %.*s (%s); nothing was started%s",
		roll->call->noun, newer->rank, (int)name[0].len, name[0].p, address[0], (int)name[1].len,
		name[1].p, address[1],
		roll->call->nameless
			? "; if they are of two jobs: DISTINIT_SECRET or DISTINIT_JOB tells them apart"
			: "");
	fail(d);
}

const char *coordinator_unable(enum able able) {
	return able == ABLE_ASKED_TO_END ? "was asked to end" : "cannot start";
}

static void mark_refused(struct roll *roll, const struct guest *guest) {
	if (guest->state == GUEST_PRESENT) {
		roll->seats[guest->rank].refused = true;
	}
}

/**
 * Nobody starts, because of end->error: send NO to all members that are present now, and to others when they
 * come.
 */
static void refuse(struct decision *d, enum roll_result result) {
	struct roll *roll = d->roll;
	roll->state = COORDINATOR_REFUSING;
	roll->end->result = result;
	roll->until = roll->call->late_at ? roll->call->late_at : clock_after(roll->started, REFUSE_MS);
	roll->until = roll->until < d->now ? d->now : roll->until;
	for (const struct guest *guest = roll->guests->known.first; guest; guest = guest->next) {
		mark_refused(roll, guest);
	}
	d->todo.what |= DO_SEND_NO;
}

/** Whether all members that may come have got NO. */
static bool all_refused(const struct roll *roll) {
	uint32_t n = 1 + roll->call->n_gone;
	for (uint32_t rank = 0; rank < roll->call->size; rank++) {
		n += roll->seats[rank].refused;
	}
	return n >= roll->call->size;
}

// --- members come and go

/** The time until the deadline, in the form of a frame. */
static uint32_t left_ms(const struct decision *d) {
	return (uint32_t)clock_earlier(clock_left(d->now, d->roll->deadline), UINT32_MAX);
}

static void close_guest(struct decision *d, struct guest *guest, unsigned close_reason) {
	d->todo.guest = guest;
	d->todo.close_reason = close_reason;
	d->todo.what |= DO_CLOSE;
}

/** Send NO to @guest and close it, because @newer has its rank now. */
static void replace(struct decision *d, struct guest *guest, const struct guest *newer) {
	close_guest(d, guest, CLOSE_DONE);
	d->todo.newer = newer;
}

/**
 * Whether @a was started in place of @b, which has the same rank. A process that took part in no start is
 * newer than one that did; else the one with more starts is newer.
 */
static bool is_newer(const struct guest *a, const struct guest *b) {
	return b->starts && (!a->starts || a->starts > b->starts);
}

/**
 * Give @guest the seat of its rank. A newer process takes the seat from an older one, which was restarted, or
 * whose connection broke without a notice. If the older one comes again, both are alive, which is an error.
 * Returns false if nothing is left to do: @guest is closed, or the roll call has failed.
 */
static bool take_seat(struct decision *d, struct guest *guest, enum able able) {
	struct roll *roll = d->roll;
	struct seat *seat = &roll->seats[guest->rank];
	struct guest *older = seat->guest;
	const bool other = older && older->incarnation != guest->incarnation,
		   ours = guest->rank == roll->call->rank;
	const bool refusing = roll->state == COORDINATOR_REFUSING;
	// In the first second of a job without an id, another process of a rank may be of another job. But a node
	// calls once more to say why it ends.
	const bool doubtful =
		other && able == ABLE && roll->call->nameless && d->now < roll->started + NAMELESS_MS;
	if (!refusing && (ours || doubtful || (older && seat->replaced == guest->incarnation))) {
		fail_duplicate(d, ours ? NULL : older, guest);
		return false;
	}
	if (ours) {
		// Refusing: @guest gets NO, but no seat.
		return true;
	}
	if (other && older->starts != guest->starts) {
		if (!is_newer(guest, older)) {
			replace(d, guest, older);
			return false;
		}
		replace(d, older, guest);
	} else if (older) {
		close_guest(d, older, CLOSE_ASIDE);
		seat->replaced = other ? older->incarnation : seat->replaced;
		if (other && !str_eq(older->node, guest->node) && roll->not_before < d->now + RECONNECT_MS) {
			roll->not_before = d->now + RECONNECT_MS;
		}
	}
	roll->restarts += older ? other : seat->gone != 0;
	roll->present += !older;
	roll->changes++;
	seat->guest = guest;
	seat->refused = false;
	roll->last = guest->rank;
	roll->last_ms = d->now - roll->started;
	return true;
}

/** Handle a member that cannot start its program, or was asked to end: no member starts. */
static void take_unable(struct decision *d, const struct coordinator_event *event) {
	const struct guest *guest = event->guest;
	const struct str name = guest_name(guest), why = event->text;
	if (d->roll->state == COORDINATOR_REFUSING) {
		d->todo.unable = guest;
		d->todo.able = event->able;
		d->todo.text = why;
		d->todo.what |= DO_WARN_UNABLE;
		return;
	}
	err_set(&d->roll->end->error, ENOEXEC, "roll call: %.*s (rank %u) %s: %.*s; nothing was started",
		(int)name.len, name.p, guest->rank, coordinator_unable(event->able), (int)why.len, why.p);
	refuse(d, event->able == ABLE_ASKED_TO_END ? ROLL_ASKED_TO_END : ROLL_ERROR);
}

/** Handle HELLO. */
static void take_hello(struct decision *d, const struct coordinator_event *event) {
	struct roll *roll = d->roll;
	struct guest *guest = event->guest;
	const struct roll_call *call = roll->call;
	if (roll->state > COORDINATOR_REFUSING ||
	    (guest->starts > call->max_restarts &&
	     guest->digest[FACTS_WORLD] == call->facts->digest[FACTS_WORLD])) {
		// It has our --max-restarts, so it cannot have started so often.
		close_guest(d, guest, CLOSE_STRANGER + STRANGER_OTHER);
		return;
	}
	guest->counted = true;
	roll->others += guest->size != call->size;
	if (guest->state == GUEST_PRESENT && !take_seat(d, guest, event->able)) {
		return;
	}
	if (event->able != ABLE) {
		take_unable(d, event);
	}
	if (roll->state == COORDINATOR_REFUSING) {
		mark_refused(roll, guest);
		d->todo.to = d->todo.what & DO_SEND_NO ? NULL : guest;
		d->todo.what |= DO_SEND_NO;
	} else if (event->left_ms < left_ms(d)) {
		// Its deadline is before ours: WAIT makes it wait for our result.
		d->todo.to = guest;
		d->todo.what |= DO_SEND_WAIT;
	}
}

static void add_deaf(struct roll *roll, const struct guest *guest) {
	if (roll->n_deaf++ < WAIT_NAMES) {
		buf_puts(&roll->deaf, roll->deaf.len ? ", " : "");
		buf_put(&roll->deaf, guest_name(guest));
	}
}

static void take_gone(struct decision *d, struct guest *guest) {
	struct roll *roll = d->roll;
	if (!guest->counted) {
		return;
	}
	struct seat *seat = guest->state == GUEST_PRESENT ? &roll->seats[guest->rank] : NULL;
	guest->counted = false;
	roll->others -= guest->size != roll->call->size;
	if (seat && seat->guest == guest) {
		seat->guest = NULL;
		seat->gone = d->now;
		roll->present--;
		roll->changes++;
	}
	if (roll->state == COORDINATOR_STARTED && !guest->heard) {
		add_deaf(roll, guest);
	}
}

// --- comparing

/** Drop the comparison: answers that still come are ignored. */
static void drop_comparison(struct roll *roll) {
	roll->state = COORDINATOR_CALLING;
	roll->agree.n_asked = 0;
}

/** Go on with the comparison, if no answer is awaited any more; at its end, decide whether all may start. */
static void compare(struct decision *d) {
	struct roll *roll = d->roll;
	struct agree *agree = &roll->agree;
	const bool late = d->now >= agree->until;
	if (roll->state == COORDINATOR_ASKING && agree->n_asked) {
		if (late) {
			drop_comparison(roll);
			d->todo.what |= DO_CLOSE_SILENT;
		}
		return;
	}
	if (roll->state == COORDINATOR_ASKING && agree_compare(agree)) {
		roll->state = COORDINATOR_LOOKING_UP;
		agree->until = CLOCK_NEVER;
		d->todo.what |= DO_LOOK_UP_MASTER;
		return;
	}
	if (roll->state == COORDINATOR_LOOKING_UP && !late && !agree_is_looked_up(agree)) {
		return;
	}
	d->todo.what |= DO_WARN_DIFFERENCES;
	if (agree_conclude(agree, roll->end, &d->todo.fatal) < 0) {
		roll->end->result = ROLL_DISAGREE;
		fail(d);
	} else if (roll->present < roll->call->size) {
		// The deadline has passed, and members with another size are here. They do not differ
		// otherwise.
		fail_absent(d);
	} else {
		// Accept no more connections, and read once more all frames that have come.
		roll->state = COORDINATOR_CLOSING;
		d->todo.what |= DO_CLOSE_CALL;
	}
}

// --- calling

/**
 * Whether the number of members that are present is the size of the job, by our count or by another member's.
 */
static bool is_complete(const struct roll *roll) {
	bool complete = roll->present == roll->call->size;
	const struct guest *guest = roll->others ? roll->guests->known.first : NULL;
	for (; guest && !complete; guest = guest->next) {
		complete = roll->present >= guest->size;
	}
	return complete;
}

/** Plan to look names up LOOK_UP_MS before they are reported. */
static void plan_look_up(struct roll *roll, uint64_t now) {
	uint64_t next = clock_earlier(roll->progress, roll->deadline);
	uint64_t left = clock_left(now, next);
	roll->look_up = left > 2 * LOOK_UP_MS ? next - LOOK_UP_MS : now + left / 2;
}

/** Plan the next progress report: after 10, 20 and 40 s, then each minute. */
static void plan_progress(struct roll *roll, uint64_t now) {
	const uint64_t passed = now - roll->started;
	roll->progress = roll->started + (passed < 20000 ? 20000 : passed < 40000 ? 40000 : passed + 60000);
	plan_look_up(roll, now);
}

static void go_on_calling(struct decision *d) {
	struct roll *roll = d->roll;
	if (d->now >= roll->look_up) {
		d->todo.what |= roll->looked_up_self ? DO_LOOK_UP_ABSENT : DO_LOOK_UP_SELF;
		roll->look_up = CLOCK_NEVER;
		if (!roll->looked_up_self) {
			roll->looked_up_self = true;
			plan_look_up(roll, d->now);
		}
	}
	if (d->now >= roll->progress) {
		plan_progress(roll, d->now);
		// In the pause before a restart all may be here: then there is nobody to report.
		if (roll->present < roll->call->size) {
			roll->reported = true;
			d->todo.what |= DO_SHOW_PROGRESS | DO_SEND_WAIT;
		}
	}
	if (d->now >= roll->status) {
		roll->status = d->now + STATUS_MS;
		d->todo.what |= DO_SHOW_STATUS;
	}
}

/** Before the decision: do what is due. */
static void go_on(struct decision *d) {
	struct roll *roll = d->roll;
	const bool over = d->now >= roll->deadline;
	if (roll->state == COORDINATOR_REFUSING) {
		if (over || d->now >= roll->until || all_refused(roll)) {
			fail(d);
		}
		return;
	}
	if (d->now >= clock_after(roll->deadline, 2 * ANSWER_MS)) {
		// Members reconnect again and again, and do not answer.
		fail_absent(d);
		return;
	}
	if (roll->state != COORDINATOR_CALLING && roll->changes != roll->changes_before) {
		drop_comparison(roll);
	}
	if (roll->state != COORDINATOR_CALLING) {
		compare(d);
	} else if ((over && roll->others) || (is_complete(roll) && (over || d->now >= roll->not_before))) {
		roll->state = COORDINATOR_ASKING;
		roll->changes_before = roll->changes;
		agree_begin(&roll->agree, d->now);
		// End the look-ups of absentees, because there is one look-up child at a time.
		d->todo.what |= DO_LOOK_UP_NONE | (roll->agree.n_asked ? DO_SEND_ASK : 0);
		compare(d);
	} else if (over) {
		fail_absent(d);
	} else {
		go_on_calling(d);
	}
}

static void take_due(struct decision *d) {
	const struct roll *roll = d->roll;
	if (roll->state < COORDINATOR_STARTED) {
		go_on(d);
	}
	// This is not `else`: if no member is connected, the roll call is over as soon as it is decided.
	if (roll->state >= COORDINATOR_STARTED && (!roll->guests->n_members || d->now >= roll->until)) {
		d->todo.what |= DO_RETURN;
	}
}

/** All frames that had come are read: send GO, unless members have come or gone meanwhile. */
static void take_all_read(struct decision *d) {
	struct roll *roll = d->roll;
	struct roll_end *end = roll->end;
	if (roll->state != COORDINATOR_CLOSING) {
		return;
	}
	if (roll->changes != roll->changes_before) {
		roll->state = COORDINATOR_CALLING;
		d->todo.what |= DO_LISTEN_AGAIN;
		return;
	}
	for (uint32_t rank = 0; rank < roll->call->size; rank++) {
		const struct guest *guest = roll->seats[rank].guest;
		end->start = guest && guest->starts > end->start ? guest->starts : end->start;
	}
	roll->state = COORDINATOR_STARTED;
	roll->until = clock_after(d->now, GO_MS);
	end->result = ROLL_STARTED;
	end->took_ms = d->now - roll->started;
	end->present = roll->present;
	d->todo.what |= DO_SEND_GO | (roll->call->stay ? DO_RETURN : 0);
}

static void take_term(struct decision *d) {
	struct roll *roll = d->roll;
	if (roll->state >= COORDINATOR_STARTED) {
		d->todo.what |= DO_RETURN;
		return;
	}
	if (roll->state == COORDINATOR_REFUSING) {
		// Members have already got another reason, so keep it.
		fail(d);
		return;
	}
	roll->end->result = ROLL_SIGNAL;
	fail(d);
	d->todo.what |= DO_RETURN;
}

struct coordinator_todo coordinator_decide(struct roll *roll, const struct coordinator_event *event,
					   uint64_t now) {
	struct decision d = {.roll = roll, .now = now};
	switch (event->what) {
	case COORDINATOR_HELLO:
		take_hello(&d, event);
		break;
	case COORDINATOR_FACTS:
		if (!event->guest->asked) {
			close_guest(&d, event->guest, CLOSE_STRANGER + STRANGER_OTHER);
			break;
		}
		event->guest->asked--;
		agree_take(&roll->agree, event->guest, event->text);
		break;
	case COORDINATOR_BYE:
		// The member does not wait for GO any more, so its seat is free.
		close_guest(&d, event->guest, CLOSE_ASIDE);
		break;
	case COORDINATOR_HEARD:
		if (roll->state != COORDINATOR_STARTED) {
			close_guest(&d, event->guest, CLOSE_STRANGER + STRANGER_OTHER);
			break;
		}
		event->guest->heard = true;
		break;
	case COORDINATOR_UNEXPECTED:
		close_guest(&d, event->guest, CLOSE_STRANGER + STRANGER_OTHER);
		break;
	case COORDINATOR_GONE:
		take_gone(&d, event->guest);
		break;
	case COORDINATOR_LOOKS_UP:
		// Limited, because a name server that does not answer would delay all members.
		roll->agree.until = now + MASTER_MS;
		break;
	case COORDINATOR_LOOKED_UP:
		if (roll->state == COORDINATOR_LOOKING_UP) {
			agree_looked_up(&roll->agree, event->answer);
		}
		break;
	case COORDINATOR_UNABLE:
		refuse(&d, event->result);
		break;
	case COORDINATOR_ALL_READ:
		take_all_read(&d);
		break;
	case COORDINATOR_PORT_LOST:
		fail(&d);
		break;
	case COORDINATOR_ASKED_TO_END:
		take_term(&d);
		break;
	case COORDINATOR_DUE:
		take_due(&d);
		break;
	}
	if (d.todo.what & DO_RETURN && roll->state == COORDINATOR_STARTED && !roll->call->stay) {
		for (const struct guest *guest = roll->guests->known.first; guest; guest = guest->next) {
			if (!guest->heard) {
				add_deaf(roll, guest);
			}
		}
		d.todo.what |= roll->n_deaf ? DO_WARN_DEAF : 0;
	}
	return d.todo;
}

uint64_t coordinator_until(const struct roll *roll, uint64_t now) {
	if (roll->state >= COORDINATOR_STARTED) {
		return roll->until;
	}
	if (roll->state == COORDINATOR_REFUSING) {
		return clock_earlier(roll->until, roll->deadline);
	}
	if (roll->state != COORDINATOR_CALLING) {
		return roll->agree.until;
	}
	uint64_t next = clock_earlier(roll->progress, clock_earlier(roll->look_up, roll->status));
	next = clock_earlier(next, roll->deadline);
	return roll->not_before > now ? clock_earlier(next, roll->not_before) : next;
}

void coordinator_begin(struct roll *roll, uint64_t now, uint64_t deadline) {
	const struct roll_call *call = roll->call;
	const uint64_t least_ms = call->nameless ? NAMELESS_MS : 0;
	roll->started = now;
	roll->deadline = deadline;
	roll->not_before = now + (call->pause_ms < least_ms ? least_ms : call->pause_ms);
	roll->progress = now + WAIT_PROGRESS_MS;
	roll->status = call->rewrites ? now + STATUS_FIRST_MS : CLOCK_NEVER;
	plan_look_up(roll, now);
	// If there is little time, skip our own name, and look only the absentees up.
	roll->looked_up_self = roll->look_up < now + OWN_NAME_MS;
	roll->look_up = clock_earlier(roll->look_up, now + OWN_NAME_MS);
}

void coordinator_prepare(struct roll *roll, const struct roll_call *call, struct roll_end *end) {
	roll->call = call;
	roll->end = end;
	roll->deaf = BUF(call->arena);
	roll->agree.roll = roll;
	arena_init(&roll->agree.scratch, NULL, 0, call->arena->full);
	roll->seats = arena_array(call->arena, call->size, sizeof(*roll->seats));
	memset(roll->seats, 0, call->size * sizeof(*roll->seats));
	roll->present = 1;
}
