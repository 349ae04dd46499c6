#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --init: staying as the workload's parent, as PID 1 and as any process.
#
# These tests do not depend on the speed of the machine: a workload creates a file when it is ready,
# and each wait has a timeout that only a failure reaches.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the shells of the workloads expand the quoted texts
# shellcheck disable=SC2030,SC2031 # each test has its own pid and list of what it started

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	STARTED=()
	# A leftover process: it reports TERM, takes some time, and finishes.
	cat >slow <<-'END'
		trap 'echo told >>told; sleep 0.5; echo finished >>told; exit' TERM
		touch ready
		while :; do sleep 0.1; done
	END
}

teardown() {
	local pid
	for pid in "${STARTED[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# start ARG...: start distinit in the background, with its pid in $pid and its output in the files
# out and err. (A shell starts background processes with INT and QUIT ignored.)
start() {
	rm -f out # of an earlier one, which could seem to be ready
	env -i --default-signal=INT,QUIT PATH="$PATH" "$DISTINIT" "$@" >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
}

# as_pid1 ARG...: run distinit as PID 1 of a new namespace.
as_pid1() {
	invoke env -i PATH="$PATH" unshare --pid --fork --mount-proc "$DISTINIT" "$@"
}

# start_pid1 ARG...: the same in the background. $pid is that of unshare, $init that of distinit in
# our namespace.
start_pid1() {
	env -i --default-signal=INT,QUIT PATH="$PATH" unshare --pid --fork --mount-proc "$DISTINIT" "$@" >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	until_true children_of "$pid"
	init=$(children_of "$pid")
	STARTED+=("$init")
}

children_of() {
	local -a children
	read -ra children <"/proc/$1/task/$1/children"
	((${#children[@]})) && printf '%s\n' "${children[@]}"
}

# --- exit status ----------------------------------------------------------------------------------

@test "init: exits as the command did" {
	distinit -- --init -- /bin/sh -c 'exit 0'
	succeeds_with ''
	for code in 1 7 127 255; do
		distinit -- --init -- /bin/sh -c "exit $code"
		ends_saying "$code" "exit status $code"
	done
}

@test "init: exits with 128+N if signal N ended the command" {
	for signal in HUP INT QUIT KILL USR1 TERM; do
		distinit -- --init -- /bin/sh -c "kill -$signal \$\$"
		ends_saying $((128 + $(kill -l "$signal"))) "killed by SIG$signal*"
	done
}

@test "init: as PID 1 likewise" {
	requires_pidns
	as_pid1 --init -- sh -c 'exit 7'
	ends_saying 7 'exit status 7'
	as_pid1 --init -- sh -c 'kill -KILL $$'
	ends_saying 137 'killed by SIGKILL'
	as_pid1 --init -- sh -c 'echo $PPID; exit 0'
	succeeds_with 1
}

@test "init: commands that cannot be started get different statuses, and one error line" {
	echo text >text
	distinit PATH=/usr/bin:/bin -- --init -- nosuch
	fails_with 127 "'nosuch' was not found in PATH='/usr/bin:/bin'"
	distinit -- --init -- ./text
	fails_like 126 "'./text' cannot be started: *"
	distinit -- --init -- /no/such
	fails_with 127 "'/no/such' was not found"
	distinit PATH=/nowhere -- --init -- explain
	fails_with 127 "'explain' was not found in PATH='/nowhere'; it is a subcommand of distinit, not a program: docker run --entrypoint '$DISTINIT' IMAGE explain"
}

@test "init: /bin/sh runs a script without '#!'" {
	echo 'echo "ran $1"; exit 9' >script
	chmod +x script
	distinit -- --init -- ./script it
	[[ $status -eq 9 && $output == 'ran it' ]]
}

@test "init: DISTINIT_INIT turns it on too, and is not passed on" {
	distinit DISTINIT_INIT=1 -- -- /usr/bin/env
	succeeds_with ''
	distinit DISTINIT_INIT=0 -- -- /bin/sh -c 'exec cat /proc/$$/comm'
	succeeds_with cat
	[ "$(env -i DISTINIT_INIT=1 "$DISTINIT" -- /bin/sh -c 'cat /proc/$PPID/comm')" = distinit ]
}

@test "init: derives the same variables as without it" {
	distinit "${SESSION[@]}" -- --init --frameworks=torch -- /bin/sh -c 'echo $MASTER_ADDR'
	succeeds_with main1
}

@test "init: --map-exit maps the command's status, and the last pair counts" {
	distinit -- --init --map-exit=143:0,7:1 -- /bin/sh -c 'kill -TERM $$'
	succeeds_with ''
	distinit -- --init --map-exit=7:1 --map-exit=7:2,1:5 -- /bin/sh -c 'exit 7'
	[ "$status" -eq 2 ]
	distinit DISTINIT_MAP_EXIT=7:0 -- --init -- /bin/sh -c 'exit 7'
	succeeds_with ''
}

@test "--map-exit maps distinit's own statuses, with and without --init" {
	for init in --init=0 --init; do
		distinit -- $init --map-exit=127:0 -- /no/such
		[ "$status" -eq 0 ]
		distinit -- $init --map-exit=126:9 -- /dev/null
		[ "$status" -eq 9 ]
		distinit -- $init --map-exit=125:78,78:1 --hosts='a[' -- true
		[ "$status" -eq 78 ]
		distinit DISTINIT_MAP_EXIT=125:78 -- $init --user=no-such-user -- true
		[ "$status" -eq 78 ]
		distinit -- $init --map-exit=124:75 --wait=100ms --hosts=127.0.0.1,127.0.0.2 --node-rank=1 --master-port=1 -- true
		[ "$status" -eq 75 ]
	done
	distinit -- --map-exit=124:75 --time-limit=50ms -- sleep 5
	[ "$status" -eq 75 ]
	# A program that has started has its own.
	distinit -- --map-exit=127:0 -- sh -c 'exit 127'
	[ "$status" -eq 127 ]
	distinit -- --map-exit=7:0 -- sh -c 'exit 7'
	refuses_with "--map-exit: 7:0 needs --init: without it, only distinit's own statuses (123 to 127) can be replaced"
	distinit -- --map-exit=7 -- true
	refuses_with "--map-exit: '7': two exit statuses are expected, FROM:TO, each 0 to 255, such as 143:0; FROM may also be early or told"
}

# --- inheritance ----------------------------------------------------------------------------------

# born_with CODE PROGRAM ARG...: run these lines of Python, then exec PROGRAM.
born_with() {
	python3 -c "
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
def block(bits):  # all 64: what Python and the C library offer leaves some out
    mask = ctypes.c_uint64(bits)
    libc.syscall(14 if os.uname().machine == 'x86_64' else 135, 2, ctypes.byref(mask), None, 8)
def ignore(number):
    action = (ctypes.c_uint64 * 4)(1, 0, 0, 0)
    libc.syscall(13 if os.uname().machine == 'x86_64' else 134, number, action, None, 8)
$1
os.execvp(sys.argv[1], sys.argv[1:])
" "${@:2}"
}

signals_seen() {
	grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
}

@test "init: the command inherits the signal mask and the ignored signals exactly, all 64" {
	for code in 'pass' 'block(0xfffffffffffbfeff)' 'block(0x7fffffff00000000)' \
		'[ignore(n) for n in range(1, 65) if n not in (9, 19)]' \
		'ignore(1); ignore(17); ignore(32); ignore(33); ignore(34); ignore(64); block(1 << 33 | 1 << 9)' \
		'ignore(13); ignore(21); ignore(22); block(1 << 19 | 1 << 20 | 1 << 21 | 1 << 16)'; do
		bare=$(born_with "$code" grep -E '^Sig(Blk|Ign)' /proc/self/status)
		invoke born_with "$code" "$DISTINIT" --init -- grep -E '^Sig(Blk|Ign)' /proc/self/status
		[[ $status -eq 0 && $output == "$bare" ]]
	done
}

@test "init: started with SIGCHLD ignored, it ends with the command, and does not hang" {
	invoke timeout 60 bash -c 'trap "" CHLD; exec "$@"' - "$DISTINIT" --init -- sh -c '(sleep 0.1 & ) ; exit 5'
	[ "$status" -eq 5 ]
}

@test "init: started with every signal blocked, it still forwards them" {
	(exec 3>&-; born_with 'block(0xffffffffffffffff)' "$DISTINIT" --init -- python3 -c '
import signal
import os
open("pid", "w").write(str(os.getppid()))
open("ready", "w").close()
print(int(signal.sigwait({signal.SIGUSR1})))' >out 2>err) &
	STARTED+=("$!")
	until_true test -e ready
	local its
	its=$(<pid)
	STARTED+=("$its")
	kill -USR1 "$its"
	until_true gone "$its"
	[ "$(<out)" = 10 ]
}

@test "init: started with descriptors 0 to 2 closed" {
	code='ls /proc/self/fd >seen; exit 4'
	bash -c 'exec "$@" <&- >&- 2>&-' - sh -c "$code" || mv seen bare
	invoke bash -c 'exec "$@" <&- >&- 2>&-' - "$DISTINIT" --init -- sh -c "$code"
	[ "$status" -eq 4 ]
	diff bare seen
}

@test "init: it keeps no descriptor above 2 and no folder open, and the command inherits both" {
	exec 7</dev/null
	start --init -- sh -c 'ls /proc/$$/fd >fds; pwd >cwd; touch ready; exec sleep 1000'
	exec 7<&-
	until_true test -e ready
	until_true eval '[ "$(readlink /proc/$pid/cwd)" = / ]'
	[ "$(cat cwd)" = "$PWD" ]
	grep -qx 7 fds
	for fd in /proc/"$pid"/fd/*; do
		[ "${fd##*/}" -le 2 ]
	done
	kill -TERM "$pid"
	ends_with 143
}

@test "init: where stdin is closed, none of our files stays open in its place" {
	local report
	for report in "$PWD/report" /dev/stdout; do
		bash -c 'exec "$@" <&-' - "$DISTINIT" --init --report="$report" -- sh -c 'touch ready; exec sleep 1000' >out 2>err 3>&- &
		pid=$!
		STARTED+=("$pid")
		until_true test -e ready
		# Its number is reserved.
		until_true eval '[ "$(readlink /proc/$pid/fd/0)" = / ]'
		rm ready
		kill -TERM "$pid"
		ends_with 143
	done
}

@test "init: with descriptors closed at the start, no message gets into a file or socket of its own" {
	# stdin and stderr closed, a leftover to end, and a report: all that opens something.
	local closed
	for closed in '<&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
		rm -f ready told report
		invoke bash -c "exec \"\$@\" $closed" - "$DISTINIT" --init --log=debug --report="$PWD/report" --leftovers=end --leftovers-grace=60s -- \
			bash -c '(trap "echo told >told; exit" TERM; touch ready; while :; do sleep 0.1; done) & while ! [ -e ready ]; do sleep 0.02; done; exit 4'
		[ "$status" -eq 4 ]
		[ "$(<told)" = told ]
		run ! grep -q '^distinit' report
		python3 -c 'import json; [json.loads(line) for line in open("report")]'
	done
}

# A wait on an epoll set that was closed as stdin would let it spin.
@test "init: with stdin closed it waits for leftovers without using the processor" {
	bash -c 'exec "$@" <&-' - "$DISTINIT" --log=info --max-restarts=1 --leftovers=end --leftovers-grace=60s -- \
		bash -c '(trap "" TERM; touch ready; until [ -e go ]; do sleep 0.1; done) & until [ -e ready ]; do sleep 0.02; done' >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	local before after
	until_true grep -q 'they are asked to end' err
	before=$(cut -d' ' -f14-15 "/proc/$pid/stat")
	sleep 0.5
	after=$(cut -d' ' -f14-15 "/proc/$pid/stat")
	touch go
	ends_with 0
	((${after/ /+} - (${before/ /+}) < 20))
}

@test "init: without /proc" {
	requires_pidns
	unshare --mount sh -c 'umount -l /proc' 2>/dev/null || skip '/proc cannot be unmounted here'
	invoke unshare --mount --pid --fork sh -c 'umount -l /proc && exec "$@"' - "$DISTINIT" --init -- \
		bash -c '(trap "echo told >told; exit" TERM; touch ready; while :; do sleep 0.1; done) & while ! [ -e ready ]; do sleep 0.02; done; exit 3'
	[ "$status" -eq 3 ]
	[ "$(cat told)" = told ]
	invoke unshare --mount sh -c 'umount -l /proc && exec "$@"' - "$DISTINIT" --init -- sh -c 'exit 6'
	ends_saying 6 'exit status 6'
	invoke unshare --mount sh -c 'umount -l /proc && exec "$@"' - "$DISTINIT" --init --leftovers=end -- \
		sh -c 'sleep 1000 & echo $! >left; exit 6'
	[[ $status -eq 6 && $stderr == *'cannot be found without /proc'* ]]
	kill -KILL "$(cat left)"
}

@test "init: in a user namespace, as nobody, and with a read-only root" {
	if unshare --user --pid --fork true 2>/dev/null; then
		invoke unshare --user --pid --fork "$DISTINIT" --init -- sh -c '(sleep 1000 &); exit 3'
		ends_saying 3 'exit status 3'
	fi
	invoke as_nobody "$DISTINIT" --init -- /bin/sh -c 'exit 3'
	ends_saying 3 'exit status 3'
	if unshare --mount sh -c 'mount --make-rprivate / && mount -o remount,bind,ro /' 2>/dev/null; then
		invoke unshare --mount sh -c 'mount --make-rprivate / && mount -o remount,bind,ro / && exec "$@"' - \
			"$DISTINIT" --init -- sh -c 'exit 3'
		ends_saying 3 'exit status 3'
	fi
}

@test "init: a LISTEN_PID of distinit is changed to the command's" {
	code='import os, sys
os.environ.update(LISTEN_PID=sys.argv[1] if sys.argv[1] != "own" else str(os.getpid()), LISTEN_FDS="1", LISTEN_PIDFDID="5")
os.execv(sys.argv[2], sys.argv[2:])'
	invoke python3 -c "$code" own "$DISTINIT" --init -- sh -c 'echo $LISTEN_FDS; [ "$LISTEN_PID" = $$ ] && echo its own; env | grep LISTEN_PIDFDID'
	[ "$output" = $'1\nits own' ]
	invoke python3 -c "$code" 999999 "$DISTINIT" --init -- sh -c 'echo $LISTEN_PID; env | grep LISTEN_PIDFDID'
	[ "$output" = $'999999\nLISTEN_PIDFDID=5' ]
}

# --- signals --------------------------------------------------------------------------------------

# A workload that prints each signal that it gets, and ends at TERM. It uses sigwait(), because
# pause() would miss a signal that arrives just before it.
readonly TELLS='
import os, signal, sys
told = {n for n in range(1, 65) if n not in (9, 17, 19, 32, 33)}
signal.pthread_sigmask(signal.SIG_BLOCK, told)
open("ready", "w").close()
while True:
    number = signal.sigwait(told)
    os.write(1, b"%d\n" % number)
    if number == signal.SIGTERM:
        sys.exit(3)'

@test "init: every signal that can be caught is forwarded, realtime ones too" {
	start --init -- python3 -c "$TELLS"
	until_true test -e ready
	local -a all=()
	for ((n = 1; n <= 64; n++)); do
		case $n in
		2 | 9 | 15 | 17 | 18 | 19 | 32 | 33) continue ;;
		esac
		all+=("$n")
		kill -"$n" "$pid"
		until_true grep -qx "$n" out
	done
	kill -CONT "$pid"
	until_true grep -qx 18 out
	kill -TERM "$pid"
	ends_with 3
	[ "$(grep -cvx 18 out)" -eq $((${#all[@]} + 1)) ]
}

@test "init: the same after orphans, when the kernel may reap them" {
	start --init -- sh -c '(sleep 0.01 &); (sleep 0.01 &); exec "$@"' - python3 -c "$TELLS"
	until_true test -e ready
	until_true eval '[ "$(wc -w <"/proc/$pid/task/$pid/children")" -eq 1 ]'
	for n in 1 10 12 34 64; do
		kill -"$n" "$pid"
		until_true grep -qx "$n" out
	done
	kill -TERM "$pid"
	ends_with 3
}

@test "init: as PID 1 too, from inside and outside the namespace" {
	requires_pidns
	start_pid1 --init -- python3 -c "$TELLS"
	until_true test -e ready
	for n in 1 3 6 10 12 14 20 34 64; do
		kill -"$n" "$init"
		until_true grep -qx "$n" out
	done
	requires nsenter
	nsenter --target "$init" --pid --mount kill -USR2 1
	until_true eval '[ "$(grep -cx 12 out)" -eq 2 ]'
	kill -TERM "$init"
	ends_with 3
}

@test "init: a queued signal keeps its value and its order" {
	start --init -- python3 -c '
import signal
signals = {40, 50}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
open("ready", "w").close()
import ctypes
class Info(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("e", ctypes.c_int), ("code", ctypes.c_int), ("pad", ctypes.c_int), ("pid", ctypes.c_int), ("uid", ctypes.c_int), ("value", ctypes.c_uint64), ("rest", ctypes.c_char * 96)]
mask, info = ctypes.c_uint64(1 << 39 | 1 << 49), Info()
import os
call = 128 if os.uname().machine == "x86_64" else 137
for i in range(200):
    assert ctypes.CDLL(None).syscall(call, ctypes.byref(mask), ctypes.byref(info), None, 8) == 40
    assert info.value == i and info.code == -1, (i, info.value, info.code)
print("all")'
	until_true test -e ready
	python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
for i in range(200):
    assert libc.sigqueue(int(sys.argv[1]), 40, ctypes.c_void_p(i)) == 0' "$pid"
	ends_with 0
	[ "$(<out)" = all ]
}

@test "init: --signal rewrites and drops" {
	start --init --signal=USR1:USR2,HUP:0 --signal=ALRM:RTMIN+1 -- python3 -c "$TELLS"
	until_true test -e ready
	kill -HUP "$pid"
	kill -USR1 "$pid"
	until_true grep -qx 12 out
	kill -ALRM "$pid"
	until_true grep -qx 35 out
	kill -TERM "$pid"
	ends_with 3
	[ "$(<out)" = $'12\n35\n15' ]
}

@test "init: --signal=TERM:INT ends a command that handles only INT" {
	start --init --signal=TERM:INT -- bash -c 'trap "" TERM; trap "exit 8" INT; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -TERM "$pid"
	ends_with 8
}

@test "init: a signal goes to the command alone; with --kill-group, to its group" {
	# shellcheck disable=SC2043
	for option in '' --kill-group; do
		rm -f ready child
		# shellcheck disable=SC2086
		start --init $option -- sh -c '
			trap "sleep 0.1; exit 5" USR1
			bash -c "trap \"echo got >child\" USR1; touch ready; while :; do sleep 0.1; done" &
			echo $! >left
			while :; do sleep 0.1; done'
		until_true test -e ready
		until_true test -s left
		kill -USR1 "$pid"
		if [[ -n $option ]]; then
			until_true test -s child
		fi
		ends_with 5
		kill -KILL "$(<left)"
		[[ -n $option || ! -e child ]]
	done
}

@test "init: signals that come while the command is being started are not lost" {
	# Pending and blocked at start, like a signal that has just arrived.
	invoke born_with 'block(1 << 14); os.kill(os.getpid(), 15)' "$DISTINIT" --init --grace=60s -- python3 -c '
import signal
signal.pthread_sigmask(signal.SIG_UNBLOCK, {15})
signal.pause()'
	[ "$status" -eq 143 ]
}

# without CALL ERRNO ARG...: distinit, and the kernel refuses it this call. Its child may make it.
without() {
	local call=$1 errno=$2
	shift 2
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	invoke timeout --kill-after=1 20 strace -o /dev/null -e "inject=$call:error=$errno" "$DISTINIT" "$@"
}

@test "init: where signals cannot be blocked, nothing starts" {
	local errno text
	while read -r errno text; do
		without rt_sigprocmask "$errno" --init -- sh -c 'echo started; exit 7'
		refuses_with "staying as the command's parent needs rt_sigprocmask, and a filter of system calls (seccomp) refuses it: $text"
	done <<-'END'
		EPERM Operation not permitted
		ENOSYS Function not implemented
	END
	# An ordinary start does not need it.
	without rt_sigprocmask EPERM -- echo started
	succeeds_with started
}

# --- nobody beside --------------------------------------------------------------------------------

# Takes descriptors of its parent, which has the same user; then says whether a debugger of that user may look at itself.
TAKES='
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
parent = os.pidfd_open(os.getppid())
print("taken", [n for n in range(64) if libc.syscall(438, parent, n, 0) >= 0], "dumpable", libc.prctl(3, 0, 0, 0, 0))'

# SECURITY.md: The workload takes no connection or secret out of distinit.
@test "init: the command cannot take the descriptors of distinit, and can still be debugged itself" {
	requires python3 setpriv
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	cp "$(command -v sh)" "$OPEN_FOLDER/sh"
	# Any parent but distinit gives them away; or pidfd_getfd() is not there, and this shows nothing.
	invoke as_nobody "$OPEN_FOLDER/sh" -c 'python3 -c "$0"; exit' "$TAKES"
	[[ $output == "taken [0, 1, 2"*'] dumpable 1' ]] || skip 'pidfd_getfd() takes no descriptors here'
	# Without anything to protect it is as open as tini.
	invoke as_nobody "$OPEN_FOLDER/distinit" --init -- python3 -c "$TAKES"
	[[ $status -eq 0 && $output == "taken [0, 1, 2"*'] dumpable 1' ]]
	local -a given=(env DISTINIT_SECRET=0123456789abcdefgh) all=(--wait --for=all --hosts=127.0.0.1 --node-rank=0)
	invoke as_nobody "${given[@]}" "$OPEN_FOLDER/distinit" --init "${all[@]}" -- python3 -c "$TAKES"
	succeeds_with 'taken [] dumpable 1'
	# As root without cap_sys_ptrace, too, as in containers.
	if [[ $EUID -eq 0 ]]; then
		invoke setpriv --bounding-set=-sys_ptrace "${given[@]}" "$OPEN_FOLDER/distinit" --init "${all[@]}" -- python3 -c "$TAKES"
		succeeds_with 'taken [] dumpable 1'
	fi
	remove_open_folder
}

# As a container's root, who has no cap_sys_ptrace.
@test "init: a script may write to /proc/1/fd/1, plain, as another user, and on a terminal" {
	requires setpriv python3
	requires_pidns
	requires_root
	local code='echo hi >/proc/1/fd/1; echo there >/proc/1/fd/2'
	local -a bare=(setpriv --bounding-set=-sys_ptrace --) first=(unshare --pid --fork --mount-proc setpriv --bounding-set=-sys_ptrace)
	invoke "${first[@]}" -- "$DISTINIT" --init -- sh -c "$code"
	[[ $status -eq 0 && $output == hi && $stderr == there ]]
	# Cron's jobs: not a child of the shell, and after its parent's end.
	invoke "${first[@]}" -- "$DISTINIT" --init -- sh -c 'setsid -w sh -c "$0"' "$code"
	[[ $status -eq 0 && $output == hi && $stderr == there ]]
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	# Engines give the streams to the container's user.
	touch "$OPEN_FOLDER/said"
	chmod 666 "$OPEN_FOLDER/said"
	"${first[@]}" --reuid=65534 --regid=65534 --clear-groups -- "$OPEN_FOLDER/distinit" --init -- sh -c "${code//>/>>}" >>"$OPEN_FOLDER/said" 2>&1
	[ "$(<"$OPEN_FOLDER/said")" = $'hi\nthere' ]
	invoke "$BATS_TEST_DIRNAME/../programs/terminal" see=hi see=there ends=0 -- \
		"${first[@]}" -- "$DISTINIT" --init -- sh -c "$code" 3>&-
	[ "$status" -eq 0 ]
	# With a secret it is closed, and the page says so. So it is to who gives up root by our option.
	invoke env DISTINIT_SECRET=0123456789abcdefgh "${first[@]}" -- "$DISTINIT" --init --wait --for=all --hosts=127.0.0.1 --node-rank=0 -- sh -c "$code"
	[[ $status -ne 0 && -z $output && $stderr == *'Permission denied'* ]]
	invoke "${first[@]}" -- "$OPEN_FOLDER/distinit" --init --user=65534:65534 -- sh -c "$code"
	[[ $status -ne 0 && -z $output && $stderr == *'Permission denied'* ]]
	# So are its environment and its file.
	local file
	for file in environ exe; do
		invoke "${first[@]}" -- "$DISTINIT" --init -- sh -c "head -c 1 /proc/1/$file >/dev/null"
		[ "$status" -eq 0 ]
		# Newer kernels show the environment to cap_perfmon, too, which containers do not have either.
		first=(unshare --pid --fork --mount-proc setpriv "--bounding-set=-sys_ptrace,-perfmon,-sys_admin")
		invoke env DISTINIT_SECRET=0123456789abcdefgh "${first[@]}" -- "$DISTINIT" --init --wait --for=all --hosts=127.0.0.1 --node-rank=0 -- \
			head -c 1 "/proc/1/$file"
		[[ $status -ne 0 && -z $output && $stderr == *'Permission denied'* ]]
	done
	remove_open_folder
}

# --- orphans and leftovers ------------------------------------------------------------------------

@test "init: where it cannot become a subreaper, it says what follows" {
	local why='PR_SET_CHILD_SUBREAPER fails: Invalid argument'
	without prctl EINVAL --init -- true
	warns_with "orphans of the command are not reaped: $why"
	without prctl EINVAL --init --leftovers=end -- true
	warns_with "orphans of the command are not reaped, and not ended when it has ended: $why"
}

@test "init: orphans are reaped, as PID 1 and as a subreaper" {
	requires_pidns
	code='
for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.01 &); done
for i in $(seq 1500); do
	case $(cat /proc/$PPID/task/$PPID/children) in "$$ ") exit 0 ;; esac
	sleep 0.02
done
ps -ef
exit 1'
	as_pid1 --init -- bash -c "$code"
	succeeds_with ''
	distinit PATH="$PATH" -- --init -- bash -c "$code"
	succeeds_with ''
}

@test "init: without leftovers there is no wait" {
	distinit -- --init --leftovers=end --leftovers-grace=1h -- /bin/true
	succeeds_with ''
	requires_pidns
	as_pid1 --init --leftovers-grace=1h -- true
	succeeds_with ''
}

@test "init: leftovers get TERM and may finish" {
	code='sh slow & until [ -e ready ]; do sleep 0.02; done; exit 4'
	distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=60s -- sh -c "$code"
	[[ $status -eq 4 && $stderr != *distinit*distinit* && $(cat told) == $'told\nfinished' ]]
	requires_pidns
	rm ready told
	invoke unshare --pid --fork --mount-proc "$DISTINIT" --init --leftovers=end --leftovers-grace=60s -- sh -c "$code"
	[[ $status -eq 4 && $stderr != *distinit*distinit* && $(cat told) == $'told\nfinished' ]]
}

@test "init: grandchildren too, and processes in sessions of their own" {
	requires setsid
	code='setsid sh -c "sh slow & until [ -e ready ]; do sleep 0.02; done; touch both; exec sleep 1000" & until [ -e both ]; do sleep 0.02; done; exit 4'
	distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=60s -- sh -c "$code"
	[[ $status -eq 4 && $stderr != *distinit*distinit* && $(cat told) == $'told\nfinished' ]]
	requires_pidns
	rm ready both told
	invoke unshare --pid --fork --mount-proc "$DISTINIT" --init --leftovers=end --leftovers-grace=60s -- sh -c "$code"
	[[ $status -eq 4 && $stderr != *distinit*distinit* && $(cat told) == $'told\nfinished' ]]
}

@test "init: what becomes of leftovers is said into a pipe, too, although it is closed for the command's data" {
	{ env -i PATH="$PATH" "$DISTINIT" --init --leftovers=end --leftovers-grace=100ms -- sh -c '
		bash -c "trap : TERM; touch ready; while :; do sleep 0.1; done" & until [ -e ready ]; do sleep 0.02; done'; } 2>&1 >/dev/null 3>&- | cat >said
	grep -q '^distinit: warning: processes that sh left behind .* killed' said
}

@test "init: leftovers that do not end within the grace period are killed, with a message" {
	code='sh -c "trap \"\" TERM; touch ready; while :; do sleep 0.1; done" & echo $! >left; until [ -e ready ]; do sleep 0.02; done; exit 4'
	distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=200ms -- sh -c "$code"
	ends_saying 4 $'exit status 4\ndistinit: warning: processes that sh left behind have not ended in 0.2s: they are killed'
	gone "$(cat left)"
	requires_pidns
	rm ready left
	as_pid1 --init --leftovers=end --leftovers-grace=200ms -- sh -c "$code"
	[[ $status -eq 4 && $stderr == *'they are killed' ]]
}

# chain DEPTH: a leftover that starts the next one, and so on; each is in the file chain.
readonly CHAIN='
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN if sys.argv[2] == "ignore" else signal.SIG_DFL)
if os.fork():
    while len(open("chain").readlines()) < int(sys.argv[1]) if os.path.exists("chain") else True:
        time.sleep(0.01)
    sys.exit(4)
for i in range(int(sys.argv[1])):
    file = os.open("chain", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, b"%d\n" % os.getpid())
    os.close(file)
    if i + 1 < int(sys.argv[1]) and os.fork():
        break
time.sleep(1000)'

@test "init: leftovers that are a chain end, all of them, at any depth" {
	requires python3
	local depth how pid
	for how in ignore end; do
		for depth in 5 60; do
			rm -f chain
			distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=100ms -- python3 -c "$CHAIN" "$depth" "$how"
			[[ $status -eq 4 && $stderr != *'cannot be killed'* ]]
			while read -r pid; do
				gone "$pid"
			done <chain
			[ "$(wc -l <chain)" -eq "$depth" ]
		done
	done
	# Before a restart, too.
	rm -f chain
	distinit PATH="$PATH" -- --max-restarts=1 --leftovers-grace=100ms -- sh -c '[ "$DISTINIT_RESTART_COUNT" = 0 ] || exit 9; exec "$@"' - python3 -c "$CHAIN" 20 ignore
	[ "$status" -eq 9 ]
	while read -r pid; do
		gone "$pid"
	done <chain
}

# The test traces the leftovers, so each of them ends when the test lets it, and it stops distinit for longer than a killed
# process may take, as 20,000 of them do that are reaped.
@test "init: what was killed is not said to be left running while others end" {
	requires python3
	invoke env -i PATH="$PATH" python3 - "$DISTINIT" <<-'END'
		import ctypes, os, signal, subprocess, sys, time
		libc = ctypes.CDLL(None, use_errno=True)
		CONT, SEIZE, TRACE_EXIT = 7, 0x4206, 0x40
		def ptrace(what, pid, data=0):
		    if libc.ptrace(what, pid, None, ctypes.c_void_p(data)) < 0:
		        print(os.strerror(ctypes.get_errno()))
		        sys.exit(3)
		def state(pid):
		    try:
		        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
		    except OSError:
		        return "gone"
		def wait_for(pid, *states):
		    while state(pid) not in states:
		        time.sleep(0.01)
		one = "(trap '' TERM; exec sh -c 'echo $$; exec sleep 1000') & "
		code = one + one + "read -r _; exit 4"
		words = [sys.argv[1], "--init", "--leftovers=end", "--leftovers-grace=100ms", "--", "sh", "-c", code]
		child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		left = [int(child.stdout.readline()) for _ in range(2)]
		for pid in left:
		    ptrace(SEIZE, pid, TRACE_EXIT)
		child.stdin.write("\n")
		child.stdin.flush()
		said = ""
		while "they are killed" not in said:
		    said += child.stderr.readline()
		for pid in left:
		    wait_for(pid, "t")
		# It is stopped where it sleeps, and not while it looks: in rt_sigtimedwait(), of amd64 or arm64.
		sleeps = False
		while not sleeps:
		    os.kill(child.pid, signal.SIGCONT)
		    time.sleep(0.01)
		    os.kill(child.pid, signal.SIGSTOP)
		    wait_for(child.pid, "T")
		    sleeps = open(f"/proc/{child.pid}/syscall").read().split()[0] in ("128", "137")
		ptrace(CONT, left[0])
		wait_for(left[0], "Z")
		os.waitpid(left[0], 0) # it is its tracer's first
		time.sleep(2.1)
		os.kill(child.pid, signal.SIGCONT)
		wait_for(left[0], "gone")
		wait_for(child.pid, "S", "Z")
		ptrace(CONT, left[1])
		wait_for(left[1], "Z")
		os.waitpid(left[1], 0)
		print(said + child.stderr.read(), end="")
		sys.exit(child.wait())
	END
	[[ $status -ne 3 ]] || skip 'nothing can be traced here'
	[[ $status -eq 4 && $output == *'they are killed' && $output != *'left running'* ]]
}

@test "init: each of 400 leftovers is asked to end once" {
	requires python3
	# Each counts its TERMs until half a second passes without another one. More of them than a page of the family has room for.
	cat >many <<-'END'
		import os, signal, sys, time
		N = 400
		ready, at = os.pipe()
		for i in range(N):
		    if os.fork() == 0:
		        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
		        os.write(at, b"x")
		        signal.sigwait({signal.SIGTERM})
		        got = 1
		        while signal.sigtimedwait({signal.SIGTERM}, 0.5) is not None:
		            got += 1
		        file = os.open("counts", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
		        os.write(file, b"%d\n" % got)
		        os._exit(0)
		n = 0
		while n < N:
		    n += len(os.read(ready, N))
	END
	distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=60s -- python3 many
	[ "$status" -eq 0 ]
	[ "$(sort counts | uniq -c | tr -s ' ')" = ' 400 1' ]
}

@test "init: a leftover that forks endlessly while it is being ended" {
	code='trap "" TERM; (trap "" TERM; while :; do sleep 0.02 & done) & exit 4'
	distinit PATH="$PATH" -- --init --leftovers=end --leftovers-grace=300ms -- sh -c "$code"
	[ "$status" -eq 4 ]
	requires_pidns
	as_pid1 --init --leftovers=end --leftovers-grace=300ms -- sh -c "$code"
	[ "$status" -eq 4 ]
}

@test "init: TERM reaches the command first, and the leftovers when it has ended" {
	start --init --leftovers=end --leftovers-grace=60s -- sh -c '
		trap "sleep 0.3; echo command >>order; exit 6" TERM
		bash -c "trap \"echo left >>order; exit\" TERM; touch ready; while :; do sleep 0.1; done" &
		while :; do sleep 0.1; done'
	until_true test -e ready
	kill -TERM "$pid"
	ends_with 6
	[ "$(cat order)" = $'command\nleft' ]
}

@test "init: --grace kills a command that does not end after TERM, also if TERM is rewritten" {
	for option in --kill-group=0 --signal=TERM:INT; do
		rm -f ready
		start --init --grace=200ms "$option" -- sh -c 'trap "" TERM INT; touch ready; while :; do sleep 0.1; done'
		until_true test -e ready
		kill -TERM "$pid"
		ends_with 137
		[ "$(head -n 1 err)" = 'distinit: warning: sh did not end within the grace period of 0.2s: it is killed' ]
		[[ $(tail -n 1 err) == 'distinit: warning: sh ended after '*'s: killed by SIGKILL, 0.'*" after SIGTERM from pid $$" && $(wc -l <err) -eq 2 ]]
	done
}

@test "init: other signals do not begin the grace period" {
	start --init --grace=100ms -- bash -c 'trap "touch got" USR1; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -USR1 "$pid"
	until_true test -e got
	sleep 0.5
	kill -0 "$pid"
	kill -TERM "$pid"
	ends_with 143
}

@test "init: TERM that was ignored at start does not begin the grace period either" {
	env -i --default-signal=INT,QUIT --ignore-signal=TERM PATH="$PATH" "$DISTINIT" --init --grace=100ms -- \
		python3 -c '
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
open("ready", "w").close()
signal.sigwait({signal.SIGTERM})
open("got", "w").close()
signal.pause()' >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	until_true test -e ready
	kill -TERM "$pid"
	until_true test -e got
	sleep 0.5
	kill -0 "$pid"
	kill -INT "$pid"
	ends_with 130
}

@test "init: INT does not begin the grace period: a command may handle it and go on" {
	start --init --grace=100ms -- bash -c 'trap "touch got" INT; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -INT "$pid"
	until_true test -e got
	sleep 0.5
	kill -0 "$pid"
	kill -TERM "$pid"
	ends_with 143
}

@test "init: without --grace, or with --grace=never, TERM kills no command that takes its time" {
	local never
	start --init -- bash -c 'trap "sleep 6; exit 7" TERM; touch ready; while :; do sleep 0.1; done'
	never=$pid
	until_true test -e ready
	kill -TERM "$never"
	start --init --grace=1h --grace=never -- bash -c 'trap "exit 8" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
	ends_with 8
	pid=$never
	ends_with 7
}

@test "init: TERM to a command that is stopped is followed by CONT" {
	local option
	for option in --kill-group=0 --kill-group; do
		start --init "$option" -- bash -c 'trap "exit 3" TERM; echo $$ >its; kill -STOP $$; while :; do sleep 0.1; done'
		until_true eval '[[ $(<"/proc/$(<its)/stat") == *") T "* ]]'
		kill -TERM "$pid"
		ends_with 3
		rm its
	done
}

@test "init: TERM to a command that is not stopped is not followed by CONT" {
	start --init -- python3 -c "${TELLS/sys.exit(3)/pass}"
	until_true test -e ready
	kill -TERM "$pid"
	until_true grep -qx 15 out
	kill -USR1 "$pid"
	until_true grep -qx 10 out
	kill -KILL "$pid" "$(children_of "$pid")"
	[ "$(<out)" = $'15\n10' ]
}

# --- --leftovers ----------------------------------------------------------------------------------

# A command that leaves behind a process that TERM does not end.
readonly LEAVES='bash -c "trap \"touch asked\" TERM; touch ready; while :; do sleep 0.1; done" & echo $! >left; until [ -e ready ]; do sleep 0.02; done; exit 4'

@test "init: if it is not PID 1, leftovers keep running, unless --leftovers=end" {
	distinit PATH="$PATH" -- --init -- sh -c "exec </dev/null >/dev/null 2>&1 3>&-; $LEAVES"
	ends_saying 4 'exit status 4'
	kill -0 "$(cat left)"
	STARTED+=("$(cat left)")
	distinit PATH="$PATH" DISTINIT_LEFTOVERS=end DISTINIT_LEFTOVERS_GRACE=0 -- --init -- sh -c "$LEAVES"
	[ "$status" -eq 4 ]
	gone "$(cat left)"
}

@test "init: the first process of a container that shares its PID namespace ends leftovers, as PID 1 does" {
	requires_pidns
	unshare --pid --fork --mount-proc sh -c 'touch up; exec sleep 1000' 3>&- &
	STARTED+=("$!")
	until_true test -e up
	STARTED+=("$(children_of "$!")")
	# Its parent has no number there, as an engine has none.
	invoke env -i PATH="$PATH" nsenter --target "${STARTED[1]}" --pid --mount --wd="$PWD" "$DISTINIT" --init --leftovers-grace=60s -- \
		sh -c 'sh slow & until [ -e ready ]; do sleep 0.02; done; exit 4'
	ends_saying 4 'exit status 4'
	[ "$(<told)" = $'told\nfinished' ]
}

@test "init: --leftovers=leave, as PID 1: leftovers get no signal, and there is no wait" {
	requires_pidns
	as_pid1 --init --leftovers=leave --leftovers-grace=1h -- sh -c 'sh slow & until [ -e ready ]; do sleep 0.02; done; exit 4'
	ends_saying 4 'exit status 4'
	[ ! -e told ]
}

@test "init: as PID 1, a leftover that ignores TERM costs 2 s by default, not the time of --grace" {
	requires_pidns
	local before=${EPOCHREALTIME/./} took
	as_pid1 --init --grace=1h -- sh -c "$LEAVES"
	took=$((${EPOCHREALTIME/./} - before))
	[[ $status -eq 4 && $stderr == *'have not ended in 2s: they are killed' ]]
	((took >= 2000000 && took < 20000000))
}

@test "init: TERM or INT ends the wait for leftovers, and the status stays the command's" {
	requires_pidns
	local signal
	for signal in TERM INT; do
		rm -f ready asked
		start_pid1 --init --leftovers-grace=1h -- sh -c "$LEAVES"
		until_true test -e asked
		kill -"$signal" "$init"
		ends_with 4
		# A shell may say that its sleep was terminated.
		[ "$(tail -n 1 err)" = "distinit: warning: processes that sh left behind are killed now, because signal $signal came" ]
		rm -f ready asked
		start --init --leftovers=end --leftovers-grace=1h -- sh -c "$LEAVES"
		until_true test -e asked
		kill -"$signal" "$pid"
		ends_with 4
		gone "$(cat left)"
	done
}

@test "init: another signal does not end the wait for leftovers" {
	start --init --log=info --leftovers=end --leftovers-grace=1h -- \
		sh -c 'bash -c "trap \"touch asked\" TERM; touch ready; until [ -e enough ]; do sleep 0.02; done; sleep 0.2; echo data >data" & until [ -e ready ]; do sleep 0.02; done; exit 4'
	until_true test -e asked
	kill -USR1 "$pid"
	until_true grep -qx 'distinit: info: signal USR1 is dropped' err
	touch enough
	ends_with 4
	[ "$(<data)" = data ]
}

@test "init: as PID 1, readers of the output see its end and may write their data" {
	requires_pidns
	for _ in 1 2 3 4 5; do
		invoke unshare --pid --fork --mount-proc bash -c 'exec > >(gzip >o.gz) 2>&1; exec "$@"' - "$DISTINIT" --init -- seq 1 1000
		[ "$status" -eq 0 ]
		[ "$(gzip -cd o.gz | tail -n 1)" = 1000 ]
	done
}

@test "init: a kill is reported even if stderr is a pipe whose readers have seen its end" {
	requires_pidns
	unshare --pid --fork --mount-proc "$DISTINIT" --init --leftovers-grace=100ms -- sh -c "$LEAVES" 2>&1 | cat >out
	[[ $(<out) == *'have not ended in 0.1s: they are killed' ]]
}

@test "init: as PID 1, a shell that came from outside delays the end only briefly" {
	requires_pidns
	requires nsenter
	start_pid1 --init --leftovers-grace=1h -- sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done; exit 4'
	until_true test -e ready
	nsenter --target "$init" --pid --mount sh -c 'cd "$1"; trap "" TERM; touch in; while :; do sleep 1; done' - "$PWD" 3>&- &
	STARTED+=("$!")
	until_true test -e in
	touch go
	soon 3000 ends_with 4
	[[ $(<err) == *': exit status 4' && $(wc -l <err) -eq 1 ]]
}

@test "init: as PID 1, processes that came from outside get TERM before the end" {
	requires_pidns
	requires nsenter
	start_pid1 --init -- sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done; exit 4'
	until_true test -e ready
	nsenter --target "$init" --pid --mount bash -c 'cd "$1"; trap "echo told >told; exit" TERM; touch in; while :; do sleep 0.1; done' - "$PWD" 3>&- &
	STARTED+=("$!")
	until_true test -e in
	touch go
	ends_with 4
	[ "$(cat told)" = told ]
}

@test "init: with a limit of three descriptors, leftovers still get TERM" {
	requires prlimit
	start --init --leftovers=end --leftovers-grace=60s -- sh -c 'sh slow & until [ -e go ]; do sleep 0.02; done; exit 4'
	until_true test -e ready
	prlimit --pid "$pid" --nofile=3:
	touch go
	ends_with 4
	[[ $(<err) == *': exit status 4' && $(wc -l <err) -eq 1 && -e told ]]
}

@test "init: if /proc belongs to another namespace, a warning says that leftovers cannot be found" {
	requires_pidns
	invoke unshare --pid --fork sh -c '"$@"; echo "status $?"' - "$DISTINIT" --init --leftovers=end --leftovers-grace=60s -v -- \
		sh -c 'sleep 60 & exit 4'
	[[ $output == 'status 4' && $stderr == *'cannot be found without /proc of this PID namespace: they are left'* ]]
	[[ $stderr != *'asked to end'* ]]
}

@test "init: another process that gets the command's PID does not change the status" {
	requires_pidns
	[ -w /proc/sys/kernel/ns_last_pid ] || skip 'the next number cannot be set here'
	as_pid1 --init --leftovers-grace=60s -- python3 -c '
import os, signal, time
its = os.getpid()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    # A PID is free only if no process group has it either.
    os.setsid()
    while os.getppid() == its:
        time.sleep(0.01)
    while os.path.exists("/proc/%d" % its):
        time.sleep(0.01)
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(its - 1))
    if os.fork() == 0:
        while os.getppid() != 1:
            time.sleep(0.01)
        open("number", "w").write("%d %d" % (its, os.getpid()))
        os._exit(9)
    os._exit(0)
os._exit(4)'
	[[ $(cat number) =~ ^([0-9]+)\ ([0-9]+)$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
	[ "$status" -eq 4 ]
}

@test "init: TERM while a name is looked up ends distinit at once, as PID 1 too, and nothing starts" {
	requires_pidns
	requires python3
	unshare --net --mount true 2>/dev/null || skip 'network namespaces cannot be made here'
	# The C library waits for a minute for a name server that accepts queries, and never answers.
	echo $'nameserver 127.0.0.1\noptions timeout:60 attempts:1' >resolv
	cat >server.py <<-'END'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("127.0.0.1", 53))
		open("up", "w").close()
		last = None
		while True:
		    port = s.recvfrom(512)[1]
		    if port == last:  # the second question of this look-up: no other is on its way
		        open("asked", "w").close()
		    last = port
	END
	# Each line of "lines" once as it is, and once as PID 1.
	cat >scene <<-'END'
		mount --bind resolv /etc/resolv.conf && ip link set lo up || exit 99
		python3 server.py &
		server=$!
		until [ -e up ]; do sleep 0.02; done
		while read -r line; do
			for pid1 in '' 'unshare --pid --fork --mount-proc'; do
				rm -f asked
				$pid1 "$1" $line 2>&1 &
				until [ -e asked ]; do sleep 0.02; done
				its=$!
				[ -z "$pid1" ] || read -r its <"/proc/$!/task/$!/children"
				kill -TERM $its
				wait "$!"
				echo "$? of $pid1 $line"
			done
		done <lines
		kill $server
	END
	cat >lines <<-'END'
		--init --frameworks=nccl -- echo ran
		--frameworks=gloo -- echo ran
		--init --fill -- echo {node-addr}
		--fill -- echo {node-addr}
		--fill -- echo {master-ip}
		--init --max-restarts=1 --fill -- echo {node-addr}
		env --frameworks=vllm
		explain --frameworks=nccl
		wait --for=dns --frameworks=nccl
	END
	invoke env -i "${SESSION[@]}" PATH="$PATH" timeout $((30 * PATIENCE)) unshare --net --mount bash scene "$DISTINIT"
	[ "$status" -eq 0 ]
	local error="distinit: error: SIGTERM came while the name 'main1' was looked up"
	[[ $(grep -cxF "$error" <<<"$output") -eq 18 && $(grep -c '^143 of ' <<<"$output") -eq 18 ]]
	[[ $(wc -l <<<"$output") -eq 36 ]]
}

@test "init: with --user, a command that changes its user gets signals and can be killed" {
	[ "$EUID" -eq 0 ] || skip 'only root can make a setuid program'
	requires setpriv
	open_folder
	cp "$(command -v setpriv)" "$OPEN_FOLDER/becomes-root"
	chmod u+s "$OPEN_FOLDER/becomes-root"
	chmod 777 "$OPEN_FOLDER"
	cd "$OPEN_FOLDER"
	start --init --user=65534:65534 --grace=200ms -- ./becomes-root --reuid=0 --regid=0 --clear-groups \
		bash -c 'id -u >uid; grep CapEff /proc/self/status >caps; trap "touch got" TERM; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -TERM "$pid"
	ends_with 137
	[[ $(cat uid) -eq 0 && -e got && $(<err) == *$'it is killed\n'*': killed by SIGKILL, '* ]]
	# The command itself does not have the capability that the parent keeps.
	distinit PATH="$PATH" -- --init --user=65534:65534 --cap-drop=all -- sh -c 'grep -E "^Cap(Prm|Eff|Amb|Inh)" /proc/self/status | cut -f 2 | sort -u'
	succeeds_with 0000000000000000
	cd /
	remove_open_folder
}

@test "init: a command out of reach gets a warning instead of signals; as PID 1, init ends it by exiting" {
	[ "$EUID" -eq 0 ] || skip 'only root can make a setuid program'
	requires setpriv
	requires_pidns
	open_folder
	cp "$(command -v setpriv)" "$OPEN_FOLDER/becomes-root"
	cp "$DISTINIT" "$OPEN_FOLDER/init"
	chmod 755 "$OPEN_FOLDER/init"
	chmod u+s "$OPEN_FOLDER/becomes-root"
	chmod 777 "$OPEN_FOLDER"
	cd "$OPEN_FOLDER"
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups ./init --init --grace=200ms --
		./becomes-root --reuid=0 --regid=0 --clear-groups)
	env -i PATH="$PATH" "${nobody[@]}" bash -c 'touch ready; until [ -e enough ]; do sleep 0.02; done; exit 9' >out 2>err 3>&- &
	pid=$!
	until_true test -e ready
	kill -TERM "$pid"
	until_true grep -q 'grace period' err
	touch enough
	ends_with 9
	[ "$(head -n 2 err)" = 'distinit: warning: signal TERM cannot be sent to ./becomes-root: Operation not permitted
distinit: warning: ./becomes-root did not end within the grace period of 0.2s, and cannot be killed: Operation not permitted' ]
	rm ready
	env -i PATH="$PATH" unshare --pid --fork --mount-proc "${nobody[@]}" bash -c 'touch ready; while :; do sleep 0.1; done' >out 2>err 3>&- &
	pid=$!
	until_true test -e ready
	kill -TERM "$(pgrep -P "$pid")"
	ends_with 137
	[[ $(<err) == *': it is killed'* ]]
	cd /
	remove_open_folder
}

@test "init: if LISTEN_PID occurs twice, both are changed to the command's" {
	invoke python3 -c '
import ctypes, os, sys
words = lambda *all: (ctypes.c_char_p * (len(all) + 1))(*all, None)
own = b"LISTEN_PID=%d" % os.getpid()
argv = [os.fsencode(word) for word in sys.argv[1:]]
ctypes.CDLL(None).execve(argv[0], words(*argv), words(own, b"PATH=/usr/bin:/bin", own))' "$DISTINIT" --init -- python3 -c '
import os
entries = open("/proc/self/environ", "rb").read().split(b"\0")
own = b"LISTEN_PID=%d" % os.getpid()
print([e == own for e in entries if e != b"PATH=/usr/bin:/bin" and e])'
	succeeds_with '[True, True]'
}

@test "init: --pdeathsig ends the command when distinit is killed" {
	start --init --pdeathsig=TERM -- bash -c 'echo $$ >its; trap "touch told; exit" TERM; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -KILL "$pid"
	until_true test -e told
}

# --- the time limit -------------------------------------------------------------------------------

@test "time limit: ends the command with 124 and says so" {
	distinit PATH="$PATH" -- --time-limit=300ms -- sleep 1000
	ends_saying 124 'killed by SIGTERM, 0.*s after its time limit' \
		'distinit: warning: sleep has reached the time limit of 0.3s: it is asked to end, and killed 30s later'
	distinit PATH="$PATH" -- --time-limit=300ms --grace=never -- sleep 1000
	[[ $status -eq 124 && $stderr == *$'the time limit of 0.3s: it is asked to end\n'* ]]
}

@test "time limit: KILL after the grace period, for a command that ignores TERM" {
	distinit PATH="$PATH" -- --time-limit=1s --grace=200ms -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr == *$'sh did not end within the grace period of 0.2s: it is killed\n'*': killed by SIGKILL, '*'s after its time limit' ]]
}

@test "time limit: a command that ends in time keeps its status" {
	distinit -- --time-limit=1h -- /bin/sh -c 'exit 3'
	ends_saying 3 'exit status 3'
	distinit DISTINIT_TIME_LIMIT=1h -- -- /bin/sh -c 'exit 3'
	ends_saying 3 'exit status 3'
}

@test "time limit: 124 whatever the command does at TERM" {
	distinit PATH="$PATH" -- --time-limit=1s --map-exit=0:9 -- bash -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
	[ "$status" -eq 124 ]
}

@test "time limit: a stopped command is ended too" {
	distinit PATH="$PATH" -- --time-limit=1s -- sh -c 'trap "exit 3" TERM; kill -STOP $$; sleep 1000'
	[ "$status" -eq 124 ]
	[[ $stderr != *'it is killed' ]]
}

# --- invalid input --------------------------------------------------------------------------------

@test "init: invalid values are refused, with the name of the option or variable" {
	distinit -- --init --signal=TREM:INT -- /bin/true
	refuses_with "--signal: 'TREM' is not a signal; did you mean 'TERM'?; 'kill -l' lists them"
	distinit DISTINIT_SIGNAL=TERM -- --init -- /bin/true
	refuses_with "DISTINIT_SIGNAL: 'TERM': two signals are expected, FROM:TO, such as TERM:INT or TERM:0"
	distinit -- --init --signal=KILL:TERM -- /bin/true
	refuses_with "--signal: KILL cannot be caught, so it is never forwarded"
	distinit -- --init --map-exit=143 -- /bin/true
	refuses_with "--map-exit: '143': two exit statuses are expected, FROM:TO, each 0 to 255, such as 143:0; FROM may also be early or told"
	for pair in early told:256 late:1 70:early EARLY:70; do
		distinit -- --init "--map-exit=$pair" -- /bin/true
		refuses_with "--map-exit: '$pair': two exit statuses are expected, FROM:TO, each 0 to 255, such as 143:0; FROM may also be early or told"
	done
	distinit -- --init --map-exit=256:0 -- /bin/true
	refuses_with "--map-exit: '256:0': two exit statuses are expected, FROM:TO, each 0 to 255, such as 143:0; FROM may also be early or told"
	distinit -- --init --pdeathsig=KILLL -- /bin/true
	refuses_with "--pdeathsig: 'KILLL' is not a signal; did you mean 'KILL'?; 'kill -l' lists them"
	distinit -- --init=maybe -- /bin/true
	refuses_with "'--init=maybe': expected 1 or 0 after '='"
	distinit -- --init --leftovers=kill -- /bin/true
	refuses_with "--leftovers='kill': expected one of end, leave"
	for value in -1 1x 99999999999h " "; do
		distinit -- --init "--leftovers-grace=$value" -- /bin/true
		fails_like 125 "--leftovers-grace=*"
		distinit -- --init "--grace=$value" -- /bin/true
		fails_like 125 "--grace=*"
		distinit -- "--time-limit=$value" -- /bin/true
		fails_like 125 "--time-limit=*"
	done
	distinit DISTINIT_GRACE=soon -- --init -- /bin/true
	fails_like 125 "DISTINIT_GRACE='soon' is not a duration*"
	distinit -- --init=0 --time-limit=5s -- /bin/true
	refuses_with "--time-limit needs --init, and contradicts --init=0"
}

@test "init: durations have fractions, and a time limit of 0 is none" {
	local value
	for value in .1 0.1s 0.05 100.5ms; do
		distinit PATH="$PATH" -- "--time-limit=$value" -- sleep 60
		[[ $status -eq 124 && $stderr == *'has reached the time limit of 0.'* ]]
	done
	for value in 1.5s 10.34 0.5h 1h30.5m; do
		distinit -- "--time-limit=$value" "--grace=$value" "--leftovers-grace=$value" -- /bin/sh -c 'exit 3'
		[ "$status" -eq 3 ]
	done
	# As without the option: it takes back what an image's variable says, and --init is not implied.
	for value in 0 0s 0.0 .0ms; do
		distinit DISTINIT_TIME_LIMIT=0.01s PATH="$PATH" -- "--time-limit=$value" -- sh -c 'sleep 0.1; exit 4'
		[[ $status -eq 4 && -z $stderr ]]
		distinit DISTINIT_TIME_LIMIT="$value" PATH="$PATH" -- --init --log=error -- sh -c 'sleep 0.1; exit 4'
		[[ $status -eq 4 && -z $stderr ]]
	done
	distinit -- --init=0 --time-limit=0 -- /bin/sh -c 'exit 5'
	[ "$status" -eq 5 ]
	for value in 1. . 1.s 1.5h30m 1e3 -.5 1,5; do
		distinit -- "--time-limit=$value" -- /bin/true
		refuses_with "--time-limit='$value' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m"
	done
}

@test "init: its options without --init are refused, and their variables are ignored" {
	for option in --kill-group --signal=TERM:INT --grace=1s --leftovers=end --leftovers-grace=1s --pdeathsig=TERM; do
		distinit -- "$option" -- /bin/true
		refuses_with "${option%%=*} needs --init"
	done
	distinit DISTINIT_GRACE=1s DISTINIT_SIGNAL=TERM:INT DISTINIT_KILL_GROUP=1 -- -- /bin/true
	succeeds_with ''
}

@test "init: a time limit holds where a sandbox refuses clock_gettime()" {
	filtered 228 "$DISTINIT" --init --time-limit=300ms -- sleep 5
	[ "$status" -eq 124 ]
}

@test "init: where a sandbox refuses rt_sigtimedwait, nothing starts, and nothing spins" {
	filtered 128 "$DISTINIT" --init -- echo ran
	refuses_with "staying as the command's parent needs rt_sigtimedwait, and a filter of system calls (seccomp) refuses it"
	filtered 128 "$DISTINIT" -- echo ran
	succeeds_with ran
}

@test "init: where a sandbox refuses vfork(), the command is started by fork()" {
	filtered 58 "$DISTINIT" --init -- sh -c 'exit 3'
	ends_saying 3 'exit status 3'
	filtered 58 "$DISTINIT" --init -- /no/such
	[[ $status -eq 127 && $stderr == *"distinit: error: '/no/such' was not found"* ]]
	# Neither by clone() nor by clone3().
	filtered 56,57,58,435 "$DISTINIT" --init -- true
	[[ $status -eq 125 && $stderr == 'distinit: error: the command cannot be started: vfork failed: '* ]]
}
