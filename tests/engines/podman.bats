#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit as the ENTRYPOINT of a real image, under podman: as PID 1, behind podman's own init, stopped, ended
# and confined as clusters do it.
#
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # for the shell in the container; set by ended()

load helpers
load containers

setup_file() {
	podman_up catatonit
	[[ -n $NO_PODMAN ]] || made_of localhost/distinit "$DISTINIT" <<-'END'
		FROM localhost/busybox
		COPY distinit /distinit
		ENTRYPOINT ["/distinit"]
	END
}

teardown_file() {
	podman_down
}

setup() {
	podman_ready
}

# run_image [OPTION OF PODMAN]... -- ARG OF DISTINIT...: what a container prints on both streams.
run_image() {
	local -a options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	ended pod run --rm --network none "${options[@]}" localhost/distinit "${@:2}"
}

# start_image NAME ARG OF DISTINIT...: in the background, until it has printed "ready".
start_image() {
	local name=$1
	shift
	pod run --detach --name "$name" --network none localhost/distinit "$@"
	until_true eval "[[ \$(pod logs $name 2>&1) == *ready* ]]"
}

# stopped NAME: stop it, and print its exit status. What it said is in $said.
stopped() {
	pod stop --time 60 "$1" >/dev/null
	code=$(pod inspect "$1" --format '{{.State.ExitCode}}')
	said=$(pod logs "$1" 2>&1)
	pod rm --force "$1" >/dev/null
	printf '%s\n' "$said"
}

# exits WITH: the exit status of what ran last.
exits() {
	[[ $status -eq $1 ]] || fail "the exit status is $status, and should be $1"
}

@test "podman: without --init nothing of distinit is left: the workload is PID 1" {
	# shellcheck disable=SC2016 # for the shell in the container
	run_image -- -- sh -c 'echo $$; cat /proc/1/comm; true'
	exits 0
	[[ $output == $'1\nsh' ]] || fail "not the shell"
}

@test "podman: with --init distinit is PID 1, and the workload its child" {
	run_image -- --init -- sh -c 'echo $PPID; cat /proc/1/comm'
	exits 0
	[[ $output == $'1\ndistinit' ]] || fail "not distinit"
}

@test "podman: behind podman's --init, distinit's does its duty in silence" {
	run_image --init -- --init -- sh -c 'cat /proc/1/comm /proc/$PPID/comm'
	exits 0
	[[ $output == $'podman-init\ndistinit' ]] || fail "not in this order, or not in silence"
}

@test "podman: the workload's exit status is the container's" {
	local mode
	for mode in '' --init; do
		# shellcheck disable=SC2086 # one word or none
		run_image -- $mode -- sh -c 'exit 77'
		exits 77
		# shellcheck disable=SC2086
		run_image -- $mode -- /nowhere
		exits 127
		# shellcheck disable=SC2086
		run_image -- $mode -- /etc/passwd
		exits 126
	done
	run_image -- --init -- sh -c 'kill -KILL $$'
	exits 137
	run_image -- --no-such-option -- true
	exits 125
}

@test "podman stop: the workload's handler runs, and its exit status is kept" {
	local mode
	for mode in '' --init; do
		# shellcheck disable=SC2086
		start_image handler $mode -- sh -c 'trap "exit 42" TERM; echo ready; while :; do sleep 0.1; done'
		stopped handler
		same "the exit status ($mode)" 42 "$code"
	done
}

@test "podman stop: a workload without a handler ends at once, as PID 1 would not" {
	start_image plain --init -- sh -c 'echo ready; exec sleep 1000'
	stopped plain
	same "the exit status" 143 "$code"
}

@test "podman stop: TERM reaches what the workload left behind, which may finish" {
	start_image family --init --grace=60 -- sh -c '
		(trap "sleep 1; echo finished; exit" TERM; echo child; while :; do sleep 0.1; done) &
		trap "exit 5" TERM
		sleep 0.5
		echo ready
		while :; do sleep 0.1; done'
	stopped family
	same "the exit status" 5 "$code"
	[[ $said == *finished* ]] || fail "the child was not let finish: $said"
}

@test "podman: orphans do not stay as zombies" {
	run_image -- --init -- sh -c '
		i=0
		while [ $i -lt 20 ]; do (sleep 0.05 &); i=$((i + 1)); done
		n=1
		while [ $i -lt 600 ] && [ $n -ne 0 ]; do
			sleep 0.1
			n=$(grep -ls "^State:.[ZS]" /proc/[0-9]*/status | wc -l)
			n=$((n - 3))
			[ $n -gt 0 ] || n=0
			i=$((i + 1))
		done
		grep -s "^State:.Z" /proc/[0-9]*/status
		echo done'
	exits 0
	[[ $output == "done" ]] || fail "zombies are left"
}

@test "podman: --time-limit ends the container with 124" {
	run_image -- --time-limit=500ms -- /bin/busybox sleep 1000
	exits 124
}

@test "podman: root becomes a user who keeps one capability" {
	run_image --cap-add IPC_LOCK -- --user=app --cap-drop=all --cap-keep=ipc_lock -- sh -c '
		id -u; id -G; grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | cut -f 2 | sort -u; echo "$HOME"'
	exits 0
	[[ $output == $'1000\n1000 44\n0000000000004000\n/home/app' ]] || fail "not app with ipc_lock alone"
}

@test "podman: a capability that the container was not given is refused before the workload" {
	run_image --cap-drop all --cap-add SETUID --cap-add SETGID -- --user=app --cap-keep=sys_nice -- echo ran
	exits 125
	[[ $output == *sys_nice* && $output != *ran* ]] || fail "not refused"
}

@test "podman: a read-only container, as somebody without any rights" {
	run_image --read-only --user 1234:5 --cap-drop all --security-opt no-new-privileges -- --init -- sh -c '
		id -u; touch /x 2>/dev/null || echo read-only'
	exits 0
	[[ $output == $'1234\nread-only' ]] || fail "not so"
}

@test "podman: explain tells what the container is" {
	run_image --read-only --user 1234:5 --cap-drop all -- explain --format=json
	exits 0
	[[ $output == *'"pid": 1'* && $output == *'"uid": 1234'* ]] || fail "nothing of the process"
}

@test "podman: install into a folder of the host, and run from there in an image without distinit" {
	mkdir "$BATS_TEST_TMPDIR/tools"
	run_image --volume "$BATS_TEST_TMPDIR/tools:/tools" --user 1234 -- install /tools
	exits 125
	chmod 777 "$BATS_TEST_TMPDIR/tools"
	run_image --volume "$BATS_TEST_TMPDIR/tools:/tools" --user 1234 -- install /tools
	exits 0
	ended pod run --rm --network none --volume "$BATS_TEST_TMPDIR/tools:/tools:ro" localhost/busybox \
		/tools/distinit --set A=1 -- sh -c 'echo "A=$A"'
	exits 0
	[[ $output == A=1 ]] || fail "it does not run"
}

@test "podman: a master that is not there ends the wait with 124, and the workload does not start" {
	run_image --env BACKENDAI_CLUSTER_SIZE=2 --env BACKENDAI_CLUSTER_HOSTS=main1,sub1 \
		--env BACKENDAI_CLUSTER_HOST=sub1 --env BACKENDAI_CLUSTER_LOCAL_RANK=1 -- --wait=2s -- echo ran
	exits 124
	[[ $output == *main1* && $output != *ran* ]] || fail "not so"
}

# --- why a container ended ----------------------------------------------------------------------------

# limited COMMAND...: in a container with 60 MiB of memory, as PID 1.
limited() {
	ended pod run --rm --network none --memory 60m --memory-swap 60m --volume "$DISTINIT:/distinit:ro" \
		--entrypoint /distinit localhost/busybox --init -- "$@"
	[[ $status -ne 125 ]] || skip "podman sets no memory limit here: $output"
}

@test "podman: a program that the kernel kills at the container's memory limit" {
	limited /bin/busybox tail /dev/zero
	same "the exit status" 137 "$status"
	[[ $output == *'distinit: warning: /bin/busybox ended after '*'s: killed by SIGKILL; processes that the kernel killed for lack of memory: 1' ]] ||
		fail "it does not say so"
}

@test "podman: a child that the kernel kills at the memory limit, and a program that then exits with 1" {
	limited sh -c 'tail /dev/zero || exit 1'
	same "the exit status" 1 "$status"
	[[ $output == *'distinit: warning: sh ended after '*'s: exit status 1; processes that the kernel killed for lack of memory: 1' ]] ||
		fail "it does not say so"
}

# said_so NAME TEXT: the container has said that.
said_so() {
	[[ $(pod logs "$1" 2>&1) == *"$2"* ]]
}

@test "podman: --max-restarts as PID 1: the container stays, and who came by podman exec; what ignores TERM does not" {
	pod run --detach --name again --network none localhost/distinit --max-restarts=3 --leftovers-grace=100ms -- sh -c '
		echo "start $DISTINIT_RESTART_COUNT"
		if [ "$DISTINIT_RESTART_COUNT" = 0 ]; then
			sh -c "trap \"\" TERM; echo \$\$ >/stubborn; while :; do sleep 0.1; done" &
			while [ ! -s /guest ] || [ ! -s /stubborn ]; do sleep 0.05; done
			exit 3
		fi
		kill -0 "$(cat /stubborn)" 2>/dev/null && echo "the stubborn one lives"
		kill -0 "$(cat /guest)" && echo "the guest lives"
		exec sleep 1000'
	until_true said_so again 'start 0'
	local began
	began=$(pod inspect again --format '{{.State.Pid}} {{.State.StartedAt}} {{.RestartCount}}')
	pod exec --detach again /bin/busybox sh -c 'echo $$ >/guest; exec sleep 7777'
	until_true said_so again 'the guest lives'
	same "the container" "$began" "$(pod inspect again --format '{{.State.Pid}} {{.State.StartedAt}} {{.RestartCount}}')"
	stopped again
	same "the exit status" 143 "$code"
	same "what the program said" "start 0|start 1|the guest lives" "$(grep -v '^distinit:' <<<"$said" | paste -sd '|')"
	[[ $said == *'exit status 3; starting again (1 of 3)'* && $said != *'(2 of 3)'* ]] || fail "it does not say that it starts again once"
}
