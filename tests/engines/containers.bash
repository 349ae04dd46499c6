# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For tests that run distinit in containers: an engine for each file, with networks of its own (tests/programs/*-private).
# Loaded after helpers.bash.
#
# shellcheck disable=SC2034 # for those who load this

TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# --- podman -----------------------------------------------------------------------------------------

# podman_up [COMMAND]...: for setup_file. What cannot be had, these commands too, is said by each test's skip.
podman_up() {
	NO_PODMAN=$(missing podman runc busybox catatonit iptables ip /usr/lib/podman/netavark /usr/lib/podman/aardvark-dns "$@")
	export NO_PODMAN
	[[ -z $NO_PODMAN ]] || return 0
	ENGINE=$(mktemp -d /dev/shm/podman.XXXXXX)
	export ENGINE
	"$PROGRAMS/podman-private" up "$ENGINE" 3>&-
}

podman_down() {
	[[ -z ${ENGINE-} ]] || "$PROGRAMS/podman-private" down "$ENGINE"
}

# For setup of each test.
podman_ready() {
	[[ -z $NO_PODMAN ]] || skip "$NO_PODMAN"
}

pod() {
	timeout --kill-after=5 "$LIMIT" "$PROGRAMS/podman-private" on "$ENGINE" "$@"
}

# pod_network NAME: a network of containers, with its name server, which somebody keeps: podman 4.3 starts it with the first
# container, and two at once start two, of which one answers nothing.
pod_network() {
	pod network create --internal "$1" 3>&-
	pod run --detach --name "keeps-$1" --network "$1" localhost/busybox busybox sleep 1000000 3>&-
}

# made_of TAG FILE... <<CONTAINERFILE: build an image of these files.
made_of() {
	local tag=$1 context
	shift
	context=$(mktemp -d "$ENGINE/context.XXXXXX")
	cp --recursive "$@" "$context/"
	cat >"$context/Containerfile"
	pod build --quiet --network none --tag "$tag" "$context" 3>&-
	rm -rf "$context"
}

# --- dockerd ----------------------------------------------------------------------------------------

# docker_up [OPTION OF DOCKERD]...: for setup_file.
docker_up() {
	NO_DOCKER=$(missing /usr/sbin/dockerd /usr/bin/docker containerd runc ip)
	export NO_DOCKER
	[[ -z $NO_DOCKER ]] || return 0
	DAEMON=$(mktemp -d /dev/shm/docker.XXXXXX)
	export DAEMON
	"$PROGRAMS/docker-private" up "$DAEMON" "$@" 3>&-
}

docker_down() {
	[[ -z ${DAEMON-} ]] || "$PROGRAMS/docker-private" down "$DAEMON"
}

docker_ready() {
	[[ -z $NO_DOCKER ]] || skip "$NO_DOCKER"
}

dock() {
	timeout --kill-after=5 "$LIMIT" "$PROGRAMS/docker-private" on "$DAEMON" "$@"
}

# --- what containers do -----------------------------------------------------------------------------

# ended COMMAND...: run it; its exit status is in $status, both of its streams in $output. Unlike bats' run it takes 127
# for an answer.
ended() {
	status=0
	output=$("$@" 2>&1) || status=$?
}

# until_true COMMAND...: poll.
until_true() {
	local until=$((SECONDS + LIMIT))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < until)) || fail "not within $LIMIT s: $*"
		sleep 0.1
	done
}

# backendai NODE HOST...: into $told, what Backend.AI tells container NODE of these, as options of an engine.
backendai() {
	local node=$1 hosts variable
	shift
	hosts=$(IFS=, && echo "$*")
	told=()
	for variable in "BACKENDAI_CLUSTER_SIZE=$#" "BACKENDAI_CLUSTER_HOSTS=$hosts" "BACKENDAI_CLUSTER_HOST=${*:node+1:1}" \
		"BACKENDAI_CLUSTER_LOCAL_RANK=$node"; do
		told+=(--env "$variable")
	done
}
