#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit env: the variables that would be added or changed, in four formats.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	remove_open_folder
}

# The variables derived from SESSION.
readonly TF='{"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}'
readonly DERIVED=(
	MASTER_ADDR=main1 MASTER_PORT=29500 PET_NNODES=2 PET_NODE_RANK=1 PET_MASTER_ADDR=main1 PET_MASTER_PORT=29500
	"TF_CONFIG=$TF"
)

# null VAR=VALUE... -- OPTION...: print the output of --format=null, one entry per line (no value
# here contains a newline).
null() {
	local -a variables arguments
	split "$@"
	env -i "${variables[@]}" "$DISTINIT" env --format=null "${arguments[@]}" | tr '\0' '\n'
}

@test "shell is the default: one NAME='value' per line" {
	distinit "${SESSION[@]}" -- env --frameworks=torch
	succeeds_with $'MASTER_ADDR=\'main1\'\nMASTER_PORT=\'29500\''
	distinit "${SESSION[@]}" -- env --frameworks=torch --format=shell
	succeeds_with $'MASTER_ADDR=\'main1\'\nMASTER_PORT=\'29500\''
}

@test "shell: a POSIX shell reads the same values" {
	requires dash
	# shellcheck disable=SC2016 # a literal text
	local -a hard=('A=$HOME `id` \ "x" #y' $'B= two\nlines ' 'C=' 'D=äöü' $'E=\xff' 'F=*' 'G=!x' $'H=\ttab')
	local -a options=()
	for entry in "${hard[@]}"; do
		options+=(--set "$entry")
	done
	env -i "${SESSION[@]}" "$DISTINIT" env "${options[@]}" >file
	# shellcheck disable=SC2016 # dash expands it
	cmp <(env -i dash -c 'set -a; . ./file; exec /usr/bin/env -0' | sort -z | grep -azv ^PWD=) \
		<(printf '%s\0' "${hard[@]}" "${DERIVED[@]}" | sort -z)
}

@test "shell: a value with a quote is refused by name" {
	distinit -- env --set "QUOTE=it's"
	refuses_with "--format=shell cannot carry 'QUOTE': a value in single quotes cannot hold a single quote; --format=null carries anything"
}

@test "shell: a name that is not valid in a shell is refused" {
	distinit -- env --set 'a.b=1'
	refuses_with "--format=shell cannot carry 'a.b': in a shell, a name consists of letters, digits and '_', and does not begin with a digit; --format=null carries anything"
	distinit -- env --set '1A=1'
	refuses_with "--format=shell cannot carry '1A': in a shell, a name consists of letters, digits and '_', and does not begin with a digit; --format=null carries anything"
}

@test "docker: one NAME=value per line, without quotes" {
	distinit "${SESSION[@]}" -- env --format=docker --set "Q=it's \"x\" "
	succeeds_with "$(printf '%s\n' "${DERIVED[@]}" "Q=it's \"x\" ")"
}

@test "docker: a value with a newline is refused by name" {
	distinit -- env --format=docker --set $'LINES=a\nb'
	refuses_with "--format=docker cannot carry 'LINES': a value in this format cannot contain a line break; --format=null carries anything"
	distinit -- env --format=docker --set $'CR=a\r'
	refuses_with "--format=docker cannot carry 'CR': a value in this format cannot contain a line break; --format=null carries anything"
	distinit -- env --format=docker --set '#A=1'
	refuses_with "--format=docker cannot carry '#A': docker would read the line as a comment; --format=null carries anything"
}

@test "docker: the output is also a valid directive file" {
	env -i "${SESSION[@]}" "$DISTINIT" env --format=docker >file
	distinit -- --env-file file -- env
	succeeds_with "$(printf '%s\n' "${DERIVED[@]}")"
}

@test "json: one object" {
	env -i "${SESSION[@]}" "$DISTINIT" env --format=json --set 'A="\/' --set $'B=a\nb\t\x01' --set C=äöü€😀 --set D= >file
	python3 - "${DERIVED[@]}" <<-'PYTHON'
		import json, sys
		want = dict(word.split("=", 1) for word in sys.argv[1:])
		want |= {"A": '"\\/', "B": "a\nb\t\x01", "C": "äöü€😀", "D": ""}
		have = json.load(open("file", encoding="utf-8"))
		assert have == want, have
	PYTHON
}

@test "json: no variables are an empty object" {
	env -i "$DISTINIT" env --format=json >file
	python3 -c 'import json; assert json.load(open("file")) == {}'
}

@test "json: a value that is not UTF-8 is refused by name" {
	distinit -- env --format=json --set $'LATIN=\xe9'
	refuses_with "--format=json cannot carry 'LATIN': JSON can hold UTF-8 only; --format=null carries anything"
}

@test "null: represents any value" {
	cmp <(env -i "$DISTINIT" env --format=null --set $'A=\xff\n\'"' --set 'a.b=1') <(printf '%s\0' $'A=\xff\n\'"' a.b=1)
}

@test "the command sees the variables that env prints" {
	for options in '' '--ranks=always' '--frameworks=tensorflow' '--set MASTER_PORT=7' '--clean --set A=1'; do
		# shellcheck disable=SC2086 # several words
		cmp <(env -i "${SESSION[@]}" "$DISTINIT" env --all --format=null $options) \
			<(env -i "${SESSION[@]}" "$DISTINIT" $options -- /usr/bin/env -0)
	done
}

@test "only new and changed variables, unless --all" {
	[ "$(null A=1 B=2 -- --set A=1 --set B=3 --set C=4)" = $'B=3\nC=4' ]
	[ "$(null A=1 B=2 -- --set A=1 --set B=3 --set C=4 --all)" = $'A=1\nB=3\nC=4' ]
	[ "$(null A=1 B=2 -- --unset A)" = '' ]
	[ "$(null A=1 B=2 -- --unset A --all)" = B=2 ]
	distinit A=1 B=2 -- env
	succeeds_with ''
}

@test "the output cannot show a removed variable, which is a warning that names it" {
	distinit A=1 B=2 -- env --unset A --set C=3
	warns_with "'A' is removed (--unset), which this output cannot show; --all prints what is left"
	[ "$output" = "C='3'" ]
	distinit A=1 B=2 -- env --unset A --all
	succeeds_with "B='2'"
}

@test "--all leaves out the DISTINIT_* variables" {
	[ "$(null A=1 DISTINIT_MASTER_PORT=1 -- --all)" = A=1 ]
	[ "$(null A=1 DISTINIT_MASTER_PORT=1 -- --all --keep-config)" = $'A=1\nDISTINIT_MASTER_PORT=1' ]
}

@test "--output: to a file, and nothing to stdout" {
	distinit "${SESSION[@]}" -- env --frameworks=torch --output=file
	succeeds_with ''
	[ "$(cat file)" = $'MASTER_ADDR=\'main1\'\nMASTER_PORT=\'29500\'' ]
	distinit "${SESSION[@]}" -- env --frameworks=torch -o short
	cmp file short
}

@test "--output: also to a file system that has no fsync()" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local errno
	for errno in EINVAL EROFS; do
		invoke env -i A=1 strace -o /dev/null -e "inject=fsync:error=$errno" "$DISTINIT" env --set B=2 --output=file
		[[ $status -eq 0 && $(<file) == "B='2'" ]]
		rm file
	done
	invoke env -i A=1 strace -o /dev/null -e inject=fsync:error=ENOSPC "$DISTINIT" env --set B=2 --output=file
	[[ $status -eq 125 && $stderr == *'cannot be written: No space left on device'* && ! -e file ]]
}

@test "--output: replaces a file, and leaves nothing else behind" {
	echo old >file
	distinit A=1 -- env --set A=2 --output=file
	succeeds_with ''
	[ "$(ls -A)" = $'.stderr\n.stdout\nfile' ]
	[ "$(cat file)" = "A='2'" ]
}

@test "--output: a device is written to, not replaced; also through a symlink" {
	mknod null c 1 3 2>/dev/null && true >null || skip 'no device can be made here'
	ln -s null link
	local path
	for path in null link; do
		distinit "${SESSION[@]}" -- env --frameworks=torch -o "$path"
		succeeds_with ''
	done
	[[ -c null && -L link && $(ls) == $'link\nnull' ]]
	mknod full c 1 7
	distinit "${SESSION[@]}" -- env -o full
	refuses_with "--output: 'full' cannot be written: No space left on device"
	[[ -c full ]]
}

@test "--output: a FIFO is written to; also through a symlink" {
	mkfifo fifo
	ln -s fifo link
	local path
	for path in fifo link; do
		timeout 100 cat fifo >got 3>&- &
		invoke env -i timeout 100 "${DISTINIT}" env --set A=1 -o "$path"
		succeeds_with ''
		wait $!
		[[ -p fifo && -L link && $(cat got) == "A='1'" ]]
	done
	# With stdin closed, it is opened as descriptor 0.
	timeout 100 cat fifo >got 3>&- &
	env -i timeout 100 "${DISTINIT}" env --set B=1 -o fifo <&-
	wait $!
	[[ $(cat got) == "B='1'" ]]
}

@test "--output: the target of /dev/stdout is written to: a pipe, a file, a socket" {
	# Not /dev/stdout itself: it was replaced once, and tests run as root.
	ln -s /proc/self/fd/1 stdout
	[ "$(env -i "$DISTINIT" env --set A=1 -o stdout | cat)" = "A='1'" ]
	env -i "$DISTINIT" env --set A=1 -o stdout >got
	[[ $(cat got) == "A='1'" && -L stdout ]]
	python3 - "$DISTINIT" <<-'PYTHON'
		import socket, subprocess, sys
		ours, theirs = socket.socketpair()
		subprocess.run([sys.argv[1], "env", "--set=A=1", "-o", "stdout"], env={}, stdout=theirs, check=True)
		assert ours.recv(100) == b"A='1'\n"
	PYTHON
	[[ -L stdout && $(ls) == $'got\nstdout' ]]
}

@test "--output: what cannot be looked at is not replaced" {
	ln -s loop loop
	distinit -- env --set A=1 -o loop
	# "Symbolic link loop" are musl's words, "Too many levels of symbolic links" those of glibc, which packagers have.
	fails_like 125 "--output: 'loop' cannot be written: *[Ss]ymbolic link*"
	[[ -L loop && $(ls) == loop ]]
}

@test "--output: a symlink to a file is replaced, its target is not changed; a folder is an error" {
	echo old >target
	ln -s target link
	distinit -- env --set A=1 -o link
	succeeds_with ''
	[[ ! -L link && $(cat link) == "A='1'" && $(cat target) == old ]]
	mkdir folder
	distinit -- env --set A=1 -o folder
	refuses_with "--output: 'folder' cannot be written: Is a directory"
	[[ $(ls) == $'folder\nlink\ntarget' ]]
}

@test "--output: for its owner alone, as values may be secret, unless --mode says more, whatever the umask" {
	(
		umask 000
		env -i "$DISTINIT" env --set A=1 --output=closed
		umask 077
		env -i "$DISTINIT" env --set A=1 --output=open --mode=0644
		env -i "$DISTINIT" wait --timeout=1 --set A=1 --output=both --mode=640
	)
	[[ $(stat -c %a closed open both) == $'600\n644\n640' ]]
	local mode
	for mode in '' 8 0x1 1000 00644 rw; do
		distinit -- env --set A=1 --output=none --mode="$mode"
		refuses_with "--mode='$mode' is not a mode such as 0600 or 0644"
		[[ ! -e none ]]
	done
}

@test "--output: a leftover of a killed run does no harm" {
	touch file.1.tmp "file.$$.tmp" file.tmp
	distinit -- env --set A=1 --output=file
	succeeds_with ''
	[[ $(<file) == "A='1'" ]]
}

@test "--output: atomic: a concurrent reader sees the old or the new file" {
	echo "A='1'" >file
	exec 8<file
	distinit -- env --set A=2 --output=file
	succeeds_with ''
	[ "$(cat <&8)" = "A='1'" ]
	[ "$(cat file)" = "A='2'" ]
}

@test "--output: an error leaves the old file as it was" {
	echo old >file
	distinit -- env --set "A=it's" --output=file
	[ "$status" -eq 125 ]
	distinit BACKENDAI_CLUSTER_SIZE=x -- env --output=file
	[ "$status" -eq 125 ]
	[ "$(cat file)" = old ]
	[ "$(ls -A)" = $'.stderr\n.stdout\nfile' ]
}

@test "--output: a missing folder is refused" {
	distinit -- env --output=no/such/file
	refuses_with "--output: 'no/such/file' cannot be written: No such file or directory"
	mkdir folder
	distinit -- env --output=folder
	fails_like 125 "--output: 'folder' cannot be written: *"
	[ -z "$(ls -A folder)" ]
}

@test "--output: a folder without write permission is refused" {
	requires setpriv
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	chmod 555 "$OPEN_FOLDER"
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" env --set A=1 --output="$OPEN_FOLDER/file"
	chmod 755 "$OPEN_FOLDER"
	refuses_with "--output: '$OPEN_FOLDER/file' cannot be written: Permission denied"
	[ "$(ls -A "$OPEN_FOLDER")" = distinit ]
}

@test "a full disk is an error, on stdout and in a file" {
	[ -c /dev/full ] || skip 'there is no /dev/full'
	status=0
	message=$(env -i "$DISTINIT" env --set A=1 2>&1 >/dev/full) || status=$?
	[ "$status" -eq 125 ]
	[ "$message" = 'distinit: error: cannot write to stdout: No space left on device' ]
}

@test "a closed stdout is an error" {
	status=0
	message=$(env -i "$DISTINIT" env --set A=1 2>&1 >&-) || status=$?
	[ "$status" -eq 125 ]
	[ "$message" = 'distinit: error: cannot write to stdout: Bad file descriptor' ]
}

@test "an unknown format is refused, and the error lists the formats" {
	distinit -- env --format=yaml
	refuses_with "--format='yaml': expected shell, docker, json or null"
}

@test "env takes no command" {
	distinit -- env -- true
	refuses_with "env takes no command and no argument, only options; see 'distinit env --help'"
	distinit -- env A=1 true
	refuses_with "env takes no command and no argument, only options; see 'distinit env --help'"
}

@test "warnings go to stderr, so that the output stays valid" {
	distinit "${SESSION[@]}" BACKENDAI_CLUSTER_LOCAL_RANK=0 -- env --frameworks=torch
	warns_with "BACKENDAI_CLUSTER_LOCAL_RANK=0, but BACKENDAI_CLUSTER_HOST='sub1' is number 1 of the hosts: 1 is used"
	[ "$output" = $'MASTER_ADDR=\'main1\'\nMASTER_PORT=\'29500\'' ]
}

# A batch script of Slurm on the first of three nodes, and a task of a step without that node.
readonly SCRIPT=(SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[1-3]' 'SLURM_TASKS_PER_NODE=1(x3)' SLURMD_NODENAME=n1)
readonly STEP=(SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[1-3]' SLURM_STEP_ID=1 'SLURM_STEP_NODELIST=n[2-3]' SLURM_STEP_NUM_NODES=2
	SLURM_STEP_NUM_TASKS=2 'SLURM_STEP_TASKS_PER_NODE=1(x2)' SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0)
readonly MARK=DISTINIT_DERIVED=MASTER_ADDR=08b37b07b558d4c0:MASTER_PORT=ab74ab0bf25206ff

# shellcheck disable=SC2016 # for another shell
@test "in a job script, each format also has the mark DISTINIT_DERIVED" {
	distinit "${SCRIPT[@]}" -- env
	succeeds_with "MASTER_ADDR='n1'"$'\n'"MASTER_PORT='20217'"$'\n'"${MARK%%=*}='${MARK#*=}'"
	distinit "${SCRIPT[@]}" -- env --format=docker
	succeeds_with $'MASTER_ADDR=n1\nMASTER_PORT=20217\n'"$MARK"
	[ "$(null "${SCRIPT[@]}" --)" = $'MASTER_ADDR=n1\nMASTER_PORT=20217\n'"$MARK" ]
	distinit "${SCRIPT[@]}" -- env --format=json
	[[ $output == *"\"DISTINIT_DERIVED\": \"${MARK#*=}\""* ]]
	# A program that distinit starts there has it, too, and no other program.
	distinit "${SCRIPT[@]}" -- -- sh -c 'echo $DISTINIT_DERIVED'
	succeeds_with "${MARK#*=}"
	distinit "${STEP[@]}" "$MARK" MASTER_ADDR=n1 MASTER_PORT=20217 -- --frameworks=torch -- sh -c 'echo $MASTER_ADDR $DISTINIT_DERIVED'
	succeeds_with n2
}

@test "in a job script, what follows from the user's own master or port is not marked" {
	distinit "${SCRIPT[@]}" -- env --master-port=7
	succeeds_with "MASTER_ADDR='n1'"$'\n'"MASTER_PORT='7'"$'\n'"DISTINIT_DERIVED='MASTER_ADDR=08b37b07b558d4c0'"
	distinit "${SCRIPT[@]}" MASTER_ADDR=n3 -- env --frameworks=jax
	[[ $status -eq 0 && $output == "JAX_COORDINATOR_ADDRESS='n3:20217'" ]]
	distinit "${SCRIPT[@]}" -- env --set MASTER_ADDR=n2 --set MASTER_PORT=9
	succeeds_with "MASTER_ADDR='n2'"$'\n'"MASTER_PORT='9'"
}

@test "explain names what was derived in the job script and is derived again, or no longer" {
	distinit "${STEP[@]}" "$MARK" MASTER_ADDR=n1 MASTER_PORT=20217 -- explain --format=json
	[[ $status -eq 0 && $output == *'"name": "MASTER_ADDR", "value": "n2", "action": "set", "by": "torch"'* ]]
	distinit SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[1-3]' SLURM_STEP_ID=1 SLURM_STEP_NODELIST=n3 SLURM_STEP_NUM_NODES=1 \
		SLURM_STEP_NUM_TASKS=1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 \
		"$MARK" MASTER_ADDR=n1 MASTER_PORT=20217 -- explain --format=json
	[[ $status -eq 0 && $output == *'"name": "MASTER_ADDR", "value": null, "action": "unset", "by": "distinit"'* ]]
}

@test "the mark is no setting: --options-from=command-line does not refuse it" {
	distinit "${STEP[@]}" "$MARK" MASTER_ADDR=n1 MASTER_PORT=20217 -- env --options-from=command-line --frameworks=torch
	[[ $status -eq 0 && -z $stderr && $output == "MASTER_ADDR='n2'"* ]]
}
