#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# As Singularity and Apptainer run an image, by Charliecloud, which is as narrow: a user's process on the host, on a
# read-only root, without rights. The image is examples/singularity/train.def, the jobs are examples/slurm, under a
# real Slurm. pyxis, whose part is small, is a stand-in for srun.
#
# shellcheck disable=SC2016 # what is quoted is for the shell in a container
# shellcheck disable=SC2030,SC2031,SC2154 # ended() of containers.bash sets status and output

load helpers
load containers

EXAMPLES=$TREE/examples
SESSION=(BACKENDAI_CLUSTER_SIZE=2 "BACKENDAI_CLUSTER_HOSTS=main1,sub1" BACKENDAI_CLUSTER_HOST=sub1
	BACKENDAI_CLUSTER_LOCAL_RANK=1)

setup_file() {
	NO_CHARLIE=$(missing ch-run busybox setpriv)
	export NO_CHARLIE
	[[ -z $NO_CHARLIE ]] || return 0
	PLACE=$(mktemp -d /dev/shm/charlie.XXXXXX)
	export PLACE IMAGE=$PLACE/train.sif
	chmod 755 "$PLACE"
	make_image
	cluster_up --nodes=2
}

# The image that the definition is from, which stands for PyTorch's; then what the definition makes of it.
make_image() {
	local context=$PLACE/context
	mkdir -p "$IMAGE"/{bin,dev,etc,home,mnt,proc,root,run,sys,tmp,usr/bin,var} "$context" "$PLACE/bin"
	cp "$(command -v busybox)" "$IMAGE/bin/busybox"
	ln -s busybox "$IMAGE/bin/sh"
	cp "$PROGRAMS/torchrun-stand-in" "$IMAGE/bin/torchrun"
	printf '#!/bin/sh\necho "rank $RANK of $WORLD_SIZE, local $LOCAL_RANK, master $MASTER_ADDR:$MASTER_PORT, $*"\n' \
		>"$IMAGE/bin/python"
	chmod 755 "$IMAGE/bin/python"
	touch "$IMAGE"/etc/{passwd,group,hosts,resolv.conf}
	printf 'hosts: files dns\n' >"$IMAGE/etc/nsswitch.conf"
	cp "$DISTINIT" "$context/distinit"
	cp "$EXAMPLES/singularity/train.def" "$EXAMPLES/pytorch/train.py" "$context/"
	cp "$PROGRAMS/apptainer-stand-in" "$PLACE/bin/apptainer"
	"$PLACE/bin/apptainer" build "$IMAGE" "$context/train.def"
	# pyxis: --container-image makes of each task a container's, and of its command the container's.
	cat >"$PLACE/bin/srun" <<-'END'
		#!/bin/bash
		options=()
		while [[ $1 == --* ]]; do
			[[ $1 == --container-image=* ]] && image=${1#*=} || options+=("$1")
			shift
		done
		PATH=${PATH#*:}
		[[ -z ${image-} ]] || set -- apptainer exec "$image" "$@"
		exec env PATH="${0%/*}:$PATH" "$(type -P srun)" "${options[@]}" "$@"
	END
	chmod 755 "$PLACE/bin/srun"
}

teardown_file() {
	cluster_down
	[[ -z ${PLACE-} ]] || rm -rf "$PLACE"
}

setup() {
	[[ -z $NO_CHARLIE ]] || skip "$NO_CHARLIE"
}

teardown() {
	[[ -n $NO_CHARLIE ]] || cluster_clean
}

# in_image VAR=VALUE... -- ARG OF APPTAINER...: with these variables alone.
in_image() {
	local -a variables=()
	while [[ $1 != -- ]]; do
		variables+=("$1")
		shift
	done
	ended timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME=/ "${variables[@]}" "$PLACE/bin/apptainer" "${@:2}"
}

# submit SCRIPT: an example, with the options that it asks for, as a user submits it who has apptainer and the image.
submit() {
	local -a options
	mapfile -t options < <(sed -n 's/^#SBATCH //p' "$EXAMPLES/slurm/$1")
	run batch "${options[@]}" <<<"PATH=$PLACE/bin:\$PATH IMAGE=$IMAGE bash '$EXAMPLES/slurm/$1'"
	same "the exit status" 0 "$status"
}

@test "charliecloud: run gives its arguments to the program as they are" {
	in_image -- run "$IMAGE" sh -c 'for a; do echo "<$a>"; done' - 'a b' '$HOME' '' '*'
	same "the arguments" $'<a b>\n<$HOME>\n<>\n<*>' "$output"
}

@test "charliecloud: run without arguments is the training, and the image's environment is there" {
	in_image PET_NNODES=1 PET_NODE_RANK=0 PET_MASTER_ADDR=localhost PET_MASTER_PORT=1 -- run "$IMAGE"
	[[ $output == "torchrun /app/train.py: node 0 of 1"* ]] || fail "it runs another thing"
	in_image -- run "$IMAGE" sh -c 'echo "$OMP_NUM_THREADS"'
	same "OMP_NUM_THREADS" 1 "$output"
	in_image OMP_NUM_THREADS=7 -- run "$IMAGE" sh -c 'echo "$OMP_NUM_THREADS"'
	same "OMP_NUM_THREADS of the job" 7 "$output"
}

@test "charliecloud: the host's variables arrive, and a manager is recognised by them" {
	in_image "${SESSION[@]}" -- run "$IMAGE" sh -c 'echo "$MASTER_ADDR $PET_NODE_RANK"'
	same "what is derived" "main1 1" "$output"
	in_image "${SESSION[@]}" -- exec "$IMAGE" sh -c 'echo "${MASTER_ADDR-none}"'
	same "what is derived without the runscript" none "$output"
}

@test "charliecloud: with --cleanenv nothing arrives, and nothing is derived or said" {
	in_image "${SESSION[@]}" -- run --cleanenv "$IMAGE" sh -c 'echo "${MASTER_ADDR-none}"'
	same "what is derived" none "$output"
	in_image "${SESSION[@]}" APPTAINERENV_DISTINIT_HOSTS=a,b APPTAINERENV_DISTINIT_NODE_RANK=1 -- \
		run --cleanenv "$IMAGE" sh -c 'echo "$MASTER_ADDR $PET_NODE_RANK"'
	same "what is derived from what is passed" "a 1" "$output"
}

@test "charliecloud: it is a user's process of the host, with no rights to lose" {
	in_image "${SESSION[@]}" -- run "$IMAGE" sh -c '
		echo "$MASTER_ADDR $(busybox id -u)"
		busybox grep -E "^(CapEff|NoNewPrivs):" /proc/self/status
		busybox touch /x 2>/dev/null || echo read-only
		[ $$ -gt 10 ] && echo "not PID 1"'
	same "what it is" $'main1 65534\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nread-only\nnot PID 1' "$output"
}

@test "charliecloud: exit statuses pass" {
	in_image -- run "$IMAGE" sh -c 'exit 7'
	same "the exit status" 7 "$status"
	in_image -- run "$IMAGE" no-such-program
	same "the exit status of no program" 127 "$status"
	in_image BACKENDAI_CLUSTER_SIZE=2 -- run "$IMAGE" true
	same "the exit status of a broken manager" 125 "$status"
}

@test "charliecloud: slurm/singularity.sbatch, a torchrun on each node" {
	cluster_ready
	submit singularity.sbatch
	local node
	for node in 0 1; do
		[[ $output == *"torchrun /app/train.py: node $node of 2, master n1:"*", user 65534, CapPrm= NoNewPrivs=1"* ]] ||
			fail "node $node was told another thing"
	done
	same "how many met" 2 "$(grep -c '^met all 2$' <<<"$output")"
}

@test "charliecloud: slurm/singularity-ranks.sbatch, each task a rank" {
	cluster_ready
	submit singularity-ranks.sbatch
	local rank
	for rank in 0 1 2 3; do
		[[ $output == *"rank $rank of 4, local $((rank % 2)), master n1:"* ]] || fail "nothing of rank $rank"
	done
}

@test "charliecloud: slurm/pyxis.sbatch, with distinit in the command" {
	cluster_ready
	submit pyxis.sbatch
	same "how many met" 2 "$(grep -c '^met all 2$' <<<"$output")"
}
