// SPDX-License-Identifier: Apache-2.0

/** Tests waiting: pauses, deadline, addresses, and that a wait restores the process's state. */

#include "base/clock.h"
#include "net/backoff.h"
#include "net/connect.h"
#include "net/wait.h"

#include "check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/** A timeout long enough for any machine; a test that reaches it has failed. */
#define LONG_MS 60000

// --- pauses --------------------------------------------------------------------------------------

static void check_limits(void) {
	static const uint32_t limits[] = {100, 200, 400, 800, 1600, 2000, 2000, 2000};
	struct backoff backoff = backoff_begin(1);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		checkf(backoff.limit_ms == limits[i], "limit %zu is %u", i, limits[i]);
		uint32_t pause = backoff_next_ms(&backoff);
		checkf(pause > limits[i] / 2 && pause <= limits[i], "pause %zu, %u ms, is its upper half", i,
		       pause);
	}
}

/** Many processes, each in its tenth pause: they must be spread evenly over the upper half. */
static void check_spread(void) {
	enum { PROCESSES = 10000, PARTS = 10 };
	unsigned part[PARTS] = {0}, least = PROCESSES, most = 0;
	for (uint64_t seed = 0; seed < PROCESSES; seed++) {
		struct backoff backoff = backoff_begin(seed);
		uint32_t pause = 0;
		for (int i = 0; i < 10; i++) {
			pause = backoff_next_ms(&backoff);
		}
		part[(pause - 1 - BACKOFF_LAST_MS / 2) * PARTS / (BACKOFF_LAST_MS / 2)]++;
	}
	for (int i = 0; i < PARTS; i++) {
		least = part[i] < least ? part[i] : least;
		most = part[i] > most ? part[i] : most;
	}
	checkf(least > 850 && most < 1150, "10,000 seeds in a row spread over the pause: %u to %u a tenth",
	       least, most);
}

// --- the clock -----------------------------------------------------------------------------------

static void check_clock(void) {
	check(clock_after(5, 7) == 12);
	check(clock_after(UINT64_MAX - 1, 7) == UINT64_MAX);
	check(clock_after(7, UINT64_MAX) == UINT64_MAX);
	check(clock_left(5, 12) == 7);
	check(clock_left(12, 5) == 0);
	check(clock_left(5, 5) == 0);
	check(clock_poll(5, 12) == 7);
	check(clock_poll(12, 5) == 0);
	check(clock_poll(0, UINT64_MAX) == INT_MAX);
	check(clock_poll(0, (uint64_t)INT_MAX + 5) == INT_MAX);
	uint64_t now = clock_now_ms();
	check(now > 0 && clock_now_ms() >= now);
}

// --- addresses -----------------------------------------------------------------------------------

/** @text, read as an address and written again. */
static void check_address(const char *text) {
	struct address address = {.len = 0};
	if (strchr(text, ':')) {
		address.v6.sin6_family = AF_INET6;
		inet_pton(AF_INET6, text, &address.v6.sin6_addr);
	} else {
		address.v4.sin_family = AF_INET;
		inet_pton(AF_INET, text, &address.v4.sin_addr);
	}
	char got[ADDRESS_TEXT];
	address_text(&address, got);
	check_text(got, text, "address %s", text);
}

static void check_addresses(void) {
	check_address("0.0.0.0");
	check_address("10.1.20.255");
	check_address("255.255.255.255");
	check_address("::");
	check_address("::1");
	check_address("1::");
	check_address("fe80::1");
	check_address("2001:db8::ff:0:1");
	check_address("2001:db8:0:1::1"); // the longer run of zeros
	check_address("2001:0:0:1::1");
	check_address("2001:db8::1:0:0:1");    // of two alike, the first
	check_address("2001:db8:0:1:2:3:4:5"); // one zero alone is no run
	check_address("1:2:3:4:5:6:7:8");
	check_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

// --- a server ------------------------------------------------------------------------------------

/** A socket bound to a free port of 127.0.0.1, not listening yet; *@port is set. */
static int bound(uint16_t *port) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
	      getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/** The state that a wait must not change. */
struct state {
	unsigned descriptors;
	uint64_t mask;
	bool has_child;
};

static struct state state_now(void) {
	struct state state = {0};
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder)) {
		state.descriptors++;
	}
	if (folder) {
		closedir(folder);
	}
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &state.mask, sizeof(state.mask));
	state.has_child = waitpid(-1, NULL, WNOHANG) >= 0;
	return state;
}

/** The calls by the server. */
struct heard {
	unsigned failed;
	unsigned progress;
	char failure[200];
	/** The socket to listen on after the first failure, or -1. */
	int listen_fd;
	/** The signal to send to ourselves after the first failure, or 0. */
	int signal;
};

static void hear_failed(void *context, const char *failure) {
	struct heard *heard = context;
	heard->failed++;
	snprintf(heard->failure, sizeof(heard->failure), "%s", failure);
	if (heard->listen_fd >= 0) {
		listen(heard->listen_fd, 8);
	}
	if (heard->signal) {
		kill(getpid(), heard->signal);
	}
}

static void hear_progress(void *context, uint64_t waited_ms, const char *failure) {
	struct heard *heard = context;
	(void)waited_ms;
	(void)failure;
	heard->progress++;
}

/** Wait for @host and @port, and check that it ends with @want and leaves everything as it was. */
static void check_wait(const char *what, const char *host, uint16_t port, uint64_t timeout_ms, int want,
		       struct heard *heard, struct wait_end *end) {
	struct wait_for wait = {host, port, timeout_ms, hear_progress, hear_failed, heard};
	struct state before = state_now();
	int r = wait_until_up(&wait, end);
	struct state after = state_now();
	checkf(r == want, "%s: %d, '%s'", what, r, end->failure.text);
	checkf(before.descriptors == after.descriptors, "%s: no descriptor is left", what);
	checkf(before.mask == after.mask, "%s: the mask is as before", what);
	checkf(!after.has_child, "%s: no child is left", what);
}

static void check_tcp(void) {
	uint16_t port;
	struct wait_end end;
	struct heard heard = {.listen_fd = -1};
	int fd = bound(&port);

	check_wait("a port that refuses", "127.0.0.1", port, 250, -ETIMEDOUT, &heard, &end);
	check_text(end.failure.text, "127.0.0.1: Connection refused", "the reason");
	checkf(heard.failed > 0 && end.waited_ms >= 250, "%u attempts in %u ms", heard.failed,
	       (unsigned)end.waited_ms);

	heard = (struct heard){.listen_fd = fd};
	check_wait("a port that opens later", "127.0.0.1", port, LONG_MS, 0, &heard, &end);
	checkf(heard.failed >= 1, "after %u failures", heard.failed);

	heard = (struct heard){.listen_fd = -1};
	check_wait("a port that is open", "127.0.0.1", port, LONG_MS, 0, &heard, &end);
	check(heard.failed == 0 && end.failure.text[0] == '\0');
	check_wait("the same by a name", "localhost", port, LONG_MS, 0, &heard, &end);
	check_wait("the same as IPv6 has it", "::ffff:127.0.0.1", port, LONG_MS, 0, &heard, &end);

	// The server sees of each attempt: a connection, and its end.
	for (int i = 0; i < 4; i++) {
		int peer = accept(fd, NULL, NULL);
		char byte;
		ssize_t n = read(peer, &byte, 1);
		checkf(peer >= 0 && n == 0, "connection %d is closed, and nothing was sent: %zd", i, n);
		close(peer);
	}
	close(fd);
}

static void check_dns(void) {
	struct wait_end end;
	struct heard heard = {.listen_fd = -1};
	check_wait("an address needs no look-up", "192.0.2.1", 0, LONG_MS, 0, &heard, &end);
	check_wait("a name of this host", "localhost", 0, LONG_MS, 0, &heard, &end);
	check_wait("a name that cannot be one", "no..such", 0, 250, -ETIMEDOUT, &heard, &end);
	checkf(end.failure.text[0] != '\0', "the reason: %s", end.failure.text);
}

static void check_signals(void) {
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	uint16_t port;
	struct wait_end end;
	int fd = bound(&port);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct heard heard = {.listen_fd = -1, .signal = signals[i]};
		// nohup and background jobs start us with some signals ignored.
		signal(signals[i], SIG_DFL);
		check_wait("a signal", "127.0.0.1", port, LONG_MS, -EINTR, &heard, &end);
		checkf(end.signal == signals[i] && heard.failed == 1, "signal %d ends it: %d", signals[i],
		       end.signal);
	}

	// A signal that was ignored at start stays ignored.
	struct heard heard = {.listen_fd = fd, .signal = SIGINT};
	signal(SIGINT, SIG_IGN);
	check_wait("an ignored signal", "127.0.0.1", port, LONG_MS, 0, &heard, &end);
	signal(SIGINT, SIG_DFL);
	close(fd);

	// A signal at the last moment, when the master is up already, is not lost.
	uint64_t bits = (uint64_t)1 << (SIGTERM - 1), old;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bits, &old, sizeof(bits));
	kill(getpid(), SIGTERM);
	heard = (struct heard){.listen_fd = -1};
	check_wait("a signal beside success", "127.0.0.1", 0, LONG_MS, -EINTR, &heard, &end);
	check(end.signal == SIGTERM);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

/** A mask with all 64 signals, also those of the C library, and a SIGCHLD that stays pending. */
static void check_mask(void) {
	struct wait_end end;
	struct heard heard = {.listen_fd = -1};
	uint64_t all = ~(uint64_t)0, old;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));

	check_wait("all signals blocked", "localhost", 0, LONG_MS, 0, &heard, &end);
	sigset_t pending;
	check(sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 0);

	kill(getpid(), SIGCHLD);
	check_wait("SIGCHLD pending before", "localhost", 0, LONG_MS, 0, &heard, &end);
	check(sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 1);

	int taken;
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	check(sigwait(&child, &taken) == 0);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));

	signal(SIGCHLD, SIG_IGN);
	check_wait("SIGCHLD ignored", "localhost", 0, LONG_MS, 0, &heard, &end);
	signal(SIGCHLD, SIG_DFL);
}

// --- where it blocks -----------------------------------------------------------------------------

static void check_watch(void) {
	struct watch watch;
	struct heard heard = {.listen_fd = -1};
	struct wait_for wait = {"x", 0, LONG_MS, hear_progress, NULL, &heard};
	check(watch_begin(&watch, &wait) == 0);
	watch.next_progress = watch.started;
	check(watch_poll(&watch, -1, 0, clock_now_ms() + 20) == 0);
	checkf(heard.progress == 1, "progress was heard of once: %u", heard.progress);
	check(watch.next_progress >= watch.started + WAIT_PROGRESS_MS);
	check(watch_poll(&watch, -1, 0, 0) == 0);

	check(watch_cut_short(&watch, "first") == -EAGAIN);
	check(watch_cut_short(&watch, "second") == -EAGAIN);
	check_text(watch.failure.text, "first", "what is cut short covers no reason up");

	// Nothing waits beyond the deadline, however late `until` is.
	watch.deadline = clock_now_ms();
	check(watch_poll(&watch, -1, 0, UINT64_MAX) == 0);
	watch_done(&watch);
}

/** Addresses that do not answer get their share of the time, not all of it. */
static void check_shares(void) {
	struct watch watch;
	struct wait_for wait = {"x", 1, (uint64_t)60 * LONG_MS, NULL, NULL, NULL};
	uint16_t port, other;
	int fd = bound(&port), full = bound(&other);
	listen(fd, 8);
	listen(full, 0);
	struct addresses addresses = {.n = 2};
	for (int i = 0; i < 2; i++) {
		addresses.at[i].len = sizeof(addresses.at[i].v4);
		addresses.at[i].v4 = (struct sockaddr_in){.sin_family = AF_INET,
							  .sin_port = htons(i ? port : other),
							  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	}
	// With a full queue, the server drops connections.
	int fill[8];
	for (int i = 0; i < 8; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(fill[i], &addresses.at[0].any, addresses.at[0].len);
	}
	check(watch_begin(&watch, &wait) == 0);
	uint64_t before = clock_now_ms();
	check(connect_any(&watch, &addresses) == 0);
	uint64_t took = clock_now_ms() - before;
	checkf(took >= CONNECT_MS && took < LONG_MS, "the first had its %u ms: %u", CONNECT_MS,
	       (unsigned)took);
	check_text(watch.failure.text, "127.0.0.1: no answer", "and did not answer");
	watch_done(&watch);
	for (int i = 0; i < 8; i++) {
		close(fill[i]);
	}
	close(fd);
	close(full);
}

int main(void) {
	check_limits();
	check_spread();
	check_clock();
	check_addresses();
	check_tcp();
	check_dns();
	check_signals();
	check_mask();
	check_watch();
	check_shares();
	return check_done();
}
