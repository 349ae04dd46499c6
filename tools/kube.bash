# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev kube: a real Kubernetes on this machine, and the tests in it.

readonly PKGS_KUBE="bats etcd-server containerd runc containernetworking-plugins iptables conntrack iproute2 util-linux openssl python3 python3-yaml gcc libc6-dev busybox-static procps"
readonly KUBE_PROGRAMS=$DEPS/kubernetes-1.20.2

# kube_build: compile Kubernetes, once.
kube_build() {
	local archive
	[[ ! -x $KUBE_PROGRAMS/kube-all || ! -x $KUBE_PROGRAMS/kubectl ]] || return 0
	need "dpkg-dev xz-utils"
	archive=$(debian_archives | cut -d ' ' -f 1 | grep -v security | head -n 1)
	say "compiling Kubernetes, once: ten minutes of a processor, or more (see $LOGS/kubernetes.log)"
	step kubernetes "Is the network up? Do /etc/apt's sources name Debian?" \
		nice -n 15 tests/kubernetes/cluster/build "$KUBE_PROGRAMS" "$archive"
}

# kube_down: end the cluster, whatever happened.
kube_down() {
	tests/kubernetes/cluster/cluster down "$KUBE"
}

# word_kube [TEST]...: all of tests/kubernetes/*.bats, or these.
word_kube() {
	local -a tests=(--suite=kubernetes)
	(($# == 0)) || tests=("${@/#/kube_}")
	[[ $EUID -eq 0 ]] || die "kube: only root can make the namespaces of a cluster"
	need "$PKGS_TEST $PKGS_KUBE"
	build_static
	kube_build
	KUBE=$(mktemp -d /dev/shm/kube.XXXXXX)
	export KUBE
	trap kube_down EXIT
	trap 'exit 143' TERM
	trap 'exit 130' INT
	trap 'exit 129' HUP
	say "starting Kubernetes in $KUBE"
	step cluster "To see what its parts say: tests/kubernetes/cluster/cluster up DIR $KUBE_PROGRAMS; then DIR/log" \
		tests/kubernetes/cluster/cluster up "$KUBE" "$KUBE_PROGRAMS"
	step images "" tests/kubernetes/cluster/images "$KUBE" build/distinit
	run_tests build "${tests[@]}"
	python3 tools/tally.py --strict=kubernetes build
}
