#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit check: what variables say of the network, against the devices of this node.

# shellcheck disable=SC2054 # the commas belong to the values
# shellcheck disable=SC2030,SC2031,SC2154 # invoke sets status, output and stderr, and a test is a subshell

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# A machine of its own: what is not in here, it does not have.
	mkdir -p root/dev root/proc/self root/sys/class/net
}

teardown() {
	[[ -z ${NETNS-} ]] || ip netns delete "$NETNS"
	remove_open_folder
}

# interface NAME [FLAGS]
interface() {
	mkdir -p "root/sys/class/net/$1"
	echo "${2-0x1003}" >"root/sys/class/net/$1/flags"
}

# port HCA PORT STATE LAYER [INDEX:GID[,TYPE[,INTERFACE]]]...: an empty GID has neither, others are of RoCE v2 and eth0
port() {
	local folder=root/sys/class/infiniband/$1/ports/$2 gid index type interface
	mkdir -p "$folder/gids" "$folder/gid_attrs/types" "$folder/gid_attrs/ndevs"
	echo "$3" >"$folder/state"
	echo "$4" >"$folder/link_layer"
	echo "$([[ $4 == Ethernet ]] && echo 100 || echo 400) Gb/sec" >"$folder/rate"
	mkdir -p "root/sys/class/infiniband/$1/device/infiniband_verbs/uverbs0"
	for gid in "${@:5}"; do
		index=${gid%%:*}
		IFS=, read -r gid type interface <<<"${gid#*:}"
		echo "$gid" >"$folder/gids/$index"
		[[ $gid =~ ^[0:]*$ ]] && continue
		echo "${type:-RoCE v2}" >"$folder/gid_attrs/types/$index"
		echo "${interface:-eth0}" >"$folder/gid_attrs/ndevs/$index"
	done
}

# A DGX, as its sysfs is: 8 HCAs for training, of which one is down, and two for storage, over Ethernet.
dgx() {
	local i
	for i in 0 1 2 3 4 5 6 7; do
		port "mlx5_$i" 1 '4: ACTIVE' InfiniBand 0:fe80:0000:0000:0000:b859:9f03:00d6:8c0a
	done
	port mlx5_3 1 '1: DOWN' InfiniBand 0:fe80:0000:0000:0000:b859:9f03:00d6:8c0a
	port mlx5_10 1 '4: ACTIVE' Ethernet 0:fe80:0000:0000:0000:ba59:9fff:fed6:8c0b 1:0000:0000:0000:0000:0000:0000:0000:0000 \
		2:0000:0000:0000:0000:0000:0000:0000:0000 3:0000:0000:0000:0000:0000:ffff:0a00:0001
	port mlx5_11 1 '4: ACTIVE' Ethernet 0:fe80:0000:0000:0000:ba59:9fff:fed6:8c0c,,net1 3:0000:0000:0000:0000:0000:0000:0000:0000
	mkdir -p root/dev/infiniband
	touch root/dev/infiniband/uverbs{0,1,2,3,4,5,6,7,8,9}
	interface eth0
	interface ib0
	interface docker0 0x1002
}

# finds [TEXT]...: these are all findings and hints on the network, in this order.
finds() {
	local expected=''
	(($# == 0)) || expected=$(printf '%s\n' "$@")
	[[ $(grep -E '^(finding|hint): ' <<<"$output" | grep -v -e ' memlock_kib ' -e 'finding: name ') == "$expected" && -z $stderr ]]
}

@test "network: NCCL_SOCKET_IFNAME has prefixes, whole names behind '=', and '^' for all but these" {
	dgx
	for good in eth eth0 =eth0 eth,nosuch =nosuch,ib0 ^lo,docker ^=lo; do
		check NCCL_SOCKET_IFNAME="$good" --
		finds
	done
	check NCCL_SOCKET_IFNAME= --
	finds
	check NCCL_SOCKET_IFNAME=nosuch --
	[ "$status" -eq 1 ]
	finds "finding: NCCL_SOCKET_IFNAME='nosuch' chooses none of this node's interfaces: NCCL ends with an error; there is: docker0 eth0 ib0"
	check NCCL_SOCKET_IFNAME==eth --
	finds "finding: NCCL_SOCKET_IFNAME='=eth' chooses none of this node's interfaces: NCCL ends with an error; there is: docker0 eth0 ib0"
	check NCCL_SOCKET_IFNAME=^eth,ib,docker --
	[[ $output == *"NCCL_SOCKET_IFNAME='^eth,ib,docker' chooses none of this node's interfaces"* ]]
	check NCCL_SOCKET_IFNAME=docker --
	finds "finding: NCCL_SOCKET_IFNAME='docker' chooses docker0, which is down: NCCL ends with an error; there is: docker0 eth0 ib0"
}

@test "network: GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME and MORI_SOCKET_IFNAME have whole names, and NCCL's syntax is an error" {
	dgx
	for variable in GLOO_SOCKET_IFNAME TP_SOCKET_IFNAME MORI_SOCKET_IFNAME; do
		check $variable=eth0 --
		finds
		check $variable=eth --
		[ "$status" -eq 1 ]
		[[ $output == *"finding: $variable='eth' chooses none of this node's interfaces: "* ]]
		check $variable=^lo,docker --
		finds "finding: $variable='^lo,docker': '^' is NCCL's syntax; here names are whole: eth0,eth1"
		check $variable==eth0 --
		finds "finding: $variable='=eth0': '=' is NCCL's syntax; here names are whole: eth0,eth1"
		check $variable=eth0,eth1 --
		[[ $output == *"finding: $variable='eth0,eth1' names 'eth1', which is not here: "*'; there is: docker0 eth0 ib0'* ]]
	done
}

@test "network: UCX_NET_DEVICES has interfaces, and ports of HCAs" {
	dgx
	for good in mlx5_0:1 mlx5_0:1,eth0 all ^mlx5_0:1 'mlx5_[0-1]:1' 'eth0,mlx5_[0-2]'; do
		check UCX_NET_DEVICES="$good" --
		finds
	done
	check UCX_NET_DEVICES=mlx5_0:2 --
	[ "$status" -eq 1 ]
	[[ $output == *"UCX_NET_DEVICES='mlx5_0:2' chooses none of this node's interfaces and HCAs: "* ]]
}

@test "network: NCCL_IB_HCA has prefixes with ports" {
	dgx
	for good in mlx5_0 =mlx5_0:1,mlx5_1:1 ^mlx5_10,mlx5_11 mlx5_1,mlx5_10,mlx5_11 =mlx5_1:1 ^=mlx5_1; do
		check NCCL_IB_HCA=$good --
		finds
	done
	check NCCL_IB_HCA=mlx5_9 --
	[ "$status" -eq 1 ]
	finds "finding: NCCL_IB_HCA='mlx5_9' chooses none of this node's HCAs: NCCL will use TCP; there is: mlx5_0 mlx5_1 mlx5_10 mlx5_11 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7"
	check NCCL_IB_HCA==mlx5_0:2 --
	[ "$status" -eq 1 ]
	check NCCL_IB_HCA==mlx5_3 --
	[ "$status" -eq 1 ]
	[[ $output == *"NCCL_IB_HCA='=mlx5_3' chooses mlx5_3:1, which is in state 1: DOWN: NCCL will use TCP"* ]]
	check NCCL_IB_HCA==mlx5_2,mlx5_3 --
	[ "$status" -eq 0 ]
	finds "hint: NCCL_IB_HCA='=mlx5_2,mlx5_3': mlx5_3:1 is in state 1: DOWN"
	check NCCL_IB_HCA=mlx5_9 NCCL_IB_DISABLE=1 --
	finds
}

@test "network: a name of NCCL_IB_HCA that is also the beginning of another is a hint" {
	dgx
	check NCCL_IB_HCA=mlx5_1 --
	[ "$status" -eq 0 ]
	finds "hint: NCCL_IB_HCA='mlx5_1': a name is a prefix, which means mlx5_11, too; = makes names whole"
	check NCCL_IB_HCA=mlx5_0,mlx5_1:1,mlx5_10 --
	finds "hint: NCCL_IB_HCA='mlx5_0,mlx5_1:1,mlx5_10': a name is a prefix, which means mlx5_11, too; = makes names whole"
	check NCCL_IB_HCA=^mlx5_1 --
	finds "hint: NCCL_IB_HCA='^mlx5_1': a name is a prefix, which means mlx5_11, too; ^= makes names whole"
}

@test "network: NVSHMEM_HCA_LIST has whole names with ports, and '^' for all but these" {
	dgx
	for good in mlx5_0 mlx5_0:1,mlx5_10 ^mlx5_10,mlx5_99; do
		check NVSHMEM_HCA_LIST=$good --
		finds
	done
	for bad in mlx5_9:1 mlx5; do
		check NVSHMEM_HCA_LIST=$bad --
		[ "$status" -eq 1 ]
		[[ $output == *"finding: NVSHMEM_HCA_LIST='$bad' chooses none of this node's HCAs: NVSHMEM finds no device"* ]]
	done
	check NVSHMEM_HCA_LIST==mlx5_0 --
	[ "$status" -eq 1 ]
	finds "finding: NVSHMEM_HCA_LIST='=mlx5_0': '=' is NCCL's syntax; here names are whole: mlx5_0:1,mlx5_1:1"
	check NVSHMEM_HCA_LIST=mlx5_0,mlx5_9 --
	[[ $output == *"finding: NVSHMEM_HCA_LIST='mlx5_0,mlx5_9' names 'mlx5_9', which is not here: NVSHMEM finds no device"* ]]
}

@test "network: where there are no HCAs, NCCL_IB_HCA chooses none" {
	interface eth0
	check NCCL_IB_HCA=mlx5 --
	finds "finding: NCCL_IB_HCA='mlx5' chooses none of this node's HCAs: NCCL will use TCP; there is: none"
}

@test "network: the GID of NCCL_IB_GID_INDEX has to be there, for RoCE" {
	dgx
	check NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_10 --
	finds
	check NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_11 --
	[ "$status" -eq 1 ]
	finds 'finding: NCCL_IB_GID_INDEX=3: this GID of mlx5_11:1 is empty, and no other port has one: NCCL ends with an error; show_gids lists them'
	check NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_10,mlx5_11 --
	[ "$status" -eq 0 ]
	finds 'hint: NCCL_IB_GID_INDEX=3: this GID of mlx5_11:1 is empty; show_gids lists them'
	check NCCL_IB_GID_INDEX=5 NCCL_IB_HCA==mlx5_10 --
	[ "$status" -eq 1 ]
	# InfiniBand has no need of it. Without NCCL_IB_HCA, all count.
	check NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_0 --
	finds
	check NCCL_IB_GID_INDEX=3 --
	finds 'hint: NCCL_IB_GID_INDEX=3: this GID of mlx5_11:1 is empty; show_gids lists them'
	check NVSHMEM_IB_GID_INDEX=3 NVSHMEM_HCA_LIST=mlx5_11:1 --
	finds 'finding: NVSHMEM_IB_GID_INDEX=3: this GID of mlx5_11:1 is empty, and no other port has one: NVSHMEM ends with an error; show_gids lists them'
}

@test "network: a GID of another container's interface, of RoCE v1, or a link-local one is none" {
	interface eth0
	interface eth1 0x1002
	mkdir -p root/dev/infiniband
	touch root/dev/infiniband/uverbs0
	port mlx5_0 1 '4: ACTIVE' Ethernet '0:fe80:0000:0000:0000:ba59:9fff:fed6:8c0b' \
		'1:0000:0000:0000:0000:0000:ffff:0a00:0001,IB/RoCE v1' '2:0000:0000:0000:0000:0000:ffff:0a00:0002,RoCE v2,net1' \
		'3:0000:0000:0000:0000:0000:ffff:0a00:0003,RoCE v2,eth1' 4:fd00:0000:0000:0000:0000:0000:0000:0001 \
		5:0000:0000:0000:0000:0000:ffff:0a00:0005
	for index in 2 3; do
		check NCCL_IB_GID_INDEX=$index --
		[ "$status" -eq 1 ]
		finds "finding: NCCL_IB_GID_INDEX=$index: this GID of mlx5_0:1 belongs to no interface that is up here, and no other port has one: NCCL ends with an error; show_gids lists them"
	done
	check NCCL_IB_GID_INDEX=6 --
	finds 'finding: NCCL_IB_GID_INDEX=6: this GID of mlx5_0:1 is not there, and no other port has one: NCCL ends with an error; show_gids lists them'
	# On one link these two work.
	check NCCL_IB_GID_INDEX=0 --
	[ "$status" -eq 0 ]
	finds 'hint: NCCL_IB_GID_INDEX=0: this GID of mlx5_0:1 is link-local, which is not routed, and no other port has one that is; show_gids lists them'
	check NCCL_IB_GID_INDEX=1 --
	finds 'hint: NCCL_IB_GID_INDEX=1: this GID of mlx5_0:1 is of RoCE v1, which is not routed, and no other port has one that is; show_gids lists them'
	for index in 4 5; do
		check NCCL_IB_GID_INDEX=$index --
		finds
	done
	# Where sysfs refuses to tell of what interface it is.
	rm root/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/5
	check NCCL_IB_GID_INDEX=5 --
	[ "$status" -eq 1 ]
}

# efa: a p5 of AWS, as its sysfs is: the ports of EFA are neither InfiniBand nor Ethernet, and have one GID.
efa() {
	local i
	for i in 80 81 82 83; do
		port "rdmap${i}s0" 1 '4: ACTIVE' Unspecified 0:fe80:0000:0000:0000:0cff:94ff:fe2d:d3$i
	done
	mkdir -p root/dev/infiniband root/opt/amazon/ofi-nccl/lib
	touch root/dev/infiniband/uverbs{0,1,2,3} root/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so
	interface enp71s0
}

@test "network: EFA needs its plugin, and no GID of RoCE" {
	efa
	check NCCL_NET_PLUGIN=ofi FI_PROVIDER=efa NCCL_SOCKET_IFNAME=^docker,lo NCCL_IB_GID_INDEX=3 --
	[ "$status" -eq 1 ]
	finds "finding: NCCL_NET_PLUGIN='ofi' needs libnccl-net-ofi.so, which is in no folder of LD_LIBRARY_PATH, nor where the loader looks by itself"
	check NCCL_NET_PLUGIN=ofi NCCL_SOCKET_IFNAME=^docker,lo NCCL_IB_GID_INDEX=3 LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib --
	finds
	check FI_PROVIDER=efa FI_EFA_FORK_SAFE=1 LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib --
	[ "$status" -eq 0 ]
	finds 'hint: FI_EFA_FORK_SAFE is of no use: the plugin sees to that by itself' \
		'hint: FI_PROVIDER is of no use: the plugin sees to that by itself'
	check --
	[ "$status" -eq 1 ]
	finds 'finding: EFA is here, but libnccl-net.so is in no folder of LD_LIBRARY_PATH, nor where the loader looks by itself: NCCL will use TCP'
	check NCCL_NET=Socket --
	finds
	check NCCL_IB_HCA=mlx5 LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib --
	finds "finding: NCCL_IB_HCA='mlx5' chooses none of this node's HCAs: NCCL will use TCP; there is: rdmap80s0 rdmap81s0 rdmap82s0 rdmap83s0"
}

@test "network: devices of RDMA that this user may not open" {
	dgx
	open_folder
	cp -r root "$DISTINIT" "$OPEN_FOLDER"
	chmod -R go+rX "$OPEN_FOLDER/root"
	chmod 660 "$OPEN_FOLDER"/root/dev/infiniband/*
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" check --root="$OPEN_FOLDER/root"
	if [[ $EUID -eq 0 ]]; then
		[ "$status" -eq 1 ]
		finds 'finding: none of /dev/infiniband/uverbs* can be opened: NCCL will use TCP; let this user, or its groups, write to them'
	fi
	chmod 666 "$OPEN_FOLDER"/root/dev/infiniband/uverbs7
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" check --root="$OPEN_FOLDER/root"
	finds
}

@test "network: a plugin of NCCL has to be where the loader looks" {
	mkdir -p root/opt/plugin root/etc root/usr/lib
	for set in NCCL_NET=gIB "NCCL_NET=AWS Libfabric" NCCL_NET_PLUGIN=aws-ofi NCCL_NET_PLUGIN=/opt/x.so; do
		check "$set" LD_LIBRARY_PATH=/usr/local/lib:/opt/plugin --
		[ "$status" -eq 1 ]
	done
	finds "finding: NCCL_NET_PLUGIN='/opt/x.so' needs /opt/x.so, which is in no folder of LD_LIBRARY_PATH, nor where the loader looks by itself"
	for good in NCCL_NET=IB NCCL_NET=Socket NCCL_NET=socket NCCL_NET= NCCL_NET_PLUGIN=none NCCL_NET_PLUGIN=; do
		check "$good" --
		finds
	done
	touch root/opt/plugin/libnccl-net.so root/opt/plugin/libnccl-net-aws-ofi.so root/opt/x.so
	for set in NCCL_NET=gIB NCCL_NET_PLUGIN=aws-ofi NCCL_NET_PLUGIN=/opt/x.so; do
		check "$set" LD_LIBRARY_PATH=/usr/local/lib:/opt/plugin --
		finds
	done
	check NCCL_NET=gIB --
	[ "$status" -eq 1 ]
	printf 'ld.so-1.7.0\0glibc-ld.so.cache1.1libnccl-net.so\0/opt/amazon/lib/libnccl-net.so\0' >root/etc/ld.so.cache
	check NCCL_NET=gIB --
	finds
}

@test "network: Google's plugin is there, and its variables are not set" {
	mkdir -p root/usr/local/gib/scripts
	touch root/usr/local/gib/scripts/set_nccl_env.sh
	check --
	[ "$status" -eq 1 ]
	finds 'finding: /usr/local/gib is here, but NCCL_NET is not set: NCCL will use TCP; source /usr/local/gib/scripts/set_nccl_env.sh, or set what it sets'
	check NCCL_NET=IB --
	finds
}

@test "network: a rank that sees fewer GPUs than its local rank needs is a hint" {
	local step=(OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4)
	check "${step[@]}" CUDA_VISIBLE_DEVICES=0 --
	[ "$status" -eq 0 ]
	finds "hint: this rank's local rank is 3, and GPUs that it sees: 1; a program that takes the GPU of its local rank fails: let it take 0, or give each task all GPUs of the node"
	check "${step[@]}" CUDA_VISIBLE_DEVICES=0,1,2,3 --
	finds
}

@test "network: a job of HTCondor without a GPU" {
	check CUDA_VISIBLE_DEVICES=10000 --
	[ "$status" -eq 1 ]
	finds 'finding: CUDA_VISIBLE_DEVICES=10000 hides all GPUs: HTCondor sets it for a job without request_gpus'
	check CUDA_VISIBLE_DEVICES=1 --
	finds
}

@test "network: the topology that a machine in a cloud hides has to be told" {
	mkdir -p root/opt/microsoft
	touch root/opt/microsoft/ndv5-topo.xml root/opt/microsoft/other.xml
	check --
	[ "$status" -eq 0 ]
	finds 'hint: NCCL_TOPO_FILE is not set, and /opt/microsoft/ndv5-topo.xml is here: it says which card is near which GPU'
	check NCCL_TOPO_FILE=/opt/microsoft/ndv5-topo.xml --
	finds
	check NCCL_TOPO_FILE=/opt/microsoft/ndv4-topo.xml --
	finds "hint: NCCL_TOPO_FILE='/opt/microsoft/ndv4-topo.xml' is not here: NCCL goes on without it"
}

@test "network: the kernel's interfaces: without an address, down, or the loopback, where others have to come" {
	[[ $EUID -eq 0 ]] || skip "only root can make a network namespace"
	requires ip
	NETNS=distinit-$$
	ip netns add "$NETNS" 2>/dev/null || { NETNS='' && skip "no network namespace can be made here"; }
	ip -n "$NETNS" link set lo up
	ip -n "$NETNS" link add veth0 type veth peer name veth1
	ip -n "$NETNS" link set veth0 up
	ip -n "$NETNS" link set veth1 up
	ip -n "$NETNS" -6 addr flush dev veth1
	local cluster=(--hosts=10.9.0.1,10.9.0.2 --node-rank=1)
	inside() {
		invoke ip netns exec "$NETNS" env -i "$@" "$DISTINIT" check "${cluster[@]}"
	}
	inside GLOO_SOCKET_IFNAME=veth1
	finds "finding: GLOO_SOCKET_IFNAME='veth1' chooses veth1, which has no address: gloo ends with an error; there is: lo veth1 veth0"
	ip -n "$NETNS" addr add 10.9.0.2/24 dev veth1
	inside GLOO_SOCKET_IFNAME=veth1
	finds
	ip -n "$NETNS" link set veth1 down
	inside NCCL_SOCKET_IFNAME=veth1
	finds "finding: NCCL_SOCKET_IFNAME='veth1' chooses veth1, which is down: NCCL ends with an error; there is: lo veth1 veth0"
	inside GLOO_SOCKET_IFNAME=lo
	finds "finding: GLOO_SOCKET_IFNAME='lo' chooses lo, which is the loopback, which other nodes cannot reach: gloo ends with an error; there is: lo veth1 veth0"
	cluster=()
	inside GLOO_SOCKET_IFNAME=lo
	finds
}

@test "network: a node whose own name is the loopback" {
	# What is said of such a master is not this.
	silently() {
		check "$@"
		stderr=${stderr#"distinit: warning: --hosts='localhost' leads each node to itself; name the host of rank 0 instead"}
	}
	check -- --hosts=localhost,b.invalid --node-rank=0 --master-port=0
	[ "$status" -eq 125 ]
	silently MASTER_PORT=29876 -- --hosts=localhost,b.invalid --node-rank=0
	[ "$status" -eq 1 ]
	finds "finding: this node's name, 'localhost', is the loopback here: gloo, and engines that look their name up, send the other nodes an address that they cannot reach; add gloo to --frameworks, or mend /etc/hosts"
	interface eth0
	check MASTER_PORT=29876 GLOO_SOCKET_IFNAME=eth0 -- --hosts=localhost,b.invalid --node-rank=0
	[ "$status" -eq 0 ]
	[[ $output == *"hint: this node's name, 'localhost', is the loopback here: "* ]]
}

@test "network: json has what is there, what was expected, and who says so" {
	requires python3
	dgx
	check NCCL_IB_HCA=mlx5_9 SLURM_TRES_PER_TASK=cpu=1,gres/gpu:a100=8 -- --format=json
	[ "$status" -eq 1 ]
	python3 -c '
import datetime, json, socket, sys
said = json.load(sys.stdin)
assert said["host"] == socket.gethostname() and said["rank"] is None, said
datetime.datetime.strptime(said["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
gpus, hca = said["findings"][0], said["findings"][-1]
assert gpus == {"name": "gpus", "text": "gpus is 0, at least 8 expected: SLURM_TRES_PER_TASK", "have": "0", "expected": "8",
                "source": "SLURM_TRES_PER_TASK", "hint": False}, gpus
assert (hca["name"], hca["expected"], hca["source"], hca["hint"]) == ("hca", "mlx5_9", "NCCL_IB_HCA", False), hca
assert hca["have"].startswith("mlx5_0 mlx5_1 "), hca' <<<"$output"
}

@test "--check: a finding ends the entrypoint before the command, with each finding on a line, also in the termination log" {
	dgx
	: >root/dev/termination-log
	for how in --check --check=findings; do
		: >root/dev/termination-log
		distinit NCCL_IB_HCA=mlx5_9 GLOO_SOCKET_IFNAME=eth9 PATH="$PATH" -- --root=root $how -- echo ran
		[[ $status -eq 125 && -z $output && $(grep -c '^distinit: error: ' <<<"$stderr") -eq 2 ]]
		grep -x "distinit: error: NCCL_IB_HCA='mlx5_9' chooses none of this node's HCAs: .* (--check)" <<<"$stderr"
		[ "$(<root/dev/termination-log)" = "$(grep error: <<<"$stderr")" ]
	done
	distinit NCCL_IB_HCA=mlx5_9 DISTINIT_CHECK=1 PATH="$PATH" -- --root=root --init -- echo ran
	[[ $status -eq 125 && -z $output ]]
	distinit NCCL_IB_HCA=mlx5_0 DISTINIT_CHECK=1 PATH="$PATH" -- --root=root -- echo ran
	[[ $status -eq 0 && $output == ran ]]
}

@test "--check: hints are warnings, unless --check=hints" {
	dgx
	local down=(NCCL_IB_HCA==mlx5_2,mlx5_3 PATH="$PATH")
	distinit "${down[@]}" -- --root=root --check -- echo ran
	[[ $status -eq 0 && $output == ran && $stderr == *"distinit: warning: NCCL_IB_HCA='=mlx5_2,mlx5_3': mlx5_3:1 is in state 1: DOWN (--check)"* ]]
	distinit "${down[@]}" -- --root=root --check=hints -- echo ran
	[[ $status -eq 125 && -z $output ]]
	distinit "${down[@]}" DISTINIT_CHECK=0 -- --root=root -- echo ran
	[[ $status -eq 0 && -z $stderr ]]
	distinit -- --check=warnings -- true
	refuses_with "--check='warnings': expected one of findings, hints"
}

@test "--check: looks at the environment that the command gets, with the command's rights" {
	dgx
	distinit NCCL_IB_HCA=mlx5_9 PATH="$PATH" -- --root=root --check --set NCCL_IB_HCA=mlx5_0 -- echo ran
	[[ $status -eq 0 && $output == ran ]]
	distinit PATH="$PATH" -- --root=root --check --set NCCL_IB_HCA=mlx5_9 -- echo ran
	[ "$status" -eq 125 ]
	if [[ $EUID -eq 0 ]]; then
		open_folder
		cp -r root "$OPEN_FOLDER"
		chmod -R go+rX "$OPEN_FOLDER/root"
		chmod 660 "$OPEN_FOLDER"/root/dev/infiniband/*
		distinit PATH="$PATH" -- --root="$OPEN_FOLDER/root" --user=65534:65534 --check -- echo ran
		[[ $status -eq 125 && $stderr == *'none of /dev/infiniband/uverbs* can be opened'* ]]
		distinit PATH="$PATH" -- --root="$OPEN_FOLDER/root" --check -- echo ran
		[ "$status" -eq 0 ]
	fi
}

@test "network: the pod of examples/kubernetes/rdma.yaml runs as uid 1000 with one capability" {
	[[ $EUID -eq 0 ]] || skip "only root has the capabilities of such a pod"
	requires setpriv
	local pod=$BATS_TEST_DIRNAME/../../examples/kubernetes/rdma.yaml caps
	local -a variables
	mapfile -t variables < <(sed -n 's/^ *- name: DISTINIT_/DISTINIT_/p; s/^ *value: /=/p' "$pod" | paste -d '' - - | tr -d '"')
	caps=$(sed -n 's/^ *add: \[\(.*\)\]$/\1/p' "$pod" | tr -d ' ' | tr '[:upper:]' '[:lower:]' | sed 's/^/+/; s/,/,+/g')
	[ ${#variables[@]} -eq 3 ]
	invoke setpriv --bounding-set=-all,"$caps" --inh-caps=-all env -i "${variables[@]}" PATH="$PATH" "$DISTINIT" --root="$PWD/root" -- \
		grep -E '^(Uid|CapEff|CapAmb):' /proc/self/status
	[[ $status -eq 0 && $output == $'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000004000\nCapAmb:\t0000000000004000' ]]
}
