#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: what the nodes believe and are is compared.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
}

teardown() {
	leave_room
}

@test "roll call: nodes that count differently end, and the odd one is named" {
	HOSTS=h0,h1,h2,h3
	member 0 -- true
	listening
	member 1 -- true
	member 2 -- true
	HOSTS=h0,h1,h2,h3,h4
	member 3 -- true
	ended 125 0 1 2 3
	[[ $(<0.err) == *'error: roll call: the nodes do not agree on the cluster: nodes=4 on 3 nodes, 5 on h3 (rank 3); nothing was started' ]]
	[[ $(<3.err) == *'error: h0 says: the nodes do not agree on the cluster: nodes=4 on 3 nodes, 5 on h3 (rank 3); nothing was started' ]]
}

@test "roll call: a master that counts too many does not wait for those" {
	HOSTS=h0,h1,h2,h3
	member 0 -- true
	listening
	HOSTS=h0,h1,h2
	member 1 -- true
	member 2 -- true
	ended 125 0 1 2
	[[ $(<0.err) == *'the nodes do not agree on the cluster: nodes=3 on 2 nodes, 4 on h0 (rank 0); nothing was started' ]]
}

@test "roll call: a node with the hosts in another order, or with another manager's view, is named" {
	HOSTS=h0,h1,h2,h3
	member 0 -- true
	member 1 -- true
	member 2 -- true
	HOSTS=h0,h2,h1,h3
	member 3 -- true
	ended 125 0 1 2 3
	[[ $(<0.err) == *'the nodes do not agree on the cluster: hosts='*' on 3 nodes, '*' on h3 (rank 3); nothing was started' ]]
}

@test "roll call: the master's address on one node is the same as its name on another" {
	local address rank
	requires ip
	for address in 10.9.9.8 10.9.9.9; do in_room ip address add "$address/32" dev lo; done
	echo 10.9.9.9 main >>etc/hosts
	HOSTS=main,h1,h2
	for rank in 1 0; do
		OPTIONS=(--master-addr=10.9.9.9)
		member "$rank" -- echo started
		OPTIONS=()
		member "$((1 - rank))" -- echo started
		member 2 -- echo started
		ended 0 0 1 2
		[[ ! -s 0.err && ! -s 1.err && ! -s 2.err ]]
	done
	# It comes to the master, but by an address that the name does not have.
	member 0 -- echo started
	member 1 -- echo started
	OPTIONS=(--master-addr=10.9.9.8)
	member 2 -- echo started
	ended 125 0 1 2
	[[ $(<0.err) == *': master=main on 2 nodes, 10.9.9.8 on h2 (rank 2); nothing was started' ]]
	# Of names with several addresses, one that both have is enough.
	printf '10.9.9.%s main\n' 7 8 >>etc/hosts
	printf '10.9.9.%s other\n' 5 6 8 >>etc/hosts
	OPTIONS=()
	member 0 -- echo started
	member 1 -- echo started
	OPTIONS=(--master-addr=other)
	member 2 -- echo started
	ended 0 0 1 2
}

@test "roll call: a variable that differs is a warning, or an error on request" {
	VARIABLES=(NCCL_SOCKET_IFNAME=eth0 NCCL_DEBUG=INFO)
	HOSTS=h0,h1,h2,h3
	member 0 -- echo started
	member 1 -- echo started
	VARIABLES=(NCCL_SOCKET_IFNAME=ib0 NCCL_DEBUG=INFO)
	member 2 -- echo started
	VARIABLES=(NCCL_SOCKET_IFNAME=eth0)
	member 3 -- echo started
	ended 0 0 1 2 3
	said 0 "distinit: warning: roll call: NCCL_DEBUG=INFO on 3 nodes, not set on h3"
	# There is no secret: what another node has is told by its digest.
	said 0 "distinit: warning: roll call: NCCL_SOCKET_IFNAME=eth0 on 3 nodes, sha256:$(printf ib0 | sha256sum | head -c 16) on h2"
	[[ $(wc -l <0.err) -eq 2 && ! -s 1.err && ! -s 2.err && ! -s 3.err ]]
	OPTIONS=(--agree=env)
	HOSTS=h0,h1
	VARIABLES=(NCCL_DEBUG=INFO)
	member 0 -- echo started
	VARIABLES=()
	member 1 -- echo started
	ended 125 0 1
	[[ $(<1.err) == *'h0 says: the nodes do not agree: NCCL_DEBUG=INFO on h0, not set on h1; nothing was started' ]]
}

@test "roll call: without a secret, a member tells whoever asks digests only; with one, its values" {
	local secret
	cat >ask.py <<-END
		import struct, sys
		sys.path.insert(0, "$BATS_TEST_DIRNAME")
		import roll
		line, hello = roll.desk(roll.listen($PORT), roll.job_key(b"manual:room", sys.argv[1].encode()), $PORT)
		for group in range(5):
		    line.send(roll.ASK, struct.pack("B", group))
		    kind, payload = line.receive()
		    assert kind == roll.FACTS and payload[0] == group
		    print(payload)
	END
	requires python3
	HOSTS=h0,h1
	for secret in '' a-secret-of-this-very-job; do
		server ask.py "$secret" >told
		listening
		VARIABLES=(NCCL_SOCKET_IFNAME=inner0 OMP_NUM_THREADS=77 NCCL_TOKEN=sesame DISTINIT_SECRET="$secret")
		[[ $secret ]] || unset 'VARIABLES[3]'
		member 1 -- sh -c 'true outer' --password sesame --api-key=sesame
		until [[ $(wc -l <told) -eq 5 ]]; do nap 0.05; done
		kill "${PIDS[1]}"
		wait "${PIDS[1]}" || true
		cat told
		[[ $(<told) == *NCCL_SOCKET_IFNAME* && $(<told) == *77* && $(<told) == *argv* && $(<told) == *NCCL_TOKEN* ]]
		# What looks secret is a digest in any case, or nothing.
		run ! grep sesame told
		if [[ $secret ]]; then
			grep -q inner0 told
		else
			run ! grep -E "inner0|true|outer|$(uname -r)" told
		fi
	done
}

@test "roll call: --agree-env chooses the variables" {
	HOSTS=h0,h1
	OPTIONS=('--agree-env=MY_*:OTHER' --agree=env)
	VARIABLES=(NCCL_DEBUG=INFO MY_MODE=a)
	member 0 -- true
	VARIABLES=(MY_MODE=a)
	member 1 -- true
	ended 0 0 1
	[[ ! -s 0.err ]]
	VARIABLES=(MY_MODE=b)
	member 0 -- true
	VARIABLES=(MY_MODE=a)
	member 1 -- true
	ended 125 0 1
}

@test "roll call: the value of a secret that differs is nowhere" {
	HOSTS=h0,h1
	OPTIONS=('--agree-env=MY_TOKEN' -vv)
	local secret=DISTINIT_SECRET=open-every-door-of-the-job
	VARIABLES=(MY_TOKEN=sesame-one-two "$secret")
	member 0 -- true
	VARIABLES=(MY_TOKEN=sesame-one-three "$secret")
	member 1 -- true
	ended 0 0 1
	said 0 '*warning: roll call: MY_TOKEN*'
	run ! grep -r sesame 0.err 1.err 0.out 1.out
}

@test "roll call: without the job's secret, nothing that is sent depends on a secret value" {
	local first
	VARIABLES=(MY_TOKEN=guess)
	digests '--agree-env=MY_TOKEN' -- true
	first=$DIGESTS
	VARIABLES=(MY_TOKEN=other)
	digests '--agree-env=MY_TOKEN' -- true
	[[ $DIGESTS == "$first" ]]
	VARIABLES=()
	digests '--agree-env=MY_TOKEN' -- true
	[[ $DIGESTS != "$first" ]]
}

@test "roll call: a program that differs is a warning" {
	HOSTS=h0,h1
	printf 'echo one\n' >a.sh
	member 0 -- sh a.sh
	listening
	printf 'echo three\n' >a.sh
	member 1 -- sh a.sh
	ended 0 0 1
	said 0 "*warning: roll call: script='9 bytes, * on h0, '11 bytes, * on h1"
}

# machine DIR GPUS: the root of a machine with so many GPUs.
machine() {
	local gpu
	mkdir -p "$1/dev" "$1/proc/driver/nvidia" "$1/proc/sys/kernel" "$1/proc/net" "$1/sys/class/net/eth0"
	for ((gpu = 0; gpu < $2; gpu++)); do : >"$1/dev/nvidia$gpu"; done
	: >"$1/dev/nvidiactl"
	echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03' >"$1/proc/driver/nvidia/version"
	echo 6.1.0 >"$1/proc/sys/kernel/osrelease"
	printf 'eth0\t00000000\t\n' >"$1/proc/net/route"
	echo 1450 >"$1/sys/class/net/eth0/mtu"
}

@test "roll call: a node that lacks a GPU is a warning, or an error on request" {
	machine whole 8
	machine poor 7
	HOSTS=h0,h1,h2
	OPTIONS=(--root="$PWD/whole")
	member 0 -- echo started
	member 1 -- echo started
	OPTIONS=(--root="$PWD/poor")
	member 2 -- echo started
	ended 0 0 1 2
	[[ $(<0.err) == 'distinit: warning: roll call: gpus=8 on 2 nodes, 7 on h2' ]]
	[[ ! -s 1.err && ! -s 2.err && $(<2.out) == started ]]
	OPTIONS=(--root="$PWD/whole" --agree=devices)
	member 0 -- echo started
	member 1 -- echo started
	OPTIONS=(--root="$PWD/poor" --agree=devices)
	member 2 -- echo started
	ended 125 0 1 2
	[[ $(<0.err) == 'distinit: error: roll call: the nodes do not agree: gpus=8 on 2 nodes, 7 on h2; nothing was started' ]]
	[[ $(<1.err) == 'distinit: error: h0 says: the nodes do not agree: gpus=8 on 2 nodes, 7 on h2; nothing was started' ]]
	[[ $(<2.err) == "$(<1.err)" && ! -s 0.out && ! -s 1.out && ! -s 2.out ]]
}

@test "roll call: a clock that is wrong is named" {
	digests -- true
	member 0 -- true
	listening
	crowd call 2 "$PORT" --size=3 --digests="$DIGESTS" --clock=-92000
	[[ $status -eq 0 ]]
	ended 0 0
	said 0 "distinit: warning: roll call: h*'s clock is 9[12]s behind h0's"
	member 0 -- true
	listening
	crowd call 2 "$PORT" --size=3 --digests="$DIGESTS" --clock=92500
	ended 0 0
	said 0 "distinit: warning: roll call: h*'s clock is 92s ahead of h0's"
	member 0 -- true
	listening
	crowd call 2 "$PORT" --size=3 --digests="$DIGESTS" --clock=4000
	ended 0 0
	[[ ! -s 0.err ]]
}

@test "roll call: a clock that is further off than --expect allows: nobody starts" {
	OPTIONS=('--expect=clock<=2s')
	# Names lead to the loopback in this room, which --check refuses.
	HOSTS=127.0.0.99,127.0.0.100,127.0.0.101
	digests -- true
	member 0 -- echo started
	listening
	crowd call 2 "$PORT" --size=3 --digests="$DIGESTS" --clock=4000
	ended 125 0
	[[ $(<0.err) == *"distinit: error: roll call: the clock of h"*" (rank "*") is 4s ahead of 127.0.0.99's, and clock<=2s is expected; nothing was started" && ! -s 0.out ]]
	member 0 -- echo started
	listening
	crowd call 2 "$PORT" --size=3 --digests="$DIGESTS" --clock=1000
	[[ $status -eq 0 ]]
	ended 0 0
	[[ $(<0.out) == started ]]
}

@test "roll call: one of four nodes does not have what is expected: nobody starts, and all say which" {
	HOSTS=127.0.0.99,127.0.0.100,127.0.0.101,127.0.0.102
	mkdir -p {7,8}/dev
	touch 8/dev/nvidia{0..7} 7/dev/nvidia{0..6}
	for rank in 0 1 2 3; do
		OPTIONS=(--expect='gpus=8' --root="$PWD/$((rank == 2 ? 7 : 8))")
		member "$rank" -- echo started
	done
	ended 125 0 1 2 3
	[[ $(<2.err) == *'distinit: error: gpus is 7 here, and gpus=8 is expected (--expect)'* ]]
	for rank in 0 1 3; do
		[[ $(<$rank.err) == *' (rank 2) '*'gpus is 7 here, and gpus=8 is expected (--expect)'* && ! -s $rank.out ]]
	done
}

@test "roll call: a member that does not answer what it is asked counts as gone" {
	WAIT=4s
	member 0 -- true
	listening
	# It says other digests, and does not say what they are of.
	crowd call 2 "$PORT" --size=3 --digests=1,2,3,4,5 --act=mute --wait=8000
	[[ $output == *'go=0 no='* ]]
	ended 124 0
	[[ $(<0.err) == *' (rank 1, was here, gone for '* ]]
}

@test "roll call: --agree of an unknown group is refused" {
	member 0 --agree=wold -- true
	ended 125 0
	[[ $(<0.err) == "distinit: error: --agree='wold': expected all, world, program, env, devices or limits, joined by ','" ]]
}

@test "roll call: the words of --fill are compared as they are before they are filled" {
	HOSTS=h0,h1
	OPTIONS=(--fill --agree=program --frameworks=none)
	member 0 -- echo '{node-rank}' :master: head :workers: follows '{master-addr}'
	member 1 -- echo '{node-rank}' :master: head :workers: follows '{master-addr}'
	ended 0 0 1
	[[ $(<0.out) == '0 head' && $(<1.out) == '1 follows h0' ]]
	member 0 -- echo '{node-rank}' :master: head
	member 1 -- echo '{node-rank}' :master: other
	ended 125 0 1
	[[ $(<0.err) == *'the nodes do not agree'* && -z $(<0.out)$(<1.out) ]]
}

@test "roll call: words that cannot be filled end it before it begins" {
	HOSTS=h0,h1
	OPTIONS=(--fill)
	member 0 -- echo '{rank}'
	ended 125 0
	[[ $(<0.err) == 'distinit: error: {rank} is not known here: '* ]]
}

@test "roll call: an option is compared, or each node may have its own: alike.txt has all of them" {
	local list=$BATS_TEST_DIRNAME/alike.txt option how value needed rank
	"$DISTINIT" --help=all | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u >options
	grep -oE -e '^--[a-z-]+' "$list" | sort >listed
	diff options listed
	HOSTS=h0,h1
	while read -r option how value; do
		[[ $option == --* && $how == compared ]] || continue
		needed=() HOSTS=h0,h1
		[[ $option != --expect ]] || HOSTS=127.0.0.99,127.0.0.100
		[[ $option != --max-restarts ]] || needed=(--together)
		[[ $option != --no-restart && $option != --max-idle-starts ]] || needed=(--together --max-restarts=2)
		# Given on the master only, then on the other only.
		for rank in 0 1; do
			OPTIONS=("${needed[@]}" "$option=$value")
			member "$rank" -- echo started
			OPTIONS=("${needed[@]}")
			member $((1 - rank)) -- echo started
			ended 125 0 1
			grep -F "the nodes do not agree on the cluster: $option=" 0.err
			[[ ! -s 0.out && ! -s 1.out ]]
		done
	done <"$list"
}

@test "roll call: TERM at the master while it looks up what a node calls it: a new call is worth it, and nobody says that they differ" {
	cat >caller.py <<-'END'
		import roll, struct
		line = roll.call("127.0.0.99", 29500, roll.job_key(b"manual:room"))
		line.send(roll.HELLO, roll.hello(1, 2, 7, 1, 60000, range(1, 6), b"h1", b"h1"))
		while True:
		    kind, payload = line.receive()
		    if kind == roll.ASK:
		        line.send(roll.FACTS, roll.facts(payload[0], *[(b"master", b"elsewhere")] * (payload[0] == 0)))
		    if kind == roll.NO:
		        print(payload[0], payload[3:].decode(), flush=True)
		        break
	END
	HOSTS=h0,h1
	name_server
	member 0 -- echo started
	listening
	PYTHONPATH="$BATS_TEST_DIRNAME" in_room python3 caller.py >caller.out 3>&- &
	local caller=$!
	until [[ -e asked ]]; do nap 0.02; done
	kill "${PIDS[0]}"
	soon 1000 ended 143 0
	wait "$caller"
	# 4: the coordinator was ended by a signal.
	[[ $(<caller.out) == '4 '* && $(<0.err) != *'agree'* ]]
}
