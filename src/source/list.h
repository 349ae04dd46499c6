// SPDX-License-Identifier: Apache-2.0

/*
 * The cluster managers, in the order in which they are asked. First those that cannot be mistaken and set their
 * variables inside the very container; then those whose variables leak inwards from outside. A Slurm step comes before
 * its allocation, which is weaker evidence: its variables travel through ssh, salloc shells and docker's --env-file.
 *
 * This is the one list: the table (flow/tables.c), the build (src/meson.build) and the tests follow from it.
 *
 *     SOURCE(name)               source_name in src/source/name.c, with the cases of tests/vectors/name.txt
 *     ROW(name)                  source_name in src/source/rows.c, likewise: it only names variables
 *     SOURCE_AGAIN(name, when)   source_name_when in src/source/name.c: asked a second time, by weaker evidence
 */

// clang-format off
SOURCE(manual) // the user's word
SOURCE(hostfile)
SOURCE(read)
SOURCE(backendai) // set by the manager in this very container
// Clouds and what runs on top of others: unmistakable names, in each container.
ROW(skypilot)
ROW(dstack)
ROW(lepton)
ROW(ngc)
ROW(sensecore) // a PyTorch job below, whose own variables count processes
ROW(volcengine)
ROW(arnold)
ROW(taiji) // names that others may set, but three of them
ROW(googlebatch)
SOURCE(openpai)
SOURCE(sagemaker)
SOURCE(vertex)
ROW(metaflow) // on top of the next, or of an Indexed Job
SOURCE(awsbatch)
SOURCE(azureml) // on top of the next
SOURCE(azurebatch)
// Set by the controller of this very pod.
SOURCE(trainjob)
SOURCE(pytorchjob)
SOURCE(paddlejob)
SOURCE(jaxjob)
SOURCE(xgboostjob)
SOURCE(lws) // before what counts its TPUs only
SOURCE(grove) // its leader and workers
SOURCE(volcano)
SOURCE(tpu)
SOURCE(tfjob)
ROW(ascend) // before others that read RANK: its LOCAL_RANK is a list
SOURCE(pai)
SOURCE(mpijob)
// What leaks inwards.
SOURCE(flux) // its brokers are often started by one of the next, whose variables leak
SOURCE(slurm)
SOURCE(lsf)
SOURCE(pbs)
SOURCE(gridengine)
ROW(cobalt)
ROW(loadleveler)
ROW(oar)
ROW(pjm)
SOURCE(slurm_allocation)
// Numbered replicas, which may also have nothing to do with each other.
ROW(brainpp)
// Names that any user or manager may set, also beside those of all above.
ROW(plain)
// No cluster, but a master or an index.
ROW(determined)
ROW(htcondor)
SOURCE(indexedjob)
ROW(nomad)
SOURCE_AGAIN(backendai, alone) // describes a container that belongs to nothing larger
SOURCE_AGAIN(sagemaker, platform) // a look at the file system, which nobody else should pay for
