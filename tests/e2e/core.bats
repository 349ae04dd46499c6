#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit-core: it does what distinit does up to the program's start and as PID 1; what it lacks, it says; it listens nowhere.

# shellcheck disable=SC2154 # run sets output and stderr
# shellcheck disable=SC2054 # a comma is of a host list
# shellcheck disable=SC2016 # another shell expands the scripts

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	NODES=(--hosts=127.0.0.1,127.0.0.2 --node-rank=0)
}

# lacks WORD ARG...: it refuses ARG..., names WORD, and the command does not run.
lacks() {
	run --separate-stderr "$CORE" "${@:2}"
	echo "$status: $output $stderr"
	[[ $status -eq 125 && -z $output && $stderr == "distinit: error: $1"*' is in the full program, distinit; this is distinit-core' ]]
}

@test "core: what is only in the full program is an error that names it" {
	local -a command=(-- echo ran)
	lacks --together "${NODES[@]}" --together "${command[@]}"
	lacks --max-restarts --max-restarts=2 "${command[@]}"
	lacks --progress --init --progress=log:1m "${command[@]}"
	lacks --check --check "${command[@]}"
	lacks --for=all "${NODES[@]}" --wait --for=all "${command[@]}"
	lacks --for=all wait "${NODES[@]}" --for=all
	lacks --agree --agree=env "${command[@]}"
	lacks --job --job=a "${command[@]}"
	lacks --secret-file --secret-file=a "${command[@]}"
	lacks --linger --linger=1s "${command[@]}"
	lacks '--frameworks: the framework rdma' --frameworks=torch,rdma "${command[@]}"
	lacks check check
	lacks tini install --as=tini .
	DISTINIT_TOGETHER=1 lacks DISTINIT_TOGETHER "${NODES[@]}" "${command[@]}"
}

@test "core: called by the name of another program, it names the full program" {
	local name
	for name in tini dumb-init gosu; do
		ln -s "$CORE" "$name"
		run --separate-stderr "./$name" -- echo ran
		[[ $status -eq 125 && $stderr == "distinit: error: $name is in the full program"* ]]
	done
}

@test "core: it derives, applies directives, becomes the program, and explains" {
	run "$CORE" "${NODES[@]}" --set NAME=value -- sh -c 'echo "$MASTER_ADDR $PET_NNODES $NAME"'
	[[ $status -eq 0 && ${lines[-1]} == '127.0.0.1 2 value' ]]
	run "$CORE" explain "${NODES[@]}"
	[[ $status -eq 0 && $output == *'set       PET_NNODES=2'* ]]
	run "$CORE" --version
	[[ $output == distinit-core\ * ]]
	run "$CORE" --help
	[[ $status -eq 0 && ${lines[-2]} == 'Only in the full program, distinit: '* && ${lines[-1]} == *--together. ]]
}

@test "core: as --init it forwards, reaps, and returns the status" {
	run "$CORE" --init -- sh -c 'kill -TERM $PPID; exec sleep 60'
	[ "$status" -eq 143 ]
	run "$CORE" --init --map-exit=3:4 -- sh -c 'exit 3'
	[ "$status" -eq 4 ]
}

@test "core: install copies it" {
	mkdir volume
	run "$CORE" install volume
	[ "$status" -eq 0 ]
	cmp "$CORE" volume/distinit
}

@test "core: it listens nowhere: nothing calls listen() or accept(), nor is BearSSL in it" {
	local map=${CORE%/*}/distinit-core.map call
	# The control: what is linked is found.
	if grep -q libc.a "$map"; then
		grep -q '(connect.lo)' "$map"
		for call in listen accept accept4; do
			! grep -q "($call.lo)" "$map" || return 1
		done
	else
		run nm -D "$CORE"
		[[ $status -eq 0 && $output == *' connect'* ]]
		! grep -qE ' U (listen|accept|accept4)(@|$)' <<<"$output" || return 1
	fi
	grep -q -E 'libderive\.a(\.p/|\()' "$map"
	! grep -qE 'lib(meet|bearssl)\.a(\.p/|\()' "$map" || return 1
}

@test "core: as the kernel sees it, neither waiting nor as --init does it bind() a port or listen()" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	run strace -f -o trace "$CORE" "${NODES[@]}" --wait --for=dns --init -- true
	[ "$status" -eq 0 ]
	grep -q 'execve(' trace
	! grep -qE '(listen|accept4?)\(|bind\([^)]*sin6?_port=htons\([^0]' trace || return 1
}
