#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# How a container ends under distinit --init, beside tini and dumb-init, in podman: the same exit status, after the same time, give or
# take 0.3 s. Of each the fastest counts, as the machine may be busy.
#
# shellcheck disable=SC2016,SC2154 # for the shell in the container; set by ended()

load helpers
load containers

readonly INITS=(distinit tini dumb-init)
# How much longer distinit may take than the fastest of the others, in milliseconds.
readonly NEAR=300

setup_file() {
	podman_up tini dumb-init
	[[ -z $NO_PODMAN ]] || return 0
	"$PROGRAMS/podman-private" debian "$ENGINE"
}

teardown_file() {
	podman_down
}

setup() {
	podman_ready
}

# words INIT: how it is called.
words() {
	case $1 in
	distinit) printf '%s\n' /distinit --init -- ;;
	tini) printf '%s\n' /usr/bin/tini -- ;;
	dumb-init) printf '%s\n' /usr/bin/dumb-init -- ;;
	esac
}

# start INIT COMMAND...: a container, until it has printed "ready".
start() {
	local -a init
	mapfile -t init < <(words "$1")
	rm -rf "$BATS_TEST_TMPDIR/out"
	mkdir "$BATS_TEST_TMPDIR/out"
	pod run --detach --name ending --network none --volume /usr:/usr:ro --volume "$DISTINIT:/distinit:ro" \
		--volume "$BATS_TEST_TMPDIR/out:/out" localhost/debian "${init[@]}" "${@:2}" >/dev/null
	until_true eval '[[ $(pod logs ending 2>&1) == *ready* ]]'
}

# finish: the container is gone; its exit status is in $code. In $took are the milliseconds from when the program was asked to end, by its
# own clock, to the container's end by podman's. How long podman itself takes is not in it.
finish() {
	local state
	state=$(pod inspect ending --format '{{.State.ExitCode}} {{.State.FinishedAt}}')
	code=${state%% *}
	state=${state#* }
	took=$((($(date --date="${state% UTC}" +%s%N) - $(<"$BATS_TEST_TMPDIR/out/told")) / 1000000))
	pod rm --force --time 0 ending >/dev/null
}

# compare STATUS SCENE TIMES: each init, so many times.
compare() {
	local init i fastest=
	local -A best=()
	for ((i = 0; i < $3; i++)); do
		for init in "${INITS[@]}"; do
			"$2" "$init"
			same "the exit status under $init" "$1" "$code"
			[[ -n ${best[$init]-} ]] && ((best[$init] <= took)) || best[$init]=$took
		done
	done
	for init in tini dumb-init; do
		[[ -n $fastest ]] && ((fastest <= best[$init])) || fastest=${best[$init]}
	done
	echo "# $2: distinit ${best[distinit]} ms, tini ${best[tini]} ms, dumb-init ${best[dumb-init]} ms" >&3
	((best[distinit] < fastest + NEAR)) || fail "distinit took ${best[distinit]} ms, the fastest of the others $fastest ms"
}

# The program saves for 8 s when it is asked to end.
save() {
	start "$1" bash -c 'trap "date +%s%N >/out/told; sleep 8; exit 0" TERM; echo ready; while :; do sleep 0.1; done'
	pod stop --time 20 ending >/dev/null
	finish
}

# Somebody has a shell open in the container.
open_shell() {
	start "$1" bash -c 'trap "date +%s%N >/out/told; exit 5" TERM; echo ready; while :; do sleep 0.1; done'
	rm -f "$BATS_TEST_TMPDIR/ended"
	"$PROGRAMS/terminal" see='# ' type='touch /out/open^M' until="[ -e $BATS_TEST_TMPDIR/ended ]" -- \
		"$PROGRAMS/podman-private" on "$ENGINE" exec -it --env PS1='# ' ending bash --norc --noprofile -i >/dev/null 2>&1 3>&- &
	until_true test -e "$BATS_TEST_TMPDIR/out/open"
	pod stop --time 20 ending >/dev/null
	touch "$BATS_TEST_TMPDIR/ended"
	finish
	wait "$!" || true
}

# Something in the container reads the program's output.
reader() {
	start "$1" bash -c 'echo ready; until [ -e /out/go ]; do sleep 0.02; done; exec > >(gzip >/out/o.gz); date +%s%N >/out/told; exec seq 1 1000'
	touch "$BATS_TEST_TMPDIR/out/go"
	pod wait --interval 10ms ending >/dev/null
	finish
	if [[ $1 == distinit ]]; then
		same "the last line that was read" 1000 "$(gzip -cd "$BATS_TEST_TMPDIR/out/o.gz" | tail -n 1)"
	fi
}

@test "endings: a program that saves for 8 s after podman stop may finish, as with the others" {
	compare 0 save 1
}

@test "endings: an open shell does not delay podman stop" {
	compare 5 open_shell 3
}

@test "endings: a reader of the output does not delay the end, and reads all of it" {
	compare 0 reader 3
}
