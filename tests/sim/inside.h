// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the files of the kernel share. */

#include "kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/** A function of the C library that this one replaces; it serves where no simulated process runs. */
#define REAL(type, name, ...) type __real_##name(__VA_ARGS__)

/** Replaced functions have no header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum file_kind {
	FILE_SOCKET,
	FILE_EPOLL,
	FILE_SIGNALS,
	FILE_PIPE,
	FILE_NAME,
	FILE_DATAGRAM,
	FILE_TEXT,
	FILE_PIDFD
};

enum socket_state { SOCKET_NEW, SOCKET_LISTENS, SOCKET_CONNECTING, SOCKET_OPEN, SOCKET_RESET };

/** A descriptor in an epoll. */
struct watched {
	struct watched *next;
	struct file *file;
	struct epoll_event event;
	bool ready;
	/** The order of those that are ready. */
	uint64_t since;
};

struct file {
	enum file_kind kind;
	struct process *owner;
	int fd;
	/** The epoll that watches it, and its place there. */
	struct file *watcher;
	struct watched *place;
	// A socket.
	enum socket_state state;
	struct connection *connection;
	int side;
	bool nonblocking, resets, ended, write_shut, read_shut, kept_alive;
	int error;
	uint16_t port;
	uint64_t receive_within, send_within;
	/** What has come, for pipes and texts, too. */
	char *bytes;
	uint32_t at, n, room;
	struct file *backlog, *next;
	// An epoll.
	struct watched *all;
	uint64_t order;
	// A signalfd.
	uint64_t signals;
	// A name, or a folder.
	char name[64];
	// A pidfd.
	struct program_process *program;
};

struct piece {
	struct piece *next;
	uint64_t at;
	uint32_t n;
	uint8_t type;
	bool end, reset;
	char bytes[];
};

/** One direction of a connection. */
struct way {
	struct piece *first, *last;
	uint64_t last_at;
	/** Sent, and not read. */
	uint32_t unread;
	/** Pieces so far. */
	uint32_t pieces;
	/** What was sent: greeting, MEET, frames. */
	uint32_t frames;
};

/** Side 0 has connected. */
struct connection {
	struct connection *next;
	int id;
	int host[2];
	uint16_t port[2];
	struct file *end[2];
	/** [i] leads to side i. */
	struct way way[2];
	bool dead;
	/** Of SYNs. */
	unsigned tries;
	int answer;
};

// events.c

void events_begin(void);
/** Let @process run at @at. What was planned for it before does not happen. */
void run_at(struct process *process, uint64_t at);
/** Run the next event, unless it is after @until. Returns whether there was one. */
bool events_next(uint64_t until);
/** Whether something else is due. */
bool events_due(void);
/** Whether at_time() has something to come. */
bool events_planned(void);
/** Call @what(@a, @b) at @at. */
void at_time_with(uint64_t at, void (*what)(void *, uint64_t), void *a, uint64_t b);

// fiber.c

void fiber_begin(struct process *process);
/** Run @process until it waits. */
void fiber_enter(struct process *process);
/** Let the scheduler run. */
void fiber_leave(void);

// process.c

/** A system call begins: others may run first. Returns 0; the errno with which it fails. */
int enter(enum call call);
void processes_begin(void);
/** The job is over here and now. A process runs. */
void job_ends(void);
void sleep_until(uint64_t at);
/** Something has happened that @process may wait for. */
void wake(struct process *process);
void process_run(struct process *process, uint32_t turn);

// file.c

struct file *file_new(enum file_kind kind);
/** Give it a descriptor. Returns -1 with errno. */
int file_open(struct file *file);
/** The file of the running process at @fd; NULL with EBADF. */
struct file *file_at(int fd);
void file_close(struct file *file);
unsigned file_events(const struct file *file);
/** Something has come to @file. */
void file_notify(struct file *file);
/** Put bytes where it is read. */
void file_put(struct file *file, const void *bytes, uint32_t n);
ssize_t file_receive(struct file *file, void *bytes, size_t n, int flags);

// network.c

void network_begin(void);
struct connection *network_connect(struct file *client, int to, uint16_t port);
bool network_apart(const struct connection *connection);
void network_send(struct connection *connection, int to, const void *bytes, uint32_t n, uint8_t type);
void network_end(struct connection *connection, int to);
void network_close(struct file *socket);
struct file *network_listener(int host, uint16_t port);
void network_listen(struct file *socket);

// sockets.c

socklen_t address_write(void *out, bool v6, int host, uint16_t port);
ssize_t sockets_send(struct file *file, const void *bytes, size_t n);

// programs.c

void programs_begin(void);
/** A file of /proc, or a folder; NULL with errno. */
struct file *programs_open(const char *path);
bool programs_has_ended(const struct program_process *program);
