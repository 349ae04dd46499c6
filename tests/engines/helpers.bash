# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For tests that run distinit under real launchers. A launcher labels what a rank prints with the rank; a
# rank prints where it is and what distinit told it (tell). agree() then checks the one by the other.
#
# shellcheck disable=SC2034 # some are for the files that load this one

TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
DISTINIT=${DISTINIT:-$TREE/build/distinit}
DISTRUN=${DISTRUN:-${DISTINIT%/*}/distrun}
# Tests write these paths into scripts for jobs, also below several layers of quotes. A shell would part a tree's path with a
# space there, so a link stands for it.
if [[ $TREE =~ [^[:alnum:]/._-] ]]; then
	ln -sfn "$TREE" "$BATS_RUN_TMPDIR/tree"
	DISTINIT=${DISTINIT/#"$TREE"/$BATS_RUN_TMPDIR/tree} DISTRUN=${DISTRUN/#"$TREE"/$BATS_RUN_TMPDIR/tree}
	TREE=$BATS_RUN_TMPDIR/tree
fi
PROGRAMS=$TREE/tests/programs
TELL=("$DISTINIT" -- "$PROGRAMS/tell")
# Debian's, which has Debian's torch, whatever else is in PATH.
PYTHON=/usr/bin/python3
# Seconds that a command may take, and a test, if it hangs. The machine may be slow; in CI it has PATIENCE (tools/test.bash).
: "${PATIENCE:=1}"
LIMIT=$((100 * PATIENCE))
export BATS_TEST_TIMEOUT=$((120 * PATIENCE))

# --- what can be run here ---------------------------------------------------------------------------

# missing COMMAND...: why the tests of a file cannot run, or nothing.
missing() {
	local command
	[[ $EUID -eq 0 ]] || { echo "only root can make machines of its own" && return; }
	for command; do
		PATH=$PATH:/usr/sbin command -v "$command" >/dev/null || { echo "$command is not installed" && return; }
	done
	"$PROGRAMS/virtual-node" n1 -- true 2>/dev/null || echo "the kernel makes no UTS and mount namespaces for us"
}

# not_in_release PACKAGE: say it where the release has no such package; for the reason of a skip, which may be then.
not_in_release() {
	[[ -n $(apt-cache madison "$1" 2>/dev/null) ]] || echo "this release has no package $1"
}

# torchrun_runs: for a test that needs torchrun; skips it where that cannot run.
torchrun_runs() {
	"$PYTHON" "$TREE/tools/demo/libuv.py" || skip "this release's PyTorch was built without libuv, so its torchrun cannot run"
}

# --- a Slurm cluster for a file ---------------------------------------------------------------------

# cluster_up [OPTION]...: for setup_file. What cannot be had is said by each test's skip (cluster_ready).
cluster_up() {
	local memory=/dev/shm
	[[ -w $memory && $(stat --file-system --format=%T $memory) == tmpfs ]] || memory=$BATS_FILE_TMPDIR
	NO_CLUSTER=$(missing slurmctld slurmd slurmdbd srun mariadbd munged)
	export NO_CLUSTER
	[[ -z $NO_CLUSTER ]] || return 0
	CLUSTER=$(mktemp -d "$memory/slurm.XXXXXX")
	export CLUSTER
	"$PROGRAMS/slurm-cluster" up "$CLUSTER" "$@" 3>&-
}

cluster_down() {
	[[ -z ${CLUSTER-} ]] || "$PROGRAMS/slurm-cluster" down "$CLUSTER"
}

# For setup and teardown of each test: no job of another test takes nodes away.
cluster_ready() {
	[[ -z $NO_CLUSTER ]] || skip "$NO_CLUSTER"
}

cluster_clean() {
	local until=$((SECONDS + 30 * PATIENCE))
	[[ -z ${NO_CLUSTER-} && -d $CLUSTER ]] || return 0
	while [[ -n $(login squeue --noheader) ]]; do
		((SECONDS < until)) || fail "jobs do not end"
		login scancel --user=root
		sleep 0.2
	done
}

# login COMMAND...: run it on the cluster's login node.
login() {
	timeout --kill-after=5 "$LIMIT" "$PROGRAMS/slurm-cluster" on "$CLUSTER" login "$@"
}

# batch [OPTION]... <<SCRIPT: what a batch script prints, and its exit status. Not with sbatch --wait, which
# looks every two seconds.
batch() {
	local at=$BATS_TEST_TMPDIR/batch until=$((SECONDS + LIMIT))
	rm -f "$at.status"
	{
		printf '#!/bin/sh\n(\n'
		cat
		printf '\n)\necho $? >%s.status\n' "$at"
	} >"$at"
	login sbatch --quiet --chdir="$BATS_TEST_TMPDIR" --output="$at.out" "$@" "$at" || return
	until [[ -s $at.status ]]; do
		if ((SECONDS >= until)); then
			login squeue
			break
		fi
		sleep 0.1
	done
	cat "$at.out"
	return "$(cat "$at.status" || echo 124)"
}

# remains: processes of the cluster, also of its jobs.
remains() {
	local process
	for process in /proc/[0-9]*; do
		if [[ $(tr '\0' '\n' 2>/dev/null <"$process/cmdline") == *"$CLUSTER/"* ||
			$(tr '\0' '\n' 2>/dev/null <"$process/environ") == *"$CLUSTER/"* ]]; then
			tr '\0' ' ' <"$process/cmdline"
			echo
		fi
	done
}

# openmpi_words: sets $OPENMPI and $BY_SSH, the beginning of a command. Everything is by the loopback, as all machines have but that;
# virtual-node stands in for ssh. From version 5 on, PRRTE starts the ranks; it refuses the loopback, and to bind more of them than
# there are processors.
openmpi_words() {
	OPENMPI=(mpirun.openmpi --allow-run-as-root --tag-output --mca btl "self,tcp" --mca btl_tcp_if_include lo)
	case $(mpirun.openmpi --version 2>/dev/null) in
	*') '[1-4].*)
		OPENMPI+=(--mca oob_tcp_if_include lo)
		BY_SSH=(--mca plm_rsh_agent "$PROGRAMS/virtual-node" --mca plm_rsh_no_tree_spawn 1)
		;;
	*)
		OPENMPI+=(--bind-to none)
		BY_SSH=(--prtemca plm_ssh_agent "$PROGRAMS/virtual-node" --prtemca plm_ssh_no_tree_spawn 1)
		;;
	esac
}

# --- what ranks say ---------------------------------------------------------------------------------

# fail MESSAGE: with all that the launcher printed.
fail() {
	printf '%s\n--- printed was:\n%s\n' "$1" "${output-}"
	return 1
}

# same WHAT WANTED FOUND
same() {
	[[ $2 == "$3" ]] || fail "$1 is '$3', and should be '$2'"
}

# launch COMMAND...: run a launcher, which must succeed, and read what its ranks tell.
launch() {
	run "$@"
	# shellcheck disable=SC2154 # bats sets it
	[[ $status -eq 0 ]] || fail "exit status $status of: $*"
	read_told
}

# read_told: from lines of tell labelled by srun -l ("0: "), mpirun --tag-output ("[1,0]<stdout>:", "[prterun-...@1,0]<stdout>:") or
# mpiexec -l ("[0] ") fill told[RANK.NAME], and count the ranks.
read_told() {
	local line rank word
	declare -gA told=()
	ranks=0
	while IFS= read -r line; do
		[[ $line =~ ^\ *(\[1,|\[|\[[^]]*@1,)?([0-9]+)(:|\]|\]\<stdout\>:)\ *(host=.*)$ ]] || continue
		rank=${BASH_REMATCH[2]}
		for word in ${BASH_REMATCH[4]}; do
			told[$rank.${word%%=*}]=${word#*=}
		done
		ranks=$((ranks + 1))
	done <<<"${output-}"
}

# unlabelled: what a process that no launcher labelled tells, as rank 0 of told.
unlabelled() {
	output=$(grep -o 'host=.*' <<<"${output-}" | sed 's/^/0: /')
	read_told
	same "the number of those who tell" 1 "$ranks"
}

# agree RANKS: each rank knows who it is, by the launcher's own label and by its host's name, and all know
# the same rendezvous.
agree() {
	local rank host
	local -A on_host=()
	same "the number of ranks" "$1" "$ranks"
	for ((rank = 0; rank < ranks; rank++)); do
		host=${told[$rank.host]-}
		[[ -n $host ]] || fail "nothing is heard of rank $rank"
		same "RANK of $rank" "$rank" "${told[$rank.RANK]}"
		same "WORLD_SIZE of $rank" "$ranks" "${told[$rank.WORLD_SIZE]}"
		same "LOCAL_RANK of $rank" "${on_host[$host]:-0}" "${told[$rank.LOCAL_RANK]}"
		same "MASTER_ADDR of $rank" "${told[0.MASTER_ADDR]}" "${told[$rank.MASTER_ADDR]}"
		same "MASTER_PORT of $rank" "${told[0.MASTER_PORT]}" "${told[$rank.MASTER_PORT]}"
		on_host[$host]=$((${on_host[$host]:-0} + 1))
	done
	for ((rank = 0; rank < ranks; rank++)); do
		same "LOCAL_WORLD_SIZE of $rank" "${on_host[${told[$rank.host]}]}" "${told[$rank.LOCAL_WORLD_SIZE]}"
	done
	[[ ${told[0.MASTER_PORT]} =~ ^[0-9]+$ ]] || fail "MASTER_PORT is no number"
}

# master_is_rank_0: where rank 0 is can be told from outside.
master_is_rank_0() {
	same MASTER_ADDR "${told[0.host]}" "${told[0.MASTER_ADDR]}"
}

# tf_config_is_right: every rank has the hosts on which the ranks really are, in their order.
tf_config_is_right() {
	local rank workers='' port=${told[0.MASTER_PORT]}
	for ((rank = 0; rank < ranks; rank++)); do
		workers+="${workers:+,}\"${told[$rank.host]}:$((port + rank))\""
	done
	for ((rank = 0; rank < ranks; rank++)); do
		same "TF_CONFIG of $rank" "{\"cluster\":{\"worker\":[$workers]},\"task\":{\"type\":\"worker\",\"index\":$rank}}" \
			"${told[$rank.TF_CONFIG]}"
	done
}

# tf_config_is_right_or_absent: for all ranks alike.
tf_config_is_right_or_absent() {
	if [[ ${told[0.TF_CONFIG]} == - ]]; then
		all_have TF_CONFIG -
	else
		tf_config_is_right
	fi
}

# all_have NAME VALUE: "-" means that it is not set.
all_have() {
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		same "$1 of $rank" "$2" "${told[$rank.$1]}"
	done
}

# all_match NAME PATTERN: for what differs between versions.
all_match() {
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		[[ ${told[$rank.$1]} =~ ^($2)$ ]] || fail "$1 of $rank is '${told[$rank.$1]}', and should be $2"
	done
}

# job_port JOB STEP: the port that the manual promises where jobs share nodes.
job_port() {
	echo $((20000 + (31 * $1 + $2) % 9400))
}

# hosts_are HOST...: of the ranks, in their order. A test of the test: that the launcher did place them so.
hosts_are() {
	local rank=0 host
	for host; do
		same "the host of rank $rank" "$host" "${told[$rank.host]}"
		rank=$((rank + 1))
	done
}
