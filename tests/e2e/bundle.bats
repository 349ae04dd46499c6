#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Tracked variables: what `distinit bundle` writes, and how a worker's distinit applies it. C1 to
# C13 are the cases of Cerebras' appliance_environ, which tracks variables for the workers of a job.

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# job FILE VAR=VALUE... -- OPTION...: write the bundle of an environment with these variables to
# FILE, as the start of a job does.
job() {
	local file=$1
	local -a variables arguments
	shift
	split "$@"
	env -i "${variables[@]}" "$DISTINIT" bundle --output="$file" "${arguments[@]}"
}

# worker FILE VAR=VALUE... -- COMMAND...: run COMMAND as a worker that is started with FILE.
worker() {
	local file=$1
	local -a variables arguments
	shift
	split "$@"
	invoke env -i "${variables[@]}" "$DISTINIT" --env-file="$file" -- "${arguments[@]}"
}

readonly OWN='not carried, as each worker has its own from its host or launcher; --force carries it'

# --- writing a bundle -----------------------------------------------------------------------------

@test "a bundle: the current values of the tracked names, as 'set' lines" {
	distinit A=1 B=2 HF_HOME=/h HF_TOKEN=t DISTINIT_TRACK='A:HF_*' -- bundle
	[[ $status -eq 0 && -z $stderr ]]
	[ "$(sed '1d; $d' <<<"$output")" = $'set A=1\nset HF_HOME=/h\nset HF_TOKEN=t' ]
	[ "$(sed -n 1p <<<"$output")" = '[distinit bundle 1]' ]
	[[ $(tail -n 1 <<<"$output") == '[end crc32='????????']' ]]
}

@test "the checksum is gzip's, of all lines above it" {
	env -i A=1 DISTINIT_TRACK=A "$DISTINIT" bundle >file
	crc=$(sed '$d' file | gzip | tail -c 8 | od -An -N4 -tx4 | tr -d ' ')
	[ "$(tail -n 1 file)" = "[end crc32=$crc]" ]
}

@test "--track overrides DISTINIT_TRACK" {
	distinit A=1 B=2 DISTINIT_TRACK=A -- bundle --track=B
	[ "$(sed '1d; $d' <<<"$output")" = 'set B=2' ]
	distinit A=1 B=2 -- bundle --track A:B
	[ "$(sed '1d; $d' <<<"$output")" = $'set A=1\nset B=2' ]
}

@test "nothing tracked: an empty bundle, with a warning" {
	distinit A=1 -- bundle --output=file
	warns_with 'no variable is tracked, so the bundle is empty; DISTINIT_TRACK lists the names'
	worker file A=1 -- env
	succeeds_with A=1
}

@test "a malformed list of tracked names is an error" {
	distinit DISTINIT_TRACK=A,B -- bundle
	refuses_with "DISTINIT_TRACK: 'A,B' is not a name; separate names with ':'"
	distinit -- bundle --track='A B'
	refuses_with "--track: 'A B' is not a name; separate names with ':'"
	distinit -- bundle --track=A=1
	refuses_with "--track: 'A=1': expected a name without '='"
}

@test "bundle takes no command" {
	distinit -- bundle -- true
	refuses_with "bundle takes no command and no argument, only options; see 'distinit bundle --help'"
	distinit -- bundle A
	refuses_with "bundle takes no command and no argument, only options; see 'distinit bundle --help'"
}

@test "--output: atomic, and only for the owner, because it may contain tokens" {
	(
		umask 000
		job file A=1 DISTINIT_TRACK=A --
	)
	exec 8<file
	[ "$(stat -c %a file)" = 600 ]
	job file A=2 DISTINIT_TRACK=A --
	[ "$(sed -n 2p <&8)" = 'set A=1' ]
	[ "$(sed -n 2p file)" = 'set A=2' ]
	[ "$(ls)" = file ]
}

@test "--output: an error leaves the old bundle as it was" {
	job file A=1 DISTINIT_TRACK=A --
	cp file before
	distinit DISTINIT_TRACK=A,B -- bundle --output=file
	[ "$status" -eq 125 ]
	cmp file before
	distinit A=1 DISTINIT_TRACK=A -- bundle --output=no/such/file
	refuses_with "--output: 'no/such/file' cannot be written: No such file or directory"
}

@test "--output: a full disk is an error, and leaves the old bundle as it was" {
	unshare --mount --map-root-user true 2>/dev/null || skip 'mounting in a namespace of our own is not allowed here'
	mkdir disk
	# shellcheck disable=SC2016 # for the inner shell
	invoke env BIG="$(head -c 120000 /dev/zero | tr '\0' x)" DISTINIT_TRACK=BIG unshare --mount --map-root-user sh -c '
		mount -t tmpfs -o size=64k none disk || exit 99
		A=1 "$DISTINIT" bundle --track=A --output=disk/file
		"$DISTINIT" bundle --output=disk/file && exit 98
		ls disk && sed -n 2p disk/file'
	[ "$status" -ne 99 ] || skip 'a tmpfs cannot be mounted here'
	[ "$output" = $'file\nset A=1' ]
	[ "$stderr" = "distinit: error: --output: 'disk/file' cannot be written: No space left on device" ]
}

@test "a full disk is an error on stdout" {
	[ -c /dev/full ] || skip 'there is no /dev/full'
	status=0
	message=$(env -i A=1 "$DISTINIT" bundle --track=A 2>&1 >/dev/full) || status=$?
	[ "$status" -eq 125 ]
	[ "$message" = 'distinit: error: cannot write to stdout: No space left on device' ]
}

# --- values ---------------------------------------------------------------------------------------

@test "any value arrives unchanged: newlines, quotes, blanks, other bytes, and a line that looks like the end" {
	local -a hard=(
		$'T_NL=a\nb' $'T_NLS=\n\n' "T_Q=it's" 'T_QQ="x"' "T_SQ='x'" 'T_B=\n\\x' $'T_CR=a\r' $'T_TAB=\ta\t' 'T_BL= a '
		$'T_BYTES=\xff\xfe\x01\x7f' 'T_U=äöü€😀' 'T_E=' 'T_H=# x' $'T_END=\n[end crc32=00000000]\n' "T_HALF='" 'T_HALF2="a'
		'T_EQ=a=b=c' 'T_BR=[x]'
	)
	job file "${hard[@]}" DISTINIT_TRACK='T_*' --
	cmp <(env -i "$DISTINIT" --env-file=file -- cat /proc/self/environ | sort -z) <(printf '%s\0' "${hard[@]}" | sort -z)
}

@test "values of 100 kB and of the kernel's maximum, of letters and of newlines" {
	python3 - "$DISTINIT" <<-'PYTHON'
		import subprocess, sys
		for name, value in ("KB", "x" * 100_000), ("MOST", "y" * (131072 - 6)), ("LINES", "\n" * (131072 - 7)):
		    made = subprocess.run([sys.argv[1], "bundle", "--track=" + name], env={name: value}, capture_output=True)
		    assert made.returncode == 0 and made.stderr == b"", made.stderr
		    open("file", "wb").write(made.stdout)
		    got = subprocess.run([sys.argv[1], "--env-file=file", "--", "cat", "/proc/self/environ"], env={}, capture_output=True)
		    assert got.stdout.decode() == f"{name}={value}\0", (name, got.stderr, len(got.stdout))
	PYTHON
}

@test "a variable above the kernel's limit is refused by name, and nothing is started" {
	python3 - <<-'PYTHON'
		import zlib
		text = b"[distinit bundle 1]\nset A=1\nset BIG=" + b"x" * 131072 + b"\n"
		open("file", "wb").write(text + b"[end crc32=%08x]\n" % zlib.crc32(text))
	PYTHON
	worker file -- touch ran
	refuses_with "file:3:5: 'BIG' would have 131077 bytes, name and NUL included; the kernel takes 131072"
	[ ! -e ran ]
}

@test "an environment above the kernel's limit is refused, and the largest variable is named" {
	ulimit -S -s 8192 || skip 'the limit of the stack, from which this one follows, cannot be set'
	python3 - "$DISTINIT" <<-'PYTHON'
		import subprocess, sys
		env = {f"B{i:02}": "x" * 120_000 for i in range(12)} | {"B_MOST": "x" * 130_000}
		subprocess.run([sys.argv[1], "bundle", "--track=B*", "--output=file"], env=env, check=True)
		have = {f"A{i:02}": "x" * 120_000 for i in range(12)}
		got = subprocess.run([sys.argv[1], "--env-file=file", "--", "touch", "ran"], env=have, capture_output=True)
		assert got.returncode == 126, got
		assert b"more than the kernel takes (the largest, 'B_MOST', has " in got.stderr, got.stderr
	PYTHON
	[ ! -e ran ]
}

@test "a name that no directive can set is refused, because the worker would lack it" {
	invoke raw 'A B=1' DISTINIT_TRACK='A*' -- "$DISTINIT" bundle
	refuses_with "a bundle cannot carry 'A B': the name 'A B' contains a blank or control character"
}

# --- damaged bundles ------------------------------------------------------------------------------

readonly CUT_OFF="file: the bundle is cut off: its last line is missing or incomplete; make it again with 'distinit bundle'"
readonly CHANGED="file: the bundle was changed after it was made"
readonly AGAIN="; make it again with 'distinit bundle'"

@test "a bundle that is truncated anywhere is refused" {
	job whole A=1 B=$'x\ny' DISTINIT_TRACK=A:B --
	size=$(stat -c %s whole)
	for n in 2 5 19 20 21 28 29 "$((size - 20))" "$((size - 3))" "$((size - 2))"; do
		head -c "$n" whole >file
		worker file -- touch ran
		refuses_with "$CUT_OFF"
	done
	[ ! -e ran ]
	: >file
	worker file -- true
	warns_with "--env-file 'file' is empty"
}

@test "a bundle that was changed is refused" {
	job whole A=1 B=2 DISTINIT_TRACK=A:B --
	sed 's/A=1/A=2/' whole >file
	worker file -- touch ran
	refuses_with "$CHANGED: its checksum does not match$AGAIN"
	sed '/A=1/d' whole >file
	worker file -- touch ran
	refuses_with "$CHANGED: its checksum does not match$AGAIN"
	{
		cat whole
		echo C=3
	} >file
	worker file -- touch ran
	refuses_with "$CHANGED: there is text after its last line$AGAIN"
	sed 's/$/\r/' whole >file
	worker file -- touch ran
	refuses_with "$CHANGED: its checksum does not match$AGAIN"
	[ ! -e ran ]
}

@test "a bundle of another version is refused" {
	job file A=1 DISTINIT_TRACK=A --
	sed -i '1s/1/2/' file
	worker file -- touch ran
	version=$(env -i "$DISTINIT" --version)
	refuses_with "file: the bundle has version '2', but this distinit (${version#* }) reads version 1; make it with the distinit of the workers"
	[ ! -e ran ]
}

@test "DISTINIT_BUNDLE: before all other directives, whole, and not passed on" {
	distinit P=/lib DISTINIT_TRACK=P -- bundle -o file
	echo 'prepend P=/file' >other
	distinit P=/image DISTINIT_BUNDLE="$(<file)" DISTINIT_ENV_FILE=other DISTINIT_ENV='prepend P=/env' -- -- env
	succeeds_with 'P=/env:/file:/lib'
	distinit DISTINIT_BUNDLE="$(sed 's/lib/lob/' file)" -- -- true
	refuses_with "DISTINIT_BUNDLE: the bundle was changed after it was made: its checksum does not match$AGAIN"
}

@test "DISTINIT_ENV and DISTINIT_ENV_FILE may contain a bundle too" {
	job file A=$'x\ny' DISTINIT_TRACK=A --
	distinit DISTINIT_ENV="$(<file)" -- -- printenv A
	succeeds_with $'x\ny'
	distinit DISTINIT_ENV_FILE=file -- -- printenv A
	succeeds_with $'x\ny'
	distinit DISTINIT_ENV="$(sed 's/x/z/' file)" -- -- true
	refuses_with "DISTINIT_ENV: the bundle was changed after it was made: its checksum does not match$AGAIN"
}

@test "other directives see what the bundle set, in their order" {
	job file P=/job DISTINIT_TRACK=P --
	distinit P=/own -- --env-file=file --prepend P=/cli -- printenv P
	succeeds_with /cli:/job
}

@test "explain shows that a variable comes from the bundle" {
	job file A=1 DISTINIT_TRACK=A --
	distinit -- explain --env-file=file
	[[ $output == *$'set       A=1\n          by file:2' ]]
}

# --- the cases ------------------------------------------------------------------------------------

@test "C1, C2: tracked variables arrive, others do not" {
	job file foo=1 bar=2 DISTINIT_TRACK=foo --
	worker file -- env
	succeeds_with foo=1
}

@test "C3: the value is the one at the job's start" {
	export foo=1 DISTINIT_TRACK=foo
	foo=2
	"$DISTINIT" bundle --output=file
	worker file -- printenv foo
	succeeds_with 2
}

@test "C4: a running job keeps its values, also in late workers; the next job gets the new value" {
	job job1 foo=1 DISTINIT_TRACK=foo --
	worker job1 -- printenv foo
	succeeds_with 1
	job job2 foo=2 DISTINIT_TRACK=foo --
	worker job1 -- printenv foo
	succeeds_with 1
	worker job2 -- printenv foo
	succeeds_with 2
}

@test "C9: a tracked name that is not set is a warning; with --carry-unset it is removed in the workers" {
	distinit foo=1 DISTINIT_TRACK=foo:gone -- bundle --output=file
	warns_with "DISTINIT_TRACK: 'gone': not carried, as it is not set; --carry-unset removes it in the workers"
	worker file gone=here -- env
	succeeds_with $'gone=here\nfoo=1'
	distinit foo=1 DISTINIT_TRACK=foo:gone -- bundle --carry-unset --output=file
	succeeds_with ''
	worker file gone=here -- env
	succeeds_with foo=1
}

@test "C11: every job that gets a bundle has its variables" {
	job file foo=1 DISTINIT_TRACK=foo --
	for job in compile execute; do
		distinit -- --app="$job" --env-file=file -- printenv foo
		succeeds_with 1
	done
}

@test "C12: PYTHONPATH is set before Python starts: a module is found" {
	mkdir modules
	echo 'print("found")' >modules/only_here.py
	job file PYTHONPATH="$PWD/modules" DISTINIT_TRACK=PYTHONPATH --
	worker file -- python3 -c 'import only_here'
	succeeds_with found
	distinit -- -- python3 -c 'import only_here'
	[ "$status" -eq 1 ]
}

@test "C12: LD_PRELOAD is loaded before Python starts" {
	requires cc
	cat >preload.c <<-'C'
		#include <stdlib.h>

		/* What a library can do only before the interpreter has copied its environment. */
		__attribute__((constructor)) static void loaded(void) {
			setenv("LOADED_BEFORE_PYTHON", "yes", 1);
		}
	C
	cc -shared -fPIC -o preload.so preload.c
	job file LD_PRELOAD="$PWD/preload.so" DISTINIT_TRACK=LD_PRELOAD --
	worker file -- python3 -c 'import os; print(os.environ["LOADED_BEFORE_PYTHON"])'
	succeeds_with yes
}

@test "C12: the worker's loader searches LD_LIBRARY_PATH" {
	requires cc
	mkdir libraries
	echo 'int only_here(void) { return 42; }' >only_here.c
	cc -shared -fPIC -o libraries/libonly_here.so only_here.c
	job file LD_LIBRARY_PATH="$PWD/libraries" DISTINIT_TRACK=LD_LIBRARY_PATH --
	worker file -- python3 -c 'import ctypes; print(ctypes.CDLL("libonly_here.so").only_here())'
	succeeds_with 42
}

@test "C12: PYTHONHASHSEED takes effect: all workers hash alike" {
	job file PYTHONHASHSEED=4711 DISTINIT_TRACK='PYTHON*' --
	expected=$(PYTHONHASHSEED=4711 python3 -c 'print(hash("distinit"))')
	for _ in 1 2; do
		worker file -- python3 -c 'print(hash("distinit"))'
		succeeds_with "$expected"
	done
}

@test "C13: variables of a worker's host or rank are left out" {
	distinit A=1 HOSTNAME=here CUDA_VISIBLE_DEVICES=3 SLURM_JOB_ID=7 SLURM_PROCID=1 RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 \
		PMI_RANK=1 BACKENDAI_CLUSTER_HOST=sub1 DISTINIT_TRACK='*' -- bundle --output=file
	warns_with "DISTINIT_TRACK: 'HOSTNAME', 'CUDA_VISIBLE_DEVICES', 'SLURM_JOB_ID', 'SLURM_PROCID', 'RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'PMI_RANK', 'BACKENDAI_CLUSTER_HOST', 'DISTINIT_TRACK': $OWN"
	worker file HOSTNAME=there CUDA_VISIBLE_DEVICES=0 RANK=0 -- env
	succeeds_with $'HOSTNAME=there\nCUDA_VISIBLE_DEVICES=0\nRANK=0\nA=1'
}

@test "C13: --force writes variables of a worker's host or rank" {
	distinit HOSTNAME=here RANK=1 -- bundle --track=HOSTNAME:RANK --output=file
	warns_with "--track: 'HOSTNAME', 'RANK': $OWN"
	distinit HOSTNAME=here RANK=1 -- bundle --track=HOSTNAME:RANK --force --output=file
	succeeds_with ''
	worker file HOSTNAME=there -- env
	succeeds_with $'HOSTNAME=here\nRANK=1'
}

@test "C13: words of sentences in a table are not taken for names of variables" {
	for name in file the and first files of; do
		distinit "$name=1" -- bundle --track="$name"
		[[ $status -eq 0 && -z $stderr && $output == *"set $name=1"* ]]
	done
}

@test "C13: the variables that managers and launchers are read from are left out" {
	# The names of variables after "reads", up to the next label; VC_*_NUM stands for many.
	env -i "$DISTINIT" sources | awk '
		match($0, /^ *[a-z]/) && RLENGTH <= 15 { on = RLENGTH == 15 && $1 == "reads" }
		on' |
		tr -s ' ,' '\n' | tr '*' X | grep -xE '_?[A-Z][A-Z0-9]*(_[A-Z0-9]+)*' | sort -u >names
	[ "$(wc -l <names)" -gt 20 ]
	# Hundreds of them.
	python3 - "$DISTINIT" "$OWN" <<-'PYTHON'
		import re, subprocess, sys
		for name in open("names").read().split():
		    # DISTINIT_* variables are settings, which would be invalid with this value.
		    env = {re.sub("^DISTINIT_", "X_", name): "1"}
		    done = subprocess.run([sys.argv[1], "bundle", "--track=" + name], env=env, capture_output=True, text=True)
		    assert done.stderr == f"distinit: warning: --track: '{name}': {sys.argv[2]}\n" and "set" not in done.stdout, (name, done)
	PYTHON
}

# --- through the entrypoint -----------------------------------------------------------------------

@test "DISTINIT_TRACK reaches the workload, for the jobs that it starts; other settings do not" {
	distinit A=1 DISTINIT_TRACK=A DISTINIT_LOG=warn DISTINIT_APP=x -- -- env
	succeeds_with $'A=1\nDISTINIT_TRACK=A'
	# The user's process, which distinit started, and the bundle that it writes.
	distinit A=1 DISTINIT_TRACK=A -- -- "$DISTINIT" bundle
	[ "$(sed '1d; $d' <<<"$output")" = 'set A=1' ]
}

@test "a worker in a cluster gets its own master and rank, and the bundle's variables" {
	job file MASTER_ADDR=elsewhere HF_HOME=/h DISTINIT_TRACK=HF_HOME:MASTER_ADDR -- --log=error
	# shellcheck disable=SC2016 # the worker's shell expands it
	worker file "${SESSION[@]}" -- sh -c 'echo $MASTER_ADDR $PET_NODE_RANK $HF_HOME'
	succeeds_with 'main1 1 /h'
}
