// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

#include "cluster/rendezvous.h"
#include "exec/exec.h"
#include "wire/key.h"

#include <time.h>

int roll_status(const struct roll_end *end) {
	switch (end->result) {
	case ROLL_STARTED:
		return 0;
	case ROLL_ABSENT:
		return EXIT_TIME_LIMIT;
	case ROLL_ASKED_TO_END:
	case ROLL_REPLACED:
		return EXIT_ANOTHER;
	case ROLL_SIGNAL:
		return 128 + end->signal;
	default:
		return EXIT_OURS;
	}
}

/** The port with index @i, from 1 on: derived from the job's id and its first port. */
static uint16_t other_port(const struct roll_call *call, unsigned char i) {
	const char tail[] = {(char)call->port, (char)(call->port >> 8), (char)i};
	struct buf text = BUF(call->arena);
	buf_puts(&text, call->job);
	buf_put(&text, (struct str){tail, sizeof(tail)});
	return (uint16_t)(PORT_BASE + (digest_64(buf_str(&text)) & 0xffffff) % PORT_SPAN);
}

uint32_t roll_ports(const struct roll_call *call, uint16_t ports[ROLL_PORTS]) {
	ports[0] = call->port;
	for (uint32_t i = 1; i < ROLL_PORTS; i++) {
		ports[i] = other_port(call, (unsigned char)i);
	}
	return call->port_from ? 1 : ROLL_PORTS;
}

/** The index of the node on which task @rank runs, or UNKNOWN. */
static uint32_t node_of_task(const struct placement *place, uint32_t rank) {
	const uint32_t *tasks = place->tasks_per_node;
	if (!tasks || place->layout == LAYOUT_UNKNOWN) {
		return UNKNOWN;
	}
	bool cyclic = place->layout == LAYOUT_CYCLIC;
	bool any = true;
	for (uint32_t round = 0; any; round++) {
		any = false;
		for (uint32_t i = 0; i < place->hosts.n; i++) {
			uint32_t here = cyclic ? tasks[i] > round : tasks[i];
			if (rank < here) {
				return i;
			}
			rank -= here;
			any = any || (cyclic && here);
		}
	}
	return UNKNOWN;
}

struct str roll_host(const struct roll_call *call, uint32_t rank) {
	const struct cluster *c = call->cluster;
	uint32_t node = rank;
	if (c->scope == SCOPE_TASK) {
		node = node_of_task(&c->place, rank);
	} else if (rank <= c->master_node) {
		// The inverse of cluster_rendezvous_rank().
		node = rank == 0 ? c->master_node : rank - 1;
	}
	return node < c->place.hosts.n ? hosts_at(&c->place.hosts, node) : STR("");
}

const char roll_not_ready[] = "a service publishes the names of pods that are not ready only with "
			      "publishNotReadyAddresses: true";

uint64_t roll_clock_off(int64_t ms) {
	return ms < 0 ? -(uint64_t)ms : (uint64_t)ms;
}

void roll_put_more(struct buf *out, uint32_t n) {
	if (n) {
		buf_putf(out, " and %u more", n);
	}
}

void roll_put_absent(struct buf *out, const struct wait_news *news) {
	for (uint32_t i = 0; i < news->n; i++) {
		buf_puts(out, i ? ", " : "; absent: ");
		buf_put(out, news->at[i].host);
		if (!news->at[i].host.len) {
			buf_putf(out, "rank %u", news->at[i].rank);
		}
	}
	roll_put_more(out, news->n && news->absent > news->n ? news->absent - news->n : 0);
}

void roll_say(const struct roll_call *call, enum roll_level level, const char *format, ...) {
	// Strangers can cause many messages, so the text's memory is given back.
	const struct arena before = *call->arena;
	va_list args;
	va_start(args, format);
	call->say(call->context, level, arena_vformat(call->arena, format, args));
	va_end(args);
	arena_rewind(call->arena, &before);
}
