// SPDX-License-Identifier: Apache-2.0

/**
 * Jobs of Volcano, with its plugins svc and env. The second worker of a job "lm" has
 *
 *     VC_MASTER_HOSTS=lm-master-0.lm                   VC_MASTER_NUM=1
 *     VC_WORKER_HOSTS=lm-worker-0.lm,lm-worker-1.lm    VC_WORKER_NUM=2
 *     VC_TASK_INDEX=1                                  the index in this pod's task
 *
 * With svc's --inject-hosts-env=false (1.16), which large jobs need, only the files say it, one host a line:
 *
 *     /etc/volcano/master.host   /etc/volcano/worker.host
 *
 * The framework's plugin, if there is one, shows which tasks are the nodes:
 *
 *     pytorch   MASTER_ADDR=lm-master-0.lm  WORLD_SIZE=3  RANK=2   the master's task and one other
 *     mpi       MPI_HOST=lm-worker-0.lm,lm-worker-1.lm     the workers; set in the master only
 *
 * With mpi, the master runs mpirun. Without a plugin, all tasks are nodes, except parameter servers
 * and evaluators. A task "master" or "chief" is first, the others are sorted by name: this order is
 * the same everywhere. TorchX makes a task of each replica (TRAINER_0, TRAINER_1, ...), so numbers
 * sort as numbers.
 *
 * ModelArts of Huawei Cloud runs on it. There, MA_TASK_NAME=worker is the task of this pod, and
 * MA_NUM_GPUS=8 the processes for each node.
 *
 * The host name, which is the pod's name, identifies this node. With the network of the host, it is
 * the machine's name. Then RANK identifies the node, or VC_TASK_INDEX in a job with one task.
 *
 * With its plugin ssh, all pods have the job's key, by default in /root/.ssh (ssh-key-file-path).
 *
 * Reference: pkg/controllers/job/plugins/svc, .../ssh, .../env, .../distributed-framework of Volcano;
 * kubernetes_scheduler.py of TorchX.
 */

#include "base/buf.h"
#include "base/num.h"
#include "cluster/source.h"
#include "source/pods.h"

#include <errno.h>
#include <stdlib.h>

#define HOSTS "VC_*_HOSTS"
#define INDEX "VC_TASK_INDEX"
#define ADDR  "MASTER_ADDR"
#define SIZE  "WORLD_SIZE"
#define RANK  "RANK"
#define MPI   "MPI_HOST"
#define TASK  "MA_TASK_NAME"
#define GPUS  "MA_NUM_GPUS"
#define KEY   "/root/.ssh/id_rsa"

/** The folder of the files, how their names end, and how long a file may be. */
#define FOLDER	   "/etc/volcano"
#define FILE_END   ".host"
#define FILES	   "/etc/volcano/*.host"
#define FILE_BYTES ((size_t)4 << 20)

struct task_hosts {
	/** "WORKER" */
	struct str name;
	/** The hosts, joined by ','; and what says them: "VC_WORKER_HOSTS", or a file. */
	const char *list;
	const char *from;
	/** The number of hosts in the list. */
	uint32_t n;
};

/** Whether @entry is VC_<TASK> with @end, "_HOSTS" or "_NUM"; *@out is set only then. */
static bool read_task_name(const struct env_entry *entry, const char *end, struct task_hosts *out) {
	struct str name = env_entry_name(entry);
	const struct str head = STR("VC_"), tail = str_of(end);
	if (!str_starts(name, head) || name.len <= head.len + tail.len ||
	    !str_eq(str_from(name, name.len - tail.len), tail) || entry->state != ENV_LIVE ||
	    !*env_entry_value(entry)) {
		return false;
	}
	*out = (struct task_hosts){.name = {name.p + head.len, name.len - head.len - tail.len},
				   .list = env_entry_value(entry),
				   .n = 1};
	return true;
}

static const char *volcano_detect(const struct input *in) {
	struct task_hosts task;
	for (uint32_t i = 0; i < in->env->n; i++) {
		if (read_task_name(&in->env->entries[i], "_HOSTS", &task)) {
			return HOSTS;
		}
	}
	return env_value(in->env, INDEX) && input_has_file(in, FOLDER) ? FOLDER : NULL;
}

static size_t count_digits(struct str text) {
	size_t n = 0;
	while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9') {
		n++;
	}
	return n;
}

/** Compare as text, but numbers by value: "TRAINER_2" comes before "TRAINER_10". */
static int compare_names(struct str a, struct str b) {
	for (; a.len && b.len; a = str_from(a, 1), b = str_from(b, 1)) {
		size_t n = count_digits(a), m = count_digits(b);
		if (n && m && n != m) {
			return n < m ? -1 : 1;
		}
		if (*a.p != *b.p) {
			return *a.p < *b.p ? -1 : 1;
		}
	}
	return (a.len > 0) - (b.len > 0);
}

/** Masters sort before all others. */
static int compare_tasks(const void *first, const void *second) {
	const struct task_hosts *a = first, *b = second;
	bool a_leads = str_is(a->name, "MASTER") || str_is(a->name, "CHIEF");
	bool b_leads = str_is(b->name, "MASTER") || str_is(b->name, "CHIEF");
	return a_leads == b_leads ? compare_names(a->name, b->name) : b_leads - a_leads;
}

/** The variable of @task with this @tail: "VC_WORKER_NUM". */
static const char *variable_of(struct input *in, const struct task_hosts *task, const char *tail) {
	struct buf name = BUF(in->arena);
	buf_puts(&name, "VC_");
	buf_put(&name, task->name);
	buf_puts(&name, tail);
	return buf_text(&name);
}

/** Count the hosts of @task. VC_<TASK>_NUM must agree with the list. */
static int count_hosts(struct input *in, struct task_hosts *task, struct err *err) {
	for (const char *p = task->list; *p; p++) {
		task->n += *p == ',';
	}
	uint32_t number = task->n;
	const char *name = variable_of(in, task, "_NUM");
	int r = read_u32(in, name, &number, err);
	if (r == 0 && number != task->n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u" MANAGERS_COUNT, name, number, task->from,
			       task->n);
	}
	return r;
}

/** The plugin that determines which tasks are the nodes. */
enum plugin { PLUGIN_NONE, PLUGIN_PYTORCH, PLUGIN_MPI };

struct job {
	/** All tasks, in order. */
	const struct task_hosts *all;
	uint32_t n_all;
	/** The same; later only those whose pods are the nodes. */
	struct task_hosts *tasks;
	uint32_t n;
	enum plugin plugin;
};

/** Check that the pods that @entry, a VC_<TASK>_NUM, counts are listed. Returns 0; -EINVAL. */
static int check_listed(struct input *in, const struct env_entry *entry, struct err *err) {
	struct task_hosts task;
	uint32_t n;
	if (!read_task_name(entry, "_NUM", &task) || num_read_u32(str_of(task.list), &n) < 0 || n == 0) {
		return 0;
	}
	return need_value(in, variable_of(in, &task, "_HOSTS"), variable_of(in, &task, "_NUM"), &task.list,
			  err);
}

/** Read the task of the file @name, "worker.host". */
static int read_task_file(struct input *in, struct str name, struct task_hosts *out, struct err *err) {
	char *path = arena_format(in->arena, FOLDER "/%.*s", (int)name.len, name.p);
	char *upper = arena_text(in->arena, name.p, name.len - (sizeof(FILE_END) - 1));
	struct str text;
	int r = input_read_file(in, "Volcano's", path, FILE_BYTES, &text, err);
	if (r < 0) {
		return r;
	}
	for (char *p = upper; *p; p++) {
		*p = variable_char(*p);
	}
	while (text.len && text.p[text.len - 1] == '\n') {
		text.len--;
	}
	char *list = arena_text(in->arena, text.p, text.len);
	for (char *p = list; *p; p++) {
		*p = *p == '\n' ? ',' : *p;
	}
	*out = (struct task_hosts){.name = str_of(upper), .list = list, .from = path, .n = 1};
	return count_hosts(in, out, err);
}

/** Collect the tasks of the files, which are read only if no variable has hosts. */
static int collect_files(struct input *in, struct job *job, struct err *err) {
	struct str names, name;
	int r = input_names(in, FOLDER, &names, err);
	if (r < 0) {
		return r;
	}
	job->tasks = arena_array(in->arena, names.len, sizeof(*job->tasks));
	while (r == 0 && str_cut(&names, '\n', &name)) {
		if (name.len > sizeof(FILE_END) - 1 &&
		    str_is(str_from(name, name.len - (sizeof(FILE_END) - 1)), FILE_END)) {
			r = read_task_file(in, name, &job->tasks[job->n++], err);
		}
	}
	return r == 0 && !job->n ? err_set(err, ENOENT,
					   INDEX " is set, but neither " HOSTS " nor a file " FILES
						 " lists hosts; the plugin svc makes both, or pass --hosts")
				 : r;
}

static int collect_variables(struct input *in, struct job *job, struct err *err) {
	int r = 0;
	job->tasks = arena_array(in->arena, in->env->n, sizeof(*job->tasks));
	for (uint32_t i = 0; r == 0 && i < in->env->n; i++) {
		struct task_hosts *task = &job->tasks[job->n];
		if (read_task_name(&in->env->entries[i], "_HOSTS", task)) {
			task->from = variable_of(in, task, "_HOSTS");
			r = count_hosts(in, task, err);
			job->n++;
		} else {
			r = check_listed(in, &in->env->entries[i], err);
		}
	}
	return r;
}

static int collect_tasks(struct input *in, struct job *job, struct err *err) {
	int r = collect_variables(in, job, err);
	r = r < 0 || job->n ? r : collect_files(in, job, err);
	qsort(job->tasks, job->n, sizeof(*job->tasks), compare_tasks);
	struct task_hosts *all = arena_array(in->arena, job->n, sizeof(*all));
	memcpy(all, job->tasks, job->n * sizeof(*all));
	job->all = all;
	job->n_all = job->n;
	return r;
}

/** Keep only the workers' task, which the mpi plugin lists. */
static bool keep_mpi(const struct input *in, struct job *job) {
	const char *workers = env_value(in->env, MPI);
	for (uint32_t i = 0; workers && i < job->n; i++) {
		if (strcmp(workers, job->tasks[i].list) == 0) {
			job->tasks = &job->tasks[i];
			job->n = 1;
			job->plugin = PLUGIN_MPI;
			return true;
		}
	}
	return false;
}

/** The task whose first host is MASTER_ADDR, or job->n. */
static uint32_t find_master(const struct job *job, struct str addr) {
	uint32_t m = 0;
	for (; m < job->n; m++) {
		struct str list = str_of(job->tasks[m].list);
		if (list.p && str_eq(addr, (struct str){list.p, str_find(list, ',')})) {
			break;
		}
	}
	return m;
}

/** Keep only the tasks of the master and the workers, by the pytorch plugin. They may have other names. */
static int keep_pytorch(struct input *in, struct job *job, struct err *err) {
	struct str addr = str_of(env_value(in->env, ADDR));
	uint32_t size, m = find_master(job, addr), w = job->n, other = w;
	if (m == job->n || num_read_u32(str_of(env_value(in->env, SIZE)), &size) < 0) {
		return 0;
	}
	struct task_hosts *tasks = job->tasks, master = tasks[m];
	for (uint32_t i = 0; i < job->n && (w == job->n || !str_is(tasks[w].name, "WORKER")); i++) {
		if (i != m && master.n + tasks[i].n == size) {
			other = str_is(tasks[i].name, "WORKER") ? job->n : w;
			w = i;
		}
	}
	if (other < job->n) {
		return err_set(err, EINVAL, ADDR "=%s with " SIZE "=%u matches both %s and %s; pass --hosts",
			       quote(addr).s, size, tasks[other].from, tasks[w].from);
	}
	if (w < job->n) {
		tasks[1] = tasks[w];
		tasks[0] = master;
		job->n = 2;
		job->plugin = PLUGIN_PYTORCH;
	} else if (master.n == size) {
		job->tasks = &tasks[m];
		job->n = 1;
		job->plugin = PLUGIN_PYTORCH;
	}
	return 0;
}

/** Remove TensorFlow's parameter servers and evaluators, unless there are no other tasks. */
static void keep_trainers(struct job *job) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < job->n; i++) {
		if (!str_is(job->tasks[i].name, "PS") && !str_is(job->tasks[i].name, "EVALUATOR")) {
			job->tasks[n++] = job->tasks[i];
		}
	}
	job->n = n ? n : job->n;
}

/** Whether the pod @self belongs to any task, even one without nodes. */
static bool is_some_pod(const struct input *in, const struct job *job, struct str self) {
	for (uint32_t i = 0; i < job->n_all; i++) {
		struct hosts hosts;
		struct err unused;
		if (hosts_split(in->arena, HOSTS, job->all[i].list, ',', &hosts, NULL, &unused) == 0 &&
		    hosts_find_loosely(&hosts, self) < hosts.n) {
			return true;
		}
	}
	return false;
}

/** RANK, if it has the value that the pytorch plugin sets (VC_TASK_INDEX + 1 in a worker); or UNKNOWN. */
static uint32_t pytorch_rank(const struct input *in, uint32_t nodes) {
	uint32_t rank, index;
	bool known = num_read_u32(str_of(env_value(in->env, RANK)), &rank) == 0 &&
		     num_read_u32(str_of(env_value(in->env, INDEX)), &index) == 0;
	return known && rank < nodes && index == (rank ? rank - 1 : 0) ? rank : UNKNOWN;
}

/** Whether @task, a name such as "my-worker", is that of VC_MY_WORKER_HOSTS. */
static bool is_called(const struct task_hosts *hosts, struct str task) {
	bool same = hosts->name.len == task.len;
	for (size_t i = 0; same && i < task.len; i++) {
		char c = task.p[i] == '-' ? '_' : task.p[i];
		same = hosts->name.p[i] == (c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	return same;
}

/** The node rank of pod VC_TASK_INDEX of MA_TASK_NAME, or UNKNOWN. */
static uint32_t modelarts_rank(const struct input *in, const struct job *job) {
	struct str task = str_of(env_value(in->env, TASK));
	uint32_t first = 0, index;
	for (uint32_t i = 0; task.len && i < job->n; first += job->tasks[i++].n) {
		if (is_called(&job->tasks[i], task)) {
			bool known = num_read_u32(str_of(env_value(in->env, INDEX)), &index) == 0;
			return known && index < job->tasks[i].n ? first + index : UNKNOWN;
		}
	}
	return UNKNOWN;
}

/** Find the node rank if the host name does not give it. A pod that is not a node has none. */
static void find_rank(struct input *in, const struct job *job, struct str self, struct placement *out) {
	if (job->plugin == PLUGIN_MPI || is_some_pod(in, job, self)) {
		return;
	}
	out->node_rank = modelarts_rank(in, job);
	if (out->node_rank == UNKNOWN && job->plugin == PLUGIN_PYTORCH) {
		out->node_rank_from = RANK;
		out->node_rank = pytorch_rank(in, out->hosts.n);
	}
	if (out->node_rank == UNKNOWN) {
		notes_add(
			in->notes,
			"this host, %s, is not in VC_*_HOSTS, so its node rank is not known; pass --hostname",
			quote(self).s);
	}
}

static int read_hosts(struct input *in, const struct job *job, struct placement *out, struct err *err) {
	struct buf names = BUF(in->arena);
	for (uint32_t i = 0; i < job->n; i++) {
		buf_puts(&names, job->tasks[i].list);
		buf_putc(&names, ',');
	}
	out->node_rank_from = INDEX;
	const bool by_files = job->n_all && job->all[0].from[0] == '/';
	return place_hosts(in, by_files ? FILES : HOSTS, buf_text(&names), ',', out, err);
}

static int volcano_read(struct input *in, struct placement *out, struct err *err) {
	struct job job = {0};
	int r = collect_tasks(in, &job, err);
	bool alone = job.n == 1;
	if (r == 0 && !keep_mpi(in, &job)) {
		r = keep_pytorch(in, &job, err);
		if (job.plugin == PLUGIN_NONE) {
			keep_trainers(&job);
		}
	}
	r = r < 0 ? r : read_hosts(in, &job, out, err);
	if (r < 0) {
		return r;
	}
	out->secret_file = KEY;
	out->scope = job.plugin == PLUGIN_MPI ? SCOPE_ALLOCATION : SCOPE_NODE;
	read_nproc(in, GPUS, out);
	struct str self = str_of(input_hostname(in));
	uint32_t index = hosts_find_loosely(&out->hosts, self);
	if (index < out->hosts.n) {
		out->node_rank = index;
	} else if (alone) {
		return need_u32(in, INDEX, HOSTS, &out->node_rank, err);
	} else {
		find_rank(in, &job, self, out);
	}
	return 0;
}

const struct source source_volcano = {
	.name = "volcano",
	.about = "Volcano job with the svc plugin; ModelArts",
	.known_by = HOSTS ", or " INDEX " with the folder " FOLDER,
	.reads = READS(HOSTS, "VC_*_NUM", INDEX, FILES, ADDR, SIZE, RANK, MPI, TASK, GPUS, KEY),
	.leaves = "tasks that do not train (ps, evaluator, mpirun's); VK_TASK_INDEX",
	.lacks = "the name of this pod's task, except for ModelArts: the host name must be the pod's name",
	.detect = volcano_detect,
	.read = volcano_read,
};
