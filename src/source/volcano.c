// SPDX-License-Identifier: Apache-2.0

/**
 * Jobs of Volcano, with its plugins svc and env. The second worker of a job "lm" has
 *
 *     VC_MASTER_HOSTS=lm-master-0.lm                   VC_MASTER_NUM=1
 *     VC_WORKER_HOSTS=lm-worker-0.lm,lm-worker-1.lm    VC_WORKER_NUM=2
 *     VC_TASK_INDEX=1                                  a place in its own task, whose name stands nowhere
 *
 * The pods of all tasks are the nodes, those of a task "master" or "chief" first, then task by task in the order of the names: the
 * same everywhere. Which one this is its host name says, which is the pod's; where there is one task only, VC_TASK_INDEX does, too.
 *
 * Reference: pkg/controllers/job/plugins/svc, .../env of Volcano.
 */

#include "cluster/source.h"
#include "source/pods.h"

#include <errno.h>

/** More tasks than any job has. */
#define TASKS_MAX 64

#define INDEX "VC_TASK_INDEX"

struct task_hosts {
	/** "WORKER" */
	struct str name;
	const char *list;
};

/** Whether @entry is VC_<TASK>_HOSTS; *@out is set only then. */
static bool read_task_name(const struct env_entry *entry, struct task_hosts *out) {
	struct str name = env_entry_name(entry);
	const struct str head = STR("VC_"), tail = STR("_HOSTS");
	if (!str_starts(name, head) || name.len <= head.len + tail.len ||
	    !str_eq(str_from(name, name.len - tail.len), tail) || entry->state != ENV_LIVE ||
	    !*env_entry_value(entry)) {
		return false;
	}
	*out = (struct task_hosts){{name.p + head.len, name.len - head.len - tail.len},
				   env_entry_value(entry)};
	return true;
}

static const char *volcano_detect(const struct input *in) {
	struct task_hosts task;
	for (uint32_t i = 0; i < in->env->n; i++) {
		if (read_task_name(&in->env->entries[i], &task)) {
			return "VC_*_HOSTS";
		}
	}
	return NULL;
}

/** Masters sort before all others, which sort by their names. */
static int compare(const struct task_hosts *a, const struct task_hosts *b) {
	bool a_leads = str_is(a->name, "MASTER") || str_is(a->name, "CHIEF");
	bool b_leads = str_is(b->name, "MASTER") || str_is(b->name, "CHIEF");
	size_t n = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = memcmp(a->name.p, b->name.p, n);
	order = order ? order : (a->name.len > b->name.len) - (a->name.len < b->name.len);
	return a_leads == b_leads ? order : b_leads - a_leads;
}

static int collect_tasks(const struct env *env, struct task_hosts *tasks, uint32_t *n, struct err *err) {
	struct task_hosts task;
	for (uint32_t i = 0; i < env->n; i++) {
		if (!read_task_name(&env->entries[i], &task)) {
			continue;
		}
		if (*n == TASKS_MAX) {
			return err_set(err, EINVAL, "VC_*_HOSTS name more than %d tasks", TASKS_MAX);
		}
		uint32_t at = (*n)++;
		for (; at > 0 && compare(&task, &tasks[at - 1]) < 0; at--) {
			tasks[at] = tasks[at - 1];
		}
		tasks[at] = task;
	}
	return 0;
}

/** The number that goes with the list of hosts is theirs. */
static int check_num(struct input *in, const struct task_hosts *task, struct err *err) {
	struct buf name = BUF(in->arena), list = BUF(in->arena);
	uint32_t n = 1, told = UNKNOWN;
	buf_puts(&name, "VC_");
	buf_put(&name, task->name);
	buf_puts(&name, "_NUM");
	for (const char *p = task->list; *p; p++) {
		n += *p == ',';
	}
	int r = read_u32(in, buf_text(&name), &told, err);
	if (r == 0 && told != UNKNOWN && told != n) {
		buf_put(&list, task->name);
		return err_set(err, EINVAL, "%s=%u, but VC_%s_HOSTS lists %u", buf_text(&name), told,
			       buf_text(&list), n);
	}
	return r;
}

static int volcano_read(struct input *in, struct placement *out, struct err *err) {
	struct task_hosts tasks[TASKS_MAX];
	struct buf names = BUF(in->arena);
	uint32_t n = 0, empty;
	int r = collect_tasks(in->env, tasks, &n, err);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		buf_puts(&names, tasks[i].list);
		buf_putc(&names, ',');
		r = check_num(in, &tasks[i], err);
	}
	out->hosts_from = "VC_*_HOSTS";
	out->node_rank_from = INDEX;
	r = r < 0 ? r
		  : hosts_split(in->arena, out->hosts_from, buf_text(&names), ',', &out->hosts, &empty, err);
	if (r < 0) {
		return r;
	}
	struct str self = str_of(input_hostname(in));
	uint32_t place = hosts_find_loosely(&out->hosts, self);
	if (place < out->hosts.n) {
		out->node_rank = place;
	} else if (n == 1) {
		return need_u32(in, INDEX, out->hosts_from, &out->node_rank, err);
	} else {
		notes_add(in->notes,
			  "this host, %s, is none of VC_*_HOSTS, so that its node rank is not known; pass "
			  "--hostname",
			  quote(self).s);
	}
	return 0;
}

const struct source source_volcano = {
	.name = "volcano",
	.about = "Volcano job, with its plugin svc",
	.known_by = "VC_*_HOSTS",
	.reads = "VC_*_HOSTS VC_*_NUM " INDEX,
	.leaves = "VK_TASK_INDEX, /etc/volcano: the same again",
	.lacks = "the name of this pod's task: its host name has to be the pod's",
	.detect = volcano_detect,
	.read = volcano_read,
};
