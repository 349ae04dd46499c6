#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# "./dev tour": the same image, really, in all of its places.

load helpers

# It is done in half a minute where nothing else runs.
LIMIT=$((180 * ${PATIENCE:-1}))
export BATS_TEST_TIMEOUT=$((200 * ${PATIENCE:-1}))
TOUR=$BATS_TEST_DIRNAME/../../tools/tour/tour

setup() {
	local why
	why=$(missing podman runc busybox catatonit iptables /usr/lib/podman/netavark /usr/lib/podman/aardvark-dns ch-run \
		slurmctld slurmd slurmdbd srun mariadbd munged torchrun)
	[[ -z $why ]] || skip "$why"
	torchrun_runs
	TMPDIR=$(mktemp -d /dev/shm/t.XXXXXX)
	export TMPDIR
	chmod 755 "$TMPDIR"
}

teardown() {
	[[ ! -d $TMPDIR ]] || rm -rf "$TMPDIR"
}

# left_behind: what a tour has forgotten.
left_behind() {
	local process
	ls "$TMPDIR"
	grep -F "$TMPDIR/" /proc/self/mountinfo || true
	for process in /proc/[0-9]*; do
		if tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -qF "$TMPDIR/tour."; then
			tr '\0' ' ' <"$process/cmdline"
		fi
	done
}

@test "tour: one image meets itself in each place, and nothing differs but what the managers told" {
	run timeout --kill-after=10 "$LIMIT" env DISTINIT="$(realpath "$DISTINIT")" "$TOUR"
	same "the exit status" 0 "$status"
	local line
	for line in 'rank 0 of 1 on ' 'rank 0 of 2 on main1: sum 3' 'rank 1 of 2 on sub1: sum 3' \
		'rank 0 of 2 on train-0: sum 3' 'rank 1 of 2 on train-0-1: sum 3' \
		'rank 0 of 2 on n1: sum 3' 'rank 1 of 2 on n2: sum 3' 'anything else: nothing'; do
		[[ $output == *"    $line"* ]] || fail "it does not say: $line"
	done
	same "what is left" "" "$(left_behind)"
}

@test "tour: what a manager did not tell is found" {
	# The image of a tour that cheats: a variable in one container, which no manager sets.
	local copy=$BATS_TEST_TMPDIR/tools/tour
	mkdir -p "$copy" "$BATS_TEST_TMPDIR/tests"
	sed 's/--env BACKENDAI_CLUSTER_SIZE=2/& --env CHEAT=1/' "$TOUR" >"$copy/tour"
	cp "$(dirname "$TOUR")/train.py" "$copy/"
	ln -s "$(realpath "$(dirname "$TOUR")/../demo")" "$BATS_TEST_TMPDIR/tools/demo"
	ln -s "$(realpath "$PROGRAMS")" "$BATS_TEST_TMPDIR/tests/programs"
	run timeout --kill-after=10 "$LIMIT" env DISTINIT="$(realpath "$DISTINIT")" bash "$copy/tour"
	same "the exit status" 1 "$status"
	[[ $output == *"main1 has what neither the manager nor distinit set: CHEAT=1" ]] || fail "it does not say so"
	same "what is left" "" "$(left_behind)"
}
