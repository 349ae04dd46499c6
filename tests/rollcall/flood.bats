#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all, --together: one member sends frames as fast as the kernel takes them. The others, deadlines and signals have
# their turn all the same.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
}

teardown() {
	leave_room
}

# flood FIRST N ARG...: N members from rank FIRST on, for twenty seconds at most.
flood() {
	in_room "$CROWD" call "$2" "$PORT" --first="$1" --act=flood --wait=20000 "${@:3}" >flood.out 2>&1 3>&- &
}

# flooded: all frames are made, and are being sent.
flooded() {
	until grep -qx floods flood.out; do nap 0.02; done
	sleep 0.2
}

@test "flood: the deadline holds, and who joins meanwhile is counted" {
	HOSTS=h0,h1,h2,h3 WAIT=8s
	member 0 -- true
	listening
	flood 3 8 --size=4
	flooded
	member 1 -- true
	# A second for the others to hear it.
	soon 9000 ended 124 0
	grep -E 'roll call: [12] of 4 nodes did not come within 8s: h2 \(rank 2, ' 0.err
	ended 124 1
}

@test "flood: whoever connects is greeted in a moment" {
	HOSTS=h0,h1,h2,h3 WAIT=30s
	member 0 -- true
	listening
	flood 3 8 --size=4
	flooded
	cat >greeted.py <<-'END'
		import socket, time
		longest = 0
		for _ in range(20):
		    began = time.monotonic()
		    s = socket.create_connection(("127.0.0.1", 29500))
		    assert s.recv(32, socket.MSG_WAITALL)[:8] == b"DISTROLL"
		    longest = max(longest, time.monotonic() - began)
		    s.close()
		    time.sleep(0.05)
		print(round(longest * 1000))
	END
	time_begins
	invoke in_room python3 greeted.py
	time_passed
	[[ $status -eq 0 && $output -le $((500 + TOOK - CALM)) ]]
	kill "${PIDS[0]}"
	ended 143 0
}

@test "flood: TERM ends the call at once" {
	HOSTS=h0,h1,h2,h3 WAIT=20s
	member 0 -- true
	listening
	flood 3 8 --size=4
	flooded
	kill "${PIDS[0]}"
	soon 500 ended 143 0
}

@test "flood: a member says BYE once, and is closed if it says it again" {
	HOSTS=h0,h1,h2 WAIT=20s
	member 0 -- true
	listening
	flood 1 1 --size=3
	flooded
	kill "${PIDS[0]}"
	ended 143 0
	wait "$!" || true
	cat flood.out
	grep -E 'hellos=([2-9]|[1-9][0-9])' flood.out
}

@test "flood: a member leaves at its own deadline, whatever its coordinator says" {
	HOSTS=h0,h1 WAIT=2s
	in_room "$CROWD" hear "$PORT" --act=flood --wait=15000 >digests 3>&- &
	listening
	member 1 --master-port="$PORT" -- true
	# Without a secret, a coordinator moves it by a few seconds.
	soon 8000 ended 124 1
}

@test "flood: under --together, TERM ends all within 2 s" {
	HOSTS='h[0-9]'
	OPTIONS=(--together)
	digests -- sh -c 'while :; do sleep 0.1; done'
	member 0 -- sh -c 'touch running.0; while :; do sleep 0.1; done'
	member 1 -- sh -c 'touch running.1; while :; do sleep 0.1; done'
	flood 2 8 --size=10 --act=stay-flood --digests="$DIGESTS"
	until [[ -e running.0 && -e running.1 ]]; do nap 0.02; done
	flooded
	kill "${PIDS[0]}"
	# It stays for those that do not close.
	soon 2500 ended 143 0
	ended 123 1
}
