#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: strangers in numbers, and members that are far away.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2094 # words of the program are no files
# shellcheck disable=SC2154 # invoke sets status, output and stderr

load room

# The limit of bats for each test outlives this one and keeps its pipe open; Meson's limit holds.
unset BATS_TEST_TIMEOUT

setup() {
	enter_room
	# The master has a network of its own, which a slow relay leads to.
	nsenter --mount --wd --target "$ROOM" unshare --net sh -c 'ip link set lo up && echo >far-ready && exec sleep 1000' 3>&- &
	FAR=$!
	until [[ -e far-ready ]]; do nap 0.02; done
}

teardown() {
	end_network "${FAR-}"
	leave_room
	jobs -p | xargs -r kill 2>/dev/null || true
}

# far COMMAND...: in the master's network.
far() {
	nsenter --net --target "$FAR" nsenter --mount --wd --target "$ROOM" "$@"
}

storm() {
	far python3 "$BATS_TEST_DIRNAME/storm.py" "$@" 3>&-
}

@test "storm: 1,000 connections a second and 300 idle ones do not delay members that are 200 ms away" {
	HOSTS='h[0-64]' WAIT=60s
	digests -- true
	far env -i PATH="$PATH" DISTINIT_JOB="$JOB" "$DISTINIT" --hosts="$HOSTS" --node-rank=0 --hostname=h0 --for=all --wait=60s -- true >0.out 2>0.err 3>&- &
	PIDS[0]=$!
	until far grep -qE ':733C [0-9A-F:]+ 0A' /proc/net/tcp6; do nap 0.02; done
	in_room python3 "$BATS_TEST_DIRNAME/storm.py" relay "$PORT" 200 "$FAR" >relay 3>&- &
	storm idle "$PORT" 300 >idle &
	until [[ -s relay && -s idle ]]; do nap 0.02; done
	storm many "$PORT" 1000 >many &
	sleep 1.5
	crowd call 64 "$PORT" --size=65 --digests="$DIGESTS" --wait=30000
	cat 0.err
	[[ $output == *'go=64 no=0 gone=0 '* ]]
	local wall=${output##*wall_ms=}
	((${wall%%.*} < 5000))
	ended 0 0
	# Nobody is blamed that is a member: their addresses are 127.1.*.
	run ! grep -F '127.1.' 0.err
	# No line for each of thousands.
	(($(wc -l <0.err) < 10))
}
