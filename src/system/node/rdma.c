// SPDX-License-Identifier: Apache-2.0

/**
 * NCCL, UCX and NVSHMEM use all active ports, and choose the nearest one to each GPU. That is wrong if a port
 * leads to another network, or belongs to another container.
 *
 * References: Documentation/ABI/stable/sysfs-class-infiniband of Linux; src/transport/net_ib of NCCL;
 * src/uct/ib/base/ib_device.c of UCX; src/modules/transport of NVSHMEM.
 */

#include "node/rdma.h"

#include "base/buf.h"
#include "node/devices.h"

#include <limits.h>
#include <stdlib.h>

/** NCCL reads at most so many names of a list. */
#define NCCL_LIST_MAX 32

/** A usable port: it is active, this process may open it, and it has a GID. */
struct card {
	const struct device *port;
	bool ethernet;
	/** It is behind the same bridge as a GPU. */
	bool near;
	/** In Gb/s; 0: not known. */
	unsigned long rate;
	/** An Ethernet port: the kind and the index of its best GID; and the kind of its GID 0. */
	enum gid gid, first;
	uint32_t index;
};

struct cards {
	const struct machine *machine;
	/** The @n usable ports. */
	struct card *at;
	/**
	 * The number of usable ports; of all active ones; of those that cannot be opened; of those without a
	 * GID.
	 */
	uint32_t n, active, closed, foreign;
	struct rdma *out;
};

static struct rdma_choice none(const char *why) {
	return (struct rdma_choice){.why = why};
}

static struct rdma_choice doubt(const char *why) {
	return (struct rdma_choice){.why = why, .doubt = true};
}

static const char *card_path(const struct cards *c, const struct device *port, const char *rest) {
	return arena_format(c->machine->arena, "/sys/class/infiniband/%s%s", port->name, rest);
}

/** Whether this process may open the card. Without /dev/infiniband that is unknown, and counts as yes. */
static bool may_open(const struct cards *c, const struct device *port) {
	const struct machine *m = c->machine;
	const char **name = machine_names(m, card_path(c, port, "/device/infiniband_verbs"));
	bool any = !machine_count(m, "/dev/infiniband", NULL);
	for (; !any && *name; name++) {
		any = machine_writable(m, arena_format(m->arena, "/dev/infiniband/%s", *name));
	}
	return any;
}

/** Find the best GID of @card. Returns whether it is one that is routed. */
static bool find_gid(struct cards *c, struct card *card) {
	enum gid gid = GID_EMPTY, best = GID_NONE;
	for (uint32_t i = 0; gid != GID_NONE && best != GID_IPV4; i++) {
		const struct arena before = *c->machine->arena;
		gid = device_gid(c->machine, card->port, i);
		arena_back(c->machine->arena, &before);
		card->first = i ? card->first : gid;
		card->index = gid > best ? i : card->index;
		best = gid > best ? gid : best;
	}
	card->gid = best;
	if (best == GID_LINK_LOCAL) {
		c->out->choices[RDMA_ADDRESS] =
			doubt(arena_format(c->machine->arena,
					   "%s is active, and its interface is up, but has only a link-local "
					   "address: its rate is lost",
					   device_text(c->machine->arena, card->port)));
	}
	return best >= GID_IPV6;
}

static void add_port(struct cards *c, const struct device *port) {
	struct card card = {.port = port, .ethernet = device_is_ethernet(port)};
	if (port->fault) {
		return;
	}
	if (!card.ethernet && strcmp(port->layer, "InfiniBand") != 0) {
		c->out->efa = true;
		return;
	}
	c->active++;
	if (!may_open(c, port)) {
		c->closed++;
	} else if (card.ethernet && !find_gid(c, &card)) {
		c->foreign++;
	} else {
		const char *rate =
			machine_text(c->machine, arena_format(c->machine->arena, "%s/rate", port->folder));
		card.rate = rate ? strtoul(rate, NULL, 10) : 0;
		c->at[c->n++] = card;
	}
}

// --- both layers ----------------------------------------------------------------------------------------

/** The PCI path of a device, from its root on: from the target of @link in sysfs; "": it has none. */
static const char *pci_path(const struct machine *m, const char *link) {
	const char *to = machine_link(m, link), *pci = to ? strstr(to, "/pci") : NULL;
	return pci ? pci : "";
}

/** Whether two devices are behind the same bridge: their PCI paths share the root and one more component. */
static bool share_bridge(const char *a, const char *b) {
	uint32_t parts = 0;
	for (; *a && *a == *b; a++, b++) {
		parts += a[1] == '/' && b[1] == '/';
	}
	return parts >= 2;
}

/** Mark the cards that are behind the same bridge as a GPU. */
static void find_near(struct cards *c) {
	static const char folder[] = "/sys/bus/pci/devices";
	const struct machine *m = c->machine;
	for (const char **name = machine_names(m, folder); *name; name++) {
		const char *device = arena_format(m->arena, "%s/%s", folder, *name);
		const char *class = machine_text(m, arena_format(m->arena, "%s/class", device));
		bool gpu = class && (strncmp(class, "0x0302", 6) == 0 || strncmp(class, "0x0300", 6) == 0 ||
				     strncmp(class, "0x1200", 6) == 0);
		const char *path = gpu ? pci_path(m, device) : "";
		for (struct card *card = c->at; gpu && card < c->at + c->n; card++) {
			card->near =
				card->near || share_bridge(path, pci_path(m, card_path(c, card->port, "")));
		}
	}
}

/** Whether each card of one layer is faster, or nearer to GPUs, than each card of the other layer. */
static bool wins(const struct cards *c, bool ethernet) {
	unsigned long least = ULONG_MAX, most = 0;
	bool all_near = true, none_near = true;
	for (const struct card *card = c->at; card < c->at + c->n; card++) {
		if (card->ethernet == ethernet) {
			least = card->rate < least ? card->rate : least;
			all_near = all_near && card->near;
		} else {
			most = card->rate > most ? card->rate : most;
			none_near = none_near && !card->near;
		}
	}
	return least > most || (all_near && none_near);
}

/**
 * A connection uses one layer. If there are cards of both, keep those of the layer that wins. Returns whether
 * the cards that remain are of one layer.
 */
static bool choose_layer(struct cards *c) {
	bool both = false;
	uint32_t n = c->n;
	for (uint32_t i = 1; i < n; i++) {
		both = both || c->at[i].ethernet != c->at[0].ethernet;
	}
	if (!both) {
		return true;
	}
	find_near(c);
	bool ethernet = wins(c, true);
	if (ethernet == wins(c, false)) {
		return false;
	}
	c->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (c->at[i].ethernet == ethernet) {
			c->at[c->n++] = c->at[i];
		}
	}
	return true;
}

// --- the choices ----------------------------------------------------------------------------------------

/**
 * Whether @name may be in a list: it has no blank, comma or other character that changes the list's meaning.
 */
static bool is_plain(const char *name) {
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")] ==
	       '\0';
}

static struct rdma_choice choose_list(const struct cards *c, uint32_t open) {
	struct arena *arena = c->machine->arena;
	struct buf list = BUF(arena);
	if (c->n == c->active) {
		return none("all active ports are of use, and the library takes the nearest");
	}
	if (c->n > NCCL_LIST_MAX) {
		return doubt("NCCL reads no more than 32 names");
	}
	for (uint32_t i = 0; i < c->n; i++) {
		if (!is_plain(c->at[i].port->name)) {
			return doubt("a card has a name that no list can have");
		}
		buf_puts(&list, i ? "," : "");
		buf_puts(&list, device_text(arena, c->at[i].port));
	}
	return (struct rdma_choice){
		buf_text(&list),
		arena_format(arena,
			     "of %u active ports, %u cannot be opened here, %u have no GID of this node, and "
			     "%u are of a slower or farther layer",
			     c->active, c->closed, c->foreign, open - c->n),
		false};
}

static struct rdma_choice choose_family(const struct cards *c, uint32_t v4) {
	return !c->at->ethernet ? none("InfiniBand needs none")
	       : v4 == c->n	? none("all ports have an IPv4 GID, which the library takes")
	       : v4 ? doubt("some ports have an IPv4 GID, others only IPv6: NCCL takes one family for all")
		    : (struct rdma_choice){"AF_INET6", "no port has an IPv4 GID", false};
}

static struct rdma_choice choose_index(const struct cards *c, bool alike) {
	struct arena *arena = c->machine->arena;
	const struct device *sparse = NULL;
	for (uint32_t i = 0; i < c->n; i++) {
		sparse = c->at[i].ethernet && c->at[i].first == GID_EMPTY ? c->at[i].port : sparse;
		alike = alike && c->at[i].index == c->at->index;
	}
	if (!sparse) {
		return none("no port's GID 0 is empty, so the library finds one");
	}
	const char *empty =
		arena_format(arena, "GID 0 of %s is empty, which UCX leaves out", device_text(arena, sparse));
	return alike ? (struct rdma_choice){arena_format(arena, "%u", c->at->index),
					    arena_format(arena, "%s, and this one fits all ports", empty),
					    false}
		     : doubt(arena_format(arena, "%s, and no index fits all ports", empty));
}

static struct rdma_choice choose_prefix(const struct cards *c) {
	const char *first = c->at->port->name;
	size_t len = strcspn(first, "0123456789");
	for (uint32_t i = 0; i < c->n; i++) {
		const struct device *port = c->at[i].port;
		const char *driver = machine_link(c->machine, card_path(c, port, "/device/driver"));
		if (strstr(port->name, "mlx5")) {
			return none("NVSHMEM looks for mlx5, which a name has");
		}
		if (!driver || !strstr(driver, "/mlx5_core")) {
			return none("the driver of a card is not mlx5_core");
		}
		while (strncmp(first, port->name, len) != 0) {
			len--;
		}
	}
	const char *prefix = arena_text(c->machine->arena, first, len);
	return !len || !is_plain(prefix)
		       ? doubt("the cards' names do not begin alike")
		       : (struct rdma_choice){prefix, "NVSHMEM looks for mlx5, which no name has", false};
}

static struct rdma_choice choose_rate(const struct cards *c) {
	unsigned long least = ULONG_MAX, most = 0;
	uint32_t slow = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		unsigned long rate = c->at[i].rate;
		slow = rate > most ? i : slow + (rate < most);
		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
	}
	return !slow || !least ? none("all ports are equally fast")
			       : doubt(arena_format(c->machine->arena,
						    "of %u ports, %u are slower: %lu instead of %lu Gb/s",
						    c->n, slow, least, most));
}

static const char *why_none(const struct cards *c) {
	return !c->active		? "no port of InfiniBand or Ethernet is active"
	       : c->closed == c->active ? "no active port can be opened here"
	       : c->n ? "InfiniBand and Ethernet are both here, and nothing proves which leads to the other "
			"nodes"
		      : "no active port has a GID of this node: is the second network attached?";
}

void rdma_find(const struct machine *m, struct rdma *out) {
	struct devices ports = {0};
	struct cards c = {.machine = m, .out = out};
	uint32_t v4 = 0;
	*out = (struct rdma){.layer = "none", .family = "none"};
	devices_ports(m, &ports);
	c.at = arena_array(m->arena, ports.n, sizeof(*c.at));
	for (uint32_t i = 0; i < ports.n; i++) {
		add_port(&c, &ports.at[i]);
	}
	uint32_t open = c.n;
	bool one = choose_layer(&c);
	out->ports = c.n;
	if (!one || !c.n) {
		out->layer = one ? out->layer : "both";
		for (int i = RDMA_LIST; i <= RDMA_PREFIX; i++) {
			out->choices[i] =
				(struct rdma_choice){.why = why_none(&c), .doubt = c.active > c.closed};
		}
		return;
	}
	for (uint32_t i = 0; i < c.n; i++) {
		v4 += c.at[i].gid == GID_IPV4;
	}
	out->layer = c.at->port->layer;
	out->family = !c.at->ethernet ? out->family : v4 == c.n ? "IPv4" : v4 ? "both" : "IPv6";
	out->choices[RDMA_LIST] = choose_list(&c, open);
	out->choices[RDMA_FAMILY] = choose_family(&c, v4);
	out->choices[RDMA_INDEX] = choose_index(&c, !v4 || v4 == c.n);
	out->choices[RDMA_PREFIX] = choose_prefix(&c);
	out->choices[RDMA_RATE] = choose_rate(&c);
}
