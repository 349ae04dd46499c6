#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Why a command ended under --init: the sentence on stderr, in the termination log and in the report.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the shells of the workloads expand the quoted texts
# shellcheck disable=SC2030,SC2031 # each test has its own pid

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	pid='' cgroup=''
}

teardown() {
	[[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
	[[ -z $cgroup ]] || rmdir "$cgroup"
}

# start ARG...: start distinit in the background, until the command has made the file "ready".
start() {
	rm -f ready
	env -i --default-signal=INT,QUIT PATH="$PATH" "$DISTINIT" "$@" >out 2>err 3>&- &
	pid=$!
	until_true test -e ready
}

# finish: it has ended. Sets status and stderr.
finish() {
	status=0
	wait "$pid" || status=$?
	pid=''
	leave_out_of err
	stderr=$(<err)
	echo "status $status, err: $stderr"
}

requires_jsonschema() {
	python3 -c 'import jsonschema' 2>/dev/null || skip 'python3-jsonschema is not installed'
}

# reported [EXPRESSION]: the events of the file "report", or what a Python expression makes of them.
reported() {
	"$BATS_TEST_DIRNAME/../programs/check-report" report ${1:+"print(($1))"}
}

readonly WAITS='touch ready; while :; do sleep 0.1; done'

# --- the sentence ---------------------------------------------------------------------------------

@test "ended: a plain exit 0 is told with --log=info only, all else unless --log=error" {
	distinit -- --init -- /bin/true
	succeeds_with ''
	distinit -- --init -v --cluster=none -- /bin/true
	[[ $status -eq 0 && $stderr == *'distinit: info: /bin/true ended after 0'*'s: exit status 0' ]]
	distinit -- --init --log=error -- /bin/sh -c 'exit 7'
	[[ $status -eq 7 && -z $stderr ]]
	distinit -- --init -- /bin/sh -c 'exit 7'
	ends_saying 7 'exit status 7'
}

@test "ended: without --init nothing is said" {
	distinit -- -- /bin/sh -c 'exit 7'
	[[ $status -eq 7 && -z $stderr ]]
}

@test "ended: the signal's name, and whether it dumped core" {
	distinit -- --init -- /bin/sh -c 'kill -KILL $$'
	ends_saying 137 'killed by SIGKILL'
	distinit -- --init -- /bin/sh -c 'ulimit -c 0; kill -SEGV $$'
	ends_saying 139 'killed by SIGSEGV'
	distinit -- --init -- /bin/sh -c 'kill -40 $$'
	ends_saying 168 'killed by SIGRTMIN+6'
	[[ $(</proc/sys/kernel/core_pattern) == core ]] || skip 'cores are not written to the working directory'
	invoke bash -c 'ulimit -c unlimited; exec "$@"' - "$DISTINIT" --init -- /bin/sh -c 'kill -ABRT $$'
	ends_saying 134 'killed by SIGABRT, core dumped'
}

@test "ended: who told it to end: a process, when, and what it did then" {
	start --init -- sh -c "$WAITS"
	kill -TERM "$pid"
	finish
	ends_saying 143 "killed by SIGTERM from pid $$"
	start --init -- sh -c "trap 'sleep 0.3; exit 9' TERM; $WAITS"
	kill -TERM "$pid"
	finish
	ends_saying 9 "exit status 9, 0.[3-9]*s after SIGTERM from pid $$"
	start --init --signal=USR1:TERM -- sh -c "$WAITS"
	kill -USR1 "$pid"
	finish
	ends_saying 143 "killed by SIGTERM, 0.*s after SIGUSR1 from pid $$"
	start --init --signal=HUP:0 -- sh -c "trap 'exit 4' USR2; $WAITS"
	kill -HUP "$pid"
	kill -WINCH "$pid"
	kill -USR2 "$pid"
	finish
	ends_saying 4 "exit status 4, 0.*s after SIGUSR2 from pid $$"
}

@test "ended: who sent a real-time signal" {
	start --init -- sh -c "$WAITS"
	kill -s RTMIN+1 "$pid"
	finish
	ends_saying 163 "killed by SIGRTMIN+1 from pid $$"
}

@test "ended: USR1 that was handled does not explain a death by another signal" {
	start --init -- sh -c "trap 'touch got' USR1; while [ ! -e got ]; do touch ready; sleep 0.02; done; kill -SEGV \$\$"
	kill -USR1 "$pid"
	finish
	[[ $status -eq 139 && $stderr == *'killed by SIGSEGV'* && $stderr != *USR1* ]]
}

@test "ended: exit 0 after TERM is told, as nobody else tells that it was stopped" {
	start --init -- sh -c "trap 'exit 0' TERM; $WAITS"
	kill -TERM "$pid"
	finish
	ends_saying 0 "exit status 0, 0.*s after SIGTERM from pid $$"
	start --init -- sh -c "trap 'exit 0' USR1; $WAITS"
	kill -USR1 "$pid"
	finish
	[[ $status -eq 0 && -z $stderr ]]
}

@test "ended: --map-exit=early:70: exit 0 is 70 if nobody told the program to end, and that is said" {
	distinit -- --init --map-exit=early:70 -- /bin/true
	ends_saying 70 'exit status 0, though nobody asked it to end'
	# It comes before 0, wherever that is; another status stays.
	distinit -- --init --map-exit=early:70,0:5 -- /bin/true
	[ "$status" -eq 70 ]
	distinit -- --init --map-exit=early:70 -- /bin/sh -c 'exit 7'
	ends_saying 7 'exit status 7'
	# The last one counts, and 0 is a plain end.
	distinit -- --init --map-exit=early:70 --map-exit=early:0 -- /bin/true
	succeeds_with ''
	# HUP may mean that the configuration is read again. It tells nobody to end, nor does a signal that is dropped.
	local signal
	for signal in HUP USR1 TERM; do
		rm -f "got.$signal"
		start --init --signal=TERM:0 --map-exit=early:70,told:71 -- \
			sh -c "trap 'touch got.HUP' HUP; trap 'touch got.USR1' USR1; touch ready; for i in 1 2 3 4 5; do sleep 0.1; done"
		kill -"$signal" "$pid"
		finish
		[[ $status -eq 70 && $stderr == *'exit status 0, though nobody asked it to end'* ]]
		[[ $signal == TERM || -e got.$signal ]]
	done
	# What is told by the time limit has its status, whatever the program makes of it.
	distinit PATH="$PATH" -- --time-limit=1s --map-exit=early:70,told:71 -- bash -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr != *nobody* ]]
}

@test "ended: --map-exit=told:143: exit 0 after a TERM is 143, and not after INT" {
	local stops="trap 'exit 0' TERM INT USR1; $WAITS"
	start --init --map-exit=told:143,early:70 -- sh -c "$stops"
	kill -TERM "$pid"
	finish
	ends_saying 143 "exit status 0, 0.*s after SIGTERM from pid $$"
	# Also where it is sent as another, or another as TERM; and if another follows.
	start --init --map-exit=told:143 --signal=TERM:INT -- sh -c "$stops"
	kill -TERM "$pid"
	finish
	[ "$status" -eq 143 ]
	start --init --map-exit=told:143 --signal=USR2:TERM -- sh -c "$stops"
	kill -USR2 "$pid"
	finish
	[ "$status" -eq 143 ]
	start --init --map-exit=told:143 -- sh -c "trap 'touch told' TERM; trap '[ -e told ] && exit 0' USR1; $WAITS"
	kill -TERM "$pid"
	until_true test -e told
	kill -USR1 "$pid"
	finish
	[ "$status" -eq 143 ]
	# INT tells it, too, but it is no TERM. Another status is the program's.
	start --init --map-exit=told:143,early:70,0:6 -- sh -c "$stops"
	kill -INT "$pid"
	finish
	[ "$status" -eq 6 ]
	start --init --map-exit=told:143,early:70 -- sh -c "trap 'exit 3' TERM; $WAITS"
	kill -TERM "$pid"
	finish
	[ "$status" -eq 3 ]
}

@test "ended: --map-exit=early:.. and told:.. need --init, on the command line" {
	for word in early told; do
		distinit -- --map-exit=$word:70 -- true
		refuses_with '--map-exit: early and told need --init'
		distinit -- --init=0 --map-exit=125:1,$word:70 -- true
		[[ $status -eq 1 && $stderr == 'distinit: error: --map-exit: early and told need --init' ]]
		distinit DISTINIT_MAP_EXIT=$word:70 -- -- /bin/true
		succeeds_with ''
	done
	distinit DISTINIT_MAP_EXIT=early:70 -- --init -- /bin/true
	[ "$status" -eq 70 ]
}

@test "ended: --map-exit of a command's status needs --init, on the command line" {
	distinit -- --map-exit=124:0,3:0 -- true
	refuses_with '--map-exit: 3:0 needs --init: without it, only distinit'"'"'s own statuses (123 to 127) can be replaced'
	distinit -- --map-exit=123:5,124:0,127:7,3:3 -- true
	succeeds_with ''
	distinit -- --map-exit=127:7 -- no-such-program
	[[ $status -eq 7 ]]
	distinit DISTINIT_MAP_EXIT=3:0 -- -- sh -c 'exit 3'
	[[ $status -eq 3 && -z $stderr ]]
	distinit -- --init --map-exit=3:0 -- sh -c 'exit 3'
	[[ $status -eq 0 ]]
}

@test "ended: as PID 1, a signal from outside of the container" {
	unshare --pid --fork --mount-proc true 2>/dev/null || skip 'PID namespaces cannot be made here'
	env -i PATH="$PATH" unshare --pid --fork --mount-proc "$DISTINIT" --init -- sh -c "$WAITS" >out 2>err 3>&- &
	pid=$!
	until_true test -e ready
	kill -TERM "$(<"/proc/$pid/task/$pid/children")"
	finish
	ends_saying 143 'killed by SIGTERM from outside'
}

@test "ended: at the time limit, and when the grace period was over" {
	distinit PATH="$PATH" -- --time-limit=1s --grace=200ms -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr == *$'it is killed\ndistinit: warning: sh ended after '*'s: killed by SIGKILL, '*'s after its time limit' ]]
	distinit PATH="$PATH" -- --time-limit=1s -- bash -c 'trap "exit 0" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr == *': exit status 0, '*'s after its time limit' ]]
}

@test "ended: --map-exit to 0 is a plain end" {
	distinit -- --init --map-exit=7:0 -- /bin/sh -c 'exit 7'
	succeeds_with ''
}

@test "ended: a reader of stderr that does not read delays nothing" {
	mkfifo pipe
	sleep 1000 <>pipe 3>&- &
	pid=$!
	exec 5>pipe
	python3 -c 'import os; os.set_blocking(5, False)
try:
    while True: os.write(5, b"x" * 4096)
except BlockingIOError: os.set_blocking(5, True)'
	status=0
	timeout 20 "$DISTINIT" --init -- sh -c 'exit 3' 2>&5 5>&- || status=$?
	exec 5>&-
	[ "$status" -eq 3 ]
}

# --- memory ---------------------------------------------------------------------------------------

# fake_cgroup PATH FILE: a tree "root" in which this is the file of the counter, and 3 its value.
fake_cgroup() {
	rm -rf root
	mkdir -p root/proc/self "$(dirname "root/sys/fs/cgroup/$2")"
	echo "$1" >root/proc/self/cgroup
	printf 'first 7\noom_kill 3\noom_group_kill 9\n' >"root/sys/fs/cgroup/$2"
}

@test "ended: processes that the kernel killed for memory, by the counter of cgroup v2 and v1" {
	local file
	# The container's own cgroup, that of a host, and one whose path is the host's and not to be seen.
	while IFS='|' read -r cgroups file; do
		fake_cgroup "$(echo -e "$cgroups")" "$file"
		distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'exit 1'
		ends_saying 1 'exit status 1'
		distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'sed -i "s/oom_kill 3/oom_kill 4/" "$1"; exit 1' - "root/sys/fs/cgroup/$file"
		ends_saying 1 'exit status 1; processes that the kernel killed for lack of memory: 1'
		distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'sed -i "s/oom_kill 4/oom_kill 12/" "$1"' - "root/sys/fs/cgroup/$file"
		ends_saying 0 'exit status 0; processes that the kernel killed for lack of memory: 8'
	done <<-'END'
		0::/|memory.events
		0::/a.slice/b c|a.slice/b c/memory.events
		0::/docker/4711|memory.events
		12:cpu:/x\n4:memory:/job/step\n0::/other|memory/job/step/memory.oom_control
		4:memory:/docker/4711\n0::/|memory/memory.oom_control
	END
}

@test "ended: no counter, or one that cannot be read" {
	mkdir -p root/proc/self
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'exit 1'
	ends_saying 1 'exit status 1'
	fake_cgroup 0::/ memory.events
	distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'rm -r root; exit 1'
	ends_saying 1 'exit status 1'
	fake_cgroup 0::/ memory.events
	echo $'a\noom_kill x' >root/sys/fs/cgroup/memory.events
	distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'exit 1'
	ends_saying 1 'exit status 1'
}

# in_cgroup MIB ARG...: run distinit in a new cgroup that may have this much memory.
in_cgroup() {
	local max swap
	cgroup=$(mktemp -u "/sys/fs/cgroup/memory/distinit-XXXXXX") max=memory.limit_in_bytes swap=memory.swappiness
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		cgroup=/sys/fs/cgroup/${cgroup##*/} max=memory.max swap=memory.swap.max
	fi
	if ! mkdir "$cgroup" 2>/dev/null || ! echo $(($1 << 20)) >"$cgroup/$max"; then
		[[ ! -d $cgroup ]] || rmdir "$cgroup"
		cgroup=''
		skip 'no cgroup with a memory limit can be made here'
	fi
	echo 0 >"$cgroup/$swap" || true
	invoke bash -c 'echo $$ >"$1/cgroup.procs"; exec "${@:2}"' - "$cgroup" "$DISTINIT" "${@:2}"
}

readonly EATS='x = bytearray(300 << 20)'

@test "ended: really killed at a memory limit" {
	requires_jsonschema
	in_cgroup 60 --init --report=report -- python3 -c "$EATS"
	ends_saying 137 'killed by SIGKILL; processes that the kernel killed for lack of memory: 1'
	[ "$(reported 'all[-1]["ended"]["oom_kills"], all[-1]["ended"]["signal"]')" = "(1, 'KILL')" ]
}

@test "ended: a child is really killed at a memory limit, and the command exits with 1" {
	requires_jsonschema
	in_cgroup 60 --init --report=report -- python3 -c "
import subprocess, sys
sys.exit(subprocess.call([sys.executable, '-c', '$EATS']) == -9)"
	ends_saying 1 'exit status 1; processes that the kernel killed for lack of memory: 1'
	[ "$(reported 'all[-1]["ended"]["oom_kills"], all[-1]["ended"]["exit_status"]')" = '(1, 1)' ]
}

# --- the termination log --------------------------------------------------------------------------

@test "ended: the sentence goes to the termination log, if the command left it empty" {
	mkdir -p root/dev
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'exit 7'
	[ ! -e root/dev/termination-log ]
	: >root/dev/termination-log
	distinit -- --init --root="$PWD/root" -- /bin/true
	distinit -- --init --root="$PWD/root" -v --cluster=none -- /bin/true
	[ ! -s root/dev/termination-log ]
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'kill -USR1 $$'
	[[ -n $stderr && $(<root/dev/termination-log) == "$stderr" ]]
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'echo mine >root/dev/termination-log; kill -USR1 $$'
	[ "$(<root/dev/termination-log)" = mine ]
	: >root/dev/termination-log
	distinit -- --init --log=error --root="$PWD/root" -- /bin/sh -c 'kill -USR2 $$'
	[[ -z $stderr && $(<root/dev/termination-log) == 'distinit: warning: /bin/sh ended after '*'s: killed by SIGUSR2' ]]
	: >root/dev/termination-log
	distinit PATH="$PATH" -- --time-limit=100ms --root="$PWD/root" -- sleep 60
	[[ $(<root/dev/termination-log) == 'distinit: warning: sleep ended after '*'its time limit' ]]
}

# Then the engine may show the end of the program's own output (FallbackToLogsOnError).
@test "ended: a sentence that says no more than the status does not go to the termination log" {
	mkdir -p root/dev
	: >root/dev/termination-log
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'echo traceback >&2; exit 7'
	[[ $status -eq 7 && $stderr == *'ended after '*'s: exit status 7' && ! -s root/dev/termination-log ]]
	# With another status it says the program's.
	distinit -- --init --map-exit=7:9 --root="$PWD/root" -- /bin/sh -c 'exit 7'
	[[ $status -eq 9 && $(<root/dev/termination-log) == *'s: exit status 7' ]]
	: >root/dev/termination-log
	distinit -- --init --map-exit=early:70 --root="$PWD/root" -- /bin/true
	[[ $status -eq 70 && $(<root/dev/termination-log) == *', though nobody asked it to end' ]]
	: >root/dev/termination-log
	distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'trap "exit 3" TERM; kill -TERM "$PPID"; while :; do sleep 0.1; done'
	[[ $status -eq 3 && $(<root/dev/termination-log) == *'s: exit status 3, '*' after SIGTERM from pid '* ]]
}

@test "ended: the termination log is not written through a symlink, and only by whom it belongs to" {
	mkdir -p root/dev
	: >target
	ln -s ../../target root/dev/termination-log
	distinit -- --init --root="$PWD/root" -- /bin/sh -c 'kill -USR1 $$'
	[ ! -s target ]
	[ "$EUID" -eq 0 ] || skip 'only root can change users'
	rm root/dev/termination-log
	: >root/dev/termination-log
	chmod 600 root/dev/termination-log
	distinit -- --init --user=4321:4321 --root="$PWD/root" -- /bin/sh -c 'kill -USR1 $$' || true
	[ ! -s root/dev/termination-log ]
}

# --- the report -----------------------------------------------------------------------------------

@test "ended: the report has the start, each signal, and the end" {
	requires_jsonschema
	start --init --report=report --signal=USR1:USR2,HUP:0 "${SESSION[@]/#/--set=}" -- \
		sh -c "trap : USR2; trap 'exit 9' TERM; $WAITS"
	kill -USR1 "$pid"
	until_true grep -q USR1 report
	kill -HUP "$pid"
	until_true grep -q HUP report
	kill -TERM "$pid"
	local was=$pid
	finish
	[ "$status" -eq 9 ]
	[ "$(reported)" = 'derived started signal signal signal ended' ]
	[ "$(reported 'all[1]["started"]["init"], all[1]["started"]["pid"] != all[1]["pid"], {e["pid"] for e in all}')" = "(True, True, {$was})" ]
	[ "$(reported '[[e["signal"][k] for k in ("signal", "as", "pid", "kernel")] for e in all[2:5]]')" = \
		"[['USR1', 'USR2', $$, False], ['HUP', None, $$, False], ['TERM', 'TERM', $$, False]]" ]
	[ "$(reported '{k: v for k, v in all[5]["ended"].items() if k not in ("ran_ms", "text", "oom_kills")}')" = \
		"{'status': 9, 'exit_status': 9, 'signal': None, 'core_dumped': False, 'time_limit': False}" ]
	[[ $(reported 'all[5]["ended"]["text"]') == "exit status 9, "*"s after SIGTERM from pid $$" ]]
	[ "$(reported 'all[5]["ended"]["text"] in open("err").read() and 0 < all[5]["ended"]["ran_ms"] < 100000')" = True ]
}

@test "ended: the report of a command that a signal killed, mapped, at its time limit, or without a counter" {
	requires_jsonschema
	distinit PATH="$PATH" -- --time-limit=100ms --map-exit=143:0 --report=report -- sleep 60
	[ "$(reported '[all[-1]["ended"][k] for k in ("status", "exit_status", "signal", "time_limit")]')" = "[124, None, 'TERM', True]" ]
	rm report
	mkdir -p root/proc/self
	distinit PATH="$PATH" -- --init --map-exit=137:5 --root="$PWD/root" --report=report -- sh -c 'kill -KILL $$'
	[ "$(reported '[all[-1]["ended"][k] for k in ("status", "exit_status", "signal", "oom_kills")]')" = "[5, None, 'KILL', None]" ]
	rm report
	distinit -- --init --report=report -- /no/such
	[ "$(reported)" = 'derived failed' ]
}

@test "ended: a report that cannot be written is one warning, whatever happens then" {
	start --init --report=/dev/full -- sh -c "trap : USR1; trap 'exit 0' TERM; $WAITS"
	kill -USR1 "$pid"
	kill -TERM "$pid"
	finish
	[[ $status -eq 0 && $(grep -c 'cannot be written' err) -eq 1 ]]
}

@test "ended: a report that may not grow sends the command no signal" {
	head -c 4096 /dev/zero >report
	invoke prlimit --fsize=4096 "$DISTINIT" --init --report=report -- python3 -c '
import signal, time
signal.signal(signal.SIGXFSZ, lambda *_: open("/dev/stdout", "w").write("told"))
time.sleep(0.3)'
	[[ $status -eq 0 && -z $output && $stderr == 'distinit: warning: --report: '*'cannot be written: File too large' ]]
}

# sleeps_without_limit: the third argument of rt_sigtimedwait() is how long.
sleeps_without_limit() {
	local call timeout
	read -r call _ _ timeout _ <"/proc/$pid/syscall" || skip 'this kernel does not show system calls'
	[[ $call != running && $timeout == 0x0 ]]
}

@test "ended: with a report, too, it keeps no descriptor and does not wake up" {
	start --init --report=report -- sh -c 'touch ready; exec sleep 1000'
	until_true eval '[ "$(readlink /proc/$pid/cwd)" = / ]'
	until_true grep -q started report
	local fd before
	for fd in /proc/"$pid"/fd/*; do
		[ "${fd##*/}" -le 2 ]
	done
	until_true grep -q '(sleeping)' "/proc/$pid/status"
	before=$(grep ctxt_switches "/proc/$pid/status")
	sleep 1.5
	[ "$(grep ctxt_switches "/proc/$pid/status")" = "$before" ]
	sleeps_without_limit
	kill -TERM "$pid"
	finish
	# What begins with an end, or with TERM, sets no timer before; what has a time does.
	start --init --grace=1h --leftovers=end --map-exit=early:70 -- sh -c 'touch ready; exec sleep 1000'
	until_true grep -q '(sleeping)' "/proc/$pid/status"
	until_true sleeps_without_limit
	kill -TERM "$pid"
	finish
	start --init --time-limit=1h -- sh -c 'touch ready; exec sleep 1000'
	until_true grep -q '(sleeping)' "/proc/$pid/status"
	run ! sleeps_without_limit
	kill -TERM "$pid"
	finish
}

@test "ended: the counter is found behind the lines of 13 controllers" {
	mkdir -p root/proc/self root/sys/fs/cgroup/memory/job
	local i long
	printf -v long '%0180d' 7
	for i in 13 12 11 10 9 8 7 6 5 4 3; do echo "$i:controller$i:/$long"; done >root/proc/self/cgroup
	printf '2:memory:/job\n1:last:/%s\n0::/\n' "$long" >>root/proc/self/cgroup
	printf 'under_oom 0\noom_kill 3\n' >root/sys/fs/cgroup/memory/job/memory.oom_control
	distinit PATH="$PATH" -- --init --root="$PWD/root" -- sh -c 'sed -i "s/oom_kill 3/oom_kill 4/" root/sys/fs/cgroup/memory/job/memory.oom_control; exit 1'
	ends_saying 1 'exit status 1; processes that the kernel killed for lack of memory: 1'
}
@test "ended: a FIFO in place of a file of the kernel holds nobody up" {
	mkdir -p root/proc/self root/sys/fs/cgroup
	mkfifo root/proc/self/cgroup
	invoke timeout --signal=KILL 20 "$DISTINIT" --init --root="$PWD/root" -- sh -c 'exit 1'
	ends_saying 1 'exit status 1'
	rm root/proc/self/cgroup
	echo 0::/ >root/proc/self/cgroup
	printf 'oom 0\noom_kill 3\n' >root/sys/fs/cgroup/memory.events
	invoke timeout --signal=KILL 20 "$DISTINIT" --init --root="$PWD/root" -- sh -c 'rm root/sys/fs/cgroup/memory.events; mkfifo root/sys/fs/cgroup/memory.events; exit 1'
	ends_saying 1 'exit status 1'
}
