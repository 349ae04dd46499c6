// SPDX-License-Identifier: Apache-2.0

/**
 * The text of a host file: one line per node, in node-rank order, with the number of ranks to start
 * there. An unknown number is not written: mpirun then uses what it finds on the node, or one.
 *
 * Reference: orte_hosts(7) of Open MPI 4, whose form Horovod and DeepSpeed read too; HYDT "Host
 * file" of MPICH's wiki.
 */

#include "base/buf.h"
#include "base/num.h"
#include "framework/framework.h"

/** The number of ranks for node @i, or UNKNOWN. */
static uint32_t slots_on(const struct derivation *d, uint32_t i) {
	const struct placement *place = &d->cluster->place;
	uint32_t number = UNKNOWN;
	if (d->cluster->scope == SCOPE_ALLOCATION && place->tasks_per_node) {
		return place->tasks_per_node[i];
	}
	if (place->nproc_per_node != UNKNOWN) {
		return place->nproc_per_node;
	}
	// Only torchrun understands values such as "gpu".
	return num_read_u32(str_of(env_value(d->env, "PET_NPROC_PER_NODE")), &number) == 0 && number
		       ? number
		       : UNKNOWN;
}

static bool has_ipv6(const struct hosts *hosts) {
	uint32_t i = 0;
	while (i < hosts->n && str_find(hosts_at(hosts, i), ':') == hosts_at(hosts, i).len) {
		i++;
	}
	return i < hosts->n;
}

/**
 * Why the framework's host file is not possible, or NULL. A program that gets the path by an option needs
 * the numbers of ranks in the file.
 */
static const char *not_possible(const struct derivation *d) {
	const struct cluster *c = d->cluster;
	enum hostfile_form form = d->framework->hostfile;
	if (!d->hostfile.path) {
		return "no host file is written without --hostfile-output=FILE";
	}
	if (c->place.hosts.n == 0) {
		return "the hosts are not known: pass --hosts";
	}
	const char *why = starter_misplaced(c);
	if (why) {
		return why;
	}
	if (!*d->framework->sets && slots_on(d, 0) == UNKNOWN) {
		return "the number of ranks per node is not known: set PET_NPROC_PER_NODE=N";
	}
	if (form == HOSTFILE_COLON && has_ipv6(&c->place.hosts)) {
		return "a host is an IPv6 address, which this form of a host file cannot hold: "
		       "give the hosts by name";
	}
	if (d->hostfile.text.p && d->hostfile.form != form) {
		return "another framework needs the host file in a different form: name one of them in "
		       "--frameworks";
	}
	return NULL;
}

static struct str make_text(const struct derivation *d, enum hostfile_form form) {
	const struct hosts *hosts = &d->cluster->place.hosts;
	struct buf buf = BUF(d->env->arena);
	for (uint32_t i = 0; i < hosts->n; i++) {
		uint32_t slots = slots_on(d, i);
		if (slots == 0) {
			continue;
		}
		buf_put(&buf, hosts_at(hosts, i));
		if (slots != UNKNOWN) {
			buf_puts(&buf, form == HOSTFILE_COLON ? ":" : " slots=");
			buf_putu(&buf, slots);
		}
		buf_putc(&buf, '\n');
	}
	buf_text(&buf);
	return buf_str(&buf);
}

void derive_hostfile(struct derivation *d) {
	const struct framework *f = d->framework;
	const char *why = not_possible(d);
	if (why && d->hostfile.path) {
		notes_add(d->notes, "no host file for %s: %s", f->name, why);
	}
	if (!why && !d->hostfile.text.p) {
		d->hostfile.form = f->hostfile;
		d->hostfile.text = make_text(d, f->hostfile);
	}
	struct str rest = str_of(f->sets), word;
	while (*f->sets && str_cut(&rest, ' ', &word)) {
		const char *name = arena_text(d->env->arena, word.p, word.len);
		if (!why) {
			derive(d, name, str_of(d->hostfile.path), "the host file of --hostfile-output");
		} else if (!derive_keeps(d, name)) {
			derive_leaves_out(d, name, why);
		}
	}
}
