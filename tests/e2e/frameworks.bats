#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What frameworks need besides variables: a host file, and the network interface to the other nodes.
# The variables are in tests/vectors/frameworks.txt.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the inner shells expand
# shellcheck disable=SC2054 # the commas belong to distinit's options

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# --- the host file --------------------------------------------------------------------------------

readonly TWO=(--hosts=a,b --node-rank=1 --frameworks=mpi)

@test "torchrun learns a --grace of more than 30 s, less 5 s to end itself, unless the user told it" {
	local show=('--' /bin/sh -c 'echo "$TORCH_ELASTIC_SHUTDOWN_TIMEOUT"') hosts=(--hosts=n1,n2 --node-rank=1)
	distinit -- --init --grace=2m "${hosts[@]}" "${show[@]}"
	succeeds_with 115
	distinit DISTINIT_GRACE=36500ms -- --time-limit=1h "${hosts[@]}" "${show[@]}"
	succeeds_with 31
	distinit TORCH_ELASTIC_SHUTDOWN_TIMEOUT=7 -- --init --grace=2m "${hosts[@]}" "${show[@]}"
	succeeds_with 7
	distinit DISTINIT_GRACE=2m DISTINIT_INIT=1 -- explain "${hosts[@]}"
	[[ $output == *'set       TORCH_ELASTIC_SHUTDOWN_TIMEOUT=115'* ]]
	# Shorter, never, without --init, without torchrun, and in a cluster of one.
	local options
	for options in '--init --grace=35s' '--init --grace=never' '--init' '--init --grace=2m --frameworks=torch'; do
		# shellcheck disable=SC2086 # several options
		distinit -- $options "${hosts[@]}" "${show[@]}"
		succeeds_with ''
	done
	distinit DISTINIT_GRACE=2m -- "${hosts[@]}" "${show[@]}"
	succeeds_with ''
	distinit -- --init --grace=2m --hosts=n1 --node-rank=0 "${show[@]}"
	succeeds_with ''
}

@test "the host file exists before the program runs, readable for all" {
	distinit PET_NPROC_PER_NODE=2 PATH="$PATH" -- "${TWO[@]}" --hostfile-output="$PWD/hosts" -- \
		sh -c 'cat "$OMPI_MCA_orte_default_hostfile"; stat -c %a "$PRTE_MCA_prte_default_hostfile"'
	succeeds_with $'a slots=2\nb slots=2\n444'
}

@test "the host file replaces an old one, and no other file is left" {
	mkdir folder
	echo old >folder/hosts
	exec 7<folder/hosts
	distinit -- env "${TWO[@]}" --hostfile-output="$PWD/folder/hosts"
	[[ $status -eq 0 && $(<folder/hosts) == $'a\nb' && $(ls folder) == hosts ]]
	# A process that has the old file open still reads the old contents.
	[[ $(cat <&7) == old ]]
}

@test "explain mentions the host file, and does not write it" {
	distinit -- explain "${TWO[@]}" --hostfile-output="$PWD/hosts"
	[[ $status -eq 0 && ! -e hosts && $output == *"host file      $PWD/hosts, to be written: 2 lines, the first a"* ]]
	distinit -- explain --format=json "${TWO[@]}" --hostfile-output="$PWD/hosts"
	[[ $status -eq 0 && ! -e hosts && $output == *"\"hostfile\": \"$PWD/hosts\""* ]]
	distinit -- explain --format=json "${TWO[@]}"
	[[ $status -eq 0 && $output == *'"hostfile": null'* ]]
}

@test "a host file that cannot be written is an error, and the program does not run" {
	local error="--hostfile-output: '$PWD/none/hosts' cannot be written: No such file or directory"
	distinit PATH="$PATH" -- "${TWO[@]}" --hostfile-output="$PWD/none/hosts" -- echo ran
	refuses_with "$error"
	distinit -- env "${TWO[@]}" --hostfile-output="$PWD/none/hosts"
	refuses_with "$error"
	distinit PATH="$PATH" DISTINIT_HOSTFILE_OUTPUT="$PWD" -- "${TWO[@]}" -- echo ran
	fails_like 125 "DISTINIT_HOSTFILE_OUTPUT: '$PWD' cannot be written: *"
}

# --- the network interface ------------------------------------------------------------------------

# A private network for a command: eth7, 10.9.0.2/24, leads to the cluster; eth9, 10.8.0.2/24, does
# not.
requires_network() {
	requires ip unshare
	[[ $EUID -eq 0 ]] || skip "only root can make networks of its own"
	unshare --net ip link add eth7 type veth peer name eth8 2>/dev/null ||
		skip "the kernel makes no network namespaces or no veth pairs for us"
	unshare --net --mount true 2>/dev/null || skip "no mount namespace can be made here, as in a chroot"
}

in_network() {
	invoke unshare --net --mount sh -euc '
		ip link set lo up
		ip link add eth7 type veth peer name eth8
		ip link add eth9 type veth peer name eth10
		ip addr add 10.9.0.2/24 dev eth7
		ip addr add fd00:9::2/64 dev eth7 nodad
		ip addr add 10.8.0.2/24 dev eth9
		for device in eth7 eth8 eth9 eth10; do ip link set "$device" up; done
		printf "127.0.0.1 localhost\n127.0.1.1 self\n10.9.0.1 near\n10.8.0.1 far\n" >hosts
		mount --bind hosts /etc/hosts
		exec env -i "$@"' in_network "$@"
}

readonly INTERFACES=(env --frameworks=nccl,gloo)

@test "the interface is the one that leads to the master" {
	requires_network
	in_network "$DISTINIT" "${INTERFACES[@]}" --hosts=near,self --node-rank=1
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth7\'\nGLOO_SOCKET_IFNAME=\'eth7\''
	in_network "$DISTINIT" "${INTERFACES[@]}" --hosts=far,self --node-rank=1
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth9\'\nGLOO_SOCKET_IFNAME=\'eth9\''
	in_network "$DISTINIT" "${INTERFACES[@]}" --hosts=fd00:9::1,self --node-rank=1
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth7\'\nGLOO_SOCKET_IFNAME=\'eth7\''
}

@test "on the master's node it is the one that leads to another node, whatever the master's name resolves to" {
	requires_network
	in_network "$DISTINIT" "${INTERFACES[@]}" --hosts=self,far --node-rank=0
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth9\'\nGLOO_SOCKET_IFNAME=\'eth9\''
	in_network "$DISTINIT" "${INTERFACES[@]}" --hosts=self,near --node-rank=0 --master-addr=10.9.0.2
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth7\'\nGLOO_SOCKET_IFNAME=\'eth7\''
	# Its own address, if no other node is known.
	in_network OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 "$DISTINIT" "${INTERFACES[@]}" --master-addr=10.8.0.2
	succeeds_with $'NCCL_SOCKET_IFNAME=\'=eth9\'\nGLOO_SOCKET_IFNAME=\'eth9\''
}

@test "the same interface for TensorPipe and NVSHMEM, and the address on it for vLLM and SGLang" {
	requires_network
	in_network "$DISTINIT" env --frameworks=tensorpipe,nvshmem,vllm,sglang --hosts=far,self --node-rank=1
	succeeds_with $'TP_SOCKET_IFNAME=\'eth9\'\nNVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=\'=eth9\'\nVLLM_HOST_IP=\'10.8.0.2\'\nSGLANG_HOST_IP=\'10.8.0.2\''
	in_network "$DISTINIT" env --frameworks=vllm --hosts=self,near --node-rank=0
	succeeds_with "VLLM_HOST_IP='10.9.0.2'"
	in_network VLLM_HOST_IP=10.1.1.1 "$DISTINIT" env --frameworks=vllm --hosts=far,self --node-rank=1
	succeeds_with ''
	in_network "$DISTINIT" env --frameworks=vllm --hosts=10.7.0.1,self --node-rank=1
	warns_with "VLLM_HOST_IP is left out: there is no route to '10.7.0.1'"
}

@test "no interface is guessed if a name does not resolve or is the loopback's, or without a route" {
	requires_network
	in_network "$DISTINIT" env --frameworks=gloo --hosts=self,localhost --node-rank=0
	[[ $status -eq 0 && -z $output ]]
	warns_with "GLOO_SOCKET_IFNAME is left out: the names of the nodes resolve to the loopback"
	in_network "$DISTINIT" env --frameworks=gloo --hosts=nowhere.invalid,self --node-rank=1
	[[ $status -eq 0 && -z $output ]]
	[[ $stderr == "distinit: warning: GLOO_SOCKET_IFNAME is left out: 'nowhere.invalid' does not resolve"* ]]
	in_network "$DISTINIT" env --frameworks=gloo --hosts=10.7.0.1,self --node-rank=1
	[[ $status -eq 0 && -z $output ]]
	warns_with "GLOO_SOCKET_IFNAME is left out: there is no route to '10.7.0.1'"
}

@test "finding the interface sends nothing; unless requested, no name is resolved" {
	requires strace
	invoke strace -f -o trace -e trace=network,%process env -i "$DISTINIT" "${INTERFACES[@]}" --hosts=127.0.0.9,127.0.0.1 --node-rank=1
	[[ $status -eq 0 ]] || skip "strace cannot trace here"
	grep -q 'connect(' trace
	run grep -cE '\<(send|sendto|sendmsg|sendmmsg)\([^{]*"' trace
	[[ $output -eq 0 ]]
	# For an address there is no child.
	run grep -cE '\<(v?fork|clone3?)\(' trace
	[[ $output -eq 0 ]]
	invoke strace -f -o trace -e trace=network env -i "$DISTINIT" env --hosts=127.0.0.9,127.0.0.1 --node-rank=1
	[[ $(grep -c 'socket(' trace) -eq 0 ]]
}

@test "a framework that is named and reads a host file, and none is written: a warning" {
	distinit -- --frameworks=torch,mpi --hosts=n1,n2 --node-rank=0 -- true
	warns_with "--frameworks='torch,mpi': mpi gets nothing, because no host file is written without --hostfile-output=FILE"
	distinit -- --frameworks=all --hosts=n1,n2 --node-rank=0 -- true
	[[ $status -eq 0 && $stderr != *"host file"* ]]
	distinit -- --frameworks=mpi -- true
	succeeds_with ''
}
