#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What distinit derives for Backend.AI, as a shell script does it: the peer that it is measured beside.
#
#     backendai.sh COMMAND [ARG]...
#
# MASTER_ADDR, MASTER_PORT and TF_CONFIG, from BACKENDAI_*; what the user has set stays. It starts no
# process but COMMAND, so that the shell is seen at its best.

join_workers() {
	workers='' port=$MASTER_PORT
	set -f
	IFS=,
	for host in $BACKENDAI_CLUSTER_HOSTS; do
		workers="$workers${workers:+,}\"$host:$port\""
		port=$((port + 1))
	done
	unset IFS
	set +f
}

if [ "${BACKENDAI_CLUSTER_SIZE:-1}" -gt 1 ] 2>/dev/null && [ -n "${BACKENDAI_CLUSTER_HOSTS:-}" ]; then
	export MASTER_ADDR="${MASTER_ADDR:-${BACKENDAI_CLUSTER_HOSTS%%,*}}"
	export MASTER_PORT="${MASTER_PORT:-${BACKENDAI_DIST_MASTER_PORT:-29500}}"
	if [ -z "${TF_CONFIG:-}" ]; then
		join_workers
		export TF_CONFIG="{\"cluster\":{\"worker\":[$workers]},\"task\":{\"type\":\"worker\",\"index\":${BACKENDAI_CLUSTER_LOCAL_RANK:-0}}}"
	fi
fi

exec "$@"
