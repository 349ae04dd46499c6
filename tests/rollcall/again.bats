#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --max-restarts on several nodes: all start again, in place, after another roll call. e2e/restarts.bats has one node.

# shellcheck disable=SC2030,SC2031,SC2034 # the helpers use these, and a test is a subshell
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	OPTIONS=(--together --max-restarts=3 --root="$PWD/root")
	mkdir -p root
	# works [SECONDS]: until the second start, which succeeds; after TERM it goes on for so long. fails: it fails in the first.
	cat >works <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		[ "$DISTINIT_RESTART_COUNT" = 0 ] || exit 0
		trap 'echo told; sleep "${1-0}"; exit 143' TERM
		: >"running.$PET_NODE_RANK"
		while :; do sleep 0.1; done
	END
	cat >fails <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		[ "$DISTINIT_RESTART_COUNT" = 0 ] || exit 0
		until [ -e running.1 ] && [ -e running.2 ]; do sleep 0.02; done
		exit 3
	END
}

teardown() {
	leave_room
}

# fresh NAME RANK ARG...: another process of that rank, on a machine of that name. Its output is in NAME.
fresh() {
	local name=$1 rank=$2
	shift 2
	mv "$rank.err" "old.$rank.err"
	mv "$rank.out" "old.$rank.out"
	member "$rank" --hostname="$name" "$@"
}

@test "again: one program fails once, all start again, and the second start succeeds" {
	member 0 -- sh fails
	member 1 -- sh works
	member 2 -- sh works
	ended 0 0 1 2
	local rank
	for rank in 0 1 2; do
		[[ $(grep start "$rank.out") == $'start 0\nstart 1' ]]
		grep -F 'distinit: warning: h0 (rank 0) failed first: exit status 3; starting again (1 of 3)' "$rank.err"
	done
}

@test "again: when all are used up, the first has its own status; decisions come before --map-exit" {
	OPTIONS+=(--max-restarts=1 "--map-exit=3:0,4:77")
	member 0 -- sleep 100
	member 1 -- sh -c 'sleep 0.2; exit $((3 + DISTINIT_RESTART_COUNT))'
	member 2 -- sleep 100
	ended 77 1
	ended 123 0 2
	grep 'exit status 3; starting again (1 of 1)' 2.err
	grep 'exit status 4; not starting again: 1 of 1 restarts used' 2.err
}

@test "again: starts that wrote nothing on any node are counted" {
	mkdir files
	OPTIONS=(--together --max-restarts=2 --max-idle-starts=2 --root="$PWD/root")
	# One node alone watches, and it is not the coordinator.
	member 0 -- sleep 100
	member 1 -- sh -c 'echo start; sleep 1; exit 17'
	member 2 --progress="$PWD/files/log*:1m" -- sleep 100
	ended 17 1
	ended 123 0 2
	[[ $(grep -c start 1.out) -eq 2 ]]
	grep -F "h1 (rank 1) failed first: exit status 17; not starting again: 2 starts in a row wrote nothing to $PWD/files/log*" 0.err 2.err
	member 0 -- sleep 100
	# It writes after the first look, and the others wait for that.
	member 1 -- sh -c 'echo start; until [ -e "files/log.$DISTINIT_RESTART_COUNT" ]; do sleep 0.1; done; exit 17'
	member 2 --progress="$PWD/files/log*:1m" -- sh -c 'sleep 0.7; echo >"files/log.$DISTINIT_RESTART_COUNT"; exec sleep 100'
	ended 17 1
	[[ $(grep -c start 1.out) -eq 3 ]]
	grep -F 'exit status 17; not starting again: 2 of 2 restarts used' 0.err
	# Where nobody watches, nothing is known.
	member 0 -- sleep 100
	member 1 -- sh -c 'echo start; exit 17'
	member 2 -- sleep 100
	ended 17 1
	[[ $(grep -c start 1.out) -eq 3 ]]
}

@test "again: nobody starts again after a status of --no-restart; the list is the same on all nodes" {
	OPTIONS+=("--no-restart=93,17")
	member 0 -- sleep 100
	member 1 -- sh -c 'sleep 0.2; exit 17'
	member 2 -- sleep 100
	ended 17 1
	ended 123 0 2
	grep 'h1 (rank 1) failed first: exit status 17; not starting again: exit status 17 is final (--no-restart)' 0.err 2.err
	member 0 -- true
	member 1 --no-restart=17 -- true
	member 2 --no-restart=17,93,17 -- true
	ended 125 0 1 2
	grep "do not agree on the cluster: --no-restart='17,93' on 2 nodes, 17 on h1 (rank 1)" 0.err
}

@test "again: nobody starts again once a program has ended well, after a mistake, or after TERM" {
	member 0 -- sh -c 'until [ -e over ]; do sleep 0.02; done; exit 3'
	member 1 -- sleep 100
	member 2 -- sh -c 'until [ -e 0.out ]; do sleep 0.02; done; echo gone'
	ended 0 2
	# Its distinit has ended, so the word of that has been sent.
	touch over
	ended 3 0
	ended 123 1
	grep 'exit status 3; not starting again: h2 (rank 2) has ended well' 1.err
	member 0 -- sleep 100
	member 1 -- sh -c 'exit 127'
	member 2 -- sleep 100
	ended 127 1
	ended 123 0 2
	grep 'not starting again: the exit status says that it cannot be run' 2.err
	rm -f running.*
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	until [[ -e running.0 && -e running.1 && -e running.2 ]]; do nap 0.02; done
	kill "${PIDS[2]}"
	ended 143 2
	ended 123 0 1
	run ! grep 'starting again' 0.err 1.err 2.err
}

@test "again: the nodes have to agree on how often" {
	member 0 -- echo started
	member 1 --max-restarts=4 -- echo started
	member 2 -- echo started
	ended 125 0 1 2
	grep -F -e '--max-restarts=3 on 2 nodes, 4 on h1 (rank 1)' 0.err
	run ! grep started 0.out 1.out 2.out
}

@test "again: the secret is kept: later roll calls are authenticated, also where its file can be read no more; output in a pipe" {
	requires setpriv
	[[ $EUID -eq 0 ]] || skip "needs root"
	chmod 755 . "$BATS_TEST_TMPDIR"
	chmod 777 .
	echo 0123456789abcdef0123 >secret
	chmod 600 secret
	VARIABLES=(HOME=/nowhere)
	OPTIONS+=(--secret-file="$PWD/secret" --user=65534 --log=info)
	cat >program <<-'END'
		echo "start $DISTINIT_RESTART_COUNT $(id -u)" >&2
		cat secret 2>/dev/null && echo "it can be read"
		echo "$HOME $(pwd) $(ulimit -n) $(exec grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\n\t') $(ls /proc/self/fd | wc -l)"
		sleep 0.3
		[ "$DISTINIT_RESTART_COUNT" = 1 ] && exit 0
		[ "$1" = fails ] || exec sleep 100
		exit 3
	END
	HOSTS=h0,h1
	member 0 -- sh program > >(cat >pipe)
	member 1 -- sh program fails
	ended 0 0 1
	local rank
	for rank in 0 1; do
		[[ $(wc -l <"$rank.out") -eq 2 && $(sort -u "$rank.out" | wc -l) -eq 1 ]]
		grep 'start 1 65534' "$rank.err"
	done
	[[ $(grep -c 'all 2 nodes are here.*; authenticated' 0.err) -eq 2 ]]
	run ! grep 'not authenticated' 0.err
}

@test "again: what a program left behind, and ignores TERM, does not live in the next start" {
	cat >leaves <<-'END'
		if [ "$DISTINIT_RESTART_COUNT" = 1 ]; then
			kill -0 "$(cat left)" && echo "it lives"
			exit 0
		fi
		sh -c 'trap "" TERM; echo $$ >left; while :; do sleep 0.1; done' >/dev/null 2>&1 &
		: >running.1
		until [ -s left ]; do sleep 0.02; done
		wait
	END
	OPTIONS+=(--leftovers-grace=100ms)
	member 0 -- sh fails
	member 1 -- sh leaves
	member 2 -- sh works
	ended 0 0 1 2
	run ! grep 'it lives' 1.out
}

@test "again: what it left behind and cannot be ended is an error for all" {
	HOSTS=h0,h1
	cat >leaves <<-'END'
		sh -c 'trap "" TERM; : >running.2; while :; do sleep 0.1; done' >/dev/null 2>&1 &
		: >running.1
		wait
	END
	# Its /proc is that of another PID namespace: nobody can be found there.
	printf '#!/bin/sh\nexec unshare --pid --fork -- sh -c '\''"$@" & wait $!'\'' sh "%s" "$@"\n' "$DISTINIT" >apart
	chmod 755 apart
	member 0 -- sh fails
	DISTINIT="$PWD/apart" member 1 -- sh leaves
	ended 125 0 1
	grep 'h1 (rank 1) cannot start: sh cannot be started again: it left processes behind' 0.err
}

@test "again: a recreated node joins, and gets the others' count" {
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	until [[ -e running.0 && -e running.1 && -e running.2 ]]; do nap 0.02; done
	kill -KILL "${PIDS[1]}"
	said 0 '*h1 (rank 1) is lost: its connection has ended; starting again (1 of 3)'
	fresh h1 1 -- sh works
	ended 0 0 1 2
	[[ $(<1.out) == 'start 1' ]]
}

@test "again: the master is recreated, too: all others wait for it" {
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	until [[ -e running.0 && -e running.1 && -e running.2 ]]; do nap 0.02; done
	kill -KILL "${PIDS[0]}"
	said 2 '*h0 (rank 0) is lost: its connection has ended; starting again (1 of 3)'
	fresh h0 0 -- sh works
	ended 0 0 1 2
	[[ $(<0.out) == 'start 1' ]]
}

@test "again: a process whose node was recreated elsewhere ends, whoever comes first, and does not end the job" {
	local first
	for first in old new; do
		rm -f running.*
		member 0 -- sh fails
		member 1 -- sh works "$([[ $first == old ]] || echo 1)"
		member 2 -- sh works 2
		said 0 '*starting again*'
		[[ $first == new ]] || sleep 0.7
		local old=${PIDS[1]} got=0
		fresh box7 1 -- sh works
		wait "$old" || got=$?
		ended 0 0 1 2
		[[ $got -eq 123 ]]
		grep 'h0 says: h1 was replaced by box7; ending' old.1.err
		[[ $(<1.out) == 'start 1' ]]
	done
}

# told RANK: it gets TERM, and ends with its own status; all others end because of that, and nobody waits.
told() {
	local rank others=()
	for rank in 0 1 2; do
		[[ $rank -eq $1 ]] || others+=("$rank")
	done
	kill "${PIDS[$1]}"
	soon 4000 ended 143 "$1"
	soon 4000 ended 123 "${others[@]}"
	run ! grep 'start 1' 0.out 1.out 2.out
	for rank in "${others[@]}"; do
		grep -E "^distinit: error: .*h$1( \(rank $1\))? was asked to end: SIGTERM" "$rank.err"
	done
}

@test "again: a node is asked to end while its program is still ending, and the others are waiting for it already: 123 at once" {
	local rank
	for rank in 2 0; do
		rm -f running.*
		member 1 -vv -- sh -c 'until [ -e running.0 ] && [ -e running.2 ]; do sleep 0.02; done; exit 3'
		member "$rank" -- sh works 1.5
		member $((2 - rank)) -vv -- sh works
		said "$rank" told out
		# The first listens, or the other asks again and again.
		if ((rank)); then
			listening
		else
			said 2 '*debug: roll call: h0:*Connection refused'
		fi
		said 1 '*debug: roll call: *'
		told "$rank"
		rm ./*.err ./*.out
	done
}

@test "again: a node is asked to end in the pause: all end; USR1 there kills nobody" {
	local rank
	for rank in 2 0; do
		member 0 -- sh -c '[ "$DISTINIT_RESTART_COUNT" = 1 ] || exec sleep 100; sleep 100'
		member 1 -- sh -c 'sleep 0.3; exit 3'
		member 2 -- sh -c 'echo "again $DISTINIT_RESTART_COUNT"; exec sleep 100'
		said 0 '*starting again (2 of 3) in 1s'
		said 2 '*starting again (2 of 3) in 1s'
		sleep 0.2
		kill -USR1 "${PIDS[@]}"
		told "$rank"
		rm ./*.err ./*.out
	done
	OPTIONS+=(--max-restarts=2)
	member 0 -- sleep 100
	member 1 -- sh -c 'sleep 0.3; exit 3'
	member 2 -- sh -c 'echo "again $DISTINIT_RESTART_COUNT"; exec sleep 100'
	said 0 '*starting again (2 of 2) in 1s'
	said 2 '*starting again (2 of 2) in 1s'
	sleep 0.2
	kill -USR1 "${PIDS[@]}"
	ended 3 1
	ended 123 0 2
	[[ $(<2.out) == $'again 0\nagain 1\nagain 2' ]]
}

@test "again: with --together=failures a node that is asked to end in the roll call is waited for" {
	OPTIONS+=(--together=failures)
	member 0 -- sh fails
	member 1 -- sh works 3
	member 2 -- sh works
	said 1 told out
	sleep 0.5
	kill "${PIDS[2]}"
	ended 143 2
	fresh h2 2 -- sh works
	ended 0 0 1 2
}

@test "again: the grace may be longer than --wait" {
	WAIT=1s
	member 0 -- sh fails
	member 1 -- sh works 3
	member 2 -- sh works
	ended 0 0 1 2
	[[ $(<1.out) == $'start 0\ntold\nstart 1' ]]
}

@test "again: the time limit counts from the first start, over all starts and roll calls" {
	local options=("${OPTIONS[@]}")
	OPTIONS+=(--time-limit=60s)
	member 0 -- sh fails
	member 1 -- sh works
	member 2 -- sh works
	ended 0 0 1 2
	OPTIONS=("${options[@]}" --time-limit=2s)
	rm -f running.*
	member 0 -- sh works
	member 1 -- sh works
	member 2 -- sh works
	until [[ -e running.0 && -e running.1 && -e running.2 ]]; do nap 0.02; done
	kill -KILL "${PIDS[1]}"
	soon 3500 ended 124 0 2
	grep -F 'nothing was started; --time-limit=DURATION waits longer' 0.err
}

@test "again: a told port that is taken for a while is tried again" {
	VARIABLES=(MASTER_PORT="$PORT")
	cat >holder.py <<-'END'
		import os, socket, time
		while not os.path.exists("running.1"):
		    time.sleep(0.01)
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("", int(os.environ["PORT"])))
		s.listen()
		open("running.2", "w").close()
		time.sleep(1.5)
	END
	HOSTS=h0,h1
	PORT=$PORT server holder.py
	member 0 -- sh fails
	member 1 -- sh works
	ended 0 0 1
	[[ $(grep -c start 1.out) -eq 2 ]]
}

# The one with shorter times gives a taken port up after 1 s, in place of 30 s.
@test "again: a told port that stays taken is given up after a time, and all end" {
	VARIABLES=(MASTER_PORT="$PORT")
	cat >holder.py <<-'END'
		import os, socket, time
		while not os.path.exists("running.1"):
		    time.sleep(0.01)
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("", int(os.environ["PORT"])))
		s.listen()
		open("running.2", "w").close()
		time.sleep(100)
	END
	HOSTS=h0,h1
	DISTINIT=$BRISK
	PORT=$PORT server holder.py
	member 0 -- sh fails
	member 1 -- sh works
	said 1 '*starting again (1 of 3)'
	time_begins
	local taken="port $PORT of h0 is taken (by a listener of uid $EUID), and MASTER_PORT sets this port; nothing was started"
	ended 125 0
	time_passed
	((TOOK >= 900 && CALM <= 5000))
	ended 125 1
	grep -F "error: roll call: $taken" 0.err
	grep -F "h0 says: $taken" 1.err
	run ! grep 'start 1' 0.out 1.out
}

@test "again: no descriptor and no page more, start after start" {
	HOSTS=h0,h1
	cat >look <<-'END'
		# It is made at the first wait; the descriptors of children come and go.
		until ls -l /proc/$PPID/fd | grep -q signalfd; do sleep 0.02; done
		ls -l /proc/$PPID/fd | grep -Evc 'pidfd|/proc' >>"fds.$PET_NODE_RANK"
		awk '/^VmData/ { print $2 }' /proc/$PPID/status >>"pages.$PET_NODE_RANK"
		sleep 0.2
		[ "$PET_NODE_RANK" = 0 ] && exec sleep 100
		exit 1
	END
	member 0 -- sh look
	member 1 -- sh look
	ended 1 1
	ended 123 0
	local rank
	for rank in 0 1; do
		cat "fds.$rank" "pages.$rank"
		[[ $(sort -u "fds.$rank" | wc -l) -eq 1 && $(wc -l <"fds.$rank") -eq 4 ]]
		[[ $(tail -n +2 "pages.$rank" | sort -u | wc -l) -eq 1 ]]
	done
}

@test "again: nobody starts again if a program ended well before its node heard of that" {
	member 0 -- sh works 1
	member 1 -- sh -c 'until [ -e ended ]; do sleep 0.02; done; exit 3'
	member 2 -- sh -c 'until [ -e stopped ]; do sleep 0.02; done; touch ended'
	until [[ -e running.0 && -e 2.out ]]; do nap 0.02; done
	sleep 0.5
	kill -STOP "${PIDS[2]}"
	touch stopped
	said 0 told out
	kill -CONT "${PIDS[2]}"
	ended 0 2
	soon 4000 ended 123 0 1
	grep -F 'h0 says: h0 does not start again: h2 (rank 2) has ended well; nothing was started' 1.err
}

@test "again: --together=workers and always; each restart is in the report" {
	OPTIONS+=("--together=workers,always")
	cat >launches <<-'END'
		import os, subprocess, time
		start = os.environ["DISTINIT_RESTART_COUNT"]
		if start == "0":
		    worker = subprocess.Popen(["sh", "-c", "sleep 0.6; exit 9"])
		    time.sleep(100)
		time.sleep(0.2)
		raise SystemExit(0 if start == "1" else 5)
	END
	HOSTS=h0,h1
	member 0 --max-restarts=2 -- sleep 100
	member 1 --max-restarts=2 --report=report -- python3 launches
	ended 5 1
	ended 123 0
	grep -E 'h1 \(rank 1\) failed first: its process [0-9]+ \(sh\) ended with exit status 9; starting again \(1 of 2\)' 0.err
	grep -F 'h1 (rank 1) failed first: exit status 0, though nobody asked it to end; starting again (2 of 2) in 1s' 0.err
	python3 - <<-'END'
		import json
		restarts = [event["restart"] for event in map(json.loads, open("report")) if event["event"] == "restart"]
		assert [(e["count"], e["most"], e["pause_ms"], e["first"]) for e in restarts] == [(1, 2, 0, True), (2, 2, 1000, True)], restarts
	END
}

@test "again: another port, and --fill, anew for each start" {
	cat >holder.py <<-'END'
		import os, socket, time
		while not os.path.exists("running.1"):
		    time.sleep(0.01)
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("", int(os.environ["PORT"])))
		s.listen()
		open("running.2", "w").close()
		time.sleep(100)
	END
	HOSTS=h0,h1
	PORT=$PORT server holder.py
	member 0 --fill -- sh fails
	member 1 --fill -- sh -c 'echo "$MASTER_PORT $1"; exec sh works' sh '{master-port}'
	ended 0 0 1
	[[ $(sed -n 1p 1.out) == "$PORT $PORT" ]]
	local moved
	moved=$(grep -E '^[0-9]+ [0-9]+$' 1.out | tail -n 1)
	[[ ${moved% *} == "${moved#* }" && ${moved% *} != "$PORT" ]]
}

# The example, on addresses of this machine; its engine is one that takes the flags, and ends with 0 once both have said them.
@test "again: the example of vLLM with its variables: its engines end with 0, and start again with their flags" {
	local root=$BATS_TEST_DIRNAME/../.. rank
	python3 -c 'import yaml' || skip "python3-yaml is not installed"
	printf '127.0.0.100 vllm-0.vllm\n127.0.0.101 vllm-1.vllm\n' >>etc/hosts
	in_room mount -t tmpfs none /dev/shm
	in_room touch /dev/shm/nccl-left /dev/shm/other
	mkdir engines
	ln -s "$(realpath "$root")/tests/programs/engine" engines/vllm
	# The first that ends ends the other, which may not have begun.
	cat >vllm <<-'END'
		#!/bin/sh
		engines/vllm "$@" || exit
		: >"said.$HOSTNAME.$DISTINIT_RESTART_COUNT"
		until [ -e "said.vllm-0.$DISTINIT_RESTART_COUNT" ] && [ -e "said.vllm-1.$DISTINIT_RESTART_COUNT" ]; do sleep 0.02; done
	END
	chmod +x vllm
	cat >pod.py <<-'END'
		import os, sys, yaml
		manifests = yaml.safe_load_all(open(sys.argv[1]))
		main, = (c for m in manifests if m["kind"] == "StatefulSet" for c in m["spec"]["template"]["spec"]["containers"])
		secret = {"DISTINIT_SECRET": "0123456789abcdef0123456789abcdef"}
		told = {one["name"]: one.get("value") or secret[one["name"]] for one in main["env"]}
		assert {"DISTINIT_HOSTS", "DISTINIT_TOGETHER", "DISTINIT_MAX_RESTARTS", "DISTINIT_CLEAR", "DISTINIT_WAIT", "DISTINIT_SECRET"} == set(told), told
		words = [*main["command"], *main["args"]]
		assert words.pop(0) == "/tools/distinit"
		os.execve(os.environ["DISTINIT"], [os.environ["DISTINIT"], *words], {"PATH": os.environ["PWD"] + ":/usr/bin:/bin", "HOSTNAME": sys.argv[2], **told})
	END
	for rank in 0 1; do
		nsenter --net --mount --wd --target "$ROOM" env DISTINIT="$DISTINIT" unshare --uts sh -c 'hostname "vllm-$1"; exec python3 pod.py "$2" "vllm-$1"' sh "$rank" \
			"$root/examples/kubernetes/vllm-restarts.yaml" >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	for rank in 0 1; do
		said "$rank" '*failed first: exit status 0, though nobody asked it to end; starting again (3) in 2s'
	done
	kill -TERM "${PIDS[0]}"
	ended 143 0
	ended 123 1
	for rank in 0 1; do
		[[ $(sort -u "$rank.out" | wc -l) -eq 1 ]]
		grep -E '"model": "Qwen/Qwen3-32B".*"tensor_parallel_size": 16,.* "nnodes": 2, "node_rank": '"$rank"', "master_port": 29500' "$rank.out"
		grep -F '"master_addr": "vllm-0.vllm"' "$rank.out"
	done
	run ! grep '"headless": true' 0.out
	grep '"headless": true' 1.out
	[[ $(in_room ls /dev/shm) == other ]]
}
