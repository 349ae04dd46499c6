#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --max-restarts, and the master's distinit is killed: who is left waits for another one, as long as was promised, and no longer.
# What only waits for that is in tests/sim: in-time, comes-back and words-are-true look at each roll call of each job.
# again.bats has all else of starting again.

# shellcheck disable=SC2030,SC2031,SC2034 # the helpers use these, and a test is a subshell
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	HOSTS=h0,h1
	WAIT=1s
	# Others may come for --wait, both graces and 5 s more, from the loss on: 6.8 s.
	OPTIONS=(--together --max-restarts=3 --grace=500ms --leftovers-grace=300ms --root="$PWD/root")
	mkdir -p root
	# works: until it gets TERM, or until somebody makes fail.RANK.COUNT.
	cat >works <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		trap 'echo told; exit 143' TERM
		: >"running.$PET_NODE_RANK.$DISTINIT_RESTART_COUNT"
		until [ -e "fail.$PET_NODE_RANK.$DISTINIT_RESTART_COUNT" ]; do sleep 0.1; done
		exit 3
	END
}

teardown() {
	leave_room
	[[ -z ${FAR-} ]] || kill "$FAR" 2>/dev/null || true
}

# running COUNT RANK...: wait until these have begun that start.
running() {
	local rank
	for rank in "${@:2}"; do
		until [[ -e running.$rank.$1 ]]; do nap 0.02; done
	done
}

# called N: wait until the master has so many connections in its roll call, and nobody is on the way.
called() {
	listening
	until [[ $(in_room cat /proc/net/tcp /proc/net/tcp6 | grep -cE "$(printf ':%04X ' "$PORT")[0-9A-F:]+ 01 ") -ge $1 ]]; do nap 0.02; done
	sleep 0.1
}

# lose RANK: its distinit is killed, and nothing else. Time begins.
lose() {
	time_begins
	kill -KILL "${PIDS[$1]}"
}

# gives_up MS RANK: it has ended with 124, so long after time began, and not sooner.
gives_up() {
	ended 124 "$2"
	time_passed
	((TOOK >= $1 - 200 && CALM <= $1 + 1500))
}

@test "lost: the master is killed in a roll call that waits for a third: the others end in time with 124, or meet who comes then" {
	HOSTS=h0,h1,h2
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	running 0 0 1 2
	lose 2
	said 0 '*starting again (1 of 3)'
	called 1
	kill -KILL "${PIDS[0]}"
	gives_up 6800 1
	grep -E 'error: roll call: the connection to h0:29500 ended after ' 1.err
	rm -f running.*
	WAIT=10s
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	running 0 0 1 2
	lose 2
	said 0 '*starting again (1 of 3)'
	called 1
	kill -KILL "${PIDS[0]}"
	mv 0.err old.0.err
	mv 2.err old.2.err
	member 0 -- sh works
	member 2 -- sh works
	running 1 0 1 2
	[[ $(tail -n 1 1.out) == 'start 1' && $(<0.out) == 'start 1' ]]
}

@test "lost: the master is killed before its own program has ended, which goes on and has the port: the other one ends in time with 124" {
	cat >serves.py <<-'END'
		import os, signal, socket, time
		signal.signal(signal.SIGTERM, signal.SIG_IGN)
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("", int(os.environ["MASTER_PORT"])))
		s.listen()
		open("running.0.0", "w").close()
		time.sleep(100)
	END
	OPTIONS+=(--grace=1500ms)
	member 0 -- python3 serves.py
	member 1 -- sh works
	running 0 0 1
	: >fail.1.0
	said 0 '*starting again (1 of 3)'
	lose 0
	gives_up 7800 1
	[[ $(<1.out) == 'start 0' ]]
	grep -E 'error: roll call: h0:29500 answers, but not as a roll call, for ' 1.err
}

@test "lost: the master is killed, and the program of another ends before that one has heard of it: it waits all the same" {
	# Something is on the way to the master as that is killed, so its kernel resets the connection.
	cat >launches.py <<-'END'
		import subprocess, time
		worker = subprocess.Popen(["sleep", "100"])
		with open("worker", "w") as file:
		    file.write(str(worker.pid))
		open("running.1.0", "w").close()
		time.sleep(100)
	END
	member 0 -- sh works
	member 1 -- python3 launches.py
	running 0 0 1
	# Each looks for new processes once a second.
	sleep 1.5
	kill -STOP "${PIDS[0]}"
	kill -KILL "$(<worker)"
	until in_room grep -qE "$(printf ':%04X ' "$PORT")[0-9A-F:]+ 01 00000000:0*[1-9A-F]" /proc/net/tcp /proc/net/tcp6; do nap 0.02; done
	kill -STOP "${PIDS[1]}"
	lose 0
	pkill -KILL --parent "${PIDS[1]}"
	until [[ -z $(in_room ss -Htn state established) ]]; do nap 0.02; done
	kill -CONT "${PIDS[1]}"
	said 1 '*h0 (rank 0) is lost: *; starting again (1 of 3)'
	gives_up 6800 1
}

@test "lost: no restart is left: all end at once with 123, and say both" {
	HOSTS=h0,h1,h2
	OPTIONS+=(--max-restarts=1)
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	running 0 0 1 2
	: >fail.1.0
	running 1 0 1 2
	lose 0
	soon 3000 ended 123 1 2
	local rank
	for rank in 1 2; do
		grep -F 'distinit: warning: h0 (rank 0) is lost: its connection has ended; not starting again: 1 of 1 restarts used' "$rank.err"
		grep -F 'distinit: error: ended because h0 (rank 0) is lost: its connection has ended, ' "$rank.err"
	done
}

# machine: another one, at the end of a new cable, with the address 10.9.0.2. FAR is its first process.
machine() {
	unshare --net sleep 200 3>&- &
	FAR=$!
	until [[ $(readlink "/proc/$FAR/ns/net") != "$(readlink /proc/$$/ns/net)" ]]; do nap 0.02; done
	in_room ip link add near type veth peer name far
	in_room ip addr add 10.9.0.1/24 dev near
	in_room ip link set near up
	in_room ip link set far netns "$FAR"
	on_machine ip addr add 10.9.0.2/24 dev far
	on_machine ip link set far up
	on_machine ip link set lo up
}

on_machine() {
	nsenter --net --target "$FAR" "$@"
}

# far_master: the member of rank 0, there.
far_master() {
	on_machine --mount="/proc/$ROOM/ns/mnt" --wd="$PWD" env -i PATH="$PATH" DISTINIT_JOB="$JOB" "$DISTINIT" --hosts="$HOSTS" --node-rank=0 \
		--hostname=h0 --for=all --wait="$WAIT" "${OPTIONS[@]}" -- true >0.out 2>0.err 3>&- &
	PIDS[0]=$!
}

@test "lost: the machine of the master is gone without a word, and another one calls: who waits in a roll call notices" {
	requires ip
	in_room ip link add near type veth peer name far || skip "the kernel makes no veth pairs for us"
	in_room ip link del near
	HOSTS=10.9.0.2,h1,h2
	WAIT=40s
	machine
	far_master
	member 1 -- true
	until [[ $(in_room ss -Htn state established) == *"10.9.0.2:$PORT"* ]]; do nap 0.02; done
	sleep 0.2
	# Its last words do not arrive.
	in_room ip link del near
	kill -KILL "${PIDS[0]}" "$FAR"
	machine
	far_master
	member 2 -- true
	soon 20000 ended 0 0 1 2
}
