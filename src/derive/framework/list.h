// SPDX-License-Identifier: Apache-2.0

/*
 * The frameworks, in the order in which they run.
 *
 * This is the only list: the table (flow/tables.c) follows from it. FRAMEWORK(name) stands for
 * `framework_name`, in rows.c or in a file of its own.
 */

// clang-format off
FRAMEWORK(torch)
FRAMEWORK(torchrun)
FRAMEWORK(tensorflow)
FRAMEWORK(jax)
FRAMEWORK(xgboost)
FRAMEWORK(paddle)
FRAMEWORK(mpi)
FRAMEWORK(mpich)
FRAMEWORK(horovod)
FRAMEWORK(deepspeed)
FRAMEWORK(neuron)
FRAMEWORK(dask)
FRAMEWORK(llamacpp)
FRAMEWORK(nccl)
FRAMEWORK(gloo)
FRAMEWORK(tensorpipe)
FRAMEWORK(nvshmem)
FRAMEWORK(vllm)
FRAMEWORK(sglang)
#ifndef DISTINIT_CORE
FRAMEWORK(rdma)
#endif
