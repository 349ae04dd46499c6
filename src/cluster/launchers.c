// SPDX-License-Identifier: Apache-2.0

#include "cluster/source.h"

#include <stddef.h>

/*
 * The innermost first: an inner launcher is always started by an outer one, whose variables leak into it, and never the other
 * way round.
 */
const struct launcher *const launchers[] = {
	&launcher_torchrun, // its children are complete
	&launcher_openmpi,
	&launcher_mvapich2,
	&launcher_pals,
	&launcher_hydra,
	&launcher_azureml,
	&launcher_jsrun,
	&launcher_flux,
	&launcher_slurm, // may have started any of the above
	&launcher_pmi,	 // two names that most of the above set too
	NULL,
};

void launcher_reads(const struct launcher *l, const char *out[LAUNCHER_READS]) {
	const char *const names[] = {l->recognised_by, l->rank, l->size, l->local_rank,
				     l->local_size,    l->host, l->node};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i]) {
			*out++ = names[i];
		}
	}
	*out = NULL;
}
