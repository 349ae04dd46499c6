#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --together with PyTorch over gloo in containers of Backend.AI: one rank dies, and the others wait for it. The same job runs
# beside it without --together, so that both times are of one run.
#
# shellcheck disable=SC2030,SC2031,SC2154 # backendai() of containers.bash sets told, and a test is a subshell
# shellcheck disable=SC2016 # what is quoted is for another shell

load helpers
load containers

NODES=(main1 sub1 sub2)
# After so long PyTorch itself gives up here; by default, it is 30 minutes.
TIMEOUT=10

setup_file() {
	podman_up
	[[ -z $NO_PODMAN ]] || return 0
	"$PROGRAMS/podman-private" debian "$ENGINE"
	cp "$DISTINIT" "$BATS_FILE_TMPDIR/distinit"
	made_of localhost/session "$BATS_FILE_TMPDIR/distinit" "$PROGRAMS/collective.py" <<-'END'
		FROM localhost/debian
		COPY distinit collective.py /
		ENTRYPOINT ["/distinit", "--init", "--ranks=always", "--wait", "--for=all", "--"]
	END
	local network
	for network in with without; do
		pod network create --internal "$network" 3>&-
	done
}

teardown_file() {
	podman_down
}

teardown() {
	[[ -z $NO_PODMAN ]] || return 0
	pod rm --all --force --time 0 >/dev/null
}

# session NAME [OPTION OF PODMAN]...: three containers that see each other as main1, sub1 and sub2.
session() {
	local name=$1 rank node
	shift
	for rank in 0 1 2; do
		node=${NODES[rank]}
		backendai "$rank" "${NODES[@]}"
		pod run --detach --name "$name-$node" --hostname "$node" --network "$name" --network-alias "$node" --volume /usr:/usr:ro \
			--env OMP_NUM_THREADS=1 --env TIMEOUT="$TIMEOUT" --memory 600m --memory-swap 600m "${told[@]}" "$@" \
			localhost/session /usr/bin/python3 /collective.py >/dev/null 3>&-
	done
}

# dies NAME: its last rank is about to.
dies() {
	[[ $(pod logs "$1-sub2" 2>/dev/null) == *'about to die'* ]]
}

# ended NAME: all of its containers have. Sets codes, output, and late: milliseconds from the end of the one that died to the last end.
ended() {
	local names=("${NODES[@]/#/$1-}")
	codes=$(pod wait "${names[@]}" | xargs)
	output=$(for node in "${names[@]}"; do pod logs "$node" 2>&1; done)
	late=$(pod inspect --format '{{.State.FinishedAt.UnixMilli}}' "${names[@]}" | awk '
		$1 > last { last = $1 }
		{ died = $1 }
		END { print last - died }')
	echo "# $1 --together: the others ended $late ms after the one that died; exit statuses $codes" >&3
}

# both_end STATUS WHY: with --together all end at once, and say why; without, the others hang.
both_end() {
	ended with
	same "the exit status" "123 123 $1" "$codes"
	[[ $late -le 2000 ]] || fail "the others ended $late ms later"
	[[ $(grep -cE "^distinit: warning: sub2 \(rank 2\) failed first: $2; ending\$" <<<"$output") -eq 3 ]] || fail "not all say who was first"
	[[ $(grep -cE "^distinit: error: ended because sub2 \(rank 2\) failed first: $2, [0-9.]+s ago\$" <<<"$output") -eq 2 ]] ||
		fail "not all say why they ended"
	ended without
	[[ $late -ge $((TIMEOUT * 500)) ]] || fail "without --together, the others ended after $late ms already"
}

@test "together: PyTorch, one rank is killed with -9: all end within 2 s, and hang without" {
	podman_ready
	"$PYTHON" -c 'import torch' || skip "python3-torch is not installed"
	session with --env DIES=killed --env DISTINIT_TOGETHER=1
	session without --env DIES=killed
	local name
	for name in with without; do
		until_true dies "$name"
		pod exec "$name-sub2" /usr/bin/pkill -KILL -f collective.py
	done
	both_end 137 'killed by SIGKILL'
}

@test "together: PyTorch, one rank is killed by its memory limit: all end within 2 s, and hang without" {
	podman_ready
	"$PYTHON" -c 'import torch' || skip "python3-torch is not installed"
	session with --env DIES=memory --env DISTINIT_TOGETHER=1
	session without --env DIES=memory
	both_end 137 'killed by SIGKILL; processes that the kernel killed for lack of memory: 1'
}
