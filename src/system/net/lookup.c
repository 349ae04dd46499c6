// SPDX-License-Identifier: Apache-2.0

#include "net/lookup.h"

#include "base/clock.h"
#include "base/signals.h"
#include "net/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// One write() to a pipe is atomic up to PIPE_BUF bytes, so the reader gets a whole answer.
_Static_assert(sizeof(struct lookup_answer) <= PIPE_BUF, "one write to a pipe");

static void ask(const char *host, uint16_t port, int flags, struct lookup_answer *answer) {
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *list;
	*answer = (struct lookup_answer){0};
	errno = 0;
	answer->code = getaddrinfo(host, NULL, &hints, &list);
	answer->error = errno;
	if (answer->code == 0) {
		struct addresses *out = &answer->addresses;
		for (const struct addrinfo *info = list; info && out->n < ADDRESSES_MAX;
		     info = info->ai_next) {
			if (address_take(&out->at[out->n], info->ai_addr)) {
				address_set_port(&out->at[out->n++], port);
			}
		}
		freeaddrinfo(list);
	}
}

static _Noreturn void child(const char *const names[], uint32_t n, uint16_t port, int pipe_fd) {
	// If the parent dies, the child must die, too.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	// The caller's connections must not stay open because of the child. (Since Linux 5.9.)
	syscall(SYS_close_range, 3, pipe_fd - 1, 0);
	syscall(SYS_close_range, pipe_fd + 1, ~0U, 0);
	confine_to_lookups();
	for (uint32_t i = 0; i < n; i++) {
		struct lookup_answer answer;
		ask(names[i], port, 0, &answer);
		if (write(pipe_fd, &answer, sizeof(answer)) != sizeof(answer)) {
			_exit(1);
		}
	}
	_exit(0);
}

enum lookup_fault lookup_fault(const struct lookup_answer *answer) {
	switch (answer->code) {
	case 0:
		return answer->addresses.n ? LOOKUP_FOUND : LOOKUP_NO_ADDRESS;
#ifdef EAI_NODATA
	case EAI_NODATA:
		return LOOKUP_NO_ADDRESS;
#endif
	case EAI_NONAME:
		return LOOKUP_NO_NAME;
	case EAI_AGAIN:
		return LOOKUP_NO_SERVER;
	default:
		return LOOKUP_FAILED;
	}
}

const char *lookup_why_not(const struct lookup_answer *answer) {
	static const char *const texts[] = {NULL, "the name does not resolve", "the name has no address",
					    "no name server answers", "the look-up failed"};
	return answer->code == EAI_SYSTEM ? strerror(answer->error) : texts[lookup_fault(answer)];
}

/** Whether the child's answer is valid. The child has handled data from a name server. */
static bool is_sound(const struct addresses *list) {
	if (list->n > ADDRESSES_MAX) {
		return false;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		const struct address *at = &list->at[i];
		if (at->len != (at->any.sa_family == AF_INET6 ? sizeof(at->v6) : sizeof(at->v4))) {
			return false;
		}
	}
	return true;
}

int lookups_begin(struct lookups *lookups, const char *const names[], uint32_t n, uint16_t port) {
	int fds[2];
	lookups->fd = -1;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		return -errno;
	}
	// If SIGCHLD is ignored, the kernel reaps the child, and its PID may belong to another
	// process when we kill it. (If it is not ignored, a change would lose a pending SIGCHLD.)
	struct sigaction action;
	sigaction(SIGCHLD, NULL, &action);
	lookups->ignored = action.sa_handler == SIG_IGN;
	if (lookups->ignored) {
		action.sa_handler = SIG_DFL;
		sigaction(SIGCHLD, &action, NULL);
	}
	lookups->pid = fork();
	if (lookups->pid == 0) {
		child(names, n, port, fds[1]);
	}
	int code = errno;
	close(fds[1]);
	lookups->fd = fds[0];
	if (lookups->pid < 0) {
		lookups_end(lookups);
		return -code;
	}
	return 0;
}

int lookups_read(const struct lookups *lookups, struct lookup_answer *answer) {
	ssize_t n = read(lookups->fd, answer, sizeof(*answer));
	if (n != sizeof(*answer)) {
		return 0;
	}
	return is_sound(&answer->addresses) ? 1 : -EBADMSG;
}

void lookups_end(struct lookups *lookups) {
	if (lookups->fd < 0) {
		return;
	}
	close(lookups->fd);
	lookups->fd = -1;
	if (lookups->pid > 0) {
		kill(lookups->pid, SIGKILL);
		waitpid(lookups->pid, NULL, 0);
	}
	if (lookups->ignored) {
		sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	}
}

/** Look @host up in a child process, and end the child. Returns 0; -EAGAIN with @watch->failure; -EINTR. */
static int ask_child(struct watch *watch, const char *host, uint16_t port, struct lookup_answer *answer) {
	struct lookups lookups;
	int r = lookups_begin(&lookups, &host, 1, port);
	if (r < 0) {
		return err_set(&watch->failure, EAGAIN, "cannot start the look-up process: %s", strerror(-r));
	}
	r = watch_poll(watch, lookups.fd, POLLIN, CLOCK_NEVER);
	if (r == 0) {
		r = watch_cut_short(watch, "no name server answers");
	} else if (r > 0) {
		r = lookups_read(&lookups, answer);
		if (r <= 0) {
			r = err_set(&watch->failure, EAGAIN, "the look-up process %s",
				    r == 0 ? "was killed" : "sent an invalid answer");
		}
	}
	lookups_end(&lookups);
	return r < 0 ? r : 0;
}

/** Whether @host is an address, which needs no look-up. If so, writes it to @out. */
static bool needs_no_look_up(const char *host, uint16_t port, struct addresses *out) {
	struct lookup_answer answer;
	ask(host, port, AI_NUMERICHOST, &answer);
	if (answer.code == 0) {
		*out = answer.addresses;
	}
	return answer.code == 0;
}

int lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out) {
	struct lookup_answer answer;
	if (needs_no_look_up(host, port, out)) {
		return 0;
	}
	int r = ask_child(watch, host, port, &answer);
	if (r < 0) {
		return r;
	}
	enum lookup_fault fault = lookup_fault(&answer);
	if (fault) {
		// A later look-up may succeed.
		err_set(&watch->failure, fault == LOOKUP_NO_NAME ? ENOENT : EAGAIN, "%s",
			lookup_why_not(&answer));
		return -EAGAIN;
	}
	*out = answer.addresses;
	return 0;
}

int lookup_now(const char *host, uint16_t port, struct addresses *out, int *signal, struct err *err) {
	const struct wait_for no_limit = {.host = host, .timeout_ms = CLOCK_NEVER};
	struct watch watch;
	if (needs_no_look_up(host, port, out)) {
		return 0;
	}
	int r = watch_begin(&watch, &no_limit);
	if (r == 0) {
		r = lookup(&watch, host, port, out);
		watch_done(&watch);
	}
	*err = watch.failure;
	*signal = watch.signal;
	return !watch.signal ? r
			     : err_set(err, EINTR, "SIG%s came while the name %s was looked up",
				       signal_name(watch.signal).s, quote_text(host).s);
}
