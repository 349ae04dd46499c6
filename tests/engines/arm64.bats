#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The program for arm64, built by "./dev build --arch=arm64", run by QEMU on another processor. What it becomes
# (execve) is the machine's own again. tests/nets/emulated runs the unit tests and e2e.

load helpers

# Emulation takes its time.
export BATS_TEST_TIMEOUT=$((500 * ${PATIENCE:-1}))
ARM64=$(dirname "$(dirname "$DISTINIT")")/build-arm64/distinit
QEMU=$(command -v qemu-aarch64-static) || true
# shellcheck disable=SC2054 # the comma is the list's
SESSION=(BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=main1,sub1 BACKENDAI_CLUSTER_HOST=sub1
	BACKENDAI_CLUSTER_LOCAL_RANK=1)

setup() {
	if [[ $(uname -m) == aarch64 ]]; then
		ARM64=$DISTINIT QEMU=''
	elif [[ -z $QEMU ]]; then
		skip "qemu-aarch64-static is not installed"
	elif [[ ! -e $ARM64 ]]; then
		skip "build-arm64/distinit is not there (./dev build --arch=arm64)"
	fi
}

# emulated VAR=VALUE... -- ARG...: run it with these variables alone.
emulated() {
	local -a variables=()
	while [[ $1 != -- ]]; do
		variables+=("$1")
		shift
	done
	status=0
	output=$(timeout --kill-after=5 "$LIMIT" env -i "${variables[@]}" ${QEMU:+"$QEMU"} "$ARM64" "${@:2}" 2>&1) || status=$?
}

@test "arm64: it is a static program of that processor" {
	run readelf --file-header --program-headers --wide "$ARM64"
	[[ $output == *"Machine:"*AArch64* && $output == *"Type:"*EXEC* ]] || fail "not such a program"
	[[ $output != *INTERP* && $output != *DYNAMIC* ]] || fail "not static"
	run strings -n 4 "$ARM64"
	[[ $output != *ld-musl* ]] || fail "it names a loader"
}

@test "arm64: every vector, as on the other processor" {
	local vectors=$BATS_TEST_DIRNAME/../vectors failed
	# shellcheck disable=SC2016 # for the shell that is started
	EMULATOR=$QEMU xargs -P "$(nproc)" -I NAME sh -c '"$1/run.sh" "$2" "$1/$3" >"$4/$3" 2>&1 || echo "exit status $?" >>"$4/$3"' \
		- "$vectors" "$ARM64" NAME "$BATS_TEST_TMPDIR" < <(cd "$vectors" && ls ./*.txt)
	failed=$(grep -EL '^ok 1 ' "$BATS_TEST_TMPDIR"/*.txt || true)$(grep -E '^not ok|^exit status' "$BATS_TEST_TMPDIR"/*.txt || true)
	same "what is not the same" "" "$failed"
	same "how many files there are" "$(find "$vectors" -name "*.txt" | wc -l)" "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name "*.txt" | wc -l)"
}

@test "arm64: --help, --version, sources and frameworks are the other program's" {
	local words
	for words in --help --version "env --help" "explain --help" sources frameworks; do
		# shellcheck disable=SC2086 # words
		emulated -- $words
		same "the exit status of $words" 0 "$status"
		# shellcheck disable=SC2086
		same "what $words prints" "$("$DISTINIT" $words)" "$output"
	done
}

# what_matters: of what "explain --format=json" prints: not which process it was.
what_matters() {
	"$PYTHON" -c 'import json, sys
e = json.load(sys.stdin)
print(json.dumps([e["version"], e["source"], e["scope"], e["cluster"], e["variables"], e["warnings"]]))'
}

@test "arm64: env and explain say what the other program says" {
	emulated "${SESSION[@]}" -- env
	same "the exit status of env" 0 "$status"
	same "what env prints" "$(env -i "${SESSION[@]}" "$DISTINIT" env)" "$output"
	emulated "${SESSION[@]}" -- explain --format=json
	same "the exit status of explain" 0 "$status"
	same "what explain prints" "$(env -i "${SESSION[@]}" "$DISTINIT" explain --format=json | what_matters)" \
		"$(what_matters <<<"$output")"
}

@test "arm64: it becomes the workload, and its exit status is the workload's" {
	# shellcheck disable=SC2016 # for the shell that is started
	emulated "${SESSION[@]}" PATH="$PATH" -- --set GREETING=hello -- sh -c 'echo "$GREETING $MASTER_ADDR $PET_NODE_RANK"; exit 7'
	same "the exit status" 7 "$status"
	same "what the workload says" "hello main1 1" "$output"
}

@test "arm64: its errors are errors" {
	emulated -- --no-such-option -- true
	same "the exit status" 125 "$status"
	emulated BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=main1 -- -- /bin/echo ran
	same "the exit status" 125 "$status"
	[[ $output == "distinit: error: BACKENDAI_CLUSTER_SIZE=2"* && $output != *ran* ]] || fail "not refused"
	emulated PATH="$PATH" -- -- no-such-program
	same "the exit status" 127 "$status"
	# QEMU makes vfork() a fork(), so the reason is lost, but not the status.
	emulated PATH="$PATH" -- --init -- no-such-program
	same "the exit status" 127 "$status"
	emulated PATH="$PATH" -- --init -- /dev/null
	same "the exit status" 126 "$status"
}
