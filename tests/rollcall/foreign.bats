#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: others than members, on either side.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	HOSTS=h0,h1
}

teardown() {
	leave_room
}

@test "roll call: a client of PyTorch is named" {
	member 0 -- true
	listening
	crowd call 1 "$PORT" --act=torch --from=127.0.9 --wait=2000
	[[ $output == *gone=1* ]]
	said 0 'distinit: warning: roll call: 127.0.9.1 speaks to port 29500 as PyTorch does: it was started without a roll call; start it with the same --for=all or --together'
	member 1 -- true
	ended 0 0 1
}

@test "roll call: members that were started without a roll call are absent, and known by their addresses" {
	local from
	HOSTS=h0,h1,h2
	printf '%s\n' '127.0.0.100 h0' '127.0.9.1 h1' '127.0.9.2 h1' '127.0.8.1 h2' >etc/hosts
	WAIT=1500ms
	member 0 -- true
	listening
	for from in 127.0.9 127.0.8; do crowd call 1 "$PORT" --act=torch --from="$from" --wait=1000; done
	ended 124 0
	[[ $(<0.err) == *'h1 (rank 1, resolves to 127.0.9.1, which speaks as PyTorch does)'* ]]
	[[ $(<0.err) == *'h2 (rank 2, resolves to 127.0.8.1, which speaks as PyTorch does)'* ]]
}

@test "roll call: a port scan, HTTP, TLS and noise are closed, and nobody is kept" {
	WAIT=40s
	member 0 -- true
	listening
	local what
	for what in http tls noise leave; do
		crowd call 20 "$PORT" --act="$what" --first=5 --size=2 --wait=3000
	done
	crowd call 20 "$PORT" --act=silent --stay=100
	crowd call 20 "$PORT" --act=half --stay=100
	crowd call 1 "$PORT" --act=version --wait=2000
	[[ $output == *'go=0 no=0 gone=1 '* ]]
	member 1 -- true
	ended 0 0 1
}

@test "roll call: a thousand silent connections, and slow ones, do not keep the job" {
	WAIT=20s
	member 0 -- true
	listening
	in_room "$CROWD" call 1000 "$PORT" --act=silent --stay=8000 >silent 3>&- &
	in_room "$CROWD" call 20 "$PORT" --act=slow --size=2 --wait=8000 >slow 3>&- &
	sleep 1
	# Memory of the coordinator, in KiB: places are few, whoever comes.
	[[ $(awk '/^VmRSS/ { print $2 }' "/proc/${PIDS[0]}/status") -lt 12000 ]]
	member 1 -- true
	ended 0 0 1
}

@test "roll call: a member says that the port answers, but not as a roll call" {
	cat >silent.py <<-'END'
		import socket
		s = socket.socket()
		s.bind(("0.0.0.0", 29500))
		s.listen()
		kept = []
		while True:
		    kept.append(s.accept())
	END
	server silent.py
	listening
	WAIT=3s
	member 1 -- true
	ended 124 1
	[[ $(<1.err) == 'distinit: error: roll call: h0:29500 answers, but not as a roll call, for 3s: the job has started without this node, or h0 was started without --for=all' ]]
	[[ $(<etc/termination-log) == '' ]]
}

@test "roll call: a member says that the coordinator speaks another version" {
	cat >version.py <<-'END'
		import socket
		s = socket.socket()
		s.bind(("0.0.0.0", 29500))
		s.listen()
		while True:
		    s.accept()[0].sendall(b"DISTROLL\5\6" + bytes(22))
	END
	server version.py
	listening
	WAIT=2s
	member 1 --master-port=29500 -- true
	ended 124 1
	[[ $(<1.err) == *'its distinit speaks versions 5 to 6 of the roll call, and this one 4 only'* ]]
}

@test "roll call: a coordinator that lies about frames is left, and called again" {
	cat >liar.py <<-'END'
		import roll
		s = roll.listen(29500)
		key = roll.job_key(b"manual:room")
		open("bound", "w").close()
		for frame in (b"\x1f\0\x12\4" + bytes(27), b"\xff\xff", b"\0\0", b"\x14\0\x13\4" + bytes(16), None):
		    line, hello = roll.desk(s, key, 29500)
		    # The last one is sealed, and starts all at a port that nobody agreed on.
		    line.connection.sendall(frame or line.seal(roll.GO, b"\1\2" + bytes(9)))
		    print(line.connection.recv(1000), flush=True)
		    line.connection.close()
	END
	PYTHONPATH="$BATS_TEST_DIRNAME" server liar.py
	until [[ -e bound ]]; do nap 0.02; done
	WAIT=5s
	member 1 --master-port=29500 -- echo started
	ended 124 1
	[[ ! -s 1.out ]]
}

@test "roll call: a short queue of the kernel only delays the start" {
	in_room sh -c 'echo 16 >/proc/sys/net/core/somaxconn' || skip 'the queue cannot be shortened here'
	HOSTS='h[0-300]' WAIT=30s
	digests -- true
	member 0 -- true
	listening
	crowd call 300 "$PORT" --digests="$DIGESTS"
	cat 0.err
	[[ $output == *'go=300 no=0 gone=0 '* ]]
	ended 0 0
}

@test "roll call: the master sleeps also while a look-up takes its time" {
	name_server
	HOSTS=h0,h1,elsewhere WAIT=5s
	member 0 -- true
	member 1 -- true
	# From now on, a child looks the third one up. It has inherited the connection of the second one.
	until [[ -e asked ]]; do nap 0.02; done
	kill -KILL "${PIDS[1]}"
	wait "${PIDS[1]}" || true
	sleep 0.2
	local before after
	before=$(awk '{ print $14 + $15 }' "/proc/${PIDS[0]}/stat")
	sleep 1
	after=$(awk '{ print $14 + $15 }' "/proc/${PIDS[0]}/stat")
	echo "ticks of CPU in a second: $((after - before))"
	[[ $((after - before)) -lt 20 ]]
	ended 124 0
}

@test "roll call: a member whose own time is short comes again until it is over" {
	HOSTS=h0,h1,h2 WAIT=25s
	member 0 -- true
	listening
	WAIT=2s
	member 1 -- true
	# Its time is its own. Who is absent is said nevertheless.
	ended 124 1
	[[ $(<1.err) == 'distinit: error: roll call: h0:29500 called the roll, but gave no result within 2s: '*'absent: h2'*'--wait=DURATION waits longer' ]]
	WAIT=10s
	member 1 -- true
	member 2 -- true
	ended 0 0 1 2
}

@test "roll call: whoever does not answer does not move the deadline" {
	HOSTS='h[0-9]' WAIT=2s
	member 0 -- true
	listening
	# More than are asked at a time. Each counts other members, comes again and again, and does not say what it counts.
	cat >again <<-END
		while :; do '$CROWD' call 1 $PORT --first=\$1 --size=11 --digests=\$1,2,3,4,5 --act=mute --wait=8000; done
	END
	local i
	for i in {1..8}; do
		in_room sh again "$i" >/dev/null 2>&1 3>&- &
	done
	for i in {1..150}; do
		kill -0 "${PIDS[0]}" 2>/dev/null || break
		sleep 0.1
	done
	[[ $i -lt 150 ]]
	ended 124 0
}
