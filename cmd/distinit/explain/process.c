// SPDX-License-Identifier: Apache-2.0

/** The part of `explain` on the process, for people: its rights, those of the workload, and where it runs. */

#include "distinit/labelled.h"
#include "explain/explain.h"

#include "base/signals.h"

#include <linux/capability.h>

/** Capabilities that training jobs often get: to lock memory for RDMA, to bind to NUMA nodes, to profile. */
#define CAPS_ASKED_FOR \
	(CAP_BIT(CAP_IPC_LOCK) | CAP_BIT(CAP_SYS_NICE) | CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_PERFMON) | \
	 CAP_BIT(CAP_SYS_RESOURCE))

/** The largest number of capabilities that "all but ..." names. */
#define FEW 6

/**
 * The capabilities of the container that the workload will lack; none if the bounding set is full, because then nobody
 * chose them.
 */
static uint64_t lost_caps(const struct process_report *r) {
	const struct credentials *w = &r->workload;
	return w->caps.bounding == w->caps_known ? 0 : w->caps.bounding & CAPS_ASKED_FOR & ~r->workload_caps;
}

/** Append the names without "cap_", as the options take them. */
static void put_names(struct buf *out, uint64_t set) {
	const char *before = "";
	for (unsigned cap = 0; cap < 64; cap++) {
		if (set & CAP_BIT(cap)) {
			buf_putf(out, "%s%s", before, cap_name(cap).s + 4);
			before = ",";
		}
	}
}

/** Whether @set has at most FEW members. */
static bool are_few(uint64_t set) {
	for (unsigned i = 0; i < FEW; i++) {
		set &= set - 1;
	}
	return set == 0;
}

static void put_set(struct buf *out, uint64_t set, uint64_t known) {
	uint64_t lacks = known & ~set;
	if (!set) {
		buf_puts(out, "none");
	} else if (!lacks) {
		buf_puts(out, "all");
	} else if (are_few(lacks) && lacks != known) {
		buf_puts(out, "all but ");
		put_names(out, lacks);
	} else {
		put_names(out, set);
	}
}

/** Append the effective capabilities; if the bounding set of @c differs, also that. */
static void put_caps(struct buf *out, const struct credentials *c, uint64_t effective) {
	struct buf line = BUF(out->arena);
	put_set(&line, effective, c->caps_known);
	if (c->caps.bounding != effective) {
		buf_puts(&line, "; bounding set ");
		put_set(&line, c->caps.bounding, c->caps_known);
	}
	labelled_put(out, "  capabilities", buf_text(&line));
}

static void put_ids(struct buf *line, const struct credentials *c) {
	buf_putf(line, "uid %u, gid %u, groups", c->uid[ID_EFFECTIVE], c->gid[ID_EFFECTIVE]);
	for (uint32_t i = 0; i < c->n_groups; i++) {
		buf_putf(line, "%s%u", i ? "," : " ", c->groups[i]);
	}
	buf_puts(line, c->n_groups ? "" : " none");
	if (!ids_are(c->uid, c->uid[ID_EFFECTIVE])) {
		buf_putf(line, " (real uid %u)", c->uid[ID_REAL]);
	}
}

static void put_signals(struct buf *line, const char *what, uint64_t set) {
	if (set) {
		buf_putf(line, "%s%s at start:", line->len ? "; " : "", what);
	}
	for (unsigned number = 1; number <= 64; number++) {
		if (set >> (number - 1) & 1) {
			buf_putc(line, ' ');
			if (number < 32) {
				buf_puts(line, signal_name((int)number).s);
			} else {
				buf_putu(line, number);
			}
		}
	}
}

static void put_place(struct buf *out, const struct process *p) {
	const char *kind = p->container.kind;
	struct buf line = BUF(out->arena);
	if (!kind) {
		buf_puts(&line, "none that is recognised");
	} else if (strcmp(kind, CONTAINER_UNNAMED) == 0) {
		buf_puts(&line, "one that does not say of what kind: the PID namespace is not the machine's");
	} else {
		buf_putf(&line, "%s (by %s)", quote_text(kind).s, p->container.by);
	}
	buf_puts(&line, p->in_user_namespace > 0
				? ", in a user namespace: ids and capabilities count within it"
				: "");
	buf_puts(&line, p->root_read_only > 0 ? ", / is read-only" : "");
	labelled_put(out, "container", buf_text(&line));
}

static void put_restrictions(struct buf *out, const struct process *p) {
	struct buf line = BUF(out->arena);
	buf_puts(&line, p->has.no_new_privs ? "no_new_privs" : "");
	if (p->seccomp > 0) {
		buf_putf(&line, "%sseccomp %s", line.len ? "; " : "", p->seccomp == 2 ? "filter" : "strict");
	}
	put_signals(&line, "ignored", p->ignored);
	put_signals(&line, "blocked", p->blocked);
	if (!p->has_signals) {
		buf_putf(&line, "%ssignals%s are not known: /proc/self/status does not show them",
			 line.len ? "; " : "", p->seccomp < 0 ? " and seccomp" : "");
	}
	labelled_put(out, "restrictions", line.len ? buf_text(&line) : "none");
}

static void put_workload(struct session *s, struct buf *out, const struct process_report *r) {
	const struct credentials *w = &r->workload;
	struct buf line = BUF(out->arena), lost = BUF(out->arena);
	if (r->error) {
		labelled_put(out, "workload", arena_format(out->arena, "cannot be started: %s", r->error));
		return;
	}
	put_ids(&line, w);
	buf_puts(&line, w->no_new_privs ? ", no_new_privs" : "");
	buf_puts(&line, s->flow.wishes.any ? "" : " (as it is)");
	labelled_put(out, "workload", buf_text(&line));
	put_caps(out, w, r->workload_caps);
	if (!(r->workload_caps & CAP_BIT(CAP_IPC_LOCK))) {
		labelled_put(out, "  locked memory",
			     r->process.memlock == UINT64_MAX
				     ? "unlimited"
				     : arena_format(out->arena,
						    "%lu bytes at most (RLIMIT_MEMLOCK), as ipc_lock is not "
						    "effective",
						    (unsigned long)r->process.memlock));
	}
	if (lost_caps(r)) {
		put_names(&lost, lost_caps(r));
		buf_puts(&lost, w->uid[ID_EFFECTIVE] && !r->process.has.uid[ID_EFFECTIVE]
					? ": the container has them; --cap-keep passes them on"
					: ": the container has them, this user has not; start it as root, "
					  "with --user and --cap-keep");
		labelled_put(out, "  not effective", buf_text(&lost));
	}
}

void explain_process(struct session *s, const struct process_report *r, struct buf *out) {
	const struct process *p = &r->process;
	struct buf line = BUF(out->arena);
	buf_putf(&line, "PID %u, ", p->pid);
	put_ids(&line, &p->has);
	labelled_put(out, "process", buf_text(&line));
	put_caps(out, &p->has, p->has.caps.effective);
	put_place(out, p);
	put_restrictions(out, p);
	put_workload(s, out, r);
}
