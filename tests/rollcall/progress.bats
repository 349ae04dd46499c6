#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --progress on several nodes: the one that all others wait for is named. e2e/progress.bats has one node.

# shellcheck disable=SC2030,SC2031,SC2034 # the helpers use these, and a test is a subshell
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	OPTIONS=(--together --root="$PWD/root")
	mkdir -p root
	# writes N: it writes a file of its own N times, one each 0.1 s, and hangs.
	cat >writes <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		[ "${DISTINIT_RESTART_COUNT:-0}" = 0 ] || exit 0
		i=0
		while [ "$i" -lt "$1" ]; do
			i=$((i + 1))
			sleep 0.1
			: >"log.$PET_NODE_RANK"
		done
		exec sleep 100
	END
}

teardown() {
	leave_room
}

# hangs RANK N [OPTION...]: a member whose program writes N times.
hangs() {
	local rank=$1 n=$2
	shift 2
	member "$rank" --progress="$PWD/log.$rank:2s" "$@" -- sh writes "$n"
}

@test "progress: the stalest node is named, as the others only wait for it, and ends with 124" {
	hangs 0 12
	hangs 1 12
	hangs 2 5
	ended 123 0 1
	ended 124 2
	local rank
	for rank in 0 1 2; do
		grep -E "warning: h2 \(rank 2\) has made no progress for 2s \(.*/log\.2 last written 2\.?[0-9]*s ago\); its processes: 0 running, 1 sleeping; ending$" "$rank.err"
	done
	grep -E 'error: ended because h2 \(rank 2\) has made no progress' 0.err
}

@test "progress: one that has never written is the stalest, though its own time is not over" {
	hangs 0 3
	hangs 1 0
	hangs 2 3
	ended 123 0 2
	ended 124 1
	grep -E 'h1 \(rank 1\) has made no progress for 2s \(.*/log\.1 not written since the start [23]\.?[0-9]*s ago\)' 0.err
}

@test "progress: a node that does not watch is not blamed; all start again with --max-restarts" {
	OPTIONS+=(--max-restarts=1)
	hangs 0 1
	member 1 -- sh writes 0
	hangs 2 8
	ended 0 0 1 2
	grep -E 'h0 \(rank 0\) has made no progress for 2s .*; starting again \(1 of 1\)' 1.err
	[[ $(grep start 2.out) == $'start 0\nstart 1' ]]
}

# The page shows: distinit --together --progress=/ckpt/log:30m --max-restarts=5 -- torchrun train.py
# and: distinit --init --progress='/ckpt/*.pt:2h' -- python3 train.py
@test "progress: the report says stale, and the status" {
	HOSTS=h0,h1
	member 0 --report="$PWD/report" --progress="$PWD/log.0:1s" -- sh writes 4
	member 1 -- sh writes 0
	ended 124 0
	ended 123 1
	cat report
	grep -E '"why": ?"stale", ?"rank": ?0,.*"status": ?124' report
}
