// SPDX-License-Identifier: Apache-2.0

/*
 * The launchers, the innermost first: an outer launcher starts an inner one, and its variables leak into it, never the
 * other way round.
 *
 * This is the one list: the table (flow/tables.c) and the build (src/meson.build) follow from it. LAUNCHER(name) stands for
 * `launcher_name` in src/launcher/name.c.
 */

// clang-format off
LAUNCHER(torchrun) // its children are complete
LAUNCHER(horovod) // its ranks start no other; it may be started by any of the next
LAUNCHER(openmpi)
LAUNCHER(mvapich2)
LAUNCHER(pals)
LAUNCHER(hydra)
LAUNCHER(azureml)
LAUNCHER(jsrun)
LAUNCHER(flux)
LAUNCHER(slurm) // may have started any of the above
LAUNCHER(pmi)	 // two names that most of the above set too
