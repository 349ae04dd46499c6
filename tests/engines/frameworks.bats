#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Real programs by what distinit makes for them on request: mpirun and mpiexec by its host file, XGBoost's workers by
# DMLC_*. The machines are virtual ones.
#
# shellcheck disable=SC2154 # told: by read_told() of helpers.bash
# shellcheck disable=SC2054 # the commas are the programs'

load helpers

setup() {
	[[ -z $(missing) ]] || skip "$(missing)"
	FILE=$BATS_TEST_TMPDIR/hosts
}

requires_program() {
	[[ -z $(missing "$1") ]] || skip "$(missing "$1")"
}

# on_main1 VAR=VALUE... COMMAND...: on the first of two machines of a session of Backend.AI.
on_main1() {
	timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME="${HOME:-/root}" LC_ALL=C.UTF-8 \
		BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=sub1,main1 BACKENDAI_CLUSTER_HOST=main1 \
		BACKENDAI_CLUSTER_LOCAL_RANK=0 "$PROGRAMS/virtual-node" main1 -- env "$@"
}

# What mpirun's ranks tell where the session's variables, which mpirun does not pass on, are not.
HOSTFILE=("$DISTINIT" --frameworks=mpi)

@test "frameworks: Open MPI starts its ranks where the host file says" {
	requires_program mpirun.openmpi
	openmpi_words
	launch on_main1 PET_NPROC_PER_NODE=2 "${HOSTFILE[@]}" --hostfile-output="$FILE" -- \
		"${OPENMPI[@]}" "${BY_SSH[@]}" "${TELL[@]}"
	same "the host file" $'main1 slots=2\nsub1 slots=2' "$(<"$FILE")"
	# No -np: as many ranks as there are slots.
	same "the number of ranks" 4 "$ranks"
	hosts_are main1 main1 sub1 sub1
}

@test "frameworks: Open MPI goes by the nodes alone where nobody counts slots" {
	requires_program mpirun.openmpi
	openmpi_words
	launch on_main1 "${HOSTFILE[@]}" --hostfile-output="$FILE" -- \
		"${OPENMPI[@]}" "${BY_SSH[@]}" -np 2 --map-by node "${TELL[@]}"
	same "the number of ranks" 2 "$ranks"
	hosts_are main1 sub1
}

@test "frameworks: MPICH starts its ranks where the host file says" {
	requires_program mpiexec.hydra
	launch on_main1 PET_NPROC_PER_NODE=2 "$DISTINIT" --frameworks=mpich --hostfile-output="$FILE" -- \
		mpiexec.hydra -l -iface lo -launcher ssh -launcher-exec "$PROGRAMS/virtual-node" -n 4 "${TELL[@]}"
	same "the host file" $'main1:2\nsub1:2' "$(<"$FILE")"
	same "the number of ranks" 4 "$ranks"
	hosts_are main1 main1 sub1 sub1
}

@test "frameworks: XGBoost's workers meet at the tracker" {
	local why
	why=$("$PYTHON" -c 'import importlib.util as u; u.find_spec("xgboost") or print("python3-xgboost is not installed")' 2>&1)
	[[ -z $why ]] || skip "$why"
	printf '%s\n' '127.0.0.1 localhost main1' '127.0.0.2 sub1' >"$BATS_TEST_TMPDIR/etc-hosts"
	local port
	port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	worker() {
		timeout --kill-after=5 "$LIMIT" env -i PATH="$PATH" HOME="${HOME:-/root}" OMP_NUM_THREADS=1 \
			VIRTUAL_HOSTS="$BATS_TEST_TMPDIR/etc-hosts" BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=sub1,main1 \
			BACKENDAI_CLUSTER_HOST="$1" BACKENDAI_CLUSTER_LOCAL_RANK="$2" BACKENDAI_DIST_MASTER_PORT="$port" \
			"$PROGRAMS/virtual-node" "$1" -- "$DISTINIT" --frameworks=xgboost -- \
			"$PYTHON" "$PROGRAMS/xgboost_sum.py"
	}
	both() {
		worker sub1 1 &
		worker main1 0
		local first=$?
		wait $! && return "$first"
	}
	run both
	same "the exit status" 0 "$status"
	for line in "worker 0 of 2, task 0 on main1: sum 3, first on main1" \
		"worker 1 of 2, task 1 on sub1: sum 3, first on main1"; do
		[[ $(grep -cF "$line" <<<"$output") -eq 1 ]] || fail "nobody says: $line"
	done
}
