// SPDX-License-Identifier: Apache-2.0

/*
 * The launchers, the innermost first. An outer launcher starts an inner one, so variables leak from
 * the outer to the inner launcher, never the other way.
 *
 * This is the only list: the table (flow/tables.c) follows from it. LAUNCHER(name) stands for
 * `launcher_name` in rows.c.
 */

// clang-format off
LAUNCHER(torchrun) // its child processes have all variables
LAUNCHER(deepspeed) // likewise
LAUNCHER(horovod) // its ranks start no other launcher; any launcher below may have started it
LAUNCHER(openmpi)
LAUNCHER(mvapich2)
LAUNCHER(prrte) // Open MPI 5 is built on it
LAUNCHER(pals)
LAUNCHER(hydra)
LAUNCHER(mvapich) // its mpiexec is Hydra, which also names the host
LAUNCHER(azureml)
LAUNCHER(jsrun)
LAUNCHER(flux)
LAUNCHER(spur)
LAUNCHER(crane)
LAUNCHER(slurm) // may have started any of the above
LAUNCHER(pmi)	 // most of the above also set its two variables
