#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --together with real launchers: PyTorch's torchrun on four nodes, which are addresses of one machine.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr

load ../rollcall/room

TORCHRUN=/usr/bin/torchrun

setup() {
	[[ -x $TORCHRUN ]] || skip "PyTorch's torchrun is not installed"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/../../tools/demo/libuv.py" ||
		skip "this release's PyTorch was built without libuv, so its torchrun cannot run"
	enter_room
	cat >train.py <<-'END'
		import os, time, torch, torch.distributed as dist
		dist.init_process_group("gloo")
		node, start = os.environ["GROUP_RANK"], os.environ.get("DISTINIT_RESTART_COUNT", "0")
		open(f"worker.{node}.{os.getpid()}", "w").close()
		x = torch.ones(10)
		if start == "1":
		    dist.all_reduce(x)
		    open(f"again.{node}.{x[0].item():.0f}", "w").close()
		while start == "0":
		    dist.all_reduce(x)
		    x /= dist.get_world_size()
		    if os.path.exists(f"fail.{node}"):
		        os._exit(3) if open(f"fail.{node}").read() == "exit" else 1 / 0
		    time.sleep(0.05)
	END
	HOSTS=127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4 WAIT=40s
	VARIABLES=(GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 PATH=/usr/bin:/bin HOME="$BATS_TEST_TMPDIR")
}

teardown() {
	[[ -z ${ROOM-} ]] || leave_room
}

# train OPTION...: four nodes with a worker each. With Python 3.11, PyTorch 1.13 needs -r and -t.
train() {
	local rank
	OPTIONS=("$@")
	for rank in 0 1 2 3; do
		member "$rank" -- "$TORCHRUN" --nproc_per_node=1 --max_restarts=0 -r 1 -t 1 --log_dir "$PWD/log" train.py
	done
	until (($(find . -name 'worker.*' | wc -l) == 4)); do sleep 0.1; done
	# They are looked for each second.
	sleep 1.5
}

@test "torchrun: --together=workers names the worker that was killed, and ends all at once" {
	train --together=workers
	local worker=(worker.2.*)
	kill -KILL "${worker[0]##*.}"
	ended 137 2
	ended 123 0 1 3
	local rank
	for rank in 0 1 2 3; do
		[[ $(<"$rank.err") == *": 127.0.0.3 (rank 2) failed first: its process ${worker[0]##*.} (python3"*") was killed by SIGKILL; ending"* ]]
	done
}

@test "torchrun: --together names the node whose worker failed first, though all launchers end together" {
	train --together
	echo raise >fail.1
	ended 123 0 2 3
	local rank got=0
	wait "${PIDS[1]}" || got=$?
	[[ $got -eq 1 ]]
	for rank in 0 1 2 3; do
		[[ $(<"$rank.err") == *': 127.0.0.2 (rank 1) failed first: its process '*') ended with exit status 1; then the program ended on '[1-4]' node'* ]]
	done
}

@test "torchrun: --max-restarts: a worker is killed, and all four start again and reduce together" {
	train --together=workers --max-restarts=1
	local worker=(worker.3.*) again
	kill -KILL "${worker[0]##*.}"
	ended 0 0 1 2 3
	again=(again.*)
	[[ ${again[*]} == 'again.0.4 again.1.4 again.2.4 again.3.4' ]]
	local rank
	for rank in 0 1 2 3; do
		grep -E ': 127.0.0.4 \(rank 3\) failed first: its process [0-9]+ .* was killed by SIGKILL; starting again \(1 of 1\)$' "$rank.err"
	done
}
