#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The real Apptainer, of Debian's unstable suite (tests/programs/apptainer-private), as an ordinary user: examples/singularity/train.def,
# as a folder and as a SIF, alone and under a real Slurm.
#
# shellcheck disable=SC2016 # what is quoted is for the shell in a container
# shellcheck disable=SC2030,SC2031,SC2154 # ended() of containers.bash sets status and output

bats_require_minimum_version 1.5.0
load helpers
load containers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"
EXAMPLES=$TREE/examples
SESSION=(BACKENDAI_CLUSTER_SIZE=2 "BACKENDAI_CLUSTER_HOSTS=main1,sub1" BACKENDAI_CLUSTER_HOST=sub1
	BACKENDAI_CLUSTER_LOCAL_RANK=1)

setup_file() {
	NO_APPTAINER=$(missing busybox dpkg apt-get setpriv)
	PLACE=$(mktemp -d /dev/shm/apptainer.XXXXXX)
	export NO_APPTAINER PLACE
	[[ -n $NO_APPTAINER ]] || "$PROGRAMS/apptainer-private" up "$PLACE" 3>&- 2>"$PLACE/why" || NO_APPTAINER=$(tail -n 1 "$PLACE/why")
	[[ -z $NO_APPTAINER ]] || return 0
	make_images >"$PLACE/log" 2>&1 3>&- || { cat "$PLACE/log" && return 1; }
	cluster_up --nodes=2
}

# The definition's commands as they are written there, but for the image below, which has busybox in place of PyTorch.
make_images() {
	local base=$PLACE/base context=$PLACE/context name
	mkdir -p "$base"/{bin,dev,etc,home,proc,root,sys,tmp,usr/bin,var/tmp} "$context" "$PLACE/data"
	cp "$(command -v busybox)" "$base/bin/busybox"
	for name in sh cat echo env grep id ls mkdir sleep stty touch; do
		ln -s busybox "$base/bin/$name"
	done
	cp "$PROGRAMS/torchrun-stand-in" "$base/bin/torchrun"
	printf '#!/bin/sh\necho "python $*: rank $RANK of $WORLD_SIZE at $MASTER_ADDR"\n' >"$base/bin/python"
	chmod 755 "$base/bin/python"
	touch "$base"/etc/{passwd,group,hosts,resolv.conf}
	cp "$DISTINIT" "$DISTRUN" "$PLACE/"
	cp "$DISTINIT" "$EXAMPLES/pytorch/train.py" "$context/"
	sed "s,^Bootstrap: .*,Bootstrap: localimage,; s,^From: .*,From: $base," "$EXAMPLES/singularity/train.def" >"$context/train.def"
	chown -R 1000:1000 "$base" "$context" "$PLACE/data"
	chmod 755 "$base" "$context"
	cd "$context" || return
	inside apptainer build --sandbox image train.def
	inside apptainer build train.sif train.def
	ln -s "$context/image" "$context/train.sif" "$PLACE/"
}

teardown_file() {
	cluster_down
	[[ -z ${PLACE-} ]] || rm -rf "$PLACE"
}

setup() {
	[[ -z $NO_APPTAINER ]] || skip "$NO_APPTAINER"
	IMAGES=("$PLACE/image")
	[[ ! -e /dev/fuse ]] || IMAGES+=("$PLACE/train.sif")
	cd "$PLACE" || return
}

teardown() {
	[[ -n $NO_APPTAINER ]] || cluster_clean
}

# inside COMMAND...: where Apptainer is installed.
inside() {
	timeout --kill-after=5 "$LIMIT" "$PROGRAMS/apptainer-private" on "$PLACE" "$@"
}

# room COMMAND...: the same, with PIDs of its own, and a PID 1 that reaps.
room() {
	timeout --kill-after=5 "$LIMIT" unshare --pid --fork --kill-child "$DISTINIT" --init --log=error -- \
		"$PROGRAMS/apptainer-private" on "$PLACE" "$@"
}

# apptainer VAR=VALUE... -- ARG...: with these variables alone; without what it says about itself.
apptainer() {
	local -a variables=()
	while [[ $1 != -- ]]; do
		variables+=("$1")
		shift
	done
	ended env -i PATH="$PATH" "${variables[@]}" timeout --kill-after=5 "$LIMIT" "$PROGRAMS/apptainer-private" on "$PLACE" apptainer --silent "${@:2}"
}

@test "apptainer: it is the real one" {
	run inside apptainer --version
	[[ $output == 'apptainer version 1.'* ]] || fail "not Apptainer"
}

@test "apptainer: run gives its arguments to the program as they are, and exec does without distinit" {
	local image
	for image in "${IMAGES[@]}"; do
		apptainer "${SESSION[@]}" -- run "$image" sh -c 'echo "$MASTER_ADDR $PET_NODE_RANK"; for a; do echo "<$a>"; done' - 'a b' '$HOME' '' '*' $'x\ny'
		same "the arguments" $'main1 1\n<a b>\n<$HOME>\n<>\n<*>\n<x\ny>' "$output"
		apptainer "${SESSION[@]}" -- exec "$image" sh -c 'echo "${MASTER_ADDR-none}"'
		same "what is derived without the runscript" none "$output"
	done
	apptainer PET_NNODES=1 PET_NODE_RANK=0 PET_MASTER_ADDR=localhost PET_MASTER_PORT=1 -- run image
	[[ $output == "torchrun /app/train.py: node 0 of 1"* ]] || fail "run without arguments is not the training"
}

# The table of docs/slurm.md, "Who wins".
@test "apptainer: host < %environment < APPTAINERENV_ < --env-file < --env < directives" {
	local -a say=(sh -c 'echo "$X"')
	mkdir -p "$PLACE/home/set"
	cp -r "$PLACE/context/image" "$PLACE/home/set/" 2>/dev/null
	echo 'export X=${X:-environment}' >>"$PLACE/home/set/image/.singularity.d/env/90-environment.sh"
	echo 'X=file' >"$PLACE/home/set/file"
	chown -R 1000:1000 "$PLACE/home/set"
	local image=$PLACE/home/set/image file=$PLACE/home/set/file
	apptainer X=host -- run image "${say[@]}"
	same "host" host "$output"
	apptainer X= -- run image sh -c 'echo "${X-unset}"'
	same "an empty variable of the host" '' "$output"
	apptainer X=host -- run "$image" "${say[@]}"
	same "%environment" environment "$output"
	apptainer X=host APPTAINERENV_X=forced -- run "$image" "${say[@]}"
	same "APPTAINERENV_" forced "$output"
	apptainer APPTAINERENV_X=forced -- run --env-file "$file" "$image" "${say[@]}"
	same "--env-file" file "$output"
	apptainer APPTAINERENV_X=forced -- run --env-file "$file" --env X=option "$image" "${say[@]}"
	same "--env" option "$output"
	apptainer DISTINIT_ENV='set X=directive' -- run --env X=option "$image" "${say[@]}"
	same "a directive" directive "$output"
	apptainer OMP_NUM_THREADS=7 -- run image sh -c 'echo "$OMP_NUM_THREADS"'
	same "the job's OMP_NUM_THREADS, in the example" 7 "$output"
	apptainer -- run image sh -c 'echo "$OMP_NUM_THREADS"'
	same "OMP_NUM_THREADS, in the example" 1 "$output"
}

@test "apptainer: commas in --env, and JSON in a file" {
	apptainer -- run --env 'A=1,B=2' image sh -c 'echo "$A $B"'
	same "two variables in one --env" '1 2' "$output"
	apptainer -- exec --env '"X=a,B=2"' image sh -c 'echo "$X ${B-none}"'
	same "one, in quotes" 'a,B=2 none' "$output"
	printf '%s\n' "J='{\"a\":\"b c\"}'" 'K={"a":"b c"}' >"$PLACE/home/json"
	apptainer -- exec --env-file "$PLACE/home/json" image sh -c 'echo "$J $K"'
	same "JSON, with and without quotes" '{"a":"b c"} {a:b c}' "$output"
}

@test "apptainer: APPTAINERENV_ is evaluated by a shell, in double quotes" {
	local value
	for value in '$(echo x)' '`echo x`'; do
		apptainer APPTAINERENV_X="$value" -- exec image sh -c 'echo "<$X>"'
		same "evaluated" '<x>' "$output"
		apptainer APPTAINERENV_X="$value" -- exec --no-eval image sh -c 'echo "<$X>"'
		same "with --no-eval" "<$value>" "$output"
	done
	apptainer APPTAINERENV_X='$HOME' -- exec image sh -c 'echo "$X"'
	same "a variable" /home/u "$output"
}

@test "apptainer: --cleanenv, --containall, --compat, --pid, --no-init: what is derived, PID, status" {
	local options
	for options in --cleanenv --containall --compat '--cleanenv --no-eval'; do
		# shellcheck disable=SC2086 # several
		apptainer "${SESSION[@]}" -- run $options image sh -c 'echo "${MASTER_ADDR-none}"'
		same "what is derived with $options" none "$output"
		# shellcheck disable=SC2086
		apptainer APPTAINERENV_DISTINIT_HOSTS=a,b APPTAINERENV_DISTINIT_NODE_RANK=1 -- run $options image sh -c 'echo "$MASTER_ADDR $PET_NODE_RANK"'
		same "what is derived from what is passed, with $options" "a 1" "$output"
	done
	apptainer "${SESSION[@]}" -- exec --cleanenv image /distinit explain
	[[ $output == *'Under --cleanenv'* ]] || fail "explain does not tell"
	for options in '' --pid '--pid --no-init' --compat; do
		# shellcheck disable=SC2086
		apptainer -- run $options image sh -c 'exit 7'
		same "the exit status with $options" 7 "$status"
		# shellcheck disable=SC2086
		apptainer -- run $options image no-such-program
		same "the exit status of no program with $options" 127 "$status"
		# shellcheck disable=SC2086
		apptainer -- exec $options image /distinit --init --log=error -- sh -c 'kill -TERM $$'
		same "the exit status after TERM with $options" 143 "$status"
	done
	apptainer -- run --pid --no-init image sh -c 'echo $$'
	same "the PID" 1 "$output"
	apptainer BACKENDAI_CLUSTER_SIZE=2 -- run image true
	same "the exit status of a broken manager" 125 "$status"
}

@test "apptainer: a user's process on a read-only root; --add-caps and --fakeroot, as the hints say" {
	apptainer -- run image sh -c 'id -u; grep -E "^(CapEff|NoNewPrivs):" /proc/self/status; touch /x 2>/dev/null || echo read-only'
	same "what it is" $'1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nread-only' "$output"
	apptainer -- exec image /distinit --cap-keep=ipc_lock -- true
	[[ $status -eq 125 && $output == *'or apptainer --add-caps=cap_ipc_lock' ]] || fail "no hint"
	apptainer -- exec --add-caps=cap_ipc_lock image /distinit --cap-keep=ipc_lock -- grep CapEff /proc/self/status
	same "the capabilities" $'CapEff:\t0000000000004000' "$output"
	apptainer -- exec image /distinit --user=1:1 -- id -u
	[[ $status -eq 125 && $output == *'(apptainer --fakeroot)'* ]] || fail "no hint"
	apptainer -- exec --fakeroot image /distinit --user=1:1 -- id -u
	same "the user" 1 "$output"
}

@test "apptainer: install into a bind" {
	mkdir -p "$PLACE/data/bin"
	chown 1000:1000 "$PLACE/data/bin"
	apptainer -- exec -B "$PLACE/data/bin:/target" image /distinit install /target
	same "the exit status" 0 "$status"
	cmp "$DISTINIT" "$PLACE/data/bin/distinit"
}

@test "apptainer: Ctrl-C in a terminal reaches the program once" {
	run "$PROGRAMS/terminal" see=ready 'type=^C' see=once ends=3 -- "$PROGRAMS/apptainer-private" on "$PLACE" apptainer --silent exec "$PLACE/image" \
		/distinit --init --log=error -- sh -c 'trap "n=once$n" INT; echo ready; while [ -z "$n" ]; do sleep 0.1; done; sleep 0.5; echo "$n"; exit 3'
	same "the exit status" 0 "$status"
	[[ $output != *onceonce* ]] || fail "twice"
}

# An instance whose program needs a second to end well.
INSTANCE='
	cd
	apptainer --silent instance start $OPTIONS '\''IMAGE'\'' X sh -c '\''trap "sleep 1; echo saved; exit 0" TERM; echo ready; while :; do sleep 0.1; done'\''
	until grep -q ready .apptainer/instances/logs/*/u/X.out; do sleep 0.1; done
	from=$(date +%s)
	apptainer --silent instance stop $STOP X
	[ $(($(date +%s) - from)) -lt 8 ] || echo "it was killed"
	cat .apptainer/instances/logs/*/u/X.out'

@test "apptainer: an instance is stopped with its grace, by INT and by TERM" {
	local stop
	for stop in '' '-s TERM'; do
		rm -rf "$PLACE/home/.apptainer/instances"
		ended env OPTIONS= STOP="$stop" "$BASH" -c '"$@"' x env DISTINIT_LOG=error timeout 60 unshare --pid --fork --kill-child "$DISTINIT" --init -- \
			"$PROGRAMS/apptainer-private" on "$PLACE" sh -c "${INSTANCE//IMAGE/$PLACE/image}"
		same "what it says with stop $stop" $'ready\nsaved' "$output"
	done
}

@test "apptainer: exec in an instance does not see the instance's --env" {
	ended room sh -c "cd; apptainer --silent instance start --env SLURM_Y=1 $PLACE/image Y sleep 60
		apptainer --silent exec instance://Y sh -c 'echo \"[\$SLURM_Y]\"'; apptainer --silent instance stop -s KILL Y"
	same "the variable" '[]' "$output"
}

@test "apptainer: two instances meet in a roll call" {
	local script='cd; for i in 0 1; do apptainer --silent instance start --env "DISTINIT_HOSTS=127.0.0.1,127.0.0.2" --env DISTINIT_NODE_RANK=$i \
			--env DISTINIT_MASTER_PORT=29871 --env DISTINIT_WAIT=30s --env DISTINIT_FOR=all IMAGE M$i sh -c "echo met \$MASTER_ADDR; sleep 30"; done
		i=0; until [ $(cat .apptainer/instances/logs/*/u/M?.out | grep -c "met 127.0.0.1") = 2 ] || [ $i = 200 ]; do sleep 0.1; i=$((i + 1)); done
		cat .apptainer/instances/logs/*/u/M?.*
		apptainer --silent instance stop -s KILL --all'
	ended room sh -c "${script//IMAGE/$PLACE/image}"
	same "how many met" 2 "$(grep -c '^met 127.0.0.1$' <<<"$output")"
}

# --- under Slurm -----------------------------------------------------------------------------------------

# user VAR=VALUE... COMMAND...: on the login node, as somebody who has apptainer.
user() {
	login env PATH="$PLACE/bin:$PATH" "$@"
}

@test "apptainer: srun with slurm/singularity-ranks.sbatch's line: each task a rank" {
	cluster_ready
	local image rank
	for image in "${IMAGES[@]}"; do
		run user srun --nodes=2 --ntasks-per-node=2 apptainer --silent run "$image" sh -c 'echo "$RANK of $WORLD_SIZE, local $LOCAL_RANK, $MASTER_ADDR"'
		for rank in 0 1 2 3; do
			[[ $output == *"$rank of 4, local $((rank % 2)), n1"* ]] || fail "nothing of rank $rank"
		done
	done
}

@test "apptainer: distrun launch gives the same with and without the environment" {
	cluster_ready
	local image options name rank wanted
	local hostile='$(touch '"$PLACE"'/data/x) `touch '"$PLACE"'/data/x` "q" '"'s \\"
	for image in "${IMAGES[@]}"; do
		for options in '' --cleanenv --containall --compat '--cleanenv --no-eval' variable; do
			local -a variables=(DISTINIT_TRACK='HF_*' HF_X="$hostile" HF_N=$'two\nlines' SLURM_JOB_NAME="$hostile")
			name=apptainer
			[[ $options != variable ]] || variables+=(APPTAINER_CLEANENV=1) options='' name=singularity
			run user "${variables[@]}" "$PLACE/distrun" launch --image="$image" --runtime=$name --runtime-args="$options" --total-nodes=2 \
				--tasks-per-node=2 --cpus-per-task=1 --for=all -- sh -c '[ "$HF_N" = "two
lines" ] && echo "$RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR $HF_X${DISTINIT_SECRET-}${DISTINIT_CARRIED-}${APPTAINERENV_DISTINIT_CARRIED-}."'
			same "the exit status with $options" 0 "$status"
			for rank in 0 1 2 3; do
				wanted="$rank/4 $((rank % 2)) n1 $hostile."
				grep -qxF -- "$wanted" <<<"$output" || fail "rank $rank with $options is another"
			done
		done
	done
	[[ ! -e $PLACE/data/x ]] || fail "a value was evaluated"
}

@test "apptainer: distrun exec, too, with and without a node" {
	cluster_ready
	local options alloc
	for options in '' --cleanenv --containall; do
		for alloc in True False; do
			run user DISTINIT_TRACK='HF_*' HF_X='a b' DISTINIT_ENV='set Y=directive' "$PLACE/distrun" exec --image="$PLACE/image" \
				--runtime=apptainer --runtime-args="$options" --alloc-node=$alloc -- sh -c 'echo "<$HF_X> <$Y>"'
			[[ $output == *'<a b> <directive>'* ]] || fail "lost with '$options', --alloc-node=$alloc"
		done
	done
}

@test "apptainer: csrun_cpu and csrun_wse, folder and SIF; a dry run, pasted, gives the same" {
	cluster_ready
	local image name options wanted
	local -a tasks=()
	for name in csrun_cpu csrun_wse; do
		ln -sf distrun "$PLACE/$name"
	done
	for image in "${IMAGES[@]}"; do
		printf '%s\n' "SINGULARITY_IMAGE=$image" CONTAINER_RUNTIME=apptainer DEF_NODES=2 DEF_TASKS_PER_NODE=2 DEF_CPUS_PER_TASK=1 >"$PLACE/site.conf"
		for name in csrun_cpu csrun_wse; do
			wanted="rank 0 of 4 n1, rank 1 of 4 n1, rank 2 of 4 n1, rank 3 of 4 n1, " tasks=(--total-nodes=2 --tasks-per-node=2 --cpus-per-task=1)
			[[ $name == csrun_wse ]] || wanted='rank  of  , ' tasks=()
			for options in '' --cleanenv; do
				local -a words=("$PLACE/$name" --site="$PLACE/site.conf" --runtime-args="$options" "${tasks[@]}" -- sh -c
					'[ -x /distinit ] && echo "rank $RANK of $WORLD_SIZE $MASTER_ADDR"')
				run user "${words[@]}"
				same "the ranks of $name in $image with '$options'" "$wanted" "$(grep ^rank <<<"$output" | sort | tr '\n' ',' | sed 's/,/, /g')"
				run user sh -c "$(user "${words[0]}" --dry-run "${words[@]:1}" | head -n 1)"
				same "the ranks of $name's dry run in $image" "$wanted" "$(grep ^rank <<<"$output" | sort | tr '\n' ',' | sed 's/,/, /g')"
			done
		done
	done
}

# The files as they are, in a folder with train.sif.
@test "apptainer: slurm/singularity.sbatch, slurm/singularity-ranks.sbatch, and the page's exec line" {
	cluster_ready
	local rank line
	local -a given=(IMAGE="$PLACE/image")
	[[ ! -e /dev/fuse ]] || given=()
	user "${given[@]}" sbatch --wait --chdir="$PLACE" --output="$PLACE/nodes.out" "$EXAMPLES/slurm/singularity.sbatch"
	output=$(cat "$PLACE/nodes.out")
	for rank in 0 1; do
		[[ $output == *"torchrun /app/train.py: node $rank of 2, master n1:"* ]] || fail "nothing of node $rank"
	done
	user "${given[@]}" sbatch --wait --chdir="$PLACE" --output="$PLACE/ranks.out" "$EXAMPLES/slurm/singularity-ranks.sbatch"
	output=$(cat "$PLACE/ranks.out")
	for rank in 0 1 2 3; do
		[[ $output == *"python /app/train.py: rank $rank of 4 at n1"* ]] || fail "nothing of rank $rank"
	done
	[[ -e /dev/fuse ]] || return 0
	line=$(grep -o 'apptainer exec train.sif [^`]*' "$TREE/docs/slurm.md")
	run user sh -c "cd $PLACE && srun --nodes=2 --ntasks-per-node=1 $line"
	[[ $output == *"python train.py: rank 0 of 2 at n1"* && $output == *"python train.py: rank 1 of 2 at n1"* ]] || fail "the page's line"
}

@test "apptainer: distrun launch ends as the task that fails, or that a signal ends" {
	cluster_ready
	local how
	for how in 'exit 3:3' 'kill -SEGV $$:139' 'kill -KILL $$:137'; do
		run user "$PLACE/distrun" launch --image="$PLACE/image" --runtime=apptainer --total-nodes=2 --tasks-per-node=1 --cpus-per-task=1 -- \
			sh -c 'if [ "$RANK" = 1 ]; then '"${how%:*}"'; fi; sleep 300'
		same "the exit status after ${how%:*}" "${how##*:}" "$status"
	done
}

# --- the stand-in --------------------------------------------------------------------------------------

@test "apptainer: the stand-in of other tests treats the environment as the real one does" {
	command -v ch-run >/dev/null || skip "charliecloud-runtime is not installed"
	local image=$PLACE/stand-in options real
	mkdir -p "$image"
	cp -r "$PLACE/base/." "$image/"
	{ cat "$PLACE/context/train.def" && printf '%%environment\n    export D=${D:-image}\n'; } >"$PLACE/context/more.def"
	"$PROGRAMS/apptainer-stand-in" build "$image" "$PLACE/context/more.def"
	cp -r "$PLACE/context/image" "$PLACE/home/more"
	cp "$image/.singularity.d/env/90-environment.sh" "$PLACE/home/more/.singularity.d/env/"
	chown -R 1000:1000 "$PLACE/home/more"
	for options in '' --cleanenv '--env A=option'; do
		local -a variables=(A=host B= APPTAINERENV_C='$(echo x)"q"$HOME' APPTAINERENV_A=forced D=host HOME=/home/u)
		local -a say=(sh -c 'echo "$A ${B-unset} $C $D"')
		# shellcheck disable=SC2086 # several
		apptainer "${variables[@]}" -- run $options "$PLACE/home/more" "${say[@]}"
		real=$output
		# shellcheck disable=SC2086
		ended env -i PATH="$PATH" "${variables[@]}" "$PROGRAMS/apptainer-stand-in" run $options "$image" "${say[@]}"
		same "the stand-in's with $options" "$real" "$output"
	done
}
