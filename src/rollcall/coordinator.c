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
	uint64_t members = clock_earlier(room - UNPROVED_MIN, (uint64_t)co->size + SPARE_MEMBERS);
	co->max_unproved = (uint32_t)clock_earlier(room - members, (uint64_t)co->size + SPARE_UNPROVED);
	co->max_members = (uint32_t)clock_earlier(room - co->max_unproved, members + co->size);
}

/** Make room for all descriptors. *@was is the limit before. Returns 0; -EMFILE with @err. */
static int raise_limit(struct coordinator *co, struct rlimit *was) {
	const uint64_t need = (uint64_t)co->size + SPARE_FDS;
	prlimit(0, RLIMIT_NOFILE, NULL, was);
	uint64_t most = 3 * (uint64_t)co->size + SPARE_MEMBERS + SPARE_UNPROVED + OWN_FDS;
	uint64_t room = count_free(was->rlim_max, most);
	if (room < need) {
		return err_set(&co->end->error, EMFILE,
			       "roll call: %u %s need %lu open files, but the hard limit leaves %lu of "
			       "%lu; raise it ('ulimit -n', an engine's --ulimit nofile=N)",
			       co->size, co->call->noun, (unsigned long)need, (unsigned long)room,
			       (unsigned long)was->rlim_max);
	}
	prlimit(0, RLIMIT_NOFILE, &(struct rlimit){was->rlim_max, was->rlim_max}, NULL);
	share_room(co, room - OWN_FDS);
	return 0;
}

/** "port 29500 of main1 is taken (by a listener of uid 1001)". */
static const char *taken(const struct coordinator *co) {
	return arena_format(co->arena, "port %u of %s is taken%s", co->call->port, co->call->master,
			    listen_owner(co->arena, co->call->port));
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
				 from ? arena_format(co->arena, "%s says that very one", from) : "");
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
	co->port = port;
	return 0;
}

void refusal_begin(struct coordinator *co, enum roll_result result) {
	co->end->result = result;
	co->refuse_at = clock_after(co->watch.started, REFUSE_MS);
	if (co->refuse_at < co->now) {
		co->refuse_at = co->now;
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

/** Listen on the first port that is free. */
static int open_port(struct coordinator *co) {
	uint16_t ports[ROLL_PORTS];
	uint32_t n = roll_ports(co->call, ports);
	int r = -EADDRINUSE;
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
	co->end->port = co->port;
	co->end->moved = co->moved;
	if (co->moved) {
		roll_say(co->call, ROLL_WARNING, "roll call: %s; all %s use %u", taken(co), co->call->noun,
			 co->port);
	}
	return 0;
}

static int open_desk(struct coordinator *co) {
	int r = open_port(co);
	if (r < 0) {
		return r;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = co};
	co->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (co->epoll < 0 || epoll_ctl(co->epoll, EPOLL_CTL_ADD, co->listener, &event) < 0) {
		return err_set(&co->end->error, errno, "roll call: cannot watch connections: %s",
			       strerror(errno));
	}
	co->seats = arena_array(co->arena, co->size, sizeof(*co->seats));
	memset(co->seats, 0, co->size * sizeof(*co->seats));
	co->present = 1;
	if (co->call->unable && !co->refuse_at) {
		err_set(&co->end->error, ENOEXEC, "roll call: %s cannot start: %s; nothing was started",
			co->call->master, co->call->unable);
		refusal_begin(co, ROLL_ERROR);
	}
	co->hold = co->call->nameless ? co->watch.started + NAMELESS_MS : 0;
	co->greeting = (struct greeting){.lowest = ROLL_VERSION, .highest = ROLL_VERSION};
	return 0;
}

// --- calling

/** Wait for what comes, at most until @until, and handle it. Returns 0; -EINTR. */
static int handle_events(struct coordinator *co, uint64_t until) {
	struct epoll_event events[256];
	int r = watch_poll(&co->watch, co->epoll, POLLIN, until), n = 0;
	co->now = clock_now_ms();
	if (r > 0) {
		n = epoll_wait(co->epoll, events, sizeof(events) / sizeof(events[0]), 0);
	}
	bool others_come = false;
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == co) {
			// After the rest: they may get the place of one that is still to be read.
			others_come = true;
		} else if (events[i].data.ptr == &co->lookups) {
			absent_read(co);
		} else {
			guest_read(co, events[i].data.ptr, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (others_come) {
		guests_accept(co);
	}
	return r < 0 ? r : 0;
}

static struct wait_news make_news(const struct coordinator *co) {
	uint32_t ranks[WAIT_NAMES];
	struct wait_news news = {
		.present = co->present,
		.size = co->size,
		.since_ms = (uint32_t)(co->now - co->watch.started),
		.left_ms = (uint32_t)clock_earlier(clock_left(co->now, co->watch.deadline), UINT32_MAX),
		.absent = co->size - co->present,
		.n = absent_list(co, ranks, WAIT_NAMES),
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
		guests_send(co, FRAME_WAIT, payload, n);
	}
}

/** Look names up a little before they are reported. */
static void plan_look_up(struct coordinator *co) {
	uint64_t next = clock_earlier(co->progress, co->watch.deadline);
	uint64_t left = clock_left(co->now, next);
	co->look_up = left > 2 * LOOK_UP_MS ? next - LOOK_UP_MS : co->now + left / 2;
}

/** What a terminal shows meanwhile. */
static void show_status(struct coordinator *co) {
	const struct wait_news news = make_news(co);
	struct buf absent = BUF(co->arena);
	roll_put_absent(&absent, &news);
	roll_say(co->call, ROLL_STATUS, "roll call: %u of %u %s are here, %s%s", news.present, news.size,
		 co->call->noun, duration_text(news.since_ms / 1000 * 1000).s, buf_text(&absent));
	co->status = co->now + STATUS_MS;
}

/** Progress is reported after 10, 20 and 40 s, then each minute. */
static void report_progress(struct coordinator *co) {
	uint64_t passed = co->now - co->watch.started;
	roll_say(co->call, ROLL_WARNING, "roll call: %u of %u %s are here after %s; absent: %s", co->present,
		 co->size, co->call->noun, duration_text(passed / 1000 * 1000).s, absent_text(co));
	news_send(co, NULL);
	co->reported = true;
	co->progress = co->watch.started + (passed < 20000 ? 20000 : passed < 40000 ? 40000 : passed + 60000);
	plan_look_up(co);
}

/** Whether the members that are here can be all: by our count, or by that of another. */
static bool is_complete(const struct coordinator *co) {
	bool complete = co->present == co->size;
	const struct guest *guest = co->others ? co->known.first : NULL;
	for (; guest && !complete; guest = guest->next) {
		complete = co->present >= guest->size;
	}
	return complete;
}

static int fail_duplicate(struct coordinator *co) {
	char address[2][ADDRESS_TEXT];
	struct str name[2];
	for (int i = 0; i < 2; i++) {
		// Both say the same host: their machines call themselves otherwise.
		name[i] = co->duplicate[i]->node.len ? co->duplicate[i]->node : guest_name(co->duplicate[i]);
		address_text(&co->duplicate[i]->peer, address[i]);
	}
	co->end->result = ROLL_DUPLICATE;
	if (co->duplicate[0] == co->duplicate[1]) {
		// It says our own rank.
		name[0] = str_of(co->call->master);
		memcpy(address[0], "coordinator", sizeof("coordinator"));
	}
	return err_set(
		&co->end->error, EEXIST,
		"roll call: two %s say that they are rank %u: %.*s (%s) and %.*s (%s); nothing was started%s",
		co->call->noun, co->duplicate[1]->rank, (int)name[0].len, name[0].p, address[0],
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
		co->size - co->present, co->size, co->call->noun, duration_text(co->call->timeout_ms).s,
		absent_text(co), co->call->longer);
}

/** Compare until it is concluded. Returns 1 to go on calling; 0 to start; a negative errno. */
static int step_comparison(struct coordinator *co) {
	bool changed = co->compared != co->changes;
	if (changed || (co->n_asked && co->now >= co->tell)) {
		if (!changed) {
			agree_give_up(co);
		}
		co->tell = 0;
		return 1;
	}
	if (co->n_asked) {
		return 1;
	}
	int r = agree_conclude(co);
	if (r < 0) {
		co->end->result = ROLL_DISAGREE;
		return r;
	}
	// With others here that are too few, time is over.
	return co->present == co->size ? 0 : fail_absent(co);
}

/** What is due now. Returns 1 to go on; 0 to start; a negative errno. */
static int step(struct coordinator *co) {
	bool over = co->now >= co->watch.deadline;
	if (co->refuse_at) {
		return over || co->now >= co->refuse_at || is_complete(co) ? -EPROTO : 1;
	}
	if (co->mixed) {
		return fail_mixed(co);
	}
	if (co->duplicate[0]) {
		return fail_duplicate(co);
	}
	if (co->now >= clock_after(co->watch.deadline, 2 * TELL_MS)) {
		// Some come again and again, and do not answer.
		return fail_absent(co);
	}
	if (!co->tell && ((over && co->others) || (is_complete(co) && co->now >= co->hold))) {
		co->tell = co->now + TELL_MS;
		co->compared = co->changes;
		agree_begin(co);
	}
	if (co->tell) {
		return step_comparison(co);
	}
	if (over) {
		return fail_absent(co);
	}
	// Nothing of their texts is kept: the child that looks names up has a copy.
	const struct arena before = *co->arena;
	if (co->now >= co->look_up) {
		absent_look_up(co);
		co->look_up = CLOCK_NEVER;
		if (!co->knows_itself) {
			co->knows_itself = true;
			plan_look_up(co);
		}
	}
	if (co->now >= co->progress) {
		report_progress(co);
	}
	if (co->now >= co->status) {
		show_status(co);
	}
	arena_back(co->arena, &before);
	return 1;
}

/** When step() has something to do, if nothing happens before. */
static uint64_t next_step(const struct coordinator *co) {
	if (co->refuse_at || co->tell) {
		return co->refuse_at ? co->refuse_at : co->tell;
	}
	uint64_t next = clock_earlier(co->progress, clock_earlier(co->look_up, co->status));
	return co->hold > co->now ? clock_earlier(next, co->hold) : next;
}

/** Call until all are here and agree. Returns 0; a negative errno. */
static int call_all(struct coordinator *co) {
	int r = 0;
	co->now = co->watch.started;
	co->progress = co->now + WAIT_PROGRESS_MS;
	co->status = co->call->rewrites ? co->now + STATUS_FIRST_MS : CLOCK_NEVER;
	plan_look_up(co);
	// With little time, there is only one for the absent.
	co->knows_itself = co->look_up < co->now + OWN_NAME_MS;
	co->look_up = clock_earlier(co->look_up, co->now + OWN_NAME_MS);
	while (r == 0) {
		r = step(co);
		if (r <= 0) {
			return r;
		}
		r = handle_events(co, clock_earlier(guests_expire(co), next_step(co)));
	}
	return r;
}

// --- ending

/** Nobody is called any more. */
static void close_listener(struct coordinator *co) {
	absent_done(co);
	close(co->listener);
	co->listener = -1;
	while (co->unproved.first) {
		guest_close(co, co->unproved.first, true);
	}
	while (co->proved.first) {
		guest_close(co, co->proved.first, true);
	}
}

/** Wait until all have closed, or @ms have passed. Returns 0; -EINTR. */
static int await_ends(struct coordinator *co, uint64_t ms) {
	int r = 0;
	co->now = clock_now_ms();
	co->watch.deadline = co->now + ms;
	while (r == 0 && co->n_members && co->now < co->watch.deadline) {
		r = handle_events(co, CLOCK_NEVER);
	}
	return r;
}

/** Warn of those that may not have heard GO: their connection is still open, or was reset. */
static void report_deaf(struct coordinator *co) {
	for (const struct guest *guest = co->known.first; guest; guest = guest->next) {
		guest_is_deaf(co, guest);
	}
	if (co->n_deaf) {
		roll_put_more(&co->deaf, co->n_deaf > WAIT_NAMES ? co->n_deaf - WAIT_NAMES : 0);
		roll_say(co->call, ROLL_WARNING, "roll call: %s was told to start, but may not have heard",
			 buf_text(&co->deaf));
	}
}

static void report_start(struct coordinator *co) {
	const struct guest *guest = co->seats[co->end->last].guest;
	struct str last = guest ? guest_name(guest) : STR("");
	// Whoever was told who is absent is told that they came.
	roll_say(co->call, co->reported ? ROLL_WARNING : ROLL_INFO,
		 "roll call: all %u %s are here, after %s (the last: %.*s); %s", co->size, co->call->noun,
		 duration_text(co->end->took_ms).s, (int)last.len, last.p,
		 co->call->secret ? "authenticated" : "not authenticated");
}

/** Hand the connections to the caller. */
static void keep_lines(struct coordinator *co) {
	co->end->lines = arena_array(co->arena, co->size, sizeof(*co->end->lines));
	for (uint32_t rank = 0; rank < co->size; rank++) {
		struct guest *guest = co->seats[rank].guest;
		co->end->lines[rank] = (struct kept_line){
			guest ? guest->line : (struct line){.fd = -1},
			guest ? guest_name(guest) : roll_host(co->call, rank),
			false,
			NULL,
		};
	}
}

/** Tell all to start. The members close first, so that the port is free without TIME_WAIT. */
static void release(struct coordinator *co) {
	unsigned char payload[HELLO_MAX];
	co->end->took_ms = clock_now_ms() - co->watch.started;
	const struct go go = {
		.port = co->port,
		.flags = co->call->stay ? GO_STAY : 0,
		.took_ms = (uint32_t)co->end->took_ms,
	};
	close_listener(co);
	report_start(co);
	co->end->present = co->present;
	co->released = true;
	guests_send(co, FRAME_GO, payload, go_encode(&go, payload));
	if (co->call->stay) {
		keep_lines(co);
		return;
	}
	if (await_ends(co, GO_MS) == 0) {
		report_deaf(co);
	}
}

/** Tell all why nothing starts. */
static void refuse(struct coordinator *co, int code) {
	unsigned char payload[HELLO_MAX];
	enum roll_result kind = co->end->result == ROLL_PORT ? ROLL_ERROR : co->end->result;
	const char *text = co->end->error.text;
	const char *prefix = "roll call: ";
	text += strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
	const struct no no = {.kind = (enum no_kind)kind, .text = str_of(text)};
	co->end->took_ms = clock_now_ms() - co->watch.started;
	close_listener(co);
	co->end->present = co->present;
	absent_report(co);
	// Members report who is absent, too.
	news_send(co, NULL);
	guests_send(co, FRAME_NO, payload, no_encode(&no, payload));
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
		while (co->known.first && (r < 0 || !co->call->stay)) {
			guest_close(co, co->known.first, false);
		}
	}
	if (co->epoll >= 0) {
		close(co->epoll);
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

int coordinator_run(const struct roll_call *call, struct roll_end *end) {
	struct coordinator *co = arena_alloc(call->arena, sizeof(*co));
	struct wait_for wait = {.timeout_ms = call->timeout_ms};
	struct rlimit was;
	memset(co, 0, sizeof(*co));
	co->call = call;
	co->end = end;
	co->arena = call->arena;
	co->size = call->size;
	co->deaf = BUF(call->arena);
	arena_init(&co->scratch, NULL, 0, call->arena->full);
	co->epoll = co->listener = co->held = co->lookups.fd = -1;
	end->strangers = co->strangers;
	end->result = ROLL_ERROR;
	int r = raise_limit(co, &was);
	if (r < 0) {
		return r;
	}
	r = watch_begin(&co->watch, &wait);
	if (r < 0) {
		end->error = co->watch.failure;
	} else {
		r = run(co);
		watch_done(&co->watch);
	}
	prlimit(0, RLIMIT_NOFILE, &was, NULL);
	end->signal = co->watch.signal;
	end->waited_ms = clock_now_ms() - co->watch.started;
	if (end->signal) {
		end->result = ROLL_SIGNAL;
		return -EINTR;
	}
	end->result = r == 0 ? ROLL_STARTED : end->result;
	return r;
}
