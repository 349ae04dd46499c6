#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# examples/engines: what the engine gets on each node, told by the manager of the example (tests/programs/nodes-of), and whether it
# takes that (tests/programs/engine).

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

EXAMPLES=$BATS_TEST_DIRNAME/../../examples
PROGRAMS=$BATS_TEST_DIRNAME/../programs

# nodes EXAMPLE [NAME=VALUE]... -- LINE...: each node's engine gets this.
nodes() {
	local -a variables arguments
	split "$@"
	/usr/bin/python3 -c 'import yaml' || skip 'python3-yaml is not installed'
	invoke "$PROGRAMS/nodes-of" "$EXAMPLES/${variables[0]}" "${variables[@]:1}"
	[ "$status" -ne 77 ] || skip 'it needs network namespaces and veth pairs'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '%s\n' "${arguments[@]}")" ]
}

# takes NAME WORD...
takes() {
	ln -sf "$PROGRAMS/engine" "$BATS_TEST_TMPDIR/$1"
	invoke env "${SET[@]}" "$BATS_TEST_TMPDIR/$1" "${@:2}"
	[ "$status" -eq 0 ]
}

# refuses WHY NAME WORD...: as the engine itself does.
refuses() {
	ln -sf "$PROGRAMS/engine" "$BATS_TEST_TMPDIR/$2"
	invoke env "${SET[@]}" "$BATS_TEST_TMPDIR/$2" "${@:3}"
	[[ $status -eq 2 && $stderr == *"error: $1"* ]]
}

SET=(PATH="$PATH")

@test "manifests: llm-d: every node serves, from its own first rank, with what killed engines left cleared" {
	local more='enable_expert_parallel=True data_parallel_hybrid_lb=True data_parallel_address=vllm-0.vllm.test'
	local all='engine=vllm serve=serve model=deepseek-ai/DeepSeek-V3 port=8200 data_parallel_size=16 data_parallel_size_local=8'
	nodes engines/llm-d.yaml -- "vllm-0: $all data_parallel_start_rank=0 data_parallel_rpc_port=5555 $more" \
		"vllm-0-1: $all data_parallel_start_rank=8 data_parallel_rpc_port=5555 $more"
	# An overlay has other sizes, and asks for one more flag.
	nodes engines/llm-d.yaml DP_SIZE_LOCAL=4 VLLM_ADDITIONAL_ARGS="--max-model-len '4096'" -- \
		"vllm-0: ${all/port=8200 data_parallel_size=16 data_parallel_size_local=8/port=8200 max_model_len=4096 data_parallel_size=8 data_parallel_size_local=4} data_parallel_start_rank=0 data_parallel_rpc_port=5555 $more" \
		"vllm-0-1: ${all/port=8200 data_parallel_size=16 data_parallel_size_local=8/port=8200 max_model_len=4096 data_parallel_size=8 data_parallel_size_local=4} data_parallel_start_rank=4 data_parallel_rpc_port=5555 $more"
}

@test "manifests: llm-d: a port for each rank, with the other value that the example names" {
	local other all more
	other=$(sed -n 's/.*Or for each rank: //p' "$EXAMPLES/engines/llm-d.yaml")
	all='engine=vllm serve=serve model=deepseek-ai/DeepSeek-V3 port=8200 data_parallel_size=16 data_parallel_size_local=8'
	more='data_parallel_rpc_port=5555 data_parallel_supervisor_port=8208 enable_expert_parallel=True data_parallel_multi_port_external_lb=True data_parallel_address=vllm-0.vllm.test'
	nodes engines/llm-d.yaml "BALANCING=$other" -- "vllm-0: $all data_parallel_start_rank=0 $more" "vllm-0-1: $all data_parallel_start_rank=8 $more"
}

@test "manifests: kserve: the leader serves at an address that is a number, workers are headless" {
	local all='engine=vllm serve=serve model=/mnt/models served_model_name=qwen port=8000 max_model_len=16384'
	local sizes='data_parallel_size=16 data_parallel_size_local=8' left='data_parallel_address=192.0.2.1 (/dev/shm: left)'
	nodes engines/kserve.yaml -- \
		"qwen-kserve-mn-0: $all api_server_count=8 $sizes data_parallel_start_rank=0 data_parallel_rpc_port=5555 enable_expert_parallel=True $left" \
		"qwen-kserve-mn-0-1: $all $sizes data_parallel_start_rank=8 data_parallel_rpc_port=5555 headless=True enable_expert_parallel=True $left"
	# Without flags of the user's own.
	nodes engines/kserve.yaml VLLM_ADDITIONAL_ARGS= -- \
		"qwen-kserve-mn-0: ${all% *} api_server_count=8 $sizes data_parallel_start_rank=0 data_parallel_rpc_port=5555 enable_expert_parallel=True $left" \
		"qwen-kserve-mn-0-1: ${all% *} $sizes data_parallel_start_rank=8 data_parallel_rpc_port=5555 headless=True enable_expert_parallel=True $left"
}

@test "manifests: kthena: each pod of a role is a rank" {
	local rank
	local -a lines=()
	for rank in 0 1 2 3; do
		lines+=("qwen-0-serve-0-$rank: engine=vllm serve=serve model=Qwen/Qwen3-30B-A3B port=8000 data_parallel_size=4 data_parallel_rank=$rank data_parallel_rpc_port=13345 data_parallel_address=qwen-0-serve-0-0.test (/dev/shm: left)")
	done
	nodes engines/kthena.yaml -- "${lines[@]}"
}

@test "manifests: sglang: all pods get the same flags, and its queue the pod's own address" {
	local all='engine=launch_server.py model_path=deepseek-ai/DeepSeek-R1 tp_size=8 pp_size=2 nnodes=2'
	local more='port=8000 host=0.0.0.0 dist_init_addr=sglang-0.sglang.test:20000'
	nodes engines/sglang.yaml -- "sglang-0: $all node_rank=0 $more own=192.0.2.1" "sglang-0-1: $all node_rank=1 $more own=192.0.2.2"
	all='engine=launch_server.py model_path=Qwen/Qwen3-32B tp_size=16 nnodes=2'
	nodes slurm/sglang.sbatch -- "n1: $all node_rank=0 dist_init_addr=n1:21705 (/dev/shm: left)" "n2: $all node_rank=1 dist_init_addr=n1:21705 (/dev/shm: left)"
}

@test "manifests: vllm, tensor parallel: two machines by Compose, pods of a LeaderWorkerSet" {
	local all='engine=vllm serve=serve model=Qwen/Qwen3-32B'
	nodes engines/compose.yaml VLLM_HOSTS=spark1,spark2 -- \
		"spark1: $all tensor_parallel_size=2 nnodes=2 node_rank=0 master_port=29500 master_addr=spark1 (/dev/shm: left)" \
		"spark2: $all tensor_parallel_size=2 nnodes=2 node_rank=1 master_port=29500 headless=True master_addr=spark1 (/dev/shm: left)"
	nodes kubernetes/vllm-lws.yaml -- \
		"vllm-0: $all tensor_parallel_size=16 nnodes=2 node_rank=0 master_port=29500 master_addr=vllm-0.vllm.test (/dev/shm: left)" \
		"vllm-0-1: $all tensor_parallel_size=16 nnodes=2 node_rank=1 master_port=29500 headless=True master_addr=vllm-0.vllm.test (/dev/shm: left)"
}

@test "manifests: ray: by words, and by its own launcher, whose words are the same on all nodes" {
	local i
	local -a lines=("n1: engine=ray command=start block=True node_ip_address=192.0.2.1 port=6379 head=True (/dev/shm: left)")
	for i in 2 3 4; do
		lines+=("n$i: engine=ray command=start block=True node_ip_address=192.0.2.$i address=n1:6379 (/dev/shm: left)")
	done
	nodes slurm/ray.sbatch -- "${lines[@]}"
	local all="engine=ray command=symmetric-run address=n1:6379 min_nodes=2 program=['vllm', 'serve', 'Qwen/Qwen3-32B', '--distributed-executor-backend=ray', '--tensor-parallel-size=16'] (/dev/shm: left)"
	nodes engines/ray-symmetric.sbatch -- "n1: $all" "n2: $all"
}

@test "manifests: nim: variables by env" {
	local all='engine=start_server.sh'
	nodes engines/nim.sbatch -- "n1: $all node_rank=0 num_compute_nodes=2 leader_role=1 leader_ip_address=192.0.2.1 (/dev/shm: left)" \
		"n2: $all node_rank=1 num_compute_nodes=2 leader_role=0 leader_ip_address=192.0.2.1 (/dev/shm: left)"
}

@test "manifests: the program that stands for vLLM refuses what vLLM does: modes" {
	local dp=(--data-parallel-size=16 --data-parallel-size-local=8 --data-parallel-start-rank=8)
	takes vllm serve M "${dp[@]}" --data-parallel-hybrid-lb
	refuses 'in this mode every node serves' vllm serve M "${dp[@]}" --data-parallel-hybrid-lb --headless
	refuses 'in this mode every node serves' vllm serve M "${dp[@]}" --data-parallel-multi-port-external-lb --headless
	refuses '--data-parallel-hybrid-lb needs' vllm serve M --data-parallel-size=16 --data-parallel-hybrid-lb
	refuses 'more than one mode' vllm serve M "${dp[@]}" --data-parallel-hybrid-lb --data-parallel-multi-port-external-lb
	refuses 'more than one mode' vllm serve M --data-parallel-size=16 --data-parallel-rank=1 --data-parallel-hybrid-lb
	refuses 'one API server' vllm serve M "${dp[@]}" --data-parallel-multi-port-external-lb --api-server-count=8
}

@test "manifests: the program that stands for vLLM refuses what vLLM does: ranks and nodes" {
	local dp=(--data-parallel-size=16 --data-parallel-size-local=8 --data-parallel-start-rank=8)
	takes vllm serve M "${dp[@]}" --headless
	refuses '--headless starts no API server' vllm serve M "${dp[@]}" --headless --api-server-count=8
	refuses 'ranks beyond the size' vllm serve M "${dp[@]/=8/=16}" --data-parallel-hybrid-lb
	takes vllm serve M --data-parallel-size=2 --data-parallel-rank=1
	refuses 'ranks beyond the size' vllm serve M --data-parallel-size=2 --data-parallel-rank=2
	refuses '--data-parallel-rank is of one rank' vllm serve M --data-parallel-size=4 --data-parallel-rank=2 --data-parallel-size-local=2
	takes vllm serve M --tensor-parallel-size=16 --nnodes=2 --node-rank=1 --headless
	refuses 'no such node' vllm serve M --tensor-parallel-size=16 --nnodes=2 --node-rank=2 --headless
	refuses 'the world is not divisible' vllm serve M --tensor-parallel-size=16 --nnodes=3 --node-rank=2 --headless
	refuses 'unrecognized arguments' vllm serve M '{node-rank}'
}

@test "manifests: the programs that stand for SGLang and NIM refuse what these do" {
	takes launch_server.py --model-path=M --tp-size=8 --pp-size=2 --nnodes=2 --node-rank=1 --dist-init-addr=a:1
	refuses 'tp_size is not divisible' launch_server.py --model-path=M --tp-size=8 --nnodes=3 --node-rank=1 --dist-init-addr=a:1
	refuses 'no such node' launch_server.py --model-path=M --tp-size=8 --nnodes=2 --node-rank=2 --dist-init-addr=a:1
	refuses 'several nodes need' launch_server.py --model-path=M --tp-size=8 --nnodes=2 --node-rank=1
	refuses 'argument --dist-init-addr' launch_server.py --model-path=M --tp-size=8 --nnodes=2 --node-rank=1 --dist-init-addr=a
	SET+=(NIM_MULTI_NODE=1 NIM_NODE_RANK=1 NIM_NUM_COMPUTE_NODES=2 NIM_LEADER_IP_ADDRESS=192.0.2.1)
	SET+=(NIM_LEADER_ROLE=0)
	takes start_server.sh
	SET+=(NIM_LEADER_ROLE=1)
	refuses 'the leader is node 0' start_server.sh
	SET+=(NIM_LEADER_ROLE=)
	refuses 'NIM_LEADER_ROLE is not set' start_server.sh
}

@test "manifests: the program that stands for Ray refuses what Ray does" {
	takes ray symmetric-run --address=a:1 --min-nodes=2 -- vllm serve M
	refuses 'the program follows --' ray symmetric-run --address=a:1 --min-nodes=2 vllm
	for flag in --head --node-ip-address=192.0.2.1 --port=1 --block --wait-for-nnodes=2; do
		refuses 'unrecognized arguments' ray symmetric-run --address=a:1 --min-nodes=2 "$flag" -- vllm serve M
	done
	refuses 'argument --address: not allowed with' ray start --head --address=a:1
}
