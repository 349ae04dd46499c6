// SPDX-License-Identifier: Apache-2.0

#include "measure/probe.h"

#include "base/clock.h"
#include "exec/exec.h"
#include "exec/spawn.h"
#include "measure/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** Milliseconds between two looks at the processes, two looks at their memory, and two messages of progress. */
#define LOOK_MS	  250
#define MEMORY_MS 1000
#define TICK_MS	  1000

/** How long to wait for the end of killed processes, in milliseconds. */
#define KILL_MS 5000

/** The size of the buffer for read(), in bytes. */
#define PIECE ((size_t)64 << 10)

struct probe {
	const struct probe_plan *plan;
	struct arena *arena;
	struct usage_source source;
	struct utsname host;
	struct records records;
	struct run_window window;
	/** Usage at the end of the warm-up (before that: at the start), and at the end of the measurement. */
	struct usage base;
	struct usage last;
	/** When `base` was read, and the time from there to `last`. */
	uint64_t base_at_ms;
	uint64_t span_ms;
	/** The largest memory of all looks, as in struct usage. */
	uint64_t memory;
	bool by_rss;
	/** The looks so far, and those in which the pipeline waited for storage. */
	uint64_t looks;
	uint64_t waits;
	/** When the next look, the next look at memory, and the next message of progress are due. */
	uint64_t look_at_ms;
	uint64_t memory_at_ms;
	uint64_t tick_at_ms;
	/** The pipeline's process; 0: it is not running. */
	pid_t pid;
	/** The pipeline has ended, with this exit status, or 128+N for signal N. */
	bool ended;
	uint32_t status;
	/** The pipeline's stdout; -1: at end of file. */
	int pipe;
	/** A signalfd. */
	int signals;
	/** No result is needed, because 'distrun analyze' has gone, or a signal asked us to end. */
	bool dismissed;
	/** The buffer for read(). */
	char *piece;
};

static int send_message(struct probe *p, enum message_kind kind, struct message *m) {
	m->kind = kind;
	m->node = str_of(p->host.nodename);
	m->field[FIELD_RANK] = p->plan->rank;
	m->field[FIELD_CPUS] = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	m->field[FIELD_MEMORY_TOTAL] = usage_memory_total(p->source.proc);
	struct buf line = BUF(p->arena);
	message_put(&line, m);
	// One write() of less than PIPE_BUF bytes, so that lines of several workers do not mix.
	ssize_t n = write(p->plan->out, line.p, line.len);
	return n < 0 ? -errno : 0;
}

static void send_tick(struct probe *p, uint64_t now) {
	struct message m = {0};
	const struct reading *r = &p->records.now;
	m.field[FIELD_COUNT] = r->has_samples ? r->samples : r->count;
	m.field[FIELD_AT_MS] = now - p->window.start_ms;
	p->dismissed |= send_message(p, MESSAGE_TICK, &m) < 0;
}

/** Read an order. Returns 1 for "go"; 0: no order has come yet; -1: end of file. */
static int read_order(const struct probe *p) {
	char text[16];
	ssize_t n = read(p->plan->in, text, sizeof(text));
	return n > 0 ? 1 : n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : -1;
}

/**
 * Start the pipeline in a process group of its own, with default signal actions. Returns 0 or a negative
 * errno.
 */
static int start(struct probe *p) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
	const struct spawn pipeline = {p->plan->argv, p->plan->envp, {-1, ends[1], -1}};
	p->window.start_ms = p->base_at_ms = clock_now_ms();
	int r = spawn(&pipeline, &p->pid);
	close(ends[1]);
	p->pipe = ends[0];
	if (r < 0) {
		p->pid = 0;
		p->ended = true;
		p->status = r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	}
	return 0;
}

/** Read and count what is available. Returns false if nothing was. */
static bool read_records(struct probe *p) {
	if (p->pipe < 0) {
		return false;
	}
	ssize_t n = read(p->pipe, p->piece, PIECE);
	if (n > 0) {
		records_add(&p->records, (struct str){p->piece, (size_t)n}, clock_now_ms());
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(p->pipe);
		p->pipe = -1;
	}
	return false;
}

/** Reap our children, including orphans, which become ours. Returns whether any child remains. */
static bool reap(struct probe *p) {
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == p->pid) {
			p->pid = 0;
			p->ended = true;
			p->status = WIFSIGNALED(status) ? 128U + (uint32_t)WTERMSIG(status)
							: (uint32_t)WEXITSTATUS(status);
		}
	}
	return pid == 0;
}

static void look(struct probe *p, uint64_t now) {
	struct usage usage;
	bool memory = now >= p->memory_at_ms;
	usage_look(&p->source, memory, &usage);
	p->look_at_ms = now + LOOK_MS;
	p->memory_at_ms = memory ? now + MEMORY_MS : p->memory_at_ms;
	if (usage.memory > p->memory) {
		p->memory = usage.memory;
		p->by_rss = usage.by_rss;
	}
	if (p->window.base_ms) {
		p->looks++;
		p->waits += usage.waits;
	}
}

/** Do what is due at @now: end the warm-up, look, send progress. */
static void do_due(struct probe *p, uint64_t now) {
	if (!p->window.base_ms && now >= p->window.start_ms + p->plan->warmup_ms) {
		p->window.base_ms = now;
		p->window.base = p->records.now;
		usage_look(&p->source, false, &p->base);
		p->base_at_ms = now;
	}
	if (now >= p->look_at_ms) {
		look(p, now);
	}
	if (now >= p->tick_at_ms) {
		p->tick_at_ms = now + TICK_MS;
		send_tick(p, now);
	}
}

static uint64_t least(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

/** Sleep until an order, output or a signal comes, or until @until. */
static void sleep_until(struct probe *p, uint64_t until) {
	uint64_t now = clock_now_ms();
	struct pollfd fds[] = {{.fd = p->plan->in, .events = POLLIN},
			       {.fd = p->pipe, .events = POLLIN},
			       {.fd = p->signals, .events = POLLIN}};
	if (p->dismissed) {
		fds[0].fd = -1;
	}
	poll(fds, 3, (int)least(until > now ? until - now : 0, 60000));
	if (fds[0].revents) {
		p->dismissed |= read_order(p) < 0;
	}
	struct signalfd_siginfo info;
	while (read(p->signals, &info, sizeof(info)) == sizeof(info)) {
		p->dismissed |= info.ssi_signo != SIGCHLD;
	}
}

/** Measure until the time is over or the pipeline has ended. */
static void measure(struct probe *p) {
	uint64_t end = p->window.start_ms + p->plan->warmup_ms + p->plan->measure_ms;
	while (!p->ended && !p->dismissed) {
		uint64_t now = clock_now_ms();
		do_due(p, now);
		if (now >= end) {
			break;
		}
		uint64_t next = least(least(end, p->look_at_ms), p->tick_at_ms);
		next = p->window.base_ms ? next : least(next, p->window.start_ms + p->plan->warmup_ms);
		sleep_until(p, next);
		read_records(p);
		reap(p);
	}
	while (p->ended && read_records(p)) {
	}
	p->window.end_ms = clock_now_ms();
	if (p->ended) {
		records_end(&p->records, p->window.end_ms);
	}
	p->window.end = p->records.now;
	p->span_ms = p->window.end_ms - p->base_at_ms;
	usage_look(&p->source, false, &p->last);
}

/** Send @signal to all descendants. */
static void signal_tree(const struct probe *p, int signal) {
	pid_t pids[256];
	size_t n = usage_list(&p->source, pids, 256);
	for (size_t i = 0; i < n && i < 256; i++) {
		kill(pids[i], signal);
	}
}

/**
 * End all descendants: send TERM once, and KILL after the grace period, repeatedly, because a process may fork
 * meanwhile. If the output that still arrives reports a number of samples, it counts.
 */
static void end_tree(struct probe *p) {
	bool ended = p->ended;
	uint32_t status = p->status;
	uint64_t now = clock_now_ms(), term_until = now + p->plan->grace_ms, give_up = term_until + KILL_MS;
	if (reap(p)) {
		signal_tree(p, SIGTERM);
	}
	while (reap(p) && (now = clock_now_ms()) < give_up) {
		if (now >= term_until) {
			signal_tree(p, SIGKILL);
		}
		sleep_until(p, now + 20);
		while (read_records(p)) {
		}
	}
	while (read_records(p)) {
	}
	records_end(&p->records, clock_now_ms());
	if (p->records.now.has_samples) {
		p->window.end = p->records.now;
		p->window.end_ms = clock_now_ms();
	}
	// If the pipeline has ended by our signals, its status does not count.
	p->ended = ended;
	p->status = status;
}

static int send_result(struct probe *p) {
	struct message m = {0};
	struct rate rate = records_rate(p->plan->unit, &p->window);
	struct rusage children = {0};
	getrusage(RUSAGE_CHILDREN, &children);
	uint64_t largest = (uint64_t)children.ru_maxrss * 1024;
	m.field[FIELD_COUNT] = p->window.end.has_samples ? p->window.end.samples : p->window.end.count;
	m.field[FIELD_AT_MS] = p->window.end_ms - p->window.start_ms;
	m.field[FIELD_ENDED] = p->ended;
	m.field[FIELD_STATUS] = p->status;
	m.field[FIELD_RATE] = rate.milli;
	m.field[FIELD_UNIT] = (uint64_t)rate.unit;
	m.field[FIELD_WHOLE_RUN] = rate.whole_run;
	m.field[FIELD_SPAN_MS] = p->span_ms;
	m.field[FIELD_CPU_MS] = p->last.cpu_ms > p->base.cpu_ms ? p->last.cpu_ms - p->base.cpu_ms : 0;
	m.field[FIELD_READ] =
		p->last.read_bytes > p->base.read_bytes ? p->last.read_bytes - p->base.read_bytes : 0;
	m.field[FIELD_MEMORY] = p->memory ? p->memory : largest;
	m.field[FIELD_BY_RSS] = p->by_rss || !p->memory;
	m.field[FIELD_LOOKS] = p->looks;
	m.field[FIELD_WAITS] = p->waits;
	return send_message(p, MESSAGE_RESULT, &m);
}

/** Send MESSAGE_READY, and wait for "go". Returns 0 or a negative errno. */
static int wait_for_go(struct probe *p) {
	struct message m = {0};
	int r = send_message(p, MESSAGE_READY, &m), order = 0;
	while (r == 0 && order == 0 && !p->dismissed) {
		struct pollfd fds[] = {{.fd = p->plan->in, .events = POLLIN},
				       {.fd = p->signals, .events = POLLIN}};
		poll(fds, 2, -1);
		order = fds[0].revents ? read_order(p) : 0;
		p->dismissed |= order < 0 || fds[1].revents;
	}
	return r;
}

/** Open a signalfd, so that no signal is lost between a check and a sleep. */
static int open_signals(void) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int probe_run(const struct probe_plan *plan, struct arena *arena, struct err *err) {
	struct probe p = {.plan = plan, .arena = arena, .records = {.unit = plan->unit}, .pipe = -1};
	p.source = (struct usage_source){.proc = "/proc", .root = getpid()};
	p.piece = arena_alloc(arena, PIECE);
	p.signals = open_signals();
	if (p.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || uname(&p.host) < 0) {
		int code = errno;
		return err_set(err, code, "the probe of a worker cannot be set up: %s", strerror(code));
	}
	int r = wait_for_go(&p);
	if (r == 0 && !p.dismissed) {
		usage_look(&p.source, false, &p.base);
		r = start(&p);
		if (r == 0) {
			measure(&p);
			end_tree(&p);
		}
	}
	if (r == 0 && !p.dismissed) {
		r = send_result(&p);
	}
	// The caller exits now, so nothing has to be closed.
	return r < 0 && r != -EPIPE ? err_set(err, -r, "the probe of a worker: %s", strerror(-r)) : 0;
}
