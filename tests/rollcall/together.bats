#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --together: if one node's program fails, all are ended, and say who was first. Here with real processes on addresses of one
# machine; engines/together.bats has containers.

# shellcheck disable=SC2030,SC2031,SC2034 # the helpers use these, and a test is a subshell
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	OPTIONS=(--together --root="$PWD/root")
	# Each has a termination log of its own, under its own root.
	mkdir -p root
}

teardown() {
	leave_room
	[[ -z ${CGROUP-} ]] || rmdir "$CGROUP"
}

# running RANK...: the programs of these members have made their files.
running() {
	local rank
	for rank; do
		for _ in {1..1000}; do
			[[ -e running.$rank ]] && break
			nap 0.02
		done
		[[ -e running.$rank ]]
	done
}

# works RANK [SCRIPT]: a member whose program runs until it is asked to end. SCRIPT comes first.
works() {
	member "$1" "${@:3}" -- sh -c "${2-}"' touch running.'"$1"'; while :; do sleep 0.1; done'
}

# all_say SENTENCE RANK...: these members have that warning, once.
all_say() {
	local sentence=$1 rank
	shift
	for rank; do
		cat "$rank.err"
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $(grep -cE "^distinit: warning: $sentence\$" "$rank.err") -eq 1 ]]
	done
}

# ended_because SENTENCE RANK...: these members end with 123, and say why.
ended_because() {
	local sentence=$1 rank
	shift
	soon 2000 ended 123 "$@"
	for rank; do
		grep -E "^distinit: error: ended because $sentence, [0-9.]+s ago\$" "$rank.err"
	done
}

@test "together: a program that exits with 1 ends all others, which say who was first" {
	works 0
	works 1
	member 2 -- sh -c 'until [ -e running.0 ] && [ -e running.1 ]; do sleep 0.02; done; exit 1'
	ended 1 2
	ended_because 'h2 \(rank 2\) failed first: exit status 1' 0 1
	all_say 'h2 \(rank 2\) failed first: exit status 1; ending' 0 1 2
	run ! grep -h 'ended after' 0.err 1.err
}

@test "together: a warning about the report goes to who reads stderr, and waits for nobody" {
	local got=0
	HOSTS=h0,h1
	mkdir folder
	mkfifo 1.err
	exec 7<>1.err
	member 0 -- sh -c 'until [ -e full ]; do sleep 0.02; done; exit 1'
	member 1 --report=folder/report -- python3 -c '
import os, shutil, time
shutil.rmtree("folder")
os.set_blocking(2, False)
for size in 4096, 1:
    try:
        while True:
            os.write(2, b"x" * size)
    except BlockingIOError:
        pass
os.set_blocking(2, True)
open("full", "w").close()
time.sleep(1000)'
	until_true gone "${PIDS[1]}"
	wait "${PIDS[1]}" || got=$?
	((got == 123))
	exec 7>&-
}

# launched RANK...: each of these members has a launcher with two workers; the first to die will be that of node 2.
launched() {
	local rank
	for rank; do
		member "$rank" -- python3 "$BATS_TEST_DIRNAME/launcher.py" "$rank" 2 2
	done
	for rank; do
		until (($(find . -name "worker.$rank.*" | wc -l) == 2)); do nap 0.02; done
	done
	# They are looked for each second.
	sleep 1.2
}

# kill_worker SIGNAL RANK: one of its workers.
kill_worker() {
	local one
	one=$(find . -name "worker.$2.*" | head -n 1)
	KILLED=${one##*.}
	kill -"$1" "$KILLED"
}

@test "together: of launchers that end together, the one is named whose worker died first" {
	launched 0 1 2
	kill_worker KILL 2
	ended 137 2
	ended 123 0 1
	local rank
	for rank in 0 1 2; do
		[[ $(<"$rank.err") == *": h2 (rank 2) failed first: its process $KILLED (python3) was killed by SIGKILL; then the program ended on 2 nodes: exit status 1; ending"* ]]
	done
}

@test "together: --together=workers ends all as soon as a worker fails, without waiting for its launcher" {
	OPTIONS=(--together=workers --root="$PWD/root")
	launched 0 1 2
	kill_worker KILL 2
	soon 1500 ended 137 2
	soon 500 ended 123 0 1
	all_say "h2 \(rank 2\) failed first: its process $KILLED \(python3\) was killed by SIGKILL; ending" 0 1 2
}

@test "together: a worker that ended before anybody looked is found, while its launcher has not" {
	OPTIONS=(--together=workers --root="$PWD/root")
	cat >launcher.py <<-'END'
		import subprocess, time
		# Kept: Python waits for one that nobody keeps.
		first = subprocess.Popen(["sh", "-c", "exit 0"])
		time.sleep(1.5)
		second = subprocess.Popen(["sh", "-c", "exit 3"])
		time.sleep(100)
	END
	member 0 -- sleep 100
	member 1 -- python3 launcher.py
	member 2 -- sleep 100
	soon 20000 ended 3 1
	ended 123 0 2
	all_say 'h1 \(rank 1\) failed first: its process [0-9]+ \(sh\) ended with exit status 3; ending' 0 1 2
}

@test "together: a worker that its launcher ends by TERM, or that ends with 0, has not failed" {
	OPTIONS=(--together=workers --root="$PWD/root")
	cat >launcher.py <<-'END'
		import subprocess, time
		workers = [subprocess.Popen(["sleep", "1000"]), subprocess.Popen(["sleep", "1.5"])]
		time.sleep(1.5)
		workers[0].terminate()
		for worker in workers:
		    worker.wait()
		open("ended", "w").close()
		time.sleep(100)
	END
	member 0 -- sleep 100
	member 1 -- python3 launcher.py
	member 2 -- sleep 100
	until [[ -e ended ]]; do nap 0.02; done
	sleep 0.5
	kill -0 "${PIDS[0]}" "${PIDS[1]}" "${PIDS[2]}"
	kill -KILL "$(pgrep -P "${PIDS[1]}")"
	ended 137 1
	ended 123 0 2
}

@test "together: a worker below a shell is watched, but none below a worker" {
	OPTIONS=(--together=workers --root="$PWD/root")
	cat >outer.py <<-'END'
		import subprocess
		subprocess.run(["python3", "inner.py"])
	END
	cat >inner.py <<-'END'
		import subprocess, time
		below = subprocess.Popen(["sleep", "2000"])
		open("below", "w").write(str(below.pid))
		below.wait()
		time.sleep(100)
	END
	member 1 -- sh -c 'python3 "$0" 1 1 1; :' "$BATS_TEST_DIRNAME/launcher.py"
	member 2 -- python3 outer.py
	member 0 -- sleep 100
	until [[ -s below ]] && find . -name 'worker.1.*' | grep -q .; do nap 0.02; done
	sleep 1.2
	kill -KILL "$(<below)"
	sleep 1
	kill -0 "${PIDS[0]}" "${PIDS[1]}" "${PIDS[2]}"
	kill_worker KILL 1
	ended 137 1
	ended 123 0 2
}

@test "together: workers are found where the kernel does not list the children of a process" {
	OPTIONS=(--together=workers --root="$PWD/root")
	cat >launcher.py <<-'END'
		import os, subprocess, time
		open("pid", "w").write(f"{os.getpid()}\n")
		while not os.path.exists("go"):
		    time.sleep(0.02)
		worker = subprocess.Popen(["sleep", "1000"])
		open("worker", "w").write(f"{worker.pid}\n")
		time.sleep(1000)
	END
	member 0 -- sleep 100
	member 1 -- python3 launcher.py
	member 2 -- sleep 100
	until [[ -s pid ]]; do nap 0.02; done
	# As without CONFIG_PROC_CHILDREN: a socket cannot be opened.
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	local children
	children=/proc/$(<pid)/task/$(<pid)/children
	in_room mount --bind socket "$children"
	run ! in_room cat "$children"
	touch go
	until [[ -s worker ]]; do nap 0.02; done
	sleep 1.2
	kill -KILL "$(<worker)"
	soon 1500 ended 137 1
	ended 123 0 2
	all_say "h1 \(rank 1\) failed first: its process $(<worker) \(sleep\) was killed by SIGKILL; ending" 0 1 2
}

@test "together: TERM is passed on once, and who got it himself keeps his status" {
	local script='trap "echo TERM; n=\$((\${n:-0} + 1)); sleep 0.5; exit 7" TERM;'
	works 0 "$script"
	works 1 "$script"
	works 2 "$script"
	running 0 1 2
	# The word of rank 0 and the manager's come within a second, in either order.
	kill -TERM "${PIDS[1]}"
	sleep 0.2
	kill -TERM "${PIDS[0]}" "${PIDS[1]}" "${PIDS[2]}"
	ended 7 0 1 2
	[[ $(cat 0.out 1.out 2.out) == $'TERM\nTERM\nTERM' ]]
}

@test "together: who gets TERM after the word of another has been asked to end: it says so, and told:143 is for its 0, too" {
	local rank
	OPTIONS+=(--map-exit=told:143)
	for rank in 0 1 2; do works "$rank" 'trap "sleep 0.5; exit 0" TERM;'; done
	running 0 1 2
	kill -TERM "${PIDS[1]}"
	said 0 '*asked to end: SIGTERM; ending'
	said 2 '*asked to end: SIGTERM; ending'
	kill -TERM "${PIDS[0]}" "${PIDS[2]}"
	ended 143 0 1 2
	for rank in 0 1 2; do
		grep -E 'warning: sh ended after .*: exit status 0, [0-9.]+s after SIGTERM from ' "$rank.err"
	done
}

@test "together: what comes into a pod whose roll call is over cannot be asked to join by the pod's variables" {
	requires unshare nsenter pgrep
	local inside=(env -i PATH="$PATH" DISTINIT_JOB="$JOB" DISTINIT_TOGETHER=1 "DISTINIT_HOSTS=h0,h1" DISTINIT_NODE_RANK=1 "$DISTINIT") outer init
	HOSTS=h0,h1
	works 0
	nsenter --net --mount --wd --target "$ROOM" unshare --pid --fork --kill-child --mount-proc "${inside[@]}" --hostname=h1 -- sh -c 'touch running.1; exec sleep 100' 3>&- &
	outer=$!
	running 0 1
	init=$(pgrep -P "$outer")
	pod() {
		invoke nsenter --target "$init" --pid --mount --net --wd="$PWD" "$@"
	}
	soon 1000 pod sh -c '"$@"; exit "$?"' - "${inside[@]}" --wait=10s -- true
	[[ $status -eq 125 && $stderr == 'distinit: error: DISTINIT_TOGETHER: a process of this node is in the job already, '*'--options-from=command-line' ]]
	pod "${inside[@]}" --options-from=command-line -- echo started
	[[ $status -eq 0 && $output == started ]]
	# A program that the pod's own starts may call another roll, and so may the command line.
	pod "${inside[@]}" --together --wait=100ms -- true
	[[ $status -eq 124 ]]
	kill -TERM "$init"
	wait "$outer" || true
}

@test "together: the master's program is one like the others" {
	member 0 -- sh -c 'until [ -e running.2 ] && [ -e running.1 ]; do sleep 0.02; done; exit 7'
	works 1
	works 2
	soon 20000 ended 7 0
	ended_because 'h0 \(rank 0\) failed first: exit status 7' 1 2
	all_say 'h0 \(rank 0\) failed first: exit status 7; ending' 1 2
	grep 'h0 (rank 0) failed first: exit status 7; ending; if it could not bind port 29500: .*--together=PORT' 0.err
	# What a signal ended had no trouble with its port.
	rm running.*
	member 0 -- sh -c 'until [ -e running.2 ] && [ -e running.1 ]; do sleep 0.02; done; kill -KILL $$'
	works 1
	works 2
	ended 137 0
	ended_because 'h0 \(rank 0\) failed first: killed by SIGKILL' 1 2
	grep -x 'distinit: .*h0 (rank 0) failed first: killed by SIGKILL; ending' 0.err
}

@test "together: a program that is killed ends all others" {
	works 0
	works 1
	works 2 'echo $$ >pid;'
	running 0 1 2
	kill -KILL "$(<pid)"
	soon 2000 ended 137 2
	ended_because 'h2 \(rank 2\) failed first: killed by SIGKILL' 0 1
}

# limited COMMAND...: what it starts is in a cgroup that may use 100 MB.
limited() {
	local max=memory.limit_in_bytes
	CGROUP=/sys/fs/cgroup/memory/distinit-$$
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		CGROUP=/sys/fs/cgroup/distinit-$$ max=memory.max
	fi
	if ! mkdir "$CGROUP" || ! echo 100000000 >"$CGROUP/$max"; then
		CGROUP=''
		skip 'no cgroup with a memory limit can be made here'
	fi
	local self=$BASHPID
	echo "$self" >"$CGROUP/cgroup.procs"
	"$@"
	echo "$self" >"$(dirname "$CGROUP")/cgroup.procs"
}

# Takes more memory than that, when the others run.
TAKER='
import os, time
while not (os.path.exists("running.0") and os.path.exists("running.1")):
    time.sleep(0.02)
time.sleep(1.2)
kept = [b"x" * 1000000 for _ in range(1000)]'

@test "together: a program that its memory limit killed ends all others, with the reason" {
	OPTIONS=(--together)
	works 0
	works 1
	limited member 2 -- python3 -c "$TAKER"
	soon 20000 ended 137 2
	ended_because 'h2 \(rank 2\) failed first: killed by SIGKILL; processes that the kernel killed for lack of memory: 1' 0 1
}

@test "together: a worker that its memory limit killed is named with the reason" {
	OPTIONS=(--together=workers)
	works 0
	works 1
	limited member 2 -- python3 -c 'import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1]])
time.sleep(100)' "$TAKER"
	soon 20000 ended 137 2
	ended_because 'h2 \(rank 2\) failed first: its process [0-9]+ \(python3\) was killed by SIGKILL; processes that the kernel killed for lack of memory: 1' 0 1
}

@test "together: TERM of one is TERM of all, each with its grace" {
	works 0 "trap 'sleep 0.3; touch saved.0; exit 0' TERM;"
	works 1 "trap 'sleep 0.3; touch saved.1; exit 4' TERM;"
	# The program of the node that got TERM ends last, so this node hears the answer, too.
	works 2 "trap 'until [ -e saved.0 ]; do sleep 0.02; done; touch saved.2; exit 0' TERM;"
	running 0 1 2
	kill -TERM "${PIDS[2]}"
	ended 0 2
	ended_because 'h2 \(rank 2\) was asked to end: SIGTERM' 0 1
	all_say 'h2 \(rank 2\) was asked to end: SIGTERM; ending' 0 1 2
	[[ -e saved.0 && -e saved.1 && -e saved.2 ]]
}

@test "together: TERM of the master is TERM of all" {
	works 0
	works 1
	works 2
	running 0 1 2
	kill -TERM "${PIDS[0]}"
	ended 143 0
	ended_because 'h0 \(rank 0\) was asked to end: SIGTERM' 1 2
}

@test "together: who was asked to end as well has its own status" {
	works 0
	works 1
	works 2
	running 0 1 2
	kill -STOP "${PIDS[0]}"
	kill -TERM "${PIDS[2]}" "${PIDS[1]}"
	sleep 0.3
	kill -CONT "${PIDS[0]}"
	ended 143 1 2
	ended 123 0
}

@test "together: --together=failures leaves TERM to those that get it, until they fail" {
	OPTIONS=(--together=failures)
	works 0
	works 1 "trap 'touch told; while [ ! -e go ]; do sleep 0.02; done; exit 0' TERM;"
	works 2 "trap 'touch told; while [ ! -e go ]; do sleep 0.02; done; exit 5' TERM;"
	running 0 1 2
	kill -TERM "${PIDS[1]}"
	until [[ -e told ]]; do nap 0.02; done
	touch go
	ended 0 1
	kill -0 "${PIDS[0]}"
	kill -TERM "${PIDS[2]}"
	ended 5 2
	ended_because 'h2 \(rank 2\) failed first: exit status 5, [0-9.]+s after SIGTERM from pid [0-9]+' 0
}

@test "together: --together=failures: who dies of the TERM that it got has not failed" {
	OPTIONS=(--together=failures)
	member 1 -- sleep 100
	member 2 -- sh -c 'trap "exit 143" TERM; touch running.2; while :; do sleep 0.1; done'
	works 0
	running 0 2
	kill -TERM "${PIDS[1]}" "${PIDS[2]}"
	ended 143 1 2
	sleep 0.5
	kill -0 "${PIDS[0]}"
}

@test "together: a program that does not end is killed after 30 s, or --grace" {
	works 0
	works 1 "trap '' TERM;" --grace=500ms
	works 2 "trap '' TERM;" --signal=TERM:0 --grace=500ms
	running 0 1 2
	kill -KILL "$(pgrep -P "${PIDS[0]}")" 2>/dev/null || kill_program KILL 'touch running.0'
	ended 137 0
	ended_because 'h0 \(rank 0\) failed first: killed by SIGKILL' 1 2
	grep 'did not end within the grace period of 0.5s: it is killed' 1.err 2.err
	distinit -- --together --hosts=h0,h1 --node-rank=0 --wait=100ms --grace=never -- true
	[[ $status -eq 124 ]]
}

@test "together: a member that is lost ends all others" {
	works 0
	works 1
	works 2
	running 0 1 2
	kill -KILL "${PIDS[2]}"
	ended_because 'h2 \(rank 2\) is lost: its connection has ended' 0 1
	kill_program TERM 'touch running.2'
}

@test "together: a member that goes when it hears the start ends all others" {
	HOSTS=h0,h1
	# The same command: nobody is asked for facts.
	digests -- sleep 60
	member 0 -- sleep 60
	crowd call 1 "$PORT" --act=deaf --digests="$DIGESTS"
	ended 123 0
	grep -E 'ended because h1 \(rank 1\) is lost: (Connection reset by peer|it did not hear the start), ' 0.err
}

@test "together: the loss of the master ends all members" {
	works 0
	works 1
	works 2
	running 0 1 2
	kill -KILL "${PIDS[0]}"
	ended_because 'h0 \(rank 0\) is lost: (its connection has ended|Connection reset by peer)' 1 2
	kill_program TERM 'touch running.0'
}

@test "together: a node without power is noticed within 25 s" {
	requires ip
	# The third and the fourth are on a machine of their own, at the end of a cable.
	unshare --net sleep 200 3>&- &
	local far=$!
	until [[ $(readlink /proc/$far/ns/net) != "$(readlink /proc/$$/ns/net)" ]]; do nap 0.02; done
	PIDS[9]=$far
	in_room ip link add near type veth peer name far
	in_room ip addr add 10.9.0.1/24 dev near
	in_room ip link set near up
	in_room ip link set far netns "$far"
	nsenter --net --target "$far" ip addr add 10.9.0.2/24 dev far
	nsenter --net --target "$far" ip link set far up
	nsenter --net --target "$far" ip link set lo up
	HOSTS=10.9.0.1,h1,h2,h3
	works 0
	works 1
	local rank
	for rank in 2 3; do
		nsenter --net --target "$far" --mount="/proc/$ROOM/ns/mnt" --wd="$PWD" env PATH="$PATH" DISTINIT_JOB="$JOB" "$DISTINIT" \
			--hosts="$HOSTS" --node-rank="$rank" --hostname="h$rank" --wait="$WAIT" --together \
			-- sh -c "touch running.$rank; while :; do sleep 0.1; done" >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	running 0 1 2 3
	nsenter --net --target "$far" ip link set far down
	soon 25000 ended 123 0
	ended 123 1
	local why='(Connection timed out|Operation timed out|No route to host|Host is unreachable)'
	# One of the two; the other does not answer either. It may be the master that is cut off.
	grep -E "^distinit: error: ended because h[23] \(rank [23]\) is lost: $why, and 1 more do not answer, or the network of this node, 10.9.0.1, has failed, [0-9.]+s ago\$" 0.err
	soon 10000 ended 123 2 3
	grep -E "^distinit: error: ended because 10.9.0.1 \(rank 0\) is lost: $why, or the network of this node, h2, has failed, [0-9.]+s ago\$" 2.err
}

@test "together: a program that exits with 0 ends nothing" {
	works 0 '' -v
	member 1 -- true
	member 2 -- sh -c 'until [ -e go ]; do sleep 0.02; done'
	ended 0 1
	running 0
	sleep 0.3
	kill -0 "${PIDS[2]}"
	touch go
	ended 0 2
	kill -0 "${PIDS[0]}"
	kill_program KILL 'touch running.0'
	ended 137 0
}

@test "together: the master's distinit stays until all have ended, or for --linger, and then the others go on" {
	member 0 -- true
	works 1 "trap 'exit 3' USR1;"
	works 2
	running 1 2
	sleep 0.3
	kill -0 "${PIDS[0]}"
	kill -USR1 "${PIDS[1]}"
	ended 3 1
	ended_because 'h1 \(rank 1\) failed first: exit status 3, .* after SIGUSR1 from pid [0-9]+' 2
	ended 0 0
	rm -f running.*
	member 0 --linger=300ms -- true
	works 1
	works 2
	running 1 2
	ended 0 0
	sleep 0.3
	kill -0 "${PIDS[1]}" "${PIDS[2]}"
	kill_program KILL 'touch running.1'
	ended 137 1
	kill -0 "${PIDS[2]}"
}

@test "together: TERM ends the wait of --linger" {
	member 0 -- touch running.0
	works 1
	works 2
	running 0 1 2
	sleep 0.2
	kill -TERM "${PIDS[0]}"
	soon 2000 ended 0 0
	sleep 0.2
	kill -0 "${PIDS[1]}" "${PIDS[2]}"
}

@test "together: of two failures at once, all name the same first" {
	local round
	for round in 1 2 3; do
		HOSTS='h[0-7]'
		rm -f go running.*
		local rank failed=0 others=0
		for rank in {0..7}; do
			member "$rank" -- sh -c "touch running.$rank; until [ -e go ]; do :; done; exit $((rank % 2 ? rank + 40 : 0))"
		done
		running {0..7}
		touch go
		for rank in {0..7}; do
			wait "${PIDS[rank]}" && others=$((others + 1)) || {
				local status=$?
				if ((status == 123)); then others=$((others + 1)); else
					((status == rank + 40))
					failed=$((failed + 1))
				fi
			}
		done
		cat ./*.err
		((failed == 1 && others == 7))
		# Those that fail, and those that were told.
		grep -h 'failed first.*; ending' ./*.err | sed 's/^distinit: [a-z]*: //; s/; if .*//' >sentences
		[[ $(sort -u sentences | wc -l) -eq 1 && $(wc -l <sentences) -ge 4 ]]
	done
}

@test "together: --map-exit comes at the end: it makes no success of a failure, and changes the 123, too" {
	works 0 '' --map-exit=123:7
	works 1
	member 2 --map-exit=9:0 -- sh -c 'until [ -e running.0 ] && [ -e running.1 ]; do sleep 0.02; done; exit 9'
	ended 0 2
	ended 7 0
	ended_because 'h2 \(rank 2\) failed first: exit status 9' 1
}

@test "together: a program that ends with 0 has not failed, whatever --map-exit=early:.. and told:.. make of it" {
	OPTIONS=(--together=failures --root="$PWD/root")
	member 0 --map-exit=early:70 -- true
	works 1 "trap 'exit 0' TERM;" --map-exit=told:143
	works 2
	running 1 2
	kill -TERM "${PIDS[1]}"
	ended 143 1
	sleep 0.3
	kill -0 "${PIDS[0]}" "${PIDS[2]}"
	kill_program KILL 'touch running.2'
	ended 137 2
	# The master, which has waited for the others, keeps its own.
	ended 70 0
	# Who ends because of another was told by nobody from outside: 123.
	OPTIONS=(--together --root="$PWD/root" "--map-exit=told:143,early:70")
	rm -f running.*
	for rank in 0 1 2; do works "$rank" "trap 'exit 0' TERM;"; done
	running 0 1 2
	kill -TERM "${PIDS[1]}"
	ended 143 1
	ended 123 0 2
}

@test "together: --together=always: a program that ends with 0 has failed, and that node ends with 1, unless it was told to" {
	OPTIONS=("--together=workers,always" --root="$PWD/root")
	local first
	for first in 2 0; do
		rm -f running.*
		for rank in 0 1 2; do
			if ((rank == first)); then
				member "$rank" -- sh -c 'until [ "$(ls running.* | wc -l)" -eq 2 ]; do sleep 0.02; done'
			else
				works "$rank"
			fi
		done
		# The master does not stay for the others.
		soon 5000 ended 1 "$first"
		all_say "h$first \(rank $first\) failed first: exit status 0, though nobody asked it to end; ending" 0 1 2
		ended_because "h$first \(rank $first\) failed first: exit status 0, though nobody asked it to end" $((2 - first)) 1
	done
	# Who is told keeps its 0; and with failures, ends nothing.
	OPTIONS=("--together=always,failures" --root="$PWD/root")
	rm -f running.*
	works 0
	works 1 "trap 'exit 0' TERM;"
	works 2
	running 0 1 2
	kill -TERM "${PIDS[1]}"
	ended 0 1
	sleep 0.3
	kill -0 "${PIDS[0]}" "${PIDS[2]}"
	kill_program KILL 'touch running.2'
	ended 137 2
	ended 123 0
}

@test "together: --together=always: the 1 comes before --map-exit, and early:.. before it" {
	OPTIONS=(--together=always --root="$PWD/root")
	works 0
	works 1
	member 2 --map-exit=1:70 -- true
	ended 70 2
	ended 123 0 1
	HOSTS=h0
	member 0 --map-exit=early:71,1:70 -- true
	ended 71 0
	member 0 -- true
	ended 1 0
	grep -x 'distinit: warning: true ended after .*: exit status 0, though nobody asked it to end' 0.err
}

@test "together: --leftovers=end is the default, also where distinit is not PID 1" {
	local script='sh -c "trap \"\" TERM; echo \$\$ >left.$1; exec sleep 100" & until [ -s left.$1 ]; do sleep 0.02; done; sleep 0.2'
	HOSTS=h0,h1
	member 0 -- sh -c "$script" - 0
	member 1 -- sh -c "$script" - 1
	ended 0 0 1
	gone "$(<left.0)"
	gone "$(<left.1)"
	grep 'processes that sh left behind have not ended in 2s: they are killed' 0.err 1.err
	HOSTS=h0
	member 0 --leftovers=leave -- sh -c "$script" - 2
	ended 0 0
	kill -KILL "$(<left.2)"
}

@test "together: --together=workers watches in a cluster of one, too, and where there is none" {
	OPTIONS=(--together=workers --root="$PWD/root" --report=report)
	HOSTS=h0
	launched 0
	kill_worker KILL 0
	soon 1500 ended 137 0
	all_say "its process $KILLED \(python3\) was killed by SIGKILL; ending" 0
	grep -E "^distinit: error: ended because its process $KILLED \(python3\) was killed by SIGKILL, [0-9.]+s ago\$" 0.err
	[[ $("$BATS_TEST_DIRNAME/../programs/check-report" report \
		'print([(t["why"], t["rank"], t["status"], t["first"]) for t in (e["together"] for e in all if e["event"] == "together")])') == \
		"[('failed', 0, 137, True)]" ]]
	# Without a manager.
	rm worker.*
	in_room env -i --default-signal PATH="$PATH" "$DISTINIT" --together=workers --root="$PWD/root" -- \
		python3 "$BATS_TEST_DIRNAME/launcher.py" 0 2 2 >0.out 2>0.err 3>&- &
	PIDS[0]=$!
	until (($(find . -name "worker.0.*" | wc -l) == 2)); do nap 0.02; done
	sleep 1.2
	kill_worker SEGV 0
	soon 1500 ended 139 0
	# TERM is for the program, each time, and nothing is said of a node.
	OPTIONS=(--together=workers --root="$PWD/root")
	works 0 "trap 'echo told' TERM; trap 'exit 5' USR1;"
	running 0
	kill -TERM "${PIDS[0]}"
	said 0 told out
	: >0.out
	kill -TERM "${PIDS[0]}"
	said 0 told out
	kill -USR1 "${PIDS[0]}"
	ended 5 0
	[[ $(wc -l <0.err) -eq 1 && $(<0.err) == *'ended after '*': exit status 5, '* ]]
	# A program that fails says it once.
	member 0 -- sh -c 'exit 3'
	ended 3 0
	[[ $(wc -l <0.err) -eq 1 && $(<0.err) == *'ended after '*': exit status 3' ]]
}

@test "together: in a cluster of one, a child that fails within 10 s is a probe, and one that lived longer is not" {
	OPTIONS=(--together=workers --root="$PWD/root")
	HOSTS=h0
	cat >service.py <<-'END'
		import subprocess, time
		engine = subprocess.Popen(["sh", "-c", "sleep 10.5; exit 6"])
		seen = subprocess.Popen(["sh", "-c", "sleep 1.5; exit 3"])
		seen.wait()
		told = subprocess.Popen(["sleep", "100"])
		time.sleep(1.5)
		told.terminate()
		told.wait()
		# One that nobody waits for: how long it lived is not known.
		kept = subprocess.Popen(["sh", "-c", "exit 4"])
		time.sleep(100)
	END
	member 0 -- python3 service.py
	soon 20000 ended 6 0
	all_say 'its process [0-9]+ \(sh\) ended with exit status 6; ending' 0
}

@test "together: a program that cannot be started ends all others" {
	works 0
	works 1
	# A missing one is found before the start.
	printf '#!/nowhere/sh\n' >broken
	chmod +x broken
	member 2 -- ./broken
	ended 126 2
	ended_because "h2 \(rank 2\) failed first: './broken' cannot be started: .*" 0 1
}

@test "together: the time limit of one ends all others" {
	works 0
	works 1
	works 2 '' --time-limit=500ms
	ended 124 2
	ended_because 'h2 \(rank 2\) failed first: killed by SIGTERM, [0-9.]+s after its time limit' 0 1
}

@test "together: all nodes have to want it" {
	OPTIONS=()
	works 0 '' --together
	works 1
	works 2 '' --together
	ended 125 0 1 2
	grep 'roll call: the nodes do not agree on the cluster: --together=yes on 2 nodes, no on h1' 0.err
}

@test "together: the report says who was first, and the termination log" {
	requires python3
	python3 -c 'import jsonschema' || skip 'python3-jsonschema is not installed'
	OPTIONS=(--together)
	local rank
	for rank in 0 1; do
		mkdir -p "root.$rank/dev"
		: >"root.$rank/dev/termination-log"
	done
	works 0 '' --report=report.0 --root="$PWD/root.0"
	works 1 '' --report=report.1 --root="$PWD/root.1"
	member 2 --report=report.2 -- sh -c 'until [ -e running.0 ] && [ -e running.1 ]; do sleep 0.02; done; exit 1'
	ended 1 2
	ended 123 0 1
	local first
	for rank in 0 1 2; do
		first=False
		((rank < 2)) || first=True
		[[ $("$BATS_TEST_DIRNAME/../programs/check-report" "report.$rank" \
			'print([e["together"] for e in all if e["event"] == "together"])') == \
			"[{'why': 'failed', 'rank': 2, 'host': 'h2', 'status': 1, 'text': 'exit status 1', 'then': 'ending', 'first': $first}]" ]]
	done
	[[ $("$BATS_TEST_DIRNAME/../programs/check-report" report.0 'print(*(e["ended"]["status"] for e in all if e["event"] == "ended"))') == 123 ]]
	for rank in 0 1; do
		[[ $(<"root.$rank/dev/termination-log") == 'distinit: error: ended because h2 (rank 2) failed first: exit status 1, '*'s ago' ]]
	done
}

@test "together: the program binds the master's port beside the connections if it sets SO_REUSEADDR; with --together=PORT in any case" {
	cat >bind.py <<-'END'
		import os, socket, sys
		s = socket.socket()
		if sys.argv[1] == "reuse":
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("0.0.0.0", int(os.environ["MASTER_PORT"])))
		s.listen()
		print("bound", flush=True)
		while not os.path.exists("go"):
		    pass
	END
	local how
	for how in --together:reuse --together=28123:plain; do
		rm -f go running.*
		OPTIONS=("${how%:*}" --master-port="$PORT")
		member 0 -- python3 bind.py "${how#*:}"
		member 1 -- sh -c 'touch running.1; until [ -e go ]; do sleep 0.02; done'
		member 2 -- sh -c 'touch running.2; until [ -e go ]; do sleep 0.02; done'
		running 1 2
		said 0 'bound' out
		touch go
		ended 0 0 1 2
	done
	OPTIONS=(--together)
	rm -f go running.*
	member 0 -- python3 bind.py plain
	works 1
	works 2
	ended 1 0
	grep 'if it could not bind port 29500: it needs SO_REUSEADDR, or --together=PORT' 0.err
	ended 123 1 2
}

@test "together: the options are checked, and it implies --init and the roll call" {
	local options message
	while IFS='|' read -r options message; do
		# shellcheck disable=SC2086 # several options
		distinit -- $options --hosts=h0,h1 --node-rank=0 --wait=100ms -- true
		refuses_with "$message"
	done <<-'END'
		--together=x|--together='x': expected failures, workers, always or a port, joined by ','
		--together=always,|--together='always,': expected failures, workers, always or a port, joined by ','
		--together=workers,sometimes|--together='workers,sometimes': expected failures, workers, always or a port, joined by ','
		--together=28123,28124|--together='28123,28124': expected failures, workers, always or a port, joined by ','
		--together=9x|--together='9x': expected failures, workers, always or a port, joined by ','
		--together=70000|--together='70000': expected failures, workers, always or a port, joined by ','
		--together --for=tcp|--together contradicts --for='tcp': it begins with a roll call, --for=all
		--together --init=0|--together needs --init, and contradicts --init=0
		--linger=3s|--linger needs --together
		--together --linger=x|--linger='x' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m
	END
	distinit DISTINIT_TOGETHER=1 -- --hosts=h0 --node-rank=0 -- sh -c 'exit 3'
	[[ $status -eq 3 && $stderr == *' ended after '* ]]
}

@test "together: a thousand members are told in a moment" {
	HOSTS='h[0-1000]'
	digests -- true
	member 0 -- sh -c 'touch running.0; while :; do sleep 0.1; done'
	crowd call 1000 "$PORT" --act=stay --fail=300 --digests="$DIGESTS" --wait=20000
	[[ $status -eq 0 && $output == *'end=1000 told'* ]]
	ended 123 0
	grep -E 'ended because h1 \(rank 1\) failed first: exit status 1, ' 0.err
}

@test "together: the program has the limits and descriptors that it has without" {
	HOSTS='h[0-1000]'
	digests -- true
	local script='ulimit -Sn; ls /proc/self/fd; exit 3'
	HOSTS=h0 WAIT=1s member 5 --node-rank=0 --init -- sh -c "$script"
	ended 3 5
	member 0 -- sh -c "$script"
	crowd call 1000 "$PORT" --act=stay --digests="$DIGESTS" --wait=20000
	ended 3 0
	cmp 0.out 5.out
}

@test "together: nothing is sent while nothing happens, and nothing listens; processes are looked for once a second" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local listener='^ *[0-9]+: [0-9A-F:]+ [0-9A-F]+:0000 0A '
	works 0
	listening
	in_room grep -hE "$listener" /proc/net/tcp /proc/net/tcp6
	works 1
	works 2
	running 0 1 2
	run ! in_room grep -hE "$listener" /proc/net/tcp /proc/net/tcp6
	sleep 0.3
	local rank tracers=()
	for rank in 0 2; do
		timeout 10 strace -p "${PIDS[rank]}" -o "trace.$rank" 2>/dev/null 3>&- &
		tracers+=($!)
	done
	sleep 4
	for rank in 0 2; do
		run ! grep -E '^(send|write)' "trace.$rank"
		[[ $(grep -c '^ppoll' "trace.$rank") -le 6 ]]
	done
	kill -KILL "${PIDS[1]}"
	ended 123 0 2
	wait "${tracers[@]}"
	for rank in 0 2; do
		[[ $(head -1 "trace.$rank") == ppoll* && $(wc -l <"trace.$rank") -gt 1 ]]
	done
}

@test "together: as dumb-init, whose command leads a session all the same" {
	requires ps
	ln -s "$DISTINIT" dumb-init
	local rank
	for rank in 0 1; do
		in_room env -i PATH="$PATH" DISTINIT_TOGETHER=1 DISTINIT_WAIT=10s DISTINIT_HOSTS=h0,h1 DISTINIT_NODE_RANK="$rank" \
			./dumb-init sh -c 'ps -o sid= -p $$ | xargs; echo $$' >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	ended 0 0 1
	[[ $(sort -u 0.out | wc -l) -eq 1 && $(sort -u 1.out | wc -l) -eq 1 ]]
}
