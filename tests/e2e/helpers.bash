# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by the tests of the binary. DISTINIT is its path; the default is that of ./dev build.

bats_require_minimum_version 1.5.0

: "${DISTINIT:=$BATS_TEST_DIRNAME/../../build/distinit}"
DISTINIT=$(realpath "$DISTINIT")
export DISTINIT
# The same, whose steps of 10 s are of 1 s.
: "${BRISK:=${DISTINIT%/*}/tests/distinit-brisk}"

# How many times as long as usual whatever hangs may take (tools/test.bash).
: "${PATIENCE:=1}"

# The second container of a Backend.AI session of two: for tests that need any cluster.
# shellcheck disable=SC2034,SC2054 # used by files that load this; the comma belongs to the list
readonly SESSION=(
	BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=main1,sub1
	BACKENDAI_CLUSTER_HOST=sub1 BACKENDAI_CLUSTER_LOCAL_RANK=1
)

# leave_out_of FILE: under QEMU, which refuses PR_SET_CHILD_SUBREAPER, the warning about that is taken out of the stderr in FILE.
# LEFT_OUT is the list of what QEMU cannot do (tests/nets/emulated).
leave_out_of() {
	[[ -z ${LEFT_OUT-} ]] || sed -i '/^[a-z_]*: warning: orphans of the command are not reaped.*Invalid argument$/d' "$1"
}

# invoke PROGRAM ARG...: run it. The result is in $status, $output and $stderr, and is shown if the
# test fails. Unlike bats' run it always separates the two streams, and accepts status 127. Thousands
# of calls: it starts no other process than that, and one for each stream with something in it.
invoke() {
	local out=$BATS_TEST_TMPDIR/.stdout err=$BATS_TEST_TMPDIR/.stderr
	status=0
	"$@" >"$out" 2>"$err" || status=$?
	leave_out_of "$err"
	output='' stderr=''
	[[ ! -s $out ]] || output=$(<"$out")
	[[ ! -s $err ]] || stderr=$(<"$err")
	printf 'ran:'
	printf ' %.2000q' "${@:1:100}"
	printf '\nstatus: %s\nstdout: %.20000s\nstderr: %.20000s\n' "$status" "$output" "$stderr"
}

# split VAR=VALUE... -- ARG...: store the first part in the caller's $variables, and the rest in its
# $arguments.
split() {
	variables=()
	while [[ $1 != -- ]]; do
		variables+=("$1")
		shift
	done
	shift
	arguments=("$@")
}

# distinit VAR=VALUE... -- ARG...: invoke it in an environment of only these variables.
distinit() {
	local -a variables arguments
	split "$@"
	invoke env -i "${variables[@]}" "$DISTINIT" "${arguments[@]}"
}

# succeeds_with TEXT: it succeeded, with TEXT on stdout and nothing on stderr.
succeeds_with() {
	[[ $status -eq 0 && $output == "$1" && -z $stderr ]]
}

# warns_with TEXT...: it succeeded, with these warnings in this order.
warns_with() {
	local expected
	expected=$(printf 'distinit: warning: %s\n' "$@")
	[[ $status -eq 0 && $stderr == "$expected" ]]
}

# refuses_with TEXT: it failed with status 125 and this error only, and the command did not run.
refuses_with() {
	fails_with 125 "$1"
}

# fails_with STATUS TEXT
fails_with() {
	[[ $status -eq $1 && -z $output && $stderr == "distinit: error: $2" ]]
}

# fails_like STATUS PATTERN: the same, with one line that matches PATTERN.
fails_like() {
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $status -eq $1 && -z $output && $stderr != *$'\n'* && $stderr == "distinit: error: "$2 ]]
}

# ends_saying STATUS PATTERN [BEFORE]: with --init it exited with STATUS, and stderr has the sentence
# on how the command ended, which matches PATTERN, and no other line but BEFORE.
ends_saying() {
	local line=${stderr#"${3:+$3$'\n'}"}
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $status -eq $1 && $line =~ ^'distinit: warning: '[^\ ]+' ended after '[0-9.]+'s: '(.*)$ && ${BASH_REMATCH[1]} == $2 ]]
}

# raw ENTRY... -- PROGRAM ARG...: exec PROGRAM in an environment of only these entries. Unlike with
# env(1), entries may be repeated, have no '=', and contain any bytes.
raw() {
	python3 -c '
import ctypes, os, sys

def vector(words):
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)

words = [os.fsencode(word) for word in sys.argv[1:]]
split = words.index(b"--")
entries, argv = words[:split], words[split + 1 :]
ctypes.CDLL(None).execve(argv[0], vector(argv), vector(entries))
sys.exit("cannot run " + repr(argv))
' "$@"
}

# check VAR=VALUE... -- OPTION...: distinit check, of the machine whose files are in root/.
check() {
	local -a variables arguments
	split "$@"
	distinit "${variables[@]}" -- check --root=root "${arguments[@]}"
}

# filtered NUMBER,... COMMAND...: run it where a sandbox refuses these system calls of x86-64. With ANSWER=0 it says that they were
# done, and does nothing. FILTERED_AS is a command that it begins with, before the sandbox.
filtered() {
	[[ $(uname -m) == x86_64 ]] || skip 'the filter knows the numbers of x86-64'
	# 38 is PR_SET_NO_NEW_PRIVS, 22 PR_SET_SECCOMP.
	cat >refuse.py <<-'END'
		import ctypes, os, struct, sys
		refused = [int(number) for number in sys.argv[1].split(",")]
		steps = [(0x20, 0, 0, 0), *((0x15, len(refused) - i, 0, number) for i, number in enumerate(refused)),
		         (6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50000 | int(os.environ.pop("ANSWER", "1")))]
		code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
		program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
		libc = ctypes.CDLL(None)
		assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
		os.execvp(sys.argv[2], sys.argv[2:])
	END
	invoke "${FILTERED_AS[@]}" python3 refuse.py "$@"
}

# nap SECONDS: wait without starting a process, as sleep is: that costs ten milliseconds of a processor, and many tests wait. If the
# folder is gone, because the run was ended, it sleeps: a test that goes on must not take a processor.
nap() {
	[[ -p $BATS_RUN_TMPDIR/nap ]] || mkfifo "$BATS_RUN_TMPDIR/nap" 2>/dev/null || true
	{ read -rt "$1" <>"$BATS_RUN_TMPDIR/nap"; } 2>/dev/null || (($? > 128)) || sleep "$1"
}

# until_true COMMAND...: wait until it succeeds, for at most 30 s.
until_true() {
	local deadline=$((SECONDS + 30 * PATIENCE))
	until "$@" 2>/dev/null; do
		if ((SECONDS > deadline)); then
			echo "$((30 * PATIENCE)) s went by without: $*"
			return 1
		fi
		nap 0.02
	done
}

# Time, as a test may compare it with a limit. time_begins, and time_passed sets TOOK: the milliseconds since then; and CALM: those of
# them in which no process of this machine waited for a processor or a disk. Only these are the program's own: a limit for CALM holds
# on a busy machine, and still finds on an idle one what waits for the wrong thing. Without /proc/pressure (Linux 4.20) nobody knows:
# the limits are twenty times as long then.
time_begins() {
	BEGAN=${EPOCHREALTIME/./}
	stalled
	BEGAN_STALLED=$STALLED
}

time_passed() {
	TOOK=$(((${EPOCHREALTIME/./} - BEGAN) / 1000))
	stalled
	CALM=$((TOOK - (STALLED - BEGAN_STALLED) / 1000))
	[[ -r /proc/pressure/cpu ]] || CALM=$((TOOK / 20))
	echo "took $TOOK ms, $CALM ms of them calm"
}

# stalled: sets STALLED, the microseconds since boot in which some process waited for a processor or a disk.
stalled() {
	local what total
	STALLED=0
	for what in cpu io; do
		[[ -r /proc/pressure/$what ]] || continue
		read -r total <"/proc/pressure/$what"
		STALLED=$((STALLED + ${total##*total=}))
	done
}

# soon MS COMMAND...: it takes no longer than that, on a machine that has nothing else to do.
soon() {
	local most=$1
	shift
	time_begins
	"$@" || return
	time_passed
	((CALM <= most))
}

# gone PID: whether that process has ended.
gone() {
	local stat=''
	# It may vanish at any moment.
	read -r stat 2>/dev/null <"/proc/$1/stat" || true
	[[ -z $stat || $stat == *') Z '* ]]
}

# ends_with STATUS: the background process $pid, with its output in out and err, ends in time; it exits with STATUS.
ends_with() {
	local code=0
	# shellcheck disable=SC2154 # the test's
	until_true gone "$pid"
	wait "$pid" || code=$?
	leave_out_of err
	echo "status $code, out: $(<out), err: $(<err)"
	[ "$code" -eq "$1" ]
}

# Creates a folder that any user may read, unlike bats' own; remove_open_folder removes it.
open_folder() {
	OPEN_FOLDER=$(mktemp -d)
	chmod 755 "$OPEN_FOLDER"
}

remove_open_folder() {
	if [[ -n ${OPEN_FOLDER-} ]]; then
		rm -rf "$OPEN_FOLDER"
	fi
}

# as_nobody PROGRAM ARG...: run it as a user without rights; if we have none ourselves, as the
# current user.
as_nobody() {
	if [[ $EUID -eq 0 ]]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
	else
		"$@"
	fi
}

# own_network: makes NAMESPACE, which runs a command in a network of its own, with a name server and the /etc/hosts that are in etc/.
own_network() {
	unshare --mount --net true 2>/dev/null || skip 'no namespaces for mounts and networks here'
	mkdir -p etc
	echo '127.0.0.1 localhost' >etc/hosts
	echo 'nameserver 127.0.0.1' >etc/resolv.conf
	cat >up <<-'END'
		set -e
		mount --make-rprivate /
		mount --bind etc/hosts /etc/hosts
		mount --bind etc/resolv.conf /etc/resolv.conf
		python3 -c 'import fcntl, socket, struct
		fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))'
		exec "$@"
	END
	# shellcheck disable=SC2034 # the test's
	NAMESPACE=(unshare --mount --net sh "$PWD/up")
}

requires() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

requires_pidns() {
	requires unshare
	unshare --pid --fork --mount-proc true 2>/dev/null || skip 'PID namespaces cannot be made here'
}

requires_root() {
	[[ $EUID -eq 0 ]] || skip 'only root can change users'
	setpriv --reuid=4321 --regid=4321 --clear-groups true 2>/dev/null || skip 'users cannot be changed here'
}
