#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait and distinit wait. tests/programs/scene.py changes things during the wait; it reacts to
# messages and queries, not to time. Timeouts only end a test that fails.

# shellcheck disable=SC2030,SC2031,SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts
# shellcheck disable=SC2034 # the helpers use these

load helpers

setup() {
	requires python3
	cd "$BATS_TEST_TMPDIR" || return
	# The second container of a session; its master is the scene's port.
	WORKER=(BACKENDAI_CLUSTER_SIZE=2 'BACKENDAI_CLUSTER_HOSTS=127.0.0.1,sub1' BACKENDAI_CLUSTER_HOST=sub1
		BACKENDAI_CLUSTER_LOCAL_RANK=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=@PORT@)
	# The first.
	MASTER=(BACKENDAI_CLUSTER_SIZE=2 'BACKENDAI_CLUSTER_HOSTS=main1,sub1' BACKENDAI_CLUSTER_HOST=main1
		BACKENDAI_CLUSTER_LOCAL_RANK=0)
	NAMESPACE=()
}

# scene OPTION... -- VAR=VALUE... -- ARG...: invoke it in a scene.
scene() {
	local -a options=() variables arguments
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	split "$@"
	invoke "${NAMESPACE[@]}" python3 "$BATS_TEST_DIRNAME/../programs/scene.py" "${options[@]}" -- "${variables[@]}" \
		"$DISTINIT" "${arguments[@]}"
	# The scene's port is one of this machine, so there is a warning that is not about waiting.
	local known="distinit: warning: MASTER_ADDR='127.0.0.1' leads each node to itself; name the host of rank 0 instead"
	stderr=${stderr#"$known"}
	stderr=${stderr#$'\n'}
}

# patient_resolver: let the C library wait for a minute, instead of five seconds, for a silent name
# server.
patient_resolver() {
	echo 'options timeout:60 attempts:1' >>etc/resolv.conf
}

# fails_at_last STATUS PATTERN: it exited with STATUS, the command did not run, and the last line is
# an error that matches PATTERN.
fails_at_last() {
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $status -eq $1 && $output != *ran* && ${stderr##*$'\n'} == "distinit: error: "$2 ]]
}

@test "wait: if the port is open, the command runs at once" {
	scene --port=open -- "${WORKER[@]}" -- --wait --log=warn -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	[ -z "$stderr" ]
}

@test "wait: a port that refuses and then opens" {
	scene --port=later -- "${WORKER[@]}" -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	[[ $stderr == *'debug: waiting for 127.0.0.1:'*': 127.0.0.1: Connection refused'* ]]
	[[ $stderr == *'info: 127.0.0.1:'*' can be reached, after '* ]]
}

@test "wait: a proxy that accepts and closes is not the master (Istio)" {
	scene --port=proxy -- "${WORKER[@]}" -- -vv --wait -- echo ran
	[[ $status -eq 0 && $output == ran ]]
	[[ $stderr == *'debug: waiting for 127.0.0.1:'*': 127.0.0.1: it accepted, and closed the connection at once, as a proxy does'* ]]
	[[ $stderr == *'info: 127.0.0.1:'*' can be reached, after '* ]]
	# It never goes away.
	scene --port=proxy --when=never -- "${WORKER[@]}" -- --wait=600ms -- echo ran
	fails_at_last 124 '127.0.0.1:* could not be reached within 0.6s: 127.0.0.1: it accepted, and closed *'
}

@test "wait: a port that always refuses: status 124, with the reason" {
	scene --port=closed -- "${WORKER[@]}" -- --wait=500ms -- echo ran
	fails_at_last 124 '127.0.0.1:* could not be reached within 0.5s: 127.0.0.1: Connection refused; is it running? --wait=DURATION waits longer'
	[[ $stderr != *$'\n'* ]]
}

@test "wait: a port that drops packets: the same, without delay" {
	scene --port=full -- "${WORKER[@]}" -- --wait=500ms -- echo ran
	fails_at_last 124 '127.0.0.1:* could not be reached within 0.5s: 127.0.0.1: no answer; *'
}

@test "wait: IPv6" {
	python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))' || skip 'no IPv6 here'
	scene --ipv6 --port=later -- "${WORKER[@]}" MASTER_ADDR=::1 -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[[ $stderr == *'debug: waiting for [::1]:'*': ::1: Connection refused'* ]]
	scene --ipv6 --port=closed -- "${WORKER[@]}" 'MASTER_ADDR=[::1]' -- --wait=200ms -- echo ran
	fails_at_last 124 '[[]::1]:* could not be reached *'
}

@test "wait: an address that refuses does not hide one that answers" {
	own_network
	echo '127.0.0.2 main1' >>etc/hosts
	echo '127.0.0.1 main1' >>etc/hosts
	scene --port=open -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
}

@test "wait: a master that changes its address is found" {
	own_network
	echo '127.0.0.2 main1' >>etc/hosts
	DISTINIT=$BRISK
	scene --port=open --hosts='127.0.0.1 main1' -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	[[ $stderr == *'debug: waiting for main1:'*': 127.0.0.2: Connection refused'* ]]
}

@test "wait: a name that appears in /etc/hosts later" {
	own_network
	scene --dns=unknown --port=open --hosts='127.0.0.1 main1' -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	[[ $stderr == *'debug: waiting for main1:'*': the name does not resolve'* ]]
}

@test "wait: a name that the name server knows later" {
	own_network
	scene --dns=later --port=open -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	[[ $stderr == *'debug: waiting for main1:'*': the name does not resolve'* ]]
}

@test "wait: a name that never resolves" {
	own_network
	scene --dns=unknown -- "${SESSION[@]}" -- --wait=3s -- echo ran
	fails_at_last 124 'main1:29500 could not be reached within 3s: the name does not resolve; *'
}

@test "wait: a name server that does not answer does not delay the deadline" {
	own_network
	patient_resolver
	SECONDS=0
	scene --dns=silent -- "${SESSION[@]}" -- --wait=300ms -- echo ran
	fails_at_last 124 'main1:29500 could not be reached within 0.3s: no name server answers; *'
	[ "$SECONDS" -lt 50 ]
}

@test "wait: it does not delay a signal either, and no child is left" {
	own_network
	patient_resolver
	SECONDS=0
	scene --dns=silent --signal=TERM -- "${SESSION[@]}" -- --wait -- echo ran
	fails_at_last 143 'SIGTERM ended the wait for main1:29500 after *s'
	[ "$SECONDS" -lt 50 ]
}

@test "wait: SIGTERM, SIGINT and SIGHUP end it, and it dies of them" {
	local name
	for name in TERM:143 INT:130 HUP:129; do
		scene --signal="${name%:*}" -- "${WORKER[@]}" -- -vv --wait -- echo ran
		fails_at_last "${name#*:}" "SIG${name%:*} ended the wait for 127.0.0.1:* after *s: 127.0.0.1: Connection refused"
	done
	scene --signal=TERM -- "${WORKER[@]}" -- wait -vv --for=tcp
	fails_at_last 143 'SIGTERM ended the wait *'
}

@test "wait: as PID 1 too, where the status shows it" {
	unshare --pid --fork --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
	# A child of PID 1 holds the port, reads the messages of PID 1, and sends it the signal.
	cat >scene.py <<-'END'
		import os, signal, socket, sys
		port = socket.socket()
		port.bind(("127.0.0.1", 0))
		reader, writer = os.pipe()
		if os.fork():
		    os.dup2(writer, 2)
		    entries = [*sys.argv[1].split(), "MASTER_PORT=%d" % port.getsockname()[1]]
		    os.execve(sys.argv[2], sys.argv[2:], dict(entry.split("=", 1) for entry in entries))
		os.close(writer)
		for line in os.fdopen(reader):
		    os.write(2, line.encode())
		    if "debug: waiting for" in line:
		        os.kill(1, signal.SIGTERM)
	END
	invoke unshare --pid --fork --mount-proc python3 scene.py "${SESSION[*]} MASTER_ADDR=127.0.0.1" "$DISTINIT" -vv --wait -- echo ran
	[ "$status" -eq 143 ]
	[ -z "$output" ]
}

@test "wait: a signal that was ignored before stays ignored" {
	# The scene's SIGINT comes first, and does nothing; then the deadline passes.
	scene --signal=INT -- "${WORKER[@]}" sh -c 'trap "" INT; exec "$0" "$@"' -- -vv --wait=500ms -- echo ran
	fails_at_last 124 '*could not be reached*'
}

@test "wait: after two seconds, and then every ten, a message shows what it waits for" {
	scene --when='after 1' --signal=TERM -- "${WORKER[@]}" -- --wait -- echo ran
	fails_at_last 143 'SIGTERM ended the wait *'
	[[ $stderr == "distinit: warning: still waiting for 127.0.0.1:"*" after 2s: 127.0.0.1: Connection refused"$'\n'* ]]
	[[ $stderr == *$'\n'"distinit: warning: still waiting for 127.0.0.1:"*" after 1"[0-9]"s: 127.0.0.1: Connection refused"$'\n'* ]]
}

@test "wait: if it was said that we wait, the end is said, too" {
	requires python3
	local port pid
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	{
		sleep 3
		exec python3 -c 'import socket, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); time.sleep(20)' "$port"
	} 3>&- &
	pid=$!
	distinit "${SESSION[@]}" PATH="$PATH" -- --wait=20s --set MASTER_ADDR=127.0.0.1 --set MASTER_PORT="$port" -- echo ran
	kill "$pid"
	[[ $status -eq 0 && $output == ran ]]
	[[ $stderr == *"still waiting for 127.0.0.1:$port after 2s: "*$'\n'"distinit: warning: 127.0.0.1:$port can be reached, after "[34]* ]]
}

# waits_typed VAR=VALUE... STEP...: wait in vain on a terminal, for a port that nobody has open.
waits_typed() {
	local -a variables=()
	while [[ $1 == [A-Z]* ]]; do
		variables+=("$1")
		shift
	done
	invoke "$BATS_TEST_DIRNAME/../programs/terminal" "$@" -- env -i "${SESSION[@]}" DISTINIT_WAIT=1m \
		MASTER_ADDR=127.0.0.1 MASTER_PORT=1 "${variables[@]}" "$DISTINIT" -- echo ran 3>&-
	[ "$status" -eq 0 ]
}

@test "wait: on a terminal, one line is rewritten, and gone before the next message" {
	local shown=$'\r\e[Kdistinit: waiting for 127.0.0.1:1, '
	waits_typed TERM=xterm see="${shown}2s: 127.0.0.1: Connection refused" see="${shown}3s: " type=^C ends=130
	[[ $output == *$'\r\e[Kdistinit: \e[1;31merror\e[m: SIGINT ended the wait for 127.0.0.1:1 '* ]]
	[[ $output != *'still waiting'* ]]
	# It does not wrap, and with --log=error it is not there.
	waits_typed TERM=xterm columns=25 see="${shown:0:25}..." type=^C ends=130
	[[ $output != *"${shown:0:29}"* ]]
	waits_typed TERM=xterm DISTINIT_LOG=error DISTINIT_WAIT=3s ends=124
	[[ $output != *'waiting for'* && $output == *'could not be reached within 3s'* ]]
}

@test "wait: a dumb terminal gets lines" {
	waits_typed TERM=dumb see='distinit: warning: still waiting for 127.0.0.1:1 after 2s: ' type=^C ends=130
	[[ $output != *$'\e'* ]]
}

@test "wait: distinit wait resolves the name, and tries the port only with --for=tcp" {
	scene --port=closed -- "${WORKER[@]}" -- wait
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	scene --port=closed -- "${WORKER[@]}" -- wait --for=tcp --timeout=200ms
	fails_at_last 124 '127.0.0.1:* could not be reached within 0.2s: 127.0.0.1: Connection refused; is it running? --timeout=DURATION waits longer'
	scene --port=open -- "${WORKER[@]}" -- wait --for tcp
	[ "$status" -eq 0 ]
	[ "$output" = 'accepted 1' ]
	scene --port=closed -- "${WORKER[@]}" DISTINIT_FOR=tcp DISTINIT_WAIT=200ms -- wait
	fails_at_last 124 '*within 0.2s*'
	scene --port=closed -- "${WORKER[@]}" -- --wait --for=dns -- echo ran
	[ "$status" -eq 0 ]
}

@test "wait: directives change the master" {
	scene --port=open -- "${SESSION[@]}" -- --set MASTER_ADDR=127.0.0.1 --set MASTER_PORT=@PORT@ --wait -- echo ran
	[ "$output" = $'ran\naccepted 1' ]
	# And it is the cluster's, if the program gets none.
	scene --port=open -- "${SESSION[@]}" -- --master-addr=127.0.0.1 --master-port=@PORT@ --frameworks=none --wait -- echo ran
	[ "$output" = $'ran\naccepted 1' ]
	scene --port=open -- "${WORKER[@]}" -- --unset 'MASTER_*' --wait -- echo ran
	[ "$output" = $'ran\naccepted 1' ]
	distinit "${SESSION[@]}" -- --set MASTER_PORT=many --wait -- echo ran
	refuses_with "MASTER_PORT='many' is not a port (1 to 65535)"
	distinit "${SESSION[@]}" -- --set 'MASTER_ADDR=main 1' --wait -- echo ran
	fails_like 125 "MASTER_ADDR*'main 1'*"
	distinit "${SESSION[@]}" -- --set 'MASTER_ADDR=main1,sub1' --wait -- echo ran
	refuses_with "MASTER_ADDR='main1,sub1': one host is expected"
}

@test "wait: rank 0 does not wait for itself" {
	distinit "${MASTER[@]}" MASTER_ADDR=127.0.0.1 -- --wait --log=info -- echo ran
	[ "$output" = ran ]
	[[ $stderr == *"info: nothing to wait for: this is the master's node" ]]
	distinit "${MASTER[@]}" -- wait -v
	[[ $status -eq 0 && $stderr == *"info: nothing to wait for: this is the master's node" ]]
	local -a step=(SLURM_JOB_ID=55 SLURM_STEP_ID=0 'SLURM_STEP_NODELIST=n[1-2]' SLURM_STEP_NUM_NODES=2
		SLURM_STEP_NUM_TASKS=4 'SLURM_STEP_TASKS_PER_NODE=2(x2)' SLURM_NODEID=0 MASTER_ADDR=127.0.0.1
		MASTER_PORT=@PORT@)
	distinit "${step[@]}" SLURM_PROCID=0 SLURM_LOCALID=0 MASTER_PORT=1 -- wait -v --for=tcp
	[[ $status -eq 0 && $stderr == *'info: nothing to wait for: this is rank 0, the master' ]]
	# The other rank of its node waits.
	scene --port=closed -- "${step[@]}" SLURM_PROCID=1 SLURM_LOCALID=1 -- wait --for=tcp --timeout=100ms
	fails_at_last 124 '*could not be reached*'
}

@test "wait: without a cluster there is nothing to wait for" {
	distinit -- --wait -- echo ran
	succeeds_with ran
	distinit MASTER_ADDR=no..such MASTER_PORT=1 -- --wait -- echo ran
	succeeds_with ran
	distinit -- --wait --log=info -- echo ran
	[[ $output == ran && $stderr == *'distinit: info: nothing to wait for: no cluster' ]]
	# Who only waits means a cluster; a laptop's run goes on.
	distinit -- wait
	[[ $status -eq 0 && -z $output ]]
	[[ $stderr == "distinit: warning: nothing to wait for: no cluster; 'distinit managers' lists what was looked for; describe the cluster with --hosts"* ]]
	distinit BACKENDAI_CLUSTER_SIZE=1 -- wait
	[[ $status -eq 0 && -z $stderr ]]
	distinit -- --hosts=a --wait --log=info -- echo ran
	[[ $output == ran && $stderr == *'nothing to wait for: a cluster of one' ]]
	# Each pod of an Indexed Job has a number. In an image that waits, a single pod has to start
	# too: it has number 0. Another number says that there are others.
	distinit NOMAD_ALLOC_INDEX=0 -- --wait --log=info -- echo ran
	[[ $output == ran && $stderr == *"nothing to wait for: only this node's number is known, not the cluster"* ]]
	local alone="cannot wait for the master: * gives only this node's number, and neither the number of nodes nor the master; pass --nnodes, *"
	distinit NOMAD_ALLOC_INDEX=1 -- --wait -- echo ran
	fails_like 125 "$alone"
	distinit JOB_COMPLETION_INDEX=0 DISTINIT_HOSTNAME=a-0 -- wait
	fails_like 125 "$alone"
	distinit JOB_COMPLETION_INDEX=1 DISTINIT_HOSTNAME=a-1 -- wait --for=tcp
	fails_like 125 "$alone"
	distinit JOB_COMPLETION_INDEX=0 DISTINIT_HOSTNAME=a-0 -- wait --nnodes=1
	[[ $status -eq 0 && -z $stderr ]]
	distinit SLURM_JOB_ID=1 'SLURM_JOB_NODELIST=n[1-2]' SLURMD_NODENAME=n2 -- wait -v
	[[ $status -eq 0 && $stderr == *'nothing to wait for: this process is not a rank, and it starts the master itself' ]]
}

@test "wait: the program's own variables name the master, where no manager does" {
	local -a torchrun=(PET_NNODES=2 PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT=@PORT@)
	local -a ranks=(WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=@PORT@)
	scene --port=later -- "${torchrun[@]}" PET_NODE_RANK=1 -- -vv --wait -- echo ran
	[[ $status -eq 0 && $output == $'ran\naccepted 1' ]]
	scene --port=later -- "${ranks[@]}" RANK=1 -- -vv --wait -- echo ran
	[[ $status -eq 0 && $output == $'ran\naccepted 1' ]]
	scene --port=open -- "${ranks[@]}" RANK=1 -- wait --for=tcp
	[[ $status -eq 0 && $output == 'accepted 1' ]]
	scene --port=closed -- "${torchrun[@]}" PET_NODE_RANK=1 -- --wait=100ms -- echo ran
	fails_at_last 124 '127.0.0.1:* could not be reached*'
	scene --port=closed -- "${torchrun[@]}" PET_NODE_RANK=0 -- --wait --log=info -- echo ran
	[[ $output == ran && $stderr == *'nothing to wait for: this is number 0, the master'* ]]
	scene --port=closed -- "${ranks[@]}" RANK=0 -- wait --for=tcp
	[[ $status -eq 0 && -z $stderr ]]
	# A number beside an index of a manager that tells no count; and the default port.
	distinit JOB_COMPLETION_INDEX=1 DISTINIT_HOSTNAME=a-1 PET_NNODES=2 PET_NODE_RANK=1 PET_MASTER_ADDR=no..such -- --wait=100ms -- echo ran
	fails_like 124 'no..such:29500 could not be reached*'
	# One rank, or a range of nodes, has nobody to wait for here.
	distinit WORLD_SIZE=1 RANK=0 MASTER_ADDR=no..such -- --wait=100ms -- echo ran
	succeeds_with ran
	distinit PET_NNODES=1:4 PET_NODE_RANK=1 PET_MASTER_ADDR=no..such -- --wait=100ms -- echo ran
	succeeds_with ran
	# A roll call needs a cluster: neither of them starts alone.
	distinit "${ranks[@]}" MASTER_PORT=1 RANK=0 -- --wait=100ms --for=all -- echo ran
	fails_like 125 '--for=all: no cluster manager is recognised here*'
	distinit "${ranks[@]}" MASTER_PORT=1 RANK=1 -- --wait=100ms --for=all -- echo ran
	fails_like 125 '--for=all: no cluster manager is recognised here*'
}

@test "wait: distinit wait accepts a master from the user" {
	scene --port=open -- MASTER_ADDR=127.0.0.1 MASTER_PORT=@PORT@ -- wait --for=tcp
	[[ $status -eq 0 && $output == 'accepted 1' ]]
	scene --port=open -- -- wait --for=tcp --master-addr=127.0.0.1 --master-port=@PORT@
	[[ $status -eq 0 && $output == 'accepted 1' ]]
	distinit -- wait --master-addr=no..such --timeout=100ms
	fails_like 124 'no..such could not be reached within 0.1s: *'
	distinit MASTER_ADDR=127.0.0.1 -- wait --for=tcp
	refuses_with "--for=tcp: the master's port is not known: set MASTER_PORT, or pass --master-port"
}

@test "wait: an unknown master is an error, not a silent start" {
	distinit PMI_RANK=1 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 -- --wait -- echo ran
	[[ $status -eq 125 && -z $output ]]
	[[ $stderr == *'error: cannot wait for the master, because its address is not known: set MASTER_ADDR, or pass --master-addr or --hosts' ]]
}

@test "wait: DISTINIT_WAIT is a flag or a duration" {
	scene --port=closed -- "${WORKER[@]}" DISTINIT_WAIT=200ms -- -- echo ran
	fails_at_last 124 '*within 0.2s*'
	local value
	for value in 1 yes true on; do
		scene --port=open -- "${WORKER[@]}" "DISTINIT_WAIT=$value" -- -- echo ran
		[ "$output" = $'ran\naccepted 1' ]
	done
	for value in '' 0 no false off; do
		scene --port=open -- "${WORKER[@]}" "DISTINIT_WAIT=$value" -- -- echo ran
		[ "$output" = $'ran\naccepted 0' ]
	done
	scene --port=open -- "${WORKER[@]}" DISTINIT_WAIT=1 -- --wait=0 -- echo ran
	[ "$output" = $'ran\naccepted 0' ]
	# Without '=' the next word is not taken.
	scene --port=open -- "${WORKER[@]}" -- --wait -- echo 5m
	[ "$output" = $'5m\naccepted 1' ]
	distinit DISTINIT_WAIT=1 DISTINIT_FOR=dns -- -- env
	succeeds_with ''
}

@test "wait: invalid durations and values are refused, with and without a cluster" {
	local value
	for value in -1 1x 5mm; do
		distinit -- "--wait=$value" -- echo ran
		refuses_with "--wait='$value' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m"
	done
	distinit DISTINIT_WAIT=1x -- -- echo ran
	refuses_with "DISTINIT_WAIT='1x' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m"
	distinit -- --wait=99999999999h -- echo ran
	refuses_with "--wait='99999999999h' is longer than ten years (3650d)"
	distinit -- wait --timeout=-1
	refuses_with "--timeout='-1' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m"
	distinit -- wait --timeout=0
	refuses_with "--timeout='0': expected more than 0"
	distinit -- --wait=0s -- echo ran
	refuses_with "--wait='0s': expected more than 0"
	distinit -- --wait --for=udp -- echo ran
	refuses_with "--for='udp': expected dns, tcp or all"
	distinit -- wait main1
	refuses_with "wait takes no command and no argument, only options; see 'distinit wait --help'"
	distinit -- wait -- echo
	refuses_with "wait takes no command and no argument, only options; see 'distinit wait --help'"
}

@test "wait: a failure is written to the termination log, if there is one" {
	mkdir -p root/dev
	scene -- "${WORKER[@]}" -- --wait=100ms --root=root -- echo ran
	[ "$status" -eq 124 ]
	[ ! -e root/dev/termination-log ]
	echo before >root/dev/termination-log
	scene -- "${WORKER[@]}" -- --wait=100ms --root=root -- echo ran
	[ "$status" -eq 124 ]
	diff <(printf 'before\n%s\n' "${stderr##*$'\n'}") root/dev/termination-log
	: >root/dev/termination-log
	scene --signal=TERM -- "${WORKER[@]}" -- wait --for=tcp -vv --root=root
	[ "$(cat root/dev/termination-log)" = "${stderr##*$'\n'}" ]
	# A successful wait writes nothing.
	: >root/dev/termination-log
	scene --port=open -- "${WORKER[@]}" -- --wait --root=root -- echo ran
	[ ! -s root/dev/termination-log ]
	# Nothing is written to a pipe or a device.
	rm root/dev/termination-log
	mkfifo root/dev/termination-log
	exec 5<>root/dev/termination-log
	scene -- "${WORKER[@]}" -- --wait=100ms --root=root -- echo ran
	[ "$status" -eq 124 ]
	run ! read -r -t 0 -u 5
	exec 5>&-
}

@test "wait: the command inherits signals, descriptors and children as without a wait" {
	own_network
	echo '127.0.0.1 main1' >>etc/hosts
	# The program prints its own state.
	local look='grep -E "^(Sig[PBIC]|Shd|Threads)" /proc/self/status; ls /proc/self/fd; ps -o stat=,comm= --ppid $$'
	scene --port=open -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- -- sh -c "$look"
	local without=$output
	scene --port=open -- "${SESSION[@]}" MASTER_PORT=@PORT@ -- --wait -- sh -c "$look"
	[ "$status" -eq 0 ]
	diff <(echo "${without/accepted 0/accepted 1}") <(echo "$output")
}

@test "wait: with stdin and stderr closed, nothing is sent either" {
	scene --port=open -- "${WORKER[@]}" sh -c 'exec "$0" "$@" 2>&- <&-' -- -vv --wait -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = $'ran\naccepted 1' ]
	scene --port=full -- "${WORKER[@]}" sh -c 'exec "$0" "$@" 2>&-' -- -vv --wait=200ms -- echo ran
	[ "$status" -eq 124 ]
}

@test "wait: a connection to itself does not count" {
	own_network
	# In this network the only possible source port is the destination port.
	cat >alone <<-'END'
		echo '29999 29999' >/proc/sys/net/ipv4/ip_local_port_range
		exec "$@"
	END
	NAMESPACE+=(sh "$PWD/alone")
	invoke "${NAMESPACE[@]}" env -i "${SESSION[@]}" MASTER_ADDR=127.0.0.1 MASTER_PORT=29999 "$DISTINIT" --wait=300ms -- echo ran
	fails_at_last 124 '127.0.0.1:29999 could not be reached within 0.3s: 127.0.0.1: Connection refused; *'
}

# --- the child that resolves a name ---------------------------------------------------------------

@test "wait: the child that resolves a name stays until it is reaped, also if SIGCHLD is ignored" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	cat >ignoring.py <<-'PYTHON'
		import os, signal, sys
		signal.signal(signal.SIGCHLD, signal.SIG_IGN)
		os.execv(sys.argv[1], sys.argv[1:])
	PYTHON
	invoke env -i PATH="$PATH" strace -o trace -e trace=kill,wait4,execve python3 ignoring.py "$DISTINIT" wait --cluster=none \
		--master-addr=localhost --timeout=5s
	[ "$status" -eq 0 ]
	# Otherwise another process could have its PID when it is killed.
	grep -qE '^kill\(([0-9]+), SIGKILL\) += 0' trace
	grep -qE '^wait4\(([0-9]+), NULL, 0, NULL\) += \1' trace
	# The signal stays ignored for the command.
	invoke env -i PATH="$PATH" python3 ignoring.py "$DISTINIT" --wait=5s --for=dns --master-addr=localhost --hosts=localhost,b --node-rank=1 \
		-- grep SigIgn /proc/self/status
	[[ $status -eq 0 && $((0x${output##*[[:space:]]} >> 16 & 1)) -eq 1 ]]
}

# SECURITY.md: A name server's answer can start nothing.
@test "wait: before it asks, the child that resolves a name gives up all that it does not need for that" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	readelf -lW "$DISTINIT" | grep -q INTERP && skip 'not of the GNU C library, whose resolver is not confined'
	local words
	for words in 'wait --cluster=none --master-addr=localhost --timeout=5s' \
		'env --frameworks=nccl --hosts=localhost,b --node-rank=1' \
		'--fill --hosts=localhost,b --node-rank=1 -- true {node-addr}'; do
		# shellcheck disable=SC2086 # it is several words
		invoke env -i PATH="$PATH" strace -f -o trace -e trace=prctl,open,openat "$DISTINIT" $words
		run awk '/SECCOMP_MODE_FILTER.* = 0$/ { confined = 1 } /"\/etc\/(hosts|resolv.conf)"/ { print confined ? "confined" : "free" }' trace
		[[ -n $output && $output != *free* ]]
	done
}

@test "wait: an inconsistent answer of the child is rejected" {
	requires strace
	strace -o /dev/null -e inject=read:poke_exit=@arg2=00:when=1000 true || skip 'strace cannot change what is read here'
	local bytes
	# No error and 4,000,000,000 addresses; one address of that length.
	for bytes in 0000000000000000ffffffff "00000000000000000100000002000000$(printf '%048d' 0)ffff0000"; do
		invoke env -i strace -o trace -e inject=read:poke_exit=@arg2="$bytes":when=1 "$DISTINIT" wait -vv --cluster=none \
			--master-addr=localhost --timeout=5s
		[ "$status" -eq 0 ]
		[[ $stderr == *'the look-up process sent an invalid answer'* ]]
	done
}
