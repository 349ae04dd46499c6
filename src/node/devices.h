// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The network devices of this node: interfaces, the ports of HCAs, and the GIDs of these. All else asks here. */

#include "node/machine.h"

/** An interface, or a port of an HCA. */
struct device {
	const char *name;
	/** 0: an interface. */
	uint32_t port;
	/** Of a port, in sysfs. */
	const char *folder;
	/** Of a port: "InfiniBand", "Ethernet"; EFA has neither. */
	const char *layer;
	/** Why it cannot be used: a clause; NULL: it can. */
	const char *fault;
};

struct devices {
	struct device *at;
	uint32_t n, cap;
};

/** Add this node's interfaces. @alone: the loopback is one like the others. */
void devices_interfaces(const struct machine *m, bool alone, struct devices *out);

/** Add the ports of its HCAs. */
void devices_ports(const struct machine *m, struct devices *out);

/** How messages and lists name it: "eth0", "mlx5_0:1". */
const char *device_text(struct arena *arena, const struct device *device);

bool device_is_ethernet(const struct device *port);

/** What is at an index of an Ethernet port's table of GIDs. */
enum gid {
	/** The table is shorter. */
	GID_NONE,
	/** Free, or of somebody else's container. */
	GID_EMPTY,
	/** Of an interface that is not here, or is down. */
	GID_FOREIGN,
	/** These two do not leave their link. */
	GID_V1,
	GID_LINK_LOCAL,
	/** RoCE v2 with an address that is routed. */
	GID_IPV6,
	GID_IPV4,
};

/** What each is: a clause. */
extern const char *const gid_texts[GID_IPV4 + 1];

/** What is at @index of @port, which is an Ethernet one. */
enum gid device_gid(const struct machine *m, const struct device *port, uint32_t index);
