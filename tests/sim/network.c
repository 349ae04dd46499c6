// SPDX-License-Identifier: Apache-2.0

/**
 * TCP between hosts, as Linux behaves: what is closed with bytes unread is reset, data to a closed socket are answered with a
 * reset, a SYN is sent again after 1, 3 and 7 s, and a connection that is kept alive ends 20 to 25 s after its other side went.
 */

#include "inside.h"

#include <signal.h>

struct host {
	bool down;
	struct file *listeners;
};

static struct host hosts[MACHINES_MAX];
static struct connection *connections;
static int n_connections;

/** Hosts in the mask do not reach the others. */
struct cut {
	struct cut *next;
	uint64_t from, to;
	uint32_t mask;
};
static struct cut *cuts;

/** How many times this was drawn: the choices of what follows from a cut are numbered. */
static unsigned n_retries;

void network_begin(void) {
	memset(hosts, 0, sizeof(hosts));
	connections = NULL;
	cuts = NULL;
	n_connections = 0;
	n_retries = 0;
}

uint32_t host_address(int host) {
	return 0x0a000001U + (uint32_t)host;
}

static uint64_t cut_until(const struct connection *c) {
	uint64_t until = 0;
	for (const struct cut *cut = cuts; cut; cut = cut->next) {
		const bool apart = (cut->mask >> c->host[0] & 1) != (cut->mask >> c->host[1] & 1);
		if (apart && time_now >= cut->from && time_now < cut->to && cut->to > until) {
			until = cut->to;
		}
	}
	return until;
}

bool network_apart(const struct connection *c) {
	return cut_until(c) || hosts[c->host[0]].down || hosts[c->host[1]].down;
}

static uint64_t time_of_piece(struct connection *c, int to) {
	const unsigned who = (unsigned)(2 * c->id + to), nth = c->way[to].pieces++;
	if (c->host[0] == c->host[1]) {
		return 10;
	}
	return weather.latency + choose(C_jitter, who, nth, weather.jitter + 1) +
	       choose_rarely(C_late_by, who, nth, weather.late, weather.late_by);
}

static void deliver(void *a, uint64_t to);

static void queue(struct connection *c, int to, struct piece piece, const void *bytes) {
	struct way *way = &c->way[to];
	struct piece *copy = job_memory(sizeof(*copy) + piece.n);
	*copy = piece;
	if (piece.n) {
		memcpy(copy->bytes, bytes, piece.n);
	}
	copy->at = time_now + time_of_piece(c, to);
	copy->at = copy->at < way->last_at ? way->last_at : copy->at;
	copy->next = NULL;
	way->last_at = copy->at;
	if (way->first) {
		way->last->next = copy;
	} else {
		way->first = copy;
		at_time_with(copy->at, deliver, c, (uint64_t)to);
	}
	way->last = copy;
}

void network_send(struct connection *c, int to, const void *bytes, uint32_t n, uint8_t type) {
	struct way *way = &c->way[to];
	const char *at = bytes;
	way->unread += n;
	for (uint64_t some; n > 1 && (some = choose_rarely(C_split_at, (unsigned)(2 * c->id + to),
							   way->pieces, weather.split, n - 1));) {
		queue(c, to, (struct piece){.n = (uint32_t)some}, at);
		at += some;
		n -= (uint32_t)some;
	}
	queue(c, to, (struct piece){.n = n, .type = type}, at);
}

void network_end(struct connection *c, int to) {
	queue(c, to, (struct piece){.end = true}, NULL);
}

static void send_reset(struct connection *c, int to) {
	queue(c, to, (struct piece){.reset = true}, NULL);
}

static void tell_end(struct file *file) {
	if (file->connection && watchers.on_end) {
		watchers.on_end(file->connection->host[!file->side], file->owner);
	}
}

static void reset_end(struct file *file, int error) {
	if (!file || file->state == SOCKET_RESET) {
		return;
	}
	file->error = file->ended && error == ECONNRESET ? EPIPE : error;
	file->state = SOCKET_RESET;
	file->ended = file->write_shut = true;
	tell_end(file);
	file_notify(file);
}

/** The next piece has come to side @to. */
static void deliver(void *a, uint64_t side) {
	struct connection *c = a;
	const int to = (int)side;
	struct way *way = &c->way[to];
	struct piece *piece = way->first;
	const uint64_t whole = cut_until(c);
	if (whole) {
		// The sender tries again.
		at_time_with(whole + 1 * MS + choose(C_retry, (unsigned)c->id, n_retries++, 200000), deliver,
			     c, side);
		return;
	}
	way->first = piece->next;
	if (way->first) {
		at_time_with(way->first->at, deliver, c, side);
	}
	struct file *file = c->end[to];
	if (hosts[c->host[0]].down || hosts[c->host[1]].down || c->dead) {
		return;
	}
	if (piece->reset) {
		trace("connection %d: a reset reaches %s", c->id,
		      file && file->owner ? file->owner->name : "nobody");
		c->dead = true;
		reset_end(file, ECONNRESET);
		return;
	}
	if (!file) {
		if (piece->n) {
			send_reset(c, !to);
		}
		return;
	}
	if (file->state != SOCKET_OPEN || (piece->n && file->read_shut)) {
		return;
	}
	if (piece->n) {
		file_put(file, piece->bytes, piece->n);
	}
	if (piece->end) {
		file->ended = true;
		tell_end(file);
	}
	if (piece->type && watchers.on_arrival) {
		watchers.on_arrival(c->host[!to], file->owner, piece->type);
	}
	file_notify(file);
}

static void close_listener(struct file *socket) {
	struct file **link = &hosts[socket->owner->host].listeners;
	while (*link != socket) {
		link = &(*link)->next;
	}
	*link = socket->next;
	while (socket->backlog) {
		struct file *waits = socket->backlog;
		socket->backlog = waits->next;
		waits->resets = true;
		network_close(waits);
	}
}

void network_close(struct file *socket) {
	struct connection *c = socket->connection;
	if (socket->state == SOCKET_LISTENS) {
		close_listener(socket);
		return;
	}
	if (!c) {
		return;
	}
	c->end[socket->side] = NULL;
	if (socket->state == SOCKET_OPEN && !c->dead && !hosts[socket->owner->host].down) {
		if (socket->resets || socket->n) {
			trace("connection %d: closed with a reset%s", c->id,
			      socket->resets ? "" : ", as something was not read");
			send_reset(c, !socket->side);
		} else if (!socket->write_shut) {
			network_end(c, !socket->side);
		}
	}
}

struct file *network_listener(int host, uint16_t port) {
	struct file *file = hosts[host].listeners;
	while (file && file->port != port) {
		file = file->next;
	}
	return file;
}

void network_listen(struct file *socket) {
	socket->state = SOCKET_LISTENS;
	socket->next = hosts[current->host].listeners;
	hosts[current->host].listeners = socket;
	trace("listens on %u", socket->port);
}

/** The answer to a SYN has come. */
static void take_answer(void *a, uint64_t b) {
	struct connection *c = a;
	struct file *client = c->end[0];
	const uint64_t whole = cut_until(c);
	(void)b;
	if (hosts[c->host[0]].down || hosts[c->host[1]].down) {
		return;
	}
	if (whole) {
		c->way[0].last_at = whole + 1 * MS;
		at_time_with(whole + 1 * MS, take_answer, c, 0);
		return;
	}
	if (!client || client->state != SOCKET_CONNECTING) {
		if (!c->answer && c->end[1]) {
			send_reset(c, 1);
		}
		return;
	}
	client->state = c->answer ? SOCKET_RESET : SOCKET_OPEN;
	client->error = c->answer;
	client->ended = client->write_shut = c->answer != 0;
	file_notify(client);
}

/** A SYN reaches its host, or is lost. */
static void try_syn(void *a, uint64_t b) {
	static const uint64_t again[] = {1 * S, 2 * S, 4 * S, 8 * S};
	struct connection *c = a;
	const struct file *client = c->end[0];
	(void)b;
	if (!client || client->state != SOCKET_CONNECTING || hosts[c->host[0]].down) {
		return;
	}
	if (network_apart(c)) {
		if (c->tries < 4) {
			at_time_with(time_now + again[c->tries++], try_syn, c, 0);
		}
		return;
	}
	struct file *listener = network_listener(c->host[1], c->port[1]);
	c->answer = listener ? 0 : ECONNREFUSED;
	if (listener) {
		struct file *socket = file_new(FILE_SOCKET);
		socket->owner = listener->owner;
		socket->state = SOCKET_OPEN;
		socket->connection = c;
		socket->side = 1;
		socket->port = listener->port;
		socket->kept_alive = listener->kept_alive;
		c->end[1] = socket;
		struct file **link = &listener->backlog;
		while (*link) {
			link = &(*link)->next;
		}
		*link = socket;
		file_notify(listener);
	}
	// Data follow the answer.
	c->way[0].last_at = time_now + time_of_piece(c, 0);
	at_time_with(c->way[0].last_at, take_answer, c, 0);
}

struct connection *network_connect(struct file *client, int to, uint16_t port) {
	struct connection *c = memset(job_memory(sizeof(*c)), 0, sizeof(*c));
	n_connections++;
	*c = (struct connection){.next = connections,
				 .id = n_connections,
				 .host = {current->host, to},
				 .port = {(uint16_t)(40000 + n_connections), port}};
	connections = c;
	c->end[0] = client;
	client->connection = c;
	client->port = c->port[0];
	client->state = SOCKET_CONNECTING;
	trace("connection %d: to host %d, port %u", c->id, to, port);
	at_time_with(time_now + time_of_piece(c, 1), try_syn, c, 0);
	return c;
}

/** The kernel's patience with a connection that is kept alive is at its end. */
static void time_out(void *a, uint64_t b) {
	struct connection *c = a;
	(void)b;
	for (int side = 0; side < 2; side++) {
		struct file *file = c->end[side];
		if (file && file->kept_alive && file->state == SOCKET_OPEN && network_apart(c)) {
			trace("connection %d: %s has had no answer for long", c->id, file->owner->name);
			reset_end(file, ETIMEDOUT);
		}
	}
}

/** Connections whose sides are apart end, if that lasts. */
static void begin_time_outs(void) {
	for (struct connection *c = connections; c; c = c->next) {
		if (network_apart(c)) {
			at_time_with(time_now + 20 * S +
					     choose(C_gives_up, (unsigned)c->id, n_retries++, 5 * S),
				     time_out, c, 0);
		}
	}
}

void network_cut(uint64_t us, uint32_t mask) {
	struct cut *cut = job_memory(sizeof(*cut));
	*cut = (struct cut){cuts, time_now, time_now + us, mask};
	cuts = cut;
	begin_time_outs();
}

void host_down(int host) {
	trace("host %d is gone, without a word", host);
	hosts[host] = (struct host){.down = true};
	for (int i = 0; i < n_processes; i++) {
		struct process *process = &processes[i];
		if (process->host == host && process_is_alive(process)) {
			process->state = PROCESS_DEAD;
			process->killed_by = SIGKILL;
			process->ended_at = time_now;
			process->turn++;
		}
	}
	for (struct connection *c = connections; c; c = c->next) {
		for (int side = 0; side < 2; side++) {
			if (c->host[side] == host) {
				c->end[side] = NULL;
			}
		}
	}
	begin_time_outs();
}

/** The machine at the other end knows nothing of the connection, and answers a probe with a reset. */
static void probe(void *a, uint64_t b) {
	struct connection *c = a;
	(void)b;
	if (network_apart(c)) {
		at_time_with(time_now + 5 * S, probe, c, 0);
		return;
	}
	for (int side = 0; side < 2; side++) {
		if (c->end[side] && !c->end[!side]) {
			trace("connection %d: a probe of %s is answered by a reset", c->id,
			      c->end[side]->owner->name);
			reset_end(c->end[side], ECONNRESET);
		}
	}
}

void host_up(int host) {
	trace("host %d is there again", host);
	hosts[host].down = false;
	for (struct connection *c = connections; c; c = c->next) {
		const int side = c->host[0] == host ? 0 : c->host[1] == host ? 1 : -1;
		if (side >= 0 && !c->end[side] && c->end[!side] && c->end[!side]->kept_alive) {
			at_time_with(time_now + choose(C_retry, (unsigned)c->id, n_retries++, 12 * S), probe,
				     c, 0);
		}
	}
}

int network_reset(int a, int b) {
	int n = 0;
	for (struct connection *c = connections; c; c = c->next) {
		const bool between =
			(c->host[0] == a && c->host[1] == b) || (c->host[0] == b && c->host[1] == a);
		if (between && !c->dead && c->end[0] && c->end[1] && c->end[0]->state == SOCKET_OPEN) {
			trace("connection %d is reset", c->id);
			c->dead = true;
			reset_end(c->end[0], ECONNRESET);
			reset_end(c->end[1], ECONNRESET);
			n++;
		}
	}
	return n;
}
