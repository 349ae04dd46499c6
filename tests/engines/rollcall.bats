#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The roll call (--wait --for=all) with real engines, by its examples: four containers of Backend.AI under podman, with
# PyTorch in them; a Slurm step of four nodes and eight tasks, also by distrun launch; four pods of an Indexed Job. In each, one member is late, one is
# killed and comes again, one has another variable, or one never comes.
#
# shellcheck disable=SC2030,SC2031,SC2154 # backendai() of containers.bash sets told, and a test is a subshell
# shellcheck disable=SC2016 # what is quoted is for another shell

load helpers
load containers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"
EXAMPLES=$TREE/examples
SECRET=0123456789abcdef0123456789abcdef

setup_file() {
	podman_up
	if [[ -z $NO_PODMAN ]]; then
		make_images
		pod network create --internal session 3>&-
	fi
	cluster_up --nodes=4
	printf '%s\n' "$SECRET" >"$BATS_FILE_TMPDIR/id_cluster"
}

make_images() {
	cp "$PROGRAMS/torchrun-stand-in" "$BATS_FILE_TMPDIR/torchrun"
	cp "$DISTINIT" "$BATS_FILE_TMPDIR/distinit"
	"$PROGRAMS/podman-private" debian "$ENGINE"
	# Backend.AI ignores the ENTRYPOINT.
	made_of localhost/session "$BATS_FILE_TMPDIR/distinit" "$PROGRAMS/allreduce.py" "$EXAMPLES/backendai/roll-call.sh" <<-'END'
		FROM localhost/debian
		COPY distinit allreduce.py roll-call.sh /
	END
	made_of localhost/train "$BATS_FILE_TMPDIR/distinit" "$BATS_FILE_TMPDIR/torchrun" <<-'END'
		FROM localhost/busybox
		COPY torchrun /bin/torchrun
		COPY distinit /distinit
		WORKDIR /app
		RUN ["/bin/busybox", "touch", "train.py", "file"]
		ENTRYPOINT ["/distinit", "--"]
	END
}

teardown_file() {
	podman_down
	cluster_down
}

teardown() {
	cluster_clean
	[[ -z $NO_PODMAN ]] || return 0
	pod pod rm --all --force --time 0 >/dev/null
	pod rm --all --force --time 0 >/dev/null
}

# connected N COMMAND...: what COMMAND prints of /proc/net/tcp has N members at a coordinator, and what they said has been read.
connected() {
	local n
	n=$("${@:2}" | awk '
		{ port = substr($2, index($2, ":") + 1) }
		$4 == "0A" && port >= "4E20" && port < "8000" { listens[port] = 1 }
		$4 == "01" { at[port]++ }
		END { for (port in listens) n += at[port]; print n + 0 }')
	[[ $n -eq $1 ]] && sleep 0.5
}

# says COMMAND PATTERN: a line that COMMAND prints matches PATTERN. To be polled. The master
# says who is absent after 10, 20 and 40 s: on a slow machine, the first line may be too early.
says() {
	local line
	output=$($1 2>&1)
	while IFS= read -r line; do
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $line != $2 ]] || return 0
	done <<<"$output"
	return 1
}

# has TEXT: the output has it.
has() {
	[[ $output == *"$1"* ]] || fail "nobody says: $1"
}

# --- Backend.AI's containers --------------------------------------------------------------------------

NODES=(main1 sub1 sub2 sub3)

# container RANK [OPTION OF PODMAN]... -- COMMAND...: start it.
container() {
	local name=${NODES[$1]}
	local -a options=()
	backendai "$1" "${NODES[@]}"
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	pod run --detach --name "$name" --hostname "$name" --network session --volume /usr:/usr:ro \
		--volume "$BATS_FILE_TMPDIR/id_cluster:/home/config/ssh/id_cluster:ro" --env OMP_NUM_THREADS=1 \
		--env DISTINIT_RANKS=always --env DISTINIT_LOG=info "${told[@]}" "${options[@]}" localhost/session sh /roll-call.sh "${@:2}" \
		>/dev/null 3>&-
}

# all_ended: each container's exit status, and in $output what all have said.
all_ended() {
	codes=$(pod wait "${NODES[@]:0:$1}" | xargs)
	output=$(for name in "${NODES[@]:0:$1}"; do pod logs "$name" 2>&1; done)
}

@test "roll call: PyTorch in four containers of Backend.AI, of which one is late, one is killed, and one has another variable" {
	podman_ready
	"$PYTHON" -c 'import torch' || skip "python3-torch is not installed"
	local rank
	container 0 -- python3 /allreduce.py
	container 1 --env NCCL_DEBUG=WARN -- python3 /allreduce.py
	container 2 -- python3 /allreduce.py
	until_true connected 2 pod exec main1 cat /proc/net/tcp /proc/net/tcp6
	pod kill --signal KILL sub2
	until_true says 'pod logs main1' '*: warning: roll call: 2 of 4 nodes are here after ?0s; absent: sub2 (rank 2, was here, gone for *s), sub3 (rank 3, its name does not resolve)'
	[[ $(pod logs main1 sub1 2>&1) != *sum* ]] || fail "a program has started"
	pod start sub2
	container 3 -- python3 /allreduce.py
	all_ended 4
	same "the exit status" "0 0 0 0" "$codes"
	for rank in 0 1 2 3; do
		has "rank $rank of 4, local 0 of 1 on ${NODES[rank]}: sum 15, rank 0 on main1"
	done
	has 'distinit: warning: roll call: NCCL_DEBUG not set on 3 nodes, WARN on sub1'
	has 'roll call: all 4 nodes are here, after '
	has 's (the last: sub'
	has '; authenticated'
	[[ $output != *"$SECRET"* ]] || fail "the key is told"
}

@test "roll call: three containers of Backend.AI end alike, as the fourth never comes" {
	podman_ready
	local rank
	for rank in 0 1 2; do
		container "$rank" --env DISTINIT_WAIT=12s -- echo started
	done
	all_ended 3
	same "the exit status" "124 124 124" "$codes"
	local sentence='1 of 4 nodes did not come within 12s: sub3 (rank 3, its name does not resolve); nothing was started; --wait=DURATION waits longer'
	has "distinit: error: roll call: $sentence"
	same "who says the same" 2 "$(grep -cF "distinit: error: main1 says: $sentence" <<<"$output")"
	[[ $output != *started$'\n'* && $output != *started ]] || fail "a program has started"
}

# --- a step of Slurm ----------------------------------------------------------------------------------

# job CHANGE <<SCRIPT: the example, changed by sed, in which SCRIPT is run by each task before distinit. What it prints is in the file
# "out", its exit status in "status".
job() {
	cd "$BATS_TEST_TMPDIR" || return
	{
		echo '#!/bin/sh'
		cat
		printf 'exec %s -v "$@"\n' "$DISTINIT"
	} >member
	chmod +x member
	sed -e "s|distinit --wait=10m|$PWD/member --wait=1m|; s|python3 /app/train.py|sh -c 'echo program \$RANK of \$WORLD_SIZE'|" -e "$1" \
		"$EXAMPLES/slurm/roll-call.sbatch" >job.sbatch
	grep -q "$PWD/member" job.sbatch
	echo "echo \$? >$PWD/status" >>job.sbatch
	login sbatch --quiet --chdir="$PWD" --output="$PWD/out" job.sbatch
}

@test "roll call: eight tasks of a Slurm step, of which one is late, one is killed, and one has another variable" {
	cluster_ready
	job '' <<-END
		cd "$BATS_TEST_TMPDIR"
		case \$SLURM_PROCID in
		2) export NCCL_DEBUG=WARN ;;
		5)
			$DISTINIT "\$@" &
			until [ -e killed ]; do sleep 0.1; done
			kill -KILL \$!
			wait \$!
			until [ -e again ]; do sleep 0.1; done
			;;
		7) until [ -e again ]; do sleep 0.1; done ;;
		esac
	END
	until_true connected 6 login cat /proc/net/tcp /proc/net/tcp6
	touch killed
	until_true says 'cat out' '*: warning: roll call: 6 of 8 tasks are here after ?0s; absent: n3 (rank 5, was here, gone for *s), n4 (rank 7, resolves to 127.0.0.1, never came)'
	[[ $output != *program* ]] || fail "a program has started"
	touch again
	until_true test -s status
	output=$(<out)
	same "the exit status" 0 "$(<status)"
	same "the tasks that ran" 8 "$(grep -c '^program [0-7] of 8$' out)"
	has 'distinit: warning: roll call: NCCL_DEBUG not set on 7 tasks, WARN on n2'
	has 'roll call: all 8 tasks are here, after '
	has '; authenticated'
}

@test "roll call: seven tasks of a Slurm step end alike, as the eighth never comes" {
	cluster_ready
	job 's/ --kill-on-bad-exit//; s/--wait=1m/--wait=6s/' <<-'END'
		if [ "$SLURM_PROCID" = 7 ]; then
			sleep 8
			exit 0
		fi
	END
	until_true test -s status
	output=$(<out)
	same "the exit status" 124 "$(<status)"
	local sentence='1 of 8 tasks did not come within 6s: n4 (rank 7, resolves to 127.0.0.1, never came); nothing was started; --wait=DURATION waits longer'
	has "distinit: error: roll call: $sentence"
	same "who says the same" 6 "$(grep -cF "distinit: error: n1 says: $sentence" out)"
	same "exit statuses of 124" 7 "$(sed -n 's/.*tasks\? \([0-9,-]*\): Exited with exit code 124.*/\1/p' out | tr , '\n' |
		awk -F- '{ n += ($2 == "" ? $1 : $2) - $1 + 1 } END { print n }')"
	[[ $output != *program* ]] || fail "a program has started"
}

@test "roll call: distrun launch --for=all: the tasks have a fresh secret, and their programs do not" {
	cluster_ready
	cd "$BATS_TEST_TMPDIR"
	cat >task <<-'END'
		#!/bin/sh
		env | grep DISTINIT_ && exit 3
		echo "program $RANK of $WORLD_SIZE"
	END
	chmod +x task
	run login "$DISTRUN" launch --runtime=none --distinit="$DISTINIT" --nodes=4 --tasks-per-node=2 --for=all \
		--srun-args='--export=ALL,DISTINIT_LOG=info,DISTINIT_SECRET_REQUIRED=1' -- "$PWD/task"
	same "the exit status" 0 "$status"
	same "the tasks that ran" 8 "$(grep -c '^program [0-7] of 8$' <<<"$output")"
	has 'roll call: all 8 tasks are here, after '
	has '; authenticated'
}

# --- pods ---------------------------------------------------------------------------------------------

DOMAIN=train.default.svc.cluster.local
# podman 4's name server asks others for names with dots, and none is there. That of podman 5 says that there is no such name, as
# Kubernetes does.
case $(podman --version 2>/dev/null) in
*' version 4.'*) NO_NAME='no name server answers' ;;
*) NO_NAME='its name does not resolve' ;;
esac

# pods_of_example CHANGE: the manifest of each pod of the example, changed by sed, and the secret.
pods_of_example() {
	"$PYTHON" -c 'import yaml' || skip "python3-yaml is not installed"
	# In a folder that has none of the images' names, which podman would take for one to build.
	cd "$BATS_TEST_TMPDIR" || return
	sed "$1" "$EXAMPLES/kubernetes/roll-call.yaml" >job.yaml
	"$PROGRAMS/pods-of" --image registry.example/train=localhost/train job.yaml . >names
	printf '{"roll-call": "%s"}' "$(printf %s "$SECRET" | base64)" >secret
	pod secret rm train >/dev/null 2>&1 || true
	pod secret create train secret >/dev/null
}

play_pod() {
	pod kube play --network session "train-$1.$DOMAIN.yaml" >/dev/null 3>&-
}

main_of() {
	echo "train-$1.$DOMAIN-pytorch"
}

# all_pods_ended N: as all_ended().
all_pods_ended() {
	local i names=()
	for ((i = 0; i < $1; i++)); do names+=("$(main_of $i)"); done
	codes=$(pod wait "${names[@]}" | xargs)
	output=$(for i in "${names[@]}"; do pod logs "$i" 2>&1; done)
}

@test "roll call: four pods of an Indexed Job, of which one is late, one is killed, and one has another variable" {
	podman_ready
	local master
	master=$(main_of 0)
	pods_of_example 's/- name: DISTINIT_WAIT/- {name: DISTINIT_LOG, value: info}\n            &/'
	sed -i 's/\( *\)- name: DISTINIT_WAIT/\1- {name: NCCL_DEBUG, value: WARN}\n&/' "train-1.$DOMAIN.yaml"
	play_pod 0
	play_pod 1
	play_pod 2
	until_true connected 2 pod exec "$master" /bin/busybox cat /proc/net/tcp /proc/net/tcp6
	pod kill --signal KILL "$(main_of 2)"
	until_true says "pod logs $master" \
		"*: warning: roll call: 2 of 4 nodes are here after ?0s; absent: train-2.$DOMAIN (rank 2, was here, gone for *s), train-3.$DOMAIN (rank 3, $NO_NAME)"
	[[ $output != *torchrun* ]] || fail "a program has started"
	pod start "$(main_of 2)"
	play_pod 3
	all_pods_ended 4
	same "the exit status" "0 0 0 0" "$codes"
	same "how many met" 4 "$(grep -c '^met all 4$' <<<"$output")"
	has "distinit: warning: roll call: NCCL_DEBUG not set on 3 nodes, WARN on train-1.$DOMAIN"
	has 'roll call: all 4 nodes are here, after '
	has '; authenticated'
	[[ $output != *"$SECRET"* ]] || fail "the secret is told"
}

@test "roll call: three pods of an Indexed Job end alike, as the fourth never comes" {
	podman_ready
	pods_of_example 's/value: 10m/value: 15s/'
	local i
	for i in 0 1 2; do play_pod $i; done
	all_pods_ended 3
	same "the exit status" "124 124 124" "$codes"
	local sentence="1 of 4 nodes did not come within 15s: train-3.$DOMAIN (rank 3, $NO_NAME); nothing was started; "
	has "distinit: error: roll call: $sentence"
	same "who says the same" 2 "$(grep -cF "distinit: error: train-0.$DOMAIN says: $sentence" <<<"$output")"
	[[ $output != *torchrun* ]] || fail "a program has started"
}
