// SPDX-License-Identifier: Apache-2.0

/**
 * References: NCCL's manual, "Environment Variables"; Google Cloud's page on NCCL/gIB; doc/efa-env-var.md
 * of aws-ofi-nccl; Azure's pages on the ND series.
 */

#include "facts/findings.h"

#include "node/devices.h"
#include "node/rdma.h"

#include <strings.h>

struct plugin {
	const struct facts_from *from;
	struct arena *arena;
	struct machine machine;
	struct findings *out;
};

/** The file @name in @folder; NULL: there is none. */
static const char *file_in(const struct plugin *f, struct str folder, const char *name) {
	const char *path = arena_format(f->arena, "%.*s/%s", (int)folder.len, folder.p, name);
	return machine_count(&f->machine, path, NULL) ? path : NULL;
}

/** Where the dynamic loader would find @file; "": its cache has the name; NULL: it would probably not. */
static const char *loader_path(const struct plugin *f, const char *file) {
	static const char *const folders[] = {"/lib", "/usr/lib", "/lib64", "/usr/lib64", NULL};
	const char *path = NULL;
	if (strchr(file, '/')) {
		return machine_count(&f->machine, file, NULL) ? file : NULL;
	}
	struct str rest = str_of(env_value(f->from->env, "LD_LIBRARY_PATH")), folder;
	while (!path && str_cut(&rest, ':', &folder)) {
		path = folder.len && folder.p[0] == '/' ? file_in(f, folder, file) : NULL;
	}
	for (const char *const *at = folders; !path && *at; at++) {
		path = file_in(f, str_of(*at), file);
	}
	// The cache has the names of all files in the other folders.
	return path || !machine_mentions(&f->machine, "/etc/ld.so.cache", file) ? path : "";
}

static bool loader_finds(const struct plugin *f, const char *file) {
	return loader_path(f, file);
}

/** The file of the plugin that NCCL_NET_PLUGIN names, or of the default one; NULL: "none" is named. */
static const char *plugin_name(const struct plugin *f) {
	const char *plugin = env_value(f->from->env, "NCCL_NET_PLUGIN");
	bool named = plugin && *plugin;
	return named && strcmp(plugin, "none") == 0 ? NULL
	       : !named				    ? "libnccl-net.so"
	       : strchr(plugin, '/')		    ? plugin
						    : arena_format(f->arena, "libnccl-net-%s.so", plugin);
}

const char *plugin_fact(const struct facts_from *from) {
	const struct plugin f = {.from = from, .arena = from->arena, .machine = {from->arena, from->view}};
	const char *name = plugin_name(&f), *path = name ? loader_path(&f, name) : NULL;
	const char *named = env_value(from->env, "NCCL_NET_PLUGIN");
	if (name && !path && named && !strchr(named, '/')) {
		// NCCL tries the name itself, too.
		path = loader_path(&f, named);
		name = path ? named : name;
	}
	if (!path) {
		return "none";
	}
	const uint64_t size = *path ? machine_size(&f.machine, path) : MACHINE_UNKNOWN;
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	return size == MACHINE_UNKNOWN ? base
				       : arena_format(f.arena, "%s (%lu bytes)", base, (unsigned long)size);
}

static void check_plugin(struct plugin *f) {
	const struct env *env = f->from->env;
	const char *net = env_value(env, "NCCL_NET"), *plugin = env_value(env, "NCCL_NET_PLUGIN");
	bool named = plugin && *plugin && strcmp(plugin, "none") != 0;
	bool needed = named || (!plugin && net && *net && strncasecmp(net, "IB", 3) != 0 &&
				strncasecmp(net, "Socket", 7) != 0);
	const char *file = plugin_name(f);
	if (!needed || !file || loader_finds(f, file) || (named && loader_finds(f, plugin))) {
		return;
	}
	const char *variable = named ? "NCCL_NET_PLUGIN" : "NCCL_NET";
	findings_add(f->out,
		     &(struct finding){
			     .about = "plugin",
			     .text = arena_format(f->arena,
						  "%s=%s needs %s, which is in no folder of LD_LIBRARY_PATH, "
						  "nor where the loader looks by itself",
						  variable, quote_text(named ? plugin : net).s, file),
			     .expected = file,
			     .source = variable});
}

/** Add a finding if Google's plugin is installed, but the variables that make NCCL use it are not set. */
static void check_gib(struct plugin *f) {
	if (!env_value(f->from->env, "NCCL_NET") && machine_count(&f->machine, GIB_SCRIPT, NULL)) {
		findings_add(
			f->out,
			&(struct finding){.about = "plugin",
					  .text = "/usr/local/gib is here, but NCCL_NET is not set: NCCL "
						  "will use TCP; source " GIB_SCRIPT ", or set what it sets",
					  .expected = "gIB",
					  .source = GIB_SCRIPT});
	}
}

static void add_hint(struct plugin *f, const char *variable, const char *text) {
	findings_add(f->out,
		     &(struct finding){.about = "plugin", .text = text, .hint = true, .source = variable});
}

/**
 * Add findings on Amazon's cards: they need a plugin, and its newer versions do not need the older variables.
 */
static void check_efa(struct plugin *f) {
	static const char default_file[] = "libnccl-net.so";
	/** Variables that need not be set; the second one only with a newer plugin. */
	static const char *const of_no_use[] = {"FI_EFA_FORK_SAFE", "FI_PROVIDER"};
	const struct env *env = f->from->env;
	struct devices ports = {0};
	bool here = false, new = loader_finds(f, "libnccl-net-ofi.so");
	devices_ports(&f->machine, &ports);
	for (uint32_t i = 0; i < ports.n; i++) {
		here = here || (!ports.at[i].fault && strcmp(ports.at[i].layer, "Unspecified") == 0);
	}
	if (!here) {
		return;
	}
	for (int i = 0; i < 1 + new; i++) {
		if (env_value(env, of_no_use[i])) {
			add_hint(f, of_no_use[i],
				 arena_format(f->arena, "%s is of no use: the plugin sees to that by itself",
					      of_no_use[i]));
		}
	}
	if (!env_value(env, "NCCL_NET") && !env_value(env, "NCCL_NET_PLUGIN") && !new &&
	    !loader_finds(f, default_file) && machine_count(&f->machine, "/dev/infiniband/uverbs*", NULL)) {
		findings_add(f->out,
			     &(struct finding){.about = "plugin",
					       .text = "EFA is here, but libnccl-net.so is in no folder of "
						       "LD_LIBRARY_PATH, nor where the loader looks by "
						       "itself: NCCL will use TCP",
					       .expected = default_file,
					       .source = "/sys/class/infiniband"});
	}
}

/**
 * Add a hint on NCCL_TOPO_FILE: on a machine that hides its PCI from a guest, this file describes which card
 * is near which GPU.
 */
static void check_topology(struct plugin *f) {
	static const char variable[] = "NCCL_TOPO_FILE", folder[] = "/opt/microsoft";
	const char *topology = env_value(f->from->env, variable);
	if (topology && !machine_count(&f->machine, topology, NULL)) {
		add_hint(f, variable,
			 arena_format(f->arena, "%s=%s is not here: NCCL goes on without it", variable,
				      quote_text(topology).s));
	}
	for (const char **name = machine_names(&f->machine, topology ? "" : folder); *name; name++) {
		if (strstr(*name, "topo.xml")) {
			add_hint(f, variable,
				 arena_format(f->arena,
					      "%s is not set, and %s/%s is here: it says which card is "
					      "near which GPU",
					      variable, folder, *name));
		}
	}
}

void plugin_check(const struct facts_from *from, struct findings *out) {
	struct plugin f = {
		.from = from, .arena = from->arena, .machine = {from->arena, from->view}, .out = out};
	check_plugin(&f);
	check_gib(&f);
	check_efa(&f);
	check_topology(&f);
}
