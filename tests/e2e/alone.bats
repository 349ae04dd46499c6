#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Several nodes, and this one would train alone: never without a word. tests/properties/alone.py has every manager.

# shellcheck disable=SC2053 # hints are patterns
# shellcheck disable=SC2054 # the commas belong to the values

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
	printf '#!/bin/sh\necho started\n' >bin/torchrun
	chmod +x bin/torchrun
	ln -s torchrun bin/srun
	ln -s torchrun bin/python3
	ln -s torchrun bin/accelerate
}

readonly SCRIPT=(SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[1-2]' 'SLURM_TASKS_PER_NODE=1(x2)' SLURM_NODEID=0 SLURM_PROCID=0)
readonly TWO=(DISTINIT_HOSTS=a,b DISTINIT_NODE_RANK=1)
readonly TRAINJOB=(PET_NODE_RANK=1 PET_MASTER_ADDR=j-node-0-0.j PET_MASTER_PORT=29500 JOB_COMPLETION_INDEX=1)
readonly ALONE='distinit: warning: torchrun will not train with the other nodes: '

# warned WHY VARIABLE... -- ARG...: the program starts, with one warning that says WHY (a pattern).
warned() {
	local why=$1
	distinit "PATH=$PWD/bin:/bin:/usr/bin" "${@:2}"
	[[ $status -eq 0 && $output == started && $stderr == "$ALONE"$why && $stderr != *$'\n'* ]]
}

# silent VARIABLE... -- ARG...: the program starts, without a warning.
silent() {
	distinit "PATH=$PWD/bin:/bin:/usr/bin" "$@"
	[[ $status -eq 0 && $output == started && -z $stderr ]]
}

@test "torchrun in a job script of several nodes: a warning says to start distinit in the step" {
	warned '*job script*srun distinit -- torchrun*--scope=node*' "${SCRIPT[@]}" -- -- torchrun train.py
	warned '*job script*' "${SCRIPT[@]}" -- -- srun torchrun train.py
	warned '*job script*' "${SCRIPT[@]}" -- -- sh -c 'exec torchrun train.py'
	warned '*job script*' "${SCRIPT[@]}" -- -- python3 -m torch.distributed.run train.py
	warned '*job script*' "${SCRIPT[@]}" -- -- accelerate launch train.py
	warned '*job script*' LSB_JOBID=5 'LSB_MCPU_HOSTS=a 1 b 1' -- -- torchrun train.py
	printf 'a\nb\n' >nodes
	warned '*job script*' PBS_JOBID=5 PBS_NODEFILE="$PWD/nodes" -- -- torchrun train.py
	silent "${SCRIPT[@]}" -- -- srun distinit -- torchrun train.py
	silent "${SCRIPT[@]}" -- -- python3 train.py
	silent "${SCRIPT[@]}" -- --scope=node --hostname=n1 -- torchrun train.py
	silent "${SCRIPT[@]}" SLURM_JOB_NODELIST=n1 SLURM_TASKS_PER_NODE=1 -- -- torchrun train.py
}

@test "torchrun where something of the nodes is not known: a warning says which option tells it" {
	warned "this node's number is not known: pass --node-rank*" AZUREML_EXPERIMENT_ID=x AZUREML_NODE_COUNT=2 MASTER_ADDR=a -- -- torchrun t.py
	warned "this node's number is not known: pass --node-rank*" DET_CHIEF_IP=10.0.0.1 -- --nnodes=2 -- torchrun t.py
	silent DET_CHIEF_IP=10.0.0.1 -- --nnodes=2 --node-rank=1 -- torchrun t.py
	warned "this node's number is not known: pass --node-rank*" PADDLE_JOB_ID=e PADDLE_NNODES=2 PADDLE_MASTER=e-worker-0:36543 \
		DISTINIT_HOSTNAME=e-worker-7 -- -- torchrun t.py
	warned 'the number of nodes is not known: pass --nnodes' DET_CHIEF_IP=10.0.0.1 -- -- torchrun t.py
	warned '*one task per node' OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 \
		-- --hosts=a,b --node-rank=0 -- torchrun t.py
	# A number above 0 says that there are others; 0 does not.
	warned "only this node's number is known: pass --nnodes*" NOMAD_ALLOC_INDEX=1 -- -- torchrun t.py
	silent NOMAD_ALLOC_INDEX=0 -- -- torchrun t.py
}

@test "torchrun that the user has set for one node, in a cluster of two: a warning" {
	warned "PET_NNODES='1' is set, but there are 2 nodes: unset it" "${TWO[@]}" PET_NNODES=1 -- -- torchrun t.py
	warned "PET_NNODES='two' is neither N nor MIN:MAX" "${TWO[@]}" PET_NNODES=two -- -- torchrun t.py
	warned "PET_NNODES='1:4' is elastic, which needs a rendezvous*" "${TWO[@]}" PET_NNODES=1:4 -- -- torchrun t.py
	# Here the manager's number is what the range has hidden: with the static rendezvous torchrun waits for 4 nodes.
	warned "PET_NNODES='1:4' is elastic, which needs a rendezvous*" "${TRAINJOB[@]}" PET_NNODES=1:4 -- -- torchrun t.py
	silent "${TRAINJOB[@]}" PET_NNODES=2 -- -- torchrun t.py
	warned "PET_STANDALONE='1' is set*" "${TWO[@]}" PET_STANDALONE=1 -- -- torchrun t.py
	warned "PET_RDZV_BACKEND='c10d' is set, but*set PET_NNODES, too" "${TWO[@]}" PET_RDZV_BACKEND=c10d -- -- torchrun t.py
	warned 'PET_RDZV_ID is set without PET_RDZV_BACKEND*' "${TWO[@]}" PET_RDZV_ID=7 -- -- torchrun t.py
	warned '--standalone is among its options*' "${TWO[@]}" -- -- torchrun --standalone t.py
	warned '--nnodes=1 is among its options*' "${TWO[@]}" -- -- torchrun --nnodes 1 t.py
	warned '--frameworks leaves torchrun out*' "${TWO[@]}" -- --frameworks=torch -- torchrun t.py
}

@test "a torchrun of another job on the same host: what it has left behind is found by its sizes, where it came with the job" {
	local step=(SLURM_JOB_ID=7 SLURM_STEP_ID=0 'SLURM_STEP_NODELIST=n[1-2]' 'SLURM_JOB_NODELIST=n[1-2]' SLURM_STEP_NUM_NODES=2
		'SLURM_STEP_TASKS_PER_NODE=1(x2)' SLURM_NODEID=1 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0)
	local left=(TORCHELASTIC_RUN_ID=none RANK=0 WORLD_SIZE=8 LOCAL_RANK=0 LOCAL_WORLD_SIZE=8 MASTER_ADDR=n1 MASTER_PORT=29400)
	local told='WORLD_SIZE=8 and LOCAL_WORLD_SIZE=8 do not fit SLURM_STEP_NUM_NODES=2, and no torchrun of this job runs above'
	# A daemon by name: it starts the task.
	cp "$(command -v bash)" slurmstepd
	task() { run --separate-stderr env -i PATH="$PATH" ./slurmstepd -c '"$@"; exit' x env "$@"; }
	task "${step[@]}" "${left[@]}" "$DISTINIT" -- printenv RANK WORLD_SIZE
	[[ $status -eq 0 && $output == 1$'\n'2 && $stderr == "distinit: warning: $told this process: "*" left over from another job"* ]]
	# Below a shell of the task, too.
	task "${step[@]}" "${left[@]}" sh -c '"$@"; exit' x "$DISTINIT" -- printenv RANK WORLD_SIZE
	[[ $output == 1$'\n'2 && $stderr == *"$told"* ]]
	# A torchrun that runs between: it uses one of the two nodes.
	task "${step[@]}" sh -c '"$@"; exit' x env "${left[@]}" "$DISTINIT" -- printenv RANK WORLD_SIZE
	[[ $status -eq 0 && $output == 0$'\n'8 && -z $stderr ]]
	# Sizes that fit; and no daemon above: it may be outside of the PID namespace, and so may torchrun.
	task "${step[@]}" "${left[@]}" WORLD_SIZE=16 "$DISTINIT" -- printenv RANK WORLD_SIZE
	[[ $output == 0$'\n'16 && -z $stderr ]]
	run --separate-stderr env -i PATH="$PATH" "${step[@]}" "${left[@]}" sh -c '"$@"; exit' x "$DISTINIT" -- printenv RANK WORLD_SIZE
	[[ $output == 0$'\n'8 && -z $stderr ]]
}

@test "torchrun that knows its nodes, by whatever way: silence" {
	local set
	for set in PET_STANDALONE=0 PET_RDZV_BACKEND=static PET_NNODES=2 PET_NNODES=2:2 A=b; do
		silent "${TWO[@]}" "$set" -- -- torchrun t.py
		silent "$set" -- -- torchrun t.py
	done
	silent "${TWO[@]}" PET_RDZV_BACKEND=c10d PET_RDZV_ENDPOINT=a:1 PET_NNODES=1:2 -- -- torchrun t.py
	silent "${TWO[@]}" PET_NNODES=1:2 -- -- torchrun --rdzv-backend=c10d --rdzv-endpoint=a:1 t.py
	silent "${SCRIPT[@]}" -- -- torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=a:1 t.py
	silent "${SCRIPT[@]}" -- -- torchrun --nnodes=2 --node-rank=0 --master-addr=a t.py
	silent "${TWO[@]}" -- --frameworks=torch -- torchrun --nnodes=2 --node_rank=1 --master_addr=a t.py
	silent "${TWO[@]}" -- --frameworks=none -- torchrun t.py
	silent "${SESSION[@]}" -- --cluster=none -- torchrun t.py
	# A directive is the user's word for this program; it comes after what is derived.
	silent "${TWO[@]}" -- --unset='PET_*' -- torchrun t.py
	silent "${TWO[@]}" -- --set PET_NNODES=1 -- torchrun t.py
	silent -- -- torchrun --standalone t.py
}

@test "explain says in any case why torchrun would train alone" {
	distinit "${SCRIPT[@]}" -- explain
	[[ $status -eq 0 && $output == *$'\ntorchrun       this is a job script'* ]]
	distinit DET_CHIEF_IP=10.0.0.1 -- explain --nnodes=2
	[[ $output == *$'\ntorchrun       this node\'s number is not known: pass --node-rank'* ]]
	distinit "${TWO[@]}" PET_NNODES=1 -- explain
	[[ $output == *$'\ntorchrun       PET_NNODES='* ]]
	distinit "${TWO[@]}" -- explain
	[[ $output != *$'\ntorchrun  '* ]]
}

@test "a number for torchrun that its rendezvous does not read: a warning" {
	local hint='distinit: warning: torchrun reads --node-rank (PET_NODE_RANK) with --rdzv-backend=static only*'
	distinit "PATH=$PWD/bin:/bin" -- -- torchrun --nnodes=2 --rdzv-backend=c10d --node-rank=1 t.py
	[[ $output == started && $stderr == $hint ]]
	distinit "PATH=$PWD/bin:/bin" PET_RDZV_BACKEND=c10d PET_NODE_RANK=1 -- -- torchrun t.py
	[[ $output == started && $stderr == $hint ]]
	silent -- -- torchrun --nnodes=2 --rdzv-backend=c10d --node-rank=0 t.py
	silent -- -- torchrun --nnodes=2 --node-rank=1 t.py
	silent PET_RDZV_BACKEND=c10d PET_NODE_RANK=1 -- -- python3 t.py
}

@test "a TF_CONFIG with a line break before cloud is a TFJob's" {
	distinit 'TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1},"environment":
		"cloud"}' -- env --frameworks=torchrun
	[[ $status -eq 0 && $output == *"PET_NNODES='2'"* && $output == *"PET_NODE_RANK='1'"* ]]
}

@test "explain says what an Indexed Job without a subdomain lacks, with and without the number of pods" {
	distinit JOB_COMPLETION_INDEX=1 DISTINIT_HOSTNAME=a-1 -- explain
	[[ $output == *"pass --nnodes; without 'subdomain' in the pod template"* ]]
	distinit JOB_COMPLETION_INDEX=1 DISTINIT_HOSTNAME=a-1 DISTINIT_NNODES=2 -- explain
	[[ $output == *$'\nlacks          the pods\' names: set \'subdomain:\' in the pod template'* && $output != *'pass --nnodes'* ]]
}
