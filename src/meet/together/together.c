// SPDX-License-Identifier: Apache-2.0

#include "together/decide.h"

#include "base/clock.h"
#include "base/signals.h"
#include "init/init.h"
#include "net/listen.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static struct together *together_of(struct observer *observer) {
	return (struct together *)(void *)((char *)observer - offsetof(struct together, observer));
}

static void hang_up(struct kept_line *kept) {
	if (kept->line.fd >= 0) {
		close(kept->line.fd);
		kept->line.fd = -1;
	}
}

static void hang_up_all(struct together *t) {
	for (uint32_t i = 0; i < t->n; i++) {
		hang_up(&t->lines[i]);
	}
}

/**
 * Send a frame on all open connections. If that fails on one, the connection has ended: read_line() first
 * reads the frames that have come on it, and then reports its end.
 */
static void send_all(struct together *t, enum frame_type type, const unsigned char *payload, size_t n) {
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->lines[i].line.fd >= 0) {
			line_send(&t->lines[i].line, type, payload, n);
		}
	}
}

/** Describe when our program made progress. A program that is not watched makes progress now. */
static struct died describe_progress(struct together *t) {
	const bool watched = t->progress.files.text && !t->observer.end;
	struct buf text = BUF(t->call->arena);
	if (watched) {
		progress_put(&t->progress, &text);
		workers_put_states(t->progress.look.pid, &text);
	}
	struct died died = {.what = DIED_PROGRESS, .status = EXIT_TIME_LIMIT, .text = buf_str(&text)};
	died.ago_ms = watched ? (uint32_t)clock_earlier(progress_age(&t->progress), UINT32_MAX) : 0;
	died.text.len = died.text.len < DIED_TEXT_MAX ? died.text.len : DIED_TEXT_MAX;
	return died;
}

/**
 * Describe the death of a process: "process 77 (python3) was killed by SIGKILL", and a possible lack of
 * memory.
 */
static struct died describe_death(const struct together *t, const struct worker_end *end) {
	const int status = end->status;
	struct buf text = BUF(t->call->arena);
	buf_putf(&text, "process %d (", (int)end->pid);
	buf_put_plain(&text, str_of(end->name));
	if (WIFSIGNALED(status)) {
		buf_putf(&text, ") was killed by SIG%s", signal_name(WTERMSIG(status)).s);
	} else {
		buf_putf(&text, ") ended with exit status %d", WEXITSTATUS(status));
	}
	uint32_t kills = observer_oom_kills(&t->observer);
	if (kills && kills != OOM_UNKNOWN) {
		buf_putf(&text, OOM_TEXT, kills);
	}
	struct died died = {
		.ago_ms = (uint32_t)(clock_now_ms() - end->at),
		.status = (uint8_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)),
		.text = buf_str(&text),
	};
	died.text.len = died.text.len < DIED_TEXT_MAX ? died.text.len : DIED_TEXT_MAX;
	return died;
}

/** Do what together_decide() returned. */
static void apply(struct together *t, const struct together_todo *todo) {
	unsigned char payload[HELLO_MAX];
	if (todo->what & DO_HANG_UP) {
		hang_up(&t->lines[todo->line]);
	}
	if (todo->what & DO_SEND_END) {
		send_all(t, FRAME_END, payload, ended_encode(&todo->ended, payload));
	}
	if (todo->what & DO_SEND_ENDED) {
		send_all(t, FRAME_ENDED, payload, ended_encode(&todo->ended, payload));
	}
	if (todo->what & DO_SEND_DIED) {
		send_all(t, FRAME_DIED, payload, died_encode(&todo->died, payload));
	}
	if (todo->what & DO_HANG_UP_ALL) {
		hang_up_all(t);
	}
	if (todo->what & DO_WATCH) {
		workers_begin(&t->workers, t->observer.fds[0].fd, t->program);
	}
	if (todo->what & DO_WATCH_NO_MORE) {
		progress_end(&t->progress);
		workers_end(&t->workers);
	}
	t->observer.limit |= (todo->what & DO_END_PROGRAM) != 0;
	if (todo->what & DO_PRINT) {
		t->observer.words = todo->words;
		t->observer.last_words = todo->what & DO_PRINT_LAST;
		t->observer.logged = todo->what & DO_PRINT_LOGGED;
	}
	if (todo->what & DO_REPORT) {
		t->report(t, &todo->ended);
	}
}

/** Pass @event to together_decide(), and do what that returns. Returns enum together_do, as bits. */
static unsigned handle(struct together *t, const struct together_event *event) {
	const struct together_todo todo = together_decide(t, event, clock_now_ms());
	apply(t, &todo);
	if (todo.what & DO_DESCRIBE_PROGRESS) {
		handle(t, &(struct together_event){.what = TOGETHER_OWN_DIED, .died = describe_progress(t)});
	}
	return todo.what;
}

/** Report that the files of --progress are watched here, or that one was written. */
static void report_watching(struct together *t, enum died_what what) {
	struct died died = {.what = (uint8_t)what, .text = str_of(t->progress.files.text)};
	died.text.len = died.text.len < DIED_TEXT_MAX ? died.text.len : DIED_TEXT_MAX;
	handle(t, &(struct together_event){.what = TOGETHER_OWN_DIED, .died = died});
}

/** Report the program's own processes that have ended, and look for new ones. */
static void watch_workers(struct together *t) {
	struct worker_end end;
	while (t->workers.program && workers_next(&t->workers, &end)) {
		const struct together_event event = {
			.what = TOGETHER_WORKER_ENDED, .status = end.status, .lived_ms = end.lived_ms};
		if (handle(t, &event) & DO_DESCRIBE_DEATH) {
			handle(t, &(struct together_event){.what = TOGETHER_OWN_DIED,
							   .died = describe_death(t, &end)});
		}
	}
	if (workers_scan(&t->workers, clock_now_ms())) {
		// The program has started new processes: it has handled the earlier failure.
		handle(t, &(struct together_event){.what = TOGETHER_OWN_DIED, .died = {.text = STR("")}});
	}
}

/** Count the open connections whose other side does not answer the kernel. */
static uint32_t count_silent(const struct together *t) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		n += t->lines[i].line.fd >= 0 && stream_is_silent(t->lines[i].line.fd);
	}
	return n;
}

/**
 * Connection @i has ended: close it and report that. @code: -ENODATA, -EPROTO, or the connection's negative
 * errno.
 */
static void end_line(struct together *t, uint32_t i, int code) {
	const bool silent = code == -ETIMEDOUT || code == -EHOSTUNREACH || code == -ENETUNREACH;
	hang_up(&t->lines[i]);
	handle(t, &(struct together_event){.what = silent ? TOGETHER_SILENT : TOGETHER_GONE,
					   .line = i,
					   .error = code == -ENODATA || code == -EPROTO ? 0 : -code,
					   .n_silent = silent ? count_silent(t) : 0});
}

/** Turn @frame into an event. Returns 0 with *@out; -EPROTO if the frame is malformed or unexpected. */
static int read_frame(const struct frame *frame, struct together_event *out) {
	switch (frame->type) {
	case FRAME_ENDED:
	case FRAME_END:
		out->what = frame->type == FRAME_END ? TOGETHER_FRAME_END : TOGETHER_FRAME_ENDED;
		return ended_decode(frame->payload, &out->ended);
	case FRAME_DIED:
		out->what = TOGETHER_FRAME_DIED;
		return died_decode(frame->payload, &out->died);
	default:
		return -EPROTO;
	}
}

/**
 * Read the frames that have come on connection @i, at most LINE_TURN: epoll reports the rest again. @over:
 * the other side sends no more bytes.
 */
static void read_line(struct together *t, uint32_t i, bool over) {
	struct kept_line *kept = &t->lines[i];
	unsigned char bytes[HELLO_MAX];
	struct frame frame;
	int r = 0;
	for (int n = 0; r == 0 && kept->line.fd >= 0; n++) {
		struct together_event event = {.line = i};
		if (n == LINE_TURN) {
			line_watch(kept->line.fd, t->observer.fds[0].fd, EPOLL_CTL_MOD,
				   (epoll_data_t){.u64 = i});
			return;
		}
		r = line_take(&kept->line, bytes, sizeof(bytes), over, &frame);
		r = r < 0 ? r : read_frame(&frame, &event);
		if (r == 0) {
			handle(t, &event);
		}
	}
	if (r < 0 && r != -EAGAIN) {
		end_line(t, i, r);
	}
}

/** Handle the events that have come, and what is due. */
static void wake(struct together *t) {
	struct epoll_event events[64];
	int n = epoll_wait(t->observer.fds[0].fd, events, 64, 0);
	for (int i = 0; i < n; i++) {
		uint64_t which = events[i].data.u64;
		if (which & WORKERS_BIT) {
			workers_ready(&t->workers, (uint32_t)which, clock_now_ms());
		} else {
			read_line(t, (uint32_t)which, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (!t->observer.end) {
		watch_workers(t);
	}
	if (progress_step(&t->progress)) {
		handle(t, &(struct together_event){.what = TOGETHER_OVERDUE});
	}
	if (t->progress.answered && !t->sent_watches && t->max_restarts) {
		report_watching(t, DIED_WATCHES);
	}
	if (t->progress.changed && !t->sent_wrote && t->max_restarts) {
		report_watching(t, DIED_WROTE);
	}
	if (t->progress.warning.text[0] && !t->observer.words) {
		t->observer.words = arena_format(t->call->arena, "%s", t->progress.warning.text);
		t->observer.last_words = t->observer.logged = false;
		t->progress.warning.text[0] = '\0';
	}
	handle(t, &(struct together_event){.what = TOGETHER_DUE});
}

/** Handle an event of --init. Returns whether to drop it. */
static bool take_event(struct together *t, enum init_event what, int a, int b) {
	struct together_event event = {.what = TOGETHER_SIGNAL, .signal = a};
	switch (what) {
	case EVENT_CHILD:
		prlimit(0, RLIMIT_NOFILE, &t->files, NULL);
		break;
	case EVENT_STARTED:
		t->program = a;
		progress_begin(&t->progress);
		event.what = TOGETHER_STARTED;
		handle(t, &event);
		break;
	case EVENT_SIGNAL:
		event.ignored = was_ignored(a);
		return handle(t, &event) & DO_DROP_SIGNAL;
	case EVENT_FORWARDED:
		if (a == SIGTERM && b) {
			event.what = TOGETHER_ASKED_TO_END;
			handle(t, &event);
		}
		break;
	case EVENT_ENDED:
		watch_workers(t);
		event.what = TOGETHER_PROGRAM_ENDED;
		handle(t, &event);
		break;
	case EVENT_WAKE:
		wake(t);
		break;
	case EVENT_REAPED:
		break;
	}
	return false;
}

static bool on_event(struct observer *observer, enum init_event event, int a, int b) {
	struct together *t = together_of(observer);
	if (take_event(t, event, a, b)) {
		return true;
	}
	observer->fds[1].fd = t->progress.look.fd;
	observer->due_at = clock_earlier(clock_earlier(t->close_at, t->settle_at),
					 clock_earlier(t->workers.scan_at, t->progress.look_at));
	return observe(t->next, event, a, b);
}

/** Raise the limit of open files: there may be more connections than the soft limit allows. */
static void raise_limit(struct together *t) {
	prlimit(0, RLIMIT_NOFILE, NULL, &t->files);
	const struct rlimit most = {t->files.rlim_max, t->files.rlim_max};
	prlimit(0, RLIMIT_NOFILE, &most, NULL);
}

/** Watch connection @i; if it has ended already, report that. Returns 0; -1 with errno. */
static int watch_line(struct together *t, uint32_t i) {
	struct observer *observer = &t->observer;
	int fd = t->lines[i].line.fd;
	if (fd < 0) {
		handle(t, &(struct together_event){.what = TOGETHER_DEAF, .line = i});
		observer->due_at = 0;
		return 0;
	}
	stream_keepalive(fd);
	observer->connected = true;
	observer->kept = fd > observer->kept ? fd : observer->kept;
	return line_watch(fd, observer->fds[0].fd, EPOLL_CTL_ADD, (epoll_data_t){.u64 = i});
}

int together_begin(struct together *t, const struct roll_call *call, const struct roll_end *end,
		   struct err *err) {
	const uint32_t first = call->rank == 0;
	memset((char *)t + offsetof(struct together, call), 0, sizeof(*t) - offsetof(struct together, call));
	t->call = call;
	t->lines = end->lines;
	t->n = first ? call->size : 1;
	t->open = t->n - first;
	t->observer = (struct observer)OBSERVER_NONE;
	t->observer.event = on_event;
	t->observer.fds[0].events = t->observer.fds[1].events = POLLIN;
	t->progress.look.fd = -1;
	t->settle_at = t->close_at = t->workers.scan_at = t->progress.look_at = CLOCK_NEVER;
	raise_limit(t);
	int r = epoll_create1(EPOLL_CLOEXEC);
	t->observer.fds[0].fd = r;
	// Rank 0 has no connection to itself.
	for (uint32_t i = first; r >= 0 && i < t->n; i++) {
		r = watch_line(t, i);
	}
	return r >= 0 ? 0 : err_set(err, errno, "roll call: cannot watch connections: %s", strerror(errno));
}

void together_end(struct together *t) {
	if (t->lines) {
		hang_up_all(t);
		workers_end(&t->workers);
		close(t->observer.fds[0].fd);
		prlimit(0, RLIMIT_NOFILE, &t->files, NULL);
		t->lines = NULL;
	}
}

void together_json(const struct ended *first, struct json *json) {
	static const char *const words[] = {"failed", "lost", "asked_to_end", "stale"};
	json_text(json, "why", words[first->why]);
	json_number(json, "rank", first->rank);
	roll_put_host(json, first->host);
	json_number(json, "status",
		    first->why == END_FAILED || first->why == END_NO_PROGRESS ? first->status : UINT32_MAX);
	json_text(json, "text", arena_text(json->out->arena, first->text.p, first->text.len));
	json_text(json, "then", arena_text(json->out->arena, first->then.p, first->then.len));
}
