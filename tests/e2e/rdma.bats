#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --frameworks=rdma: lists of cards, from the files of nodes as they are in the world (tests/programs/cards).

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	[[ -z ${SHM-} ]] || rm -rf "$SHM"
}

tree() {
	rm -rf root
	python3 "$BATS_TEST_DIRNAME/../programs/cards" "$1" root
}

# derives TREE [NAME=VALUE]... -- [LINE]...: these lines, and no others.
derives() {
	local -a variables arguments
	tree "$1"
	split "${@:2}"
	distinit "${variables[@]}" -- env --root=root --hosts=n1,n2 --node-rank=1 --frameworks=rdma --format=docker
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	((${#arguments[@]})) || { [ -z "$output" ] && return; }
	[ "$output" = "$(printf '%s\n' "${arguments[@]}")" ]
}

# lists TREE NAMES [LINE]...: NAMES, joined by commas, and these lines.
lists() {
	derives "$1" -- "NCCL_IB_HCA==$2" "UCX_NET_DEVICES=$2" "${@:3}"
}

# hints TEXT: of the tree, exactly this one, or none.
hints() {
	check --
	[ "$(grep '^hint: ' <<<"$output" | grep -v -e memlock -e TOPO)" = "${1:+hint: $1}" ]
}

# left_out NAME WHY: explain says so.
left_out() {
	distinit -- explain --root=root --hosts=n1,n2 --node-rank=1 --frameworks=rdma
	[[ $output == *"left-out  $1"$'\n'"          by rdma: $2"* ]]
}

@test "rdma: a DGX H100, with storage over InfiniBand, or over Ethernet" {
	derives dgx --
	hints ''
	lists dgx-storage-near mlx5_0:1,mlx5_1:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,mlx5_9:1
	hints ''
	# PCI shows nothing; or the farther ones are faster.
	for name in dgx-storage-flat dgx-storage-faster; do
		derives "$name" --
		hints 'InfiniBand and Ethernet are both here, and nothing proves which leads to the other nodes'
		left_out NCCL_IB_HCA 'InfiniBand and Ethernet are both here, and nothing proves'
	done
}

@test "rdma: Azure, with a slower Ethernet card beside" {
	lists azure mlx5_ib0:1,mlx5_ib1:1,mlx5_ib2:1,mlx5_ib3:1,mlx5_ib4:1,mlx5_ib5:1,mlx5_ib6:1,mlx5_ib7:1
	check --
	[[ $output == *'hint: NCCL_TOPO_FILE is not set'* ]]
}

@test "rdma: OCI, whose front cards are Ethernet, too, with an address or without" {
	derives oci --
	hints 'of 18 ports, 2 are slower: 100 instead of 400 Gb/s'
	lists oci-bare mlx5_0:1,mlx5_1:1,mlx5_10:1,mlx5_12:1,mlx5_13:1,mlx5_14:1,mlx5_15:1,mlx5_16:1,mlx5_17:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1
}

@test "rdma: GKE, where gIB sets NCCL's" {
	derives gke -- NVSHMEM_HCA_PREFIX=rocep
	left_out NCCL_IB_HCA 'gIB is here, which sets what it needs'
}

@test "rdma: one virtual function of Multus, of eight cards that the pod sees" {
	lists vf mlx5_4:1 UCX_IB_GID_INDEX=7 NCCL_IB_GID_INDEX=7 NVSHMEM_IB_GID_INDEX=7
	hints ''
}

@test "rdma: four rails by macvlan, whose tables differ" {
	derives macvlan --
	hints 'GID 0 of mlx5_3:1 is empty, which UCX leaves out, and no index fits all ports'
	left_out UCX_IB_GID_INDEX 'GID 0 of mlx5_3:1 is empty'
	lists macvlan-others mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1
}

@test "rdma: a pair of DGX Spark, and one with half its rate" {
	derives spark -- NVSHMEM_HCA_PREFIX=roce
	hints ''
	lists spark-bare rocep1s0f0:1 NVSHMEM_HCA_PREFIX=rocep
	hints 'roceP2p1s0f0:1 is active, and its interface is up, but has only a link-local address: its rate is lost'
}

@test "rdma: cards that are not called mlx5, and one that is, slower and Ethernet" {
	lists coreweave ibp0:1,ibp1:1,ibp2:1,ibp3:1,ibp4:1,ibp5:1,ibp6:1,ibp7:1 NVSHMEM_HCA_PREFIX=ibp
}

@test "rdma: rails with IPv6 only" {
	derives ula -- NCCL_IB_ADDR_FAMILY=AF_INET6 NVSHMEM_IB_ADDR_FAMILY=AF_INET6
	derives half-v6 --
	hints 'some ports have an IPv4 GID, others only IPv6: NCCL takes one family for all'
}

@test "rdma: EFA, no card, and a single node" {
	derives p5 --
	derives none --
	left_out NCCL_IB_HCA 'no port of InfiniBand or Ethernet is active'
	tree azure
	distinit -- env --root=root --frameworks=rdma
	[ -z "$output" ]
}

@test "rdma: cards that cannot be opened, or have no GID of this node" {
	for name in closed no-verbs foreign; do
		derives "$name" --
	done
	hints 'no active port has a GID of this node: is the second network attached?'
	tree closed
	left_out NCCL_IB_HCA 'no active port can be opened here'
}

@test "rdma: names that no list can have, and more than NCCL reads" {
	derives blank --
	left_out NCCL_IB_HCA 'a card has a name that no list can have'
	derives unlike-names --
	derives 33 --
	left_out UCX_NET_DEVICES 'NCCL reads no more than 32 names'
	derives many --
	tree 32
	distinit -- env --root=root --hosts=n1,n2 --node-rank=1 --frameworks=rdma
	[[ $output == *mlx5_31:1* ]]
}

@test "rdma: what is set stays, even if it is empty, and others follow from it nowhere" {
	derives vf NCCL_IB_HCA=mlx5 UCX_NET_DEVICES= NCCL_IB_GID_INDEX=3 -- UCX_IB_GID_INDEX=7 NVSHMEM_IB_GID_INDEX=7
	derives azure UCX_TLS=rc -- NCCL_IB_HCA==mlx5_ib0:1,mlx5_ib1:1,mlx5_ib2:1,mlx5_ib3:1,mlx5_ib4:1,mlx5_ib5:1,mlx5_ib6:1,mlx5_ib7:1
	for set in NCCL_IB_DISABLE=1 NCCL_NET=Socket NCCL_NET_PLUGIN=ofi; do
		derives ula $set -- NVSHMEM_IB_ADDR_FAMILY=AF_INET6
	done
	for set in NCCL_IB_DISABLE=0 NCCL_NET=IB NCCL_NET_PLUGIN=none; do
		derives ula $set -- NCCL_IB_ADDR_FAMILY=AF_INET6 NVSHMEM_IB_ADDR_FAMILY=AF_INET6
	done
}

@test "rdma: nobody gets it unasked, neither by default nor with all" {
	tree azure
	for set in default all; do
		distinit -- env --root=root --hosts=n1,n2 --node-rank=1 --frameworks=$set
		[ "$status" -eq 0 ]
		[[ $output == *MASTER_ADDR=* && $output != *NCCL_IB_HCA* ]]
	done
}

@test "rdma: the roll call compares the number of ports, their layer and their family" {
	tree vf
	check --
	for fact in 'rdma_family *IPv4' 'rdma_layer *Ethernet' 'rdma_ports *1'; do
		grep -E "^devices +$fact$" <<<"$output"
	done
}

# lists_backwards FOLDER: what it has is listed in the opposite order, which a tmpfs does for names that come again.
lists_backwards() {
	local name before after
	before=$(ls -U "$1")
	mkdir "$1.moved"
	for name in $before; do
		mv "$1/$name" "$1.moved"
		mv "$1.moved/$name" "$1"
	done
	rmdir "$1.moved"
	after=$(ls -U "$1")
	[ "$(tac <<<"$after")" = "$before" ]
}

@test "rdma: two nodes with the same cards, whose folders list them in another order, get the same lines" {
	[ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip '/dev/shm is no tmpfs'
	local name first folder
	SHM=$(mktemp -d /dev/shm/rdma.XXXXXX)
	cd "$SHM"
	for name in oci-bare vf azure; do
		tree $name
		distinit -- env --root=root --hosts=n1,n2 --node-rank=0 --frameworks=rdma
		first=$output
		[[ $status -eq 0 && $first == *NCCL_IB_HCA=*mlx5_* ]]
		for folder in root/sys/class/infiniband root/sys/bus/pci/devices root/dev/infiniband; do
			lists_backwards "$folder"
		done
		distinit -- env --root=root --hosts=n1,n2 --node-rank=1 --frameworks=rdma
		[[ $status -eq 0 && $output == "$first" ]]
	done
}
