// SPDX-License-Identifier: Apache-2.0

#include "rollcall/coordinator.h"

#include "base/duration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/** Descriptors beside one for each member, and those that this process needs for itself. */
#define SPARE_FDS 32
#define OWN_FDS	  16

/** The most events that are handled at once. */
#define EVENTS_MAX 256

/** How long another coordinator on our port is told that there are two. */
#define OTHER_MS 5000

/** How many more than the members may have proved themselves. */
#define SPARE_MEMBERS 64

/** How many more than the members may not have proved themselves, and how many at least. */
#define SPARE_UNPROVED 256
#define UNPROVED_MIN   16

/** How long the ends of connections after GO or NO are awaited. */
#define GO_MS 2000
#define NO_MS 1000

/** How long members are awaited to tell them why nobody starts. */
#define REFUSE_MS 10000

/** What is needed at least to tell members, one after the other, that there are too few descriptors for all. */
#define REFUSE_FDS 4

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

/**
 * Make room for all descriptors. *@was is the limit before. Returns 0, but with the error if there are too few for
 * all; -EMFILE with the error if there is no room for anybody.
 */
static int raise_limit(struct coordinator *co, struct rlimit *was) {
	const uint64_t need = (uint64_t)co->call->size + SPARE_FDS;
	prlimit(0, RLIMIT_NOFILE, NULL, was);
	uint64_t most = 3 * (uint64_t)co->call->size + SPARE_MEMBERS + SPARE_UNPROVED + OWN_FDS;
	uint64_t room = count_free(was->rlim_max, most);
	if (room < need) {
		err_set(&co->end->error, EMFILE,
			"roll call: %u %s need %lu open files, but the hard limit leaves %lu of "
			"%lu; raise it ('ulimit -n', an engine's --ulimit nofile=N)",
			co->call->size, co->call->noun, (unsigned long)need, (unsigned long)room,
			(unsigned long)was->rlim_max);
	}
	if (room < OWN_FDS + REFUSE_FDS) {
		return -EMFILE;
	}
	prlimit(0, RLIMIT_NOFILE, &(struct rlimit){was->rlim_max, was->rlim_max}, NULL);
	if (room < need) {
		co->guests.max_unproved = co->guests.max_members = (uint32_t)(room - OWN_FDS) / 2;
	} else {
		share_room(co, room - OWN_FDS);
	}
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

static const char *unable(enum able able) {
	return able == ABLE_ASKED_TO_END ? "was told to end" : "cannot start";
}

/** The NO with the result. */
static struct no make_no(const struct coordinator *co) {
	enum roll_result kind = co->end->result == ROLL_PORT ? ROLL_ERROR : co->end->result;
	const char *text = co->end->error.text;
	const char *prefix = "roll call: ";
	text += strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
	return (struct no){.kind = (enum no_kind)kind, .text = str_of(text)};
}

/** Tell those that are here why nobody starts. */
static void send_no(struct coordinator *co) {
	const struct no no = make_no(co);
	for (struct guest *guest = co->guests.known.first; guest; guest = guest->next) {
		guest_refuse(&co->guests, guest, &no);
	}
}

/** Nobody starts, because of end->error. Those that are here are told now, others as they come. */
static void refusal_begin(struct coordinator *co, enum roll_result result) {
	co->end->result = result;
	co->refuse_at = co->call->late_at ? co->call->late_at : clock_after(co->guests.started, REFUSE_MS);
	if (co->refuse_at < co->guests.now) {
		co->refuse_at = co->guests.now;
	}
	send_no(co);
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

/**
 * Another coordinator of no job in particular has our port, and our members come to it. Call it, too: two of rank 0
 * cannot be, so it tells all. Returns -EEXIST, with our own error; -EINTR.
 */
static int call_other(struct coordinator *co) {
	struct roll_end theirs = {.port = co->call->port, .held = -1};
	struct roll_call call = *co->call;
	fail_mixed(co);
	call.unable = "another job without an id holds a roll call on this port";
	call.timeout_ms = clock_earlier(call.timeout_ms, OTHER_MS);
	call.stay = false;
	member_run(&call, &theirs);
	co->watch.signal = theirs.signal;
	return theirs.signal ? -EINTR : -EEXIST;
}

/** Listen on the first port that is free. Before a restart, what holds the only one may be about to end. */
static int open_port(struct coordinator *co) {
	uint16_t ports[ROLL_PORTS];
	uint32_t n = roll_ports(co->call, ports);
	int r = -EADDRINUSE;
	// With half of the time left, the others can still hear that it stays taken.
	const uint64_t half = (co->deadline - co->guests.started) / 2;
	const uint64_t until =
		co->guests.started + (co->call->late_at && n == 1 ? clock_earlier(TAKEN_MS, half) : 0);
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
			return call_other(co);
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

/** Let those who come wake us. Returns 1; a negative errno with the error. */
static int watch_listener(struct coordinator *co) {
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = co};
	return epoll_ctl(co->guests.epoll, EPOLL_CTL_ADD, co->listener, &event) < 0
		       ? err_set(&co->end->error, errno, "roll call: cannot watch connections: %s",
				 strerror(errno))
		       : 1;
}

static int open_desk(struct coordinator *co) {
	int r = open_port(co);
	if (r < 0) {
		return r;
	}
	co->guests.epoll = epoll_create1(EPOLL_CLOEXEC);
	r = watch_listener(co);
	if (r < 0) {
		return r;
	}
	if (co->call->unable && !co->refuse_at && !co->end->error.text[0]) {
		const enum able able = co->call->asked_to_end ? ABLE_ASKED_TO_END : ABLE_NOT;
		err_set(&co->end->error, ENOEXEC, "roll call: %s %s: %s; nothing was started",
			co->call->master, unable(able), co->call->unable);
		refusal_begin(co, co->call->asked_to_end ? ROLL_TOLD : ROLL_ERROR);
	} else if (co->end->error.text[0] && !co->refuse_at) {
		// There is no room for all.
		refusal_begin(co, ROLL_ERROR);
	}
	const uint32_t pause_ms = co->call->pause_ms;
	co->guests.hold =
		co->guests.started + (co->call->nameless && pause_ms < NAMELESS_MS ? NAMELESS_MS : pause_ms);
	return 0;
}

// --- calling

/** Until the deadline, as it is sent. */
static uint32_t left_ms(const struct coordinator *co) {
	return (uint32_t)clock_earlier(clock_left(co->guests.now, co->deadline), UINT32_MAX);
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

/** A member cannot start its program, or was asked to end: nobody does. */
static void take_unable(struct coordinator *co, const struct guest *guest, const struct hearing *hearing) {
	struct str name = guest_name(guest), why = hearing->text;
	if (co->refuse_at || co->decided) {
		roll_say(co->call, ROLL_WARNING, "roll call: %.*s (rank %u) %s, either: %.*s", (int)name.len,
			 name.p, guest->rank, unable(hearing->able), (int)why.len, why.p);
	} else {
		err_set(&co->end->error, ENOEXEC, "roll call: %.*s (rank %u) %s: %.*s; nothing was started",
			(int)name.len, name.p, guest->rank, unable(hearing->able), (int)why.len, why.p);
		refusal_begin(co, hearing->able == ABLE_ASKED_TO_END ? ROLL_TOLD : ROLL_ERROR);
	}
}

/** A member has said all that is known of it. */
static void take_hello(struct coordinator *co, struct guest *guest, const struct hearing *hearing) {
	if (hearing->able != ABLE && !co->guests.duplicate[0] && !co->guests.mixed) {
		take_unable(co, guest, hearing);
	}
	if (co->refuse_at) {
		const struct no no = make_no(co);
		guest_refuse(&co->guests, guest, &no);
	} else if (hearing->left_ms < left_ms(co)) {
		// It may give up before us.
		news_send(co, guest);
	}
}

void coordinator_read(struct coordinator *co, struct guest *guest, bool over) {
	struct hearing hearing;
	hearing.over = over;
	hearing.n = 0;
	for (enum said said = SAID_HELLO; said != SAID_NOTHING;) {
		said = guest_hear(&co->guests, guest, &hearing);
		if (said == SAID_HELLO) {
			take_hello(co, guest, &hearing);
		} else if (said == SAID_FACTS) {
			agree_take(&co->agree, guest, hearing.text);
		}
	}
}

/** In builds for tests: what others sent before the decision has not made our arena grow. */
static void check_arena(const struct coordinator *co, const struct arena *before) {
#if defined(__SANITIZE_ADDRESS__) || defined(CHECK_ARENA)
	const struct arena *arena = co->call->arena;
	if (!co->decided && (arena->next != before->next || arena->chunks != before->chunks)) {
		abort();
	}
#else
	(void)co, (void)before;
#endif
}

/** Wait for what comes, at most until @until, and handle it. Returns how many events there were; -EINTR. */
static int handle_events(struct coordinator *co, uint64_t until) {
	struct epoll_event events[EVENTS_MAX];
	int r = watch_poll(&co->watch, co->guests.epoll, POLLIN, until), n = 0;
	co->guests.now = clock_now_ms();
	if (r > 0) {
		n = epoll_wait(co->guests.epoll, events, EVENTS_MAX, 0);
	}
	bool others_come = false;
	const struct arena before = *co->call->arena;
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == co) {
			// After the rest: they may get the place of one that is still to be read.
			others_come = true;
		} else if (events[i].data.ptr == &co->absent) {
			absent_read(&co->absent);
		} else if (events[i].data.ptr == &co->agree) {
			agree_read(&co->agree);
		} else {
			coordinator_read(co, events[i].data.ptr, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (others_come) {
		uint64_t seconds = (clock_left(co->guests.now, co->deadline) + 999) / 1000;
		guests_accept(&co->guests, co->listener, (uint32_t)clock_earlier(seconds, UINT32_MAX));
	}
	check_arena(co, &before);
	return r < 0 ? r : n;
}

/** Look names up a little before they are reported. */
static void plan_look_up(struct coordinator *co) {
	uint64_t next = clock_earlier(co->progress, co->deadline);
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
	if (co->agree.changes != co->guests.changes) {
		agree_drop(&co->agree);
		return 1;
	}
	if (co->agree.n_asked && co->guests.now >= co->agree.until) {
		close_silent(co);
		agree_drop(&co->agree);
		return 1;
	}
	if (!agree_go_on(&co->agree)) {
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

/** Whether all have got NO, but for those that do not come. */
static bool all_refused(const struct coordinator *co) {
	uint32_t n = 1 + co->call->n_left;
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		n += co->guests.seats[rank].refused;
	}
	return n >= co->call->size;
}

/** What is due now. Returns 1 to go on; 0 to start; a negative errno. */
static int step(struct coordinator *co) {
	bool over = co->guests.now >= co->deadline;
	if (co->refuse_at) {
		return over || co->guests.now >= co->refuse_at || all_refused(co) ? -co->end->error.code : 1;
	}
	if (co->guests.mixed) {
		return fail_mixed(co);
	}
	if (co->guests.duplicate[0]) {
		return fail_duplicate(co);
	}
	if (co->guests.now >= clock_after(co->deadline, 2 * TELL_MS)) {
		// Some come again and again, and do not answer.
		return fail_absent(co);
	}
	if (co->agree.state == NOT_COMPARING &&
	    ((over && co->guests.others) ||
	     (is_complete(co) && (over || co->guests.now >= co->guests.hold)))) {
		// One child at a time looks names up.
		absent_done(&co->absent);
		agree_begin(&co->agree);
	}
	if (co->agree.state != NOT_COMPARING) {
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
	if (co->refuse_at) {
		return clock_earlier(co->refuse_at, co->deadline);
	}
	if (co->agree.state != NOT_COMPARING) {
		return co->agree.until;
	}
	uint64_t next = clock_earlier(co->progress, clock_earlier(co->look_up, co->status));
	next = clock_earlier(next, co->deadline);
	return co->guests.hold > co->guests.now ? clock_earlier(next, co->guests.hold) : next;
}

/** Nobody is called any more. */
static void close_listener(struct coordinator *co) {
	absent_done(&co->absent);
	agree_drop(&co->agree);
	if (co->listener >= 0) {
		close(co->listener);
		co->listener = -1;
	}
	guests_close(&co->guests, &co->guests.unproved, PART_ASIDE);
	guests_close(&co->guests, &co->guests.proved, PART_ASIDE);
}

/**
 * All are here and agree: close the listener, and read once more all that has come. GO follows without another
 * system call. Returns 0; 1 if something has changed, and the calling goes on; a negative errno.
 */
static int close_call(struct coordinator *co) {
	const uint32_t changes = co->guests.changes;
	close_listener(co);
	// Each connection wakes us once, and once more for each LINE_TURN frames: so this ends.
	int r = 1;
	for (uint32_t i = 0; r > 0 && i <= 2 + co->guests.n_members / EVENTS_MAX * 2; i++) {
		r = handle_events(co, 0);
	}
	if (r < 0) {
		return r;
	}
	if (changes == co->guests.changes && !co->refuse_at) {
		return 0;
	}
	co->listener = listen_open(co->guests.port);
	return co->listener < 0 ? refuse_port(co, co->listener) : watch_listener(co);
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
	while (r >= 0) {
		r = step(co);
		if (r == 0) {
			r = close_call(co);
		}
		if (r <= 0) {
			return r;
		}
		r = handle_events(co, clock_earlier(guests_expire(&co->guests), next_step(co)));
	}
	return r;
}

// --- ending

/** Wait until all have closed, or @ms have passed, or a signal has come. */
static void await_ends(struct coordinator *co, uint64_t ms) {
	int r = 0;
	co->guests.now = clock_now_ms();
	const uint64_t until = co->guests.now + ms;
	while (r >= 0 && co->guests.n_members && co->guests.now < until) {
		r = handle_events(co, until);
	}
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
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		const struct guest *guest = co->guests.seats[rank].guest;
		co->end->start = guest && guest->starts > co->end->start ? guest->starts : co->end->start;
	}
	co->decided = true;
	co->end->result = ROLL_STARTED;
	co->end->took_ms = co->guests.now - co->guests.started;
	co->end->present = co->guests.present;
	const struct go go = {
		.port = co->guests.port,
		.flags = co->call->stay ? GO_STAY : 0,
		.start = co->end->start,
		.took_ms = (uint32_t)co->end->took_ms,
	};
	guests_send(&co->guests, FRAME_GO, payload, go_encode(&go, payload));
	report_start(co);
	if (co->call->stay) {
		keep_lines(co);
	} else {
		await_ends(co, GO_MS);
		guests_report_deaf(&co->guests);
	}
}

/** Tell all why nothing starts. */
static void refuse(struct coordinator *co, int code) {
	co->end->took_ms = clock_now_ms() - co->guests.started;
	close_listener(co);
	co->decided = true;
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
		if (r == -EINTR && co->refuse_at) {
			// Those who were told have heard another reason.
			r = -co->end->error.code;
		} else if (r == -EINTR) {
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
	co->guests.looked = &co->absent.looked;
	co->guests.comparing = &co->agree.child;
	co->guests.epoll = co->listener = co->held = co->absent.looked.child.fd = co->agree.child.fd = -1;
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
	// step() judges the deadline: only what waits next is handed to watch_poll().
	co->deadline = co->watch.deadline;
	co->watch.deadline = CLOCK_NEVER;
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
	// The result points to it.
	arena_adopt(call->arena, &co->agree.scratch);
	arena_adopt(call->arena, &co->guests.pool);
	if (r == -EINTR) {
		end->result = ROLL_SIGNAL;
	}
	return r;
}
