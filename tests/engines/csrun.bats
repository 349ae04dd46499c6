#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun exec (csrun_cpu) and distrun launch (csrun_wse) under a real Slurm of four nodes, in real containers (Charliecloud, and podman
# where it says so). Their command lines are tests/e2e/csrun.bats'.
#
# shellcheck disable=SC2016 # what is quoted is for another shell

bats_require_minimum_version 1.5.0
load helpers
load containers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"

setup_file() {
	cluster_up --nodes=4
	NO_CONTAINERS=
	if [[ -z $NO_CLUSTER ]]; then
		make_image "$CLUSTER/image"
		NO_CONTAINERS=$(no_containers)
		ln -s "$DISTRUN" "$CLUSTER/csrun_cpu"
		ln -s "$DISTRUN" "$CLUSTER/csrun_wse"
		printf '%s\n' "SINGULARITY_IMAGE=$CLUSTER/image" CONTAINER_RUNTIME=charliecloud DEF_NODES=2 \
			DEF_TASKS_PER_NODE=2 DEF_CPUS_PER_TASK=2 >"$CLUSTER/site.conf"
	fi
	export NO_CONTAINERS
	podman_up
	[[ -n $NO_PODMAN ]] || "$PROGRAMS/podman-private" outside "$ENGINE"
}

teardown_file() {
	cluster_down
	podman_down
}

setup() {
	cluster_ready
	[[ -z $NO_CONTAINERS ]] || skip "$NO_CONTAINERS"
}

teardown() {
	cluster_clean
}

# make_image DIR: a small image for Charliecloud, as a folder, with a python that is a shell script.
make_image() {
	local name
	mkdir -p "$1"/{bin,data,dev,etc,home,mnt/0,mnt/1,opt/tool,proc,run,sys,tmp,usr,var}
	touch "$1"/etc/{group,hosts,passwd,resolv.conf}
	cp /bin/busybox "$1/bin/busybox" || return 0
	for name in cat echo env false kill sh sleep true; do
		ln -s busybox "$1/bin/$name"
	done
	printf '#!/bin/sh\necho "tool: $*"\n' >"$1/opt/tool/tool"
	chmod +x "$1/opt/tool/tool"
	touch "$1/in-the-image"
}

# no_containers: why there are none here, or nothing.
no_containers() {
	command -v ch-run >/dev/null || { echo "charliecloud-runtime is not installed" && return; }
	[[ -x $CLUSTER/image/bin/busybox ]] || { echo "busybox-static is not installed" && return; }
	USER=root ch-run "$CLUSTER/image" -- /bin/true 2>/dev/null || echo "ch-run makes no containers here"
}

# user VAR=VALUE... COMMAND...: run it on the login node, as somebody who has logged in.
user() {
	login env USER=root CSRUN_SITE="$CLUSTER/site.conf" "$@"
}

# cpu, wse ARG...
cpu() {
	user "$CLUSTER/csrun_cpu" "$@"
}

wse() {
	user "$CLUSTER/csrun_wse" "$@"
}

# in_podman WORD OF DISTRUN ARG...: with busybox's image.
in_podman() {
	user PATH="$ENGINE/bin:$PATH" DISTINIT_TRACK='HF_*' HF_X="$HOSTILE" HF_N=$'two\nlines' "$DISTRUN" "$1" --image=localhost/busybox \
		--runtime=podman "${@:2}"
}

HOSTILE='$(touch /tmp/x) `q` "q" '"'s \\"

# Each task prints a line "RANK NODE".
PLACE=(/bin/sh -c '[ -e /in-the-image ] && echo "$SLURM_PROCID $SLURMD_NODENAME"')

# laid LIST: how many tasks the nodes have, "1 1 3 3", in any order; and that each rank is there once.
laid() {
	same "the exit status" 0 "$status"
	same "tasks on the nodes" "$1" \
		"$(grep -oE '^[0-9]+ n[0-9]' <<<"$output" | awk '{ n[$2]++ } END { for (i in n) print n[i] }' | sort -n | xargs)"
	same "the ranks" "$(seq 0 $((${2} - 1)) | xargs)" "$(grep -oE '^[0-9]+ n[0-9]' <<<"$output" | cut -d ' ' -f 1 | sort -n | xargs)"
}

# --- one command ---------------------------------------------------------------------------------------

@test "csrun: exec runs a command on a node, in the container, byte for byte" {
	run --separate-stderr cpu /bin/sh -c 'cat /proc/1/comm >/dev/null; ls() { :; }; [ -e /in-the-image ] && echo "$SLURMD_NODENAME" && printf "<%s>" "$@"' \
		x 'a  b' '' '$(touch /tmp/x); y' "it's" $'two\nlines'
	same "the exit status" 0 "$status"
	[[ $output == n[1-4]$'\n<a  b><><$(touch /tmp/x); y><it\'s><two\nlines>' ]] || fail "not as it was written"
}

@test "csrun: exec hands stdin, stdout, stderr and the exit status through" {
	run --separate-stderr cpu --alloc-node=True /bin/sh -c 'cat; echo bad >&2; exit 7' <<<'from stdin'
	same "the exit status" 7 "$status"
	same "stdout" 'from stdin' "$output"
	# shellcheck disable=SC2154 # by run
	[[ $stderr == *bad* ]] || fail "stderr is lost: $stderr"
}

@test "csrun: exec --alloc-node=False makes no job" {
	run cpu --alloc-node=False /bin/sh -c '[ -e /in-the-image ] && echo "job=${SLURM_JOB_ID-none}"'
	same "stdout" job=none "$output"
}

@test "csrun: directives are applied inside, where the runtime has set its own PATH" {
	run -127 cpu tool x
	[[ $output == *"'tool'"*PATH* ]] || fail "found without a directive"
	run user DISTINIT_ENV='prepend PATH=/opt/tool' "$CLUSTER/csrun_cpu" tool x
	same "stdout" 'tool: x' "$output"
}

@test "csrun: tracked variables reach every task, before its program; those that are not do not" {
	run user DISTINIT_TRACK='HF_*:PYTHONPATH:SLURM_X' HF_HOME='/h "q"' HF_NOTE=$'two\nlines' PYTHONPATH=/lib/p SLURM_X=1 \
		DISTINIT_ENV='prepend PYTHONPATH=/first' \
		"$CLUSTER/csrun_wse" /bin/sh -c \
		'[ "$HF_NOTE" = "two
lines" ] && echo "$SLURM_PROCID $HF_HOME $PYTHONPATH [${DISTINIT_BUNDLE-}${DISTINIT_ENV-}]"'
	same "tasks that have them all" 4 "$(grep -c '/h "q" /first:/lib/p \[\]' <<<"$output")"
	run user LD_LIBRARY_PATH=/l "$CLUSTER/csrun_cpu" /bin/sh -c 'echo "[${LD_LIBRARY_PATH-}]"'
	[[ $output == *'unset, as csrun_cpu does: LD_LIBRARY_PATH'*'[]' ]] || fail "LD_LIBRARY_PATH came along"
}

@test "csrun: a folder of the host is mounted" {
	mkdir -p "$CLUSTER/folder"
	echo content >"$CLUSTER/folder/file"
	run cpu --mount-dirs="$CLUSTER/folder:/data" /bin/cat /data/file
	same "stdout" content "$output"
	run cpu --mount-dirs="$CLUSTER/folder:/nowhere" /bin/true
	[[ $status -eq 125 && $output == *"'/nowhere' is not in the image"*mkdir* ]] || fail "not told what to do"
}

# --- several tasks ---------------------------------------------------------------------------------------

@test "csrun: launch lays tasks out, with a job of its own" {
	run wse --nodes=1 "${PLACE[@]}"
	laid '2' 2
	run wse "${PLACE[@]}"
	laid '2 2' 4
	run wse --total-nodes=4 --single-task-nodes=2 --tasks-per-node=3 "${PLACE[@]}"
	laid '1 1 3 3' 8
	run wse --total-nodes=4 --tasks-per-node=1 --cyclic "${PLACE[@]}"
	laid '1 1 1 1' 4
}

@test "csrun: launch lays tasks out within a job, whatever sbatch was asked for" {
	run batch --nodes=4 --ntasks=16 --exclusive --distribution=cyclic <<-END
		export USER=root CSRUN_SITE=$CLUSTER/site.conf
		$CLUSTER/csrun_wse --nodes=1 $(printf '%q ' "${PLACE[@]}")
		echo --
		$CLUSTER/csrun_wse --single-task-nodes=1 $(printf '%q ' "${PLACE[@]}")
		echo --
		$CLUSTER/csrun_wse --total_nodes=4 --single_task_nodes=2 --tasks_per_worker=3 $(printf '%q ' "${PLACE[@]}")
		echo --
		$CLUSTER/csrun_cpu $(printf '%q ' "${PLACE[@]}")
	END
	local all=$output
	output=$(awk -v RS='--\n' 'NR == 1' <<<"$all")
	laid '2' 2
	output=$(awk -v RS='--\n' 'NR == 2' <<<"$all")
	laid '1 2' 3
	output=$(awk -v RS='--\n' 'NR == 3' <<<"$all")
	laid '1 1 3 3' 8
	output=$(awk -v RS='--\n' 'NR == 4' <<<"$all")
	laid '1' 1
}

@test "csrun: ranks go round the nodes with --cyclic, and fill one after the other without" {
	run wse --total-nodes=3 --single-task-nodes=1 --cyclic "${PLACE[@]}"
	laid '1 2 2' 5
	same "neighbours on one node" no "$(awk '$1 == 1 { a = $2 } $1 == 2 { b = $2 } END { print a == b ? "yes" : "no" }' <<<"$output")"
	run wse --total-nodes=3 --single-task-nodes=1 "${PLACE[@]}"
	laid '1 2 2' 5
	same "neighbours on one node" yes "$(awk '$1 == 1 { a = $2 } $1 == 2 { b = $2 } END { print a == b ? "yes" : "no" }' <<<"$output")"
}

@test "csrun: each task is told its rank" {
	run wse /bin/sh -c 'echo "$SLURM_PROCID $RANK $WORLD_SIZE $LOCAL_RANK ${MASTER_ADDR:-none}"'
	same "the exit status" 0 "$status"
	local master
	master=$(awk 'NF == 5 { print $5; exit }' <<<"$output")
	same "what they are told" "0 0 4 0 $master,1 1 4 1 $master,2 2 4 0 $master,3 3 4 1 $master" \
		"$(grep -E '^[0-9] [0-9] ' <<<"$output" | sort -n | paste -sd ,)"
}

@test "csrun: a runtime told to clear the environment is refused, not run without ranks" {
	local word
	for word in cpu wse; do
		run "$word" --runtime-args="--unset-env='*'" /bin/echo hello
		[[ $status -eq 125 && $output == *"DISTINIT_CARRIED, in which"* && $output != *hello* ]] || fail "not refused"
	done
}

@test "csrun: with the environment cleared in part, the result is the same" {
	local options
	for options in '' "--unset-env='SLURM*'" "--unset-env='MASTER_*' --unset-env=RANK" "--unset-env='HF_*' --unset-env=DISTINIT_BUNDLE"; do
		run user DISTINIT_TRACK='HF_*' HF_X="$HOSTILE" "$CLUSTER/csrun_wse" --runtime-args="$options" -- \
			/bin/sh -c 'echo "$RANK/$WORLD_SIZE $LOCAL_RANK ${MASTER_ADDR:+master} ${SLURMD_NODENAME:+node} $HF_X"'
		same "the exit status with '$options'" 0 "$status"
		same "the ranks with '$options'" "$(printf '%s master node %s\n' '0/4 0' "$HOSTILE" '1/4 1' "$HOSTILE" '2/4 0' "$HOSTILE" '3/4 1' "$HOSTILE")" \
			"$(grep ^./ <<<"$output" | sort)"
	done
}

@test "csrun: podman: with and without the host's environment, the result is the same" {
	[[ -z $NO_PODMAN ]] || skip "$NO_PODMAN"
	local options alloc
	for options in '' --env-host=false --unsetenv-all '--env-host=false --unsetenv=DISTINIT_CARRIED' '--unsetenv=RANK --unsetenv=SLURM_PROCID'; do
		run in_podman launch --runtime-args="$options" --total-nodes=2 --tasks-per-node=2 --cpus-per-task=1 --for=all -- sh -c '
			[ "$HF_N" = "two
lines" ] && echo "$RANK/$WORLD_SIZE $LOCAL_RANK ${MASTER_ADDR:+master} $HF_X${DISTINIT_SECRET-}${DISTINIT_CARRIED-}"'
		same "the exit status with '$options'" 0 "$status"
		same "the ranks with '$options'" "$(printf '%s master %s\n' '0/4 0' "$HOSTILE" '1/4 1' "$HOSTILE" '2/4 0' "$HOSTILE" '3/4 1' "$HOSTILE")" \
			"$(grep ^./ <<<"$output" | sort)"
	done
	for options in '' --env-host=false; do
		for alloc in True False; do
			run in_podman exec --runtime-args="$options" --alloc-node=$alloc -- sh -c 'echo "<$HF_X>"'
			[[ $status -eq 0 && $output == *"<$HOSTILE>"* ]] || fail "lost with '$options', --alloc-node=$alloc"
		done
	done
}

@test "csrun: podman: without what is handed over, an error and no program" {
	[[ -z $NO_PODMAN ]] || skip "$NO_PODMAN"
	local word
	for word in exec launch; do
		# srun returns the largest status, and a podman that it ends while it starts has 127.
		ended in_podman "$word" --runtime-args='--env-host=false --env=DISTINIT_CARRIED=' -- sh -c 'echo ran'
		[[ $status =~ ^12[57]$ && $output == *"DISTINIT_CARRIED was changed on its way"* && $output != *ran* ]] || fail "$word is not refused"
	done
}

@test "csrun: CPUs alone: as many tasks as a node has room for" {
	run wse --nodes=2 --cpus-per-task=3 "${PLACE[@]}"
	laid '2 2' 4
	run wse --nodes=1 --cpus-per-task=9 "${PLACE[@]}"
	[[ $status -eq 125 && $output == *'--cpus-per-task=9, but a node has 8 (sinfo)' ]] || fail "not refused"
}

@test "csrun: one task that fails ends all, and its status is ours" {
	run wse /bin/sh -c 'if [ "$SLURM_PROCID" = 3 ]; then exit 3; fi; sleep 300'
	same "the exit status" 3 "$status"
	# Completing takes a moment.
	until [[ -z $(login squeue --noheader) ]]; do sleep 0.2; done
}

@test "csrun: one task that a signal ends, all are ended, and its signal is the status" {
	local signal
	for signal in SEGV KILL ABRT BUS XCPU; do
		run wse /bin/sh -c 'if [ "$SLURM_PROCID" = 3 ]; then kill -'$signal' $$; fi; sleep 300'
		same "the exit status after $signal" $((128 + $(kill -l $signal))) "$status"
		until [[ -z $(login squeue --noheader) ]]; do sleep 0.2; done
	done
}

@test "csrun: launch with a step that mirrors it, and a limit to its time" {
	run batch --nodes=2 --exclusive <<-END
		export USER=root CSRUN_SITE=$CLUSTER/site.conf
		$CLUSTER/csrun_wse --name=wsjob-mirror --job-time-sec=1 --grace=1s /bin/sleep 300
		echo "status \$?"
		$CLUSTER/csrun_wse --name=wsjob-mirror $(printf '%q ' "${PLACE[@]}")
	END
	[[ $output == *'status 124'* ]] || fail "the limit did not end it"
	laid '2 2' 4
}

# --- what cannot be ----------------------------------------------------------------------------------------

@test "csrun: more nodes than there are" {
	run wse --nodes=5 /bin/true
	[[ $status -eq 125 && $output == *'--nodes=5, but the partition has 4 (sinfo)' ]] || fail "not refused"
	run login salloc --quiet --nodes=2 env USER=root CSRUN_SITE="$CLUSTER/site.conf" \
		"$CLUSTER/csrun_wse" --nodes=3 /bin/true
	[[ $status -eq 125 && $output == *'--nodes=3, but the job has 2 (SLURM_JOB_ID)' ]] || fail "not refused in a job"
}

@test "csrun: a job that has ended" {
	local job
	job=$(login salloc --quiet --nodes=1 sh -c 'echo $SLURM_JOB_ID')
	for job in "$job" 4000000; do
		run user SLURM_JOB_ID="$job" "$CLUSTER/csrun_cpu" /bin/true
		same "the exit status" 125 "$status"
		[[ $output == *"SLURM_JOB_ID='$job' is not a running job; 'unset SLURM_JOB_ID'"* ]] || fail "not told"
	done
}

# ends_all SIGNAL: send it to distrun while its tasks run, and wait until nothing is left.
ends_all() {
	local pid seconds=$((100000 + RANDOM))
	wse /bin/sh -c "sleep $seconds" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	until [[ $(login squeue --noheader --steps | wc -l) -ge 1 ]]; do sleep 0.1; done
	pkill "-$1" -f "^$CLUSTER/csrun_wse /bin/sh"
	wait "$pid" || true
	until [[ -z $(login squeue --noheader) ]]; do sleep 0.2; done
	same "processes of ours after $1" '' "$(pgrep -f "^sleep $seconds|^srun --unbuffered .*$CLUSTER|^$CLUSTER/csrun_wse" || true)"
}

@test "csrun: nothing remains where distrun is asked to end, or is killed" {
	ends_all TERM
	ends_all KILL
}
