// SPDX-License-Identifier: Apache-2.0

#include "cluster/source.h"

#include <stddef.h>

/*
 * The order in which the managers are asked: first what cannot be mistaken and is set inside the very container, then
 * what leaks inwards from outside. A Slurm step stands above its allocation, which is the weaker evidence: its variables travel
 * through ssh, salloc shells and docker's --env-file.
 */
const struct source *const sources[] = {
	&source_manual, // the user's word
	&source_hostfile,
	&source_backendai, // set by the manager in this very container
	&source_flux,	   // its brokers are often started by one of the next, whose variables leak
	&source_slurm,
	&source_lsf,
	&source_pbs,
	&source_gridengine,
	&source_cobalt,
	&source_loadleveler,
	&source_slurm_allocation,
	&source_htcondor,
	&source_backendai_alone, // describes a container that belongs to nothing larger
	NULL,
};
