// SPDX-License-Identifier: Apache-2.0

/**
 * `explain` on the process: what it may do, what the program will have, and where it runs. Many
 * jobs fail, or are slow, for one of these reasons.
 */

#include "distinit/commands.h"

#include "base/json_write.h"
#include "base/signals.h"
#include "priv/plan.h"
#include "process/process.h"

#include <linux/capability.h>

/** What jobs are given for training: to lock memory for RDMA, to bind to NUMA nodes, to profile. */
#define CAPS_ASKED_FOR \
	(CAP_BIT(CAP_IPC_LOCK) | CAP_BIT(CAP_SYS_NICE) | CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_PERFMON) | \
	 CAP_BIT(CAP_SYS_RESOURCE))

/** Names of more capabilities than these are left out of "all but ...". */
#define FEW 6

struct process_report {
	struct process process;
	/** What the workload will have; meaningless where `error` is set. */
	struct credentials workload;
	uint64_t workload_caps;
	/** Why there will be no workload, or NULL. */
	const char *error;
};

int explain_process(struct session *s, struct process_report **out, struct err *err) {
	struct process_report *r = arena_alloc(&s->arena, sizeof(*r));
	*r = (struct process_report){0};
	*out = r;
	return process_read(&s->arena, s->settings.value[OPT_ROOT], &s->env, &r->process, err);
}

void explain_workload(struct session *s, struct process_report *r) {
	r->error = s->flow.plan_error;
	r->workload = s->flow.wishes.any && !s->flow.plan_error ? s->flow.plan.target : r->process.has;
	r->workload_caps = credentials_after_exec(&r->workload);
}

/**
 * Capabilities that the container has and the program will not have. None if the bounding set is
 * full: then nobody chose them for this container.
 */
static uint64_t lost_caps(const struct process_report *r) {
	const struct credentials *w = &r->workload;
	return w->caps.bounding == w->caps_known ? 0 : w->caps.bounding & CAPS_ASKED_FOR & ~r->workload_caps;
}

// --- for people -----------------------------------------------------------------------------------------

static void put_label(struct buf *out, const char *label) {
	buf_putf(out, "%-14s ", label);
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

static void put_caps(struct buf *out, uint64_t set, uint64_t known) {
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
	put_label(out, "container");
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
	put_label(out, "restrictions");
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
		buf_putf(out, "%ssignals%s are not known: /proc/self/status does not tell", before,
			 p->seccomp < 0 ? " and seccomp" : "");
		before = "; ";
	}
	buf_puts(out, *before ? "\n" : "none\n");
}

static void put_workload(struct session *s, struct buf *out, const struct process_report *r) {
	const struct credentials *w = &r->workload;
	put_label(out, "workload");
	if (r->error) {
		buf_puts(out, "cannot be started: ");
		buf_put_plain(out, str_of(r->error));
		buf_putc(out, '\n');
		return;
	}
	put_ids(out, w);
	buf_puts(out, w->no_new_privs ? ", no_new_privs" : "");
	buf_puts(out, s->flow.wishes.any ? "\n" : " (as it is)\n");
	put_label(out, "  capabilities");
	put_caps(out, r->workload_caps, w->caps_known);
	if (w->caps.bounding != r->workload_caps) {
		buf_puts(out, "; bounding set ");
		put_caps(out, w->caps.bounding, w->caps_known);
	}
	buf_putc(out, '\n');
	if (!(r->workload_caps & CAP_BIT(CAP_IPC_LOCK))) {
		put_label(out, "  locked memory");
		if (r->process.memlock == UINT64_MAX) {
			buf_puts(out, "unlimited\n");
		} else {
			buf_putf(out, "%lu bytes at most (RLIMIT_MEMLOCK), as ipc_lock is not effective\n",
				 (unsigned long)r->process.memlock);
		}
	}
	if (lost_caps(r)) {
		put_label(out, "  not effective");
		put_names(out, lost_caps(r));
		buf_puts(out, w->uid[ID_EFFECTIVE] && !r->process.has.uid[ID_EFFECTIVE]
				      ? ": the container has them; --cap-keep hands them on\n"
				      : ": the container has them, this user has not; start it as root, with "
					"--user and "
					"--cap-keep\n");
	}
}

const char *explain_container(const struct process_report *report) {
	return report->process.container.kind;
}

void explain_process_text(struct session *s, const struct process_report *r, struct buf *out) {
	const struct process *p = &r->process;
	put_label(out, "process");
	buf_putf(out, "PID %u, ", p->pid);
	put_ids(out, &p->has);
	buf_putc(out, '\n');
	put_label(out, "  capabilities");
	put_caps(out, p->has.caps.effective, p->has.caps_known);
	if (p->has.caps.bounding != p->has.caps.effective) {
		buf_puts(out, "; bounding set ");
		put_caps(out, p->has.caps.bounding, p->has.caps_known);
	}
	buf_putc(out, '\n');
	put_place(out, p);
	put_restrictions(out, p);
	put_workload(s, out, r);
}

// --- for programs ---------------------------------------------------------------------------------------

static void put_set(struct buf *out, const char *key, uint64_t set) {
	buf_putf(out, "%s\": [%s", key, set ? "\"" : "");
	caps_put(out, set, "\", \"");
	buf_puts(out, set ? "\"]" : "]");
}

static void put_sets(struct buf *out, const char *key, const struct cap_sets *sets) {
	json_put_key(out, key);
	put_set(out, "{\"effective", sets->effective);
	put_set(out, ", \"permitted", sets->permitted);
	put_set(out, ", \"inheritable", sets->inheritable);
	put_set(out, ", \"bounding", sets->bounding);
	put_set(out, ", \"ambient", sets->ambient);
	buf_putc(out, '}');
}

static void put_json_ids(struct buf *out, const struct credentials *c) {
	buf_putf(out, "\"uid\": %u, \"gid\": %u, \"groups\": [", c->uid[ID_EFFECTIVE], c->gid[ID_EFFECTIVE]);
	for (uint32_t i = 0; i < c->n_groups; i++) {
		buf_putf(out, "%s%u", i ? ", " : "", c->groups[i]);
	}
	buf_putc(out, ']');
}

static void put_json_signals(struct buf *out, const char *key, const struct process *p, uint64_t set) {
	const char *before = "";
	json_put_key(out, key);
	if (!p->has_signals) {
		buf_puts(out, "null");
		return;
	}
	buf_putc(out, '[');
	for (unsigned number = 1; number <= 64; number++) {
		if (set >> (number - 1) & 1) {
			buf_putf(out, "%s%u", before, number);
			before = ", ";
		}
	}
	buf_putc(out, ']');
}

static void put_json_workload(struct buf *out, const struct process_report *r) {
	buf_puts(out, ",\n    \"workload\": ");
	if (r->error) {
		buf_puts(out, "null,\n    \"workload_error\": ");
		json_put_text(out, r->error);
		return;
	}
	buf_putc(out, '{');
	put_json_ids(out, &r->workload);
	put_set(out, ", \"capabilities", r->workload_caps);
	put_set(out, ", \"bounding", r->workload.caps.bounding);
	json_put_fact(out, "no_new_privs", r->workload.no_new_privs);
	buf_puts(out, "},\n    \"workload_error\": null");
}

void explain_process_json(const struct process_report *r, struct buf *out) {
	static const char *const modes[] = {"null", "\"off\"", "\"strict\"", "\"filter\""};
	const struct process *p = &r->process;
	buf_putf(out, "{\n    \"pid\": %u", p->pid);
	json_put_member(out, "container", p->container.kind);
	json_put_member(out, "container_by", p->container.by);
	buf_puts(out, ",\n    ");
	put_json_ids(out, &p->has);
	put_sets(out, "capabilities", &p->has.caps);
	buf_puts(out, ",\n    ");
	buf_putf(out, "\"seccomp\": %s", modes[p->seccomp + 1]);
	json_put_fact(out, "no_new_privs", p->has.no_new_privs);
	json_put_fact(out, "user_namespace", p->in_user_namespace);
	json_put_fact(out, "root_read_only", p->root_read_only);
	put_json_signals(out, "signals_ignored", p, p->ignored);
	put_json_signals(out, "signals_blocked", p, p->blocked);
	json_put_key(out, "memlock");
	if (p->memlock == UINT64_MAX) {
		buf_puts(out, "null");
	} else {
		buf_putu(out, p->memlock);
	}
	put_json_workload(out, r);
	buf_puts(out, "\n  }");
}
