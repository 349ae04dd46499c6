// SPDX-License-Identifier: Apache-2.0

#include "rollcall/coordinator.h"

#include "base/earliest.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Descriptors beside one for each member, and those that this process needs for itself. */
#define SPARE_FDS 32
#define OWN_FDS	  16

/** How many more than the members may be connected: members that come again, and strangers. */
#define SPARE_GUESTS 64

/** How long answers to TELL, and the ends of connections after GO or NO, are awaited. */
#define TELL_MS 2000
#define GO_MS	2000
#define NO_MS	1000

/** How long before a report the names of the absent are looked up, in milliseconds. */
#define LOOK_UP_MS 2000

static void say(const struct coordinator *co, enum roll_level level, struct buf *text) {
	co->call->say(co->call->context, level, buf_text(text));
}

// --- opening

/** Make room for all descriptors. *@was is the limit before. Returns 0; -EMFILE with @err. */
static int raise_limit(struct coordinator *co, struct rlimit *was) {
	const uint64_t need = (uint64_t)co->call->size + SPARE_FDS;
	prlimit(0, RLIMIT_NOFILE, NULL, was);
	struct rlimit raised = {was->rlim_max, was->rlim_max};
	if (was->rlim_max < need) {
		return err_set(
			&co->end->error, EMFILE,
			"roll call: %lu open files are needed for %u %s, but the hard limit is %lu; raise it "
			"('ulimit -n', --ulimit nofile=N of container engines)",
			(unsigned long)need, co->call->size, roll_noun(co->call),
			(unsigned long)was->rlim_max);
	}
	if (was->rlim_cur < raised.rlim_max) {
		prlimit(0, RLIMIT_NOFILE, &raised, NULL);
	}
	uint64_t room = raised.rlim_max - OWN_FDS, wanted = 2 * (uint64_t)co->call->size + SPARE_GUESTS;
	co->max_guests = (uint32_t)(room < wanted ? room : wanted);
	return 0;
}

/** Append "port 29500 of main1 is taken (by a listener of uid 1001)". */
static void put_taken(const struct coordinator *co, struct buf *out) {
	uint32_t uid;
	buf_putf(out, "roll call: port %u of %s is taken", co->call->port, co->call->master);
	if (listen_owner(co->call->port, &uid) == 0) {
		buf_putf(out, " (by a listener of uid %u)", uid);
	}
}

static int refuse_port(struct coordinator *co, int code) {
	struct buf text = BUF(co->arena);
	co->end->result = ROLL_PORT;
	if (code == -EADDRINUSE) {
		put_taken(co, &text);
		buf_puts(&text, co->call->port_from ? ", and " : "");
		buf_puts(&text, co->call->port_from ? co->call->port_from : ", as are the others");
		buf_puts(&text, co->call->port_from ? " says that very one" : "");
	} else {
		buf_putf(&text, "roll call: cannot listen on port %u: %s", co->call->port, strerror(-code));
	}
	return err_set(&co->end->error, -code, "%s; nothing was started", buf_text(&text));
}

/** Listen on the first port that is free. */
static int open_port(struct coordinator *co) {
	uint16_t ports[ROLL_PORTS];
	uint32_t n = roll_ports(co->call, ports);
	for (uint32_t i = 0; i < n; i++) {
		co->listener = listen_open(ports[i]);
		if (co->listener != -EADDRINUSE) {
			co->port = ports[i];
			co->moved = i > 0;
			break;
		}
	}
	if (co->listener < 0) {
		return refuse_port(co, co->listener);
	}
	co->end->port = co->port;
	co->end->moved = co->moved;
	if (co->moved) {
		struct buf text = BUF(co->arena);
		put_taken(co, &text);
		buf_putf(&text, "; all %s use %u", roll_noun(co->call), co->port);
		say(co, ROLL_WARNING, &text);
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
	co->seats = arena_array(co->arena, co->call->size, sizeof(*co->seats));
	memset(co->seats, 0, co->call->size * sizeof(*co->seats));
	co->present = 1;
	key_tag(&co->call->key, co->tag);
	return 0;
}

// --- calling

/** Handle all that is ready. */
static void handle_events(struct coordinator *co) {
	struct epoll_event events[256];
	// musl's epoll_wait() has code for kernels that do not have this system call.
	int n = (int)syscall(SYS_epoll_pwait, co->epoll, events, sizeof(events) / sizeof(events[0]), 0, NULL,
			     0);
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == co) {
			guests_accept(co);
		} else if (events[i].data.ptr == &co->lookups) {
			absent_read(co);
		} else {
			guest_read(co, events[i].data.ptr);
		}
	}
}

/** Tell the members how it stands. */
static void send_news(struct coordinator *co, uint64_t now) {
	unsigned char payload[HELLO_MAX];
	uint32_t ranks[WAIT_NAMES];
	struct wait_news news = {
		.present = co->present,
		.size = co->call->size,
		.since_ms = (uint32_t)(now - co->watch.started),
		.left_ms = (uint32_t)clock_earlier(clock_left(now, co->watch.deadline), UINT32_MAX),
		.absent = co->call->size - co->present,
		.n = absent_list(co, ranks, WAIT_NAMES),
	};
	for (uint32_t i = 0; i < news.n; i++) {
		news.at[i].rank = ranks[i];
		news.at[i].host = roll_host(co->call, ranks[i]);
	}
	guests_send(co, FRAME_WAIT, payload, wait_encode(&news, payload));
}

static void report_progress(struct coordinator *co, uint64_t now) {
	struct buf text = BUF(co->arena);
	buf_putf(&text, "roll call: %u of %u %s are here after ", co->present, co->call->size,
		 roll_noun(co->call));
	roll_put_seconds(&text, (now - co->watch.started) / 1000 * 1000);
	buf_puts(&text, "; absent: ");
	absent_put(co, &text);
	say(co, ROLL_WARNING, &text);
	send_news(co, now);
}

/** Progress is reported after 10, 20 and 40 s, then each minute. */
static uint64_t progress_after(uint64_t now, uint64_t started) {
	uint64_t passed = now - started;
	return started + (passed < 20000 ? 20000 : passed < 40000 ? 40000 : passed + 60000);
}

/** The times at which the coordinator acts on its own. 0: never. */
struct agenda {
	uint64_t progress;
	uint64_t look_up;
	/** Until when the answers to TELL are awaited; 0: nothing is compared now. */
	uint64_t tell;
	/** co->changes when the comparison began. */
	uint32_t changes;
};

/** Look names up a little before they are reported. */
static uint64_t look_up_before(const struct coordinator *co, uint64_t progress, uint64_t now) {
	uint64_t next = clock_earlier(progress, co->watch.deadline);
	uint64_t left = clock_left(now, next);
	return left > 2 * LOOK_UP_MS ? next - LOOK_UP_MS : now + left / 2;
}

/** Whether the members that are here can be all: by our count, or by that of another. */
static bool is_complete(const struct coordinator *co) {
	if (co->present == co->call->size) {
		return true;
	}
	for (uint32_t rank = 0; co->others && rank < co->call->size; rank++) {
		const struct guest *guest = co->seats[rank].guest;
		if (guest && co->present >= guest->size) {
			return true;
		}
	}
	return false;
}

static int fail_duplicate(struct coordinator *co) {
	char address[2][ADDRESS_TEXT];
	struct str name[2];
	for (int i = 0; i < 2; i++) {
		name[i] = guest_name(co->duplicate[i]);
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
		"roll call: two %s say that they are rank %u: %.*s (%s) and %.*s (%s); nothing was started",
		roll_noun(co->call), co->duplicate[1]->rank, (int)name[0].len, name[0].p, address[0],
		(int)name[1].len, name[1].p, address[1]);
}

static int fail_absent(struct coordinator *co) {
	struct buf text = BUF(co->arena), time = BUF(co->arena);
	absent_put(co, &text);
	roll_put_seconds(&time, co->call->timeout_ms);
	co->end->result = ROLL_ABSENT;
	return err_set(
		&co->end->error, ETIMEDOUT,
		"roll call: %u of %u %s did not come within %s: %s; nothing was started; %s=DURATION waits "
		"longer",
		co->call->size - co->present, co->call->size, roll_noun(co->call), buf_text(&time),
		buf_text(&text), co->call->longer);
}

static void begin_comparison(struct coordinator *co, struct agenda *agenda, uint64_t now) {
	agenda->tell = now + TELL_MS;
	agenda->changes = co->changes;
	agree_begin(co);
}

/** Compare until it is concluded. Returns 1 to go on calling; 0 to start; a negative errno. */
static int step_comparison(struct coordinator *co, struct agenda *agenda, uint64_t now) {
	if (agenda->changes != co->changes) {
		agenda->tell = 0;
		return 1;
	}
	if (co->n_asked && now < agenda->tell) {
		return 1;
	}
	if (co->n_asked) {
		agree_give_up(co);
		agenda->tell = 0;
		return 1;
	}
	int r = agree_conclude(co);
	if (r < 0) {
		co->end->result = ROLL_DISAGREE;
		return r;
	}
	// With others here that are too few, time is over.
	return co->present == co->call->size ? 0 : fail_absent(co);
}

/** What is due now. Returns 1 to go on; 0 to start; a negative errno. */
static int step(struct coordinator *co, struct agenda *agenda, uint64_t now) {
	if (co->duplicate[0]) {
		return fail_duplicate(co);
	}
	bool complete = is_complete(co) && now >= co->hold;
	bool over = now >= co->watch.deadline;
	if (!agenda->tell && (complete || (over && co->others))) {
		begin_comparison(co, agenda, now);
	}
	if (agenda->tell) {
		return step_comparison(co, agenda, now);
	}
	if (over) {
		return fail_absent(co);
	}
	if (now >= agenda->look_up) {
		absent_look_up(co);
		agenda->look_up = UINT64_MAX;
	}
	if (now >= agenda->progress) {
		report_progress(co, now);
		agenda->progress = progress_after(now, co->watch.started);
		agenda->look_up = look_up_before(co, agenda->progress, now);
	}
	return 1;
}

/** Call until all are here and agree. Returns 0; a negative errno. */
static int call_all(struct coordinator *co) {
	uint64_t now = co->watch.started;
	struct agenda agenda = {.progress = now + WAIT_PROGRESS_MS};
	agenda.look_up = look_up_before(co, agenda.progress, now);
	for (;;) {
		int r = step(co, &agenda, now);
		if (r <= 0) {
			return r;
		}
		uint64_t until = clock_earlier(guests_expire(co, now), agenda.progress);
		until = clock_earlier(until, agenda.look_up);
		until = agenda.tell ? clock_earlier(until, agenda.tell) : until;
		until = co->hold > now ? clock_earlier(until, co->hold) : until;
		r = watch_poll(&co->watch, co->epoll, POLLIN, until);
		if (r < 0) {
			return r;
		}
		if (r > 0) {
			handle_events(co);
		}
		now = clock_now_ms();
	}
}

// --- ending

/** Nobody is called any more. */
static void close_listener(struct coordinator *co) {
	absent_done(co);
	close(co->listener);
	co->listener = -1;
	while (co->silent.first) {
		guest_close(co, co->silent.first, true);
	}
}

/** Wait until all have closed, or @ms have passed. Returns 0; -EINTR. */
static int await_ends(struct coordinator *co, uint64_t ms) {
	uint64_t until = clock_now_ms() + ms;
	co->watch.deadline = until;
	while (co->n_guests && clock_now_ms() < until) {
		int r = watch_poll(&co->watch, co->epoll, POLLIN, until);
		if (r < 0) {
			return r;
		}
		handle_events(co);
	}
	return 0;
}

/** Warn of those that may not have heard GO: their connection is still open, or was reset. */
static void report_deaf(struct coordinator *co) {
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		if (co->seats[rank].guest) {
			guest_is_deaf(co, co->seats[rank].guest);
		}
	}
	struct buf text = BUF(co->arena);
	for (uint32_t i = 0; i < co->n_deaf && i < WAIT_NAMES; i++) {
		buf_puts(&text, i ? ", " : "roll call: ");
		buf_put(&text, co->deaf[i]);
	}
	if (co->n_deaf > WAIT_NAMES) {
		buf_putf(&text, " and %u more", co->n_deaf - WAIT_NAMES);
	}
	if (co->n_deaf) {
		buf_puts(&text, " was told to start, but may not have heard");
		say(co, ROLL_WARNING, &text);
	}
}

static void report_start(struct coordinator *co) {
	struct buf text = BUF(co->arena);
	struct str last =
		co->seats[co->end->last].guest ? guest_name(co->seats[co->end->last].guest) : STR("");
	buf_putf(&text, "roll call: all %u %s are here, after ", co->call->size, roll_noun(co->call));
	roll_put_seconds(&text, co->end->took_ms);
	buf_putf(&text, " (the last: %.*s); %s", (int)last.len, last.p,
		 co->call->secret ? "authenticated" : "not authenticated");
	say(co, ROLL_INFO, &text);
}

/** Hand the connections to the caller. */
static void keep_lines(struct coordinator *co) {
	co->end->lines = arena_array(co->arena, co->call->size, sizeof(*co->end->lines));
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		struct guest *guest = co->seats[rank].guest;
		co->end->lines[rank] = (struct kept_line){
			guest ? guest->line : (struct line){.fd = -1},
			guest ? guest_name(guest) : roll_host(co->call, rank),
			false,
		};
	}
}

/** Tell all to start. The members close first, so that the port is free without TIME_WAIT. */
static void release(struct coordinator *co) {
	unsigned char payload[HELLO_MAX];
	co->end->took_ms = clock_now_ms() - co->watch.started;
	const struct go go = {
		.port = co->port,
		.flags = (uint16_t)((co->moved ? GO_MOVED : 0) | (co->call->stay ? GO_STAY : 0)),
		.took_ms = (uint32_t)co->end->took_ms,
		.clock_ms = roll_clock_ms(),
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
	close_listener(co);
	co->end->present = co->present;
	absent_report(co);
	if (co->duplicate[0]) {
		line_send(&co->duplicate[0]->line, FRAME_NO, payload, no_encode(&no, payload));
	}
	guests_send(co, FRAME_NO, payload, no_encode(&no, payload));
	if (code != -EINTR) {
		await_ends(co, NO_MS);
	}
}

/** Close all that is still open, without a reset: what was sent may still be on its way. */
static void close_all(struct coordinator *co) {
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		if (co->seats[rank].guest) {
			guest_close(co, co->seats[rank].guest, false);
		}
	}
	while (co->beyond.first) {
		guest_close(co, co->beyond.first, false);
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
		if (r < 0 || !co->call->stay) {
			close_all(co);
		}
	}
	if (co->epoll >= 0) {
		close(co->epoll);
	}
	if (co->listener >= 0) {
		close(co->listener);
	}
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
	co->epoll = co->listener = co->lookups.fd = -1;
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
