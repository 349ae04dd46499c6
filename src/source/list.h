// SPDX-License-Identifier: Apache-2.0

/*
 * The cluster managers, in the order in which they are asked. First those that cannot be mistaken and set their
 * variables inside the very container; then those whose variables leak inwards from outside. A Slurm step comes before
 * its allocation, which is weaker evidence: its variables travel through ssh, salloc shells and docker's --env-file.
 *
 * This is the one list: the table (flow/tables.c), the build (src/meson.build) and the tests follow from it. SOURCE(name)
 * stands for `source_name` in src/source/name.c, with the cases of tests/vectors/name.txt. SOURCE_AGAIN(name, when) stands
 * for `source_name_when` in the same file: a manager that is asked a second time, by weaker evidence.
 */

SOURCE(manual) // the user's word
SOURCE(hostfile)
SOURCE(backendai) // set by the manager in this very container
// Clouds and what runs on top of others: unmistakable names, in each container.
SOURCE(skypilot)
SOURCE(sagemaker)
SOURCE(vertex)
SOURCE(awsbatch)
SOURCE(azureml) // on top of the next
SOURCE(azurebatch)
// Set by the controller of this very pod.
SOURCE(trainjob)
SOURCE(pytorchjob)
SOURCE(jaxjob)
SOURCE(xgboostjob)
SOURCE(lws) // before what counts its TPUs only
SOURCE(volcano)
SOURCE(tpu)
SOURCE(tfjob)
SOURCE(pai)
SOURCE(mpijob)
// What leaks inwards.
SOURCE(flux) // its brokers are often started by one of the next, whose variables leak
SOURCE(slurm)
SOURCE(lsf)
SOURCE(pbs)
SOURCE(gridengine)
SOURCE(cobalt)
SOURCE(loadleveler)
SOURCE(slurm_allocation)
// No cluster, but a master or an index.
SOURCE(determined)
SOURCE(htcondor)
SOURCE(indexedjob)
SOURCE(nomad)
SOURCE_AGAIN(backendai, alone) // describes a container that belongs to nothing larger
SOURCE_AGAIN(sagemaker, platform) // a look at the file system, which nobody else should pay for
