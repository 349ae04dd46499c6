// SPDX-License-Identifier: Apache-2.0

#include "cluster/source.h"

#include "base/buf.h"

/*
 * The order in which the managers are asked: first what cannot be mistaken and is set inside the very container, then
 * what leaks inwards from outside. A Slurm step stands above its allocation, which is the weaker evidence: its variables travel
 * through ssh, salloc shells and docker's --env-file.
 */
const struct source *const sources[] = {
	&source_manual, // the user's word
	&source_hostfile,
	&source_backendai, // set by the manager in this very container
	// Clouds and what runs on top of others: unmistakable names, in each container.
	&source_skypilot,
	&source_sagemaker,
	&source_vertex,
	&source_awsbatch,
	&source_azureml, // on top of the next
	&source_azurebatch,
	// Set by the controller of this very pod.
	&source_trainjob,
	&source_pytorchjob,
	&source_jaxjob,
	&source_xgboostjob,
	&source_lws, // before what counts its TPUs only
	&source_volcano,
	&source_tpu,
	&source_tfjob,
	&source_pai,
	&source_mpijob,
	// What leaks inwards.
	&source_flux, // its brokers are often started by one of the next, whose variables leak
	&source_slurm,
	&source_lsf,
	&source_pbs,
	&source_gridengine,
	&source_cobalt,
	&source_loadleveler,
	&source_slurm_allocation,
	// No cluster, but a master or an index.
	&source_determined,
	&source_htcondor,
	&source_indexedjob,
	&source_nomad,
	&source_backendai_alone,    // describes a container that belongs to nothing larger
	&source_sagemaker_platform, // a look at the file system, which nobody else should pay for
	NULL,
};

const char *source_detect(const struct input *in, const struct source *source) {
	return source->detect ? source->detect(in) : row_detect(in, source->row);
}

const char *const *source_reads(struct arena *arena, const struct source *source) {
	if (source->reads) {
		return source->reads;
	}
	const char **names = arena_array(arena, ROW_FIELDS + 1, sizeof(*names));
	size_t n = 0;
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if (source->row->variables[i]) {
			names[n++] = source->row->variables[i];
		}
	}
	names[n] = NULL;
	return names;
}

const char *source_known_by(struct arena *arena, const struct source *source) {
	if (source->known_by) {
		return source->known_by;
	}
	struct buf words = BUF(arena);
	buf_puts(&words, source->row->variables[source->row->known_by]);
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if (source->row->known_with & ROW_BIT(i)) {
			buf_puts(&words, " and ");
			buf_puts(&words, source->row->variables[i]);
		}
	}
	return buf_text(&words);
}
