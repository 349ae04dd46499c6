#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit called as another program: tini, docker-init, podman-init, dumb-init, catatonit, gosu, su-exec.

# shellcheck disable=SC2153 # helpers.bash sets SESSION
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the shells of the workloads expand the quoted texts
# shellcheck disable=SC2030,SC2031 # each test has its own pid and list of what it started

load helpers

readonly INITS=(tini tini-static docker-init podman-init dumb-init catatonit)
# Those of images. The others are engines', which leave most settings to a distinit inside.
readonly OF_IMAGES=(tini tini-static dumb-init catatonit)

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	STARTED=()
	local name
	for name in "${INITS[@]}" gosu su-exec; do
		ln -s "$DISTINIT" "$name"
	done
}

teardown() {
	local pid
	for pid in "${STARTED[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	remove_open_folder
}

# as NAME [VAR=VALUE]... -- ARG...: invoke distinit by that name, in an environment of only these variables and PATH.
as() {
	local name=$1 variables arguments
	shift
	split "$@"
	invoke env -i PATH="$PATH" "${variables[@]}" "./$name" "${arguments[@]}"
}

# start NAME ARG...: start it in the background, with its pid in $pid and its output in the files out and err.
start() {
	rm -f out # of an earlier one, which could seem to be ready
	env -i --default-signal=INT,QUIT PATH="$PATH" TINI_VERBOSITY=0 "./$1" "${@:2}" >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
}

# state PID: its letter in /proc.
state() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

is_stopped() {
	[[ $(state "$1") == T ]]
}

runs() {
	[[ $(state "$1") == [RS] ]]
}

# pid1 NAME ARG...: invoke it as PID 1.
pid1() {
	invoke env -i PATH="$PATH" unshare --pid --fork --mount-proc "./$1" "${@:2}"
}

# pid1_after CODE INIT ARG...: invoke INIT as PID 1, from a bash that ran CODE.
pid1_after() {
	invoke env -i PATH="$PATH" unshare --pid --fork --mount-proc bash -c "$1"'; exec "$@"' bash "${@:2}"
}

# --- the name -------------------------------------------------------------------------------------

@test "names: the last part of the path counts, as a symlink or a copy" {
	mkdir tini.d
	cp "$DISTINIT" tini.d/tini
	invoke env -i tini.d/tini --version
	[[ $output == 'tini version '* ]]
	ln -s "$DISTINIT" tini.d/distinit
	invoke env -i tini.d/distinit --version
	[[ $output == 'distinit '* ]]
	for name in tini- mytini Tini tini-static2; do
		ln -s "$DISTINIT" "./$name"
		as "$name" -- --version
		[[ $output == 'distinit '* ]]
	done
	# A program without any name is distinit.
	invoke python3 -c 'import ctypes, sys; c = ctypes.c_char_p
ctypes.CDLL(None).execve(sys.argv[1].encode(), (c * 2)(b"", None), (c * 1)(None))' "$DISTINIT"
	[[ $status -eq 125 && $stderr == 'distinit: error: '* ]]
}

# --- all that are inits ---------------------------------------------------------------------------

@test "names: every init runs a command, with and without '--', and exits as it did" {
	for name in "${INITS[@]}"; do
		as "$name" -- sh -c 'echo "$1"; exit 7' sh --version
		[[ $status -eq 7 && $output == --version ]]
		as "$name" -- -- sh -c 'exit 77'
		[ "$status" -eq 77 ]
		as "$name" -- sh -c 'kill -USR1 $$'
		[ "$status" -eq 138 ]
	done
}

@test "names: every init exits with each status, and with 128 and the number of each signal" {
	local code signal
	for name in "${INITS[@]}"; do
		for code in 0 1 2 32 64 127 254 255; do
			as "$name" -- sh -c "exit $code"
			[ "$status" -eq "$code" ]
		done
		for signal in 1 2 3 6 9 15; do
			as "$name" -- sh -c "kill -$signal \$\$"
			[ "$status" -eq $((128 + signal)) ]
		done
	done
}

@test "names: every init stays in /, and the command where it was started" {
	local here
	here=$(pwd -P)
	for name in "${INITS[@]}"; do
		as "$name" -- sh -c 'readlink /proc/$PPID/cwd /proc/$$/cwd'
		[[ $status -eq 0 && $output == "/"$'\n'"$here" ]]
	done
}

@test "names: every init is the command's parent, and PID 1 is silent" {
	requires_pidns
	for name in "${INITS[@]}"; do
		pid1 "$name" -- sh -c 'echo $PPID; exit 5'
		[[ $status -eq 5 && $output == 1 && -z $stderr ]]
	done
}

@test "names: every init derives where a manager is recognised" {
	for name in "${INITS[@]}"; do
		as "$name" "${SESSION[@]}" -- sh -c 'echo "$MASTER_ADDR $PET_NODE_RANK"; exit 3'
		[[ $status -eq 3 && $output == 'main1 1' ]]
	done
	for name in "${OF_IMAGES[@]}"; do
		as "$name" "${SESSION[@]}" DISTINIT_FRAMEWORKS=torch DISTINIT_ENV='set A=1' -- env
		[[ $output == *MASTER_ADDR=main1* && $output == *A=1* && $output != *PET_* && $output != *DISTINIT_* ]]
	done
}

@test "names: where no manager is recognised, the environment stays as it is, byte for byte" {
	for name in "${INITS[@]}"; do
		invoke raw B=2 A= NOTHING 'A=again' $'C=\xff\n' TINI_SUBREAPER= DUMB_INIT_SETSID=1 -- "$PWD/$name" /usr/bin/env -0
		[ "$status" -eq 0 ]
		raw B=2 A= NOTHING 'A=again' $'C=\xff\n' TINI_SUBREAPER= DUMB_INIT_SETSID=1 -- /usr/bin/env -0 >expected
		raw B=2 A= NOTHING 'A=again' $'C=\xff\n' TINI_SUBREAPER= DUMB_INIT_SETSID=1 -- "$PWD/$name" /usr/bin/env -0 >found
		cmp expected found
	done
}

@test "names: a manager that makes no sense is an error of distinit, before the command, with status 1" {
	for name in "${INITS[@]}"; do
		as "$name" TINI_VERBOSITY=0 BACKENDAI_CLUSTER_SIZE=3 BACKENDAI_CLUSTER_HOSTS=a,b -- echo ran
		[[ $status -eq 1 && -z $output && $stderr == 'distinit: error: '* && $stderr != *$'\n'* ]]
		as "$name" DISTINIT_LENIENT=loud -- echo ran
		[[ $status -eq 1 && -z $output && $stderr == 'distinit: error: DISTINIT_LENIENT='* ]]
		# Those who ask for the version do not care.
		as "$name" DISTINIT_LENIENT=loud -- --version
		[ "$status" -eq 0 ]
	done
}

@test "names: DISTINIT_* variables hold for every init of an image too" {
	for name in "${OF_IMAGES[@]}"; do
		as "$name" DISTINIT_TIME_LIMIT=100ms TINI_VERBOSITY=0 -- sleep 100
		[[ $status -eq 124 && $stderr == *'has reached the time limit'* ]]
	done
}

@test "names: every init forwards signals, and never kills the command" {
	local pids=()
	for name in "${INITS[@]}"; do
		rm -f ready
		# All at once, as each takes its time.
		start "$name" bash -c 'trap "sleep 3; echo saved >saved.$0; exit 9" TERM; touch ready; while :; do sleep 0.1; done' "$name"
		until_true test -e ready
		kill -TERM "$pid"
		pids+=("$pid")
	done
	for pid in "${pids[@]}"; do
		ends_with 9
	done
	for name in "${INITS[@]}"; do
		[ "$(<"saved.$name")" = saved ]
	done
}

@test "names: every init forwards each signal" {
	local signal traps=''
	local -a signals=(HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 USR2 PIPE ALRM TERM STKFLT CONT URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS)
	for signal in "${signals[@]}"; do
		traps+="trap 'echo $signal' $signal; "
	done
	for name in "${INITS[@]}"; do
		rm -f ready
		start "$name" bash -c "$traps touch ready; while :; do sleep 0.1; done"
		until_true test -e ready
		for signal in "${signals[@]}"; do
			kill "-$signal" "$pid"
			until_true grep -qx "$signal" out
		done
		kill -KILL "$(cat "/proc/$pid/task/$pid/children")"
		ends_with 137
	done
}

@test "names: when the command ends, every init ends at once: nothing is asked or waited for" {
	requires_pidns
	for name in tini podman-init; do
		time_begins
		pid1 "$name" -- sh -c '(trap "touch told" TERM; touch ready; sleep 1000) >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.02; done; exit 4'
		[[ $status -eq 4 && ! -e told ]]
		time_passed
		((CALM < 2000))
	done
	# Where it is not PID 1, a daemon lives on.
	start tini sh -c 'sleep 60 >/dev/null 2>&1 & echo $!'
	ends_with 0
	STARTED+=("$(<out)")
	runs "$(<out)"
}

# bash starts tee, and becomes the init: tee is a child of PID 1.
@test "names: as PID 1, the reader of the output has a moment to write its end" {
	requires_pidns
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local name i reader='while read -r line; do :; done; for ((i = 0; i < 300; i++)); do :; done; echo "$i" >read'
	for name in "${INITS[@]}"; do
		# A busy machine may give the reader nothing of a moment; but not each time.
		rm -f read
		for ((i = 0; i < 20; i++)); do
			pid1_after "exec > >($reader)" "./$name" true
			[ "$status" -eq 0 ]
			[ ! -s read ] || break
		done
		echo "$name: $i were lost"
		[ -s read ]
		# The output is closed first. Then the one that never ends is waited for, for some ms: no more, and no less. On a busy machine
		# the moment may be over before it is waited for; but not each time.
		for ((i = 0; i < 20; i++)); do
			invoke strace -f -o trace -e trace=dup3,rt_sigtimedwait,exit_group unshare --pid --fork --mount-proc \
				bash -c 'exec > >(exec sleep 1000); exec "$@"' bash "./$name" true
			[ "$status" -eq 0 ]
			grep -A9 -E 'dup3\([0-9]+, 1, O_CLOEXEC\) += 1' trace >after
			! grep -E 'rt_sigtimedwait\(.*\{tv_sec=0, tv_nsec=([1-9]|10)000000\}, 8\) += -1 EAGAIN' after || break
		done
		cat trace
		[ "$i" -lt 20 ]
	done
}

@test "names: a script may write to /proc/1/fd/1 under every name" {
	requires setpriv
	requires_pidns
	requires_root
	local name code='echo hi >/proc/1/fd/1; echo there >/proc/1/fd/2'
	local -a first=(unshare --pid --fork --mount-proc setpriv --bounding-set=-sys_ptrace)
	open_folder
	for name in "${INITS[@]}"; do
		invoke "${first[@]}" -- "./$name" -- sh -c "$code"
		[[ $status -eq 0 && $output == hi && $stderr == there ]]
		# Not a child of the shell, as what docker exec starts.
		invoke "${first[@]}" -- "./$name" -- sh -c 'setsid -w sh -c "$0"' "$code"
		[[ $status -eq 0 && $output == hi && $stderr == there ]]
		cp "$DISTINIT" "$OPEN_FOLDER/$name"
		# Engines give the streams to the container's user.
		: >"$OPEN_FOLDER/said"
		chmod 666 "$OPEN_FOLDER/said"
		"${first[@]}" --reuid=65534 --regid=65534 --clear-groups -- "$OPEN_FOLDER/$name" -- sh -c "${code//>/>>}" >>"$OPEN_FOLDER/said" 2>&1
		[ "$(<"$OPEN_FOLDER/said")" = $'hi\nthere' ]
		invoke "$BATS_TEST_DIRNAME/../programs/terminal" see=hi see=there ends=0 -- "${first[@]}" -- "./$name" -- sh -c "$code" 3>&-
		[ "$status" -eq 0 ]
	done
	remove_open_folder
}

@test "names: every init reaps orphans" {
	requires_pidns
	for name in "${INITS[@]}"; do
		pid1 "$name" -- sh -c '
			for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.02 &); done
			for i in $(seq 250); do ps -eo stat=,comm= | grep -E "^Z|sleep" >left || exit 0; [ -s left ] || exit 0; done
			cat left; exit 1'
		[ "$status" -eq 0 ]
	done
}

@test "names: control characters of a command do not reach the terminal" {
	for name in "${INITS[@]}" gosu su-exec; do
		local -a command=($'no\e]0;such\a')
		[[ $name == gosu || $name == su-exec ]] && command=("$(id -u)" "${command[@]}")
		as "$name" -- "${command[@]}"
		[[ $status -ne 0 && -n $stderr && $stderr != *[$'\e\a']* ]]
	done
}

@test "names: an engine's init takes the settings of the cluster, and leaves all others to a distinit inside" {
	local settings=(DISTINIT_ENV='append A[:]=1' DISTINIT_USER=no-such-user DISTINIT_REPORT="$PWD/report" DISTINIT_LOG=debug
		DISTINIT_SECRET=0123456789abcdef DISTINIT_GRACE=x DISTINIT_KEEP_CONFIG=1 DISTINIT_UNKNOWN=1 DISTINIT_WAIT=1h DISTINIT_INIT=x)
	for name in docker-init podman-init; do
		as "$name" TINI_VERBOSITY=0 "${settings[@]}" DISTINIT_HOSTS=n1,n2 DISTINIT_NODE_RANK=1 DISTINIT_FRAMEWORKS=torch -- env
		output=$(sort <<<"$output")
		succeeds_with "$(printf '%s\n' PATH="$PATH" TINI_VERBOSITY=0 "${settings[@]}" DISTINIT_HOSTS=n1,n2 DISTINIT_NODE_RANK=1 DISTINIT_FRAMEWORKS=torch \
			MASTER_ADDR=n1 MASTER_PORT=29500 | sort)"
		[ ! -e report ]
	done
	# Only the inner one reports, and applies directives, once.
	as podman-init DISTINIT_ENV='append A[:]=1' DISTINIT_REPORT="$PWD/report" -- "$DISTINIT" --init -- sh -c 'echo $A'
	succeeds_with 1
	[ "$(grep -o '"event": "[a-z]*"' report | tr '\n' ' ')" = "$(printf '"event": "%s" ' derived started ended)" ]
}

@test "names: DISTINIT_REPORT and DISTINIT_WHY work under the names of inits" {
	for name in tini catatonit dumb-init; do
		rm -f report
		as "$name" TINI_VERBOSITY=0 DISTINIT_REPORT="$PWD/report" -- sh -c 'exit 3'
		[[ $status -eq 3 && -z $stderr && $(wc -l <report) -eq 3 ]]
	done
	mkdir -p root/dev
	for name in "${INITS[@]}"; do
		: >root/dev/termination-log
		as "$name" TINI_VERBOSITY=0 DISTINIT_WHY=1 DISTINIT_ROOT="$PWD/root" -- sh -c 'kill -USR1 $$'
		[[ $status -eq 138 && $stderr == 'distinit: warning: sh ended after '*'s: killed by SIGUSR1' && $(<root/dev/termination-log) == "$stderr" ]]
		as "$name" TINI_VERBOSITY=0 -- sh -c 'exit 3'
		[[ $status -eq 3 && -z $stderr ]]
	done
}

# --- tini, tini-static, docker-init ---------------------------------------------------------------

@test "names: DISTINIT_REPORT says under the names of inits that the command cannot be started" {
	for name in tini catatonit dumb-init; do
		rm -f report
		as "$name" DISTINIT_REPORT="$PWD/report" -- /no/such
		[[ $(<report) == *'"failed"'* ]]
	done
}

@test "names: tini --version is a line that dockerd understands" {
	for name in tini tini-static docker-init; do
		as "$name" -- --version
		# "tini version VERSION - git.COMMIT", split at " - " and "."
		[[ $status -eq 0 && $output =~ ^'tini version 0.19.0 (distinit '[^-]*') - git.'[0-9a-f]{7}$ && -z $stderr ]]
	done
}

@test "names: tini -h and -l print to stdout; a missing command or a wrong option is the help on stderr, and 1" {
	as docker-init -- -h
	[[ $status -eq 0 && -z $stderr && $output == 'docker-init (tini version '*'supervision of a valid init process'*'more verbose'* ]]
	as tini -- -l
	[[ $status -eq 0 && -z $stderr && $output == *'Apache License'* ]]
	as tini --
	[[ $status -eq 1 && -z $output && $stderr == 'tini (tini version '*'supervision of a valid init process'* ]]
	as tini -- --
	[[ $status -eq 1 && $stderr == 'tini (tini version '* ]]
	as tini -- -x true
	[[ $status -eq 1 && -z $output && $stderr == "tini: invalid option -- 'x'"$'\n''tini (tini '* ]]
	as tini -- -e
	[[ $status -eq 1 && $stderr == "tini: option requires an argument -- 'e'"$'\n''tini (tini '* ]]
	as tini -- --grace=5 true
	[[ $status -eq 1 && $stderr == "tini: unrecognized option '--grace=5'"$'\n''tini (tini '* ]]
}

@test "names: tini exits with 127 and 126 where a command is missing or cannot run" {
	as tini TINI_VERBOSITY=0 -- nosuch
	[[ $status -eq 127 && -z $output && $stderr =~ ^'[FATAL tini ('[0-9]+')] exec nosuch failed: No such file or directory'$ ]]
	as tini TINI_VERBOSITY=0 -- /etc
	[[ $status -eq 126 && $stderr =~ ^'[FATAL tini ('[0-9]+')] exec /etc failed: Permission denied'$ ]]
	as tini TINI_VERBOSITY=0 -- -- -- true
	[ "$status" -eq 127 ]
}

@test "names: commands that cannot start end as with the originals" {
	local long busy name command
	long=$(printf 'x%.0s' {1..300})
	printf '#!/no/such\n' >interpreter
	printf '#!/bin/sh\r\necho\r\n' >windows
	printf '\177ELFdamaged\0\0' >damaged
	cp /bin/sleep busy
	chmod +x interpreter windows damaged
	touch plain
	ln -s loop loop
	exec {busy}<>busy
	local -A tini=([./interpreter]=127 [./windows]=127 [./damaged]=127 [./loop]=1 ["./$long"]=1 [$long]=1 [./busy]=1
		[/etc/passwd/x]=1 [/etc]=126 [./plain]=126 [./nosuch]=127 [nosuch]=127)
	for command in "${!tini[@]}"; do
		for name in tini dumb-init catatonit; do
			local -A expected=([tini]=${tini[$command]} [dumb-init]=2 [catatonit]=1)
			[[ $command != ./damaged ]] || expected[$name]=127
			as "$name" -- "$command"
			[ "$status" -eq "${expected[$name]}" ]
			# The original, where it is installed.
			if command -v "/usr/bin/$name"; then
				invoke env -i PATH="$PATH" "/usr/bin/$name" "$command"
				[ "$status" -eq "${expected[$name]}" ]
			fi
		done
	done
	exec {busy}>&-
}

@test "names: tini -e maps a status to 0, and may be repeated" {
	as tini -- -e 3 -e143 sh -c 'exit 3'
	[ "$status" -eq 0 ]
	as tini -- -e 3 -e143 sh -c 'kill -TERM $$'
	[ "$status" -eq 0 ]
	as tini -- -e 3 sh -c 'exit 4'
	[ "$status" -eq 4 ]
	# All others, but that one.
	local code others
	for code in 0 1 127 255; do
		others=$(seq 0 255 | grep -vx "$code" | sed 's/^/-e /')
		# shellcheck disable=SC2086 # many words
		as tini -- $others sh -c "exit $code"
		[ "$status" -eq "$code" ]
		as tini -- -e "$code" sh -c "exit $code"
		[ "$status" -eq 0 ]
	done
	for word in 256 x -1 ''; do
		as tini -- -e "$word" -- true
		[[ $status -eq 1 && $stderr =~ ^'[FATAL tini ('[0-9]+")] Not a valid option for -e: $word"$ ]]
	done
}

@test "names: tini -s or TINI_SUBREAPER makes it a subreaper; otherwise it is none, and warns" {
	local orphan='sh -c "sleep 0.2 & echo \$!" >orphan; sed "s/.*) . //; s/ .*//" /proc/$(cat orphan)/stat; echo $PPID; true'
	as tini -- -s sh -c "$orphan"
	[[ $status -eq 0 && -z $stderr && ${output%$'\n'*} == "${output#*$'\n'}" ]]
	as tini TINI_SUBREAPER= -- sh -c "$orphan"
	[[ -z $stderr && ${output%$'\n'*} == "${output#*$'\n'}" ]]
	as tini -- sh -c "$orphan"
	[[ $status -eq 0 && ${output%$'\n'*} != "${output#*$'\n'}" ]]
	[[ $stderr =~ ^'[WARN  tini ('[0-9]+')] '.*"zombie reaping won't work" && $stderr != *$'\n'* ]]
	as tini TINI_VERBOSITY=0 -- true
	[ -z "$stderr" ]
}

@test "names: tini does not warn if whoever started it made it a subreaper" {
	requires python3
	ln -sf "$DISTINIT" tini
	invoke python3 -c 'import ctypes, os; ctypes.CDLL(None).prctl(36, 1); os.execl("./tini", "tini", "true")'
	[[ $status -eq 0 && -z $stderr ]]
	invoke python3 -c 'import os; os.execl("./tini", "tini", "true")'
	[[ $status -eq 0 && $stderr == *"zombie reaping won't work"* ]]
}

@test "names: tini -w warns when it reaps an orphan, and only then" {
	local orphan='sh -c "true &"; sleep 0.3'
	as tini -- -s -w sh -c "$orphan"
	[[ $status -eq 0 && $stderr =~ ^'[WARN  tini ('[0-9]+')] Reaped zombie process with pid='[0-9]+$ ]]
	as tini -- -sw true
	[[ $status -eq 0 && -z $stderr ]]
	as tini -- -s sh -c "$orphan"
	[ -z "$stderr" ]
}

@test "names: tini -v and TINI_VERBOSITY tell more, on stdout" {
	as tini -- -s -v true
	[[ $stderr == '' && $output =~ ^'[INFO  tini ('[0-9]+")] Spawned child process 'true' with pid '"[0-9]+"'"$'\n'.*"Main child exited normally (with status '0')"$ ]]
	as tini -- -svv true
	[[ $output == *'[DEBUG tini ('*'Received SIGCHLD'* ]]
	as tini TINI_VERBOSITY=3 -- -s sh -c 'kill -USR1 $PPID; trap : USR1; sleep 0.1; kill -KILL $$'
	[[ $output == *"Passing signal: 'USR1'"* && $output == *"Main child exited with signal (with signal '"* ]]
	as tini TINI_VERBOSITY=1 -- -vvvs true
	[ -z "$output" ]
}

@test "names: tini -g and TINI_KILL_PROCESS_GROUP signal the process group" {
	for way in -g env; do
		rm -f ready
		if [[ $way == -g ]]; then
			start tini -g sh -c 'trap "" USR1; (trap - USR1; touch ready; exec sleep 60); exit 6'
		else
			TINI_KILL_PROCESS_GROUP='' start_with_group
		fi
		until_true test -e ready
		sleep 0.1
		kill -USR1 "$pid"
		ends_with 6
	done
}

start_with_group() {
	env -i PATH="$PATH" TINI_VERBOSITY=0 TINI_KILL_PROCESS_GROUP= ./tini \
		sh -c 'trap "" USR1; python3 -c "import os, signal; signal.signal(signal.SIGUSR1, signal.SIG_DFL); open(\"ready\", \"w\"); os.execvp(\"sleep\", [\"sleep\", \"60\"])"; exit 6' >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
}

@test "names: tini -p gets a signal when its parent dies, and forwards it" {
	cat >parent <<-'END'
		TINI_VERBOSITY=0 ./tini -p SIGUSR1 -- bash -c 'trap "touch told; exit" USR1; touch ready; while :; do sleep 0.1; done' &
		until [ -e ready ]; do sleep 0.02; done
		kill -KILL $$
	END
	sh parent >/dev/null 2>&1 3>&- || true
	until_true test -e told
	as tini -- -p SIGNONE true
	[[ $status -eq 1 && $stderr =~ ^'[FATAL tini ('[0-9]+')] Not a valid option for -p: SIGNONE'$ ]]
}

# --- dumb-init ------------------------------------------------------------------------------------

@test "names: dumb-init: the command leads a session; with -c or DUMB_INIT_SETSID=0 it does not" {
	local session='sed "s/.*) //" /proc/$$/stat | cut -d " " -f 4; echo $$'
	as dumb-init -- sh -c "$session"
	[[ ${output%$'\n'*} == "${output#*$'\n'}" ]]
	for way in -c --single-child; do
		as dumb-init -- "$way" sh -c "$session"
		[[ ${output%$'\n'*} != "${output#*$'\n'}" ]]
	done
	as dumb-init DUMB_INIT_SETSID=0 -- sh -c "$session"
	[[ ${output%$'\n'*} != "${output#*$'\n'}" ]]
	as dumb-init DUMB_INIT_SETSID=1 -- sh -c "$session"
	[[ ${output%$'\n'*} == "${output#*$'\n'}" ]]
}

@test "names: dumb-init: the command gets no signal blocked or ignored" {
	invoke python3 -c 'import signal, os, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
for s in signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE: signal.signal(s, signal.SIG_IGN)
os.execv("./dumb-init", ["./dumb-init", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])'
	succeeds_with $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
	# tini passes them on.
	invoke python3 -c 'import signal, os, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
for s in signal.SIGHUP, signal.SIGCHLD: signal.signal(s, signal.SIG_IGN)
os.execv("./tini", ["./tini", "-s", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])'
	[[ $output == $'SigBlk:\t0000000000004000\nSigIgn:\t0000000001011001' ]]
}

@test "names: dumb-init: signals go to the whole group, and TERM once more when the command has ended" {
	start dumb-init bash -c '(trap "echo child" USR1; touch ready; while :; do sleep 0.1; done) & trap "" USR1 TERM; touch ignores; wait'
	until_true test -e ready
	until_true test -e ignores
	kill -USR1 "$pid"
	until_true grep -q child out
	kill -KILL "$(cat "/proc/$pid/task/$pid/children")"
	ends_with 137
	rm -f ready
	start dumb-init bash -c '(trap "touch told; exit" TERM; touch ready; while :; do sleep 0.1; done) & until [ -e ready ]; do sleep 0.02; done; exit 8'
	ends_with 8
	until_true test -e told
}

@test "names: dumb-init -c: signals go to the command alone, and what it leaves behind lives on" {
	start dumb-init -c bash -c 'trap "exit 8" TERM; (trap "touch told" TERM USR1; echo "$BASHPID" >child; touch ready; sleep 60) & while :; do sleep 0.1; done'
	until_true test -e ready
	kill -TERM "$pid"
	ends_with 8
	STARTED+=("$(<child)")
	runs "$(<child)"
	[ ! -e told ]
}

@test "names: dumb-init -r rewrites signals, and drops them" {
	start dumb-init -r 10:12 --rewrite 1:0 --rewrite=15:10 sh -c 'trap "echo 10" USR1; trap "echo 12" USR2; trap "echo 1" HUP; touch ready; while :; do sleep 0.1; done'
	until_true test -e ready
	kill -HUP "$pid"
	kill -USR1 "$pid"
	until_true grep -q 12 out
	kill -TERM "$pid"
	until_true grep -q 10 out
	[ "$(<out)" = $'12\n10' ]
	kill -QUIT "$pid"
	ends_with 131
	for word in ' 15:2' '15: 2' '+15:+2' $'\t15:0'; do
		as dumb-init -- -r "$word" true
		[[ $status -eq 0 && -z $stderr ]]
	done
	for word in '' ' ' + '15 :2' '15: ' x 15 15::12 15:x 0:1 32:1 1:32 1:2:3; do
		as dumb-init -- -r "$word" true
		[[ $status -eq 1 && -z $output && $stderr == 'Usage: -r option takes <signum>:<signum>, where <signum> is between 1 and 31.'$'\n'* ]]
	done
}

@test "names: dumb-init stops with its group at TSTP, TTIN and TTOU, until CONT" {
	for signal in TSTP TTIN TTOU; do
		start dumb-init bash -c 'echo ready; while :; do sleep 0.1; done'
		until_true grep -q ready out
		local child
		child=$(<"/proc/$pid/task/$pid/children")
		kill "-$signal" "$pid"
		until_true is_stopped "$pid"
		until_true is_stopped "${child% }"
		kill -CONT "$pid"
		until_true runs "$pid"
		until_true runs "${child% }"
		kill -KILL "${child% }"
		ends_with 137
	done
	# With -c, the command gets the signal itself.
	start dumb-init -c bash -c 'trap "echo stop" TSTP; echo ready; while :; do sleep 0.1; done'
	until_true grep -q ready out
	kill -TSTP "$pid"
	until_true grep -q stop out
	until_true is_stopped "$pid"
	kill -CONT "$pid"
	child=$(<"/proc/$pid/task/$pid/children")
	kill -KILL "${child% }"
	ends_with 137
}

@test "names: dumb-init: usage, help and version go to stderr, and errors exit with 1, a command that cannot run with 2" {
	as dumb-init --
	[[ $status -eq 1 && -z $output && $stderr == $'Usage: dumb-init [option] program [args]\nTry dumb-init --help for full usage.' ]]
	as dumb-init -- --help
	[[ $status -eq 0 && -z $output && $stderr == $'dumb-init v1.2.5\nUsage: dumb-init [option] command [[arg] ...]\n\ndumb-init is a simple'* ]]
	as dumb-init -- -V
	[[ $status -eq 0 && -z $output && $stderr == 'dumb-init v1.2.5' ]]
	as dumb-init -- --yolo true
	[[ $status -eq 1 && $stderr == "dumb-init: unrecognized option '--yolo'" ]]
	as dumb-init -- -x true
	[[ $status -eq 1 && $stderr == "dumb-init: invalid option -- 'x'" ]]
	as dumb-init -- --help=all
	[[ $status -eq 1 && $stderr == "dumb-init: unrecognized option '--help=all'" ]]
	as dumb-init -- --rewrite
	[[ $status -eq 1 && $stderr == "dumb-init: option requires an argument -- '--rewrite'" ]]
	as dumb-init -- --vers
	[[ $status -eq 0 && $stderr == 'dumb-init v1.2.5' ]]
	as dumb-init -- --s --rew=15:2 sh -c 'exit 5'
	[[ $status -eq 5 && -z $stderr ]]
	as dumb-init -- --ver true
	[[ $status -eq 1 && -z $output && $stderr == "dumb-init: option '--ver' is ambiguous" ]]
	as tini -- --vers true
	[ "$status" -eq 1 ]
	as dumb-init -- /nosuch
	[[ $status -eq 2 && -z $output && $stderr == '[dumb-init] /nosuch: No such file or directory' ]]
	as dumb-init -- /etc
	[[ $status -eq 2 && $stderr == '[dumb-init] /etc: Permission denied' ]]
}

@test "names: dumb-init -v and DUMB_INIT_DEBUG=1 tell what happens, on stderr" {
	for way in -v --verbose env; do
		if [[ $way == env ]]; then
			as dumb-init DUMB_INIT_DEBUG=1 -- sh -c 'exit 3'
		else
			as dumb-init -- "$way" sh -c 'exit 3'
		fi
		[[ $status -eq 3 && -z $output ]]
		[[ $stderr =~ '[dumb-init] setsid complete.'$'\n[dumb-init] Child spawned with PID '[0-9]+$'.\n[dumb-init] Received signal 17.\n[dumb-init] A child with PID '[0-9]+$' exited with exit status 3.\n[dumb-init] Forwarded signal 15 to children.\n[dumb-init] Child exited with status 3. Goodbye.'$ ]]
	done
	as dumb-init DUMB_INIT_DEBUG=0 -- true
	[ -z "$stderr" ]
}

@test "names: dumb-init gives its terminal to the command, and keeps the hand-off's HUP and CONT to itself" {
	invoke python3 - <<-'END'
		import os, pty, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv("./dumb-init", ["dumb-init", "-v", "sh", "-c", "tty && read line </dev/tty && echo got $line"])
		out = b""
		try:
		    while chunk := os.read(fd, 4096):
		        # A command that has ended would hide the second signal.
		        if b"hand-off signal 18" in out + chunk and b"hand-off signal 18" not in out:
		            os.write(fd, b"words\n")
		        out += chunk
		except OSError:
		    pass
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode())
	END
	[[ $output == 0\ * && $output == *'/dev/pts/'* && $output == *'got words'* ]]
	[[ $output == *'Ignoring tty hand-off signal 1.'* && $output == *'Ignoring tty hand-off signal 18.'* ]]
}

# --- catatonit, podman-init -----------------------------------------------------------------------

@test "names: catatonit: version, help, licence; errors exit with 1" {
	for name in catatonit podman-init; do
		for option in -V --version; do
			as "$name" -- "$option"
			[[ $status -eq 0 && $output == 'tini version 0.2.1_catatonit (distinit '* && -z $stderr ]]
		done
		as "$name" -- -L
		[[ $status -eq 0 && $output == *'Apache License'* ]]
		as "$name" -- -h
		[[ $status -eq 0 && $stderr == 'usage: catatonit [-ghLPV] '*$'\n'*'-P '* ]]
		as "$name" --
		[[ $status -eq 1 && $stderr == 'usage: catatonit '* ]]
		as "$name" -- -x true
		[[ $status -eq 1 && $stderr == "$name: invalid option -- 'x'"$'\n''usage: catatonit '* ]]
		as "$name" -- nosuch
		[[ $status -eq 1 && -z $output && $stderr =~ ^'ERROR (catatonit:'[0-9]+'): failed to exec nosuch: No such file or directory'$ ]]
		as "$name" CATATONIT_LOG=x -- echo ran
		[[ $status -eq 1 && -z $output && $stderr =~ ^'ERROR (catatonit:'[0-9]+'): CATATONIT_LOG is reserved for future use'$ ]]
	done
	as catatonit CATATONIT_DEBUG= -- true
	[[ $status -eq 0 && $stderr =~ ^'DEBUG (catatonit:'[0-9]+'): pid1 ('[0-9]+') spawned: true'$ ]]
}

@test "names: catatonit -g signals the process group; it is a subreaper; LISTEN_PID becomes the command's" {
	start catatonit -g sh -c 'trap "" USR1; python3 -c "import os, signal; signal.signal(signal.SIGUSR1, signal.SIG_DFL); open(\"ready\", \"w\"); os.execvp(\"sleep\", [\"sleep\", \"60\"])"; exit 6'
	until_true test -e ready
	sleep 0.1
	kill -USR1 "$pid"
	ends_with 6
	as catatonit -- sh -c 'sh -c "sleep 0.2 & echo \$!" >orphan; sed "s/.*) . //; s/ .*//" /proc/$(cat orphan)/stat; echo $PPID; true'
	[[ -z $stderr && ${output%$'\n'*} == "${output#*$'\n'}" ]]
	invoke env -i PATH="$PATH" sh -c 'LISTEN_PID=$$ exec ./catatonit sh -c "echo \$LISTEN_PID \$\$"'
	[[ ${output% *} == "${output#* }" ]]
}

@test "names: catatonit -P runs nothing, reaps, and ends with 0 at TERM or INT" {
	for signal in TERM INT; do
		start podman-init -P
		until_true eval "[[ \$(readlink /proc/$pid/cwd) == / ]]"
		kill -USR1 "$pid"
		kill -HUP "$pid"
		sleep 0.1
		runs "$pid"
		kill "-$signal" "$pid"
		ends_with 0
	done
	requires_pidns
	start_pause_pid1
	nsenter --target "$init" --pid --mount sh -c 'for i in 1 2 3 4 5; do (sleep 0.05 &); done; sleep 0.3; ! ps -eo stat= | grep ^Z'
	kill -TERM "$init"
	ends_with 0
}

@test "names: catatonit -P says what a sandbox refuses, and does not spin" {
	filtered 128 timeout -s KILL 100 ./catatonit -P
	fails_like 1 "staying as the command's parent needs rt_sigtimedwait, and a filter of system calls (seccomp) refuses it"
}

start_pause_pid1() {
	env -i PATH="$PATH" unshare --pid --fork --mount-proc ./catatonit -P >out 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	until_true eval "[[ -n \$(cat /proc/$pid/task/$pid/children) ]]"
	init=$(<"/proc/$pid/task/$pid/children")
	init=${init% }
	STARTED+=("$init")
	until_true eval "[[ \$(readlink /proc/$init/cwd) == / ]]"
}

# --- gosu, su-exec --------------------------------------------------------------------------------

@test "names: gosu and su-exec become the user, set HOME to the user's, and nothing else" {
	requires_root
	local home
	home=$(getent passwd nobody | cut -d: -f6)
	for name in gosu su-exec; do
		as "$name" HOME=/omg USER=root LOGNAME=root A=1 -- nobody env
		[[ $status -eq 0 && -z $stderr ]]
		[[ $(sort <<<"$output") == "$(printf '%s\n' A=1 "HOME=$home" LOGNAME=root "PATH=$PATH" USER=root | sort)" ]]
		as "$name" -- nobody sh -c 'id -u; id -g; id -G; echo $$' 
		[[ $output == "$(id -u nobody)"$'\n'"$(id -g nobody)"$'\n'"$(id -G nobody)"$'\n'* ]]
		as "$name" HOME=/omg -- 4321 sh -c 'echo $(id -u):$(id -g):$(id -G):$HOME'
		succeeds_with 4321:0:0:/
		as "$name" HOME=/omg -- 4321:7 sh -c 'echo $(id -u):$(id -g):$(id -G):$HOME'
		succeeds_with 4321:7:7:/
		as "$name" HOME=/omg -- +4321:+7 sh -c 'echo $(id -u):$(id -g):$(id -G):$HOME'
		succeeds_with 4321:7:7:/
		as "$name" HOME=/omg -- 0:daemon sh -c 'echo $(id -u):$(id -g):$(id -G):$HOME'
		succeeds_with 0:1:1:/root
		as "$name" HOME=/omg -- '' sh -c 'echo $(id -u):$(id -g):$HOME'
		succeeds_with 0:0:/root
		as "$name" HOME=/omg -- :5 sh -c 'echo $(id -u):$(id -g):$(id -G):$HOME'
		succeeds_with 0:5:5:/root
	done
}

@test "names: gosu and su-exec set the user's groups, also for the present user" {
	requires_root
	local spec expected real
	for name in gosu su-exec; do
		while IFS='|' read -r spec expected; do
			invoke setpriv --groups=0,3,4 "./$name" "$spec" id -G
			succeeds_with "$expected"
			real=$(command -v "$name") || continue
			[[ $(setpriv --groups=0,3,4 "$real" "$spec" id -G) == "$expected" ]]
		done <<-END
			root|$(id -G root)
			0|$(id -G root)
			|$(id -G root)
			root:root|0
			:0|0
			:5|5
			nobody|$(id -G nobody)
			4321:7|7
		END
	done
	# Who may not set them keeps them.
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/gosu"
	invoke setpriv --reuid=4321 --regid=4321 --groups=3 "$OPEN_FOLDER/gosu" 4321 id -G
	succeeds_with '4321 3'
}

@test "names: gosu and su-exec replace themselves, derive nothing, and pass DISTINIT_* on" {
	for name in gosu su-exec; do
		as "$name" "${SESSION[@]}" DISTINIT_SET=A DISTINIT_USER=nobody DISTINIT_LOG=loud -- "$(id -u)" env
		[[ $status -eq 0 && -z $stderr && $output == *DISTINIT_USER=nobody* && $output != *MASTER_ADDR* ]]
		[[ $(wc -l <<<"$output") -eq 9 ]]
		invoke env -i PATH="$PATH" sh -c 'echo $$; exec "./$0" "" sh -c "echo \$\$"' "$name"
		[[ ${output%$'\n'*} == "${output#*$'\n'}" ]]
	done
}

@test "names: gosu and su-exec exit with 1 at any error of theirs" {
	for spec in bogus 0day 0:bogus 0:0day; do
		as gosu -- "$spec" echo ran
		[[ $status -eq 1 && -z $output && $stderr == "error: user-spec='$spec': there is no "* ]]
		as su-exec -- "$spec" echo ran
		[[ $status -eq 1 && -z $output && $stderr == "su-exec: user-spec='$spec': there is no "* ]]
	done
	as gosu -- '' nosuch
	[[ $status -eq 1 && $stderr == "error: 'nosuch' was not found in PATH="* ]]
	as su-exec -- '' /etc
	[[ $status -eq 1 && $stderr == "su-exec: '/etc' cannot be started: "* ]]
	for name in gosu su-exec; do
		as "$name" -- '' sh -c 'exit 7'
		[ "$status" -eq 7 ]
	done
	requires_root
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/gosu"
	invoke setpriv --reuid=4321 --regid=4321 --clear-groups "$OPEN_FOLDER/gosu" root echo ran
	[[ $status -eq 1 && -z $output && $stderr == "error: user-spec='root': "* ]]
}

@test "names: gosu: a long option that it does not have is an error" {
	for option in --xyz --verbose --vers; do
		as gosu -- "$option" "$(id -u)" echo ran
		[[ $status -eq 1 && -z $output && $stderr == "gosu: unrecognized option '$option'"$'\nUsage: gosu '* ]]
	done
}

@test "names: gosu: usage and version; su-exec has no options" {
	for option in -h --help '-?'; do
		as gosu -- "$option"
		[[ $status -eq 0 && $output == 'Usage: gosu user-spec command [args]'* && -z $stderr ]]
	done
	for option in -v --version; do
		as gosu -- "$option"
		[[ $status -eq 0 && $output == '1.19 (distinit '* ]]
	done
	for arguments in '' nobody; do
		# shellcheck disable=SC2086 # one word or none
		as gosu -- $arguments
		[[ $status -eq 1 && -z $output && $stderr == 'Usage: gosu user-spec command [args]'* ]]
		# shellcheck disable=SC2086
		as su-exec -- $arguments
		[[ $status -eq 1 && $output == 'Usage: su-exec user-spec command [args]' && -z $stderr ]]
	done
	as su-exec -- -h
	[[ $status -eq 1 && $output == 'Usage: su-exec '* ]]
}

@test "names: a setuid copy refuses to run under any name" {
	requires_root
	open_folder
	cp /usr/bin/id "$OPEN_FOLDER/id"
	chmod 4755 "$OPEN_FOLDER/id"
	[[ $(as_nobody "$OPEN_FOLDER/id" -u) == 0 ]] || skip 'setuid programs gain nothing in this folder'
	for name in gosu su-exec tini dumb-init catatonit; do
		cp "$DISTINIT" "$OPEN_FOLDER/$name"
		chmod 4755 "$OPEN_FOLDER/$name"
		invoke as_nobody env -i PATH="$PATH" "$OPEN_FOLDER/$name" root id -u
		[[ $status -eq 1 && -z $output && $stderr == *'the real uid 65534 and the effective uid 0 differ'* ]]
	done
}

# --- install --as ---------------------------------------------------------------------------------

@test "names: install --as=NAME DIR makes a copy under that name" {
	mkdir dir
	for name in "${INITS[@]}" gosu su-exec distinit; do
		distinit -- install --as="$name" dir
		succeeds_with ''
		cmp "$DISTINIT" "dir/$name"
		[ "$(stat -c %a "dir/$name")" = 555 ]
	done
	[ "$(find dir -type f | wc -l)" -eq 9 ]
	[[ $(dir/docker-init --version) == 'tini version '* ]]
	distinit -- install -v --as=gosu dir
	[ "$stderr" = 'distinit: info: dir/gosu is up to date' ]
	distinit -- install --as=gsu dir
	refuses_with "--as='gsu': expected one of these: tini tini-static docker-init dumb-init catatonit podman-init gosu su-exec distinit"
	distinit -- install --as=../gosu dir
	fails_like 125 "--as='../gosu': expected one of these: *"
	distinit -- install --as= dir
	fails_like 125 "--as='': expected one of these: *"
	mkdir dir2 dir2/gosu
	distinit -- install --as=gosu dir2
	refuses_with "gosu cannot be written in 'dir2': Is a directory; a folder with that name exists"
}
