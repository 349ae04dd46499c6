#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --expect: what a node has to have, on real devices' names, limits, file systems and users.

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p root/dev root/sys
}

teardown() {
	remove_open_folder
}

# gpus N: the machine has N of them.
gpus() {
	rm -f root/dev/nvidia*
	for ((i = 0; i < $1; i++)); do
		touch "root/dev/nvidia$i"
	done
}

# refused TEXT: nothing started, and this is the only line.
refused() {
	[[ $status -eq 125 && -z $output && $stderr == "distinit: error: $1" ]]
}

@test "expect: the node with 7 of 8 GPUs does not start, and says what was found and expected" {
	gpus 8
	distinit DISTINIT_EXPECT='gpus=8' -- --root="$PWD/root" -- echo started
	[[ $status -eq 0 && $output == started && $stderr != *gpus* ]]
	gpus 7
	distinit DISTINIT_EXPECT='gpus=8' -- --root="$PWD/root" -- echo started
	[[ $status -eq 125 && -z $output && $stderr == *'distinit: error: gpus is 7 here, and gpus=8 is expected (DISTINIT_EXPECT)'* ]]
	distinit -- --root="$PWD/root" --expect='gpus>=7,cpus>=0.5' -- echo started
	[[ $status -eq 0 && $output == started ]]
}

@test "expect: check ends with 1, shows what is met, and JSON has all" {
	gpus 7
	distinit -- check --root="$PWD/root" --expect='gpus=8,path:ro=/'
	[[ $status -eq 1 && $output == *$'\nexpect   path:ro=/       can be read\nfinding: gpus is 7 here, and gpus=8 is expected'* ]]
	distinit -- check --root="$PWD/root" --expect='gpus=8,path:ro=/' --format=json
	[[ $status -eq 1 ]]
	python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["expected"] == [{"text": "gpus=8", "have": "7", "error": None, "met": False},
                              {"text": "path:ro=/", "have": "can be read", "error": None, "met": True}], report["expected"]
assert [(f["expected"], f["source"], f["hint"]) for f in report["findings"] if not f["hint"]] == [("gpus=8", "--expect", False)], report["findings"]
' <<<"$output"
}

@test "expect: explain shows each with what is there" {
	gpus 7
	distinit -- explain --root="$PWD/root" --expect='gpus=8,path:ro=/' -- true
	[[ $status -eq 0 && $output == *'expect         gpus=8: 7; nothing would start'*'expect         path:ro=/: can be read'* ]]
	distinit -- explain --root="$PWD/root" --expect='gpus=8' --format=json -- true
	python3 -c 'import json, sys
assert json.load(sys.stdin)["run"]["expected"] == [{"text": "gpus=8", "have": "7", "error": None, "met": False}]' <<<"$output"
}

@test "expect: what is no expectation is refused before anything starts" {
	for word in gpu=8 gpus 'gpus>8' 'gpus>=many' shm=64 path=ckpt; do
		distinit -- --expect="$word" -- echo started
		[[ $status -eq 125 && -z $output && $stderr == "distinit: error: --expect: '$word': expected "* ]]
		distinit -- check --expect="$word"
		[[ $status -eq 125 && $stderr == "distinit: error: --expect: '$word': expected "* ]]
	done
}

@test "expect: limits are those that the program gets" {
	ulimit -Sn 200
	distinit -- --expect='nofile>=201' -- echo started
	refused 'nofile is 200 here, and nofile>=201 is expected (--expect)'
	distinit -- --expect='nofile=200' -- echo started
	[[ $status -eq 0 ]]
	ulimit -Sl 64 2>/dev/null || skip "this user may not set its limit of locked memory"
	distinit -- --expect='memlock=unlimited' -- echo started
	refused 'memlock is 64 KiB here, and memlock=unlimited is expected (--expect)'
}

@test "expect: a folder has to take a file of the program's user, and nothing stays in it" {
	mkdir -m 755 ckpt
	distinit -- --expect="path=$PWD/ckpt" -- echo started
	[[ $status -eq 0 && -z $(ls -A ckpt) ]]
	distinit -- --expect="path=$PWD/none" -- echo started
	refused "path=$PWD/none cannot be opened: No such file or directory (--expect)"
	touch file
	distinit -- --expect="path:ro=$PWD/file" -- echo started
	refused "path:ro=$PWD/file cannot be opened: Not a directory (--expect)"
	[[ $(id -u) -eq 0 ]] || return 0
	open_folder
	distinit -- --user=65534:65534 --expect="path:ro=$OPEN_FOLDER" -- echo started
	[[ $status -eq 0 && $output == started ]]
	distinit -- --user=65534:65534 --expect="path=$OPEN_FOLDER" -- echo started
	refused "path=$OPEN_FOLDER cannot be written: Permission denied (--expect)"
	chmod 700 "$OPEN_FOLDER"
	distinit -- --user=65534:65534 --expect="path:ro=$OPEN_FOLDER" -- echo started
	refused "path:ro=$OPEN_FOLDER cannot be opened: Permission denied (--expect)"
}

@test "expect: /dev/shm of another size, a file system that is full, and one that is read-only" {
	requires unshare mount
	unshare --mount true 2>/dev/null || skip "this user may not mount here"
	mkdir full read
	# Each in a namespace of its own.
	# shellcheck disable=SC2016 # the inner shell expands these
	run unshare --mount sh -c 'mount -t tmpfs -o size=64m none /dev/shm
		"$1" --expect="shm>=64MiB" -- echo has it && "$1" --expect="shm>=65MiB" -- echo started' sh "$DISTINIT"
	[[ $status -eq 125 && $output == $'has it\ndistinit: error: shm is 64 MiB here, and shm>=65MiB is expected (--expect)' ]]
	# shellcheck disable=SC2016
	run unshare --mount sh -c 'mount -t tmpfs -o size=64k none full && head -c 64k /dev/zero >full/all
		"$1" --expect="path=$PWD/full" -- echo started; ls -A full' sh "$DISTINIT"
	[[ $output == "distinit: error: path=$PWD/full cannot be written: No space left on device (--expect)"$'\nall' ]]
	# shellcheck disable=SC2016
	run unshare --mount sh -c 'mount -t tmpfs -o ro none read
		"$1" --expect="path=$PWD/read" -- echo started; "$1" --expect="path:ro=$PWD/read" -- echo read it' sh "$DISTINIT"
	[[ $output == "distinit: error: path=$PWD/read cannot be written: Read-only file system (--expect)"$'\nread it' ]]
}

@test "expect: a file system that does not answer is named in time, and holds nobody" {
	requires unshare python3
	[[ -w /dev/fuse ]] || skip "there is no /dev/fuse that this user may use"
	unshare --mount true 2>/dev/null || skip "this user may not mount here"
	mkdir dead dead2 well
	# Its server never reads what the kernel asks.
	cat >server.py <<-'END'
		import ctypes, os, subprocess, sys
		libc = ctypes.CDLL(None, use_errno=True)
		for name in ("dead", "dead2"):
		    fd = os.open("/dev/fuse", os.O_RDWR)
		    if libc.mount(b"fuse", name.encode(), b"fuse.dead", 0, b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd):
		        sys.exit(77)
		sys.exit(subprocess.run(sys.argv[1:]).returncode)
	END
	began=$EPOCHREALTIME
	run unshare --mount --pid --fork python3 server.py "$DISTINIT" --wait=1s --expect="path=$PWD/dead,path:ro=$PWD/dead2,path=$PWD/well" -- echo started
	[[ $status -ne 77 ]] || skip "this kernel mounts no FUSE here"
	[[ $status -eq 125 ]]
	[[ $output == "distinit: error: path=$PWD/dead does not answer within 1s (--expect)
distinit: error: path:ro=$PWD/dead2 does not answer within 1s (--expect)" ]]
	# Both at once, and the time is not waited for twice.
	took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
	echo "$took ms"
	((took >= 1000 && took < 1900 * PATIENCE))
	# A signal ends it at once.
	# shellcheck disable=SC2016 # the inner shell expands these
	run unshare --mount --pid --fork python3 server.py sh -c '"$1" --expect="path=$PWD/dead" -- echo started & sleep 0.3; kill -TERM $!; wait $!; echo "status $?"' sh "$DISTINIT"
	[[ $output == *'status 143'* && $output != *started* ]]
}

@test "expect: clocks are compared in a roll call only" {
	distinit -- --expect='clock<=2s' -- echo alone
	[[ $status -eq 0 && $output == alone ]]
	distinit -- --expect='clock<=2s' --hosts=127.0.0.1,127.0.0.2 --node-rank=0 -- echo started
	refused 'clock<=2s: clocks are compared in a roll call; add --wait --for=all, or --together (--expect)'
}

@test "expect: a device that the program's user may not open is a hint" {
	[[ $(id -u) -eq 0 ]] || skip "it takes root to become somebody else"
	open_folder
	mkdir -m 755 "$OPEN_FOLDER/dev"
	install -m 666 /dev/null "$OPEN_FOLDER/dev/nvidia0"
	install -m 600 /dev/null "$OPEN_FOLDER/dev/nvidia1"
	install -m 666 /dev/null "$OPEN_FOLDER/dev/nvidia2"
	distinit -- check --root="$OPEN_FOLDER" --user=65534:65534
	[[ $output == *'gpus_denied     1'*"hint: the program's user may not open 1 of 3 GPUs here; let it, or its groups, write to them"* ]]
}

@test "expect: NCCL's network plugin is a fact: the file that the loader would take, and its size" {
	mkdir -p root/opt/lib root/usr/lib
	head -c 1000 /dev/zero >root/usr/lib/libnccl-net.so
	head -c 2000 /dev/zero >root/opt/lib/libnccl-net.so
	head -c 3000 /dev/zero >root/opt/lib/libnccl-net-gib.so
	plugin() {
		distinit "${@:2}" -- check --root="$PWD/root"
		grep -E "^devices +nccl_plugin +$1\$" <<<"$output"
	}
	plugin 'libnccl-net.so \(1000 bytes\)'
	plugin 'libnccl-net.so \(2000 bytes\)' LD_LIBRARY_PATH=/none:/opt/lib
	plugin 'libnccl-net-gib.so \(3000 bytes\)' LD_LIBRARY_PATH=/opt/lib NCCL_NET_PLUGIN=gib
	plugin none NCCL_NET_PLUGIN=none
	plugin none NCCL_NET_PLUGIN=gib
}
