#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Under a real Grid Engine of three nodes, with Open MPI and MPICH in its jobs.
#
# shellcheck disable=SC2154 # told and ranks: by read_told() of helpers.bash
# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2054 # the commas are Open MPI's

load helpers

setup_file() {
	local memory=/dev/shm
	[[ -w $memory && $(stat --file-system --format=%T $memory) == tmpfs ]] || memory=$BATS_FILE_TMPDIR
	NO_CLUSTER=$(missing sge_qmaster sge_execd qsub ip nsenter mpirun.openmpi mpiexec.hydra)
	[[ -n $NO_CLUSTER ]] || unshare --net ip link add hub type bridge 2>/dev/null ||
		NO_CLUSTER="the kernel makes no network namespace with a bridge for us"
	export NO_CLUSTER
	[[ -z $NO_CLUSTER ]] || return 0
	CLUSTER=$(mktemp -d "$memory/gridengine.XXXXXX")
	export CLUSTER
	"$PROGRAMS/gridengine-cluster" up "$CLUSTER" 3>&-
}

teardown_file() {
	[[ -z ${CLUSTER-} ]] || "$PROGRAMS/gridengine-cluster" down "$CLUSTER"
}

setup() {
	cluster_ready
}

# master COMMAND...: run it on the submit host.
master() {
	timeout --kill-after=5 "$LIMIT" "$PROGRAMS/gridengine-cluster" on "$CLUSTER" master "$@"
}

# job [OPTION]... <<SCRIPT: what a job script prints, and its exit status; its id is in $id.
job() {
	local at=$BATS_TEST_TMPDIR/job status=0
	rm -f "$at".*
	cat >"$at"
	(cd "$BATS_TEST_TMPDIR" && master qsub -sync y -cwd -S /bin/sh -j y -o "$at.out" "$@" "$at") >"$at.qsub" 2>&1 ||
		status=$?
	cat "$at.out" 2>/dev/null || cat "$at.qsub"
	return "$status"
}

# The daemons' own network is all that there is. By the slot, whatever the number of cores.
OPENMPI=(mpirun.openmpi --allow-run-as-root --tag-output --mca btl self,tcp --bind-to none)

# is_job: all have the rendezvous of the job: the first host of its file, and its own port.
is_job() {
	local first
	first=$(cut -d' ' -f1 "$BATS_TEST_TMPDIR/hostfile" | head -n 1)
	all_have MASTER_ADDR "$first"
	all_have MASTER_PORT "$(job_port "${told[0.JOB_ID]}" 0)"
}

KEEP='cp $PE_HOSTFILE hostfile'

@test "gridengine: a job script is an allocation and no rank" {
	run job -pe mpi 5 <<-END
		$KEEP
		${TELL[*]} JOB_ID NSLOTS NHOSTS
		$DISTINIT explain --format=json >explain.json
		$DISTINIT hosts >hosts
	END
	same "the exit status" 0 "$status"
	unlabelled
	is_job
	all_have NSLOTS 5
	all_have NHOSTS 3
	same "the script's host" "${told[0.host]}" "${told[0.MASTER_ADDR]}"
	for name in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE TF_CONFIG PET_NNODES PET_NODE_RANK PET_MASTER_ADDR; do
		all_have "$name" -
	done
	same "hosts" "$(cut -d' ' -f1 "$BATS_TEST_TMPDIR/hostfile" | xargs)" "$(xargs <"$BATS_TEST_TMPDIR/hosts")"
	run "$PYTHON" -c 'import json, sys
e = json.load(open(sys.argv[1]))
c = e["cluster"]
print(e["source"], e["launcher"], e["scope"], c["nnodes"], c["node_rank"], *c["tasks_per_node"], c["rank"])' \
		"$BATS_TEST_TMPDIR/explain.json"
	same "what explain says" \
		"gridengine None allocation 3 0 $(cut -d' ' -f2 "$BATS_TEST_TMPDIR/hostfile" | xargs) None" "$output"
}

@test "gridengine: Open MPI in a job, a slot on each node in turn" {
	launch job -pe mpi 5 <<<"$KEEP; ${OPENMPI[*]} ${TELL[*]} JOB_ID NHOSTS"
	agree 5
	is_job
	master_is_rank_0
	# What would mislead: a daemon's NHOSTS is its own.
	same "NHOSTS of rank 4" 1 "${told[4.NHOSTS]}"
}

@test "gridengine: Open MPI in a job, node after node, and the other way round" {
	launch job -pe fill 4 <<<"$KEEP; ${OPENMPI[*]} ${TELL[*]} JOB_ID"
	agree 4
	is_job
	master_is_rank_0
	same "the host of rank 1" "${told[0.host]}" "${told[1.host]}"

	launch job -pe fill 4 <<<"$KEEP; ${OPENMPI[*]} --map-by node ${TELL[*]} JOB_ID"
	agree 4
	is_job
	master_is_rank_0
	same "the host of rank 2" "${told[0.host]}" "${told[2.host]}"
}

@test "gridengine: Open MPI, a rank on each node, is one for torchrun too" {
	launch job -pe mpi 3 <<<"$KEEP; ${OPENMPI[*]} ${TELL[*]} JOB_ID"
	agree 3
	is_job
	all_have PET_NNODES 3
	all_have PET_MASTER_ADDR "${told[0.host]}"
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
}

@test "gridengine: a user's master that is not the first host is node 0 of the rendezvous" {
	launch job -pe mpi 3 <<<"$KEEP
		third=\$(tail -n 1 hostfile | cut -d' ' -f1)
		${OPENMPI[*]} $DISTINIT --master-addr=\$third ${TELL[*]:1} JOB_ID"
	all_have PET_MASTER_ADDR "${told[2.host]}"
	same "PET_NODE_RANK of rank 2" 0 "${told[2.PET_NODE_RANK]}"
	same "PET_NODE_RANK of rank 0" 1 "${told[0.PET_NODE_RANK]}"
	same "PET_NODE_RANK of rank 1" 2 "${told[1.PET_NODE_RANK]}"
}

@test "gridengine: MPICH in a job" {
	launch job -pe mpi 5 <<<"$KEEP; mpiexec.hydra -l ${TELL[*]} JOB_ID"
	agree 5
	is_job
	master_is_rank_0
}

@test "gridengine: the lines of a host in two queues add up" {
	launch job -pe both 7 <<<"$KEEP; ${OPENMPI[*]} ${TELL[*]} JOB_ID; $DISTINIT hosts --count >count"
	agree 7
	is_job
	master_is_rank_0
	same "the number of hosts" 3 "$(cat "$BATS_TEST_TMPDIR/count")"
	(($(wc -l <"$BATS_TEST_TMPDIR/hostfile") > 3)) || fail "no host came twice, so the test shows nothing"
}

@test "gridengine: one of us on each host, by qrsh -inherit and --scope=node" {
	run job -pe mpi 3 <<-END
		$KEEP
		rank=0
		for host in \$(cut -d' ' -f1 hostfile); do
			qrsh -inherit -V \$host $DISTINIT --scope=node ${TELL[*]:1} JOB_ID | sed "s/^/\$rank: /"
			rank=\$((rank + 1))
		done
	END
	same "the exit status" 0 "$status"
	read_told
	same "the number of those who tell" 3 "$ranks"
	is_job
	all_have RANK -
	all_have PET_NNODES 3
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
	tf_config_is_right
}

@test "gridengine: the tasks of an array have ports of their own" {
	run job -t 1-2 -pe fill 3 <<<"${TELL[*]} JOB_ID SGE_TASK_ID"
	same "the exit status" 0 "$status"
	output=$(grep -ho 'host=.*' "$BATS_TEST_TMPDIR"/job.out | sed -E 's/.*SGE_TASK_ID=([0-9]+).*/\1: &/')
	read_told
	same "the number of those who tell" 2 "$ranks"
	for task in 1 2; do
		same "MASTER_PORT of task $task" "$(job_port "${told[$task.JOB_ID]}" "$task")" "${told[$task.MASTER_PORT]}"
	done
}

@test "gridengine: a serial job, and one on a single host, are nobody's" {
	run job <<<"${TELL[*]} PE_HOSTFILE"
	same "the exit status" 0 "$status"
	[[ $output != *"distinit: "* ]] || fail "there is a message"
	unlabelled
	all_have MASTER_ADDR -
	all_have PE_HOSTFILE -
	run job -pe fill 2 <<<"${TELL[*]} NHOSTS"
	same "the exit status" 0 "$status"
	[[ $output != *"distinit: "* ]] || fail "there is a message"
	unlabelled
	all_have NHOSTS 1
	all_have MASTER_ADDR -
}

@test "gridengine: a file that is not there is refused, and a copy of it helps" {
	run job -pe mpi 3 <<<"PE_HOSTFILE=/nowhere ${TELL[*]}"
	same "the exit status" 125 "$status"
	[[ $output == *"distinit: error: PE_HOSTFILE '/nowhere' cannot be read"*"--hostfile"* ]] || fail "it does not say why"

	launch job -pe mpi 5 <<-END
		$KEEP
		export PE_HOSTFILE=/nowhere
		cut -d' ' -f1,2 hostfile | tr ' ' : >machines
		mpiexec.hydra -l -rmk user -bootstrap sge -f machines $DISTINIT --hostfile=hostfile ${TELL[*]:1}
	END
	agree 5
	master_is_rank_0
}

@test "gridengine: qrsh -inherit without -V hands no file over, and --scope=node says what that means" {
	run job -pe mpi 3 <<-END
		host=\$(tail -n 1 \$PE_HOSTFILE | cut -d' ' -f1)
		qrsh -inherit \$host $DISTINIT --scope=node ${TELL[*]:1} PE_HOSTFILE
	END
	same "the exit status" 0 "$status"
	[[ $output == *"distinit: warning: --scope=node, but no cluster manager is recognised here"* ]] ||
		fail "there is no warning"
	unlabelled
	all_have PE_HOSTFILE -
	all_have MASTER_ADDR -
}

# --- last -------------------------------------------------------------------------------------------

@test "gridengine: nothing of the cluster is left running" {
	"$PROGRAMS/gridengine-cluster" down "$CLUSTER"
	same "what is left" "" "$(remains)"
}
