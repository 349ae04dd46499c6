#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun without Slurm: its command line, and surrogate steps with an srun that runs its command
# here. With a real Slurm: tests/engines/distrun.bats.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031 # a test is a subshell
# shellcheck disable=SC2013 # words are meant

load helpers

: "${DISTRUN:=$BATS_TEST_DIRNAME/../../build/distrun}"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	DISTRUN=$(realpath "$DISTRUN")
	mkdir tools
	NO_PROC=$PWD/nowhere
}

# No process is left with our folder in its environment or command line.
teardown() {
	local left until=$((SECONDS + 20))
	while left=$(grep -lszF "MARK=$BATS_TEST_TMPDIR" /proc/[0-9]*/environ); do
		((SECONDS < until)) || { echo "left: $left" && return 1; }
		nap 0.05
	done
}

# distrun VAR=VALUE... -- ARG...: invoke it in an environment of these variables, with our tools
# first in PATH.
distrun() {
	local -a variables arguments
	split "$@"
	invoke env -i PATH="$PWD/tools:$PATH" MARK="$BATS_TEST_TMPDIR" DISTRUN_ROOT="$NO_PROC" "${variables[@]}" \
		"$DISTRUN" "${arguments[@]}"
}

# tool NAME <<SCRIPT: create a replacement for a program of Slurm.
tool() {
	{
		echo '#!/bin/sh'
		cat
	} >"tools/$1"
	chmod +x "tools/$1"
}

# An srun that runs its command here, as step 7, and records its arguments, and the output and
# status of the command.
local_srun() {
	tool srun <<-END
		env | grep -E '^(SLURM|SBATCH|SRUN)' | sort >$PWD/srun.env
		printf '%s\n' "\$@" >$PWD/srun.argv
		while [ "\${1#-}" != "\$1" ]; do shift; done
		SLURM_STEP_ID=7 "\$@"
		status=\$?
		echo \$status >$PWD/step.status
		[ \$status = 0 ] || echo "srun: error: n1: task 0: Exited with exit code \$status" >&2
		exit \$status
	END
}

says_error() {
	[[ $status -eq $1 && $stderr == "distrun: error: "$2 && $stderr != *$'\n'* ]]
}

# --- command line ---------------------------------------------------------------------------------

@test "distrun: --help lists the subcommands, and each has its own" {
	distrun -- --help
	[[ $status -eq 0 && -z $stderr && $output == 'usage: distrun SUBCOMMAND [OPTION]...'* ]]
	for word in where surrogate exec launch analyze; do
		distrun -- --help
		grep -qE "^  $word " <<<"$output"
		distrun -- "$word" --help
		[[ $status -eq 0 && -z $stderr && $output == "usage: distrun $word [OPTION]..."* ]]
		[[ $(wc -L <<<"$output") -le 80 ]]
	done
	distrun -- --version
	[[ $status -eq 0 && $output == 'distrun '[0-9]* ]]
}

@test "distrun: an error is one line, with the most similar valid word" {
	distrun --
	says_error 125 'no subcommand; usage: distrun SUBCOMMAND \[OPTION\]... (see --help)' ||
		says_error 125 'no subcommand; *'
	distrun -- surrogat
	says_error 125 "'surrogat' is not a subcommand; did you mean 'surrogate'?"
	distrun -- surrogate --job-tim=3 -- true
	says_error 125 "unknown option '--job-tim=3'; did you mean '--job-time-sec'?; see --help" ||
		says_error 125 "unknown option '--job-tim=3'; *"
	for word in where surrogate exec launch analyze; do
		distrun -- "$word" $'-\001'
		says_error 125 "unknown option '-*"
	done
	distrun -- surrogate true
	says_error 125 "'--' is missing before the command 'true'"
	distrun -- surrogate --
	says_error 125 "no command after '--'; *"
	distrun -- surrogate --name='a b' -- true
	says_error 125 "--name='a b': expected up to 64 letters, *"
	distrun -- surrogate --num_csx=many -- true
	says_error 125 "--num-csx='many' is not a whole number from 0 to 65535"
	distrun -- surrogate --job_time_sec=soon -- true
	says_error 125 "--job-time-sec='soon' is not a duration such as *"
	distrun DISTRUN_JOB_TIME_SEC=0 -- surrogate -- true
	says_error 125 "DISTRUN_JOB_TIME_SEC='0': the limit must be longer than 0"
	distrun -- surrogate --grace=x -- true
	says_error 125 "--grace='x' is not a duration *"
	distrun -- where here
	says_error 125 "'distrun where' takes no arguments, but there is 'here'"
	distrun -- where --format=jsn
	says_error 125 "--format='jsn': expected one of text, json; did you mean 'json'?"
}

@test "distrun: options have variables, which are not passed on; an unknown variable is a warning" {
	distrun DISTRUN_JOB_TIME_SEC=1h DISTRUN_GRCE=3 DISTRUN_LOG=warn -- surrogate -- env
	[[ $status -eq 0 && $output != *DISTRUN_JOB* && $output != *DISTRUN_LOG* && $output == *DISTRUN_GRCE=3* ]]
	[[ $stderr == "distrun: warning: 'DISTRUN_GRCE' is not a setting of distrun; did you mean 'DISTRUN_GRACE'?" ]]
}

# --- where ----------------------------------------------------------------------------------------

# proc PID PARENT TITLE: a process, as /proc shows it under root/.
proc() {
	mkdir -p "root/proc/$1"
	echo "${1/self/40} (na me)) S $2 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4711" >"root/proc/$1/stat"
	printf '%s\0' "$3" >"root/proc/$1/cmdline"
}

# place VAR=VALUE... : print the first word of "where", and why.
place() {
	distrun "$@" -- where --root="$PWD/root"
	[[ $status -eq 0 && -z $stderr ]]
	echo "${output%%:*}"
}

@test "where: the nearest slurmstepd above decides, not the variables" {
	proc self 30 distrun
	proc 30 20 sh
	proc 20 10 'slurmstepd: [12.batch]'
	proc 10 1 'slurmstepd: [11.0]'
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=0) == *batch ]]
	[[ $(place SLURM_JOB_ID=13) == *salloc ]]
	[[ $(place A=1) == *batch ]]
	proc 20 10 'slurmstepd: [12.5]'
	[[ $(place SLURM_JOB_ID=12) == *step ]]
	[[ $(place SLURM_JOB_ID=13) == *salloc ]]
	[[ $(place SLURM_JOB_ID=11 SLURM_HET_SIZE=2 SLURM_JOB_ID_HET_GROUP_1=12) == *step ]]
	proc 20 10 'slurmstepd: [12.interactive]'
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=4294967290) == *interactive ]]
	# As after ssh into a job with pam_slurm_adopt.
	proc 20 10 'slurmstepd: [12.extern]'
	[[ $(place SLURM_JOB_ID=12) == *salloc ]]
}

@test "where: otherwise the cgroup decides, and then the variables" {
	mkdir -p root/proc/self
	proc self 1 distrun
	echo '0::/system.slice/slurmstepd.scope/job_12/step_3/user/task_0' >root/proc/self/cgroup
	[[ $(place SLURM_JOB_ID=12) == *step ]]
	printf '%s\n' '5:freezer:/slurm/uid_0/job_12/step_batch' '4:cpu:/' >root/proc/self/cgroup
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=0) == *batch ]]
	echo 0::/user.slice/job_x/step_0 >root/proc/self/cgroup
	[[ $(place SLURM_JOB_ID=12 ENVIRONMENT=BATCH) == *batch ]]
	[[ $(place SLURM_JOB_ID=12) == *salloc ]]
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=4294967290) == *interactive ]]
	# Slurm 26.05.
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=-6) == *interactive ]]
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=-5) == *batch ]]
	[[ $(place A=1) == *none ]]
}

@test "where: a job id shows nothing that a terminal obeys" {
	mkdir -p root/proc
	distrun SLURM_JOB_ID=$'12\e[31m' -- where --root="$PWD/root"
	[[ $status -eq 0 && $output == "salloc: salloc's shell of job 12\\x1b[31m"$'\n'* && $output != *$'\e'* ]]
}

@test "where: a step that only a variable names counts if squeue lists it, and if it is not a surrogate" {
	tool squeue <<<'[ "$*" = "--noheader --format=%i %j --steps=12.3" ] && cat listed'
	echo '12.3 train' >listed
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=3) == *step ]]
	echo '12.3 wsjob-0123456789012345678901' >listed
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=3) == *salloc ]]
	: >listed
	[[ $(place SLURM_JOB_ID=12 SLURM_STEP_ID=3) == *salloc ]]
	distrun SLURM_JOB_ID=12 SLURM_STEP_ID=3 -- where --format=json
	run python3 -c 'import json, sys
w = json.loads(sys.argv[1])
print(w["where"], w["job_id"], w["step_id"], w["by"], w["surrogate"])' "$output"
	[[ $output == 'salloc 12 None squeue True' ]]
}

# --- surrogate ------------------------------------------------------------------------------------

@test "surrogate: outside a job it prints nothing, and the command runs as without it" {
	tool srun <<<'echo srun was called >&2'
	distrun -- surrogate -- sh -c 'echo out; echo err >&2; exit 3'
	[[ $status -eq 3 && $output == out && $stderr == err ]]
	distrun -- surrogate -- sh -c 'kill -TERM $$'
	[[ $status -eq 143 && -z $stderr ]]
	distrun -- surrogate -- /no/such/program
	says_error 127 "'/no/such/program' was not found"
	distrun -- surrogate --require -- echo ran
	says_error 125 "a surrogate step is required (--require), but this is not a job of Slurm: *"
	[[ -z $output ]]
}

@test "surrogate: a step for the command, which exits as it does; its streams are its own" {
	local_srun
	invoke sh -c 'echo in | "$@"' - env -i PATH="$PWD/tools:$PATH" SLURM_JOB_ID=12 DISTRUN_ROOT="$NO_PROC" \
		"$DISTRUN" surrogate -vv --csx=2 -- sh -c 'cat; echo err >&2; until grep -q mirrors "$0"; do sleep 0.02; done; exit 5' \
		"$BATS_TEST_TMPDIR/.stderr"
	[[ $status -eq 5 && $output == in ]]
	[[ $(cat step.status) == 5 ]]
	grep -x err <<<"$stderr"
	grep -xE 'distrun: info: step 12.7, wsjob-[a-z0-9]{22}-csx2, mirrors the command' <<<"$stderr"
	for word in --jobid=12 --overlap --nodes=1 --ntasks=1 --mem=0 --mpi=none --export=NONE --quiet; do
		grep -qxe "$word" srun.argv
	done
	grep -xE -e '--job-name=wsjob-[a-z0-9]{22}-csx2' srun.argv
	# Each run has another job name.
	cp srun.argv before
	distrun SLURM_JOB_ID=12 -- surrogate -- true
	[[ $status -eq 0 && -z $stderr && $(cat step.status) == 0 ]]
	run ! cmp -s srun.argv before
}

@test "surrogate: variables of the job do not change the srun call" {
	local_srun
	distrun SLURM_JOB_ID=12 SLURM_JOBID=12 SLURM_CONF=/c SLURM_JOB_NODELIST='n[1-2]' SLURM_NODELIST='n[1-2]' SLURM_NTASKS=7 \
		SLURM_MPI_TYPE=pmix SBATCH_RESERVATION=x SRUN_CPUS_PER_TASK=3 SLURM_CONSTRAINT=zz -- surrogate -- \
		sh -c 'echo $SLURM_NTASKS $SRUN_CPUS_PER_TASK'
	[[ $status -eq 0 && -z $stderr && $output == '7 3' ]]
	[[ $(cat srun.env) == $'SLURM_CONF=/c\nSLURM_JOBID=12\nSLURM_JOB_ID=12\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NODELIST=n[1-2]' ]]
}

@test "surrogate: a missing or failing srun is one warning; with --require nothing is started" {
	local why
	for why in missing failing; do
		[[ $why == missing ]] || tool srun <<<'echo "srun: error: Unable to confirm allocation for job 12: no" >&2; exit 1'
		PATH=/usr/bin:/bin distrun PATH="$PWD/tools:/nowhere" SLURM_JOB_ID=12 -- surrogate -- /bin/sh -c '/bin/sleep 0.3; exit 6'
		[[ $status -eq 6 && $stderr != *$'\n'* ]]
		[[ $stderr == 'distrun: warning: no surrogate step in job 12: srun '*'; the command runs without one' ]]
		distrun PATH="$PWD/tools:/nowhere" SLURM_JOB_ID=12 -- surrogate --require -- /bin/sh -c 'echo ran'
		[[ -z $output ]]
		says_error 125 'a surrogate step is required (--require), but job 12 gets none: srun *'
	done
	[[ $stderr == *"srun has ended with status 1: 'Unable to confirm allocation for job 12: no'" ]]
}

@test "surrogate: with --require the step runs before the command starts" {
	local_srun
	sed -i "2i sleep 0.5; touch $PWD/srun.began" tools/srun
	distrun SLURM_JOB_ID=12 -- surrogate --require -- test -e srun.began
	[[ $status -eq 0 && -z $stderr && $(cat step.status) == 0 ]]
}

@test "surrogate: signals to the step reach the command; if the step is cancelled, the command ends" {
	local_srun
	local signal
	for signal in TERM USR1 USR2; do
		distrun SLURM_JOB_ID=12 -- surrogate -v -- sh -c '
			trap "exit 9" '$signal'
			until grep -q mirrors .stderr; do sleep 0.05; done
			for pid in $(cat /proc/$PPID/task/$PPID/children); do
				[ $pid = $$ ] || kill -'$signal' $(cat /proc/$pid/task/$pid/children)
			done
			while :; do sleep 0.1; done'
		[[ $status -eq 9 && $(cat step.status) == 9 ]]
	done
	tool srun <<<"echo UP 7; until [ -e $PWD/up ]; do sleep 0.05; done; exit 137"
	distrun SLURM_JOB_ID=12 -- surrogate -v --grace=1 -- sh -c 'trap "" TERM; echo >up; while :; do sleep 0.1; done'
	[[ $status -eq 137 ]]
	grep -x 'distrun: info: step 12.7 was cancelled: the command is asked to end' <<<"$stderr"
}

@test "surrogate: a step that is gone is a warning, and the command continues" {
	tool srun <<-END
		echo UP 7
		until [ -e $PWD/up ]; do sleep 0.05; done
		kill -KILL \$\$
	END
	distrun SLURM_JOB_ID=12 -- surrogate -- sh -c 'echo >up; until grep -q gone .stderr; do sleep 0.05; done; exit 9'
	[[ $status -eq 9 ]]
	[[ $stderr == 'distrun: warning: step 12.7 is gone: srun was killed by signal 9; the command continues without one' ]]
}

@test "surrogate: the step's last signal reaches the command, although srun has ended by then" {
	# distrun is stopped while both happen, so that it sees both at once.
	tool srun <<-END
		echo UP 7
		until [ -e $PWD/up ]; do sleep 0.05; done
		kill -STOP \$PPID
		echo USR1
		(sleep 0.3; kill -CONT \$PPID) >/dev/null 2>&1 &
		exit 1
	END
	distrun SLURM_JOB_ID=12 -- surrogate -- sh -c 'trap "exit 9" USR1; echo >up; for i in $(seq 100); do sleep 0.1; done'
	[[ $status -eq 9 ]]
}

@test "surrogate: if it is killed, command and step end" {
	local_srun
	env -i PATH="$PWD/tools:$PATH" MARK="$BATS_TEST_TMPDIR" SLURM_JOB_ID=12 DISTRUN_ROOT="$NO_PROC" \
		"$DISTRUN" surrogate -v -- sleep 1000 2>log &
	until grep -q mirrors log; do nap 0.05; done
	kill -KILL $!
	until [[ -s step.status ]]; do nap 0.05; done
	[[ $(cat step.status) == 70 ]]
}

@test "surrogate: at the end it waits for an srun that hangs, with a timeout" {
	tool srun <<<'echo "srun: error: waiting for nobody" >&2; exec sleep 1000'
	distrun SLURM_JOB_ID=12 -- surrogate -- sh -c 'exit 4'
	[[ $status -eq 4 ]]
	[[ $stderr == "distrun: warning: Slurm has not ended the surrogate step of job 12 within 10s: distrun stops waiting for it; srun printed: 'waiting for nobody'" ]]
}

@test "surrogate: the command inherits no descriptor of distrun, and no blocked signal" {
	local_srun
	local look='for fd in /proc/$$/fd/*; do echo ${fd##*/}; done; grep -E "^Sig(Blk|Ign)" /proc/self/status' expected
	invoke sh -c "$look"
	expected=$output
	distrun SLURM_JOB_ID=12 -- surrogate --require --job-time-sec=60 --job-time-budget=budget -- sh -c "$look"
	[[ $status -eq 0 && $output == "$expected" ]]
}

# --- limits ---------------------------------------------------------------------------------------

@test "surrogate: without random numbers there is no name for the step, which is said" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	invoke env -i PATH="$PATH" timeout --kill-after=1 20 strace -o /dev/null -e inject=getrandom:error=ENOSYS "$DISTRUN" surrogate -- true
	[[ $status -eq 125 && $stderr == 'distrun: error: no name can be made for the step: getrandom() fails: Function not implemented; --name=NAME sets one' ]]
	# A name that is given needs none.
	invoke env -i PATH="$PATH" timeout --kill-after=1 20 strace -o /dev/null -e inject=getrandom:error=ENOSYS "$DISTRUN" surrogate --name=x -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
}

@test "limits: a command that exceeds the limit is ended, with status 124" {
	distrun -- surrogate --job-time-sec=500ms -- sleep 1000
	[[ $status -eq 124 ]]
	# On a busy machine it may take more than half a second.
	[[ $stderr == 'distrun: error: the time limit of 0.5s is reached ('[0-9]*'s used): the command is asked to end, and killed 30s later' ]]
	distrun -- surrogate --job_time_sec 200ms --grace=100ms -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 124 && $stderr == *'distrun: warning: sh did not end within the grace period of 0.1s: it is killed'* ]]
	local_srun
	distrun SLURM_JOB_ID=12 -- surrogate --job-time-sec=500ms -- sleep 1000
	[[ $status -eq 124 && $(cat step.status) == 124 ]]
}

@test "analyze: a build without it says so, under both names; one with it has its help" {
	ln -s "$DISTRUN" cs_input_analyzer
	invoke ./cs_input_analyzer --threads=1 --dry-run
	if [[ $stderr != *'built without'* ]]; then
		distrun -- analyze --help
		[[ $status -eq 0 && $output == *'distrun analyze '* ]]
		return
	fi
	[[ $status -eq 125 && $stderr == 'cs_input_analyzer: error: this distrun is built without analyze; the build option -Danalyze=true has it' ]]
	distrun -- analyze true
	says_error 125 'this distrun is built without analyze; the build option -Danalyze=true has it'
}

# used FILE: print the used milliseconds.
used() {
	sed -n 's/^used //p' "$1"
}

@test "limits: a budget is not made behind another user's link in a folder that others can write" {
	[[ $EUID -eq 0 ]] || skip 'no other user is to be had'
	mkdir -m 700 private
	mkdir -m 777 shared
	chmod 777 shared
	ln -s "$PWD/private/made" shared/budget
	chown -h 4321 shared/budget
	distrun -- surrogate --job-time-sec=9s --job-time-budget=shared/budget -- true
	[[ $status -eq 125 && $stderr == *"the budget file '$PWD/shared/budget' cannot be opened: a symlink on the way belongs to another user"* ]]
	[[ -z $(ls private) ]]
	# A link of our own is followed.
	chown -h 0 shared/budget
	distrun -- surrogate --job-time-sec=9s --job-time-budget=shared/budget -- true
	[[ $status -eq 0 && -s private/made ]]
}

@test "limits: a budget adds up over runs, and is refused when it is used up" {
	distrun -- surrogate --job-time-sec=1s --job-time-budget=budget -- sleep 0.6
	[[ $status -eq 0 && -z $stderr ]]
	((600 <= $(used budget)))
	# Now the file contains the limit.
	distrun -- surrogate --job-time-budget=budget -- sleep 1000
	[[ $status -eq 124 && $stderr == 'distrun: error: the time limit of 1s is reached ('*"by this run; the budget is '$PWD/budget'): the command "* ]]
	distrun -- surrogate --job-time-budget=budget -- touch started
	says_error 124 "the time limit of 1s is used up (* used by earlier runs; the budget is '$PWD/budget'): nothing is started; a longer --job-time-sec allows more"
	[ ! -e started ]
	distrun -- surrogate --job-time-sec=1h --job-time-budget=budget -- touch started
	[[ $status -eq 0 && -e started ]]
}

@test "limits: the time of simultaneous runs counts once; the time of a killed run counts" {
	local pids=() i before
	for i in 1 2 3 4; do
		env -i PATH="$PATH" "$DISTRUN" surrogate --job-time-sec=1h --job-time-budget=budget -- \
			sh -c 'echo >started.'$i'; until [ -e go ]; do sleep 0.05; done; sleep 1' &
		pids+=($!)
	done
	until [[ -e started.1 && -e started.2 && -e started.3 && -e started.4 ]]; do nap 0.05; done
	before=$(used budget)
	touch go
	sleep 0.4
	kill -KILL "${pids[0]}"
	wait "${pids[@]:1}"
	# Four seconds of runs, and little more than one by the clock.
	(($(used budget) - before >= 1000 && $(used budget) - before < 3000)) || { cat budget && return 1; }
	# A run that is killed alone.
	before=$(used budget)
	env -i PATH="$PATH" "$DISTRUN" surrogate --job-time-budget=budget -- sleep 1000 &
	until (($(used budget) >= before + 2000)); do nap 0.05; done
	kill -KILL $!
	sleep 1
	distrun -- surrogate --job-time-budget=budget -- true
	[ "$status" -eq 0 ]
	(($(used budget) >= before + 2000 && $(used budget) < before + 30000))
}

@test "limits: an invalid budget file is refused with its line, and nothing is started" {
	distrun -- surrogate --job-time-budget=budget -- touch started
	says_error 125 "the budget file '$PWD/budget' has no limit yet, and none is given; set it with --job-time-sec"
	echo hello >budget
	distrun -- surrogate --job-time-sec=1 --job-time-budget=budget -- touch started
	says_error 125 "$PWD/budget:1: expected 'distrun budget 1'; this is not a budget file of distrun, or it is damaged: remove it to start again"
	printf '%s\n' 'distrun budget 1' 'limit 1000' 'used -5' 'at 7' >budget
	distrun -- surrogate --job-time-sec=1 --job-time-budget=budget -- touch started
	says_error 125 "$PWD/budget:3: *"
	distrun -- surrogate --job-time-sec=1 --job-time-budget="$PWD" -- touch started
	says_error 125 "the budget file '$PWD' cannot be opened: Is a directory"
	distrun -- surrogate --job-time-sec=1 --job-time-budget=no/such -- touch started
	says_error 125 "the budget file '$PWD/no/such' cannot be opened: No such file or directory"
	[[ ! -e started ]]
}

# --- documents ------------------------------------------------------------------------------------

@test "distrun's manual and pages have its options and subcommands, and no others" {
	local manual=$BATS_TEST_DIRNAME/../../cmd/distrun/distrun.1 docs=$BATS_TEST_DIRNAME/../../docs word option
	for word in where surrogate exec launch analyze; do
		grep -qx "\.It Cm $word" "$manual"
		grep -q "distrun $word" "$docs"/*.md
		for option in $(env -i "$DISTRUN" "$word" --help | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' | sed 's/.*--//'); do
			grep -Eq "^\.It .*Fl -$option( |\$)" "$manual" || { echo "$manual: no --$option" && return 1; }
		done
	done
	for option in $(sed -n '/^\.It /p' "$manual" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl -//' | sort -u); do
		[[ $(env -i "$DISTRUN" where "--$option" 2>&1) != *'unknown option'* ||
			$(env -i "$DISTRUN" surrogate "--$option" 2>&1) != *'unknown option'* ||
			$(env -i "$DISTRUN" exec "--$option" 2>&1) != *'unknown option'* ||
			$(env -i "$DISTRUN" launch "--$option" 2>&1) != *'unknown option'* ||
			$(env -i "$DISTRUN" analyze "--$option" 2>&1) != *'unknown option'* ]] || { echo "manual: --$option" && return 1; }
	done
	# An option has a variable, if the manual names it.
	for option in $(for word in where surrogate exec launch analyze; do env -i "$DISTRUN" "$word" --help; done | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' |
		sed 's/.*--//' | sort -u); do
		word=DISTRUN_${option^^} && word=${word//-/_}
		if grep -q "$word" "$manual"; then
			[[ -z $(env -i "$word=" "$DISTRUN" where 2>&1 >/dev/null) ]]
		else
			[[ $(env -i "$word=" "$DISTRUN" where 2>&1) == *"'$word' is not a setting of distrun"* ]] || { echo "$word" && return 1; }
		fi
	done
	# Each variable that the manual names exists.
	for word in $(grep -oE 'DISTRUN_[A-Z_]+' "$manual" | sort -u); do
		[[ $(env -i "$word=" "$DISTRUN" where 2>&1) != *' setting of '* ]] || { echo "manual: $word" && return 1; }
	done
}

@test "surrogate: a squeue that prints endlessly is ended, and uses no memory" {
	tool squeue <<<'exec yes "99.9 something"'
	local_srun
	split SLURM_JOB_ID=12 SLURM_STEP_ID=3 -- surrogate -- sleep 0.5
	invoke env -i PATH="$PWD/tools:$PATH" MARK="$BATS_TEST_TMPDIR" DISTRUN_ROOT="$NO_PROC" "${variables[@]}" \
		prlimit --as=20000000 timeout 20 "$DISTRUN" "${arguments[@]}"
	[ "$status" -eq 0 ]
	[[ $stderr != *memory* ]]
}

@test "distrun: help of a subcommand and of an option" {
	invoke "$DISTRUN" help
	[[ $status -eq 0 && $output == 'usage: distrun SUBCOMMAND'* ]]
	invoke "$DISTRUN" help where
	[[ $status -eq 0 && $output == 'usage: distrun where'* ]]
	invoke "$DISTRUN" --help=total-nodes
	[[ $status -eq 0 && $output == *'--total-nodes=N'* && $output != *'--tasks-per-node'* ]]
	invoke "$DISTRUN" help total-node
	[[ $status -eq 125 && $stderr == "distrun: error: help: 'total-node' is neither a subcommand nor an option; did you mean '--total-nodes'?; see 'distrun --help'" ]]
}
