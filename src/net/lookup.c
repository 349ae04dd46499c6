// SPDX-License-Identifier: Apache-2.0

#include "net/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/** The child's answer. It is smaller than PIPE_BUF, so it is written as a whole. */
struct answer {
	/** The result of getaddrinfo(). */
	int code;
	/** errno, if `code` is EAI_SYSTEM. */
	int error;
	struct addresses addresses;
};

static void take_address(struct addresses *out, const struct addrinfo *info, uint16_t port) {
	bool known = info->ai_family == AF_INET || info->ai_family == AF_INET6;
	if (!known || out->n == ADDRESSES_MAX) {
		return;
	}
	struct address *address = &out->at[out->n++];
	*address = (struct address){.len = info->ai_addrlen};
	memcpy(&address->any, info->ai_addr, info->ai_addrlen);
	if (info->ai_family == AF_INET6) {
		address->v6.sin6_port = htons(port);
	} else {
		address->v4.sin_port = htons(port);
	}
}

static struct answer ask(const char *host, uint16_t port, int flags) {
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *list;
	struct answer answer = {0};
	errno = 0;
	answer.code = getaddrinfo(host, NULL, &hints, &list);
	answer.error = errno;
	if (answer.code == 0) {
		for (const struct addrinfo *info = list; info; info = info->ai_next) {
			take_address(&answer.addresses, info, port);
		}
		freeaddrinfo(list);
	}
	return answer;
}

static _Noreturn void child(const char *host, uint16_t port, int pipe_fd) {
	// If the parent dies, the child must die, too.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct answer answer = ask(host, port, 0);
	ssize_t n = write(pipe_fd, &answer, sizeof(answer));
	_exit(n == sizeof(answer) ? 0 : 1);
}

/** Set the failure: a clause. Returns -EAGAIN, because a later look-up may succeed. */
static int no_addresses(struct watch *watch, const struct answer *answer) {
	const char *why = "the look-up failed";
	switch (answer->code) {
	case 0:
#ifdef EAI_NODATA
	case EAI_NODATA:
#endif
		why = "the name has no address";
		break;
	case EAI_NONAME:
		why = "the name does not resolve";
		break;
	case EAI_AGAIN:
		why = "no name server answers";
		break;
	case EAI_SYSTEM:
		why = strerror(answer->error);
		break;
	default:
		break;
	}
	return err_set(&watch->failure, EAGAIN, "%s", why);
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

/** Read the child's answer. */
static int read_answer(struct watch *watch, int pipe_fd, struct answer *answer) {
	int r = watch_poll(watch, pipe_fd, POLLIN, UINT64_MAX);
	if (r == 0) {
		return watch_cut_short(watch, "no name server answers");
	}
	if (r < 0) {
		return r;
	}
	if (read(pipe_fd, answer, sizeof(*answer)) != sizeof(*answer)) {
		return err_set(&watch->failure, EAGAIN, "the look-up process was killed");
	}
	if (!is_sound(&answer->addresses)) {
		return err_set(&watch->failure, EAGAIN, "the look-up process sent an invalid answer");
	}
	return 0;
}

/** Look @host up in a child process, and terminate the child afterwards. */
static int ask_child(struct watch *watch, const char *host, uint16_t port, struct answer *answer) {
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0) {
		return err_set(&watch->failure, EAGAIN, "cannot create a pipe: %s", strerror(errno));
	}
	// If SIGCHLD is ignored, the kernel reaps the child, and its PID may belong to another
	// process when we kill it. (If it is not ignored, a change would lose a pending SIGCHLD.)
	struct sigaction keep = {.sa_handler = SIG_DFL}, before;
	sigaction(SIGCHLD, NULL, &before);
	bool ignored = before.sa_handler == SIG_IGN;
	if (ignored) {
		sigaction(SIGCHLD, &keep, NULL);
	}
	pid_t pid = fork();
	if (pid == 0) {
		child(host, port, fds[1]);
	}
	int code = errno;
	close(fds[1]);
	int r = pid < 0 ? err_set(&watch->failure, EAGAIN, "cannot start the look-up process: %s",
				  strerror(code))
			: read_answer(watch, fds[0], answer);
	close(fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (ignored) {
		sigaction(SIGCHLD, &before, NULL);
	}
	return r;
}

int lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out) {
	struct answer answer = ask(host, port, AI_NUMERICHOST);
	int r = answer.code == 0 ? 0 : ask_child(watch, host, port, &answer);
	if (r < 0) {
		return r;
	}
	if (answer.addresses.n == 0) {
		return no_addresses(watch, &answer);
	}
	*out = answer.addresses;
	return 0;
}
