// SPDX-License-Identifier: Apache-2.0

/** `explain` on the process, for people: what it may do, what the program will have, and where it runs. */

#include "explain/explain.h"

#include "base/signals.h"

#include <linux/capability.h>

/** What jobs are given for training: to lock memory for RDMA, to bind to NUMA nodes, to profile. */
#define CAPS_ASKED_FOR \
	(CAP_BIT(CAP_IPC_LOCK) | CAP_BIT(CAP_SYS_NICE) | CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_PERFMON) | \
	 CAP_BIT(CAP_SYS_RESOURCE))

/** Names of more capabilities than these are left out of "all but ...". */
#define FEW 6

/** What the container has and the program will not; none if the bounding set is full: nobody chose that. */
static uint64_t lost_caps(const struct process_report *r) {
	const struct credentials *w = &r->workload;
	return w->caps.bounding == w->caps_known ? 0 : w->caps.bounding & CAPS_ASKED_FOR & ~r->workload_caps;
}

/** The names without "cap_", as the options take them. */
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

/** The effective capabilities, and the bounding set of @c if it is another. */
static void put_caps(struct buf *out, const struct credentials *c, uint64_t effective) {
	explain_label(out, "  capabilities");
	put_set(out, effective, c->caps_known);
	if (c->caps.bounding != effective) {
		buf_puts(out, "; bounding set ");
		put_set(out, c->caps.bounding, c->caps_known);
	}
	buf_putc(out, '\n');
}

static void put_ids(struct buf *out, const struct credentials *c) {
	buf_putf(out, "uid %u, gid %u, groups", c->uid[ID_EFFECTIVE], c->gid[ID_EFFECTIVE]);
	for (uint32_t i = 0; i < c->n_groups; i++) {
		buf_putf(out, "%s%u", i ? "," : " ", c->groups[i]);
	}
	buf_puts(out, c->n_groups ? "" : " none");
	if (!ids_are(c->uid, c->uid[ID_EFFECTIVE])) {
		buf_putf(out, " (real uid %u)", c->uid[ID_REAL]);
	}
}

static void put_signals(struct buf *out, const char *what, uint64_t set, const char **before) {
	if (!set) {
		return;
	}
	buf_putf(out, "%s%s at start:", *before, what);
	for (unsigned number = 1; number <= 64; number++) {
		if (set >> (number - 1) & 1) {
			buf_putc(out, ' ');
			if (number < 32) {
				buf_puts(out, signal_name((int)number).s);
			} else {
				buf_putu(out, number);
			}
		}
	}
	*before = "; ";
}

static void put_place(struct buf *out, const struct process *p) {
	explain_label(out, "container");
	if (!p->container.kind) {
		buf_puts(out, "none that is recognised");
	} else if (strcmp(p->container.kind, CONTAINER_UNNAMED) == 0) {
		buf_puts(out, "one that does not say of what kind: the PID namespace is not the machine's");
	} else {
		buf_putf(out, "%s (by %s)", quote(str_of(p->container.kind)).s, p->container.by);
	}
	buf_puts(out, p->in_user_namespace > 0 ? ", in a user namespace: ids and capabilities count within it"
					       : "");
	buf_puts(out, p->root_read_only > 0 ? ", / is read-only\n" : "\n");
}

static void put_restrictions(struct buf *out, const struct process *p) {
	const char *before = "";
	explain_label(out, "restrictions");
	if (p->has.no_new_privs) {
		buf_puts(out, "no_new_privs");
		before = "; ";
	}
	if (p->seccomp > 0) {
		buf_putf(out, "%sseccomp %s", before, p->seccomp == 2 ? "filter" : "strict");
		before = "; ";
	}
	put_signals(out, "ignored", p->ignored, &before);
	put_signals(out, "blocked", p->blocked, &before);
	if (!p->has_signals) {
		buf_putf(out, "%ssignals%s are not known: /proc/self/status does not show them", before,
			 p->seccomp < 0 ? " and seccomp" : "");
		before = "; ";
	}
	buf_puts(out, *before ? "\n" : "none\n");
}

static void put_workload(struct session *s, struct buf *out, const struct process_report *r) {
	const struct credentials *w = &r->workload;
	explain_label(out, "workload");
	if (r->error) {
		buf_puts(out, "cannot be started: ");
		buf_put_plain(out, str_of(r->error));
		buf_putc(out, '\n');
		return;
	}
	put_ids(out, w);
	buf_puts(out, w->no_new_privs ? ", no_new_privs" : "");
	buf_puts(out, s->flow.wishes.any ? "\n" : " (as it is)\n");
	put_caps(out, w, r->workload_caps);
	if (!(r->workload_caps & CAP_BIT(CAP_IPC_LOCK))) {
		explain_label(out, "  locked memory");
		if (r->process.memlock == UINT64_MAX) {
			buf_puts(out, "unlimited\n");
		} else {
			buf_putf(out, "%lu bytes at most (RLIMIT_MEMLOCK), as ipc_lock is not effective\n",
				 (unsigned long)r->process.memlock);
		}
	}
	if (lost_caps(r)) {
		explain_label(out, "  not effective");
		put_names(out, lost_caps(r));
		buf_puts(out, w->uid[ID_EFFECTIVE] && !r->process.has.uid[ID_EFFECTIVE]
				      ? ": the container has them; --cap-keep hands them on\n"
				      : ": the container has them, this user has not; start it as root, with "
					"--user and "
					"--cap-keep\n");
	}
}

void explain_process(struct session *s, const struct process_report *r, struct buf *out) {
	const struct process *p = &r->process;
	explain_label(out, "process");
	buf_putf(out, "PID %u, ", p->pid);
	put_ids(out, &p->has);
	buf_putc(out, '\n');
	put_caps(out, &p->has, p->has.caps.effective);
	put_place(out, p);
	put_restrictions(out, p);
	put_workload(s, out, r);
}
