#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit check: the facts of this node, and what was promised to it.

# shellcheck disable=SC2054 # the commas belong to the values
# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# A machine of its own: what is not in here, it does not have.
	mkdir -p root/dev root/proc/self root/sys
	# This node's name is an address, so that it resolves.
	MASTER=(BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=127.0.0.1,127.0.0.2
		BACKENDAI_CLUSTER_HOST=127.0.0.1 BACKENDAI_CLUSTER_LOCAL_RANK=0)
	WORKER=("${MASTER[@]:0:2}" BACKENDAI_CLUSTER_HOST=127.0.0.2 BACKENDAI_CLUSTER_LOCAL_RANK=1)
}

teardown() {
	remove_open_folder
}

# gpus N: the machine has N of them.
gpus() {
	local i
	for ((i = 0; i < $1; i++)); do
		touch "root/dev/nvidia$i"
	done
	touch root/dev/nvidiactl
}

# fact GROUP NAME VALUE: was printed.
fact() {
	grep -E "^$1 +$2 +$3\$" <<<"$output"
}

# finds TEXT: this is the only finding or hint.
finds() {
	[[ $(grep -E '^(finding|hint): ' <<<"$output") == "$1" && -z $stderr ]]
}

@test "check: nothing was promised, so nothing is missing" {
	check --
	[ "$status" -eq 0 ]
	[[ $output == *$'\nno findings' && -z $stderr ]]
	fact devices gpus 0
	fact limits nofile '[0-9]+'
	run ! grep ^world <<<"$output"
}

@test "check: what the node believes of the cluster" {
	check "${WORKER[@]}" --
	[ "$status" -eq 0 ]
	fact world hosts '127.0.0.\[1-2\]'
	fact world manager backendai
	fact world nodes 2
	fact world port 29500
	fact world tasks_per_node '\?'
}

@test "check: what the machine has, from its files" {
	gpus 8
	mkdir -p root/proc/driver/nvidia root/sys/class/infiniband/mlx5_0/ports/1 root/dev/infiniband root/sys/fs/cgroup
	echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19' >root/proc/driver/nvidia/version
	echo '4: ACTIVE' >root/sys/class/infiniband/mlx5_0/ports/1/state
	touch root/dev/infiniband/uverbs0
	echo 100000 100000 >root/sys/fs/cgroup/cpu.max
	echo $((1 << 30)) >root/sys/fs/cgroup/memory.max
	echo 'MemTotal: 16777216 kB' >root/proc/meminfo
	check --
	fact devices gpus 8
	fact devices gpu_driver 535.129.03
	fact devices rdma 1
	fact devices rdma_active 1
	fact devices rdma_verbs 1
	fact limits cpus 1
	fact limits memory_mib 1024
}

@test "check: a part of a CPU is shown as it is, and is less than a whole one" {
	mkdir -p root/sys/fs/cgroup
	for quota in 50000:0.5 25000:0.25 100000:1; do
		echo "${quota%:*} 100000" >root/sys/fs/cgroup/cpu.max
		check --
		fact limits cpus "${quota#*:}"
	done
	echo 50000 100000 >root/sys/fs/cgroup/cpu.max
	check SLURM_CPUS_PER_TASK=1 --
	finds 'finding: cpus is 0.5, at least 1 expected: SLURM_CPUS_PER_TASK'
}

@test "check: tasks on each node, of many nodes, in a few words" {
	local step=(SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=101 SLURM_JOB_NODELIST='n[1-101]' SLURM_TASKS_PER_NODE='8(x100),4' SLURM_NTASKS=804
		SLURM_PROCID=0 SLURM_NODEID=0 SLURM_LOCALID=0 SLURM_STEP_ID=0 SLURM_STEP_NODELIST='n[1-101]' SLURM_STEP_NUM_NODES=101
		SLURM_STEP_NUM_TASKS=804 SLURM_STEP_TASKS_PER_NODE='8(x100),4' SLURMD_NODENAME=n1)
	check "${step[@]}" --
	fact world tasks_per_node '8 x 100,4'
}

@test "check: without /proc/meminfo the memory is unknown, also if the limit is a number that means none" {
	mkdir -p root/sys/fs/cgroup/memory
	echo ':memory:/' >root/proc/self/cgroup
	echo 9223372036854771712 >root/sys/fs/cgroup/memory/memory.limit_in_bytes
	check --
	fact limits memory_mib '\?'
}

@test "check: fewer GPUs than promised are a finding" {
	gpus 7
	for variable in SLURM_GPUS_ON_NODE SKYPILOT_NUM_GPUS_PER_NODE SM_NUM_GPUS; do
		check $variable=8 --
		[ "$status" -eq 1 ]
		grep -x "finding: gpus is 7, at least 8 expected: $variable" <<<"$output"
		check $variable=7 --
		[ "$status" -eq 0 ]
	done
	for promise in SLURM_GPUS_PER_NODE=8 SLURM_GPUS_PER_NODE=a100:8 SLURM_TRES_PER_TASK=cpu=1,gres/gpu:a100=8,mem=1 \
		SLURM_TRES_PER_TASK=gres/gpu:8; do
		check "$promise" --
		[ "$status" -eq 1 ]
		grep -x "finding: gpus is 7, at least 8 expected: ${promise%%=*}" <<<"$output"
		check "${promise/8/7}" --
		[ "$status" -eq 0 ]
	done
	for none in SLURM_TRES_PER_TASK=cpu=100 SLURM_GPUS_PER_NODE=a100 SLURM_GPUS_PER_NODE=x9; do
		check "$none" --
		[ "$status" -eq 0 ]
	done
}

@test "check: a program that cannot be started is a finding" {
	invoke env -i PATH=/bin "$DISTINIT" check --root=root -- nosuch --flag
	[ "$status" -eq 1 ]
	grep -x "finding: 'nosuch' was not found in PATH='/bin'" <<<"$output"
	invoke env -i PATH=/bin "$DISTINIT" check --root=root -- sh
	[ "$status" -eq 0 ]
}

@test "check: parts of a GPU are not held against /dev" {
	gpus 1
	check SLURM_GPUS_ON_NODE=7 CUDA_VISIBLE_DEVICES=MIG-1,MIG-2 --
	[ "$status" -eq 0 ]
	check SLURM_GPUS_ON_NODE=7 CUDA_VISIBLE_DEVICES=0,1 --
	[ "$status" -eq 1 ]
}

@test "check: fewer CPUs and less memory than Slurm promised are findings" {
	mkdir -p root/sys/fs/cgroup
	echo $((1 << 30)) >root/sys/fs/cgroup/memory.max
	check SLURM_CPUS_PER_TASK=100000 SLURM_MEM_PER_NODE=1024 --
	[ "$status" -eq 1 ]
	finds "finding: cpus is $(nproc), at least 100000 expected: SLURM_CPUS_PER_TASK"
	check SLURM_MEM_PER_NODE=1025 --
	[ "$status" -eq 1 ]
	echo 'MemTotal: 16777216 kB' >root/proc/meminfo
	check SLURM_MEM_PER_NODE=1025 --
	finds 'finding: memory_mib is 1024, at least 1025 expected: SLURM_MEM_PER_NODE'
}

@test "check: a threshold is only a hint, and does not change the status" {
	gpus 2
	check --
	[ "$status" -eq 0 ]
	finds 'hint: shm_mib is 0, at least 1024 expected: NCCL and data loaders fill /dev/shm; engines take --shm-size, or a volume in memory'
}

@test "check: RDMA devices without ports, or that are not in the container, are hints" {
	mkdir -p root/sys/class/infiniband/mlx5_0/ports/1
	echo '1: DOWN' >root/sys/class/infiniband/mlx5_0/ports/1/state
	check --
	[ "$status" -eq 0 ]
	[[ $output == *'hint: rdma_verbs is 0, at least 1 expected: /dev/infiniband is not in this container'* ]]
	[[ $output == *'hint: rdma_active is 0, at least 1 expected: NCCL will use TCP'* ]]
}

@test "check: little locked memory is a hint where there is RDMA" {
	mkdir -p root/sys/class/infiniband/mlx5_0/ports/1 root/dev/infiniband
	echo '4: ACTIVE' >root/sys/class/infiniband/mlx5_0/ports/1/state
	touch root/dev/infiniband/uverbs0
	open_folder
	cp -r root "$DISTINIT" "$OPEN_FOLDER"
	chmod -R go+rX "$OPEN_FOLDER/root"
	chmod 666 "$OPEN_FOLDER/root/dev/infiniband/uverbs0"
	ulimit -l 64
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" check --root="$OPEN_FOLDER/root"
	[ "$status" -eq 0 ]
	finds 'hint: memlock_kib is 64, at least 65536 expected: RDMA locks memory; ulimit -l unlimited, or the capability ipc_lock'
}

@test "check: the master needs a descriptor for each rank" {
	requires python3
	# The default may be taken by somebody else on this machine.
	local port
	port=$(python3 -c 'import socket; print(socket.create_server(("", 0)).getsockname()[1])')
	ulimit -n 64
	check MASTER_PORT="$port" -- --hosts='127.0.0.[1-100]' --node-rank=0
	[ "$status" -eq 1 ]
	finds 'finding: nofile is 64, at least 100 expected: the master connects to each rank'
	check -- --hosts='127.0.0.[1-100]' --node-rank=1
	[ "$status" -eq 0 ]
}

@test "check: this node's name has to resolve" {
	check BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=a.invalid,b.invalid BACKENDAI_CLUSTER_HOST=b.invalid \
		BACKENDAI_CLUSTER_LOCAL_RANK=1 --
	[ "$status" -eq 1 ]
	[[ $output == *"finding: this node's name, 'b.invalid', does not resolve here: "* ]]
}

@test "check: the master's port has to be free, and is so afterwards" {
	requires python3
	mkfifo ready stop
	python3 -c '
import socket, sys
s = socket.create_server(("", 0))
print(s.getsockname()[1], flush=True)
sys.stdin.read()' <stop >ready 3>&- &
	server=$!
	exec 9>stop
	port=$(head -n 1 ready)
	check "${MASTER[@]}" MASTER_PORT="$port" --
	[ "$status" -eq 1 ]
	finds "finding: port $port is taken (by a listener of uid $UID); end that listener, or set MASTER_PORT"
	check "${WORKER[@]}" MASTER_PORT="$port" --
	[ "$status" -eq 0 ]
	exec 9>&-
	wait "$server"
	check "${MASTER[@]}" MASTER_PORT="$port" --
	[ "$status" -eq 0 ]
	python3 -c 'import socket, sys; s = socket.socket(); s.bind(("", int(sys.argv[1]))); s.listen()' "$port"
}

@test "check: the command's program and script, after --" {
	printf 'print(1)\n' >train.py
	check PATH=/bin -- -- sh -u train.py
	[ "$status" -eq 0 ]
	fact program argv 'sh -u train.py'
	fact program file '[0-9]+ bytes, sha256:[0-9a-f]{16}'
	fact program script '9 bytes, sha256:cc42155088fca573'
	check -- sh
	refuses_with "check takes a command only after --: distinit check -- COMMAND"
}

@test "check: variables that have to be the same on all nodes, as the command gets them" {
	check NCCL_DEBUG=INFO HOME=/ NCCL_A=1 -- --set NCCL_DEBUG=WARN --unset NCCL_A
	fact env NCCL_DEBUG WARN
	run ! grep -E 'NCCL_A|HOME' <<<"$output"
}

@test "check: no secret is shown" {
	for format in text json; do
		check NCCL_TOKEN=hunter2 NCCL_URL=http://u:hunter2@h/ -- --format=$format -- sh --password hunter2 \
			--api-key=hunter2
		[ "$status" -eq 0 ]
		[[ $output == *NCCL_TOKEN*'(masked)'* && $output != *hunter* && $output != *f52fbd32b2b3b86f* ]]
	done
}

@test "check: json for programs" {
	requires python3
	gpus 2
	check SLURM_GPUS_ON_NODE=3 NCCL_A='"' "${MASTER[@]}" MASTER_PORT=1234 -- --format=json
	[ "$status" -eq 1 ]
	python3 -c '
import json, sys
said = json.load(sys.stdin)
assert set(said) == {"version", "time", "host", "rank", "facts", "expected", "findings"} and said["rank"] == 0
assert all(set(fact) == {"group", "name", "value"} for fact in said["facts"])
assert said["expected"] == []
facts = {(fact["group"], fact["name"]): fact["value"] for fact in said["facts"]}
assert {group for group, _ in facts} == {"world", "program", "env", "devices", "limits"}
assert facts["world", "port"] == "1234" and facts["devices", "gpus"] == "2" and facts["env", "NCCL_A"] == "\""
assert facts["devices", "gpu_driver"] is None
gpus, shm = said["findings"]
assert gpus == {"name": "gpus", "hint": False, "text": "gpus is 2, at least 3 expected: SLURM_GPUS_ON_NODE", "have": "2", "expected": "3",
                "source": "SLURM_GPUS_ON_NODE"}
assert shm["name"] == "shm_mib" and shm["hint"] is True' <<<"$output"
	check -- --format=json
	[ "$status" -eq 0 ]
	check -- --format=yaml
	refuses_with "--format='yaml': expected one of text, json"
}

@test "check: a broken cluster is an error, as for the command itself" {
	check BACKENDAI_CLUSTER_SIZE=2 --
	[ "$status" -eq 125 ]
	[[ -z $output && $stderr == 'distinit: error: '* ]]
}

@test "check, explain: their help names their own formats only" {
	run "$DISTINIT" check --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"--format=FORMAT     text (default) or json"* ]]
	[[ "$output" != *docker* ]]
	run "$DISTINIT" explain --help
	[[ "$output" == *"--format=FORMAT     text (default) or json"* && "$output" != *docker* ]]
}

@test "check: a name that cannot be looked up is a finding, whatever the reason" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	run --separate-stderr strace -f -o /dev/null -e inject=signalfd4:error=EMFILE "$DISTINIT" check --hosts=127.0.0.1,127.0.0.2 --node-rank=0
	[ "$status" -eq 1 ]
	[[ $output == *"finding: this node's name, '127.0.0.1', does not resolve here: signals cannot be watched: "* ]]
}

@test "check: fewer tasks in all than on each node are a hint" {
	local hint='hint: SLURM_NTASKS=1 is below SLURM_NTASKS_PER_NODE=2: Lightning counts on 2 processes here; '
	distinit SLURM_NTASKS=1 SLURM_NTASKS_PER_NODE=2 -- check --root="$PWD/root"
	[[ $status -eq 0 && $output == *"$hint"* ]]
	distinit SLURM_NTASKS=2 SLURM_NTASKS_PER_NODE=2 -- check --root="$PWD/root"
	[[ $status -eq 0 && $output != *SLURM_NTASKS* ]]
}

# docs/check.md: by reading files only. distinit(1): it starts nothing, changes nothing, and opens no device.
@test "check: nothing is started or changed, and no device is opened" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	# Not even what a start with these options begins with.
	touch old
	invoke env -i PATH="$PATH" DISTINIT_CLEAR="$PWD/old" DISTINIT_REPORT="$PWD/report" DISTINIT_FRAMEWORKS=mpi \
		DISTINIT_HOSTFILE_OUTPUT="$PWD/hosts" strace -f -qq -o trace -e trace=%file,%desc,%process \
		"$DISTINIT" check --hosts=127.0.0.1,127.0.0.2 --node-rank=1 -- sh -c 'echo started'
	[[ $status -le 1 && $output != *started* && -e old && ! -e report && ! -e hosts ]]
	grep -q 'open' trace
	run ! grep -E 'execve\(' <(tail -n +2 trace)
	run ! grep -E '(O_WRONLY|O_RDWR|O_CREAT)|\<(mkdir|rmdir|unlink|rename|link|symlink|chmod|chown|mount|truncate|mknod)(at2?)?\(' trace
	# Folders end with '/'.
	run ! grep -E 'open(at)?\([^"]*"/dev/[^"]*[^/"]"' trace
}
