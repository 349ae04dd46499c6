// SPDX-License-Identifier: Apache-2.0

#include "rollcall/coordinator.h"

#include "base/duration.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/**
 * The number of descriptors needed beside one for each member; and those that this process needs for itself.
 */
#define SPARE_FDS 32
#define OWN_FDS	  16

/** At most so many events are read at once. */
#define EVENTS_MAX 256

/** At most so long we try to report a duplicate coordinator to the one that listens on our port. */
#define OTHER_MS 5000

/** How many authenticated connections there may be beyond the number of members. */
#define SPARE_MEMBERS 64

/** How many connections before authentication there may be: beyond the number of members, and at least. */
#define SPARE_UNPROVED 256
#define UNPROVED_MIN   16

/** Warn of a clock that is off by more than this. */
#define CLOCK_MS 5000

/**
 * With so many descriptors, the coordinator can at least tell one member after the other that there are too
 * few.
 */
#define REFUSE_FDS 4

/**
 * Before a restart: how long, and at which interval, a given port that is taken is tried. A test program has
 * less.
 */
#ifndef TAKEN_MS
#define TAKEN_MS 30000
#endif
#define TAKEN_STEP_MS 100

// --- opening

/**
 * Count the free descriptors below @limit, up to @enough: some are in use, because they were inherited. One
 * poll() examines many descriptors; if it fails, they count as free.
 */
static uint64_t count_free(uint64_t limit, uint64_t enough) {
	struct pollfd fds[512];
	uint64_t n = 0, fd = 0;
	while (fd < limit && n < enough) {
		const nfds_t some = (nfds_t)clock_earlier(sizeof(fds) / sizeof(*fds), limit - fd);
		for (nfds_t i = 0; i < some; i++) {
			fds[i] = (struct pollfd){.fd = (int)(fd + i), .revents = POLLNVAL};
		}
		fd += some;
		poll(fds, some, 0);
		for (nfds_t i = 0; i < some && n < enough; i++) {
			n += (fds[i].revents & POLLNVAL) != 0;
		}
	}
	return n;
}

/**
 * Divide @room descriptors between connections before and after authentication. All members may connect at
 * once; and after a network failure all may reconnect while the kernel still has their older connections.
 */
static void share_room(struct coordinator *co, uint64_t room) {
	uint64_t members = clock_earlier(room - UNPROVED_MIN, (uint64_t)co->call->size + SPARE_MEMBERS);
	co->guests.max_unproved =
		(uint32_t)clock_earlier(room - members, (uint64_t)co->call->size + SPARE_UNPROVED);
	co->guests.max_members =
		(uint32_t)clock_earlier(room - co->guests.max_unproved, members + co->call->size);
}

/**
 * Raise the limit of open files. *@was is the limit before. Returns 0, with the error set if there are too
 * few descriptors for all members; -EMFILE with the error if there are too few for any.
 */
static int raise_limit(struct coordinator *co, struct rlimit *was) {
	const uint64_t need = (uint64_t)co->call->size + SPARE_FDS;
	prlimit(0, RLIMIT_NOFILE, NULL, was);
	prlimit(0, RLIMIT_NOFILE, &(struct rlimit){was->rlim_max, was->rlim_max}, NULL);
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
		prlimit(0, RLIMIT_NOFILE, was, NULL);
		return -EMFILE;
	}
	if (room < need) {
		co->guests.max_unproved = co->guests.max_members = (uint32_t)(room - OWN_FDS) / 2;
	} else {
		share_room(co, room - OWN_FDS);
	}
	return 0;
}

/** "port 29500 of main1 is taken (by a listener of uid 1001)". */
static const char *taken_text(const struct coordinator *co) {
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
		       : err_set(&co->end->error, -code, "roll call: %s%s%s; nothing was started",
				 taken_text(co), from ? ", and " : ", as are the others",
				 from ? arena_format(co->call->arena, "%s sets this port", from) : "");
}

/** Reserve @port, and listen on it. Returns 0; a negative errno. */
static int coordinator_try_port(struct coordinator *co, uint16_t port) {
	// The port may be reserved for another job's program that has not bound it yet.
	int reserved = listen_reserve(port);
	co->listener = reserved == -EADDRINUSE ? reserved : listen_open(port);
	if (co->listener < 0) {
		if (reserved >= 0) {
			close(reserved);
		}
		return co->listener;
	}
	co->reserved = reserved;
	co->guests.port = port;
	return 0;
}

/**
 * The job's only port is taken: listen on one of the other ports, where members come to get the error.
 * Returns 0; or a negative errno with the error.
 */
static int open_other_port(struct coordinator *co, const uint16_t ports[ROLL_PORTS]) {
	int r = refuse_port(co, -EADDRINUSE);
	for (uint32_t i = 1; i < ROLL_PORTS && co->listener < 0; i++) {
		coordinator_try_port(co, ports[i]);
	}
	if (co->listener < 0) {
		return r;
	}
	return 0;
}

/**
 * Another coordinator without a secret or an id has our port, so our members connect to it. Connect to it as
 * a member of rank 0: it then sends the duplicate rank to all members as the error. Returns -EEXIST with our
 * own error; -EINTR.
 */
static int call_other_coordinator(struct coordinator *co) {
	struct roll_end theirs = {.port = co->call->port, .reserved = -1};
	struct roll_call call = *co->call;
	coordinator_mixed(co->end);
	call.unable = "another job without an id, or another node of rank 0, calls the roll on this port";
	call.timeout_ms = clock_earlier(call.timeout_ms, OTHER_MS);
	call.stay = false;
	member_run(&call, &theirs);
	co->watch.signal = theirs.signal;
	return theirs.signal ? -EINTR : -EEXIST;
}

/**
 * Listen on the first free port. Before a restart, wait a while for the only port, whose owner may be about
 * to end.
 */
static int open_port(struct coordinator *co) {
	uint16_t ports[ROLL_PORTS];
	uint32_t n = roll_ports(co->call, ports);
	int r = -EADDRINUSE;
	// Stop after half of the time, so that members can still get the error.
	const uint64_t half = (co->roll.deadline - co->roll.started) / 2;
	const uint64_t until =
		co->roll.started + (co->call->late_at && n == 1 ? clock_earlier(TAKEN_MS, half) : 0);
	while (clock_now_ms() < until && (r = coordinator_try_port(co, ports[0])) == -EADDRINUSE) {
		if (watch_poll(&co->watch, -1, 0, clock_now_ms() + TAKEN_STEP_MS) < 0) {
			return -EINTR;
		}
	}
	for (uint32_t i = 0; i < n && r == -EADDRINUSE; i++) {
		r = coordinator_try_port(co, ports[i]);
		co->end->moved = r == 0 && i > 0;
		if (r == -EADDRINUSE && co->call->nameless &&
		    listener_begins(ports[i], GREETING_MAGIC, strlen(GREETING_MAGIC))) {
			return call_other_coordinator(co);
		}
	}
	if (r == -EADDRINUSE && n == 1) {
		return open_other_port(co, ports);
	}
	if (co->listener < 0) {
		return refuse_port(co, co->listener);
	}
	co->end->port = co->guests.port;
	if (co->end->moved) {
		roll_say(co->call, ROLL_WARNING, "roll call: %s; all %s use %u", taken_text(co),
			 co->call->noun, co->guests.port);
	}
	return 0;
}

/** Make epoll report new connections. Returns 1; a negative errno with the error. */
static int watch_listener(struct coordinator *co) {
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = co};
	return epoll_ctl(co->guests.epoll, EPOLL_CTL_ADD, co->listener, &event) < 0
		       ? err_set(&co->end->error, errno, "roll call: cannot watch connections: %s",
				 strerror(errno))
		       : 1;
}

static int open_coordinator(struct coordinator *co) {
	const struct roll_call *call = co->call;
	struct coordinator_event unable = {.what = COORDINATOR_UNABLE, .result = ROLL_ERROR};
	int r = open_port(co);
	if (r < 0) {
		return r;
	}
	co->guests.epoll = epoll_create1(EPOLL_CLOEXEC);
	r = watch_listener(co);
	if (r < 0) {
		return r;
	}
	if (co->end->result == ROLL_PORT) {
		unable.result = ROLL_PORT;
	} else if (call->unable && !co->end->error.text[0]) {
		err_set(&co->end->error, ENOEXEC, "roll call: %s %s: %s; nothing was started", call->master,
			call->not_again
				? "does not start again"
				: coordinator_unable(call->asked_to_end ? ABLE_ASKED_TO_END : ABLE_NOT),
			call->unable);
		unable.result = call->asked_to_end ? ROLL_ASKED_TO_END : ROLL_ERROR;
	}
	// The error may also be from raise_limit().
	if (co->end->error.text[0]) {
		coordinator_handle(co, &unable);
	}
	return 0;
}

// --- doing

static struct wait_news make_news(const struct coordinator *co) {
	const struct roll *roll = &co->roll;
	const uint64_t now = co->guests.now;
	uint32_t ranks[WAIT_NAMES];
	struct wait_news news = {
		.present = roll->present,
		.size = co->call->size,
		.since_ms = (uint32_t)(now - roll->started),
		.left_ms = (uint32_t)clock_earlier(clock_left(now, roll->deadline), UINT32_MAX),
		.absent = co->call->size - roll->present,
		.n = absent_list(&co->absent, ranks, WAIT_NAMES),
	};
	for (uint32_t i = 0; i < news.n; i++) {
		news.at[i].rank = ranks[i];
		news.at[i].host = roll_host(co->call, ranks[i]);
	}
	return news;
}

/** Send WAIT to @guest, or to all members (NULL). */
static void send_wait(struct coordinator *co, struct guest *guest) {
	unsigned char payload[HELLO_MAX];
	const struct wait_news news = make_news(co);
	size_t n = wait_encode(&news, payload);
	if (guest) {
		line_send(&guest->line, FRAME_WAIT, payload, n);
	} else {
		guests_send(&co->guests, FRAME_WAIT, payload, n);
	}
}

/** Send NO with the error to @guest, or to all members that are present (NULL). */
static void send_no(struct coordinator *co, struct guest *guest) {
	const enum roll_result kind = co->end->result == ROLL_PORT ? ROLL_ERROR : co->end->result;
	const char *text = co->end->error.text;
	const char *prefix = "roll call: ";
	text += strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
	const struct no no = {.kind = (enum no_kind)kind, .text = str_of(text)};
	for (struct guest *one = guest ? guest : co->guests.known.first; one;
	     one = guest ? NULL : one->next) {
		guest_refuse(one, &no);
	}
}

/** Close a guest. If another process has its rank now, send it NO first. */
static void close_guest(struct coordinator *co, const struct coordinator_todo *todo) {
	char text[2 * UINT8_MAX + sizeof(" was replaced by ; ending")];
	if (todo->newer) {
		const struct str name = guest_name(todo->guest), node = todo->newer->node;
		snprintf(text, sizeof(text), "%.*s was replaced by %.*s; ending", (int)name.len, name.p,
			 (int)node.len, node.p);
		guest_refuse(todo->guest, &(struct no){.kind = NO_REPLACED, .text = str_of(text)});
	}
	guest_close(&co->guests, todo->guest, todo->close_reason);
}

static void warn_unable(const struct coordinator *co, const struct coordinator_todo *todo) {
	const struct str name = guest_name(todo->unable);
	roll_say(co->call, ROLL_WARNING, "roll call: %.*s (rank %u) %s, either: %.*s", (int)name.len, name.p,
		 todo->unable->rank, coordinator_unable(todo->able), (int)todo->text.len, todo->text.p);
}

/** Send ASK to the speaker of each party. */
static void send_ask(struct coordinator *co) {
	const struct agree *agree = &co->roll.agree;
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		const unsigned char which = (unsigned char)group;
		for (uint32_t i = 0; i < agree->parties[group].n && agree->parties[group].n > 1; i++) {
			struct guest *guest = agree->speakers[group][i];
			if (guest) {
				line_send(&guest->line, FRAME_ASK, &which, 1);
			}
		}
	}
}

/** Close the members that have not answered. They reconnect. */
static void close_silent(struct coordinator *co) {
	for (struct guest *guest; (guest = agree_silent(&co->roll.agree));) {
		guest_close(&co->guests, guest, CLOSE_ASIDE);
	}
}

static void look_up_master(struct coordinator *co) {
	const char *names[COMPARE_PARTIES];
	const uint32_t n = agree_names(&co->roll.agree, names);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &co->child};
	if (lookups_begin(&co->child, names, n, co->guests.port) < 0 ||
	    epoll_ctl(co->guests.epoll, EPOLL_CTL_ADD, co->child.fd, &event) < 0) {
		lookups_end(&co->child);
		coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_LOOKED_UP});
		return;
	}
	// Since the last event, this process may have been stopped.
	co->guests.now = clock_now_ms();
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_LOOKS_UP});
}

/** Read all answers that have come: if the time is over, these still count. */
static void read_master(struct coordinator *co) {
	struct pollfd more = {.events = POLLIN};
	struct lookup_answer answer;
	do {
		const bool one = lookups_read(&co->child, &answer) > 0;
		coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_LOOKED_UP,
								   .answer = one ? &answer : NULL});
		if (!one) {
			lookups_end(&co->child);
		}
		more.fd = co->child.fd;
	} while (more.fd >= 0 && poll(&more, 1, 0) > 0);
}

/** Warn of the worst clock, if it is off by more than CLOCK_MS. */
static void warn_clock(const struct coordinator *co) {
	const uint64_t off = roll_clock_off(co->end->clock_ms);
	const struct guest *guest = co->guests.known.first;
	while (guest && (guest->rank != co->end->clock_rank || guest->clock_ms != co->end->clock_ms)) {
		guest = guest->next;
	}
	if (guest && off > CLOCK_MS) {
		const struct str name = guest_name(guest);
		roll_say(co->call, ROLL_WARNING, "roll call: %.*s's clock is %s %s %s's", (int)name.len,
			 name.p, duration_text(off / 1000 * 1000).s,
			 co->end->clock_ms < 0 ? "behind" : "ahead of", co->call->master);
	}
}

/** Warn of all differences except @fatal, which is in the error, and of the worst clock. */
static void warn_differences(struct coordinator *co, const struct difference *fatal) {
	struct agree *agree = &co->roll.agree;
	for (const struct difference *d = agree->concluded; d; d = d->next) {
		struct buf text = BUF(&agree->scratch);
		if (d != fatal) {
			difference_text(&agree->compare, d, &text);
			roll_say(co->call, ROLL_WARNING, "roll call: %s", buf_text(&text));
		}
	}
	warn_clock(co);
}

/** Print the status on a terminal. */
static void show_status(struct coordinator *co) {
	const struct wait_news news = make_news(co);
	struct buf absent = BUF(co->call->arena);
	roll_put_absent(&absent, &news);
	roll_say(co->call, ROLL_STATUS, "roll call: %u of %u %s are here, %s%s", news.present, news.size,
		 co->call->noun, duration_text(news.since_ms / 1000 * 1000).s, buf_text(&absent));
}

static void show_progress(struct coordinator *co) {
	const uint64_t passed = co->guests.now - co->roll.started;
	roll_say(co->call, ROLL_WARNING, "roll call: %u of %u %s are here after %s; absent: %s",
		 co->roll.present, co->call->size, co->call->noun, duration_text(passed / 1000 * 1000).s,
		 absent_text(&co->absent, co->guests.now));
}

/** While members are absent: look them up, report progress, print the status. */
static void go_on_calling(struct coordinator *co, const struct coordinator_todo *todo) {
	// Their memory is given back: the look-up child has a copy of the names.
	const struct arena before = *co->call->arena;
	if (todo->what & (DO_LOOK_UP_SELF | DO_LOOK_UP_ABSENT)) {
		absent_look_up(&co->absent, co->guests.epoll, todo->what & DO_LOOK_UP_SELF);
	}
	if (todo->what & DO_SHOW_PROGRESS) {
		show_progress(co);
	}
	if (todo->what & DO_SHOW_STATUS) {
		show_status(co);
	}
	arena_back(co->call->arena, &before);
}

/** Close the listener, and all connections that have not sent HELLO. */
static void close_listener(struct coordinator *co) {
	absent_done(&co->absent);
	if (co->listener >= 0) {
		close(co->listener);
		co->listener = -1;
	}
	guests_close(&co->guests, &co->guests.unproved, CLOSE_ASIDE);
	guests_close(&co->guests, &co->guests.proved, CLOSE_ASIDE);
}

static int handle_events(struct coordinator *co, uint64_t until);

/** Close the listener, and read all frames that have come. GO follows without another wait. */
static void close_call(struct coordinator *co) {
	close_listener(co);
	// epoll reports each connection once, and once more for each LINE_TURN frames, so this ends.
	int r = 1;
	for (uint32_t i = 0; r > 0 && i <= 2 + co->guests.n_members / EVENTS_MAX * 2; i++) {
		r = handle_events(co, 0);
	}
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_ALL_READ});
}

static void listen_again(struct coordinator *co) {
	int r = co->listener = listen_open(co->guests.port);
	r = r < 0 ? refuse_port(co, r) : watch_listener(co);
	if (r < 0) {
		coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_PORT_LOST});
	}
}

static void report_start(struct coordinator *co) {
	const struct guest *guest = co->roll.seats[co->roll.last].guest;
	struct str last = guest ? guest_name(guest) : STR("");
	// If a warning has named absentees, warn that all are here now.
	roll_say(co->call, co->roll.reported ? ROLL_WARNING : ROLL_INFO,
		 "roll call: all %u %s are here, after %s (the last: %.*s); %s", co->call->size,
		 co->call->noun, duration_text(co->end->took_ms).s, (int)last.len, last.p,
		 co->call->secret ? "authenticated" : "not authenticated");
}

/** Send GO to all. The members close first, so that no TIME_WAIT keeps the port in use. */
static void send_go(struct coordinator *co) {
	unsigned char payload[HELLO_MAX];
	const struct go go = {
		.port = co->guests.port,
		.flags = co->call->stay ? GO_STAY : 0,
		.start = co->end->start,
		.took_ms = (uint32_t)co->end->took_ms,
	};
	guests_send(&co->guests, FRAME_GO, payload, go_encode(&go, payload));
	report_start(co);
}

/** Warn of the members that may not have read GO. */
static void warn_deaf(struct coordinator *co) {
	struct roll *roll = &co->roll;
	roll_put_more(&roll->deaf, roll->n_deaf > WAIT_NAMES ? roll->n_deaf - WAIT_NAMES : 0);
	roll_say(co->call, ROLL_WARNING, "roll call: GO was sent to %s, but may not have been read",
		 buf_text(&roll->deaf));
}

/** Do what coordinator_decide() returned. */
static void apply(struct coordinator *co, const struct coordinator_todo *todo) {
	if (todo->what & DO_WARN_UNABLE) {
		warn_unable(co, todo);
	}
	if (todo->what & DO_CLOSE) {
		close_guest(co, todo);
	}
	go_on_calling(co, todo);
	if (todo->what & DO_SEND_WAIT) {
		send_wait(co, todo->to);
	}
	if (todo->what & DO_SEND_NO) {
		send_no(co, todo->to);
	}
	if (todo->what & DO_LOOK_UP_NONE) {
		absent_done(&co->absent);
	}
	if (todo->what & DO_SEND_ASK) {
		send_ask(co);
	}
	if (todo->what & DO_CLOSE_SILENT) {
		close_silent(co);
	}
	if (todo->what & DO_WARN_DIFFERENCES) {
		warn_differences(co, todo->fatal);
	}
	if (todo->what & DO_SEND_GO) {
		send_go(co);
	}
	if (todo->what & DO_FAIL) {
		close_listener(co);
		// WAIT first, because members report the absentees, too.
		send_wait(co, NULL);
		send_no(co, NULL);
	}
	if (todo->what & DO_WARN_DEAF) {
		warn_deaf(co);
	}
	co->done |= (todo->what & DO_RETURN) != 0;
	if (todo->what & DO_LOOK_UP_MASTER) {
		look_up_master(co);
	} else if (co->child.fd >= 0 && co->roll.state != COORDINATOR_LOOKING_UP) {
		lookups_end(&co->child);
	}
	if (todo->what & DO_CLOSE_CALL) {
		close_call(co);
	}
	if (todo->what & DO_LISTEN_AGAIN) {
		listen_again(co);
	}
}

void coordinator_handle(struct coordinator *co, const struct coordinator_event *event) {
	const struct coordinator_todo todo = coordinator_decide(&co->roll, event, co->guests.now);
	if (todo.what) {
		apply(co, &todo);
	}
}

// --- calling

void coordinator_read(struct coordinator *co, struct guest *guest, bool over) {
	struct coordinator_event event;
	struct hearing hearing;
	hearing.over = over;
	hearing.n = 0;
	while (guest_hear(&co->guests, guest, &hearing, &event)) {
		coordinator_handle(co, &event);
	}
}

/** In builds for tests: abort if frames that came before the decision have made our arena grow. */
static void check_arena(const struct coordinator *co, const struct arena *before) {
#if defined(__SANITIZE_ADDRESS__) || defined(CHECK_ARENA)
	const struct arena *arena = co->call->arena;
	if (co->roll.state < COORDINATOR_STARTED &&
	    (arena->next != before->next || arena->chunks != before->chunks)) {
		abort();
	}
#else
	(void)co, (void)before;
#endif
}

/** Wait for events, at most until @until, and handle them. Returns how many there were; -EINTR. */
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
			// Accept after reading: a new connection may evict one whose frames have not been
			// read yet.
			others_come = true;
		} else if (events[i].data.ptr == &co->absent) {
			absent_read(&co->absent);
		} else if (events[i].data.ptr == &co->child) {
			read_master(co);
		} else {
			coordinator_read(co, events[i].data.ptr, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (others_come && co->listener >= 0) {
		uint64_t seconds = (clock_left(co->guests.now, co->roll.deadline) + 999) / 1000;
		guests_accept(&co->guests, co->listener, (uint32_t)clock_earlier(seconds, UINT32_MAX));
	}
	check_arena(co, &before);
	if (r < 0) {
		coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_ASKED_TO_END});
	}
	// If epoll_wait() failed, the events are still there: count one, so that the caller looks again.
	return r < 0 ? r : n < 0 ? 1 : n;
}

/** Pass the connections to the caller of the roll call. */
static void keep_lines(struct coordinator *co) {
	co->end->lines = arena_array(co->call->arena, co->call->size, sizeof(*co->end->lines));
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		struct guest *guest = co->roll.seats[rank].guest;
		co->end->lines[rank] = (struct kept_line){
			guest ? guest->line : (struct line){.fd = -1},
			guest ? guest_name(guest) : roll_host(co->call, rank),
			false,
			false,
			NULL,
		};
	}
}

/** Handle events until the roll call is over. Returns 0; a negative errno. */
static int call_all(struct coordinator *co) {
	for (;;) {
		if (!co->done) {
			coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_DUE});
		}
		if (co->done) {
			break;
		}
		handle_events(co, clock_earlier(guests_expire(&co->guests),
						coordinator_until(&co->roll, co->guests.now)));
	}
	return co->roll.state == COORDINATOR_STARTED ? 0
	       : co->end->result == ROLL_SIGNAL	     ? -EINTR
						     : -co->end->error.code;
}

/** Run the roll call. The watch has begun. Returns as roll_call(). */
static int run(struct coordinator *co) {
	int r = open_coordinator(co);
	if (r == 0) {
		r = call_all(co);
		if (r == 0 && co->call->stay) {
			keep_lines(co);
		} else {
			// Without a reset: the last frame may still be in transit.
			guests_close(&co->guests, &co->guests.known, CLOSE_DONE);
		}
	}
	if (co->guests.epoll >= 0) {
		close(co->guests.epoll);
	}
	if (co->listener >= 0) {
		close(co->listener);
	}
	if (co->reserved >= 0 && r < 0) {
		close(co->reserved);
		co->reserved = -1;
	}
	co->end->reserved = co->reserved;
	return r;
}

void coordinator_init(struct coordinator *co, const struct roll_call *call, struct roll_end *end) {
	memset(co, 0, sizeof(*co));
	co->call = co->guests.call = co->absent.call = call;
	co->end = end;
	co->guests.roll = &co->roll;
	co->guests.looked = &co->absent.looked;
	co->guests.comparing = &co->child;
	co->guests.epoll = co->listener = co->reserved = co->absent.looked.child.fd = co->child.fd = -1;
	co->absent.roll = &co->roll;
	co->roll.guests = &co->guests;
	co->roll.absent = &co->absent;
	coordinator_prepare(&co->roll, call, end);
	guests_begin(&co->guests);
}

int coordinator_run(const struct roll_call *call, struct roll_end *end) {
	struct coordinator *co = arena_alloc(call->arena, sizeof(*co));
	const struct roll *roll = &co->roll;
	struct wait_for wait = {.timeout_ms = call->timeout_ms};
	struct rlimit was;
	coordinator_init(co, call, end);
	end->result = ROLL_ERROR;
	int r = raise_limit(co, &was);
	if (r < 0) {
		return r;
	}
	r = watch_begin(&co->watch, &wait);
	co->guests.now = co->watch.started;
	coordinator_begin(&co->roll, co->watch.started, co->watch.deadline);
	// decide.c handles the deadline. watch_poll() gets the end of each wait.
	co->watch.deadline = CLOCK_NEVER;
	if (r < 0) {
		end->error = co->watch.failure;
	} else {
		r = run(co);
		watch_done(&co->watch);
	}
	prlimit(0, RLIMIT_NOFILE, &was, NULL);
	end->restarts = roll->restarts;
	end->last = roll->last;
	end->last_ms = roll->last_ms;
	end->strangers = co->guests.strangers;
	end->n_strangers = co->guests.n_strangers;
	end->signal = co->watch.signal;
	end->waited_ms = clock_now_ms() - roll->started;
	// The result points into these arenas. A comparison that began anew has freed the differences of the last one.
	end->differences = roll->agree.concluded;
	end->compared = &roll->agree.compare;
	arena_adopt(call->arena, &co->roll.agree.scratch);
	arena_adopt(call->arena, &co->guests.pool);
	if (r == -EINTR) {
		end->result = ROLL_SIGNAL;
	}
	return r;
}
