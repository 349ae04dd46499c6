#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit -- COMMAND: it becomes the command, and changes only the environment.

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	remove_open_folder
}

# script NAME LINE...: create an executable file of these lines.
script() {
	local name=$1
	shift
	printf '%s\n' "$@" >"$name"
	chmod +x -- "$name"
}

# status_of PROGRAM...: print the /proc status of a process started this way, without SigQ, which
# counts the signals of all processes of this user.
status_of() {
	env -i "$@" cat /proc/self/status | grep -E '^(Sig[^Q]|Shd|Cap|Umask|NoNewPrivs|Groups|Uid|Gid)'
}

# --- in place -------------------------------------------------------------------------------------

@test "the command is this very process: same pid, same parent" {
	# shellcheck disable=SC2016 # the inner shells expand it
	invoke sh -c 'echo $$ $PPID; exec "$DISTINIT" -- sh -c "echo \$\$ \$PPID"'
	[ "$status" -eq 0 ]
	mapfile -t lines <<<"$output"
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[0]}" = "${lines[1]}" ]
	# Nor has it left a child, such as the one that looks names up. This shell starts none itself.
	[[ -e /proc/$$/task/$$/children ]] || skip 'this kernel does not list children'
	local words
	for words in --cluster=none '--wait --for=dns --hosts=localhost,b --node-rank=1' '--wait --for=all --hosts=localhost --node-rank=0'; do
		# shellcheck disable=SC2016,SC2086 # the inner shell expands it; several words
		invoke "$DISTINIT" $words -- sh -c 'read -r children </proc/$$/task/$$/children; echo "<$children>"'
		[[ $status -eq 0 && $output == '<>' ]]
	done
}

@test "the exit status is the command's" {
	distinit -- -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	distinit -- -- true
	succeeds_with ''
	distinit -- -- sh -c 'exit 255'
	[ "$status" -eq 255 ]
}

@test "if a signal ends the command, the parent sees that signal" {
	# shellcheck disable=SC2016 # the inner shell expands it
	distinit -- -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "signal mask, dispositions, ids, capabilities and umask are unchanged" {
	(
		trap '' HUP USR1
		umask 027
		status_of >without
		status_of "$DISTINIT" -- >with
	)
	diff without with
	# HUP is the first bit, USR1 the tenth; the caller of this test may ignore others.
	ignored=$(sed -n 's/^SigIgn:[[:space:]]*/0x/p' with)
	[ "$((ignored & 0x201))" -eq "$((0x201))" ]
}

@test "the working folder is unchanged" {
	mkdir 'a folder'
	cd 'a folder'
	distinit -- -- pwd
	succeeds_with "$PWD"
}

@test "stdin is not touched" {
	printf 'one\ntwo\n' >input
	{
		IFS= read -r first
		[ "$first" = one ]
		[ "$(env -i "$DISTINIT" -- cat)" = two ]
	} <input
	[ "$(printf 'one\0two' | env -i "${SESSION[@]}" "$DISTINIT" -- cat | od -c)" = \
		"$(printf 'one\0two' | od -c)" ]
}

@test "no descriptor is added, none is lost" {
	echo 'A=1' >directives
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			((fd < 3)) || eval "exec $fd>&-"
		done
		# 3 belongs to the listing; 7 was open before.
		env -i "${SESSION[@]}" DISTINIT_ENV_FILE=directives \
			"$DISTINIT" --env-file directives -- ls /proc/self/fd 7</dev/null >listing
	)
	[ "$(tr '\n' ' ' <listing)" = '0 1 2 3 7 ' ]
}

@test "stdin, stdout and stderr may be closed" {
	env -i "$DISTINIT" --set A=1 -- sh -c 'echo done >out' <&- >&- 2>&-
	[ "$(cat out)" = "done" ]
}

@test "works the same as a user other than root" {
	requires setpriv
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	invoke as_nobody env -i "${SESSION[@]}" DISTINIT_MASTER_PORT=1234 "$OPEN_FOLDER/distinit" -- env
	[ "$status" -eq 0 ]
	unprivileged=$output
	distinit "${SESSION[@]}" DISTINIT_MASTER_PORT=1234 -- -- env
	succeeds_with "$unprivileged"
}

# --- arguments ------------------------------------------------------------------------------------

@test "arguments are passed on byte for byte" {
	# shellcheck disable=SC1003,SC2016 # a literal text
	local -a words=('' ' ' 'a b' $'line\nbreak' $'tab\t' '*' "'" '"' '\' '--' '-x' '--help' $'\xff\xfe' 'ä' '$HOME')
	cmp <(env -i "$DISTINIT" -- printf '<%s>\0' "${words[@]}") <(printf '<%s>\0' "${words[@]}")
}

@test "options after the command belong to the command" {
	distinit -- -- printf '%s ' --set A=1 --master-port http --
	succeeds_with '--set A=1 --master-port http -- '
}

@test "the command may have the name of an option or a subcommand" {
	script ./--help '#!/bin/sh' 'echo called'
	script env '#!/bin/sh' 'echo mine'
	distinit PATH="$PWD" -- -- --help
	succeeds_with called
	distinit PATH="$PWD" -- -- env
	succeeds_with mine
}

@test "an argument of 100 kB is passed on" {
	big=$(head -c 100000 /dev/zero | tr '\0' x)
	[ "$(env -i "$DISTINIT" -- printf %s "$big")" = "$big" ]
}

# --- finding the command --------------------------------------------------------------------------

@test "a name is searched in PATH" {
	mkdir one two
	script two/tool '#!/bin/sh' 'echo two'
	distinit PATH="$PWD/one:$PWD/two" -- -- tool
	succeeds_with two
	script one/tool '#!/bin/sh' 'echo one'
	distinit PATH="$PWD/one:$PWD/two" -- -- tool
	succeeds_with one
}

@test "directives change the PATH that is searched" {
	mkdir new old
	script new/tool '#!/bin/sh' 'echo new'
	script old/tool '#!/bin/sh' 'echo old'
	distinit PATH="$PWD/old" -- --prepend PATH="$PWD/new" -- tool
	succeeds_with new
	distinit PATH="$PWD/new" -- --set PATH="$PWD/old" -- tool
	succeeds_with old
	printf 'PATH=%s\n' "$PWD/new" >file
	distinit PATH="$PWD/old" -- --env-file file -- tool
	succeeds_with new
}

@test "without a PATH the system's default is searched" {
	distinit -- -- printf found
	succeeds_with found
	distinit PATH=/nowhere -- --unset PATH -- printf found
	succeeds_with found
}

@test "a command that is not found: 127, with the PATH that was searched" {
	distinit PATH=/nowhere:/never -- -- no-such-tool
	fails_with 127 "'no-such-tool' was not found in PATH='/nowhere:/never'"
	distinit PATH=/nowhere -- --set PATH=/changed -- no-such-tool
	fails_with 127 "'no-such-tool' was not found in PATH='/changed'"
}

@test "a path that does not exist: 127" {
	distinit -- -- ./no-such-tool
	fails_with 127 "'./no-such-tool' was not found"
	echo >file
	distinit -- -- ./file/tool
	fails_with 127 "'./file/tool' was not found"
}

@test "an empty command: 127" {
	distinit -- -- ''
	fails_with 127 'the command is an empty word'
}

@test "a file that is not executable: 126" {
	echo 'echo ran' >tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: Permission denied: it is not executable (chmod +x)"
	distinit PATH="$PWD" -- -- tool
	fails_with 126 "'$PWD/tool' cannot be started: Permission denied: it is not executable (chmod +x)"
}

@test "a folder in PATH whose network file system is gone does not hide later folders" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	mkdir gone there
	printf '#!/bin/sh\necho found\n' >there/program
	chmod 755 there/program
	local code
	for code in ESTALE ENODEV ETIMEDOUT; do
		invoke env -i PATH=gone:there "$(command -v strace)" -o trace -e "inject=execve:error=$code:when=1" "$DISTINIT" -- program
		[[ $status -eq 0 && $output == found ]]
	done
}

@test "a file that is not executable does not hide a later one in PATH" {
	mkdir one two
	echo 'echo one' >one/tool
	script two/tool '#!/bin/sh' 'echo two'
	distinit PATH="$PWD/one:$PWD/two" -- -- tool
	succeeds_with two
}

@test "a folder: 126" {
	mkdir tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: Permission denied: it is a directory"
}

@test "the shell runs a script without #!, as if it were started from a shell" {
	# shellcheck disable=SC2016 # the script expands it
	script tool 'echo "$0 has $#: $1, $2"'
	distinit -- -- ./tool 'a b' c
	succeeds_with './tool has 2: a b, c'
	distinit PATH="$PWD:/bin" -- -- tool x
	[ "$status" -eq 0 ]
	[ "$output" = "$PWD/tool has 1: x, " ]
}

@test "a program for another machine: 126, and no shell tries to read it" {
	# An ELF header of a machine that does not exist.
	printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xfe\xfe\x01\0\0\0\necho ran\n' >tool
	chmod +x tool
	distinit -- -- ./tool
	fails_like 126 "'./tool' cannot be started: *"
}

@test "a missing interpreter: 126, and the message names it" {
	script tool '#!/no/such/interpreter' 'echo ran'
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: the file exists, but its interpreter '/no/such/interpreter' does not"
	distinit PATH="$PWD" -- -- tool
	fails_like 126 "'$PWD/tool' cannot be started: the file exists, but its interpreter*"
	script tool '#!  /no/such/interpreter -e' 'echo ran'
	distinit -- --init -- ./tool
	fails_like 126 "*its interpreter '/no/such/interpreter' does not"
}

@test "#! with Windows' line ends: 126, and the message shows the cause" {
	printf '#!/bin/sh\r\necho ran\r\n' >tool
	chmod +x tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: the file exists, but its interpreter '/bin/sh\x0d' does not: the file has line ends of Windows (CR LF)"
}

@test "a program without its dynamic loader: 126, and the message says so" {
	requires python3
	sed 's|/lib64/ld-linux|/lib64/no-linux|' "$(readlink -f /bin/true)" >tool
	cmp -s tool /bin/true && skip 'true has no dynamic loader'
	chmod +x tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: the file exists, but its interpreter, the dynamic loader, does not"
}

@test "a command that is no program: the message shows what was meant" {
	local none="was not found in PATH='/nowhere'"
	distinit PATH=/nowhere -- -- 'torchrun train.py'
	fails_with 127 "'torchrun train.py' $none; it is one word: give each argument a word of its own"
	distinit PATH=/nowhere -- --init -- 'torchrun train.py' --epochs=3
	fails_with 127 "'torchrun train.py' $none; it is one word: give each argument a word of its own"
	distinit -- -- './tool --fast'
	fails_with 127 "'./tool --fast' was not found; it is one word: give each argument a word of its own"
	distinit PATH=/nowhere -- -- FOO=1 env
	fails_with 127 "'FOO=1' $none; to set a variable: --set 'FOO=1', before '--'"
	distinit PATH=/nowhere -- -- API_TOKEN=abc env
	[[ $status -eq 127 && $stderr != *abc* && $stderr == *"to set a variable: --set 'API_TOKEN=********'"* ]]
	distinit PATH=/nowhere -- -- cd x
	fails_with 127 "'cd' $none; it is a builtin of the shell: sh -c 'cd ...'"
	echo 'print(1)' >train.py
	distinit PATH=/nowhere -- -- train.py
	fails_with 127 "'train.py' $none; it is in this folder, which is not in PATH: put ./ before it"
	distinit PATH=/nowhere -- -- nosuch
	fails_with 127 "'nosuch' $none"
}

@test "an option whose value is optional, and a word behind it: the message shows both ways" {
	distinit -- --wait 5m
	refuses_with "'--' is missing before the command '5m', or '=': --wait='5m'"
	distinit -- --init --together workers -- true
	refuses_with "'--' is missing before the command 'workers', or '=': --together='workers'"
	distinit -- --check hints true
	refuses_with "'--' is missing before the command 'hints', or '=': --check='hints'"
	distinit -- --wait --init python
	refuses_with "'--' is missing before the command 'python'"
}

@test "a script without #! is run by sh; what begins as an ELF file is none" {
	printf '\177ELx 2>/dev/null\nexit 9\n' >tool
	chmod +x tool
	distinit -- -- ./tool
	[ "$status" -eq 9 ]
	printf '\177ELF' >tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: it is a program for another machine, or damaged"
	printf 'exit 7\n\0' >tool
	distinit -- -- ./tool
	fails_with 126 "'./tool' cannot be started: it is a program for another machine, or damaged"
}

@test "more than the kernel's limit: 126, and the largest is named" {
	for i in $(seq 30); do
		printf 'BIG%s=' "$i"
		head -c 120000 /dev/zero | tr '\0' x
		echo
	done >file
	distinit -- --env-file file -- true
	fails_like 126 "*cannot be started: arguments and environment have * bytes, more than the kernel takes (the largest, 'BIG*"
	# Of a long name, 60 bytes are shown.
	for letters in 60 61; do
		name=$(head -c "$letters" /dev/zero | tr '\0' N)
		distinit -- --env-file file --set "$name=$(head -c 125000 /dev/zero | tr '\0' x)" -- true
		fails_like 126 "*takes (the largest, '${name::60}', has $((125002 + letters)))"
	done
}

# --- the command line -----------------------------------------------------------------------------

@test "no command: an error with the usage" {
	usage='usage: distinit [OPTION]... -- COMMAND [ARG]... (see --help)'
	distinit --
	[[ $status -eq 125 && -z $output && $stderr == "distinit: error: no command; $usage"$'\n  distinit -- torchrun train.py '* ]]
	distinit -- --
	refuses_with "no command after '--'; $usage"
	distinit -- --set A=1
	refuses_with "no command; $usage"
}

@test "a command without --: an error that shows how to write it" {
	distinit -- python x.py --epochs 3
	refuses_with "'python' is not a subcommand; to run a command: distinit -- python x.py --epochs 3"
	distinit -- ./train.sh
	refuses_with "'./train.sh' is not a subcommand; to run a command: distinit -- ./train.sh"
	distinit -- --set A=1 python x.py
	refuses_with "'--' is missing before the command 'python'"
}

@test "a mistyped subcommand: an error that names the most similar" {
	distinit -- explane
	refuses_with "'explane' is not a subcommand; did you mean 'explain'?; to run a command: distinit -- explane"
}

@test "an error in an option: the command does not run" {
	distinit -- --no-such-option -- touch ran
	[ "$status" -eq 125 ]
	distinit -- --set -- touch ran
	[ "$status" -eq 125 ]
	distinit -- --env-file=no-such-file -- touch ran
	[ "$status" -eq 125 ]
	distinit BACKENDAI_CLUSTER_SIZE=x -- -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

# --- the environment ------------------------------------------------------------------------------

@test "without a cluster the environment is passed on byte for byte, and in its order" {
	# Doubled, without '=', empty, without a name, no UTF-8, a newline.
	local -a entries=(
		ZULU=1 ALPHA=2 ALPHA=3 noequals '' '=noname' '==' $'LATIN=\xe9\xff' $'LINES=a\nb' EMPTY= 'BLANK NAME=x'
		'UNICODE=äöü€' 'ALPHA=2' 'QUOTES="'\'
	)
	cmp <(raw "${entries[@]}" -- "$DISTINIT" -- /bin/cat /proc/self/environ) \
		<(printf '%s\0' "${entries[@]}")
}

@test "in a cluster the inherited entries are unchanged, and new ones follow" {
	local -a entries=(Z=1 A=2 A=3 noequals '' '=noname' $'LATIN=\xff' "${SESSION[@]}")
	local -a derived=(
		MASTER_ADDR=main1 MASTER_PORT=29500 PET_NNODES=2 PET_NODE_RANK=1 PET_MASTER_ADDR=main1
		PET_MASTER_PORT=29500
		'TF_CONFIG={"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}'
	)
	cmp <(raw "${entries[@]}" -- "$DISTINIT" -- /bin/cat /proc/self/environ) \
		<(printf '%s\0' "${entries[@]}" "${derived[@]}")
}

@test "an empty environment stays empty" {
	distinit -- -- cat /proc/self/environ
	succeeds_with ''
}

@test "if a name occurs twice, the first entry counts, as for getenv()" {
	# shellcheck disable=SC2016 # the inner shell expands it
	invoke raw MASTER_ADDR=first MASTER_ADDR=second "${SESSION[@]}" -- \
		"$DISTINIT" --frameworks=torch -- /bin/sh -c 'tr "\0" "\n" </proc/$$/environ'
	[ "$status" -eq 0 ]
	[ "$(grep ^MASTER_ADDR <<<"$output")" = $'MASTER_ADDR=first\nMASTER_ADDR=second' ]
}

@test "35,000 variables are passed on" {
	python3 - "$DISTINIT" <<-'PYTHON'
		import os, subprocess, sys
		env = {f"VARIABLE_{i}": str(i * i) for i in range(35000)}
		cluster = {"BACKENDAI_CLUSTER_SIZE": "2", "BACKENDAI_CLUSTER_HOSTS": "main1,sub1", "BACKENDAI_CLUSTER_LOCAL_RANK": "1"}
		words = [sys.argv[1], "--frameworks=torch", "--unset", "VARIABLE_34999", "--set", "VARIABLE_5=x", "--", "/usr/bin/env", "-0"]
		done = subprocess.run(words, env=env | cluster, stdout=subprocess.PIPE, check=True)
		have = dict(entry.split("=", 1) for entry in done.stdout.decode().split("\0")[:-1])
		want = env | cluster | {"MASTER_ADDR": "main1", "MASTER_PORT": "29500", "VARIABLE_5": "x"}
		del want["VARIABLE_34999"]
		assert have == want, have.keys() ^ want.keys()
	PYTHON
}

@test "a TF_CONFIG of exactly 128 KiB is passed, one byte more is left out" {
	python3 - "$DISTINIT" <<-'PYTHON'
		import subprocess, sys
		LIMIT = 131072  # of "TF_CONFIG=...", with its NUL
		PORT = 20000    # up to 29999: five digits throughout

		def tf_config(hosts):
		    workers = ",".join(f'"{h}:{PORT + i}"' for i, h in enumerate(hosts))
		    return 'TF_CONFIG={"cluster":{"worker":[' + workers + ']},"task":{"type":"worker","index":0}}'

		def run(hosts):
		    env = {"BACKENDAI_CLUSTER_SIZE": str(len(hosts)), "BACKENDAI_CLUSTER_HOSTS": ",".join(hosts),
		           "BACKENDAI_CLUSTER_LOCAL_RANK": "0", "MASTER_PORT": str(PORT)}
		    return subprocess.run([sys.argv[1], "--", "/usr/bin/env"], env=env, capture_output=True, text=True)

		hosts = [f"n{i:04}.example.internal" for i in range(4500)]
		while len(tf_config(hosts)) + 1 > LIMIT - 3:
		    hosts.pop()
		for i in range(LIMIT - 1 - len(tf_config(hosts))):
		    hosts[i] = "x" + hosts[i]
		assert len(tf_config(hosts)) + 1 == LIMIT

		done = run(hosts)
		assert done.returncode == 0 and done.stderr == "", done.stderr
		assert tf_config(hosts) in done.stdout.splitlines()

		hosts[-1] += "x"
		done = run(hosts)
		assert done.returncode == 0, done.stderr
		assert "TF_CONFIG" not in done.stdout
		assert done.stderr == (f"distinit: warning: TF_CONFIG is left out: with {len(hosts)} workers it has 131073 bytes, "
		                       "and the kernel takes 131072 in one variable\n"), done.stderr
	PYTHON
}

# README.md, SECURITY.md: it connects to others only for a wait and the roll call, and it listens only in the roll call.
@test "no socket is opened, but for a wait, the roll call and an interface" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local cluster=("--hosts=127.0.0.1,127.0.0.2" --node-rank=1) listens
	sockets() {
		invoke env -i PATH="$PATH" timeout 60 strace -f -qq -e signal=none -o trace -e trace=socket,connect,bind,listen,accept,accept4 "$DISTINIT" "$@"
	}
	while read -ra words; do
		sockets "${words[@]}"
		[[ $status -eq 0 && ! -s trace ]]
	done <<-END
		${cluster[*]} -- true
		${cluster[*]} --init --report=report --time-limit=1m -- true
		${cluster[*]} --frameworks=torch,mpich --set=A=1 --hostfile-output=$PWD/hosts -- true
		--max-restarts=1 --clear=/dev/shm/nosuch-* --progress=/dev/shm/nosuch:1m -- true
		explain ${cluster[*]}
		env ${cluster[*]}
		hosts ${cluster[*]}
		managers
		--hosts=127.0.0.1,127.0.0.2 --node-rank=0 --wait -- true
		wait --hosts=127.0.0.1,127.0.0.2 --node-rank=0 --for=tcp
	END
	# Nor to learn who a user is.
	if [[ $EUID -eq 0 ]]; then
		sockets --user=nobody --init -- true
		[[ $status -eq 0 && ! -s trace ]]
	fi
	# A member of a wait connects, and does not listen; so does one of a roll call whose coordinator does not come.
	for words in --wait=300ms '--wait=300ms --for=all'; do
		read -ra listens <<<"$words"
		sockets "${cluster[@]}" "${listens[@]}" --master-port=1 -- true
		[[ $status -eq 124 ]]
		grep -q 'connect(' trace
		run ! grep 'listen(' trace
	done
	# And the one of rank 0, until it starts or gives up.
	sockets --hosts=127.0.0.1,127.0.0.2 --node-rank=0 --wait=300ms --for=all -- true
	[[ $status -eq 124 ]]
	grep -q 'listen(' trace
	# check: on the master it tries the port, and takes no connection; elsewhere it does not.
	sockets check "${cluster[@]}"
	run ! grep -E 'listen\(|accept' trace
	sockets check --hosts=127.0.0.1,127.0.0.2 --node-rank=0
	[[ $(grep -c 'listen(' trace) -eq 1 ]]
	run ! grep -E 'accept|connect\(.*sin_port=htons\(29500\)' trace
}
