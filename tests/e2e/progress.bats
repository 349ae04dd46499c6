#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --progress on one node: a program that hangs has failed. rollcall/together.bats has several.

# shellcheck disable=SC2016 # another shell expands the scripts
# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	log=$PWD/log
}

# took COMMAND...: invoke it; its time is in $TOOK and $CALM.
took() {
	time_begins
	invoke "$@"
	time_passed
}

@test "progress: a program that writes no longer is ended with 124, and its processes are told" {
	took "$DISTINIT" --init --progress="$log:1s" -- sh -c 'sleep 0.3; echo x >log; exec sleep 1000'
	[[ $status -eq 124 && $TOOK -ge 1300 && $CALM -lt 4000 ]]
	[[ $stderr == *"warning: it has made no progress for 1s ($log last written "*"s ago); its processes: 0 running, 1 sleeping; ending"* ]]
}

@test "progress: a start has twice the time for its first write" {
	took "$DISTINIT" --init --progress="$log:1s" -- sleep 1000
	[[ $status -eq 124 && $TOOK -ge 2000 && $CALM -lt 5000 ]]
	[[ $stderr == *"no progress for 1s ($log not written since the start "*"s ago"* ]]
	# A file of before is none.
	touch log
	took "$DISTINIT" --init --progress="$log:1s" -- sleep 1000
	[[ $status -eq 124 && $TOOK -ge 2000 ]]
}

@test "progress: one that goes on to write ends as it does; any file of a GLOB counts, also a new one" {
	invoke "$DISTINIT" --init --progress="$PWD/log*:1s" -- sh -c 'for i in 1 2 3 4 5 6; do sleep 0.4; echo x >"log.$((i % 3))"; done; exit 7'
	[[ $status -eq 7 && $stderr != *progress* ]]
	# Files beside do not count.
	invoke "$DISTINIT" --init --progress="$PWD/log*:1s" -- sh -c 'echo x >log1; while :; do sleep 0.2; echo x >other; done'
	[[ $status -eq 124 ]]
}

@test "progress: what hangs in the kernel is named, and what ignores TERM is killed after the grace" {
	invoke "$DISTINIT" --init --grace=200ms --progress="$log:500ms" -- sh -c 'trap "" TERM; echo x >log; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr == *'did not end within the grace period of 0.2s: it is killed'* ]]
	# vfork() holds its caller in D until the child is over.
	invoke "$DISTINIT" --init --grace=200ms --progress="$log:500ms" -- python3 -c 'import ctypes, time; ctypes.CDLL(None).vfork() or time.sleep(20)'
	[[ $status -eq 124 && $stderr =~ its\ processes:\ 1\ in\ D(\ \([a-z0-9_]+\))?,\ 0\ running,\ 1\ sleeping ]]
}

@test "progress: --max-restarts starts it again, with twice the time again" {
	invoke "$DISTINIT" --max-restarts=1 --progress="$log:600ms" -- sh -c 'echo "start $DISTINIT_RESTART_COUNT"; [ "$DISTINIT_RESTART_COUNT" = 0 ] || { sleep 0.9; echo x >log; exit 0; }; exec sleep 30'
	[[ $status -eq 0 && $output == $'start 0\nstart 1' && $stderr == *'no progress'*'; starting again (1 of 1)'* ]]
	invoke "$DISTINIT" --max-restarts=1 --progress="$log:500ms" -- sh -c 'exec sleep 30'
	[[ $status -eq 124 && $stderr == *'not starting again: 1 of 1 restarts used'* ]]
}

@test "progress: TERM in the meantime is final, and its status the program's" {
	invoke "$DISTINIT" --init --progress="$log:20s" -- sh -c 'kill -TERM "$PPID"; exec sleep 10'
	[[ $status -eq 143 ]]
}

# slow_stat SECONDS COMMAND...: invoke it; each look at the log takes so long. When the command has ended, nobody waits for the look.
slow_stat() {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local seconds=$1 pid
	shift
	touch log
	rm -f ended
	strace -f -q -o /dev/null -P "$log" -e trace=stat,newfstatat,statx -e "inject=stat,newfstatat,statx:delay_enter=${seconds}000000" \
		bash -c '"$@"; echo "$?" >ended' bash "$@" 2>err 3>&- &
	pid=$!
	until_true test -s ended || true
	kill -KILL "$pid" || true
	wait "$pid" 2>/dev/null || true
	status=$(<ended)
	stderr=$(<err)
	printf 'status: %s\nstderr: %s\n' "$status" "$stderr"
}

@test "progress: a file system that does not answer holds nobody: TERM and the grace apply" {
	slow_stat 600 "$DISTINIT" --init --grace=300ms --progress="$log:60s" -- sh -c 'sleep 0.5; trap "" TERM; kill -TERM "$PPID"; while :; do sleep 0.1; done'
	[[ $status -eq 137 ]]
	[[ $stderr == *'did not end within the grace period of 0.3s: it is killed'* ]]
	# It is no leftover either. Until strace reaps it, it cannot be gone.
	slow_stat 600 "$DISTINIT" --init --leftovers=end --log=info --progress="$log:60s" -- sh -c 'sleep 0.3; exit 7'
	[[ $status -eq 7 && $stderr != *'left'* ]]
}

@test "progress: who does not answer in time has made no progress, and that is said" {
	slow_stat 600 "$DISTINIT" --init --progress="$log:1s" -- sleep 1000
	[[ $status -eq 124 ]]
	[[ $stderr == *"no progress for 1s ($log does not answer, for "*"s now; not written since the start "*"s ago); its processes: 0 running, 1 sleeping; ending"* ]]
}

@test "progress: a look that is late counts when it comes, and there is one at a time" {
	slow_stat 1 "$DISTINIT" --init --progress="$log:2s" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.5; echo x >>log; done; exit 7'
	[[ $status -eq 7 && $stderr != *progress* ]]
}

@test "progress: a file dated 2100 or before 1970 hides no write, and is none itself" {
	touch -d 2100-01-01 log.future
	touch -d 1960-01-01 log.past
	invoke "$DISTINIT" --init --progress="$PWD/log*:1s" -- sh -c 'for i in 1 2 3 4 5 6; do sleep 0.4; echo x >log.own; done; exit 7'
	[[ $status -eq 7 && $stderr != *progress* ]]
	invoke "$DISTINIT" --init --progress="$PWD/log*:1s" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; touch -d "210$i-01-01" log.future; touch -d "196$i-01-01" log.past; done; exit 7'
	[[ $status -eq 124 && $stderr == *'not written since the start'* ]]
}

@test "progress: a file that is a little in the future hides no write" {
	touch -d '+100 seconds' log.ahead
	invoke "$DISTINIT" --init --progress="$PWD/log*:1s" -- sh -c 'for i in 1 2 3 4 5 6; do sleep 0.4; echo x >log.own; done; exit 7'
	[[ $status -eq 7 && $stderr != *progress* ]]
}

@test "progress: a folder that is not there gives a warning at the start" {
	invoke "$DISTINIT" --init --progress="$PWD/nosuch/log:30m" -- sleep 0.5
	[[ $status -eq 0 && $stderr == *"warning: --progress='$PWD/nosuch/log:30m': there is no folder '$PWD/nosuch';"*' the command is ended in 3600s' ]]
	DISTINIT_PROGRESS="$PWD/nosuch/log*:30m" invoke "$DISTINIT" --init -- sleep 0.5
	[[ $status -eq 0 && $stderr == *"warning: DISTINIT_PROGRESS="*"there is no folder"* ]]
	invoke "$DISTINIT" --init --progress="$log:30m" -- sleep 0.5
	[[ $status -eq 0 && -z $stderr ]]
}

@test "progress: bad words, and what it needs" {
	local word
	for word in log:1s "$log" "$log:" "$log:0" "$log:x" '/tmp/*/x:1s' ':1s' ''; do
		invoke "$DISTINIT" --init --progress="$word" -- echo started
		[[ $status -eq 125 && -z $output && $stderr == *--progress* ]]
	done
	invoke "$DISTINIT" --progress="$log:1s" -- echo started
	refuses_with '--progress needs --init'
	# A variable may be an image's.
	DISTINIT_PROGRESS="$log:1s" invoke "$DISTINIT" -- echo started
	succeeds_with started
}
