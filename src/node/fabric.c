// SPDX-License-Identifier: Apache-2.0

/**
 * References: NCCL's manual, "Environment Variables", and parseStringList() in its src/misc/utils.cc;
 * PyTorch's manual, "Distributed communication package", and createDeviceForInterface() of gloo;
 * NVSHMEM's and UCX's manuals, "Environment Variables" and UCX_NET_DEVICES; Google Cloud's page on
 * NCCL/gIB.
 */

#include "node/fabric.h"

#include "base/num.h"
#include "net/interface.h"
#include "node/machine.h"

#include <stdlib.h>
#include <strings.h>

/** IFF_UP, in the file "flags" of an interface in sysfs. */
#define FLAG_UP 1

/** The variables that list network devices. */
static const struct device_list {
	const char *variable;
	/** What it lists. */
	bool interfaces, hcas;
	/**
	 * NCCL's syntax: names are prefixes, but whole ones behind '='; '^' in front of all: every
	 * device but these. Otherwise names are whole. HCAs may have ":PORT" in both.
	 */
	bool prefixes;
	/** What happens if nothing fits. */
	const char *otherwise;
	/** The variable with the index of the GID that RoCE takes, or NULL. */
	const char *gid;
} device_lists[] = {
	{"NCCL_SOCKET_IFNAME", true, false, true, "NCCL ends with an error", NULL},
	{"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", true, false, true, "NVSHMEM ends with an error", NULL},
	{"GLOO_SOCKET_IFNAME", true, false, false, "gloo ends with an error", NULL},
	{"TP_SOCKET_IFNAME", true, false, false, "TensorPipe ends with an error", NULL},
	{"UCX_NET_DEVICES", true, true, false, "UCX ends with an error, or uses shared memory alone", NULL},
	{"NCCL_IB_HCA", false, true, true, "NCCL will use TCP", "NCCL_IB_GID_INDEX"},
	{"NVSHMEM_HCA_LIST", false, true, true, "NVSHMEM finds no device", "NVSHMEM_IB_GID_INDEX"},
};

/** An interface, or a port of an HCA. */
struct device {
	const char *name;
	/** 0: an interface. */
	uint32_t port;
	/** Of a port, in sysfs. */
	const char *folder;
	/** Why it cannot be used: a clause; NULL: it can. */
	const char *fault;
};

struct devices {
	struct device *at;
	uint32_t n, cap;
};

struct fabric {
	const struct facts_from *from;
	struct arena *arena;
	struct machine machine;
	struct devices interfaces, ports;
	struct findings *out;
};

// --- what is there --------------------------------------------------------------------------------------

static struct device *add_device(struct fabric *f, struct devices *all, const char *name) {
	if (all->n == all->cap) {
		struct device *at = arena_array(f->arena, 2 * all->cap + 16, sizeof(*at));
		if (all->n) {
			memcpy(at, all->at, all->n * sizeof(*at));
		}
		*all = (struct devices){at, all->n, 2 * all->cap + 16};
	}
	all->at[all->n] = (struct device){.name = name};
	return &all->at[all->n++];
}

static void list_kernels_interfaces(struct fabric *f) {
	const struct cluster *c = f->from->cluster;
	bool alone = !c || cluster_is_single(c);
	struct own_interface *all;
	uint32_t n = interfaces_list(f->arena, &all);
	for (const struct own_interface *i = all; n; i++, n--) {
		add_device(f, &f->interfaces, i->name)->fault =
			!i->up			? "is down"
			: i->loopback && !alone ? "is the loopback, which other nodes cannot reach"
			: i->addressed		? NULL
						: "has no address";
	}
}

/** From a folder that stands for "/": their addresses are not there. */
static void list_files_interfaces(struct fabric *f) {
	for (const char **name = machine_names(&f->machine, "/sys/class/net"); *name; name++) {
		const char *flags =
			machine_text(&f->machine, arena_format(f->arena, "/sys/class/net/%s/flags", *name));
		struct device *interface = add_device(f, &f->interfaces, *name);
		if (flags && !(strtoul(flags, NULL, 16) & FLAG_UP)) {
			interface->fault = "is down";
		}
	}
}

static void list_ports(struct fabric *f) {
	for (const char **hca = machine_names(&f->machine, "/sys/class/infiniband"); *hca; hca++) {
		char *ports = arena_format(f->arena, "/sys/class/infiniband/%s/ports", *hca);
		for (const char **port = machine_names(&f->machine, ports); *port; port++) {
			uint64_t number = 0;
			num_read(str_of(*port), UINT16_MAX, &number);
			struct device *d = add_device(f, &f->ports, *hca);
			d->port = (uint32_t)number;
			d->folder = arena_format(f->arena, "%s/%s", ports, *port);
			const char *state =
				machine_text(&f->machine, arena_format(f->arena, "%s/state", d->folder));
			if (state && !str_starts(str_of(state), STR("4:"))) {
				d->fault = arena_format(f->arena, "is in state %s", state);
			}
		}
	}
}

// --- what is listed -------------------------------------------------------------------------------------

/** The value of a device_list, taken apart. */
struct listing {
	const struct device_list *list;
	const char *value;
	struct str names;
	bool all_but, whole;
};

static struct listing read_listing(const struct device_list *list, const char *value) {
	struct listing l = {.list = list, .value = value, .names = str_of(value), .whole = !list->prefixes};
	if (list->prefixes && str_starts(l.names, STR("^"))) {
		l.all_but = true;
		l.names = str_from(l.names, 1);
	}
	if (list->prefixes && str_starts(l.names, STR("="))) {
		l.whole = true;
		l.names = str_from(l.names, 1);
	}
	return l;
}

/** Whether @name, of @l, means @device. */
static bool means(const struct listing *l, struct str name, const struct device *device) {
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

/** Whether @l leaves @device in. */
static bool chooses(const struct listing *l, const struct device *device) {
	struct str rest = l->names, name;
	bool listed = false;
	while (str_cut(&rest, ',', &name)) {
		listed = listed || means(l, name, device);
	}
	return listed != l->all_but;
}

/** Of the devices of some kind, which a listing chooses. */
struct choice {
	uint32_t chosen, usable;
	/** One of the chosen that cannot be used, or NULL. */
	const struct device *faulty;
	/** All that are there, joined by blanks. */
	struct buf there;
};

static void choose_from(const struct listing *l, const struct devices *all, struct choice *choice) {
	for (const struct device *d = all->at; d < all->at + all->n; d++) {
		bool again = d > all->at && d->port && strcmp(d[-1].name, d->name) == 0;
		if (!again) {
			buf_puts(&choice->there, choice->there.len ? " " : "");
			buf_puts(&choice->there, d->name);
		}
		if (chooses(l, d)) {
			choice->chosen++;
			choice->usable += !d->fault;
			choice->faulty = d->fault ? d : choice->faulty;
		}
	}
}

static struct choice choose(const struct fabric *f, const struct listing *l) {
	struct choice choice = {.there = BUF(f->arena)};
	if (l->list->interfaces) {
		choose_from(l, &f->interfaces, &choice);
	}
	if (l->list->hcas) {
		choose_from(l, &f->ports, &choice);
	}
	return choice;
}

/** Where every name counts: one that no device has, or an empty slice with p NULL. */
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

static const char *name_of(const struct fabric *f, const struct device *device) {
	return device->port ? arena_format(f->arena, "%s:%u", device->name, device->port) : device->name;
}

static void found(struct fabric *f, bool hint, const struct listing *l, const char *have, const char *text) {
	findings_add(f->out,
		     (struct finding){.about = l->list->hcas && !l->list->interfaces ? "hca" : "interface",
				      .text = text,
				      .hint = hint,
				      .have = have,
				      .expected = l->value,
				      .source = l->list->variable});
}

static void check_listing(struct fabric *f, const struct listing *l) {
	struct choice choice = choose(f, l);
	const char *there = choice.there.len ? buf_text(&choice.there) : "none", *text = NULL;
	const char *set = arena_format(f->arena, "%s=%s", l->list->variable, quote(str_of(l->value)).s);
	const char *kinds = !l->list->hcas	  ? "this node's interfaces"
			    : l->list->interfaces ? "this node's interfaces and HCAs"
						  : "this node's HCAs";
	struct str unknown = {0};
	if (!l->list->prefixes) {
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
				    name_of(f, choice.faulty), choice.faulty->fault, l->list->otherwise,
				    there);
	}
	if (text) {
		found(f, false, l, there, text);
	} else if (choice.faulty && l->list->hcas && !l->all_but) {
		found(f, true, l, there,
		      arena_format(f->arena, "%s: %s %s", set, name_of(f, choice.faulty),
				   choice.faulty->fault));
	}
}

/** Whether RoCE cannot use the GID @index of @port: it is empty, or not there. */
static bool lacks_gid(const struct fabric *f, const struct device *port, uint64_t index) {
	const struct machine *m = &f->machine;
	const char *layer = machine_text(m, arena_format(f->arena, "%s/link_layer", port->folder));
	const char *gid =
		machine_text(m, arena_format(f->arena, "%s/gids/%lu", port->folder, (unsigned long)index));
	bool ethernet = layer && strcmp(layer, "Ethernet") == 0;
	return ethernet && (!gid || gid[strspn(gid, "0:")] == '\0');
}

/** Of the ports that @l chooses and that are active, all or some lack the GID. */
static void check_gid(struct fabric *f, const struct listing *l) {
	const char *value = env_value(f->from->env, l->list->gid);
	const struct device *without = NULL;
	uint64_t index;
	uint32_t with = 0;
	if (!value || num_read(str_of(value), UINT32_MAX, &index) < 0) {
		return;
	}
	for (const struct device *d = f->ports.at; d < f->ports.at + f->ports.n; d++) {
		bool counts = !d->fault && chooses(l, d), lacks = counts && lacks_gid(f, d, index);
		with += counts && !lacks;
		without = lacks ? d : without;
	}
	if (without) {
		const char *text =
			arena_format(f->arena, "%s=%s: %s has no such GID%s%s; show_gids lists them",
				     l->list->gid, value, name_of(f, without),
				     with ? "" : ", nor has another port: ", with ? "" : l->list->otherwise);
		findings_add(f->out, (struct finding){.about = "gid",
						      .text = text,
						      .hint = with > 0,
						      .have = "none",
						      .expected = value,
						      .source = l->list->gid});
	}
}

/** NCCL's syntax, in a variable of others. */
static void refuse_syntax(struct fabric *f, const struct listing *l) {
	found(f, false, l, NULL,
	      arena_format(f->arena, "%s=%s: '%c' is NCCL's syntax; here names are whole: eth0,eth1",
			   l->list->variable, quote(str_of(l->value)).s, *l->value));
}

/** Whether @value says nothing that could be checked: UCX takes "all", and newer ones '^', too. */
static bool is_any(const struct device_list *list, const char *value) {
	return list->interfaces && list->hcas && (*value == '^' || strcmp(value, "all") == 0);
}

static void check_lists(struct fabric *f) {
	const struct env *env = f->from->env;
	const char *no_ib = env_value(env, "NCCL_IB_DISABLE");
	for (size_t i = 0; i < sizeof(device_lists) / sizeof(device_lists[0]); i++) {
		const struct device_list *list = &device_lists[i];
		const char *value = env_value(env, list->variable);
		bool off = strcmp(list->variable, "NCCL_IB_HCA") == 0 && no_ib && strcmp(no_ib, "1") == 0;
		bool set = value && *value;
		// What is not set chooses all.
		struct listing l = read_listing(list, set ? value : "^");
		if (list->gid && !off) {
			check_gid(f, &l);
		}
		if (!set || off || is_any(list, value)) {
			continue;
		}
		if (!list->prefixes && (*value == '^' || *value == '=')) {
			refuse_syntax(f, &l);
		} else {
			check_listing(f, &l);
		}
	}
}

// --- devices, plugins -----------------------------------------------------------------------------------

/** RDMA's devices are in the container, but this process may not open them. */
static void check_verbs(struct fabric *f) {
	uint64_t n = machine_count(&f->machine, "/dev/infiniband/uverbs*", NULL);
	if (n && !machine_writable(&f->machine, "/dev/infiniband/uverbs*")) {
		findings_add(
			f->out,
			(struct finding){.about = "rdma_verbs",
					 .text = "none of /dev/infiniband/uverbs* can be opened: NCCL "
						 "will use TCP; let this user, or its groups, write to them",
					 .have = "0",
					 .expected = arena_format(f->arena, "%lu", (unsigned long)n),
					 .source = "/dev/infiniband"});
	}
}

/** Whether the loader finds @file, as far as one can see without it. */
static bool loader_finds(const struct fabric *f, const char *file) {
	static const char *const folders[] = {"/lib", "/usr/lib", "/lib64", "/usr/lib64", NULL};
	const struct machine *m = &f->machine;
	if (strchr(file, '/')) {
		return machine_count(m, file, NULL);
	}
	struct str rest = str_of(env_value(f->from->env, "LD_LIBRARY_PATH")), folder;
	while (str_cut(&rest, ':', &folder)) {
		if (folder.len && folder.p[0] == '/' &&
		    machine_count(m, arena_format(f->arena, "%.*s/%s", (int)folder.len, folder.p, file),
				  NULL)) {
			return true;
		}
	}
	for (const char *const *at = folders; *at; at++) {
		if (machine_count(m, arena_format(f->arena, "%s/%s", *at, file), NULL)) {
			return true;
		}
	}
	// The cache has the names of all files in the other folders.
	return machine_mentions(m, "/etc/ld.so.cache", file);
}

static void check_plugin(struct fabric *f) {
	const struct env *env = f->from->env;
	const char *net = env_value(env, "NCCL_NET"), *plugin = env_value(env, "NCCL_NET_PLUGIN");
	bool named = plugin && *plugin && strcmp(plugin, "none") != 0;
	bool needed = named || (!plugin && net && *net && strcasecmp(net, "IB") != 0 &&
				strcasecmp(net, "Socket") != 0);
	const char *file = !named		 ? "libnccl-net.so"
			   : strchr(plugin, '/') ? plugin
						 : arena_format(f->arena, "libnccl-net-%s.so", plugin);
	if (!needed || loader_finds(f, file) || (named && loader_finds(f, plugin))) {
		return;
	}
	const char *variable = named ? "NCCL_NET_PLUGIN" : "NCCL_NET";
	findings_add(f->out,
		     (struct finding){
			     .about = "plugin",
			     .text = arena_format(f->arena,
						  "%s=%s needs %s, which is in no folder of LD_LIBRARY_PATH, "
						  "nor where the loader looks by itself",
						  variable, quote(str_of(named ? plugin : net)).s, file),
			     .expected = file,
			     .source = variable});
}

/** Google's plugin is there, but NCCL does not take it without its variables. */
static void check_gib(struct fabric *f) {
	static const char script[] = "/usr/local/gib/scripts/set_nccl_env.sh";
	if (!env_value(f->from->env, "NCCL_NET") && machine_count(&f->machine, script, NULL)) {
		findings_add(f->out,
			     (struct finding){.about = "plugin",
					      .text = "/usr/local/gib is here, but NCCL_NET is not set: NCCL "
						      "will use TCP; source /usr/local/gib/scripts/"
						      "set_nccl_env.sh, or set what it sets",
					      .expected = "gIB",
					      .source = script});
	}
}

/** A rank that takes the GPU of its LOCAL_RANK, where the launcher left it only its own. */
static void check_visible(struct fabric *f, const struct facts *facts) {
	const struct cluster *c = f->from->cluster;
	const char *visible = env_value(f->from->env, "CUDA_VISIBLE_DEVICES");
	const char *devices = facts_find(&facts->list[FACTS_DEVICES], "gpus");
	struct str rest = str_of(visible), one;
	uint64_t n = 0;
	if (!c || c->scope != SCOPE_TASK || c->task.local_rank == UNKNOWN) {
		return;
	}
	while (str_cut(&rest, ',', &one)) {
		n += one.len > 0;
	}
	if (!visible) {
		num_read(str_of(devices), UINT32_MAX, &n);
	}
	if (n && n <= c->task.local_rank) {
		const char *count = arena_format(f->arena, "%lu", (unsigned long)n);
		findings_add(
			f->out,
			(struct finding){.about = "gpus",
					 .text = arena_format(
						 f->arena,
						 "this rank's local rank is %u, and GPUs that it sees: %s; "
						 "a program that takes the GPU of its local rank fails: let "
						 "it take 0, "
						 "or give each task all GPUs of the node",
						 c->task.local_rank, count),
					 .hint = true,
					 .have = count,
					 .expected = arena_format(f->arena, "%u", c->task.local_rank + 1),
					 .source = visible ? "CUDA_VISIBLE_DEVICES" : "/dev"});
	}
}

void fabric_check(const struct facts_from *from, const struct facts *facts, struct findings *out) {
	struct fabric f = {
		.from = from,
		.arena = from->arena,
		.machine = {from->arena, from->root},
		.out = out,
	};
	if (from->root) {
		list_files_interfaces(&f);
	} else {
		list_kernels_interfaces(&f);
	}
	list_ports(&f);
	check_lists(&f);
	check_verbs(&f);
	check_plugin(&f);
	check_gib(&f);
	check_visible(&f, facts);
}
