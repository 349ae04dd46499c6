#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The program without what meson_options.txt lets one leave out: it builds, and what is left works.

setup() {
	command -v meson >/dev/null || skip "meson is not installed (./dev build)"
	TREE=$BATS_TEST_DIRNAME/../..
	cd "$BATS_TEST_TMPDIR" || return
}

# gives STATUS TEXT ARG...: the program exits with STATUS, and its messages contain TEXT; without TEXT it says nothing.
gives() {
	status=0
	output=$(build/distinit "${@:3}" 2>&1) || status=$?
	echo "$status: $output"
	[[ $status -eq $1 && $output == *"$2"* && (-n $2 || -z $output) ]]
}

@test "without the roll call, the other names and analyze: --init and derivation work, and what is not there says so" {
	meson setup -Droll_call=false -Dnames=false -Danalyze=false -Doptimization=0 build "$TREE" >log || skip "not all libraries are installed: $(tail -n 1 log)"
	ninja -C build distinit distrun >log || { cat log && return 1; }
	gives 0 '' --init -- true
	gives 127 "'nosuch' was not found" --init -- nosuch
	gives 9 "'nosuch' was not found" --init --map-exit=127:9 -- nosuch
	gives 3 'exit status 3' --init --grace=1s -- sh -c 'exit 3'
	gives 125 'without the roll call' --together -- true
	gives 125 'without the roll call' --max-restarts=1 -- true
	gives 125 'without the roll call' --hosts=a,b --node-rank=0 --wait=1s --for=all -- true
	gives 125 'is not a subcommand' check
	gives 0 "MASTER_ADDR='a'" env --hosts=a,b --node-rank=1
	run build/distrun analyze
	[[ $status -eq 125 && $output == *'built without analyze'* ]]
	ln -s distinit build/tini
	run build/tini -s -- true
	[[ $status -ne 0 ]]
}
