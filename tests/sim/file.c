// SPDX-License-Identifier: Apache-2.0

/** Descriptors: what is open, what is ready; poll() and epoll. */

#include "inside.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

struct file *file_new(enum file_kind kind) {
	struct file *file = memset(job_memory(sizeof(*file)), 0, sizeof(*file));
	file->kind = kind;
	file->fd = -1;
	file->owner = current;
	return file;
}

int file_open(struct file *file) {
	const uint64_t most = current->soft < FILES_MAX ? current->soft : FILES_MAX;
	for (int fd = 3; (uint64_t)fd < most; fd++) {
		if (!current->files[fd]) {
			current->files[fd] = file;
			file->fd = fd;
			file->owner = current;
			return fd;
		}
	}
	errno = EMFILE;
	return -1;
}

struct file *file_at(int fd) {
	struct file *file = fd >= 0 && fd < FILES_MAX ? current->files[fd] : NULL;
	if (!file) {
		errno = EBADF;
	}
	return file;
}

static unsigned socket_events(const struct file *file) {
	const bool read_over = file->ended || file->read_shut;
	unsigned events = POLLOUT;
	if (file->state == SOCKET_LISTENS) {
		return file->backlog ? POLLIN : 0;
	}
	if (file->state == SOCKET_CONNECTING) {
		return 0;
	}
	if (file->state == SOCKET_NEW) {
		return POLLOUT | POLLHUP;
	}
	if (file->n || read_over || file->error) {
		events |= POLLIN;
	}
	if (read_over) {
		events |= POLLRDHUP;
	}
	if (file->state == SOCKET_RESET || (read_over && file->write_shut)) {
		events |= POLLHUP;
	}
	return events | (file->error ? POLLERR : 0);
}

static bool is_ready(const struct watched *place) {
	return (file_events(place->file) & (place->event.events | POLLERR | POLLHUP)) != 0;
}

unsigned file_events(const struct file *file) {
	switch (file->kind) {
	case FILE_SOCKET:
		return socket_events(file);
	case FILE_EPOLL:
		for (const struct watched *place = file->all; place; place = place->next) {
			if (place->ready && is_ready(place)) {
				return POLLIN;
			}
		}
		return 0;
	case FILE_SIGNALS:
		return file->owner->pending & file->signals ? POLLIN : 0;
	case FILE_PIPE:
		return (file->n ? POLLIN : 0) | (file->ended ? POLLHUP : 0);
	case FILE_PIDFD:
		return programs_has_ended(file->program) ? POLLIN : 0;
	default:
		return 0;
	}
}

void file_notify(struct file *file) {
	struct watched *place = file->place;
	if (place && !place->ready && is_ready(place)) {
		place->ready = true;
		place->since = file->watcher->order++;
	}
	wake(file->owner);
}

void file_put(struct file *file, const void *bytes, uint32_t n) {
	if (!n) {
		return;
	}
	if (file->n == 0) {
		file->at = 0;
	}
	if (file->at + file->n + n > file->room) {
		const uint32_t room = 2 * (file->n + n) + 512;
		char *more = job_memory(room);
		if (file->n) {
			memcpy(more, file->bytes + file->at, file->n);
		}
		file->bytes = more;
		file->at = 0;
		file->room = room;
	}
	memcpy(file->bytes + file->at + file->n, bytes, n);
	file->n += n;
}

ssize_t file_receive(struct file *file, void *bytes, size_t n, int flags) {
	const uint64_t until = file->receive_within ? time_now + file->receive_within : NEVER;
	const size_t want = flags & MSG_WAITALL ? n : 1;
	while (file->n < want && !(file->n && (file->ended || file->error))) {
		if (file->error) {
			errno = file->error;
			file->error = 0;
			return -1;
		}
		if (file->ended || file->read_shut) {
			return 0;
		}
		if (file->nonblocking || time_now >= until) {
			if (file->n) {
				break;
			}
			errno = EAGAIN;
			return -1;
		}
		sleep_until(until);
	}
	const uint32_t some = n < file->n ? (uint32_t)n : file->n;
	if (some) {
		memcpy(bytes, file->bytes + file->at, some);
	}
	if (!(flags & MSG_PEEK)) {
		file->at += some;
		file->n -= some;
		if (file->connection) {
			file->connection->way[file->side].unread -= some;
		}
	}
	return (ssize_t)some;
}

static void forget(struct file *file) {
	if (file->place) {
		struct watched **link = &file->watcher->all;
		while (*link != file->place) {
			link = &(*link)->next;
		}
		*link = file->place->next;
		file->place = NULL;
	}
}

void file_close(struct file *file) {
	forget(file);
	if (file->kind == FILE_SOCKET) {
		network_close(file);
	} else if (file->kind == FILE_EPOLL) {
		for (struct watched *place = file->all; place; place = place->next) {
			place->file->place = NULL;
		}
	}
	file->owner->files[file->fd] = NULL;
	file->fd = -1;
}

REAL(int, poll, struct pollfd *, nfds_t, int);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout) {
	if (!current) {
		return __real_poll(fds, n, timeout);
	}
	const int code = enter(CALL_POLL);
	if (code) {
		errno = code;
		return -1;
	}
	const uint64_t until = timeout < 0 ? NEVER : time_now + (uint64_t)timeout * MS;
	for (;;) {
		int ready = 0;
		for (nfds_t i = 0; i < n; i++) {
			const int fd = fds[i].fd;
			const struct file *file = fd >= 0 && fd < FILES_MAX ? current->files[fd] : NULL;
			unsigned events = fd < 0 ? 0 : POLLNVAL;
			if (file) {
				events = file_events(file) & ((unsigned)fds[i].events | POLLERR | POLLHUP);
			}
			fds[i].revents = (short)events;
			ready += events != 0;
		}
		if (ready || time_now >= until) {
			if (watchers.on_poll) {
				watchers.on_poll(current);
			}
			return ready;
		}
		sleep_until(until);
	}
}

int __wrap_epoll_create1(int flags) {
	(void)flags;
	const int code = enter(CALL_EPOLL_CREATE);
	if (code) {
		errno = code;
		return -1;
	}
	return file_open(file_new(FILE_EPOLL));
}

int __wrap_epoll_ctl(int epoll, int how, int fd, struct epoll_event *event) {
	const int code = enter(CALL_EPOLL_CHANGE);
	struct file *watcher = file_at(epoll), *file = file_at(fd);
	if (!watcher || !file) {
		return -1;
	}
	if (how == EPOLL_CTL_DEL) {
		forget(file);
		return 0;
	}
	if (code) {
		errno = code;
		return -1;
	}
	if (how == EPOLL_CTL_ADD) {
		struct watched *place = memset(job_memory(sizeof(*place)), 0, sizeof(*place));
		place->file = file;
		place->next = watcher->all;
		watcher->all = place;
		file->place = place;
		file->watcher = watcher;
	}
	file->place->event = *event;
	file->place->ready = is_ready(file->place);
	file->place->since = watcher->order++;
	return 0;
}

/** The one that is ready for the longest time, or NULL. */
static struct watched *first_ready(const struct file *watcher) {
	struct watched *first = NULL;
	for (struct watched *place = watcher->all; place; place = place->next) {
		if (place->ready && (!first || place->since < first->since)) {
			first = place;
		}
	}
	return first;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
	struct file *watcher = file_at(epoll);
	const int code = enter(CALL_EPOLL_WAIT);
	int n = 0;
	(void)timeout;
	if (code) {
		errno = code;
		return -1;
	}
	for (struct watched *first; n < most && (first = first_ready(watcher));) {
		const unsigned seen = file_events(first->file) & (first->event.events | POLLERR | POLLHUP);
		first->ready = false;
		if (seen) {
			events[n++] = (struct epoll_event){.events = seen, .data = first->event.data};
		}
		if (first->event.events & EPOLLONESHOT) {
			first->event.events = 0;
		}
	}
	// Those that are not edge-triggered stay ready.
	for (struct watched *place = watcher->all; place; place = place->next) {
		if (!place->ready && place->event.events && !(place->event.events & EPOLLET) &&
		    is_ready(place)) {
			place->ready = true;
			place->since = watcher->order++;
		}
	}
	return n;
}
