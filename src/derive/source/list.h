// SPDX-License-Identifier: Apache-2.0

/*
 * The cluster managers, in the order in which distinit asks them. First come managers whose
 * variables are unmistakable and set inside this container. Then come managers whose variables leak
 * in from outside. A Slurm step comes before its allocation, which is weaker evidence: variables of
 * an allocation travel through ssh, salloc shells and docker's --env-file.
 *
 * This is the only list: the table (flow/tables.c), the build (src/meson.build) and the tests
 * follow from it.
 *
 *     SOURCE(name)               source_name in src/derive/source/name.c, a manager with its own functions
 *     ROW(name)                  source_name in src/derive/source/rows.c, a manager that is a table row
 *     SOURCE_AGAIN(name, when)   source_name_when, a second test or row, beside source_name
 *
 * The cases of SOURCE(name) and ROW(name) are in tests/vectors/name.txt.
 */

// clang-format off
SOURCE(manual) // given by the user
SOURCE(hostfile)
SOURCE(read)
SOURCE(backendai) // the manager sets its variables in this container
// Clouds, and managers that run on top of others: unmistakable names, in each container.
SOURCE(skypilot)
ROW(dstack)
ROW(lepton)
ROW(beaker)
ROW(baseten)
ROW(saturn)
ROW(snowflake)
ROW(ngc)
ROW(sensecore) // it is also a PyTorch job (below), whose variables count processes
ROW(volcengine)
ROW(arnold)
ROW(taiji)
ROW(googlebatch)
ROW(openpai)
SOURCE(sagemaker)
SOURCE(valohai) // looks at the file system, but only where Valohai is
SOURCE(vertex)
ROW(metaflow) // runs on top of AWS Batch, or of an Indexed Job
SOURCE(awsbatch)
SOURCE(azureml) // runs on top of Azure Batch
SOURCE(azurebatch)
// Set by the controller of this pod.
SOURCE(trainjob)
SOURCE_AGAIN(trainjob, xgboost)
ROW(pytorchjob)
ROW(paddlejob)
ROW(jaxjob)
ROW(xgboostjob)
SOURCE(xpk) // common names, but only xpk sets all of them
SOURCE_AGAIN(xpk, cpus)
ROW(gpurecipes) // likewise
ROW(flyte) // likewise
ROW(axlearn)
SOURCE(lws) // before tpu, which counts only containers with TPUs
SOURCE(grove) // only a leader and its workers
ROW(rbg)
ROW(kthena) // common names, but all three must be set
SOURCE(aibrix)
SOURCE(volcano)
SOURCE(tpu)
SOURCE(tfjob)
ROW(ascend) // before others that read RANK; its LOCAL_RANK is a list
ROW(tione) // its RANK equals INDEX; jobs of the operators above set more variables
SOURCE(pai)
SOURCE(mpijob)
// Variables that leak in from outside.
ROW(hyperqueue) // its workers run in jobs of the managers below, whose variables leak
SOURCE(flux) // a manager below often starts its brokers, and that manager's variables leak
ROW(spur)     // it sets most of Slurm's variables, too
SOURCE(crane) // it may set some of Slurm's variables
SOURCE(slurm)
SOURCE(lsf)
ROW(pbs)
SOURCE(gridengine)
ROW(cobalt)
ROW(loadleveler)
ROW(oar)
ROW(pjm)
SOURCE(slurm_allocation)
// Numbered replicas, which may also be independent of each other.
ROW(brainpp)
SOURCE_AGAIN(brainpp, rlaunch) // its second row
// Names that any user or manager may set, also next to the variables of all above.
ROW(mithril)
ROW(plain)
ROW(vessl) // RANK is a node's, unless a manager above is recognised
// Not a whole cluster, but a master or an index.
ROW(determined)
SOURCE(htcondor)
SOURCE(indexedjob)
ROW(nomad)
SOURCE_AGAIN(backendai, alone) // a container that belongs to no cluster
SOURCE_AGAIN(sagemaker, platform) // looks at the file system, so it comes last
