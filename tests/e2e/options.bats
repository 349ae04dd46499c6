#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The options, their DISTINIT_* variables, and --help.

# shellcheck disable=SC2030,SC2031,SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

readonly SUBCOMMANDS=(env explain wait check install bundle hosts managers frameworks completion help version)

# long_options WORD...: print the long options of its --help, as --name or, with an argument,
# --name=ARG.
long_options() {
	env -i "$DISTINIT" "$@" --help=all | grep -oE '^  (-[A-Za-z],|   ) --[a-z-]+[= ]?[A-Z]*' | sed 's/.* --/--/; s/ $//'
}

# --- help -----------------------------------------------------------------------------------------

@test "--help: on stdout, with status 0, and nothing on stderr" {
	for words in --help -h 'env --help' 'explain -h' 'wait --help' 'check --help' 'install --help' 'bundle --help' 'hosts --help' 'managers --help' 'sources --help' 'frameworks --help' help 'help explain'; do
		# shellcheck disable=SC2086 # several words
		distinit -- $words
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == 'usage: distinit '* ]]
	done
}

@test "--help: no line is longer than 80 columns, none ends with a blank" {
	for word in '' "${SUBCOMMANDS[@]}"; do
		# shellcheck disable=SC2086 # none or one
		env -i "$DISTINIT" $word --help >help
		awk -v word="$word" 'length > 80 { print word ": " $0; bad = 1 } END { exit bad }' help
		run ! grep -nE '[[:blank:]]$' help
	done
}

@test "--help: names every subcommand, each of which has its own" {
	distinit -- --help
	for word in "${SUBCOMMANDS[@]}"; do
		grep -E "^  $word +[a-z]" <<<"$output"
		[[ $(env -i "$DISTINIT" "$word" --help) == "usage: distinit $word "* ]]
	done
	# And no other subcommand.
	[ "$(grep -cE '^  [a-z]+  +[a-z]' <<<"$output")" -eq "${#SUBCOMMANDS[@]}" ]
}

@test "--help: lists the options of the manual" {
	long_options >help
	for option in cluster frameworks hosts hostfile node-rank nnodes scope master-addr master-port ranks set add unset prepend append first \
		env-file clean pass app keep-config lenient wait for verbose log root hostname help version; do
		grep -E -- "^--$option\b" help
	done
	long_options env | grep -x -- --format=FORMAT
	long_options env | grep -x -- --all
	long_options env | grep -x -- --output=FILE
	long_options wait | grep -x -- --timeout=DURATION
	long_options explain | grep -x -- --format=FORMAT
	long_options explain | grep -x -- --show-secrets
	for option in --track=NAMES --force --carry-unset --output=FILE; do
		long_options bundle | grep -x -- "$option"
	done
	for option in --count --first --nth=N --compress; do
		long_options hosts | grep -x -- "$option"
	done
}

@test "--help: every listed option exists" {
	for word in '' "${SUBCOMMANDS[@]}"; do
		# shellcheck disable=SC2086 # none or one
		for option in $(long_options $word | sed 's/[= ].*//'); do
			# shellcheck disable=SC2086
			distinit -- $word "$option"
			[[ $stderr != *'unknown option'* ]]
		done
	done
}

@test "--help: options are in groups, in the manual's order" {
	distinit -- --help=all
	[ "$(grep -E '^[A-Z][a-z ]+:$' <<<"$output")" = $'Cluster:\nVariables:\nWords of the command:\nUser and privileges:\nWaiting and roll call:\nStaying as the parent:\nMessages and tests:' ]
	sed -n '/^\.Sh OPTIONS/,/^\.Ss Options of env/{s/^\.It Fl \([a-zA-Z] , Fl \)\{0,1\}-\([a-z-]*\).*/--\2/p}' \
		"$BATS_TEST_DIRNAME/../../cmd/distinit/distinit.1" | grep -vE '^--(un)?set-env$|^--(ap|pre)pend-env$' >manual
	long_options | sed 's/[= ].*//' | diff manual -
}

@test "--help: is short: two examples, and twenty options in a clause each; --help=all has all" {
	distinit -- --help
	[[ $status -eq 0 && $output == *$'\n  distinit -- torchrun train.py '*$'\n  distinit explain '* ]]
	[ "$(wc -l <<<"$output")" -le 66 ]
	[ "$(grep -cE '^  (-.,|   ) --' <<<"$output")" -eq 20 ]
	grep -E '^      --grace=DURATION    kill the command this long after the first TERM, or$' <<<"$output"
	[[ $output != *time-limit* && $output == *"'distinit --help=all' has all options and the exit statuses." ]]
	short=$output
	distinit -- help
	succeeds_with "$short"
	distinit -- --help=all
	[[ $output == *--time-limit=* && $output == *'124: the'* && $output == *$'123:\nended because another node'* ]]
	all=$output
	distinit -- help all
	succeeds_with "$all"
	distinit -- env --help
	env=$output
	distinit -- --help=env
	succeeds_with "$env"
	distinit -- --help=evn
	refuses_with "help: 'evn' is neither a subcommand nor an option; did you mean 'env'?; see 'distinit help'"
}

@test "no argument at all: a usage of a few lines" {
	distinit --
	[[ $status -eq 125 && -z $output && $(wc -l <<<"$stderr") -eq 3 ]]
	[[ $stderr == 'distinit: error: no command; usage: distinit [OPTION]... -- COMMAND [ARG]... (see --help)'$'\n  distinit -- torchrun '* ]]
	distinit -- --init
	refuses_with 'no command; usage: distinit [OPTION]... -- COMMAND [ARG]... (see --help)'
	distinit -- --check
	refuses_with 'no command; usage: distinit [OPTION]... -- COMMAND [ARG]... (see --help); to check this node: distinit check'
}

@test "-q: as --log=error" {
	distinit BACKENDAI_CLUSTER_SIZE=x -- --lenient -q -- true
	succeeds_with ''
	distinit BACKENDAI_CLUSTER_SIZE=x DISTINIT_LOG=info -- --lenient --quiet -- true
	succeeds_with ''
}

@test "managers and frameworks: --format=json has what the text has" {
	requires python3
	distinit -- managers --format=json
	[ "$status" -eq 0 ]
	python3 - "$DISTINIT" <<-'END'
		import json, subprocess, sys
		def ask(*words):
		    return subprocess.run([sys.argv[1], *words], env={}, check=True, capture_output=True, text=True).stdout
		def joined(text):
		    return " ".join(text.split())
		for word in "managers", "frameworks":
		    text, found = joined(ask(word)), json.loads(ask(word, "--format=json"))
		    for kind, rows in found.items():
		        assert rows, kind
		        for row in rows:
		            mark = "*" if row.get("default") else ""
		            parts = [f"{row['name']}{mark} {row['about']}"]
		            parts += [f"{label} {row[key]}" for key, label in [("known_by", "known by"), ("lacks", "lacks"), ("ignores", "ignores")] if row.get(key)]
		            parts += [f"{key} {' '.join(row[key])}" for key in ("reads", "sets") if row.get(key)]
		            for part in parts:
		                assert joined(part) in text, part
		    again = len([line for line in ask(word).splitlines() if line.startswith("  ") and line[2] != " "])
		    assert again == sum(map(len, found.values()))
	END
	distinit -- frameworks --format=yaml
	refuses_with "--format='yaml': expected one of text, json"
	distinit -- version --format=json
	fails_like 125 "unknown option '--format=json'*"
}

@test "help and version are subcommands, too" {
	for word in '' "${SUBCOMMANDS[@]}"; do
		# shellcheck disable=SC2086 # none or one
		distinit -- $word --help
		help=$output
		# shellcheck disable=SC2086
		distinit -- help $word
		succeeds_with "$help"
	done
	distinit -- --version
	version=$output
	distinit -- version
	succeeds_with "$version"
	distinit -- help explian
	refuses_with "help: 'explian' is neither a subcommand nor an option; did you mean 'explain'?; see 'distinit help'"
	distinit -- help env explain
	refuses_with "help takes one subcommand: distinit help 'env'"
}

@test "a subcommand behind the options, run and exec: an error with the right line" {
	distinit -- --cluster=slurm explain
	refuses_with "the subcommand 'explain' comes before its options: distinit explain [OPTION]...; to run a program of this name: distinit [OPTION]... -- explain"
	distinit -- run -- echo a
	refuses_with "'run' is not a subcommand, and none is needed to run a command: distinit -- echo a"
	distinit -- run echo a
	refuses_with "'run' is not a subcommand, and none is needed to run a command: distinit -- echo a"
	distinit -- exec --init -- echo --password=x
	refuses_with "'exec' is not a subcommand, and none is needed to run a command: distinit --init -- echo '--password=********'"
	distinit -- exec
	refuses_with "'exec' is not a subcommand, and none is needed to run a command: distinit -- COMMAND [ARG]..."
}

@test "a subcommand behind '--', as docker run IMAGE explain has it: how to run it" {
	distinit PATH=/nowhere -- -- explain
	fails_with 127 "'explain' was not found in PATH='/nowhere'; it is a subcommand of distinit, not a program: docker run --entrypoint '$DISTINIT' IMAGE explain"
	# With more words it may be anything, and a program of the name starts.
	distinit PATH=/nowhere -- -- explain this
	fails_with 127 "'explain' was not found in PATH='/nowhere'"
	printf '#!/bin/sh\necho ran' >explain
	chmod +x explain
	distinit PATH="$PWD" -- -- explain
	succeeds_with ran
}

@test "--json: --format=json is the option, where there is one" {
	for word in env explain check wait; do
		distinit -- $word --json
		refuses_with "unknown option '--json'; write --format=json"
	done
	distinit -- hosts --json
	refuses_with "unknown option '--json'; see --help"
}

@test "--set NAME+=VALUE: an error that names --append" {
	for option in -e --set --add --append --prepend --first; do
		distinit -- "$option" PATH+=secret -- true
		fails_like 125 "--*: 'PATH+=': there is no '+='; write --append PATH=VALUE"
	done
	distinit -- --set A=1+=2 -- sh -c 'echo $A'
	succeeds_with 1+=2
}

@test "--cluster=kubernetes: an error that names the managers there" {
	for name in kubernetes k8s; do
		distinit -- --cluster=$name -- true
		fails_like 125 "--cluster=$name: Kubernetes itself sets no variables of a cluster; name what made the pods: *"
	done
	names=${stderr#*pods: }
	read -ra names < <(sed 's/;.*//; s/([^)]*)//; s/,//g' <<<"$names")
	for name in "${names[@]}"; do
		env -i "$DISTINIT" managers | grep -E "^  $name "
	done
}

@test "--master-addr and --master-port: a warning if the environment overrides them" {
	distinit MASTER_PORT=1111 -- --master-port=2222 -- sh -c 'echo $MASTER_PORT'
	[ "$output" = 1111 ]
	warns_with "MASTER_PORT='1111' in the environment overrides --master-port='2222'; --set MASTER_PORT='2222' would override it"
	distinit "${SESSION[@]}" MASTER_ADDR=a -- --master-addr=b -- sh -c 'echo $MASTER_ADDR'
	[ "$output" = a ]
	warns_with "MASTER_ADDR='a' in the environment overrides --master-addr='b'; --set MASTER_ADDR='b' would override it"
	# Not where both say the same, nor for a variable in an image.
	distinit MASTER_PORT=1111 -- --master-port=1111 -- true
	succeeds_with ''
	distinit MASTER_PORT=1111 DISTINIT_MASTER_PORT=2222 -- -- true
	succeeds_with ''
}

@test "--help: is printed even if the manager's variables are invalid" {
	distinit BACKENDAI_CLUSTER_SIZE=x -- --help
	[ "$status" -eq 0 ]
}

@test "--version: a name and a number" {
	distinit -- --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^distinit\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	version=$output
	distinit -- -V
	succeeds_with "$version"
}

@test "a full disk is an error of --help and --version" {
	[ -c /dev/full ] || skip 'there is no /dev/full'
	for option in --help --version; do
		status=0
		message=$(env -i "$DISTINIT" "$option" 2>&1 >/dev/full) || status=$?
		[ "$status" -eq 125 ]
		[ "$message" = 'distinit: error: cannot write to stdout: No space left on device' ]
	done
}

@test "managers and frameworks: the tables" {
	distinit -- managers
	[ "$status" -eq 0 ]
	for name in manual backendai slurm torchrun openmpi mvapich2 hydra; do
		grep -E "^  $name " <<<"$output"
	done
	distinit -- frameworks
	[ "$status" -eq 0 ]
	for name in torch torchrun tensorflow; do
		grep -E "^  $name\*? " <<<"$output"
	done
}

@test "managers and frameworks: an argument is refused" {
	for word in managers sources frameworks; do
		distinit -- $word torch
		refuses_with "$word takes no command and no argument, only options; see 'distinit $word --help'"
	done
	distinit -- version torch
	refuses_with "version takes no command and no argument, only options; see 'distinit version --help'"
	distinit -- help torch
	refuses_with "help: 'torch' is neither a subcommand nor an option; see 'distinit help'"
	for word in managers frameworks help version; do
		distinit -- $word --user=0
		refuses_with "unknown option '--user=0'; see --help"
	done
}

@test "sources: another name of managers, and not listed" {
	distinit -- managers
	table=$output
	distinit -- sources
	succeeds_with "$table"
	distinit -- --help
	[[ $output != *sources* ]]
}

@test "managers: every listed name is valid" {
	for name in $(env -i "$DISTINIT" managers | sed -n '/^$/q; s/^  \([a-z]*\) .*/\1/p'); do
		distinit -- --cluster="$name" -- true
		[[ $stderr == "distinit: error: --cluster=$name: its variables are not set here; "* ]]
	done
}

@test "frameworks: every listed name is valid" {
	for name in $(env -i "$DISTINIT" frameworks | sed -n 's/^  \([a-z]*\)\*\{0,1\} .*/\1/p') all none; do
		distinit -- --frameworks="$name" -- true
		succeeds_with ''
	done
}

# --- reading them ---------------------------------------------------------------------------------

@test "the value after '=' or in the next word" {
	distinit -- --hosts=a,b --node-rank=1 --frameworks=torch -- env
	succeeds_with $'MASTER_ADDR=a\nMASTER_PORT=29500'
	distinit -- --hosts a,b --node-rank 1 --frameworks torch -- env
	succeeds_with $'MASTER_ADDR=a\nMASTER_PORT=29500'
}

@test "if an option is repeated, the last one counts" {
	distinit -- --hosts=a,b --node-rank=1 --frameworks=all --frameworks=torch --master-port=1 --master-port=2 -- env
	[[ $status -eq 0 && $output == $'MASTER_ADDR=a\nMASTER_PORT=2' ]]
	distinit -- --hosts=n1 --hosts=n2 --node-rank=0 -- true
	warns_with "--hosts is given several times; the last counts: 'n2'"
	# Not where both say the same, and all count.
	distinit -- --hosts=n1 --hosts=n1 --set A=1 --set B=2 --cap-drop=kill --cap-drop=chown --init --init -- true
	succeeds_with ''
}

@test "an option that would take '--' as its value" {
	distinit -- --hosts -- true
	refuses_with "--hosts needs HOSTLIST; '--' follows it"
	distinit -- -e -- true
	refuses_with "--set needs NAME=VALUE; '--' follows it"
	distinit -- --prepend-env -- true
	refuses_with "--prepend-env needs NAME[c] VALUE; '--' follows it"
}

@test "the end of a name is enough for a suggestion" {
	distinit DISTINIT_RANK=1 -- -- true
	warns_with "'DISTINIT_RANK' is not a setting of distinit; did you mean 'DISTINIT_NODE_RANK'?"
	distinit -- --port=1 -- true
	refuses_with "unknown option '--port=1'; did you mean '--master-port'?; see --help"
	distinit -- --group=1 -- true
	refuses_with "unknown option '--group=1'; did you mean '--groups'?; see --help"
}

@test "an unknown option: one line, with the most similar option" {
	distinit -- --master-prt=1 -- true
	refuses_with "unknown option '--master-prt=1'; did you mean '--master-port'?; see --help"
	distinit -- --xyzzy -- true
	refuses_with "unknown option '--xyzzy'; see --help"
	distinit -- -z -- true
	refuses_with "unknown option '-z'; see --help"
	distinit -- hosts --cout n1
	refuses_with "unknown option '--cout'; did you mean '--count'?; see --help"
}

@test "an option of another subcommand is unknown" {
	distinit -- hosts --set A=1 n1
	fails_like 125 "unknown option '--set'*"
	distinit -- --all -- true
	fails_like 125 "unknown option '--all'*"
}

@test "an option without its value: an error that names the argument" {
	distinit -- --master-port
	refuses_with '--master-port needs PORT'
	distinit -- -e
	refuses_with '--set needs NAME=VALUE'
}

@test "flags: on, off, and nothing else" {
	for on in --lenient --lenient=1 --lenient=yes --lenient=true --lenient=on; do
		distinit BACKENDAI_CLUSTER_SIZE=x -- "$on" -- true
		warns_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number; nothing is derived (--lenient)"
	done
	for off in --lenient=0 --lenient=no --lenient=false --lenient=off; do
		distinit BACKENDAI_CLUSTER_SIZE=x -- "$off" -- true
		refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
	done
	distinit -- --lenient=2 -- true
	refuses_with "'--lenient=2': expected 1 or 0 after '='"
	distinit -- --clean=1 -- true
	refuses_with '--clean takes no argument'
}

@test "--log: which messages are printed" {
	broken=(BACKENDAI_CLUSTER_SIZE=x -- --lenient)
	distinit "${broken[@]}" --log=error -- true
	succeeds_with ''
	distinit "${broken[@]}" --log=warn -- true
	warns_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number; nothing is derived (--lenient)"
	distinit "${SESSION[@]}" -- --log=info -- true
	[ "$status" -eq 0 ]
	[ "$stderr" = 'distinit: info: backendai (node), 2 nodes, node rank 1; set MASTER_ADDR MASTER_PORT PET_NNODES PET_NODE_RANK PET_MASTER_ADDR PET_MASTER_PORT TF_CONFIG' ]
	info=$stderr
	distinit "${SESSION[@]}" -- -v -- true
	[ "$stderr" = "$info" ]
	distinit -- --log=loud -- true
	refuses_with "--log='loud': expected one of error, warn, info, debug"
	# Errors are always printed.
	distinit BACKENDAI_CLUSTER_SIZE=x -- --log=error -- true
	refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
}

@test "choices: an error lists the valid ones, and the most similar" {
	distinit "${SESSION[@]}" -- --ranks=allways -- true
	refuses_with "--ranks='allways': expected one of auto, always, never; did you mean 'always'?"
	distinit "${SESSION[@]}" DISTINIT_RANKS=allways -- -- true
	refuses_with "DISTINIT_RANKS='allways': expected one of auto, always, never; did you mean 'always'?"
}

# --- their variables ------------------------------------------------------------------------------

# same_by_variable VARIABLE OPTION [VAR=VALUE...] -- WORD...: the option, and the variable with the
# option's value, have the same effect, which differs from that without both. (This cannot check
# messages that name the option.)
same_by_variable() {
	local name=$1 option=$2
	shift 2
	local -a given=()
	while [[ $1 != -- ]]; do
		given+=("$1")
		shift
	done
	shift
	local value=1
	[[ $option != *=* ]] || value=${option#*=}

	distinit "${given[@]}" -- "$@" -- /usr/bin/env
	local without="$status $output $stderr"
	distinit "${given[@]}" -- "$option" "$@" -- /usr/bin/env
	local by_option="$status $output $stderr"
	distinit "${given[@]}" "$name=$value" -- "$@" -- /usr/bin/env
	local by_variable="$status $output $stderr"
	[ "$by_option" = "$by_variable" ]
	[ "$by_option" != "$without" ]
}

@test "every option with a variable can be set by it" {
	printf 'A=1\n[app x]\nB=2\n' >file
	same_by_variable DISTINIT_CLUSTER --cluster=none "${SESSION[@]}" --
	same_by_variable DISTINIT_HOSTS --hosts=a,b -- --node-rank=1
	same_by_variable DISTINIT_NODE_RANK --node-rank=1 -- --hosts=a,b
	same_by_variable DISTINIT_MASTER_ADDR --master-addr=m "${SESSION[@]}" --
	same_by_variable DISTINIT_MASTER_PORT --master-port=7 "${SESSION[@]}" --
	same_by_variable DISTINIT_FRAMEWORKS --frameworks=torch "${SESSION[@]}" --
	same_by_variable DISTINIT_RANKS --ranks=always "${SESSION[@]}" --
	same_by_variable DISTINIT_LENIENT --lenient BACKENDAI_CLUSTER_SIZE=x --
	same_by_variable DISTINIT_ENV_FILE --env-file=file --
	same_by_variable DISTINIT_APP --app=x -- --env-file=file
	same_by_variable DISTINIT_LOG --log=info "${SESSION[@]}" --
	same_by_variable DISTINIT_HOSTNAME --hostname=b -- --hosts=a,b
}

@test "every option of --help with a value has a variable" {
	# Except the option that says whether variables are read.
	for option in $(long_options | sed -n 's/^--\([a-z-]*\)=.*/\1/p' | grep -vx options-from) lenient keep-config wait; do
		name=DISTINIT_$(tr 'a-z-' 'A-Z_' <<<"$option")
		distinit "$name=" -- -- env
		succeeds_with ''
	done
}

@test "an option overrides its variable" {
	distinit DISTINIT_HOSTS=c,d DISTINIT_NODE_RANK=0 DISTINIT_MASTER_PORT=1 DISTINIT_FRAMEWORKS=all \
		-- --hosts=a,b --node-rank=1 --master-port=2 --frameworks=torch -- env
	succeeds_with $'MASTER_ADDR=a\nMASTER_PORT=2'
	distinit DISTINIT_LENIENT=1 BACKENDAI_CLUSTER_SIZE=x -- --lenient=0 -- true
	refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
	distinit DISTINIT_LOG=info -- --log=warn -- true
	succeeds_with ''
	# Even if the variable is invalid.
	distinit DISTINIT_MASTER_PORT=http -- --hosts=a,b --node-rank=1 --master-port=2 --frameworks=torch -- env
	succeeds_with $'MASTER_ADDR=a\nMASTER_PORT=2'
}

@test "DISTINIT_ROOT, --root: the folder in which a manager's files are read" {
	arbitrary=(
		SLURM_JOB_ID=1 'SLURM_STEP_NODELIST=n[1-3]' SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1 SLURM_NODEID=0
		SLURM_LOCALID=0 SLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE=/hosts
	)
	mkdir root
	printf 'n2\nn1\nn3\n' >root/hosts
	distinit "${arbitrary[@]}" -- --root=root -- printenv MASTER_ADDR
	succeeds_with n2
	distinit "${arbitrary[@]}" DISTINIT_ROOT="$PWD/root/" -- -- printenv MASTER_ADDR
	succeeds_with n2
	distinit "${arbitrary[@]}" -- --root=elsewhere -- true
	fails_like 125 "SLURM_DISTRIBUTION=arbitrary: *'elsewhere/hosts'*"
}

@test "DISTINIT_* are not passed on, unless --keep-config" {
	settings=(DISTINIT_MASTER_PORT=7 DISTINIT_ENV=A=1 DISTINIT_LOG=warn DISTINIT_CLUSTER=)
	distinit "${settings[@]}" -- -- env
	succeeds_with A=1
	distinit "${settings[@]}" -- --keep-config -- env
	succeeds_with "$(printf '%s\n' "${settings[@]}" A=1)"
	distinit "${settings[@]}" DISTINIT_KEEP_CONFIG=1 -- -- env
	succeeds_with "$(printf '%s\n' "${settings[@]}" DISTINIT_KEEP_CONFIG=1 A=1)"
	distinit "${settings[@]}" DISTINIT_KEEP_CONFIG=0 -- -- env
	succeeds_with A=1
}

@test "DISTINIT_* variables that a directive sets are passed on" {
	distinit -- --set DISTINIT_MASTER_PORT=7 -- env
	succeeds_with DISTINIT_MASTER_PORT=7
}

@test "an unknown DISTINIT_ variable: a warning with the most similar, and it is passed on" {
	distinit DISTINIT_MASTER_PROT=7 -- -- env
	warns_with "'DISTINIT_MASTER_PROT' is not a setting of distinit; did you mean 'DISTINIT_MASTER_PORT'?"
	[ "$output" = DISTINIT_MASTER_PROT=7 ]
}

# many ARG...: start true with 40,000 unknown variables. Its warnings go to said; prints milliseconds of CPU, and KiB of memory.
many() {
	cat >many.py <<-'END'
		import os, sys
		variables = {f"DISTINIT_X{i}": "1" for i in range(39996)}
		# Each could be of a service of Kubernetes, in many ways.
		variables |= {f"DISTINIT_{i}" + "_PORT" * 20000: "1" for i in range(4)}
		said = os.open("said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
		child = os.posix_spawn(sys.argv[1], sys.argv[1:], variables, file_actions=[(os.POSIX_SPAWN_DUP2, said, 2)])
		_, status, used = os.wait4(child, 0)
		print(round(used.ru_utime * 1000), used.ru_maxrss)
		sys.exit(os.waitstatus_to_exitcode(status))
	END
	python3 many.py "$DISTINIT" "$@" -- /bin/true
}

@test "many unknown DISTINIT_ variables: eight are named and the rest counted, in a moment" {
	requires python3
	cd "$BATS_TEST_TMPDIR" || return
	local ms memory
	read -r ms memory < <(many)
	echo "$ms ms, $memory KiB"
	head said
	[[ $(grep -c "^distinit: warning: 'DISTINIT_X[0-9]*' is not a setting of distinit" said) -eq 8 && $(wc -l <said) -eq 9 ]]
	grep -x 'distinit: warning: 39992 more variables DISTINIT_\* are not settings of distinit' said
	((ms < 2000 && memory < 40000))
}

@test "--options-from=command-line says nothing of unknown DISTINIT_ variables" {
	requires python3
	cd "$BATS_TEST_TMPDIR" || return
	local ms memory
	read -r ms memory < <(many --options-from=command-line)
	echo "$ms ms, $memory KiB"
	[[ ! -s said ]]
	((ms < 2000 && memory < 40000))
}

@test "a directive's name as a DISTINIT_ variable: a warning that shows how to write it" {
	distinit DISTINIT_SET=A=1 -- -- true
	warns_with "'DISTINIT_SET' is not a setting of distinit; write DISTINIT_ENV='set NAME=VALUE'"
}

@test "variables with similar names, but without the prefix, are ignored" {
	distinit DISTINITX=1 DISTINIT=2 distinit_hosts=3 -- -- env
	succeeds_with $'DISTINITX=1\nDISTINIT=2\ndistinit_hosts=3'
}

@test "flags by variable: 1 and 0, and a clear error for anything else" {
	for on in 1 yes true on; do
		distinit BACKENDAI_CLUSTER_SIZE=x "DISTINIT_LENIENT=$on" -- -- true
		warns_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number; nothing is derived (--lenient)"
	done
	for off in 0 no false off ''; do
		distinit BACKENDAI_CLUSTER_SIZE=x "DISTINIT_LENIENT=$off" -- -- true
		refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
	done
	distinit DISTINIT_LENIENT=maybe -- -- true
	refuses_with "DISTINIT_LENIENT='maybe': expected 1 or 0"
}

@test "variables that Kubernetes sets for a service called distinit have no meaning" {
	local -a links=() service
	for service in DISTINIT DISTINIT_X DISTINIT_MASTER; do
		links+=("${service}_SERVICE_HOST=10.0.0.7" "${service}_SERVICE_PORT=80" "${service}_SERVICE_PORT_HTTP_API=80"
			"${service}_PORT=tcp://10.0.0.7:80" "${service}_PORT_80_TCP=tcp://10.0.0.7:80"
			"${service}_PORT_80_TCP_PROTO=tcp" "${service}_PORT_80_TCP_PORT=80" "${service}_PORT_80_TCP_ADDR=10.0.0.7")
	done
	distinit "${links[@]}" PATH="$PATH" -- -- sh -c "env | grep -v -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_= | sort"
	succeeds_with "$(printf '%s\n' "${links[@]}" | sort)"
	# DISTINIT_MASTER_PORT, of a service called distinit-master, is no port of the user's.
	distinit "${links[@]}" -- env --hosts=a,b --node-rank=0 --frameworks=torch
	succeeds_with "MASTER_ADDR='a'"$'\n'"MASTER_PORT='29500'"
}

@test "variables that look like a service's, without the service, are unknown" {
	distinit DISTINIT_PORT=tcp://10.0.0.7:80 -- -- env
	warns_with "'DISTINIT_PORT' is not a setting of distinit; did you mean 'DISTINIT_MASTER_PORT'?"
	distinit DISTINIT_MASTER_PORT=tcp://10.0.0.7:80 -- env --hosts=a,b --node-rank=0
	refuses_with "DISTINIT_MASTER_PORT='tcp://10.0.0.7:80' is not a port (1 to 65535)"
	distinit DISTINIT_MASTER_SERVICE_HOST=10.0.0.7 DISTINIT_MASTER_PORT=7 -- env --hosts=a,b --node-rank=0 --frameworks=torch
	succeeds_with "MASTER_ADDR='a'"$'\n'"MASTER_PORT='7'"
}

@test "an option's name may have '_' for '-', as torchrun's" {
	distinit -- --hosts=n1,n2 --node_rank=1 --master_port=1234 -- sh -c 'echo $PET_NODE_RANK $MASTER_PORT'
	succeeds_with '1 1234'
	distinit -- --max_restarts=x -- true
	fails_like 125 "--max-restarts=*"
}

@test "an option behind '--' is taken for a program, and the message says where it belongs" {
	distinit PATH=/nowhere -- -- --help
	fails_like 127 "'--help' was not found in PATH='/nowhere'; it looks like an option of distinit, which has to be before '--'; for an image whose ENTRYPOINT ends with it: docker run --entrypoint '*' IMAGE '--help'"
	distinit PATH=/nowhere -- -- --init
	fails_like 127 "'--init' was not found *: docker run --entrypoint '*' IMAGE '--init'"
}

@test "help of an option" {
	distinit -- --help=grace
	[[ $status -eq 0 && $output == *'--grace=DURATION'*'kill the command'* && $output != *--leftovers* ]]
	distinit -- help grace
	[[ $status -eq 0 && $output == *--grace=DURATION* ]]
	distinit -- help wait
	[[ $status -eq 0 && $output == 'usage: distinit wait'* ]]
	distinit -- help nnode
	refuses_with "help: 'nnode' is neither a subcommand nor an option; did you mean '--nnodes'?; see 'distinit help'"
	distinit -- wait --wait=1s
	refuses_with "unknown option '--wait=1s'; write --timeout=DURATION"
	distinit -- explain --json=1
	refuses_with "unknown option '--json=1'; write --format=json"
}

@test "a wrong --progress names an example of its own" {
	distinit -- --progress=x:5m -- true
	refuses_with "--progress='x': expected an absolute path, in whose last part '*' stands for any text, such as /ckpt/log*:30m; there is no other wildcard"
}

@test "hosts by a variable: the way out is a variable, too" {
	distinit DISTINIT_HOSTS=n1,n2 -- --hostname=n9 -- true
	refuses_with "DISTINIT_HOSTS='n1,n2': this machine, 'n9', is not in the list; set DISTINIT_NODE_RANK=N (0 to 1)"
	distinit -- --hosts=n1,n2 --hostname=n9 -- true
	refuses_with "--hosts='n1,n2': this machine, 'n9', is not in the list; pass --node-rank=N (0 to 1)"
}
