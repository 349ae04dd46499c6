// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Lists the network devices of this node: interfaces, the ports of HCAs, and the GIDs of the ports. */

#include "node/machine.h"

/** An interface, or a port of an HCA. */
struct device {
	/** The name of the interface, or of the HCA. */
	const char *name;
	/** The number of the port, from 1; 0: this is an interface. */
	uint32_t port;
	/** The port's folder in sysfs. */
	const char *folder;
	/** The port's link layer: "InfiniBand", "Ethernet", or for EFA another text. */
	const char *layer;
	/** Why the device cannot be used: a clause; NULL: it can. */
	const char *fault;
};

struct devices {
	struct device *at;
	uint32_t n, cap;
};

/** Add this node's interfaces. @alone: the cluster has one node, so the loopback can be used, too. */
void devices_interfaces(const struct machine *m, bool alone, struct devices *out);

/** Add the ports of this node's HCAs. */
void devices_ports(const struct machine *m, struct devices *out);

/** The name of @device in messages and lists: "eth0", "mlx5_0:1". */
const char *device_text(struct arena *arena, const struct device *device);

bool device_is_ethernet(const struct device *port);

/** The kind of an entry in an Ethernet port's table of GIDs. A later kind is better. */
enum gid {
	/** The table has fewer entries. */
	GID_NONE,
	/** The entry is empty, or hidden because it belongs to another container. */
	GID_EMPTY,
	/** It belongs to an interface that is not in this container, or is down. */
	GID_FOREIGN,
	/** RoCE v1, or a link-local address: packets reach only nodes of the same link. */
	GID_V1,
	GID_LINK_LOCAL,
	/** RoCE v2 with an address that is routed. */
	GID_IPV6,
	GID_IPV4,
};

/** A clause on each kind. */
extern const char *const gid_texts[GID_IPV4 + 1];

/** The kind of the entry at @index of @port, an Ethernet port. */
enum gid device_gid(const struct machine *m, const struct device *port, uint32_t index);
