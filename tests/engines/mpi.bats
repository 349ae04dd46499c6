#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Under real Open MPI and MPICH: over two machines without a manager, and in jobs of a real Slurm.
#
# shellcheck disable=SC2154 # told: by read_told() of helpers.bash

load helpers

setup_file() {
	NO_MPI=$(missing mpirun.openmpi mpiexec.hydra)
	export NO_MPI
	cluster_up
}

teardown_file() {
	cluster_down
}

setup() {
	[[ -z $NO_MPI ]] || skip "$NO_MPI"
}

teardown() {
	cluster_clean
}

openmpi_words
HYDRA=(mpiexec.hydra -l -iface lo)

# on_main1 COMMAND...: the machine on which mpirun runs; the other one is sub1. Their names have no addresses:
# if sub1's were this machine's, Open MPI would take it for main1.
on_main1() {
	timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME="${HOME:-/root}" LC_ALL=C.UTF-8 \
		"$PROGRAMS/virtual-node" main1 -- "$@"
}

openmpi() {
	on_main1 "${OPENMPI[@]}" "${BY_SSH[@]}" "$@"
}

hydra() {
	on_main1 "${HYDRA[@]}" -launcher ssh -launcher-exec "$PROGRAMS/virtual-node" "$@"
}

in_slurm() {
	cluster_ready
}

# Without a list of hosts no rank knows where rank 0 is: nothing is guessed, and it is said.
no_hosts() {
	all_have MASTER_ADDR -
	all_have TF_CONFIG -
	all_have PET_NNODES -
	[[ $output == *"distinit: warning: "*"MASTER_ADDR is left out"* ]] || fail "there is no warning"
}

# --- Open MPI ---------------------------------------------------------------------------------------

@test "mpi: Open MPI, four ranks on one machine, meet at 127.0.0.1" {
	launch openmpi --host main1:4 -np 4 "${TELL[@]}"
	agree 4
	hosts_are main1 main1 main1 main1
	all_have MASTER_ADDR 127.0.0.1
	[[ $output != *"distinit: "* ]] || fail "there is a message"
}

@test "mpi: Open MPI, all ranks on another machine than mpirun" {
	launch openmpi --host sub1:2 -np 2 "${TELL[@]}"
	agree 2
	hosts_are sub1 sub1
	all_have MASTER_ADDR 127.0.0.1
}

@test "mpi: Open MPI, two machines: by slot, by node, uneven" {
	launch openmpi --host main1:2,sub1:2 -np 4 "${TELL[@]}"
	agree 4
	hosts_are main1 main1 sub1 sub1
	no_hosts

	launch openmpi --host main1:2,sub1:2 -np 4 --map-by node "${TELL[@]}"
	agree 4
	hosts_are main1 sub1 main1 sub1
	no_hosts

	launch openmpi --host main1:1,sub1:3 -np 4 "${TELL[@]}"
	agree 4
	hosts_are main1 sub1 sub1 sub1
	no_hosts
}

@test "mpi: Open MPI, two machines: MASTER_ADDR from --master-addr or --hosts" {
	launch openmpi --host main1:2,sub1:2 -np 4 "$DISTINIT" --master-addr=main1 --master-port=23456 "${TELL[@]:1}"
	agree 4
	master_is_rank_0
	all_have MASTER_PORT 23456

	launch openmpi --host main1:2,sub1:2 -np 4 "$DISTINIT" --hosts=main1,sub1 "${TELL[@]:1}"
	agree 4
	master_is_rank_0
	all_have TF_CONFIG -
}

# host_file LINE...: its path in $file.
host_file() {
	file=$BATS_TEST_TMPDIR/hosts
	printf '%s\n' "$@" >"$file"
}

@test "mpi: Open MPI, two machines: the host file that mpirun reads is read by each rank" {
	host_file "# by hand" "main1 slots=2 max-slots=4" "" "sub1 slots=3"
	launch openmpi --hostfile "$file" -np 5 "$DISTINIT" --hostfile="$file" "${TELL[@]:1}"
	agree 5
	hosts_are main1 main1 sub1 sub1 sub1
	master_is_rank_0
	[[ $output != *"distinit: "* ]] || fail "there is a message"

	# A name for each slot, not next to each other.
	host_file main1 sub1 main1
	launch openmpi --hostfile "$file" -np 3 "$DISTINIT" --hostfile="$file" "${TELL[@]:1}"
	agree 3
	master_is_rank_0

	# One rank on each: torchrun's nodes.
	host_file "main1 slots=1" "sub1 slots=1"
	launch openmpi --hostfile "$file" -np 2 "$DISTINIT" --hostfile="$file" "${TELL[@]:1}"
	agree 2
	hosts_are main1 sub1
	all_have PET_NNODES 2
	all_have PET_MASTER_ADDR main1
	same "PET_NODE_RANK of 1" 1 "${told[1.PET_NODE_RANK]}"
}

@test "mpi: Open MPI, a host file whose first host runs nothing: rank 0 says so" {
	host_file "main1 slots=2" "sub1 slots=2"
	launch openmpi --host sub1:2,main1:1 --map-by slot -np 3 "$DISTINIT" --hostfile="$file" "${TELL[@]:1}"
	agree 3
	[[ ${told[0.host]} == main1 || $output == *"distinit: warning: rank 0 runs on 'sub1'"* ]] || fail "it does not say so"
}

@test "mpi: Open MPI, one of us on each machine by --scope=node, which several ranks contradict" {
	host_file "main1 slots=2" "sub1 slots=2"
	launch openmpi --hostfile "$file" --map-by ppr:1:node -np 2 "$DISTINIT" --scope=node --hostfile="$file" "${TELL[@]:1}"
	same "the number of ranks" 2 "$ranks"
	all_have RANK -
	all_have PET_NPROC_PER_NODE 2
	for ((i = 0; i < 2; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
	run openmpi --hostfile "$file" -np 4 "$DISTINIT" --scope=node --hostfile="$file" "${TELL[@]:1}"
	same "the exit status" 125 "$status"
	[[ $output == *"distinit: error: --scope=node, but openmpi started 2 processes on this node"* ]] || fail "it does not say why"
}

@test "mpi: Open MPI in a batch script: ranks from MPI, hosts from the job" {
	in_slurm
	launch batch --nodes=2 --ntasks-per-node=2 <<<"${OPENMPI[*]} ${TELL[*]} SLURM_PROCID SLURM_JOB_ID"
	agree 4
	hosts_are n1 n1 n2 n2
	master_is_rank_0
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
	# What would mislead: Slurm's rank is that of mpirun's daemons.
	[[ ${told[3.SLURM_PROCID]} != 3 ]] || fail "Slurm knows the rank here, so the test shows nothing"

	launch batch --nodes=2 --ntasks-per-node=2 <<<"${OPENMPI[*]} --map-by node ${TELL[*]}"
	agree 4
	hosts_are n1 n2 n1 n2
	master_is_rank_0
}

@test "mpi: Open MPI from a shell of salloc, on a machine that is not of the job" {
	in_slurm
	launch login salloc --quiet --nodes=2 --ntasks-per-node=2 "${OPENMPI[@]}" "${TELL[@]}"
	agree 4
	hosts_are n1 n1 n2 n2
	master_is_rank_0
}

@test "mpi: Open MPI on one node of a job that is not its first" {
	in_slurm
	launch login salloc --quiet --nodes=2 --ntasks-per-node=2 "${OPENMPI[@]}" --host n2:2 "${TELL[@]}"
	agree 2
	hosts_are n2 n2
	[[ ${told[0.MASTER_ADDR]} == 127.0.0.1 ]] || master_is_rank_0
}

@test "mpi: Open MPI, distinit around mpirun and again in each rank" {
	in_slurm
	launch batch --nodes=2 --ntasks-per-node=2 <<<"$DISTINIT -- ${OPENMPI[*]} ${TELL[*]}"
	agree 4
	hosts_are n1 n1 n2 n2
	master_is_rank_0
}

# --- MPICH ------------------------------------------------------------------------------------------

@test "mpi: MPICH, four ranks on one machine, meet at 127.0.0.1" {
	launch hydra -hosts main1 -n 4 "${TELL[@]}"
	agree 4
	hosts_are main1 main1 main1 main1
	all_have MASTER_ADDR 127.0.0.1
	[[ $output != *"distinit: "* ]] || fail "there is a message"
}

@test "mpi: MPICH, two machines: by slot, by node, uneven" {
	launch hydra -hosts main1,sub1 -ppn 2 -n 4 "${TELL[@]}"
	agree 4
	hosts_are main1 main1 sub1 sub1
	no_hosts

	launch hydra -hosts main1,sub1 -ppn 1 -n 4 "${TELL[@]}"
	agree 4
	hosts_are main1 sub1 main1 sub1
	no_hosts

	launch hydra -hosts main1:1,sub1:3 -n 4 "${TELL[@]}"
	agree 4
	hosts_are main1 sub1 sub1 sub1
	no_hosts
}

@test "mpi: MPICH, two machines: MASTER_ADDR from --master-addr or --hosts" {
	launch hydra -hosts main1,sub1 -ppn 2 -n 4 "$DISTINIT" --master-addr=main1 --master-port=23456 "${TELL[@]:1}"
	agree 4
	master_is_rank_0
	all_have MASTER_PORT 23456

	launch hydra -hosts main1,sub1 -ppn 2 -n 4 "$DISTINIT" --hosts=main1,sub1 "${TELL[@]:1}"
	agree 4
	master_is_rank_0
}

@test "mpi: MPICH, two machines: the machine file that mpiexec reads is read by each rank" {
	host_file main1:2 sub1:3
	launch hydra -f "$file" -n 5 "$DISTINIT" --hostfile="$file" "${TELL[@]:1}"
	agree 5
	hosts_are main1 main1 sub1 sub1 sub1
	master_is_rank_0
	[[ $output != *"distinit: "* ]] || fail "there is a message"
}

@test "mpi: MPICH, without its own variables: plain PMI tells no rank on the node" {
	launch hydra -hosts main1,sub1 -ppn 2 -n 4 env -u MPI_LOCALRANKID -u MPI_LOCALNRANKS "$DISTINIT" \
		--master-addr=main1 "${TELL[@]:1}"
	same "the number of ranks" 4 "$ranks"
	for ((i = 0; i < 4; i++)); do
		same "RANK of $i" "$i" "${told[$i.RANK]}"
	done
	all_have WORLD_SIZE 4
	all_have LOCAL_RANK -
	all_have LOCAL_WORLD_SIZE -
	all_have MASTER_ADDR main1
}

@test "mpi: MPICH in a batch script: ranks from MPI, hosts from the job" {
	in_slurm
	launch batch --nodes=2 --ntasks-per-node=2 <<<"${HYDRA[*]} ${TELL[*]} SLURM_PROCID SLURM_JOB_ID"
	agree 4
	hosts_are n1 n1 n2 n2
	master_is_rank_0
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
	[[ ${told[3.SLURM_PROCID]} != 3 ]] || fail "Slurm knows the rank here, so the test shows nothing"
}

# --- last -------------------------------------------------------------------------------------------

@test "mpi: nothing of the cluster is left running" {
	in_slurm
	cluster_down
	same "what is left" "" "$(remains)"
}
