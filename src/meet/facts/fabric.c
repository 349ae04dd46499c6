// SPDX-License-Identifier: Apache-2.0

/**
 * Compares variables for the network with the network devices of this node: if a variable names a device that
 * does not exist, NCCL silently uses TCP, gloo fails, and an engine takes the wrong card.
 *
 * References: NCCL's manual, "Environment Variables", and parseStringList() in its src/misc/utils.cc;
 * PyTorch's manual, "Distributed communication package", and createDeviceForInterface() of gloo;
 * src/modules/transport of NVSHMEM; UCX's manual, UCX_NET_DEVICES; src/application of MORI.
 */

#include "facts/findings.h"

#include "base/num.h"
#include "node/devices.h"
#include "node/rdma.h"

/** The variables that list network devices. */
static const struct device_list {
	const char *variable;
	/** The kinds of devices that it lists. */
	bool interfaces, hcas;
	/**
	 * The characters that the list may begin with. '^': all devices except these. '=': names are whole;
	 * without it, they are prefixes. If '=' is not allowed, names are whole. An HCA may always have
	 * ":PORT".
	 */
	const char *front;
	/** A clause on what happens if no device matches. */
	const char *otherwise;
	/** The variable with the index of the GID that RoCE uses, or NULL. */
	const char *gid;
} device_lists[] = {
	{"NCCL_SOCKET_IFNAME", true, false, "^=", "NCCL ends with an error", NULL},
	{"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", true, false, "^=", "NVSHMEM ends with an error", NULL},
	{"GLOO_SOCKET_IFNAME", true, false, "", "gloo ends with an error", NULL},
	{"TP_SOCKET_IFNAME", true, false, "", "TensorPipe ends with an error", NULL},
	{"MORI_SOCKET_IFNAME", true, false, "", "MORI ends with an error", NULL},
	{"UCX_NET_DEVICES", true, true, "", "UCX ends with an error, or uses shared memory alone", NULL},
	{"NCCL_IB_HCA", false, true, "^=", "NCCL will use TCP", "NCCL_IB_GID_INDEX"},
	{"NVSHMEM_HCA_LIST", false, true, "^", "NVSHMEM finds no device", "NVSHMEM_IB_GID_INDEX"},
};

struct fabric {
	const struct facts_from *from;
	struct arena *arena;
	struct machine machine;
	struct devices interfaces, ports;
	struct findings *out;
};

// --- lists of devices -----------------------------------------------------------------------------------

/** The parsed value of a variable. */
struct listing {
	const struct device_list *list;
	const char *value;
	/** The names, separated by ','. */
	struct str names;
	/** It chooses all devices except these. */
	bool all_but;
	/** The names are whole, not prefixes. */
	bool whole;
};

static bool has_prefixes(const struct device_list *list) {
	return strchr(list->front, '=');
}

static struct listing read_listing(const struct device_list *list, const char *value) {
	struct listing l = {
		.list = list, .value = value, .names = str_of(value), .whole = !has_prefixes(list)};
	if (str_starts(l.names, STR("^"))) {
		l.all_but = true;
		l.names = str_from(l.names, 1);
	}
	if (!l.whole && str_starts(l.names, STR("="))) {
		l.whole = true;
		l.names = str_from(l.names, 1);
	}
	return l;
}

/** Whether @name, one of the names of @l, matches @device. */
static bool matches_device(const struct listing *l, struct str name, const struct device *device) {
	uint64_t port = 0;
	size_t colon = str_find(name, ':');
	if (device->port && colon < name.len) {
		num_read(str_from(name, colon + 1), UINT16_MAX, &port);
		name.len = colon;
	}
	struct str its = str_of(device->name);
	bool same = l->whole ? str_eq(its, name) : name.len && str_starts(its, name);
	return same && (!port || port == device->port);
}

/** Whether @l chooses @device. */
static bool chooses(const struct listing *l, const struct device *device) {
	struct str rest = l->names, name;
	bool listed = false;
	while (str_cut(&rest, ',', &name)) {
		listed = listed || matches_device(l, name, device);
	}
	return listed != l->all_but;
}

/** The devices that a listing chooses. */
struct choice {
	/** How many are chosen, and how many of these can be used. */
	uint32_t chosen, usable;
	/** A chosen device that cannot be used, or NULL. */
	const struct device *faulty;
	/** The names of all devices that exist, separated by blanks. */
	struct buf all;
};

static void choose_from(const struct listing *l, const struct devices *all, struct choice *choice) {
	for (const struct device *d = all->at; d < all->at + all->n; d++) {
		bool again = d > all->at && d->port && strcmp(d[-1].name, d->name) == 0;
		if (!again) {
			buf_puts(&choice->all, choice->all.len ? " " : "");
			buf_puts(&choice->all, d->name);
		}
		if (chooses(l, d)) {
			choice->chosen++;
			choice->usable += !d->fault;
			choice->faulty = d->fault ? d : choice->faulty;
		}
	}
}

static struct choice choose(const struct fabric *f, const struct listing *l) {
	struct choice choice = {.all = BUF(f->arena)};
	if (l->list->interfaces) {
		choose_from(l, &f->interfaces, &choice);
	}
	if (l->list->hcas) {
		choose_from(l, &f->ports, &choice);
	}
	return choice;
}

/** The first name of @l that no device has; p is NULL: there is none. */
static struct str unknown_name(const struct fabric *f, const struct listing *l) {
	struct str rest = l->names, name;
	while (str_cut(&rest, ',', &name)) {
		struct listing one = {.list = l->list, .names = name, .whole = true};
		if (choose(f, &one).chosen == 0) {
			return name;
		}
	}
	return (struct str){0};
}

/** A device that matches only as a prefix of another's name; NULL: there is none. */
static const struct device *find_prefix_match(const struct listing *l, const struct devices *all) {
	struct listing exactly = *l;
	struct str rest = l->names, name;
	exactly.whole = true;
	exactly.all_but = false;
	while (!l->whole && str_cut(&rest, ',', &name)) {
		const struct device *other = NULL;
		bool exact = false;
		for (const struct device *d = all->at; d < all->at + all->n; d++) {
			exact = exact || matches_device(&exactly, name, d);
			other = matches_device(l, name, d) && !chooses(&exactly, d) ? d : other;
		}
		if (exact && other) {
			return other;
		}
	}
	return NULL;
}

static void add_found(struct fabric *f, bool hint, const struct listing *l, const char *have,
		      const char *text) {
	findings_add(f->out,
		     &(struct finding){.about = l->list->hcas && !l->list->interfaces ? "hca" : "interface",
				       .text = text,
				       .hint = hint,
				       .have = have,
				       .expected = l->value,
				       .source = l->list->variable});
}

static void check_listing(struct fabric *f, const struct listing *l) {
	struct choice choice = choose(f, l);
	const char *there = choice.all.len ? buf_text(&choice.all) : "none", *text = NULL;
	const char *set = arena_format(f->arena, "%s=%s", l->list->variable, quote_text(l->value).s);
	const char *kinds = !l->list->hcas	  ? "this node's interfaces"
			    : l->list->interfaces ? "this node's interfaces and HCAs"
						  : "this node's HCAs";
	const struct device *also = find_prefix_match(l, l->list->hcas ? &f->ports : &f->interfaces);
	struct str unknown = {0};
	if (!has_prefixes(l->list) && !l->all_but) {
		unknown = unknown_name(f, l);
	}
	if (!choice.chosen) {
		text = arena_format(f->arena, "%s chooses none of %s: %s; there is: %s", set, kinds,
				    l->list->otherwise, there);
	} else if (unknown.p) {
		text = arena_format(f->arena, "%s names %s, which is not here: %s; there is: %s", set,
				    quote(unknown).s, l->list->otherwise, there);
	} else if (!choice.usable) {
		text = arena_format(f->arena, "%s chooses %s, which %s: %s; there is: %s", set,
				    device_text(f->arena, choice.faulty), choice.faulty->fault,
				    l->list->otherwise, there);
	}
	if (text) {
		add_found(f, false, l, there, text);
	} else if (choice.faulty && l->list->hcas && !l->all_but) {
		add_found(f, true, l, there,
			  arena_format(f->arena, "%s: %s %s", set, device_text(f->arena, choice.faulty),
				       choice.faulty->fault));
	} else if (also) {
		add_found(f, true, l, there,
			  arena_format(f->arena,
				       "%s: a name is a prefix, which means %s, too; %s makes names whole",
				       set, also->name, l->all_but ? "^=" : "="));
	}
}

/** Add a finding if active ports that @l chooses have no routed GID at the index that the variable gives. */
static void check_gid(struct fabric *f, const struct listing *l) {
	const char *name = l->list->gid, *value = env_value(f->from->env, name), *end = "";
	const struct device *without = NULL;
	enum gid worst = GID_IPV4;
	uint64_t index;
	uint32_t with = 0;
	if (!value || num_read(str_of(value), UINT32_MAX, &index) < 0) {
		return;
	}
	for (const struct device *d = f->ports.at; d < f->ports.at + f->ports.n; d++) {
		if (d->fault || !chooses(l, d)) {
			continue;
		}
		enum gid gid = device_is_ethernet(d) ? device_gid(&f->machine, d, (uint32_t)index) : GID_IPV4;
		with += gid >= GID_IPV6;
		without = gid < worst ? d : without;
		worst = gid < worst ? gid : worst;
	}
	if (worst >= GID_IPV6) {
		return;
	}
	if (!with) {
		end = worst > GID_FOREIGN
			      ? ", and no other port has one that is"
			      : arena_format(f->arena, ", and no other port has one: %.*s ends with an error",
					     (int)strcspn(name, "_"), name);
	}
	const char *text = arena_format(f->arena, "%s=%s: this GID of %s %s%s; show_gids lists them", name,
					value, device_text(f->arena, without), gid_texts[worst], end);
	findings_add(f->out,
		     &(struct finding){.about = "gid",
				       .text = text,
				       // If all nodes are on one link, RoCE v1 and link-local GIDs work.
				       .hint = with || worst > GID_FOREIGN,
				       .have = "none",
				       .expected = value,
				       .source = name});
}

/** Add a finding: the variable uses NCCL's syntax, but another library reads it. */
static void refuse_syntax(struct fabric *f, const struct listing *l) {
	add_found(f, false, l, NULL,
		  arena_format(f->arena, "%s=%s: '%c' is NCCL's syntax; here names are whole: %s",
			       l->list->variable, quote_text(l->value).s, *l->value,
			       l->list->hcas ? "mlx5_0:1,mlx5_1:1" : "eth0,eth1"));
}

/** Whether @value is not checked: UCX takes "all", and newer ones '^' and ranges, "mlx5_[0-7]:1". */
static bool is_any(const struct device_list *list, const char *value) {
	return list->interfaces && list->hcas &&
	       (*value == '^' || strchr(value, '[') || strcmp(value, "all") == 0);
}

static void check_lists(struct fabric *f) {
	const struct env *env = f->from->env;
	const char *no_ib = env_value(env, "NCCL_IB_DISABLE");
	for (size_t i = 0; i < sizeof(device_lists) / sizeof(device_lists[0]); i++) {
		const struct device_list *list = &device_lists[i];
		const char *value = env_value(env, list->variable);
		bool off = strcmp(list->variable, "NCCL_IB_HCA") == 0 && no_ib && strcmp(no_ib, "1") == 0;
		bool set = value && *value;
		// A variable that is not set chooses all devices.
		struct listing l = read_listing(list, set ? value : "^");
		if (list->gid && !off) {
			check_gid(f, &l);
		}
		if (!set || off || is_any(list, value)) {
			continue;
		}
		if (strchr("^=", *value) && !strchr(list->front, *value)) {
			refuse_syntax(f, &l);
		} else {
			check_listing(f, &l);
		}
	}
}

/** Add hints on settings that the libraries may choose wrongly, and that are not given. */
static void check_cards(struct fabric *f) {
	static const char *const variables[N_RDMA_MATTERS] = {
		[RDMA_LIST] = "NCCL_IB_HCA",	   [RDMA_FAMILY] = "NCCL_IB_ADDR_FAMILY",
		[RDMA_INDEX] = "UCX_IB_GID_INDEX", [RDMA_PREFIX] = "NVSHMEM_HCA_PREFIX",
		[RDMA_RATE] = "NCCL_IB_HCA",	   [RDMA_ADDRESS] = "NCCL_IB_HCA"};
	const struct env *env = f->from->env;
	const char *no_ib = env_value(env, "NCCL_IB_DISABLE"), *said = "";
	struct rdma cards;
	if (no_ib && strcmp(no_ib, "1") == 0) {
		return;
	}
	rdma_find(&f->machine, &cards);
	for (int i = 0; i < N_RDMA_MATTERS; i++) {
		const struct rdma_choice *choice = &cards.choices[i];
		if (choice->doubt && !env_get(env, variables[i]) && strcmp(choice->why, said) != 0) {
			said = choice->why;
			findings_add(f->out, &(struct finding){.about = "rdma",
							       .text = said,
							       .hint = true,
							       .source = "/sys/class/infiniband"});
		}
	}
}

// --- all checks -----------------------------------------------------------------------------------------

/** Add a finding if the RDMA devices are in the container, but this process may not open them. */
static void check_verbs(struct fabric *f) {
	uint64_t n = machine_count(&f->machine, "/dev/infiniband/uverbs*", NULL);
	if (n && !machine_writable(&f->machine, "/dev/infiniband/uverbs*")) {
		findings_add(
			f->out,
			&(struct finding){.about = "rdma_verbs",
					  .text = "none of /dev/infiniband/uverbs* can be opened: NCCL "
						  "will use TCP; let this user, or its groups, write to them",
					  .have = "0",
					  .expected = arena_format(f->arena, "%lu", (unsigned long)n),
					  .source = "/dev/infiniband"});
	}
}

void fabric_check(const struct facts_from *from, struct findings *out) {
	struct fabric f = {
		.from = from,
		.arena = from->arena,
		.machine = {from->arena, from->view},
		.out = out,
	};
	devices_interfaces(&f.machine, !from->cluster || cluster_is_single(from->cluster), &f.interfaces);
	devices_ports(&f.machine, &f.ports);
	check_lists(&f);
	check_verbs(&f);
	check_cards(&f);
}
