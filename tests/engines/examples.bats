#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The examples that need PyTorch or an engine's own tools: the training image, two nodes by Compose, Backend.AI's
# bootstrap script. Those of Kubernetes are in kube.bats, those of Slurm and Singularity in charliecloud.bats.
#
# shellcheck disable=SC2016 # what is quoted is for the shell in a container
# shellcheck disable=SC2030,SC2031,SC2154 # ended() and backendai() of containers.bash set status, output and told

load helpers
load containers

EXAMPLES=$TREE/examples
# PyTorch is the machine's, mounted. The variables are for Debian's torchrun, which fails without redirections.
TORCH=(--volume /usr:/usr:ro --env PET_REDIRECTS=1 --env PET_TEE=1 --env PET_LOG_DIR=/tmp/torchrun --env OMP_NUM_THREADS=1 --env USE_LIBUV=0)

setup_file() {
	podman_up torchrun
	[[ -z $NO_PODMAN ]] || return 0
	"$PROGRAMS/podman-private" debian "$ENGINE"
	cp "$DISTINIT" "$BATS_FILE_TMPDIR/distinit"
	made_of localhost/distinit "$BATS_FILE_TMPDIR/distinit" <<<$'FROM scratch\nCOPY distinit /distinit'
	pod build --quiet --network none --tag localhost/train --build-arg PYTORCH=localhost/debian \
		--build-arg DISTINIT=localhost/distinit --file "$EXAMPLES/pytorch/Dockerfile" "$EXAMPLES/pytorch" 3>&-
	pod_network session
}

teardown_file() {
	podman_down
}

setup() {
	podman_ready
}

# met NAME...: the ranks of the example's train.py, one in each of these.
met() {
	local rank=0 name
	same "the exit status" 0 "$status"
	for name; do
		[[ $output == *"rank $rank of $# on $name: sum $(($# * ($# - 1) / 2))"* ]] || fail "nothing of rank $rank on $name"
		rank=$((rank + 1))
	done
}

@test "examples: pytorch, alone" {
	torchrun_runs
	ended pod run --rm --network none --hostname laptop "${TORCH[@]}" localhost/train
	met laptop
}

@test "examples: pytorch, in two containers of Backend.AI, as a user without rights on a read-only root" {
	torchrun_runs
	local dir=$BATS_TEST_TMPDIR host rank=1 pid
	local -a pids=()
	for host in sub1 main1; do
		backendai $rank main1 sub1
		pod run --rm --name "$host" --hostname "$host" --network session --read-only --tmpfs /tmp --cap-drop all \
			--security-opt no-new-privileges "${TORCH[@]}" "${told[@]}" localhost/train >"$dir/$host" 2>&1 3>&- &
		pids+=($!)
		rank=0
	done
	status=0
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	output=$(cat "$dir/main1" "$dir/sub1")
	met main1 sub1
}

@test "examples: pytorch, ranks without torchrun" {
	local dir=$BATS_TEST_TMPDIR host rank=1 pid
	local -a pids=()
	for host in b a; do
		pod run --rm --name "$host" --hostname "$host" --network session "${TORCH[@]}" --env DISTINIT_HOSTS=a,b \
			--env DISTINIT_RANKS=always localhost/train python3 train.py >"$dir/$host" 2>&1 3>&- &
		pids+=($!)
	done
	status=0
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	output=$(cat "$dir/a" "$dir/b")
	met a b
}

@test "examples: compose, two services" {
	command -v podman-compose || skip "podman-compose is not installed"
	torchrun_runs
	local dir=$BATS_TEST_TMPDIR
	# What the machine's PyTorch needs, and no more.
	cat >"$dir/torch.yaml" <<-'END'
		services:
		  main1: &torch
		    volumes: ["/usr:/usr:ro"]
		    environment: {PET_REDIRECTS: 1, PET_TEE: 1, PET_LOG_DIR: /tmp/torchrun, OMP_NUM_THREADS: 1}
		  sub1: *torch
	END
	printf '#!/bin/sh\nexec "%s" on "%s" "$@"\n' "$(realpath "$PROGRAMS")/podman-private" "$ENGINE" >"$dir/podman"
	chmod +x "$dir/podman"
	compose() {
		timeout --kill-after=5 "$LIMIT" podman-compose --podman-path "$dir/podman" -f "$EXAMPLES/compose/compose.yaml" -f "$dir/torch.yaml" "$@"
	}
	ended compose up
	met main1 sub1
	compose down
}

@test "examples: compose, a service that comes back: an engine dies with 0, and then a container is lost" {
	command -v podman-compose || skip "podman-compose is not installed"
	local dir=$BATS_TEST_TMPDIR
	# An engine that dies when it is told to by a file.
	sed -e 's|image: train|image: localhost/session|' \
		-e "s|command: .*|command: [sh, -c, 'echo start \$\$DISTINIT_RESTART_COUNT; until [ -e /tmp/die ]; do sleep 0.1; done; rm /tmp/die']|" \
		"$EXAMPLES/compose/service.yaml" >"$dir/service.yaml"
	made_of localhost/session "$BATS_FILE_TMPDIR/distinit" <<-'END'
		FROM localhost/busybox
		COPY distinit /distinit
		ENTRYPOINT ["/distinit", "--"]
	END
	printf '#!/bin/sh\nexec "%s" on "%s" "$@"\n' "$(realpath "$PROGRAMS")/podman-private" "$ENGINE" >"$dir/podman"
	chmod +x "$dir/podman"
	service() {
		timeout --kill-after=5 "$LIMIT" podman-compose --podman-path "$dir/podman" -p service -f "$dir/service.yaml" "$@"
	}
	# both_started N: since they were made.
	both_started() {
		[[ $(pod logs service_main1_1 2>&1) == *"start $1"* && $(pod logs service_sub1_1 2>&1) == *"start $1"* ]]
	}
	service up --detach 3>&-
	until_true both_started 0
	pod exec service_sub1_1 /bin/busybox touch /tmp/die
	until_true both_started 1
	# podman kill would be somebody's wish that it stays away.
	local cgroup
	cgroup=$(pod inspect service_sub1_1 --format '{{.Id}}')
	# shellcheck disable=SC2013 # no path of /proc has a blank
	for cgroup in $(grep -ls "$cgroup" /proc/[0-9]*/cgroup); do
		! grep -qsx distinit "${cgroup%/cgroup}/comm" || kill -KILL "$(cut -d / -f 3 <<<"$cgroup")" || true
	done
	until_true both_started 2
	pod logs service_main1_1 2>&1 | grep -F 'sub1 (rank 1) is lost: its connection has ended; starting again (2)'
	same "how often the other container was started again" 0 "$(pod inspect service_main1_1 --format '{{.RestartCount}}')"
	# podman 4.3 starts a container again that ends while another one of them is being stopped.
	pod rm --all --force --time 0 >/dev/null
}

@test "examples: systemd, a unit" {
	command -v systemd-analyze || skip "systemd-analyze is not installed"
	sed -e "s|/usr/local/bin/distinit|$DISTINIT|" -e "s|^User=.*||; s|^EnvironmentFile=.*||" "$EXAMPLES/systemd/train.service" >"$BATS_TEST_TMPDIR/train.service"
	run systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/train.service"
	same "the exit status" 0 "$status"
	[[ $output != *train.service:* ]] || fail "systemd complains"
	# distinit takes its words.
	local words
	words=$(sed -n 's/^ExecStart=//p' "$BATS_TEST_TMPDIR/train.service")
	# shellcheck disable=SC2086 # they are words
	run env DISTINIT_HOSTS=node1 DISTINIT_NODE_RANK=0 ${words%% -- *} -- sh -c 'echo "start $DISTINIT_RESTART_COUNT"'
	same "what the program has" "start 0" "$output"
}

@test "examples: backendai, the bootstrap script" {
	made_of localhost/session "$BATS_FILE_TMPDIR/distinit" "$EXAMPLES/backendai/bootstrap.sh" <<-'END'
		FROM localhost/busybox
		COPY distinit /distinit
		COPY bootstrap.sh /bootstrap.sh
		RUN ["/bin/busybox", "mkdir", "-p", "/home/work"]
		RUN ["/bin/busybox", "--install", "/bin"]
		ENV HOME=/home/work
	END
	backendai 1 main1 sub1
	ended pod run --rm --network none "${told[@]}" localhost/session sh -c \
		'sh /bootstrap.sh && sh /bootstrap.sh && sh -lc "echo \$MASTER_ADDR \$PET_NODE_RANK/\$PET_NNODES; sh -c \"echo \\\$TF_CONFIG\""; grep -c distinit ~/.profile'
	same "what a login shell has" 'main1 1/2
{"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}
1' "$output"
}

@test "examples: backendai, a mistake in the variables does not keep a session from starting" {
	ended pod run --rm --network none --env BACKENDAI_CLUSTER_SIZE=2 localhost/session sh -c 'exec 2>&1; sh /bootstrap.sh; echo "$?"; ls -a ~'
	[[ $output == *"distinit: error: "*BACKENDAI_CLUSTER_HOSTS*$'\n0\n'* && $output != *.profile* ]] || fail "it does not say so, or does not end well"
}

@test "examples: each file is told of in the README" {
	local file
	cd "$EXAMPLES"
	while read -r file; do
		[[ $(<README.md) == *"($file)"* || $(<README.md) == *"(${file%%/*}/README.md)"* ]] || fail "not $file"
	done < <(find . -type f -not -name README.md -printf '%P\n')
}
