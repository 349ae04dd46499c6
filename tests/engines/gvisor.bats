#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# As the first process of gVisor's sandboxes, whose kernel is not Linux: no ambient capabilities, and a /proc that shows less.
#
# shellcheck disable=SC2154 # ended() of containers.bash sets status and output
# shellcheck disable=SC2016 # what is quoted is for the shell in a sandbox

bats_require_minimum_version 1.5.0
load helpers
load containers

setup_file() {
	NO_GVISOR=$(missing runsc)
	export NO_GVISOR
}

setup() {
	[[ -z $NO_GVISOR ]] || skip "$NO_GVISOR"
}

# runsc_do COMMAND...: in a sandbox, with the machine's files. Now and then, runsc of 2024 ends with 2 or 128 of its own, whatever
# the command is (one time in six, also with plain sh); no test wants these.
runsc_do() {
	local try
	for try in 1 2 3 4 5; do
		ended env -i PATH="$PATH" timeout --kill-after=5 "$LIMIT" runsc --ignore-cgroups --network=none "do" "$@"
		[[ $status -eq 2 || $status -eq 128 ]] || return 0
		echo "runsc itself failed, try $try" >&2
	done
}

# sandbox ARG...: what distinit ARG... does in one.
sandbox() {
	runsc_do "$DISTINIT" "$@"
}

@test "gvisor: explain says what its /proc does not show" {
	sandbox explain
	same "the exit status" 0 "$status"
	[[ $output == *'process        PID 1, uid 0'* ]] || fail "not as PID 1"
	[[ $output == *'signals are not known: /proc/self/status does not show them'* ]] || fail "signals"
	[[ $output != *'no /proc'* ]] || fail "there is a /proc"
}

@test "gvisor: statuses, signals and orphans under --init as PID 1" {
	sandbox --init --log=error -- sh -c 'exit 7'
	same "the exit status" 7 "$status"
	sandbox --init --log=error -- sh -c 'kill -KILL $$'
	same "the exit status after KILL" 137 "$status"
	sandbox --init --log=error -- sh -c 'trap "echo told; exit 3" TERM; kill -TERM 1; while :; do sleep 0.1; done'
	same "what TERM does" "told, 3" "$output, $status"
	sandbox --init --log=error --leftovers=end -- sh -c '(sleep 1000 &); echo "$$"'
	same "the exit status with one left" 0 "$status"
	((output > 1)) || fail "the program is PID 1"
}

@test "gvisor: users and no capabilities; --cap-keep says that there is no ambient set" {
	sandbox --user=1:1 -- sh -c 'id -u; grep CapEff /proc/self/status'
	same "the user" $'1\nCapEff:\t0000000000000000' "$output"
	sandbox --cap-drop=all -- grep CapEff /proc/self/status
	same "the capabilities" $'CapEff:\t0000000000000000' "$output"
	sandbox --user=1:1 --cap-keep=ipc_lock -- true
	same "the exit status" 125 "$status"
	[[ $output == *'cap_ipc_lock cannot be changed in the ambient set'*'or gVisor; there, only root has capabilities, without --cap-keep)' ]] ||
		fail "no hint"
	sandbox -- grep CapEff /proc/self/status
	[[ $output != *0000000000000000 ]] || fail "root has none without it"
}

@test "gvisor: a cluster is recognised, and two meet in a roll call" {
	runsc_do sh -c '
		for i in 0 1; do
			"$0" --hosts=127.0.0.1,127.0.0.2 --node-rank=$i --master-port=29872 --wait=30s --for=all -- sh -c "echo met \$MASTER_ADDR" &
		done
		wait' "$DISTINIT"
	same "how many met" 2 "$(grep -c '^met 127.0.0.1$' <<<"$output")"
}
