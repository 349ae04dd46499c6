#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The images of docker/, built by podman, and what they are under Docker's own daemon.
#
# No registry is asked. Debian's base image is this Debian, its /usr mounted; Alpine's has a stand-in for apk, which
# hands out headers and libraries by the packages that have them on Alpine.
#
# shellcheck disable=SC2016 # what is quoted is for the shell in a container
# shellcheck disable=SC2030,SC2031,SC2154 # ended() and backendai() of containers.bash set status, output and told

load helpers
load containers

# The first tests build the tree.
export BATS_TEST_TIMEOUT=$((300 * ${PATIENCE:-1}))

setup_file() {
	podman_up
	[[ -n $NO_PODMAN ]] || "$PROGRAMS/podman-private" debian "$ENGINE"
	docker_up
}

teardown_file() {
	docker_down
	podman_down
}

# --- the files --------------------------------------------------------------------------------------

# build_file FILE TAG OPTION...: as docker/README.md says, but for the base image, and for the network, which is not there.
build_file() {
	LIMIT=$((240 * PATIENCE)) ended pod build --network none --volume /usr:/usr:ro --file "$TREE/docker/$1" --tag "localhost/$2" "${@:3}" "$TREE"
	same "the exit status of the build" 0 "$status"
}

# files_of TAG: all that is in an image, and its mode.
files_of() {
	mkdir -p "$BATS_TEST_TMPDIR/image"
	pod save "localhost/$1" | tar -C "$BATS_TEST_TMPDIR/image" -x
	tar --list --verbose --file "$BATS_TEST_TMPDIR/image"/*.tar | awk '{ print $1, $6 }'
}

# carries_distinit TAG ARCHITECTURE: it is one file, for that processor, and the completions; and says what it is.
carries_distinit() {
	same "what is in the image" "drwxr-xr-x completions/
-rw-r--r-- completions/_distinit
-rw-r--r-- completions/distinit.bash
-rw-r--r-- completions/distinit.fish
-rwxr-xr-x distinit
-rwxr-xr-x distinit-core" "$(files_of "$1")"
	ended pod inspect "localhost/$1" --format '{{.Architecture}} {{.Config.User}} {{.Config.Entrypoint}}
{{index .Config.Labels "org.opencontainers.image.title"}} {{index .Config.Labels "org.opencontainers.image.version"}} {{index .Config.Labels "org.opencontainers.image.licenses"}}'
	same "what it says" "$2 65534:65534 [/distinit]
distinit 1.2.3 Apache-2.0" "$output"
	tar --extract --directory "$BATS_TEST_TMPDIR" --file "$BATS_TEST_TMPDIR/image"/*.tar distinit
	tar --extract --directory "$BATS_TEST_TMPDIR" --file "$BATS_TEST_TMPDIR/image"/*.tar completions
	"$TREE/tools/completions" "$BATS_TEST_TMPDIR/own" "$DISTINIT"
	diff -r "$BATS_TEST_TMPDIR/own" "$BATS_TEST_TMPDIR/completions" || fail "other completions than this program's"
	! readelf --program-headers "$BATS_TEST_TMPDIR/distinit" | grep -qE '^ *(INTERP|DYNAMIC) ' || fail "it is not static"
}

@test "docker: Dockerfile.debian makes an image of the program, the one that ./dev build makes" {
	podman_ready
	build_file Dockerfile.debian distinit --build-arg DEBIAN=localhost/debian --build-arg VERSION=1.2.3
	carries_distinit distinit "$(dpkg --print-architecture)"
	cmp "$BATS_TEST_TMPDIR/distinit" "$DISTINIT" || fail "another program than that of ./dev build"
}

@test "docker: Dockerfile.debian makes one for arm64, cross-built" {
	podman_ready
	[[ $(uname -m) == x86_64 ]] || skip "this machine is the other processor"
	[[ -e $TREE/build-arm64/distinit ]] || skip "build-arm64/distinit is not there (./dev build --arch=arm64)"
	# Where ./dev looks for musl of that processor before it asks Debian.
	build_file Dockerfile.debian distinit-arm64 --build-arg DEBIAN=localhost/debian --build-arg VERSION=1.2.3 \
		--platform linux/arm64 --build-arg BUILDPLATFORM=linux/amd64 --volume "$TREE/build-deps/arm64:/root/.cache/distinit:ro"
	carries_distinit distinit-arm64 arm64
	cmp "$BATS_TEST_TMPDIR/distinit" "$TREE/build-arm64/distinit" || fail "another program than that of ./dev build --arch=arm64"
}

@test "docker: README's Dockerfile works in the tree, after ./dev build" {
	podman_ready
	pod image exists docker.io/pytorch/pytorch || pod tag localhost/busybox docker.io/pytorch/pytorch
	LIMIT=$((240 * PATIENCE)) ended pod build --network none --file "$TREE/docker/Dockerfile.example" --tag localhost/readme "$TREE"
	same "the exit status of the build" 0 "$status"
	backendai 1 main1 sub1
	ended pod run --rm --network none "${told[@]}" localhost/readme sh -c 'echo $MASTER_ADDR $PET_NPROC_PER_NODE; ls train.py'
	same "what the second of two says" "main1 auto
train.py" "$output"
	ended pod run --rm --network none --entrypoint /distinit localhost/readme explain
	same "the exit status of explain" 0 "$status"
}

# alpine_stand_in: the image localhost/alpine. "apk add" fails for a name that it does not know; without a package, its
# headers or its library are missing.
alpine_stand_in() {
	local at=$BATS_TEST_TMPDIR/alpine name
	mkdir -p "$at"/{bin,packages/{build-base,meson,pkgconf}/bin,packages/linux-headers/include}
	mkdir -p "$at"/packages/{libcap,cjson,bearssl}-{dev,static}/lib "$at"/packages/{libcap,cjson}-dev/{include,lib/pkgconfig}
	cat >"$at/bin/apk" <<-'END'
		#!/bin/sh
		[ "$1 $2" = "add --no-cache" ] || { echo "apk: not add --no-cache: $*"; exit 1; }
		shift 2
		for name; do
			[ -d "/alpine/packages/$name" ] || { echo "ERROR: unable to select packages: $name (no such package)"; exit 1; }
			cp -r "/alpine/packages/$name/." /alpine/
		done
	END
	printf '#!/bin/sh\nexec musl-gcc -isystem /alpine/include -L/alpine/lib "$@"\n' >"$at/packages/build-base/bin/cc"
	printf '#!/bin/sh\nexec /usr/bin/meson "$@"\n' >"$at/packages/meson/bin/meson"
	printf '#!/bin/sh\nexec /usr/bin/pkg-config "$@"\n' >"$at/packages/pkgconf/bin/pkg-config"
	chmod +x "$at"/bin/* "$at"/packages/*/bin/*
	for name in linux asm-generic "$(gcc -print-multiarch)/asm"; do
		ln -s "/usr/include/$name" "$at/packages/linux-headers/include/${name##*/}"
	done
	cp -r /usr/include/sys/capability.h "$at/packages/libcap-dev/include/"
	mkdir "$at/packages/libcap-dev/include/sys"
	mv "$at/packages/libcap-dev/include/capability.h" "$at/packages/libcap-dev/include/sys/"
	cp -r /usr/include/cjson "$at/packages/cjson-dev/include/"
	cp -r "$TREE"/subprojects/bearssl-*/inc "$at/packages/bearssl-dev/include"
	# Those of musl are in the build folder.
	ar rcs "$at/packages/bearssl-static/lib/libbearssl.a" "$(dirname "$DISTINIT")"/subprojects/bearssl-*/libbearssl.a.p/*.o
	ar rcs "$at/packages/libcap-static/lib/libcap.a" "$(dirname "$DISTINIT")"/subprojects/libcap-*/libcap.a.p/*.o
	ar rcs "$at/packages/cjson-static/lib/libcjson.a" "$(dirname "$DISTINIT")"/subprojects/cJSON-*/lib*cjson.a.p/*.o
	printf 'Name: %s\nDescription: -\nVersion: 2.78\nLibs: -L/alpine/lib -l%s\nCflags: -I/alpine/include\n' \
		libcap cap >"$at/packages/libcap-dev/lib/pkgconfig/libcap.pc"
	printf 'Name: %s\nDescription: -\nVersion: 1.7.19\nLibs: -L/alpine/lib -l%s\nCflags: -I/alpine/include\n' \
		libcjson cjson >"$at/packages/cjson-dev/lib/pkgconfig/libcjson.pc"
	made_of localhost/alpine "$at" <<-'END'
		FROM localhost/debian
		COPY alpine /alpine
		ENV PATH=/alpine/bin:/usr/bin:/bin PKG_CONFIG_LIBDIR=/alpine/lib/pkgconfig
	END
}

@test "docker: Dockerfile.alpine's steps make such an image, with the libraries of Alpine's packages" {
	podman_ready
	alpine_stand_in
	build_file Dockerfile.alpine distinit-alpine --build-arg ALPINE=localhost/alpine --build-arg VERSION=1.2.3
	carries_distinit distinit-alpine "$(dpkg --print-architecture)"
	same "what it says" "$("$DISTINIT" --version)" "$(pod run --rm --network none localhost/distinit-alpine --version)"
}

@test "docker: Dockerfile.alpine without a package that it asks for makes nothing" {
	podman_ready
	[[ -n $(pod images --quiet localhost/alpine) ]] || alpine_stand_in
	local library
	for library in libcap cjson; do
		sed "s/ $library-dev\b//" "$TREE/docker/Dockerfile.alpine" >"$BATS_TEST_TMPDIR/Dockerfile"
		LIMIT=$((240 * PATIENCE)) ended pod build --network none --volume /usr:/usr:ro --file "$BATS_TEST_TMPDIR/Dockerfile" \
			--build-arg ALPINE=localhost/alpine "$TREE"
		[[ $status -ne 0 && $output =~ ERROR:\ Dependency\ .(lib)?$library.\  ]] || fail "it does not miss $library"
	done
}

# with_train: the image localhost/train, of the one that the first test makes.
with_train() {
	podman_ready
	pod image exists localhost/distinit || build_file Dockerfile.debian distinit --build-arg DEBIAN=localhost/debian
	pod image exists localhost/train || made_of localhost/train "$TREE/LICENSE" <<-'END'
		FROM localhost/busybox
		COPY --from=localhost/distinit /distinit /distinit
		COPY --from=localhost/distinit /completions/distinit.bash /usr/share/bash-completion/completions/distinit
		ENTRYPOINT ["/distinit", "--"]
		CMD ["sh", "-c", "echo master ${MASTER_ADDR-none}"]
	END
}

@test "docker: COPY --from=distinit is all that an image needs" {
	with_train
	same "what one container says" "master none" "$(pod run --rm --network none localhost/train)"
	backendai 1 main1 sub1
	same "what the second of two says" "master main1" "$(pod run --rm --network none "${told[@]}" localhost/train)"
	same "what it says of another command" "rank 1" \
		"$(pod run --rm --network none "${told[@]}" localhost/train sh -c 'echo "rank $PET_NODE_RANK"')"
	same "the completion" "complete -F _distinit distinit" \
		"$(pod run --rm --network none localhost/train /bin/busybox tail -n 1 /usr/share/bash-completion/completions/distinit)"
}

# --- under dockerd ----------------------------------------------------------------------------------

# The images, taken over from podman.
with_images() {
	docker_ready
	with_train
	[[ -z $(dock images --quiet localhost/train) ]] || return 0
	pod save localhost/train | dock load
	pod save localhost/distinit | dock load
}

# run_train [OPTION OF DOCKER]... -- COMMAND...
run_train() {
	local -a options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	ended dock run --rm --network none "${options[@]}" localhost/train "${@:2}"
}

# exits STATUS TEXT: so it ended, and that is all it said.
exits() {
	same "the exit status" "$1" "$status"
	same "what it says" "$2" "$output"
}

@test "docker: the workload is PID 1, and its exit status the container's" {
	with_images
	run_train -- sh -c 'echo $$; exit 77'
	exits 77 1
	run_train -- /nowhere
	same "the exit status of what is not there" 127 "$status"
	run_train -- /etc/passwd
	same "the exit status of what is no program" 126 "$status"
	run_train --env DISTINIT_NODE_RANK=one --env DISTINIT_HOSTS=a,b -- true
	same "the exit status of a wrong setting" 125 "$status"
}

@test "docker: behind Docker's own --init nothing is said, and nothing is different" {
	with_images
	run_train --init -- sh -c 'read -r name </proc/1/comm; echo "$name"; exit 3'
	exits 3 docker-init
}

@test "docker: as nobody, without any right, on a read-only root" {
	with_images
	backendai 1 main1 sub1
	run_train --read-only --user 1234:5 --cap-drop ALL --security-opt no-new-privileges "${told[@]}" -- \
		sh -c 'echo "$(busybox id -u) $MASTER_ADDR"'
	exits 0 "1234 main1"
}

@test "docker: the file of 'env --format=docker' is one for --env-file" {
	with_images
	backendai 1 main1 sub1
	dock run --rm --network none "${told[@]}" localhost/distinit env --format=docker >"$BATS_TEST_TMPDIR/env"
	ended dock run --rm --network none --env-file "$BATS_TEST_TMPDIR/env" --entrypoint /bin/sh localhost/train -c \
		'echo "$MASTER_ADDR:$MASTER_PORT $PET_NODE_RANK/$PET_NNODES $TF_CONFIG"'
	exits 0 'main1:29500 1/2 {"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}'
}

@test "docker: two containers on a network meet at the master's name" {
	with_images
	local answer
	dock network create --internal session
	backendai 0 main1 sub1
	# It reads what was sent: whoever ends with something unread resets the connection, and an answer under way is lost.
	dock run --detach --name main1 --network session "${told[@]}" localhost/train \
		sh -c 'while :; do busybox nc -l -p "$MASTER_PORT" -e sh -c "read -r _; echo this is rank $PET_NODE_RANK"; done'
	backendai 1 main1 sub1
	answer=$(dock run --rm --name sub1 --network session "${told[@]}" localhost/train \
		sh -c 'until echo | busybox nc -w 2 "$MASTER_ADDR" "$MASTER_PORT" 2>/dev/null | busybox grep .; do busybox sleep 0.1; done')
	dock rm --force main1
	dock network rm session
	same "what the master answers" "this is rank 0" "$answer"
}

@test "docker: a capability that Docker drops for a user, distinit keeps" {
	with_images
	local tell='echo "$(busybox id -u) $(busybox grep -E "^Cap(Eff|Amb):" /proc/self/status | busybox sort -u -k 2 | busybox wc -l)"; busybox grep ^CapEff: /proc/self/status'
	ended dock run --rm --network none --user app --cap-drop ALL --cap-add IPC_LOCK --entrypoint /bin/sh localhost/train -c "$tell"
	exits 0 $'1000 1\nCapEff:\t0000000000000000'
	ended dock run --rm --network none --cap-drop ALL --cap-add IPC_LOCK --cap-add SETUID --cap-add SETGID --cap-add SETPCAP \
		--entrypoint /distinit localhost/train --user=app --cap-drop=all --cap-keep=ipc_lock -- sh -c "$tell"
	exits 0 $'1000 1\nCapEff:\t0000000000004000'
}

# stopped ARG OF DISTINIT...: the exit status of a container that is stopped once it has said "ready".
stopped() {
	local code
	dock run --detach --name stopped --network none --entrypoint /distinit localhost/train "$@" >/dev/null
	until_true eval '[[ $(dock logs stopped 2>&1) == *ready* ]]'
	dock stop --time 60 stopped >/dev/null
	code=$(dock inspect stopped --format '{{.State.ExitCode}}')
	dock rm stopped >/dev/null
	echo "$code"
}

@test "docker: stop, which a workload without a handler would not hear as PID 1, ends it with --init" {
	with_images
	same "the exit status" 143 "$(stopped --init -- sh -c 'echo ready; exec busybox sleep 1000')"
	same "that of a handler" 42 "$(stopped --init -- sh -c 'trap "exit 42" TERM; echo ready; while :; do busybox sleep 0.1; done')"
	same "that of a handler, without --init" 42 "$(stopped -- sh -c 'trap "exit 42" TERM; echo ready; while :; do busybox sleep 0.1; done')"
}

@test "docker: exec starts beside the ENTRYPOINT, and has the variables with distinit in front" {
	with_images
	backendai 1 main1 sub1
	dock run --detach --name beside --network none "${told[@]}" localhost/train busybox sleep 1000
	ended dock exec beside sh -c 'echo "${MASTER_ADDR-none}"'
	exits 0 none
	ended dock exec beside /distinit -- sh -c 'echo "${MASTER_ADDR-none}"'
	exits 0 main1
	dock rm --force beside
}

@test "docker: --wait waits for the master's port, and gives up in time" {
	with_images
	local pid
	dock network create --internal wait
	backendai 1 main1 sub1
	dock run --rm --name sub1 --network wait "${told[@]}" --env DISTINIT_WAIT=2m localhost/train \
		sh -c 'i=0; until echo | busybox nc -w 5 "$MASTER_ADDR" "$MASTER_PORT" || [ $((i += 1)) -gt 50 ]; do
			busybox sleep 0.1
		done' >"$BATS_TEST_TMPDIR/sub1" 2>&1 3>&- &
	pid=$!
	# The master is not there yet; its name, too. (Each connection, the wait's as well, has an nc of its own, so the
	# workload may meet a closed port; a name that is not there it must not.)
	until_true dock inspect sub1
	backendai 0 main1 sub1
	dock run --detach --name main1 --network wait "${told[@]}" --env DISTINIT_WAIT=2m localhost/train \
		sh -c 'while :; do busybox nc -l -p "$MASTER_PORT" -e busybox echo served; done'
	status=0
	wait "$pid" || status=$?
	dock rm --force main1
	dock network rm wait
	said=$(<"$BATS_TEST_TMPDIR/sub1")
	[[ $status -eq 0 && $said == *served && $said != *'bad address'* ]] || fail "exit status $status, and: $said"

	backendai 1 main1 sub1
	run_train "${told[@]}" --env DISTINIT_WAIT=1s -- echo ran
	[[ $status -eq 124 && $output == *main1* && $output != *ran* ]] || fail "it does not give up"
}
