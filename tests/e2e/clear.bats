#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --clear: what a killed predecessor left in /dev/shm and the like.

# shellcheck disable=SC2016 # another shell expands the scripts
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# Sticky, as /tmp.
	mkdir -m 1777 shm
	shm=$PWD/shm
}

# held PYTHON: a process runs it, with the folder as `shm`, says so by the file "held", and stays until the test ends.
held() {
	python3 - "$shm" "$1" <<-'PYTHON' 3>&- &
		import mmap, os, socket, sys, threading, time
		shm = sys.argv[1]
		exec(sys.argv[2])
		open("held", "w").close()
		time.sleep(60)
	PYTHON
	holder=$!
	until [[ -e held ]]; do kill -0 "$holder" && nap 0.02 || return; done
}

teardown() {
	[[ -z ${holder-} ]] || kill "$holder"
	[[ -z ${away-} ]] || rm -rf "$away"
}

# clears ARG...: with these options the command starts, and nothing is said.
clears() {
	invoke "$DISTINIT" "$@" -- echo started
	succeeds_with started
}

# stays NAME WHY: all but that are gone, and it is named.
stays() {
	invoke "$DISTINIT" --clear="$shm/*" -- echo started
	[[ $output == started && $(ls -A shm) == "$1" ]]
	[[ $stderr == "distinit: warning: --clear='$shm/*': left out: '$1' ($2)" ]]
}

@test "clear: removes files, sockets and FIFOs that nobody uses, before COMMAND starts" {
	touch shm/nccl-1 shm/nccl-2 shm/other shm/.nccl-3
	mkfifo shm/nccl-fifo
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("shm/nccl-sock"); socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("shm/nccl-dgram")'
	invoke "$DISTINIT" --log=info --cluster=none --clear="$shm/nccl-*" -- ls -A shm
	[[ $status -eq 0 && $output == $'.nccl-3\nother' && $stderr == *'--clear: 5 removed'* ]]
	# A '*' is no '.' at the beginning, as in a shell.
	clears --clear="$shm/*"
	[[ $(ls -A shm) == .nccl-3 ]]
	clears --clear="$shm/.*"
	[[ -z $(ls -A shm) ]]
}

@test "clear: may be repeated, joined by commas, and set by a variable; without wildcards it is one file" {
	touch shm/a1 shm/b1 shm/c1 shm/d1 shm/e1
	clears --clear="$shm/a*" --clear="$shm/b1,$shm/c*"
	[[ $(ls shm) == $'d1\ne1' ]]
	DISTINIT_CLEAR="$shm/d*,$shm/no-such-file" clears
	[[ $(ls shm) == e1 ]]
	distinit DISTINIT_CLEAR="$shm/*" -- -- env
	[[ -z $output && -z $(ls shm) ]]
}

# The page shows: distinit --clear='/dev/shm/nccl-*' --clear='/dev/shm/psm_*' --max-restarts=5 -- python3 serve.py
@test "clear: in a tmpfs the folder need not be sticky" {
	[[ $(stat -f -c %T /dev/shm) == tmpfs ]] || skip '/dev/shm is no tmpfs here'
	away=$(mktemp -d /dev/shm/distinit-clear.XXXXXX)
	chmod 700 "$away"
	touch "$away/stale"
	clears --clear="$away/*"
	[[ -z $(ls "$away") ]]
}

@test "clear: a file stays that another process has open, whether to read or to write" {
	touch shm/stale shm/nccl-1
	held 'kept = open(shm + "/nccl-1")'
	stays nccl-1 'in use'
	kill "$holder"
	rm held
	held 'kept = open(shm + "/nccl-1", "w")'
	stays nccl-1 'in use'
	kill -9 "$holder"
	wait "$holder" || true
	holder=
	clears --clear="$shm/*"
	[[ -z $(ls shm) ]]
}

@test "clear: a file stays that is mapped, though nobody has it open" {
	head -c 4096 /dev/zero >shm/psm_1
	touch shm/stale
	held 'fd = os.open(shm + "/psm_1", os.O_RDWR); kept = mmap.mmap(fd, 4096); os.close(fd)'
	stays psm_1 'in use'
}

@test "clear: a file stays that another user has open, in another PID namespace" {
	[[ $EUID -eq 0 ]] || skip 'only root can become another user'
	unshare --pid --fork true 2>unshare.err || skip "no PID namespace here: $(<unshare.err)"
	mkdir -m 777 said
	touch shm/stale shm/nccl-1
	chmod 644 shm/nccl-1
	# The folders above are for root alone.
	unshare --pid --fork --kill-child setpriv --reuid=4321 --regid=4321 --clear-groups \
		sh -c 'touch /proc/self/fd/8/held; exec sleep 60' 8<said 9<shm/nccl-1 3>&- &
	holder=$!
	until [[ -e said/held ]]; do nap 0.02; done
	stays nccl-1 'in use'
}

@test "clear: a file of another user stays, and so does one that we may not open" {
	[[ $EUID -eq 0 ]] || skip 'only root can become another user'
	chmod 755 "$BATS_TEST_TMPDIR"
	touch shm/ours shm/root-s
	chown 4321 shm/ours
	# With the rights of the program: root's own is another's then.
	away=$(mktemp -d /tmp/distinit-clear.XXXXXX)
	chmod 1777 "$away"
	cp -a shm/. "$away"
	chmod 1777 "$away"
	touch "$away/closed"
	chown 4321 "$away/closed"
	chmod 0 "$away/closed"
	invoke "$DISTINIT" --user=4321:4321 --clear="$away/*" -- echo started
	[[ $output == started && $stderr == *"'root-s' (of another user)"* && $stderr == *"'closed' (Permission denied)"* ]]
	[[ $(ls "$away") == $'closed\nroot-s' ]]
	stays ours 'of another user'
}

@test "clear: symlinks, folders and devices stay, and nothing behind them is touched" {
	mkdir mine shm/folder
	touch mine/file shm/folder/file
	ln -s ../mine/file shm/link
	ln -s /proc shm/way
	local device=
	if mknod shm/device c 1 3 2>/dev/null; then
		device=$'device\n'
	fi
	invoke "$DISTINIT" --clear="$shm/*" -- echo started
	[[ $output == started && $(ls shm) == "$device"$'folder\nlink\nway' && -e mine/file && -e shm/folder/file ]]
	[[ -z $device || $stderr == *"'device' (neither"* ]]
	[[ $stderr == *"'link' (neither a regular file nor a socket nor a FIFO)"* && $stderr == *"'way' (neither"* && $stderr == *"'folder' (neither"* ]]
	invoke "$DISTINIT" --clear="$shm/way/*" -- echo started
	# The folder behind the link of ours is judged, and /proc is neither of them wherever this runs.
	refuses_with "--clear='$shm/way/*': the folder is neither a tmpfs nor sticky, so its files may be meant to stay; expected a folder such as /dev/shm or /tmp"
	[[ -e mine/file ]]
}

@test "clear: a folder that is a link of another user is not followed" {
	[[ $EUID -eq 0 ]] || skip 'only root can become another user'
	mkdir -m 1777 mine
	touch mine/file
	ln -s "$PWD/mine" shm/way
	chown -h 4321 shm/way
	invoke "$DISTINIT" --clear="$shm/way/*" -- echo started
	[[ $status -eq 125 && -z $output && $stderr == *'a symlink on the way belongs to another user'* && -e mine/file ]]
	chown -h 0 shm/way
	clears --clear="$shm/way/*"
	[[ ! -e mine/file ]]
}

@test "clear: a socket stays that somebody has: a listener, one that is only bound, one for datagrams" {
	held 'kept = [socket.socket(socket.AF_UNIX) for i in range(3)] + [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)]
for i, one in enumerate(kept): one.bind(f"{shm}/s{i}")
kept[0].listen()'
	touch shm/stale
	invoke "$DISTINIT" --clear="$shm/*" -- echo started
	[[ $output == started && $(ls shm) == $'s0\ns1\ns2\ns3' ]]
	[[ $stderr == *"'s0' (in use)"* && $stderr == *"'s1' (in use)"* && $stderr == *"'s2' (in use)"* && $stderr == *"'s3' (in use)"* ]]
	kill -9 "$holder"
	wait "$holder" || true
	holder=
	clears --clear="$shm/*"
	[[ -z $(ls shm) ]]
}

@test "clear: a listener gets no connection" {
	held 'kept = socket.socket(socket.AF_UNIX); kept.bind(shm + "/s"); kept.listen()
def take():
    kept.accept()
    open("taken", "w").close()
threading.Thread(target=take, daemon=True).start()'
	stays s 'in use'
	[[ ! -e taken ]]
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("shm/s")'
	until [[ -e taken ]]; do nap 0.02; done
}

@test "clear: a FIFO stays that somebody reads" {
	mkfifo shm/dead shm/read
	held 'kept = os.open(shm + "/read", os.O_RDONLY | os.O_NONBLOCK)'
	stays read 'in use'
}

# docs/pid1.md: three uses the kernel does not show, so the file goes. And what it says of the FIFO: its writer waits on.
@test "clear: a FIFO goes whose writer still waits for a reader, and the writer writes to nobody" {
	mkfifo shm/waited
	python3 -c 'import os
open("waits", "w").close()
os.write(os.open("shm/waited", os.O_WRONLY), b"for nobody")
open("written", "w").close()' 3>&- &
	holder=$!
	# It sleeps in open().
	until [[ -e waits && $(</proc/"$holder"/wchan) == *fifo* || $(cut -d " " -f 1 "/proc/$holder/syscall") =~ ^(2|56|257)$ ]]; do
		kill -0 "$holder"
		nap 0.02
	done
	clears "--clear=$shm/waited"
	[[ ! -e shm/waited && ! -e written ]]
	kill -0 "$holder"
}

@test "clear: a file goes that is only held by O_PATH, and one that is bind-mounted elsewhere, which keeps it" {
	echo x >shm/path
	held 'fd = os.open(shm + "/path", os.O_PATH)'
	clears "--clear=$shm/path"
	[[ ! -e shm/path ]]
	unshare --user --map-root-user --mount true 2>/dev/null || skip 'nothing can be mounted here'
	echo kept >shm/bound
	: >elsewhere
	invoke unshare --user --map-root-user --mount sh -c 'mount --bind shm/bound elsewhere && "$@" && cat elsewhere' - \
		"$DISTINIT" "--clear=$shm/bound" -- echo started
	succeeds_with $'started\nkept'
	[[ ! -e shm/bound ]]
}

@test "clear: many that stay are counted" {
	local i
	for i in {1..11}; do mkdir "shm/d$i"; done
	invoke "$DISTINIT" --clear="$shm/*" -- echo started
	[[ $output == started && $stderr == *', and 3 more' && $stderr != *$'\n'* ]]
}

@test "clear: a folder that does not exist is named, as it may be a mistake" {
	invoke "$DISTINIT" --clear="$shm/later/*" -- echo started
	warns_with "--clear='$shm/later/*': left out: the folder: No such file or directory"
}

@test "clear: bad words are refused before anything starts, and before anything is removed" {
	touch shm/stale
	local word
	for word in shm/* '/dev/*/x' "$shm/" '*' '' "$shm/[ab]" "$shm/a?" '/*/'; do
		invoke "$DISTINIT" --clear="$shm/*" --clear="$word" -- echo started
		[[ $status -eq 125 && -z $output && $stderr == *'expected an absolute path'* && -e shm/stale ]]
	done
	invoke "$DISTINIT" --clear="$shm/*,/proc/self/*" -- echo started
	[[ $status -eq 125 && -z $output && $stderr == *'neither a tmpfs nor sticky'* && -e shm/stale ]]
	touch file
	invoke "$DISTINIT" --clear="$PWD/file/*" -- echo started
	[[ $status -eq 125 && $stderr == *'the folder cannot be opened: Not a directory' ]]
}

@test "clear: before each start, also between restarts, when what the last one left behind is gone" {
	# Its child has the file open, and is ended by then.
	invoke "$DISTINIT" --max-restarts=2 --leftovers-grace=100ms --clear="$shm/*" -- sh -c '
		ls shm
		sh -c "trap \"\" TERM; exec 9>shm/nccl-$DISTINIT_RESTART_COUNT; touch here; while :; do sleep 0.1; done" &
		until [ -e here ]; do sleep 0.02; done
		rm here
		exit 3'
	[[ $status -eq 3 && -z $output && $stderr != *'left out'* ]]
	[[ $(ls shm) == nccl-2 ]]
}

# swapped NAME PYTHON: while another user runs that over and over in the sticky folder, clear 60 times.
swapped() {
	python3 - "$shm" "$PWD/mine" "$2" <<-'PYTHON' 3>&- &
		import itertools, os, sys
		shm, mine, swap = sys.argv[1:]
		swap = compile(swap, "swap", "exec")
		os.chdir(shm)
		os.setgroups([])
		os.setresgid(4321, 4321, 4321)
		os.setresuid(4321, 4321, 4321)
		os.makedirs("real", exist_ok=True)
		os.chmod("real", 0o1777)
		for i in itertools.count():
		    if os.getppid() == 1: break
		    try: exec(swap)
		    except OSError: pass
	PYTHON
	holder=$!
	until [[ -d shm/real ]]; do kill -0 "$holder" && nap 0.02 || return; done
	local i
	for i in {1..60}; do "$DISTINIT" --clear="$1" -- true >/dev/null 2>&1 || [[ $? -eq 125 ]]; done
	kill "$holder"
	wait "$holder" || true
	holder=
	[[ -e mine/file && -e mine/folder/file ]]
}

@test "clear: links swapped and folders exchanged by another user lead nowhere else" {
	[[ $EUID -eq 0 ]] || skip 'only root can become another user'
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir -p mine/folder
	chmod 1777 mine mine/folder
	touch mine/file mine/folder/file
	# The name is a file, a link to root's file, a folder, a FIFO.
	swapped "$shm/file" '
if i % 4 == 0: open("next", "w").close()
elif i % 4 == 1: os.symlink(mine + "/file", "next")
elif i % 4 == 2: os.mkfifo("next")
else: os.mkdir("next")
os.rename("next", "file")'
	# The folder is a link to root's, and one of his.
	swapped "$shm/way/file" 'os.symlink(mine if i % 2 else "real", "next"); os.rename("next", "way")'
	# The folder itself is exchanged with a link.
	swapped "$shm/real/file" 'os.rename("real", "away"); os.symlink(mine + "/folder", "real"); os.unlink("real"); os.rename("away", "real")'
}

@test "clear: who opens a file while it is being removed neither hangs nor ends us" {
	python3 - "$shm" <<-'PYTHON' 3>&- &
		import itertools, os, sys
		os.chdir(sys.argv[1])
		open("up", "w").close()
		for i in itertools.count():
		    if os.getppid() == 1: break
		    try:
		        os.close(os.open("file", os.O_RDWR | os.O_CREAT))
		        os.close(os.open("file", os.O_RDONLY))
		    except OSError: pass
	PYTHON
	holder=$!
	until [[ -e shm/up ]]; do nap 0.02; done
	local i
	for i in {1..100}; do "$DISTINIT" --cluster=none --clear="$shm/file" -- true 2>/dev/null; done
}
