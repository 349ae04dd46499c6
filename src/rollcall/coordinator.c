// SPDX-License-Identifier: Apache-2.0

#include "rollcall/coordinator.h"

#include "base/duration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/** Descriptors beside one for each member, and those that this process needs for itself. */
#define SPARE_FDS 32
#define OWN_FDS	  16

/** How many more than the members may have proved themselves. */
#define SPARE_MEMBERS 64

/** How many more than the members may not have proved themselves, and how many at least. */
#define SPARE_UNPROVED 256
#define UNPROVED_MIN   16

/** How long answers to TELL, and the ends of connections after GO or NO, are awaited. */
#define TELL_MS 2000
#define GO_MS	2000
#define NO_MS	1000

/** How long members are awaited to tell them why nobody starts. */
#define REFUSE_MS 10000

/** How long, and how often, a told port that is taken is tried before a restart. A test program has less. */
#ifndef TAKEN_MS
#define TAKEN_MS 30000
#endif
#define TAKEN_STEP_MS 100

/** How long before a report the names of the absent are looked up, in milliseconds. */
#define LOOK_UP_MS 2000

/** When the master's own name is looked up, if somebody is absent then. */
#define OWN_NAME_MS 1000

// --- opening

/** How many descriptors below @limit are free, at most @enough: some were inherited. */
static uint64_t count_free(uint64_t limit, uint64_t enough) {
	uint64_t n = 0;
	for (int fd = 0; (uint64_t)fd < limit && n < enough; fd++) {
		n += fcntl(fd, F_GETFD) < 0;
	}
	return n;
}

/**
 * Share @room descriptors. All members may come at once, and have not proved themselves then; after a
 * failure of the network all may come again, while their older connections still seem open.
 */
static void share_room(struct coordinator *co, uint64_t room) {
	uint64_t members = clock_earlier(room - UNPROVED_MIN, (uint64_t)co->call->size + SPARE_MEMBERS);
	co->guests.max_unproved =
		(uint32_t)clock_earlier(room - members, (uint64_t)co->call->size + SPARE_UNPROVED);
	co->guests.max_members =
		(uint32_t)clock_earlier(room - co->guests.max_unproved, members + co->call->size);
}

/** Make room for all descriptors. *@was is the limit before. Returns 0; -EMFILE with @err. */
static int raise_limit(struct coordinator *co, struct rlimit *was) {
	const uint64_t need = (uint64_t)co->call->size + SPARE_FDS;
	prlimit(0, RLIMIT_NOFILE, NULL, was);
	uint64_t most = 3 * (uint64_t)co->call->size + SPARE_MEMBERS + SPARE_UNPROVED + OWN_FDS;
	uint64_t room = count_free(was->rlim_max, most);
	if (room < need) {
		return err_set(&co->end->error, EMFILE,
			       "roll call: %u %s need %lu open files, but the hard limit leaves %lu of "
			       "%lu; raise it ('ulimit -n', an engine's --ulimit nofile=N)",
			       co->call->size, co->call->noun, (unsigned long)need, (unsigned long)room,
			       (unsigned long)was->rlim_max);
	}
	prlimit(0, RLIMIT_NOFILE, &(struct rlimit){was->rlim_max, was->rlim_max}, NULL);
	share_room(co, room - OWN_FDS);
	return 0;
}

/** "port 29500 of main1 is taken (by a listener of uid 1001)". */
static const char *taken(const struct coordinator *co) {
	return arena_format(co->call->arena, "port %u of %s is taken%s", co->call->port, co->call->master,
			    listen_owner(co->call->arena, co->call->port));
}

static int refuse_port(struct coordinator *co, int code) {
	const char *from = co->call->port_from;
	co->end->result = ROLL_PORT;
	return code != -EADDRINUSE
		       ? err_set(&co->end->error, -code,
				 "roll call: cannot listen on port %u: %s; nothing was started",
				 co->call->port, strerror(-code))
		       : err_set(&co->end->error, -code, "roll call: %s%s%s; nothing was started", taken(co),
				 from ? ", and " : ", as are the others",
				 from ? arena_format(co->call->arena, "%s sets this port", from) : "");
}

static int fail_mixed(struct coordinator *co) {
	co->end->result = ROLL_DUPLICATE;
	return err_set(&co->end->error, EEXIST,
		       "roll call: another job without an id holds a roll call on this port; set "
		       "DISTINIT_SECRET or DISTINIT_JOB to tell them apart; nothing was started");
}

/** Hold @port, and listen on it. Returns 0; a negative errno. */
static int try_port(struct coordinator *co, uint16_t port) {
	// Another job may have agreed on it, and its program has not bound it yet.
	int held = listen_hold(port);
	co->listener = held == -EADDRINUSE ? held : listen_open(port);
	if (co->listener < 0) {
		if (held >= 0) {
			close(held);
		}
		return co->listener;
	}
	co->held = held;
	co->guests.port = port;
	return 0;
}

static const char *unable(bool told) {
	return told ? "was told to end" : "cannot start";
}

static void refusal_begin(struct coordinator *co, enum roll_result result) {
	co->end->result = result;
	co->refuse_at = co->call->late_at ? co->call->late_at : clock_after(co->guests.started, REFUSE_MS);
	if (co->refuse_at < co->guests.now) {
		co->refuse_at = co->guests.now;
	}
}

/** The job's only port is taken. Members look for us at the others, to learn that. */
static int open_other_port(struct coordinator *co, const uint16_t ports[ROLL_PORTS]) {
	int r = refuse_port(co, -EADDRINUSE);
	for (uint32_t i = 1; i < ROLL_PORTS && co->listener < 0; i++) {
		try_port(co, ports[i]);
	}
	if (co->listener < 0) {
		return r;
	}
	refusal_begin(co, ROLL_PORT);
	return 0;
}

/** Listen on the first port that is free. Before a restart, what holds the only one may be about to end. */
static int open_port(struct coordinator *co) {
	uint16_t ports[ROLL_PORTS];
	uint32_t n = roll_ports(co->call, ports);
	int r = -EADDRINUSE;
	const uint64_t until = co->guests.started + (co->call->late_at && n == 1 ? TAKEN_MS : 0);
	while (clock_now_ms() < until && (r = try_port(co, ports[0])) == -EADDRINUSE) {
		if (watch_poll(&co->watch, -1, 0, clock_now_ms() + TAKEN_STEP_MS) < 0) {
			return -EINTR;
		}
	}
	for (uint32_t i = 0; i < n && r == -EADDRINUSE; i++) {
		r = try_port(co, ports[i]);
		co->moved = i > 0;
		if (r == -EADDRINUSE && co->call->nameless &&
		    listener_begins(ports[i], GREETING_MAGIC, strlen(GREETING_MAGIC))) {
			return fail_mixed(co);
		}
	}
	if (r == -EADDRINUSE && n == 1) {
		return open_other_port(co, ports);
	}
	if (co->listener < 0) {
		return refuse_port(co, co->listener);
	}
	co->end->port = co->guests.port;
	co->end->moved = co->moved;
	if (co->moved) {
		roll_say(co->call, ROLL_WARNING, "roll call: %s; all %s use %u", taken(co), co->call->noun,
			 co->guests.port);
	}
	return 0;
}

static int open_desk(struct coordinator *co) {
	int r = open_port(co);
	if (r < 0) {
		return r;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = co};
	co->guests.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (co->guests.epoll < 0 || epoll_ctl(co->guests.epoll, EPOLL_CTL_ADD, co->listener, &event) < 0) {
		return err_set(&co->end->error, errno, "roll call: cannot watch connections: %s",
			       strerror(errno));
	}
	if (co->call->unable && !co->refuse_at) {
		err_set(&co->end->error, ENOEXEC, "roll call: %s %s: %s; nothing was started",
			co->call->master, unable(co->call->told), co->call->unable);
		refusal_begin(co, co->call->told ? ROLL_TOLD : ROLL_ERROR);
	}
	const uint32_t pause_ms = co->call->pause_ms;
	co->guests.hold =
		co->guests.started + (co->call->nameless && pause_ms < NAMELESS_MS ? NAMELESS_MS : pause_ms);
	return 0;
}

// --- calling

/** Until the deadline, as it is sent. */
static uint32_t left_ms(const struct coordinator *co) {
	return (uint32_t)clock_earlier(clock_left(co->guests.now, co->watch.deadline), UINT32_MAX);
}

static struct wait_news make_news(const struct coordinator *co) {
	uint32_t ranks[WAIT_NAMES];
	struct wait_news news = {
		.present = co->guests.present,
		.size = co->call->size,
		.since_ms = (uint32_t)(co->guests.now - co->guests.started),
		.left_ms = left_ms(co),
		.absent = co->call->size - co->guests.present,
		.n = absent_list(&co->absent, ranks, WAIT_NAMES),
	};
	for (uint32_t i = 0; i < news.n; i++) {
		news.at[i].rank = ranks[i];
		news.at[i].host = roll_host(co->call, ranks[i]);
	}
	return news;
}

void news_send(struct coordinator *co, struct guest *guest) {
	unsigned char payload[HELLO_MAX];
	const struct wait_news news = make_news(co);
	size_t n = wait_encode(&news, payload);
	if (guest) {
		line_send(&guest->line, FRAME_WAIT, payload, n);
	} else {
		guests_send(&co->guests, FRAME_WAIT, payload, n);
	}
}

/** A member cannot start its program, or was told to end: nobody does. */
static void take_unable(struct coordinator *co, const struct guest *guest, const struct hearing *hearing) {
	struct str name = guest_name(guest), why = hearing->text;
	if (co->refuse_at) {
		roll_say(co->call, ROLL_WARNING, "roll call: %.*s (rank %u) %s, either: %.*s", (int)name.len,
			 name.p, guest->rank, unable(hearing->told), (int)why.len, why.p);
	} else {
		err_set(&co->end->error, ENOEXEC, "roll call: %.*s (rank %u) %s: %.*s; nothing was started",
			(int)name.len, name.p, guest->rank, unable(hearing->told), (int)why.len, why.p);
		refusal_begin(co, hearing->told ? ROLL_TOLD : ROLL_ERROR);
	}
}

void coordinator_read(struct coordinator *co, struct guest *guest, bool over) {
	struct hearing hearing;
	hearing.over = over;
	hearing.n = 0;
	for (enum said said = SAID_HELLO; said != SAID_NOTHING;) {
		said = guest_hear(&co->guests, guest, &hearing);
		if (said == SAID_HELLO && hearing.left_ms < left_ms(co)) {
			// It may give up before us.
			news_send(co, guest);
		} else if (said == SAID_FACTS) {
			agree_take(&co->agree, guest, hearing.text);
		} else if (said == SAID_UNABLE) {
			take_unable(co, guest, &hearing);
		}
	}
}

/** Wait for what comes, at most until @until, and handle it. Returns 0; -EINTR. */
static int handle_events(struct coordinator *co, uint64_t until) {
	struct epoll_event events[256];
	int r = watch_poll(&co->watch, co->guests.epoll, POLLIN, until), n = 0;
	co->guests.now = clock_now_ms();
	if (r > 0) {
		n = epoll_wait(co->guests.epoll, events, sizeof(events) / sizeof(events[0]), 0);
	}
	bool others_come = false;
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == co) {
			// After the rest: they may get the place of one that is still to be read.
			others_come = true;
		} else if (events[i].data.ptr == &co->absent) {
			absent_read(&co->absent);
		} else {
			coordinator_read(co, events[i].data.ptr, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (others_come) {
		uint64_t seconds = (clock_left(co->guests.now, co->watch.deadline) + 999) / 1000;
		guests_accept(&co->guests, co->listener, (uint32_t)clock_earlier(seconds, UINT32_MAX));
	}
	return r < 0 ? r : 0;
}

/** Look names up a little before they are reported. */
static void plan_look_up(struct coordinator *co) {
	uint64_t next = clock_earlier(co->progress, co->watch.deadline);
	uint64_t left = clock_left(co->guests.now, next);
	co->look_up = left > 2 * LOOK_UP_MS ? next - LOOK_UP_MS : co->guests.now + left / 2;
}

/** What a terminal shows meanwhile. */
static void show_status(struct coordinator *co) {
	const struct wait_news news = make_news(co);
	struct buf absent = BUF(co->call->arena);
	roll_put_absent(&absent, &news);
	roll_say(co->call, ROLL_STATUS, "roll call: %u of %u %s are here, %s%s", news.present, news.size,
		 co->call->noun, duration_text(news.since_ms / 1000 * 1000).s, buf_text(&absent));
	co->status = co->guests.now + STATUS_MS;
}

/** Progress is reported after 10, 20 and 40 s, then each minute. */
static void report_progress(struct coordinator *co) {
	uint64_t passed = co->guests.now - co->guests.started;
	roll_say(co->call, ROLL_WARNING, "roll call: %u of %u %s are here after %s; absent: %s",
		 co->guests.present, co->call->size, co->call->noun, duration_text(passed / 1000 * 1000).s,
		 absent_text(&co->absent));
	news_send(co, NULL);
	co->reported = true;
	co->progress = co->guests.started + (passed < 20000   ? 20000
					     : passed < 40000 ? 40000
							      : passed + 60000);
	plan_look_up(co);
}

/** Whether the members that are here can be all: by our count, or by that of another. */
static bool is_complete(const struct coordinator *co) {
	bool complete = co->guests.present == co->call->size;
	const struct guest *guest = co->guests.others ? co->guests.known.first : NULL;
	for (; guest && !complete; guest = guest->next) {
		complete = co->guests.present >= guest->size;
	}
	return complete;
}

static int fail_duplicate(struct coordinator *co) {
	char address[2][ADDRESS_TEXT];
	struct str name[2];
	for (int i = 0; i < 2; i++) {
		// Both say the same host: their machines call themselves otherwise.
		name[i] = co->guests.duplicate[i]->node.len ? co->guests.duplicate[i]->node
							    : guest_name(co->guests.duplicate[i]);
		address_text(&co->guests.duplicate[i]->peer, address[i]);
	}
	co->end->result = ROLL_DUPLICATE;
	if (co->guests.duplicate[0] == co->guests.duplicate[1]) {
		// It says our own rank.
		name[0] = str_of(co->call->master);
		memcpy(address[0], "coordinator", sizeof("coordinator"));
	}
	return err_set(
		&co->end->error, EEXIST,
		"roll call: two %s say that they are rank %u: %.*s (%s) and %.*s (%s); nothing was started%s",
		co->call->noun, co->guests.duplicate[1]->rank, (int)name[0].len, name[0].p, address[0],
		(int)name[1].len, name[1].p, address[1],
		co->call->nameless
			? "; if they are of two jobs: DISTINIT_SECRET or DISTINIT_JOB tells them apart"
			: "");
}

static int fail_absent(struct coordinator *co) {
	co->end->result = ROLL_ABSENT;
	return err_set(
		&co->end->error, ETIMEDOUT,
		"roll call: %u of %u %s did not come within %s: %s; nothing was started; %s=DURATION waits "
		"longer",
		co->call->size - co->guests.present, co->call->size, co->call->noun,
		duration_text(co->call->timeout_ms).s, absent_text(&co->absent), co->call->longer);
}

/** Those that have not answered are closed. They will come again. */
static void close_silent(struct coordinator *co) {
	for (struct guest *guest; (guest = agree_silent(&co->agree));) {
		guest_close(&co->guests, guest, PART_ASIDE);
	}
}

/** Compare until it is concluded. Returns 1 to go on calling; 0 to start; a negative errno. */
static int step_comparison(struct coordinator *co) {
	bool changed = co->compared != co->guests.changes;
	if (changed || (co->agree.n_asked && co->guests.now >= co->tell)) {
		if (!changed) {
			close_silent(co);
		}
		co->tell = 0;
		return 1;
	}
	if (co->agree.n_asked) {
		return 1;
	}
	int r = agree_conclude(&co->agree, co->end);
	if (r < 0) {
		co->end->result = ROLL_DISAGREE;
		return r;
	}
	// With others here that are too few, time is over.
	return co->guests.present == co->call->size ? 0 : fail_absent(co);
}

/** Tell those that are here why nothing starts. */
static void send_no(struct coordinator *co) {
	unsigned char payload[HELLO_MAX];
	enum roll_result kind = co->end->result == ROLL_PORT ? ROLL_ERROR : co->end->result;
	const char *text = co->end->error.text;
	const char *prefix = "roll call: ";
	text += strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
	const struct no no = {.kind = (enum no_kind)kind, .text = str_of(text)};
	guests_send(&co->guests, FRAME_NO, payload, no_encode(&no, payload));
}

/**
 * Before a restart nobody waits for those that are still ending: who is here is told at once that nothing
 * starts. Returns whether all were.
 */
static bool all_told(struct coordinator *co) {
	uint32_t n = 1 + co->call->n_left;
	if (!co->call->late_at) {
		return false;
	}
	if (co->compared != co->guests.changes) {
		co->compared = co->guests.changes;
		send_no(co);
	}
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		n += co->guests.seats[rank].guest || co->guests.seats[rank].gone;
	}
	return n >= co->call->size;
}

/** What is due now. Returns 1 to go on; 0 to start; a negative errno. */
static int step(struct coordinator *co) {
	bool over = co->guests.now >= co->watch.deadline;
	if (co->refuse_at) {
		return over || co->guests.now >= co->refuse_at || is_complete(co) || all_told(co) ? -EPROTO
												  : 1;
	}
	if (co->guests.mixed) {
		return fail_mixed(co);
	}
	if (co->guests.duplicate[0]) {
		return fail_duplicate(co);
	}
	if (co->guests.now >= clock_after(co->watch.deadline, 2 * TELL_MS)) {
		// Some come again and again, and do not answer.
		return fail_absent(co);
	}
	if (!co->tell &&
	    ((over && co->guests.others) || (is_complete(co) && co->guests.now >= co->guests.hold))) {
		co->tell = co->guests.now + TELL_MS;
		co->compared = co->guests.changes;
		agree_begin(&co->agree);
	}
	if (co->tell) {
		return step_comparison(co);
	}
	if (over) {
		return fail_absent(co);
	}
	// Nothing of their texts is kept: the child that looks names up has a copy.
	const struct arena before = *co->call->arena;
	if (co->guests.now >= co->look_up) {
		absent_look_up(&co->absent);
		co->look_up = CLOCK_NEVER;
		if (!co->absent.knows_itself) {
			co->absent.knows_itself = true;
			plan_look_up(co);
		}
	}
	if (co->guests.now >= co->progress) {
		report_progress(co);
	}
	if (co->guests.now >= co->status) {
		show_status(co);
	}
	arena_back(co->call->arena, &before);
	return 1;
}

/** When step() has something to do, if nothing happens before. */
static uint64_t next_step(const struct coordinator *co) {
	if (co->refuse_at || co->tell) {
		return co->refuse_at ? co->refuse_at : co->tell;
	}
	uint64_t next = clock_earlier(co->progress, clock_earlier(co->look_up, co->status));
	return co->guests.hold > co->guests.now ? clock_earlier(next, co->guests.hold) : next;
}

/** Call until all are here and agree. Returns 0; a negative errno. */
static int call_all(struct coordinator *co) {
	int r = 0;
	co->guests.now = co->guests.started;
	co->progress = co->guests.now + WAIT_PROGRESS_MS;
	co->status = co->call->rewrites ? co->guests.now + STATUS_FIRST_MS : CLOCK_NEVER;
	plan_look_up(co);
	// With little time, there is only one for the absent.
	co->absent.knows_itself = co->look_up < co->guests.now + OWN_NAME_MS;
	co->look_up = clock_earlier(co->look_up, co->guests.now + OWN_NAME_MS);
	while (r == 0) {
		r = step(co);
		if (r <= 0) {
			return r;
		}
		r = handle_events(co, clock_earlier(guests_expire(&co->guests), next_step(co)));
	}
	return r;
}

// --- ending

/** Nobody is called any more. */
static void close_listener(struct coordinator *co) {
	absent_done(&co->absent);
	close(co->listener);
	co->listener = -1;
	guests_close(&co->guests, &co->guests.unproved, PART_ASIDE);
	guests_close(&co->guests, &co->guests.proved, PART_ASIDE);
}

/** Wait until all have closed, or @ms have passed. Returns 0; -EINTR. */
static int await_ends(struct coordinator *co, uint64_t ms) {
	int r = 0;
	co->guests.now = clock_now_ms();
	co->watch.deadline = co->guests.now + ms;
	while (r == 0 && co->guests.n_members && co->guests.now < co->watch.deadline) {
		r = handle_events(co, CLOCK_NEVER);
	}
	return r;
}

static void report_start(struct coordinator *co) {
	const struct guest *guest = co->guests.seats[co->guests.last].guest;
	struct str last = guest ? guest_name(guest) : STR("");
	// Whoever was told who is absent is told that they came.
	roll_say(co->call, co->reported ? ROLL_WARNING : ROLL_INFO,
		 "roll call: all %u %s are here, after %s (the last: %.*s); %s", co->call->size,
		 co->call->noun, duration_text(co->end->took_ms).s, (int)last.len, last.p,
		 co->call->secret ? "authenticated" : "not authenticated");
}

/** Hand the connections to the caller. */
static void keep_lines(struct coordinator *co) {
	co->end->lines = arena_array(co->call->arena, co->call->size, sizeof(*co->end->lines));
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		struct guest *guest = co->guests.seats[rank].guest;
		co->end->lines[rank] = (struct kept_line){
			guest ? guest->line : (struct line){.fd = -1},
			guest ? guest_name(guest) : roll_host(co->call, rank),
			false,
			false,
			NULL,
		};
	}
}

/** Tell all to start. The members close first, so that the port is free without TIME_WAIT. */
static void release(struct coordinator *co) {
	unsigned char payload[HELLO_MAX];
	for (const struct guest *guest = co->guests.known.first; guest; guest = guest->next) {
		co->end->round = guest->round > co->end->round ? guest->round : co->end->round;
	}
	co->end->took_ms = clock_now_ms() - co->guests.started;
	const struct go go = {
		.port = co->guests.port,
		.flags = co->call->stay ? GO_STAY : 0,
		.round = co->end->round,
		.took_ms = (uint32_t)co->end->took_ms,
	};
	close_listener(co);
	report_start(co);
	co->end->present = co->guests.present;
	guests_send(&co->guests, FRAME_GO, payload, go_encode(&go, payload));
	if (co->call->stay) {
		keep_lines(co);
		return;
	}
	if (await_ends(co, GO_MS) == 0) {
		guests_report_deaf(&co->guests);
	}
}

/** Tell all why nothing starts. */
static void refuse(struct coordinator *co, int code) {
	co->end->took_ms = clock_now_ms() - co->guests.started;
	close_listener(co);
	co->end->present = co->guests.present;
	absent_report(&co->absent, co->end);
	// Members report who is absent, too.
	news_send(co, NULL);
	send_no(co);
	if (code != -EINTR) {
		await_ends(co, NO_MS);
	}
}

/** Call, and tell the result. The watch has begun. */
static int run(struct coordinator *co) {
	int r = open_desk(co);
	if (r == 0) {
		r = call_all(co);
		if (r == -EINTR) {
			co->end->result = ROLL_SIGNAL;
		}
		if (r == 0) {
			release(co);
		} else {
			refuse(co, r);
		}
		// Without a reset: what was sent may still be on its way.
		if (r < 0 || !co->call->stay) {
			guests_close(&co->guests, &co->guests.known, PART_OVER);
		}
	}
	if (co->guests.epoll >= 0) {
		close(co->guests.epoll);
	}
	if (co->listener >= 0) {
		close(co->listener);
	}
	if (co->held >= 0 && r < 0) {
		close(co->held);
		co->held = -1;
	}
	co->end->held = co->held;
	return r;
}

void coordinator_init(struct coordinator *co, const struct roll_call *call, struct roll_end *end) {
	memset(co, 0, sizeof(*co));
	co->call = co->guests.call = co->absent.call = co->agree.call = call;
	co->end = end;
	co->absent.guests = co->agree.guests = &co->guests;
	co->agree.watch = &co->watch;
	co->guests.looked = &co->absent.looked;
	co->guests.epoll = co->listener = co->held = co->absent.looked.child.fd = -1;
	arena_init(&co->agree.scratch, NULL, 0, call->arena->full);
	guests_begin(&co->guests);
}

int coordinator_run(const struct roll_call *call, struct roll_end *end) {
	struct coordinator *co = arena_alloc(call->arena, sizeof(*co));
	const struct guests *guests = &co->guests;
	struct wait_for wait = {.timeout_ms = call->timeout_ms};
	struct rlimit was;
	coordinator_init(co, call, end);
	end->result = ROLL_ERROR;
	int r = raise_limit(co, &was);
	if (r < 0) {
		return r;
	}
	r = watch_begin(&co->watch, &wait);
	co->guests.started = co->guests.now = co->watch.started;
	if (r < 0) {
		end->error = co->watch.failure;
	} else {
		r = run(co);
		watch_done(&co->watch);
	}
	prlimit(0, RLIMIT_NOFILE, &was, NULL);
	end->restarts = guests->restarts;
	end->last = guests->last;
	end->last_ms = guests->last_ms;
	end->strangers = guests->strangers;
	end->n_strangers = guests->n_strangers;
	end->signal = co->watch.signal;
	end->waited_ms = clock_now_ms() - guests->started;
	if (end->signal) {
		end->result = ROLL_SIGNAL;
		return -EINTR;
	}
	end->result = r == 0 ? ROLL_STARTED : end->result;
	return r;
}
