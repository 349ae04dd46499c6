#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit as an engine's own init: podman run --init --init-path, containers.conf, dockerd --init-path. The image knows
# nothing of it. And as the init of an image, beside the real tini.
#
# shellcheck disable=SC2016 # what is quoted is for the shell in a container
# shellcheck disable=SC2153 # podman_up sets ENGINE
# shellcheck disable=SC2030,SC2031,SC2154 # ended() and backendai() of containers.bash set status, output and told

load helpers
load containers

# What a host has installed.
setup_file() {
	INSTALLED=$(mktemp -d /dev/shm/installed.XXXXXX)
	export INSTALLED
	"$DISTINIT" install --as=docker-init "$INSTALLED"
	"$DISTINIT" install --as=tini "$INSTALLED"
	"$DISTINIT" install "$INSTALLED"
	podman_up catatonit tini-static
	[[ -n $NO_PODMAN ]] || {
		cp "$(command -v tini-static)" "$INSTALLED/real"
		made_of localhost/inits "$INSTALLED/tini" "$INSTALLED/real" <<-'CONTAINERFILE'
			FROM localhost/busybox
			COPY tini real /inits/
		CONTAINERFILE
		made_of localhost/inside "$INSTALLED/distinit" <<-'CONTAINERFILE'
			FROM localhost/busybox
			COPY distinit /
			ENTRYPOINT ["/distinit", "--"]
		CONTAINERFILE
	}
	sed "s|/usr/local/bin|$INSTALLED|" "$TREE/examples/engine-init/daemon.json" >"$INSTALLED/daemon.json"
	docker_up --config-file="$INSTALLED/daemon.json"
}

teardown_file() {
	docker_down
	podman_down
	rm -rf "$INSTALLED"
}

setup() {
	backendai 1 main1 sub1
}

# as_podman [OPTION]... -- COMMAND...: run it in an image without distinit, with distinit as podman's init.
as_podman() {
	local -a options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	ended pod run --rm --network none --init --init-path="$INSTALLED/distinit" "${options[@]}" localhost/busybox "${@:2}"
}

with_docker() {
	podman_ready
	docker_ready
	[[ -z $(dock images --quiet localhost/busybox) ]] || return 0
	pod save localhost/busybox | dock load
	pod save localhost/inits | dock load
}

# as_docker [OPTION]... -- COMMAND...: dockerd uses distinit for every container, without --init.
as_docker() {
	local -a options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	ended dock run --rm --network none "${options[@]}" localhost/busybox "${@:2}"
}

readonly SHOW='busybox cat /proc/1/comm; echo "$MASTER_ADDR:$MASTER_PORT $PET_NODE_RANK/$PET_NNODES $TF_CONFIG"'
readonly SHOWN='main1:29500 1/2 {"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}'

# As often as there are children that nobody waits for, but for the zombies of a moment.
readonly ORPHANS='i=0
	while [ $i -lt 20 ]; do (busybox sleep 0.05 &); i=$((i + 1)); done
	while [ $i -lt 300 ]; do
		busybox sleep 0.1
		busybox grep -ls "^State:.[ZS].*" /proc/[0-9]*/status >/dev/null
		[ "$(busybox grep -ls "^State:.Z" /proc/[0-9]*/status | busybox wc -l)" -gt 0 ] || break
		i=$((i + 1))
	done
	busybox grep -s "^State:.Z" /proc/[0-9]*/status
	echo done'

# exits STATUS TEXT: so it ended, and that is all it said.
exits() {
	same "the exit status" "$1" "$status"
	same "what it says" "$2" "$output"
}

# --- podman -----------------------------------------------------------------------------------------

@test "init_path: podman --init-path: any image gets the variables, and distinit is PID 1" {
	podman_ready
	as_podman "${told[@]}" -- sh -c "$SHOW; exit 3"
	exits 3 $'podman-init\n'"$SHOWN"
	as_podman -- /run/podman-init --version
	[[ $output == *'(distinit '* ]] || fail "podman has another init"
}

@test "init_path: podman: in an arbitrary manager too, and DISTINIT_* variables of the cluster are options" {
	podman_ready
	as_podman --env DISTINIT_HOSTS=n1,n2 --env DISTINIT_NODE_RANK=1 --env DISTINIT_FRAMEWORKS=torch --env DISTINIT_ENV='set A=1' \
		-- sh -c 'env | busybox sort | busybox grep -E "^(A|MASTER|PET|DISTINIT)"'
	exits 0 $'DISTINIT_ENV=set A=1\nDISTINIT_FRAMEWORKS=torch\nDISTINIT_HOSTS=n1,n2\nDISTINIT_NODE_RANK=1\nMASTER_ADDR=n1\nMASTER_PORT=29500'
	as_podman --env BACKENDAI_CLUSTER_SIZE=3 --env BACKENDAI_CLUSTER_HOSTS=a,b -- echo ran
	[[ $status -eq 1 && $output == 'distinit: error: '* && $output != *ran* ]] || fail "not refused"
}

@test "init_path: podman: the settings of an image whose ENTRYPOINT is distinit hold there, and once" {
	podman_ready
	local volume=$BATS_TEST_TMPDIR/reports
	mkdir -m 777 "$volume"
	ended pod run --rm --network none --init --init-path="$INSTALLED/distinit" --volume "$volume:/reports" "${told[@]}" \
		--env DISTINIT_USER=1000:1000 --env DISTINIT_ENV='append A[:]=1' --env DISTINIT_REPORT=/reports/report \
		--env DISTINIT_FRAMEWORKS=torch localhost/inside sh -c 'busybox id -u; echo "$A $MASTER_ADDR"; busybox grep Uid /proc/1/status; exit 3'
	exits 3 $'1000\n1 main1\nUid:\t0\t0\t0\t0'
	same "the events of the report" "derived started " "$(grep -o '"event": "[a-z]*"' "$volume/report" | cut -d '"' -f 4 | tr '\n' ' ')"
}

# But that catatonit, as podman's init, leaves TSTP, TTIN and TTOU blocked in the program.
@test "init_path: podman: without a manager nothing differs from podman's own init" {
	podman_ready
	local command mine
	for command in 'busybox env | busybox sort; busybox grep -E "^(Sig(Pnd|Ign|Cgt)|Cap|Uid|Gid|Groups|NoNew)" /proc/self/status; busybox pwd' \
		'exit 77' 'kill -TERM $$' 'busybox cat /proc/$PPID/comm; ls /proc/self/fd 2>/dev/null | busybox wc -l'; do
		as_podman --hostname same -- sh -c "$command"
		mine="$status $output"
		ended pod run --rm --network none --init --hostname same localhost/busybox sh -c "$command"
		same "what '$command' gives" "$status $output" "$mine"
	done
	as_podman -- /nowhere
	mine=$status
	ended pod run --rm --network none --init localhost/busybox /nowhere
	same "the exit status of a command that is not there" "$status" "$mine"
}

@test "init_path: podman: it forwards stop's TERM, and reaps" {
	podman_ready
	local code
	pod run --detach --name stopped --network none --init --init-path="$INSTALLED/distinit" localhost/busybox \
		sh -c 'trap "exit 42" TERM; echo ready; while :; do busybox sleep 0.1; done' >/dev/null
	until_true eval '[[ $(pod logs stopped 2>&1) == *ready* ]]'
	pod stop --time 60 stopped >/dev/null
	code=$(pod inspect stopped --format '{{.State.ExitCode}}')
	pod rm --force stopped >/dev/null
	same "the exit status" 42 "$code"
	as_podman -- sh -c "$ORPHANS"
	exits 0 'done'
}

@test "init_path: containers.conf: init_path holds for every --init" {
	podman_ready
	local conf=$ENGINE/containers.conf
	cp "$conf" "$conf.before"
	sed "s|/usr/local/bin|$INSTALLED|" "$TREE/examples/engine-init/containers.conf" | cat - "$conf.before" | awk '!seen[$0]++' >"$conf"
	ended pod run --rm --network none --init "${told[@]}" localhost/busybox sh -c "$SHOW"
	mv "$conf.before" "$conf"
	exits 0 $'podman-init\n'"$SHOWN"
}

# --- docker -----------------------------------------------------------------------------------------

@test "init_path: dockerd --init-path: any image gets the variables, and distinit is PID 1" {
	with_docker
	as_docker "${told[@]}" -- sh -c "$SHOW; exit 3"
	exits 3 $'docker-init\n'"$SHOWN"
	as_docker -- /sbin/docker-init --version
	[[ $output == *'(distinit '* ]] || fail "Docker has another init"
}

@test "init_path: docker info understands its version" {
	with_docker
	ended dock info
	[[ $output == *'Init Binary: '*docker-init* && $output == *'init version: de40ad0'* ]] || fail "not so"
	[[ $(<"$DAEMON/log") != *'failed to retrieve docker-init version'* && $(<"$DAEMON/log") != *'unknown output format'* ]] ||
		fail "dockerd complains: $(grep init "$DAEMON/log")"
}

@test "init_path: docker: without a manager nothing differs from a container without an init, but PID 1" {
	with_docker
	local command mine
	for command in 'busybox env | busybox sort; busybox grep -E "^(Sig(Pnd|Ign|Cgt)|Cap|Uid|Gid|Groups|NoNew)" /proc/self/status; busybox pwd' \
		'exit 77'; do
		as_docker --hostname same -- sh -c "$command"
		mine="$status $output"
		as_docker --hostname same --init=false -- sh -c "$command"
		same "what '$command' gives" "$status $output" "$mine"
	done
	as_docker -- /nowhere
	same "the exit status of what is not there" 127 "$status"
	as_docker -- /etc/passwd
	same "the exit status of what is no program" 126 "$status"
}

@test "init_path: docker: it forwards stop's TERM, and reaps" {
	with_docker
	local code
	dock run --detach --name stopped --network none localhost/busybox \
		sh -c 'trap "exit 42" TERM; echo ready; while :; do busybox sleep 0.1; done' >/dev/null
	until_true eval '[[ $(dock logs stopped 2>&1) == *ready* ]]'
	dock stop --time 60 stopped >/dev/null
	code=$(dock inspect stopped --format '{{.State.ExitCode}}')
	dock rm stopped >/dev/null
	same "the exit status" 42 "$code"
	as_docker -- sh -c "$ORPHANS"
	exits 0 'done'
}

# --- beside the real tini ---------------------------------------------------------------------------

# The ways in which a container ends at stop --time 3.
readonly -a ENDINGS=(
	'echo ready; exec busybox sleep 1000'
	'trap "exit 42" TERM; echo ready; while :; do busybox sleep 0.1; done'
	'trap "busybox sleep 1; exit 9" TERM; echo ready; while :; do busybox sleep 0.1; done'
	'trap "" TERM; echo ready; while :; do busybox sleep 0.1; done'
	'(trap "" TERM; busybox sleep 1000) & trap "exit 5" TERM; echo ready; while :; do busybox sleep 0.1; done'
)

# begin_WAY INIT SCRIPT: start the container "ends"; stop_WAY: stop it, with 3 s of grace.
begin_pod() {
	pod run --detach --name ends --network none --entrypoint "/inits/$1" localhost/inits -- sh -c "$2"
}

stop_pod() {
	pod stop --time 3 ends
}

# dockerd's own init is not wanted here.
begin_dock() {
	dock run --detach --name ends --network none --init=false --entrypoint "/inits/$1" localhost/inits -- sh -c "$2"
}

stop_dock() {
	dock stop --time 3 ends
}

begin_compose() {
	cat >"$BATS_TEST_TMPDIR/compose.yaml" <<-END
		services:
		  ends:
		    image: localhost/inits
		    container_name: ends
		    entrypoint: ["/inits/$1", "--"]
		    command: ["sh", "-c", $(python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$2")]
	END
	printf '#!/bin/sh\nexec "%s" on "%s" "$@"\n' "$(realpath "$PROGRAMS")/podman-private" "$ENGINE" >"$BATS_TEST_TMPDIR/podman"
	chmod +x "$BATS_TEST_TMPDIR/podman"
	compose up --detach
}

compose() {
	timeout --kill-after=5 "$LIMIT" podman-compose --podman-path "$BATS_TEST_TMPDIR/podman" -f "$BATS_TEST_TMPDIR/compose.yaml" "$@"
}

stop_compose() {
	compose stop --timeout 3
}

begin_kube() {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-END
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": {"restartPolicy": "Never", "containers": [
		  {"name": "ends", "image": "localhost/inits", "command": ["/inits/$1", "--", "sh", "-c",
		   $(python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$2")]}]}}
	END
	pod kube play --network none "$BATS_TEST_TMPDIR/pod.yaml"
}

stop_kube() {
	pod stop --time 3 pod-ends
}

# ending WAY INIT SCRIPT: print the exit status, and write the milliseconds that stop took to $BATS_TEST_TMPDIR/ms.
ending() {
	local way=$1 engine=pod name=ends began
	[[ $way != dock ]] || engine=dock
	[[ $way != kube ]] || name=pod-ends
	"begin_$way" "$2" "$3" >"$BATS_TEST_TMPDIR/said" 2>&1
	until_true eval "[[ \$($engine logs $name 2>&1) == *ready* ]]"
	began=$(date +%s%3N)
	"stop_$way" >>"$BATS_TEST_TMPDIR/said" 2>&1
	echo $(($(date +%s%3N) - began)) >"$BATS_TEST_TMPDIR/ms"
	"$engine" inspect "$name" --format '{{.State.ExitCode}}'
	if [[ $way == kube ]]; then
		pod pod rm --force pod >/dev/null
	else
		"$engine" rm --force "$name" >/dev/null
	fi
}

# least NAME: keep the smaller of $NAME and what ending() measured.
least() {
	local -n kept=$1
	local ms
	ms=$(<"$BATS_TEST_TMPDIR/ms")
	[[ -n $kept ]] && ((kept <= ms)) || kept=$ms
}

# ends_alike WAY SCRIPT...: each gives the same status as with tini, after as long, within 1.5 s. (distinit alone gives
# leftovers 2 s.) Of up to three times the fastest counts, as the machine may be busy.
ends_alike() {
	local way=$1 script code real ours i
	for script in "${@:2}"; do
		real='' ours=''
		for i in 1 2 3; do
			code=$(ending "$way" real "$script")
			least real
			same "the exit status of: $script" "$code" "$(ending "$way" tini "$script")"
			least ours
			((ours - real >= 1500 || real - ours >= 1500)) || break
		done
		echo "# $way, status $code, real $real ms, ours $ours ms ($i): $script" >&3
		((ours - real < 1500 && real - ours < 1500)) || fail "real $real ms, ours $ours ms: $script"
	done
}

@test "init_path: podman stop: as the real tini in an image, with the same status in the same time" {
	podman_ready
	ends_alike pod "${ENDINGS[@]}"
}

@test "init_path: docker stop: as the real tini in an image, with the same status in the same time" {
	with_docker
	ends_alike dock "${ENDINGS[@]}"
}

@test "init_path: Compose: as the real tini in an image, with the same status in the same time" {
	podman_ready
	command -v podman-compose || skip "podman-compose is not installed"
	# podman-compose takes its time.
	ends_alike compose "${ENDINGS[0]}" "${ENDINGS[2]}" "${ENDINGS[4]}"
}

@test "init_path: kube play: as the real tini in an image, with the same status in the same time" {
	podman_ready
	ends_alike kube "${ENDINGS[@]}"
}
