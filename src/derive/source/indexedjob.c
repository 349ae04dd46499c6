// SPDX-License-Identifier: Apache-2.0

/**
 * Indexed Jobs of Kubernetes, also those of a JobSet. A pod has
 *
 *     JOB_COMPLETION_INDEX=2        and the host name JOB-2
 *
 * There is neither a size nor a list of hosts. The user gives the size with --nnodes. The names
 * follow from this pod's full name. If the pod has a subdomain, the kubelet writes the full name
 * into /etc/hosts:
 *
 *     10.244.1.7	train-2.train-svc.default.svc.cluster.local	train-2
 *
 * The pods of a JobSet are called "SET-GROUP-JOB-INDEX.SET...". A group may have several jobs, each
 * of which counts from 0, and no variable shows how many jobs it has. So in a JobSet, no master is
 * assumed without --nnodes, and none in a second job even with it. With network.subdomain the domain
 * does not begin with the name of the set, and a plain Job may be called "exp-2": such a name only
 * causes a warning.
 *
 * Reference: "Indexed Job" in the documentation of Kubernetes; pkg/kubelet/kubelet_pods.go;
 * JobSet's examples.
 */

#include "base/num.h"
#include "cluster/source.h"
#include "source/pods.h"

#include <errno.h>

#define INDEX "JOB_COMPLETION_INDEX"

/** The kubelet's file has one line per alias of the pod. */
#define HOSTS_FILE_BYTES ((size_t)1 << 20)

/** The name in @line of /etc/hosts that starts with @label and a dot; empty if there is none. */
static struct str full_name_in(struct str line, struct str label) {
	struct str word;
	line.len = str_find(line, '#');
	while (str_word(&line, &word)) {
		if (word.len > label.len + 1 && str_starts(word, label) && word.p[label.len] == '.') {
			return word;
		}
	}
	return STR("");
}

/** This pod's name with its domain; empty if it has none. */
static struct str full_name(struct input *in) {
	struct str self = str_of(input_hostname(in)), label = host_label(self), text, line, name = {0};
	struct err absent;
	if (label.len < self.len) {
		return self;
	}
	if (label.len == 0 ||
	    input_read_file(in, "the file", "/etc/hosts", HOSTS_FILE_BYTES, &text, &absent) < 0) {
		return STR("");
	}
	while (name.len == 0 && str_cut(&text, '\n', &line)) {
		name = full_name_in(line, label);
	}
	return name;
}

/** The number of this pod's job in its group of a JobSet; UNKNOWN if the pod is not in a JobSet. */
static uint32_t job_in_set(const struct pod_name *pod) {
	struct str set = host_label(str_from(pod->suffix, 1));
	struct pod_name job;
	bool named =
		str_starts(pod->prefix, set) && pod->prefix.len > set.len && pod->prefix.p[set.len] == '-';
	struct str without_dash = {pod->prefix.p, pod->prefix.len - 1};
	return named && pod_read(without_dash, &job) && job.prefix.len > set.len + 1 ? job.index : UNKNOWN;
}

/** @prefix without the number of a job: "exp-workers-" of "exp-workers-1-". *@job is set to that number. */
static struct str group_of(struct str prefix, uint32_t *job) {
	struct pod_name name;
	struct str label = {prefix.p, prefix.len - 1};
	if (!pod_read(label, &name)) {
		return prefix;
	}
	*job = name.index;
	return name.prefix;
}

/** Warn if --nnodes seems to count pods of several jobs: each job has a pod 0. */
static void doubt_count(struct input *in, struct str self, const struct pod_name *pod, uint32_t n) {
	const char *set = env_value(in->env, "MASTER_ADDR"),
		   *from = set ? "MASTER_ADDR" : in->master_addr.from;
	struct str addr = str_of(set ? set : in->master_addr.value);
	struct pod_name master;
	uint32_t job = 0, other;
	struct str group = group_of(pod->prefix, &job);
	if (job > 0 && job < n) {
		notes_add(in->notes,
			  "%s is named like a pod of job %u of a JobSet, where each job counts from 0: "
			  "if it is one, its node rank is wrong; "
			  "list the pods of all jobs with --hosts, or, if each job has one pod, "
			  "pass --read='hosts=SET-GROUP-{i}-0.DOMAIN node-rank=JOB_INDEX', "
			  "with JOB_INDEX from metadata.labels['jobset.sigs.k8s.io/job-index']",
			  quote(self).s, job);
	}
	bool sibling = pod_read(addr, &master) && master.suffix.len && pod->suffix.len &&
		       str_eq(host_label(str_from(master.suffix, 1)), host_label(str_from(pod->suffix, 1)));
	if (sibling && !str_eq(group_of(master.prefix, &other), group)) {
		notes_add(in->notes,
			  "%s=%s is named like the hosts of %s, but is none of them: "
			  "%s=%u counts the pods of one job; list those of all jobs with --hosts",
			  from, quote(addr).s, in->nnodes.from, in->nnodes.from, n);
	}
}

static int indexedjob_read(struct input *in, struct placement *out, struct err *err) {
	out->node_rank_from = INDEX;
	int r = read_u32(in, INDEX, &out->node_rank, err);
	uint32_t n = given_nnodes(in);
	struct str self = r < 0 ? STR("") : full_name(in);
	struct pod_name pod;
	if (self.len == 0 && n != UNKNOWN) {
		out->hosts_lack = "the pods' names: "
				  "set 'subdomain:' in the pod template to the name of a headless service, "
				  "or pass --hosts or --master-addr";
	}
	if (self.len == 0 || !pod_read(self, &pod)) {
		return r;
	}
	if (pod.index != out->node_rank && !(in->found.launcher && in->found.launcher->copies_env)) {
		return r; // this is not the name of a pod of this job
	}
	uint32_t job = job_in_set(&pod);
	if (n != UNKNOWN && n > 1 && job != UNKNOWN && job != 0) {
		return err_set(err, EINVAL,
			       "%s belongs to job %u of a JobSet, where each job counts from 0: "
			       "%s=%u does not give its node rank; pass --hosts and --node-rank",
			       quote(self).s, job, in->nnodes.from, n);
	}
	if (n == UNKNOWN && job != UNKNOWN) {
		return 0;
	}
	struct buf names = BUF(in->arena);
	pods_put(&names, pod.prefix, 0, n == UNKNOWN ? 1 : n, pod.suffix);
	if (n == UNKNOWN) {
		out->master_addr = (struct str){buf_text(&names), names.len - 1};
		out->master_addr_from = "pod 0, named like this pod in /etc/hosts";
		return 0;
	}
	doubt_count(in, self, &pod, n);
	r = check_below(INDEX, out->node_rank, in->nnodes.from, n, err);
	return r < 0 ? r : place_hosts(in, in->nnodes.from, buf_text(&names), ',', out, err);
}

const struct source source_indexedjob = {
	.name = "indexedjob",
	.about = "Kubernetes Indexed Job, also in a JobSet",
	.reads = READS(INDEX, "/etc/hosts"),
	.leaves = "MASTER_ADDR, RANK and the like: here, only users set them",
	.lacks = "the number of pods: pass --nnodes; "
		 "without 'subdomain' in the pod template, their names: "
		 "set it, or pass --hosts or --master-addr",
	.row = "with#=" INDEX,
	.read = indexedjob_read,
};
