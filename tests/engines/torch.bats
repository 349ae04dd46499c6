#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Real torch.distributed, over gloo, with nothing but what distinit derives.

load helpers

setup_file() {
	NO_TORCH=$("$PYTHON" -c 'import importlib.util as u; u.find_spec("torch") or print("python3-torch is not installed")' 2>&1)
	export NO_TORCH
	cluster_up
}

teardown_file() {
	cluster_down
}

setup() {
	[[ -z $NO_TORCH ]] || skip "$NO_TORCH"
}

teardown() {
	cluster_clean
}

ALLREDUCE=$PROGRAMS/allreduce.py
# Not the fastest, but for machines that share a loopback and two processors.
GLOO=(GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 USE_LIBUV=0)

# torchrun ARG...: sets $torchrun. It needs no flags; how many ranks it starts is the user's to say, where the
# manager does not. The last three variables are for Debian's, which fails without redirections.
torchrun() {
	torchrun_runs
	torchrun=(env "${GLOO[@]}" PET_NPROC_PER_NODE=2 PET_REDIRECTS=1 PET_TEE=1 PET_LOG_DIR="$BATS_TEST_TMPDIR"
		"$DISTINIT" -- "$PYTHON" -m torch.distributed.run "$@")
}

# met HOST...: all ranks met, on these hosts, two on each.
met() {
	local rank=0 host ranks=$#
	same "the exit status" 0 "$status"
	for host; do
		local line="rank $rank of $ranks, local $((rank % 2)) of 2 on $host: sum $((2 ** ranks - 1)), rank 0 on $1"
		[[ $(grep -cF "$line" <<<"$output") -eq 1 ]] || fail "nobody says: $line"
		rank=$((rank + 1))
	done
}

@test "torch: four ranks of srun on two nodes" {
	cluster_ready
	run login env "${GLOO[@]}" srun --nodes=2 --ntasks-per-node=2 "$DISTINIT" -- "$PYTHON" "$ALLREDUCE"
	met n1 n1 n2 n2
}

@test "torch: four ranks of srun, rank 0 not on the first node" {
	cluster_ready
	printf '%s\n' n2 n2 n1 n1 >"$BATS_TEST_TMPDIR/hosts"
	run login env "${GLOO[@]}" SLURM_HOSTFILE="$BATS_TEST_TMPDIR/hosts" \
		srun --ntasks=4 --distribution=arbitrary "$DISTINIT" -- "$PYTHON" "$ALLREDUCE"
	met n2 n2 n1 n1
}

@test "torch: torchrun without flags, one per node of a step" {
	cluster_ready
	torchrun "$ALLREDUCE"
	run login srun --nodes=2 --ntasks-per-node=1 "${torchrun[@]}"
	met n1 n1 n2 n2
}

@test "torch: torchrun without flags, in two containers of Backend.AI, of which the list has the second first" {
	[[ -z $(missing) ]] || skip "$(missing)"
	printf '%s\n' '127.0.0.1 localhost main1' '127.0.0.2 sub1' >"$BATS_TEST_TMPDIR/hosts"
	torchrun "$ALLREDUCE"
	container() {
		timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME="${HOME:-/root}" VIRTUAL_HOSTS="$BATS_TEST_TMPDIR/hosts" \
			BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=sub1,main1 BACKENDAI_CLUSTER_HOST="$1" \
			BACKENDAI_CLUSTER_LOCAL_RANK="$2" MASTER_PORT=19501 \
			"$PROGRAMS/virtual-node" "$1" -- "${torchrun[@]}"
	}
	both() {
		container sub1 1 &
		container main1 0
		local first=$?
		wait $! && return "$first"
	}
	run both
	met main1 main1 sub1 sub1
}

@test "torch: distinit around mpirun's ranks in a job" {
	cluster_ready
	[[ -z $(missing mpirun.openmpi) ]] || skip "$(missing mpirun.openmpi)"
	run login env "${GLOO[@]}" salloc --quiet --nodes=2 --ntasks-per-node=2 \
		mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none "$DISTINIT" -- "$PYTHON" "$ALLREDUCE"
	met n1 n1 n2 n2
}

@test "torch: two machines, over the interface that distinit finds, whatever their own names resolve to" {
	[[ -z $(missing ip) ]] || skip "$(missing ip)"
	unshare --net ip link add eth3 type veth peer name eth5 2>/dev/null || skip "the kernel makes no veth pairs for us"
	# shellcheck disable=SC2016 # for the inner shells
	run timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME="${HOME:-/root}" OMP_NUM_THREADS=1 \
		"$PROGRAMS/two-machines" "$BATS_TEST_TMPDIR" sh -c 'exec "$0" --hosts=main1,sub1 --node-rank="$HERE" "$@"' \
		"$DISTINIT" --frameworks=torch,gloo --ranks=always -- \
		sh -c 'echo "interface of $HERE: $GLOO_SOCKET_IFNAME"; exec "$0" "$1"' "$PYTHON" "$ALLREDUCE"
	same "the exit status" 0 "$status"
	[[ $output == *"interface of 0: eth3"* && $output == *"interface of 1: eth5"* ]] || fail "other interfaces"
	for line in "rank 0 of 2, local 0 of 1 on main1: sum 3, rank 0 on main1" \
		"rank 1 of 2, local 0 of 1 on sub1: sum 3, rank 0 on main1"; do
		[[ $(grep -cF "$line" <<<"$output") -eq 1 ]] || fail "nobody says: $line"
	done
}

@test "torch: distinit again in torchrun's children changes nothing" {
	cluster_ready
	cat >"$BATS_TEST_TMPDIR/child" <<-END
		#!/bin/sh
		env | grep -v '^_=' | sort >$BATS_TEST_TMPDIR/before.\$RANK
		$DISTINIT -- env | grep -v '^_=' | sort >$BATS_TEST_TMPDIR/after.\$RANK
		$DISTINIT env >$BATS_TEST_TMPDIR/changes.\$RANK
	END
	chmod +x "$BATS_TEST_TMPDIR/child"
	torchrun --no_python "$BATS_TEST_TMPDIR/child"
	run login srun --nodes=2 --ntasks-per-node=1 "${torchrun[@]}"
	same "the exit status" 0 "$status"
	for rank in 0 1 2 3; do
		grep -qx "RANK=$rank" "$BATS_TEST_TMPDIR/before.$rank" || fail "torchrun did not start rank $rank"
		run diff "$BATS_TEST_TMPDIR/before.$rank" "$BATS_TEST_TMPDIR/after.$rank"
		same "what distinit changes for rank $rank" "" "$output"
		same "what 'distinit env' prints for rank $rank" "" "$(<"$BATS_TEST_TMPDIR/changes.$rank")"
	done
}

@test "torch: nothing of the cluster is left running" {
	cluster_ready
	cluster_down
	same "what is left" "" "$(remains)"
}

# takes PROGRAM WORD...: Python that has torchrun's own reader of options and numbers of processes.
takes() {
	"$PYTHON" - "$@" 2>&1 <<-'END'
		import re, sys, warnings
		warnings.simplefilter("ignore")
		from torch.distributed.run import determine_local_world_size, get_args_parser
		for line in sys.argv[2:]:
		    words = re.sub(r"\$\w+", "1", line).split()
		    options = get_args_parser().parse_args(words) if sys.argv[1] == "options" else determine_local_world_size(line)
		    print(line, options)
	END
}

@test "torch: torchrun takes the options that the pages and examples give it" {
	local tree=$BATS_TEST_DIRNAME/../.. line
	local -a lines
	mapfile -t lines < <(cd "$tree" && cat README.md docs/*.md examples/*/* 2>/dev/null | sed -e ':a' -e '/\\$/{N;s/\\\n[\t >]*/ /;ba}' |
		sed -nE 's/.*torchrun,? (--[^#`]*\.py).*/\1/p' | tr -d ,)
	((${#lines[@]})) || fail "no page gives torchrun an option"
	for line in "${lines[@]}"; do
		run takes options "$line"
		same "the exit status for $line" 0 "$status"
	done
}

@test "torch: torchrun takes README's number of processes on a machine without a GPU" {
	local told
	told=$(sed -n 's/^ENV PET_NPROC_PER_NODE=//p' "$BATS_TEST_DIRNAME/../../docker/Dockerfile.example")
	[[ -n $told ]] || fail "the Dockerfile says nothing"
	run takes number "$told"
	same "the exit status" 0 "$status"
}
