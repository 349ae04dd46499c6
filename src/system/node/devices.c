// SPDX-License-Identifier: Apache-2.0

/** References: Documentation/ABI/stable/sysfs-class-infiniband of Linux; drivers/infiniband/core/sysfs.c. */

#include "node/devices.h"

#include "base/arena.h"
#include "base/num.h"
#include "net/interface.h"

#include <stdlib.h>

/** IFF_UP, in the file "flags" of an interface in sysfs. */
#define FLAG_UP 1

/** The beginning of a GID that is an IPv4 address. */
#define IPV4_IN_IPV6 "0000:0000:0000:0000:0000:ffff:"

const char *const gid_texts[] = {
	[GID_NONE] = "is not there",
	[GID_EMPTY] = "is empty",
	[GID_FOREIGN] = "belongs to no interface that is up here",
	[GID_V1] = "is of RoCE v1, which is not routed",
	[GID_LINK_LOCAL] = "is link-local, which is not routed",
	[GID_IPV6] = "is of RoCE v2, IPv6",
	[GID_IPV4] = "is of RoCE v2, IPv4",
};

static struct device *add_device(const struct machine *m, struct devices *all, const char *name) {
	all->at = arena_more(m->arena, all->at, all->n, &all->cap, sizeof(*all->at));
	all->at[all->n] = (struct device){.name = name};
	return &all->at[all->n++];
}

/** The text of the file @name in sysfs's @folder, or NULL. */
static const char *text_in(const struct machine *m, const char *folder, const char *name) {
	return machine_text(m, arena_format(m->arena, "%s/%s", folder, name));
}

/** Returns 0 if there is no interface @name; 1 if it is down; 2 if it is up. */
static int is_up(const struct machine *m, const char *name) {
	const char *flags = machine_text(m, arena_format(m->arena, "/sys/class/net/%s/flags", name));
	return !flags ? 0 : strtoul(flags, NULL, 16) & FLAG_UP ? 2 : 1;
}

void devices_interfaces(const struct machine *m, bool alone, struct devices *out) {
	struct own_interface *all;
	// A folder that stands for "/" has no addresses.
	uint32_t n = *view_root(m->view) ? 0 : interfaces_list(m->arena, &all);
	for (uint32_t i = 0; i < n; i++) {
		add_device(m, out, all[i].name)->fault =
			!all[i].up		    ? "is down"
			: all[i].loopback && !alone ? "is the loopback, which other nodes cannot reach"
			: all[i].addressed	    ? NULL
						    : "has no address";
	}
	for (const char **name = machine_names(m, *view_root(m->view) ? "/sys/class/net" : ""); *name;
	     name++) {
		add_device(m, out, *name)->fault = is_up(m, *name) == 1 ? "is down" : NULL;
	}
}

void devices_ports(const struct machine *m, struct devices *out) {
	for (const char **hca = machine_names(m, "/sys/class/infiniband"); *hca; hca++) {
		char *ports = arena_format(m->arena, "/sys/class/infiniband/%s/ports", *hca);
		for (const char **port = machine_names(m, ports); *port; port++) {
			uint64_t number = 0;
			if (num_read(str_of(*port), UINT16_MAX, &number) < 0 || number == 0) {
				continue;
			}
			struct device *d = add_device(m, out, *hca);
			d->port = (uint32_t)number;
			d->folder = arena_format(m->arena, "%s/%s", ports, *port);
			const char *layer = text_in(m, d->folder, "link_layer");
			const char *state = text_in(m, d->folder, "state");
			d->layer = layer ? layer : "";
			if (!state || !str_starts(str_of(state), STR("4:"))) {
				d->fault =
					arena_format(m->arena, "is in state %s", state ? state : "unknown");
			}
		}
	}
}

const char *device_text(struct arena *arena, const struct device *device) {
	return device->port ? arena_format(arena, "%s:%u", device->name, device->port) : device->name;
}

bool device_is_ethernet(const struct device *port) {
	return strcmp(port->layer, "Ethernet") == 0;
}

enum gid device_gid(const struct machine *m, const struct device *port, uint32_t index) {
	const char *path = arena_format(m->arena, "%s/gids/%u", port->folder, index);
	const char *gid = machine_text(m, path);
	if (!gid || gid[strspn(gid, "0:")] == '\0') {
		return gid || machine_count(m, path, NULL) ? GID_EMPTY : GID_NONE;
	}
	const char *attributes = arena_format(m->arena, "%s/gid_attrs", port->folder);
	const char *type = text_in(m, attributes, arena_format(m->arena, "types/%u", index));
	const char *interface = text_in(m, attributes, arena_format(m->arena, "ndevs/%u", index));
	// If the entry belongs to another container, the kernel refuses to read these files.
	if (!type || !interface || is_up(m, interface) != 2) {
		return GID_FOREIGN;
	}
	return strcmp(type, "RoCE v2") != 0		    ? GID_V1
	       : str_starts(str_of(gid), STR("fe80:"))	    ? GID_LINK_LOCAL
	       : str_starts(str_of(gid), STR(IPV4_IN_IPV6)) ? GID_IPV4
							    : GID_IPV6;
}
