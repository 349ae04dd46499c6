# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What each node of a cluster does (inside, far), in mount and network namespaces of its own. DIR is the cluster's folder.

CONTROL=10.77.0.1 # the address of the node that has the control plane, and the name server
export PATH=$DIR/bin:$PATH HOME=$DIR KUBECONFIG=$DIR/kubeconfig

# part LOG COMMAND...: start it, with a log.
part() {
	local log=$1
	shift
	"$@" >"$DIR/log/$log" 2>&1 </dev/null &
}

own_folders() {
	local folder
	for folder in /run /var/lib /var/log; do
		mount -t tmpfs -o mode=0755 cluster "$folder"
	done
	# containerd and the kubelet pass mounts on to containers.
	mount --make-rshared /
	mkdir -p /run/{lock,cni} /var/lib/{etcd,kubelet,containerd,cni}
}

# use_network LINK ADDRESS GATEWAY: this node's own.
use_network() {
	ip link set lo up
	ip address add "$2/24" dev "$1"
	ip link set "$1" up
	ip route add default via "$3" dev "$1"
	# A kubelet looks for a cloud's metadata there.
	ip route add unreachable 169.254.0.0/16
	echo 1 >/proc/sys/net/ipv4/ip_forward
}

# start_containerd LOG PODS: its pods have addresses in PODS.
start_containerd() {
	cat >/run/cni/bridge.conflist <<-END
		{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
		 "ipam": {"type": "host-local", "ranges": [[{"subnet": "$2"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
	END
	part "$1" containerd --config="$DIR/containerd.toml"
}

# make_group GROUP: its cgroup, below /sys/fs/cgroup.
make_group() {
	local controller file
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		mkdir "/sys/fs/cgroup/$1"
		return
	fi
	for controller in /sys/fs/cgroup/*/; do
		mountpoint --quiet "$controller" || continue
		mkdir -p "$controller/$1"
	done
	for file in cpuset.cpus cpuset.mems; do
		cat "/sys/fs/cgroup/cpuset/$file" >"/sys/fs/cgroup/cpuset/$1/$file"
	done
}

# start_kubelet LOG NAME ADDRESS GROUP [OPTION]...
start_kubelet() {
	part "$1" kubelet --kubeconfig="$KUBECONFIG" --hostname-override="$2" --node-ip="$3" --cgroup-root="/$4" "${@:5}" \
		--cert-dir=/run/kubelet --container-runtime=remote --container-runtime-endpoint=unix:///run/containerd/containerd.sock \
		--cgroup-driver=cgroupfs --enforce-node-allocatable='' --fail-swap-on=false --eviction-hard='' \
		--cluster-dns="$CONTROL" --cluster-domain=cluster.local --resolv-conf="$DIR/resolv.conf" --authorization-mode=AlwaysAllow \
		--image-gc-high-threshold=100 --node-status-update-frequency=1s --serialize-image-pulls=false \
		--kube-api-qps=200 --kube-api-burst=400 --event-qps=0
}

# reap: for ever.
reap() {
	while :; do
		sleep 1000 &
		wait || true
	done
}
