#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Dask's own programs: a scheduler and two workers, by one command line on three nodes, each with a network of its own.

# shellcheck disable=SC2154 # run sets status and output

load helpers

NODES=(192.0.2.1 192.0.2.2 192.0.2.3)
COMMAND=(dask :master: scheduler --port=8786 --no-dashboard :workers: worker "tcp://{master-addr}:8786" --nthreads=1 --no-dashboard
	--no-nanny "--host={node-addr}" "--name={node-rank}")

setup() {
	[[ $EUID -eq 0 ]] || skip "only root can make networks of its own"
	command -v dask >/dev/null || skip "python3-distributed is not installed"
	ip netns add "dask$$-0" 2>/dev/null || skip "no network namespaces can be made here"
	NET=(ip netns exec "dask$$-0")
	"${NET[@]}" ip link add bridge0 type bridge 2>/dev/null || skip "the kernel makes no bridges for us"
	"${NET[@]}" ip addr add 192.0.2.1/24 dev bridge0
	"${NET[@]}" ip link set bridge0 up
	"${NET[@]}" ip link set lo up
	for i in 1 2; do
		ip netns add "dask$$-$i"
		"${NET[@]}" ip link add "port$i" type veth peer name eth0 netns "dask$$-$i"
		"${NET[@]}" ip link set "port$i" master bridge0 up
		ip -n "dask$$-$i" addr add "${NODES[i]}/24" dev eth0
		ip -n "dask$$-$i" link set eth0 up
		ip -n "dask$$-$i" link set lo up
	done
	PIDS=()
}

teardown() {
	[[ -z ${PIDS[*]} ]] || kill -KILL "${PIDS[@]}" || true
	for i in 0 1 2; do
		ip netns delete "dask$$-$i" 2>/dev/null || true
	done
}

# nodes OPTION...: all three, in the background.
nodes() {
	local i hosts
	hosts=$(IFS=,; echo "${NODES[*]}")
	for i in 0 1 2; do
		ip netns exec "dask$$-$i" env HOME="$BATS_TEST_TMPDIR" DISTINIT_HOSTS="$hosts" DISTINIT_NODE_RANK="$i" "$DISTINIT" --fill --wait=30s --for=all \
			"$@" -- "${COMMAND[@]}" >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
		PIDS+=($!)
	done
}

# computes: a client finds both workers; then it ends all.
computes() {
	run ip netns exec "dask$$-0" timeout "$((60 * ${PATIENCE:-1}))" "$PYTHON" "$PROGRAMS/dask-client" 192.0.2.1:8786 2
	cat "$BATS_TEST_TMPDIR"/[012] | tail -n 30
	# Before it or behind it, Dask may tell that the scheduler has gone.
	[[ $status -eq 0 ]] && grep -qx "1 2: 285" <<<"$output"
}

@test "dask: one command line is the scheduler and two workers, and they compute" {
	nodes
	computes
}

@test "dask: --max-restarts: the scheduler is killed, and all three start again and compute" {
	local scheduler i
	nodes --together --max-restarts=2
	until grep -qs 'Starting established connection' "$BATS_TEST_TMPDIR/1" && grep -qs 'Starting established connection' "$BATS_TEST_TMPDIR/2"; do sleep 0.1; done
	# ip, env and distinit are one process after the other.
	scheduler=$(pgrep --parent "${PIDS[0]}")
	kill -KILL "$scheduler"
	computes
	for i in 0 1 2; do
		grep -F '192.0.2.1 (rank 0) failed first: killed by SIGKILL; starting again (1 of 2)' "$BATS_TEST_TMPDIR/$i"
	done
	wait "${PIDS[0]}"
}
