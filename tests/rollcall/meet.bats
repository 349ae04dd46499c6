#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: who comes, in which order, and who does not.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2030,SC2031 # each test has its own PIDS
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	time_begins
}

teardown() {
	leave_room
}

# within MS RANK...: these members started within so many milliseconds of each other, if the machine is not busy.
within() {
	local ms=$1 rank
	shift
	time_passed
	ms=$((ms + TOOK - CALM))
	for rank; do cat "$rank.out"; done | sort -n | awk -v most="$ms" 'NR == 1 { first = $1 } END { if ($1 - first > most) exit 1 }'
}

now=(sh -c 'echo $(($(date +%s%N) / 1000000))')

@test "roll call: two nodes start together, whoever comes first" {
	HOSTS=h0,h1
	member 0 -- "${now[@]}"
	listening
	member 1 -- "${now[@]}"
	ended 0 0 1
	within 500 0 1
	[[ ! -s 0.err && ! -s 1.err ]]
	member 1 -vv -- "${now[@]}"
	said 1 '*debug: roll call: h0:29500: *Connection refused'
	member 0 -- "${now[@]}"
	ended 0 0 1
	within 500 0 1
}

@test "roll call: sixty-four nodes start together" {
	HOSTS='h[0-63]'
	WAIT=30s
	local order
	for order in $(seq 63 -1 32) $(seq 0 31); do
		member "$order" -- "${now[@]}"
	done
	ended 0 {0..63}
	within 2000 {0..63}
}

@test "roll call: the master says how long it took, and who came last" {
	member 0 -v -- true
	listening
	member 2 -- true
	sleep 0.3
	member 1 -- true
	ended 0 0 1 2
	said 0 '*info: roll call: all 3 nodes are here, after +([0-9.])s (the last: h1); not authenticated'
}

@test "roll call: who was told who is absent is told that they came" {
	HOSTS=h0,h1 WAIT=20s DISTINIT=$BRISK
	member 0 -- true
	said 0 '*warning: roll call: 1 of 2 nodes are here after 1s; absent: h1*'
	member 1 -- true
	ended 0 0 1
	said 0 '*warning: roll call: all 2 nodes are here, after 1*s (the last: h1); not authenticated'
}

@test "roll call: the report has its result, on all nodes, also if nobody starts" {
	requires python3
	python3 -c 'import jsonschema' || skip 'python3-jsonschema is not installed'
	HOSTS=h0,h1
	member 0 --report=good -- true
	member 1 --report=good -- true
	ended 0 0 1
	told=$("$BATS_TEST_DIRNAME/../programs/check-report" good \
		'print(sorted((e["roll_call"]["role"], e["roll_call"]["result"]) for e in all if e["event"] == "roll_call"))')
	[ "$told" = "[('coordinator', 'started'), ('member', 'started')]" ]
	WAIT=1s
	member 0 --report=bad -- true
	ended 124 0
	told=$("$BATS_TEST_DIRNAME/../programs/check-report" bad \
		'print([e["roll_call"]["result"] for e in all if e["event"] == "roll_call"])')
	[ "$told" = "['absent']" ]
	told=$("$BATS_TEST_DIRNAME/../programs/check-report" bad \
		'print([1000 <= e["roll_call"]["took_ms"] < 9000 for e in all if e["event"] == "roll_call"])')
	[ "$told" = "[True]" ]
}

@test "roll call: if one never comes, all others end with the same sentence" {
	WAIT=2s
	member 0 -- echo started
	listening
	member 1 -- echo started
	# The master sleeps meanwhile, and takes no processor time to speak of (in 1/100 s).
	sleep 0.5
	[[ $(awk '{ print $14 + $15 }' "/proc/${PIDS[0]}/stat") -lt 15 ]]
	ended 124 0 1
	[[ ! -s 0.out && ! -s 1.out ]]
	local sentence='1 of 3 nodes did not come within 2s: h2 (rank 2, resolves to 127.0.0.102, never came); nothing was started; --wait=DURATION waits longer'
	[[ $(<0.err) == "distinit: error: roll call: $sentence" ]]
	[[ $(<1.err) == "distinit: error: h0 says: $sentence" ]]
}

@test "roll call: the report of a failure says as much on a member as on the master" {
	requires python3
	python3 -c 'import jsonschema' || skip 'python3-jsonschema is not installed'
	local rank
	WAIT=2s
	for rank in 0 1; do member "$rank" --report="report.$rank" -- true; done
	ended 124 0 1
	for rank in 0 1; do
		[[ $("$BATS_TEST_DIRNAME/../programs/check-report" "report.$rank" '
for e in all:
    if e["event"] == "roll_call":
        r = e["roll_call"]
        print(r["result"], r["signal"], 2000 <= r["took_ms"] < 4000, r["present"], [(a["rank"], a["host"]) for a in r["absent"]])') == \
			"absent None True 2 [(2, 'h2')]" ]]
	done
	WAIT=10s
	rm report.*
	for rank in 0 1; do member "$rank" --report="report.$rank" -- true; done
	listening
	sleep 0.3
	kill -TERM "${PIDS[1]}"
	ended 143 1
	kill -INT "${PIDS[0]}"
	ended 130 0
	for rank in 0:INT 1:TERM; do
		[[ $("$BATS_TEST_DIRNAME/../programs/check-report" "report.${rank%:*}" \
			'print([(e["roll_call"]["result"], e["roll_call"]["signal"]) for e in all if e["event"] == "roll_call"])') == \
			"[('signal', '${rank#*:}')]" ]]
	done
}

@test "roll call: a name that does not resolve is named as the reason" {
	name_server "no such name"
	HOSTS=h0,h1,elsewhere WAIT=4s
	member 0 -- true
	member 1 -- true
	ended 124 0 1
	[[ $(<0.err) == *': elsewhere (rank 2, its name does not resolve); '* ]]
}

@test "roll call: a master that is not where its name leads says so" {
	WAIT=3s HOSTS=far,h1
	echo 10.9.9.9 far >>etc/hosts
	member 0 -- true
	ended 124 0
	said 0 'distinit: warning: roll call: the master, far, is 10.9.9.9, which is no address of this host: members look for it there. Are there two of rank 0?'
	# Where it is right, nothing is said.
	HOSTS=h0,h1 WAIT=1s
	member 0 -- true
	ended 124 0
	[[ $(wc -l <0.err) -eq 1 ]]
}

@test "roll call: in a pod, if the master has no name, the setting that publishes it is named" {
	name_server "no such name"
	local hint='a service publishes the names of pods that are not ready only with publishNotReadyAddresses: true'
	WAIT=3s HOSTS=elsewhere,nowhere
	VARIABLES=(KUBERNETES_SERVICE_HOST=10.0.0.1)
	member 0 -- true
	member 1 -- true
	ended 124 0 1
	said 0 "distinit: warning: roll call: elsewhere is the master, but the name does not resolve here: $hint"
	[[ $(<1.err) == *"the name does not resolve; is it running, and is it ready: $hint? --wait=DURATION waits longer" ]]
	# The kubelet writes a pod's own name into /etc/hosts, so it resolves.
	WAIT=500ms
	HOSTS=elsewhere,h1
	member 1 -- true
	ended 124 1
	[[ $(<1.err) == *"is it running, and is it ready: $hint? --wait=DURATION waits longer" ]]
	# No pod.
	HOSTS=elsewhere,nowhere
	VARIABLES=()
	member 1 -- true
	ended 124 1
	[[ $(<1.err) == *'the name does not resolve; is it running? --wait=DURATION waits longer' ]]
}

@test "roll call: a name server that does not answer is named as the reason" {
	name_server
	HOSTS=h0,h1,elsewhere WAIT=4s
	member 0 -- true
	member 1 -- true
	ended 124 0 1
	[[ $(<0.err) == *': elsewhere (rank 2, no name server answers); '* ]]
}

@test "roll call: a member that dies and comes again starts with the others" {
	member 0 -v -- true
	listening
	member 1 -- true
	sleep 0.3
	kill -KILL "${PIDS[1]}"
	wait "${PIDS[1]}" || true
	member 1 -- true
	sleep 0.3
	member 2 -- true
	ended 0 0 1 2
}

@test "roll call: a member that came and went is named so" {
	WAIT=3s HOSTS=h0,h1,h2,h3
	member 0 -- true
	listening
	member 2 -- true
	member 1 -- true
	sleep 1
	kill -KILL "${PIDS[1]}"
	ended 124 0 2
	[[ $(<0.err) == *': h1 (rank 1, was here, gone for '*'s), h3 (rank 3, '* ]]
	[[ $(<2.err) == *'h0 says: 2 of 4 nodes did not come'* ]]
}

@test "roll call: a master that is killed and started again calls anew" {
	member 0 -- true
	listening
	member 1 -- true
	sleep 0.3
	kill -KILL "${PIDS[0]}"
	wait "${PIDS[0]}" || true
	sleep 0.2
	member 0 -- true
	member 2 -- true
	ended 0 0 1 2
}

@test "roll call: a signal ends a member, and the others go on" {
	local signal status
	for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
		status=${signal#*:}
		member 0 -- true
		listening
		member 1 -- true
		sleep 0.3
		kill "-${signal%:*}" "${PIDS[1]}"
		ended "$status" 1
		[[ $(<1.err) == "distinit: error: SIG${signal%:*} ended the roll call after "*'s' ]]
		member 1 -- true
		member 2 -- true
		ended 0 0 1 2
	done
}

@test "roll call: INT, HUP and QUIT end the master" {
	local signal
	for signal in INT:130 HUP:129 QUIT:131; do
		HOSTS=h0,h1
		member 0 -- true
		listening
		kill "-${signal%:*}" "${PIDS[0]}"
		ended "${signal#*:}" 0
	done
}

@test "roll call: nobody starts if the program is missing on one node, and all say where" {
	local rank why
	mkdir programs
	printf '#!/bin/sh\necho started\n' >programs/train
	chmod +x programs/train
	for rank in 1 0; do
		VARIABLES=(PATH="$PWD/programs:$PATH")
		member "$((1 - rank))" -- train
		member 2 -- train
		VARIABLES=(PATH=/nowhere)
		member "$rank" --report="$PWD/report" -- train
		ended 127 "$rank"
		ended 125 $((1 - rank)) 2
		[[ $(<"$rank.err") == "distinit: error: 'train' was not found in PATH='/nowhere'" ]]
		why="h$rank"
		((rank == 0)) || why="h$rank (rank $rank)"
		why="$why cannot start: 'train' was not found in PATH='/nowhere'; nothing was started"
		[[ $(<2.err) == "distinit: error: h0 says: $why" ]]
		((rank == 0)) || [[ $(<0.err) == "distinit: error: roll call: $why" ]]
		[[ ! -s 0.out && ! -s 1.out && ! -s 2.out ]]
	done
	# One that may not be executed; also without anybody to tell.
	chmod -x programs/train
	WAIT=1s
	member 1 -- ./programs/train
	ended 126 1
	[[ $(<1.err) == "distinit: error: './programs/train' cannot be started: Permission denied: it is not executable (chmod +x)" ]]
}

@test "roll call: with --check nobody starts if a node has a finding, and the master names each such node" {
	HOSTS=h0,h1,h2,h3
	VARIABLES=(PATH="$PATH" NCCL_NET_PLUGIN=nosuch)
	member 1 --check -- true
	member 3 --check -- true
	VARIABLES=(PATH="$PATH")
	member 2 --check -- echo started
	member 0 --check -- echo started
	ended 125 0 1 2 3
	local finding="NCCL_NET_PLUGIN='nosuch' needs libnccl-net-nosuch.so, which is in no folder of LD_LIBRARY_PATH, nor where the loader looks by itself (--check)"
	[[ $(grep -c "distinit: error: NCCL_NET_PLUGIN='nosuch' needs" 1.err) -eq 1 && $(<1.err) == *"$finding"* ]]
	[[ $(<3.err) == *"$finding"* && ! -s 2.out && ! -s 0.out ]]
	# One is the error, the other a warning.
	[[ $(<0.err) == *"(rank 1) cannot start"*"$finding"* && $(<0.err) == *"(rank 3) cannot start"*"$finding"* ]]
	[[ ! -s 2.out ]]
}

@test "roll call: two processes of one rank, on two hosts or on one, end all" {
	HOSTS=h0,h1,h2,h3 WAIT=8s
	member 0 -- true
	listening
	member 1 -- true
	member 2 -- true
	sleep 0.3
	# Another node, which says that it is rank 1.
	crowd call 1 "$PORT" --size=4 --host=h9 --act=leave
	HOSTS=h0,h1,h2,h3 member 3 --hostname=h3 -- true
	ended 0 0 1 2 3
	member 0 -- true
	listening
	member 1 -- true
	sleep 0.3
	# As above, but it stays. Its hosts differ, too; that does not matter before all are there.
	in_room env -i PATH="$PATH" DISTINIT_JOB="$JOB" "$DISTINIT" --hosts="$HOSTS" --node-rank=1 --hostname=h9 --for=all \
		--wait="$WAIT" -- true >9.out 2>9.err 3>&- &
	PIDS[9]=$!
	ended 125 0 1 9
	[[ $(<0.err) == *'error: roll call: two nodes say that they are rank 1: h'[19]' (127.0.0.1'*') and h'[19]' (127.0.0.1'*'); nothing was started' ]]
	# By what the machines call themselves: the list has one name for both.
	[[ $(<0.err) == *' h1 ('* && $(<0.err) == *' h9 ('* ]]
	[[ $(<1.err) == *'error: h0 says: two nodes say that they are rank 1: '* ]]
}

@test "roll call: a node that cannot start keeps all from starting, also where nothing else differs" {
	HOSTS=h0,h1 WAIT=8s
	local rank
	for rank in 1 0 1 0 1 0; do
		# A folder that is not cleared, as it is neither sticky nor a tmpfs.
		OPTIONS=(--clear='/usr/no-such-file-*')
		member "$rank" -- echo started
		OPTIONS=()
		member $((1 - rank)) -- echo started
		ended 125 0 1
		[[ $(<$((1 - rank)).err) == *'cannot start: --clear='*'/usr/no-such-file-'*'; nothing was started' ]]
		[[ ! -s 0.out && ! -s 1.out ]]
	done
}

@test "roll call: more members than open files: all are told at once" {
	HOSTS='h[0-299]'
	ulimit -Sn 64
	ulimit -Hn 64
	member 0 -- true
	listening
	member 1 -- true
	member 299 -- true
	soon 5000 ended 125 1 299
	[[ $(<1.err) == 'distinit: error: h0 says: 300 nodes need 332 open files, but the hard limit leaves '[0-9]*' of 64; raise it '* ]]
	[[ $(<299.err) == "$(<1.err)" ]]
	# It would wait for the others. What it has told these is its result, whatever ends it.
	kill "${PIDS[0]}"
	ended 125 0
	[[ $(<0.err) == 'distinit: error: roll call: 300 nodes need 332 open files, but the hard limit leaves '[0-9]*' of 64; raise it '* ]]
}

@test "roll call: descriptors that are open already count" {
	HOSTS='h[0-2]'
	ulimit -Sn 64
	ulimit -Hn 64
	# In a shell of its own: bats has some of them.
	(
		for fd in {20..50}; do eval "exec $fd</dev/null"; done
		member 0 -- true
		member 1 -- true
		member 2 -- true
		soon 5000 ended 125 0 1 2
	)
	[[ $(<0.err) == 'distinit: error: roll call: 3 nodes need 35 open files, but the hard limit leaves '[0-9]*' of 64; raise it '* ]]
}

@test "roll call: the master asks for its free descriptors at once, not for each" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	HOSTS=h0,h1
	printf '#!/bin/sh\nexec strace -o %q %q "$@"\n' "$PWD/trace" "$DISTINIT" >traced
	chmod +x traced
	DISTINIT=$PWD/traced member 0 -- true
	member 1 -- true
	ended 0 0 1
	grep -q '^listen(' trace
	run ! grep 'EBADF' trace
}

# ticks PID: the CPU time that it has used, in hundredths of a second.
ticks() {
	local line
	line=$(<"/proc/$1/stat")
	# shellcheck disable=SC2086 # words are meant
	set -- ${line##*) }
	echo $((${12} + ${13}))
}

@test "roll call: a coordinator that may open no more files waits without spinning, and goes on" {
	HOSTS=h0,h1
	member 0 -- echo started
	listening
	local master=${PIDS[0]} before
	prlimit --pid "$master" --nofile=3:4096
	member 1 -- echo started
	# Its connection waits at the listener.
	sleep 0.5
	before=$(ticks "$master")
	sleep 1
	[[ $(($(ticks "$master") - before)) -le 20 ]]
	prlimit --pid "$master" --nofile=1024:4096
	ended 0 0 1
	[[ $(<0.out) == started && $(<1.out) == started ]]
}

@test "roll call: nothing to wait for in a cluster of one, an allocation, or without a cluster" {
	HOSTS=h0
	member 0 -v -- true
	ended 0 0
	said 0 '*info: nothing to wait for: a cluster of one'
	HOSTS=h0,h1
	member 0 -v --scope=allocation -- true
	ended 0 0
	said 0 '*info: nothing to wait for: this process is not a rank*'
	invoke env -i "$DISTINIT" --wait --for=all -v -- true
	[[ $status -eq 0 && $stderr == *'nothing to wait for: no cluster'* ]]
}

@test "roll call: an IPv6 address has brackets in the sentences, and in the report" {
	in_room env -i "$DISTINIT" --hosts=::1,::2 --node-rank=1 --wait=300ms --for=all --report=6.json -- true 2>6.err 3>&- || status=$?
	[[ $status -eq 124 && $(<6.err) == *'roll call: [::1]:29500 could not be reached within 0.3s'* ]]
	[[ $(<6.json) == *'"coordinator": "[::1]:29500"'* ]]
}

@test "roll call: an elastic job, and a cluster of unknown size, are refused" {
	VARIABLES=(PET_NNODES=2:4)
	member 1 -- true
	ended 125 1
	[[ $(<1.err) == "distinit: error: --for=all: the job is elastic (PET_NNODES='2:4'), and the number of nodes is not fixed; "* ]]
	# With like ends it is a number.
	HOSTS=h0,h1 VARIABLES=(PET_NNODES=2:2)
	member 0 -- echo started
	member 1 -- echo started
	ended 0 0 1
	[[ $(<0.out) == started && $(<1.out) == started ]]
	invoke env -i MASTER_ADDR=h0 "$DISTINIT" wait --for=all
	[[ $status -eq 125 && $stderr == 'distinit: error: --for=all: no cluster manager is recognised here, so the number of nodes is unknown; describe the cluster with --hosts or --read' ]]
	invoke env -i DET_CHIEF_IP=10.0.0.1 "$DISTINIT" wait --for=all
	[[ $status -eq 125 && $stderr == 'distinit: error: --for=all: determined (DET_CHIEF_IP) does not provide the number of nodes; set DISTINIT_NNODES, '* ]]
}

@test "roll call: a number without a count is refused, whoever asked for the others" {
	for number in JOB_COMPLETION_INDEX NOMAD_ALLOC_INDEX; do
		for way in '--wait --for=all' --together; do
			# shellcheck disable=SC2086 # two words
			invoke env -i $number=1 "$DISTINIT" $way -- echo ran
			[[ $status -eq 125 && ! $output ]]
			[[ $stderr == "distinit: error: ${way#--wait }: "*" ($number) does not provide the number of nodes; set DISTINIT_NNODES, or pass --nnodes or --hosts" ]]
		done
		for way in 'DISTINIT_WAIT=1 DISTINIT_FOR=all' DISTINIT_TOGETHER=1; do
			label=${way#DISTINIT_WAIT=1 } label=${label%=1}
			# shellcheck disable=SC2086 # two words
			invoke env -i $number=1 $way "$DISTINIT" -- echo ran
			[[ $status -eq 125 && ! $output && $stderr == "distinit: error: $label: "*'set DISTINIT_NNODES'* ]]
		done
		invoke env -i $number=1 "$DISTINIT" wait --for=all
		[[ $status -eq 125 && $stderr == *'set DISTINIT_NNODES'* ]]
	done
}

@test "roll call: where nobody is waited for, a warning says why; not in a cluster of one, nor where the user says so" {
	local ask
	for ask in '--wait --for=all' --together; do
		# shellcheck disable=SC2086 # two words
		{
			invoke env -i "$DISTINIT" $ask -- echo ran
			[[ $status -eq 0 && $output == ran ]]
			[[ $stderr == "distinit: warning: ${ask#--wait }, but nobody is waited for: no cluster manager is recognised here; 'distinit managers' lists what was looked for; describe the cluster with --hosts or --read" ]]
			invoke env -i TORCHELASTIC_RUN_ID=x RANK=0 WORLD_SIZE=2 "$DISTINIT" $ask -- echo ran
			[[ $output == ran && $stderr == "distinit: warning: ${ask#--wait }, but nobody is waited for: this is a child of torchrun, "* ]]
			invoke env -i SLURM_JOB_ID=1 'SLURM_JOB_NODELIST=n[1-2]' "$DISTINIT" $ask -- echo ran
			[[ $output == ran && $stderr == *'nobody is waited for: this process is not a rank, '*'; pass --scope=node if distinit runs once on each node' ]]
			invoke env -i SLURM_JOB_ID=1 'SLURM_JOB_NODELIST=n[1-2]' "$DISTINIT" --scope=allocation $ask -- echo ran
			[[ $output == ran && ! $stderr ]]
			invoke env -i "$DISTINIT" --cluster=none $ask -- echo ran
			[[ $output == ran && ! $stderr ]]
			invoke env -i BACKENDAI_CLUSTER_SIZE=1 "$DISTINIT" $ask -- echo ran
			[[ $output == ran && ! $stderr ]]
		}
	done
}

@test "roll call: distinit wait --for=all writes the environment that follows" {
	HOSTS=h0,h1
	in_room env -i "$DISTINIT" wait --hosts=h0,h1 --node-rank=0 --hostname=h0 --for=all --timeout=10s --output=0.env 2>0.err 3>&- &
	PIDS[0]=$!
	in_room env -i "$DISTINIT" wait --hosts=h0,h1 --node-rank=1 --hostname=h1 --for=all --timeout=10s --output=1.env --format=docker 2>1.err 3>&- &
	PIDS[1]=$!
	: >0.out
	: >1.out
	ended 0 0 1
	grep -qx "PET_NODE_RANK='0'" 0.env
	grep -qx 'PET_NODE_RANK=1' 1.env
}

@test "roll call: after 10 s the absent are named" {
	WAIT=13s
	member 0 -- true
	listening
	member 1 -v -- true
	# Of another job, whose master is not there.
	local -a other=(in_room env -i "$DISTINIT" "--hosts=h8,h9" --master-port=29999 --for=all --wait=13s)
	"${other[@]}" --node-rank=1 --hostname=h9 -- true >9.out 2>9.err 3>&- &
	PIDS[9]=$!
	said 0 'distinit: warning: roll call: 2 of 3 nodes are here after 10s; absent: h2 (rank 2, resolves to 127.0.0.102, never came)'
	said 1 'distinit: info: roll call: h0 counts 2 of 3 nodes after 10s; absent: h2'
	said 9 'distinit: warning: roll call: still waiting for h8:29999 after 10s: 127.0.0.108: Connection refused'
	# It comes; and it is said that it is there.
	"${other[@]}" --node-rank=0 --hostname=h8 -- true >8.out 2>8.err 3>&- &
	PIDS[8]=$!
	ended 0 8 9
	said 9 'distinit: warning: roll call: h8:29999 is there, and all start, after 1[0-3]*s'
	ended 124 0 1
}

# on_terminal RANK STEP...: in the background, that member on a terminal of its own (tests/programs/terminal).
on_terminal() {
	local rank=$1
	shift
	in_room "$BATS_TEST_DIRNAME/../programs/terminal" "$@" -- env -i PATH="$PATH" TERM=xterm NO_COLOR=1 DISTINIT_JOB="$JOB" \
		"$DISTINIT" --hosts="$HOSTS" --node-rank="$rank" --hostname="h$rank" --for=all --wait=20s -- echo started \
		>"$rank.out" 2>"$rank.err" 3>&- &
	PIDS[rank]=$!
}

@test "roll call: on a terminal one line says who is absent, and is rewritten" {
	requires python3
	local clear=$'\r\e[K'
	on_terminal 0 see="${clear}distinit: roll call: 1 of 3 nodes are here, 2s; absent: h1, h2" 'until=touch first' \
		see="${clear}distinit: roll call: 2 of 3 nodes are here, " see='s; absent: h2' 'until=touch second' see="${clear}" see=started ends=0
	until [[ -e first ]] || ! kill -0 "${PIDS[0]}"; do nap 0.02; done
	member 1 -- echo started
	until [[ -e second ]] || ! kill -0 "${PIDS[0]}"; do nap 0.02; done
	member 2 -- echo started
	ended 0 0 1 2
	# Nothing more is in its lines.
	[[ $(grep -c . 0.out) -eq 1 && ! -s 1.err ]]
	rm first second
	on_terminal 1 see="${clear}distinit: roll call: waiting for h0:29500, 2s: 127.0.0.100: Connection refused" 'until=touch first' \
		see="${clear}distinit: roll call: waiting for the others at h0:29500, " 'until=touch second' see="${clear}" see=started ends=0
	until [[ -e first ]] || ! kill -0 "${PIDS[1]}"; do nap 0.02; done
	member 0 -- echo started
	until [[ -e second ]] || ! kill -0 "${PIDS[1]}"; do nap 0.02; done
	member 2 -- echo started
	ended 0 0 1 2
}

@test "roll call: ten thousand members, in ten seconds" {
	[[ $(ulimit -Hn) -ge 10100 ]] || skip 'too few open files here'
	HOSTS='h[0-9999]' WAIT=60s
	digests -- true
	member 0 -v -- true
	listening
	time_begins
	crowd call 9999 "$PORT" --digests="$DIGESTS" --wait=60000
	time_passed
	[[ $output == *'go=9999 no=0 gone=0 '* ]]
	ended 0 0
	said 0 '*info: roll call: all 10000 nodes are here, after *'
	((CALM < 10000))
}

# memory PID: what it has of its own, in KiB.
memory() {
	awk '/^Anonymous:/ { print $2 }' "/proc/$1/smaps_rollup"
}

@test "roll call: members that come and go again and again cost the coordinator no memory" {
	HOSTS='h[0-1000]' WAIT=60s
	member 0 -- true
	listening
	local before=0 after
	for _ in {1..6}; do
		crowd call 990 "$PORT" --size=1001 --hold --node=another-name-of-node-%u --wait=30000 </dev/null
		[[ $output == here*'gone=0 hellos=990 '* ]]
		until [[ $(find "/proc/${PIDS[0]}/fd" -type l | wc -l) -lt 20 ]]; do nap 0.02; done
		((before)) || before=$(memory "${PIDS[0]}")
	done
	after=$(memory "${PIDS[0]}")
	echo "$before KiB, then $after"
	((after <= before + 8))
	kill "${PIDS[0]}"
	ended 143 0
}

@test "roll call: members that all come again while their older connections are open have a place, and are no strangers" {
	HOSTS='h[0-301]' WAIT=60s
	member 0 -- true
	listening
	# Nobody closes: after a failure of the network the master does not know yet that the older ones are dead.
	mkfifo stay
	in_room "$CROWD" call 300 "$PORT" --size=302 --hold --wait=30000 <stay >first 3>&- &
	exec {stay}>stay
	until grep -q here first; do nap 0.02; done
	# These have proved themselves, and are slow to say who they are.
	crowd call 300 "$PORT" --size=302 --act=idle --wait=1000
	[[ $output == *'gone=0 hellos=0 '* ]]
	crowd call 300 "$PORT" --size=302 --hold --wait=30000 </dev/null
	[[ $output == here*'gone=0 hellos=300 '* ]]
	exec {stay}>&-
	run ! grep 'and sent nothing' 0.err
	kill "${PIDS[0]}"
	ended 143 0
}

@test "roll call: --for=all without --wait is refused, as nobody would be called; an image may say it" {
	invoke env -i "$DISTINIT" --for=all -- true
	[[ $status -eq 125 && $stderr == 'distinit: error: --for=all needs --wait: distinit --wait --for=all' ]]
	invoke env -i DISTINIT_FOR=all "$DISTINIT" -- true
	[[ $status -eq 0 && -z $stderr ]]
}

@test "check: a signal ends it, also as PID 1" {
	name_server
	in_room unshare --pid --fork --kill-child env -i --default-signal "$DISTINIT" check --hosts=elsewhere,h1 --node-rank=0 >out 3>&- &
	local outer=$! inner status=0
	until [[ -e asked ]]; do nap 0.02; done
	while read -r inner; do
		[[ $(awk '/^NSpid/ { print $NF }' "/proc/$inner/status" 2>/dev/null) != 1 ]] || kill -TERM "$inner"
	done < <(pgrep --ns "$ROOM" --nslist net -f 'check --hosts=elsewhere')
	wait "$outer" || status=$?
	[[ $status -eq 143 && ! -s out ]]
}
