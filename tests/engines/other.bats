#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The program for another processor, OTHER (tools/test.bash chooses it), built by "./dev build --arch=OTHER", run by QEMU. What it
# becomes (execve) is the machine's own again. tests/nets/emulated runs the unit tests, and e2e for arm64.

load helpers

# Emulation takes its time.
export BATS_TEST_TIMEOUT=$((500 * ${PATIENCE:-1}))
OTHER=${OTHER:-arm64}
THERE=$(dirname "$(dirname "$DISTINIT")")/build-$OTHER/distinit
case $OTHER in
arm64) CPU=aarch64 MACHINE=AArch64 ;;
ppc64el) CPU=ppc64le MACHINE=PowerPC64 ;;
riscv64) CPU=riscv64 MACHINE=RISC-V ;;
s390x) CPU=s390x MACHINE='IBM S/390' ;;
esac
QEMU=$(command -v "qemu-$CPU-static") || true
# shellcheck disable=SC2054 # the comma is the list's
SESSION=(BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=main1,sub1 BACKENDAI_CLUSTER_HOST=sub1
	BACKENDAI_CLUSTER_LOCAL_RANK=1)

setup() {
	if [[ $(uname -m) == "$CPU" ]]; then
		THERE=$DISTINIT QEMU=''
	elif [[ -z $QEMU ]]; then
		skip "qemu-$CPU-static is not installed"
	elif [[ ! -e $THERE ]]; then
		skip "build-$OTHER/distinit is not there (./dev build --arch=$OTHER)"
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
	output=$(timeout --kill-after=5 "$LIMIT" env -i "${variables[@]}" ${QEMU:+"$QEMU"} "$THERE" "${@:2}" 2>&1) || status=$?
}

@test "other processor: it is a static program of that processor" {
	run readelf --file-header --program-headers --wide "$THERE"
	[[ $output == *"Machine:"*"$MACHINE"* && $output == *"Type:"*EXEC* ]] || fail "not such a program"
	[[ $output != *INTERP* && $output != *DYNAMIC* ]] || fail "not static"
	run strings -n 4 "$THERE"
	[[ $output != *ld-musl* ]] || fail "it names a loader"
}

@test "other processor: every vector, as on the other processor" {
	local vectors=$BATS_TEST_DIRNAME/../vectors failed
	# shellcheck disable=SC2016 # for the shell that is started
	EMULATOR=$QEMU xargs -P "$(nproc)" -I NAME sh -c '"$1/run.sh" "$2" "$1/$3" >"$4/$3" 2>&1 || echo "exit status $?" >>"$4/$3"' \
		- "$vectors" "$THERE" NAME "$BATS_TEST_TMPDIR" < <(cd "$vectors" && ls ./*.txt)
	failed=$(grep -EL '^ok 1 ' "$BATS_TEST_TMPDIR"/*.txt || true)$(grep -E '^not ok|^exit status' "$BATS_TEST_TMPDIR"/*.txt || true)
	same "what is not the same" "" "$failed"
	same "how many files there are" "$(find "$vectors" -name "*.txt" | wc -l)" "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name "*.txt" | wc -l)"
}

@test "other processor: --help, --version, sources and frameworks are the other program's" {
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

@test "other processor: env and explain say what the other program says" {
	emulated "${SESSION[@]}" -- env
	same "the exit status of env" 0 "$status"
	same "what env prints" "$(env -i "${SESSION[@]}" "$DISTINIT" env)" "$output"
	emulated "${SESSION[@]}" -- explain --format=json
	same "the exit status of explain" 0 "$status"
	same "what explain prints" "$(env -i "${SESSION[@]}" "$DISTINIT" explain --format=json | what_matters)" \
		"$(what_matters <<<"$output")"
}

@test "other processor: it becomes the workload, and its exit status is the workload's" {
	# shellcheck disable=SC2016 # for the shell that is started
	emulated "${SESSION[@]}" PATH="$PATH" -- --set GREETING=hello -- sh -c 'echo "$GREETING $MASTER_ADDR $PET_NODE_RANK"; exit 7'
	same "the exit status" 7 "$status"
	same "what the workload says" "hello main1 1" "$output"
}

@test "other processor: its errors are errors" {
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

@test "other processor: a roll call with this machine's program" {
	# shellcheck disable=SC2054 # the comma is the list's
	local -a call=(--hosts=127.0.0.1,localhost --master-port=29517 --for=all --wait=60s --log=info)
	env -i PATH="$PATH" ${QEMU:+"$QEMU"} "$THERE" "${call[@]}" --node-rank=0 -- echo first >"$BATS_TEST_TMPDIR/0" 2>&1 3>&- &
	run env -i PATH="$PATH" "$DISTINIT" "${call[@]}" --node-rank=1 -- echo second
	same "the member's exit status" 0 "$status"
	wait $!
	[[ $(<"$BATS_TEST_TMPDIR/0") == *first* && $output == *second* ]] || fail "$(<"$BATS_TEST_TMPDIR/0")"
	# The other way round, with a secret, and a comparison.
	env -i PATH="$PATH" DISTINIT_SECRET=0123456789abcdef "$DISTINIT" "${call[@]}" --node-rank=0 -- echo first >"$BATS_TEST_TMPDIR/0" 2>&1 3>&- &
	run env -i PATH="$PATH" DISTINIT_SECRET=0123456789abcdef NCCL_DEBUG=INFO ${QEMU:+"$QEMU"} "$THERE" "${call[@]}" --node-rank=1 -- echo second
	same "the other's exit status" 0 "$status"
	wait $!
	[[ $(<"$BATS_TEST_TMPDIR/0") == *NCCL_DEBUG*first* && $output == *second* ]] || fail "$(<"$BATS_TEST_TMPDIR/0")"
}
