#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun under a real Slurm with accounting.
#
# A time limit of a job is looked at every 30 s only: the jobs that need one are submitted first (setup_file), run beside the
# other tests, and are looked at last. What Slurm has accounted is told by sacct, which lags by 5 s: accounted() polls.
#
# shellcheck disable=SC2154 # status and output: by run
# shellcheck disable=SC2016 # what is quoted is for another shell

load helpers

setup_file() {
	cluster_up
	[[ -z $NO_CLUSTER ]] || return 0
	SLOW=$BATS_FILE_TMPDIR/slow
	export SLOW
	submit_slow ends 'trap "echo got TERM; sleep 1; exit 0" TERM; while :; do sleep 0.1; done'
	submit_slow ignores 'trap "" TERM; echo runs; while :; do sleep 0.1; done'
	MINUTE=$BATS_FILE_TMPDIR/minute
	export MINUTE
	mkdir "$MINUTE"
	"$PROGRAMS/slurmctld-stopped" "$MINUTE" "$DISTRUN" >"$MINUTE/log" 2>&1 </dev/null 3>&- &
	echo $! >"$MINUTE/pid"
}

teardown_file() {
	local pid
	cluster_down
	# Where it has not ended, because somebody did not wait, its cluster ends with it.
	[[ -z ${MINUTE-} || -e $MINUTE/done ]] || kill "$(cat "$MINUTE/pid")"
	while [[ -n ${MINUTE-} ]] && pid=$(cat "$MINUTE/pid") && kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
	done
}

setup() {
	cluster_ready
	cd "$BATS_TEST_TMPDIR" || return
}

# All jobs but the slow ones.
teardown() {
	local until=$((SECONDS + 30 * PATIENCE)) jobs
	[[ -z ${NO_CLUSTER-} && -d $CLUSTER ]] || return 0
	while jobs=$(login squeue --noheader --format='%i %j' | sed -n '/ slow-/!s/ .*//p') && [[ -n $jobs ]]; do
		((SECONDS < until)) || fail "jobs do not end"
		# shellcheck disable=SC2086 # one word each
		login scancel $jobs
		sleep 0.2
	done
}

# submit_slow NAME SCRIPT: a job that gets TERM 30 s before its limit of a minute, for a surrogate that runs SCRIPT.
submit_slow() {
	cat >"$SLOW-$1.sh" <<-END
		#!/bin/sh
		exec >$SLOW-$1.out 2>&1
		$DISTRUN surrogate -v --grace=4 --name=$1 -- sh -c '$2'
		echo status \$?
	END
	login sbatch --parsable --job-name="slow-$1" --nodes=1 --ntasks=1 --time=1 --signal=TERM@30 \
		--output="$SLOW-$1.batch" "$SLOW-$1.sh" >"$SLOW-$1.job"
}

# accounted JOB STEPS: NAME STATE EXITCODE of the job's STEPS surrogate steps, once all have ended, in the order of their start. The
# whole line of each is in accounted-all.
accounted() {
	local until=$((SECONDS + 60 * PATIENCE))
	while :; do
		login sacct --parsable2 --noheader --jobs="$1" --format=JobID,JobName%60,State,ExitCode,ElapsedRaw,Start,End |
			grep -E '^[0-9+]+\.[0-9]+\|' >accounted-all || true
		if [[ $(grep -cvE '\|(RUNNING|PENDING)\|' accounted-all) -ge $2 && $(grep -cE '\|(RUNNING|PENDING)\|' accounted-all) -eq 0 ]]; then
			sort -t. -k2n accounted-all | awk -F'|' '{ print $2, $3, $4 }'
			return
		fi
		if ((SECONDS >= until)); then
			cat accounted-all
			echo 'sacct does not show it'
			return 1
		fi
		sleep 0.5
	done
}

# in_job FILE: the id of the job that has written it there.
job_of() {
	sed -n 's/^job //p' "$1"
}

# left_over: processes of ours: distrun itself, and every srun of a surrogate. But for those of the slow jobs.
left_over() {
	local process words
	for process in /proc/[0-9]*; do
		words=$(tr '\0' ' ' 2>/dev/null <"$process/cmdline") || continue
		[[ $words != *"$SLOW"* && $words != *--name=ends* && $words != *--name=ignores* && $words != *name=ends* &&
			$words != *name=ignores* ]] || continue
		if [[ $words == "$DISTRUN "* || $words == srun\ --jobid=* ]] &&
			[[ $(tr '\0' '\n' 2>/dev/null <"$process/environ") == *"$CLUSTER/"* ]]; then
			echo "$words"
		fi
	done
}

nothing_is_left() {
	local until=$((SECONDS + 20 * PATIENCE))
	while [[ -n $(left_over) ]]; do
		((SECONDS < until)) || fail "still there: $(left_over)"
		sleep 0.1
	done
}

# For batch scripts.
FUNCTIONS='
echo job $SLURM_JOB_ID >job
SURROGATE="'"$DISTRUN"' surrogate"
# step NAME: the id of that step, once distrun -v has told NAME.out that it runs.
step() {
	until id=$(sed -n "s/.*info: step \([0-9.]*\), $1, mirrors the command/\1/p" $1.out) && [ -n "$id" ]; do sleep 0.1; done
	echo $id
}
'

# script_of: FUNCTIONS and what is on stdin, for batch().
in_batch() {
	{
		echo "$FUNCTIONS"
		cat
	} | batch "$@"
}

# --- where ------------------------------------------------------------------------------------------

@test "where: batch script, step, and what is started in a step" {
	run in_batch --nodes=2 --ntasks=2 <<-END
		$DISTRUN where
		srun --nodes=1 --ntasks=1 --overlap --mem=0 $DISTRUN where --format=json
		srun --nodes=1 --ntasks=1 --overlap --mem=0 sh -c '
			sbatch --quiet --wait --output=nested.out --wrap "echo leaked \\\$SLURM_STEP_ID; $DISTRUN where"
			unset SLURM_NTASKS SLURM_NPROCS
			salloc --quiet --nodes=1 --ntasks=1 sh -c "echo leaked \\\$SLURM_STEP_ID; $DISTRUN where"'
	END
	same "the exit status" 0 "$status"
	[[ $output == 'batch: the batch script of job '* ]] || fail 'it is a batch script'
	grep -F '{"where": "step", "job_id": "'"$(job_of job)"'", "step_id": "0", "by": "process"' <<<"$output" || fail 'no step'
	# Slurm 26.05 sets the script's own: -5.
	[[ $(cat nested.out) == 'leaked '[1-]*$'\nbatch: the batch script of job '* ]] || fail "nested: $(cat nested.out)"
	[[ $output == *$'leaked 1\nsalloc: salloc\'s shell of job '*', of job '*', in which salloc made job '* ]] ||
		fail 'salloc in a step'
}

@test "where: salloc, also as a step; a heterogeneous step" {
	run login salloc --quiet --ntasks=1 "$DISTRUN" where
	[[ $output == "salloc: salloc's shell of job "* ]] || fail 'it is salloc'
	run login salloc --quiet --ntasks=1 <<<"echo \$SLURM_STEP_ID; $DISTRUN where"
	[[ $output == @(4294967290|-6)$'\ninteractive: salloc\'s shell, a step, of job '* ]] || fail "it is salloc's shell"
	run login salloc --quiet --ntasks=1 : --ntasks=1 srun --label --het-group=0,1 "$DISTRUN" where
	same "the number of steps" 2 "$(grep -c '^[01]: step: step 0 of job ' <<<"$output")"
}

@test "where: without /proc the variables tell, and squeue whether there is such a step" {
	run in_batch --nodes=1 --ntasks=1 <<-END
		$DISTRUN where --root=/nowhere
		SLURM_STEP_ID=55 $DISTRUN where --root=/nowhere
		SLURM_STEP_ID=4294967290 $DISTRUN where --root=/nowhere
		srun --overlap $DISTRUN where --root=/nowhere
		SLURM_STEP_ID=55 PATH=/nowhere $DISTRUN where --root=/nowhere
		SLURM_JOB_ID= SLURM_JOBID= $DISTRUN where --root=/nowhere
	END
	same "the first words" "batch: salloc: interactive: step: step: none:" \
		"$(grep -oE '^[a-z]+:' <<<"$output" | tr '\n' ' ' | sed 's/ $//')"
	grep -F 'SLURM_STEP_ID=55, and squeue lists no such step' <<<"$output"
	grep -F 'SLURM_STEP_ID=0, and squeue lists that step' <<<"$output"
	grep -F 'squeue could not be asked for this step: squeue cannot be started: it is not in PATH' <<<"$output"
}

# --- a step for each run ----------------------------------------------------------------------------

@test "surrogate: one step a run, in order, which starts and ends as it does" {
	run in_batch --nodes=3 --ntasks=8 <<-'END'
		echo stdin | $SURROGATE -- sh -c 'cat; echo stderr >&2; sleep 2'
		echo status $?
		# Slurm takes a moment until it no longer lists a step that has ended.
		while squeue --noheader --steps --jobs=$SLURM_JOB_ID --format=%j | grep -q '^wsjob-'; do sleep 0.1; done
		echo gone
		$SURROGATE --csx=2 -- sh -c 'squeue --noheader --steps --jobs=$SLURM_JOB_ID --format=%j >running; sleep 0.5
			squeue --noheader --steps --jobs=$SLURM_JOB_ID --format=%j >running; exit 3'
		echo status $?
		$SURROGATE --num_csx 12 --name=third -- sh -c 'kill -USR1 $$'
		echo status $?
		$SURROGATE --require --csx=0 -- true
		echo status $?
		$SURROGATE -- /no/such/program
		echo status $?
	END
	same "what was printed" "$(printf '%s\n' stdin stderr 'status 0' gone 'status 3' 'status 138' 'status 0' \
		"distrun: error: '/no/such/program' was not found" 'status 127')" "$output"
	same "surrogate steps while one ran" 1 "$(grep -cE '^wsjob-[a-z0-9]{22}-csx2$' running)"
	run accounted "$(job_of job)" 4
	# Slurm shows 128+N as signal N, up to 24.11.
	same "accounting" $'wsjob-ID COMPLETED 0:0\nwsjob-ID-csx2 FAILED 3:0\nthird-csx12 FAILED 10:0\nwsjob-ID COMPLETED 0:0' \
		"$(sed -E 's/^wsjob-[a-z0-9]{22}/wsjob-ID/; s/138:0/10:0/' <<<"$output")"
	# Of two seconds, as far as Slurm keeps up on a busy machine; the others, of none, were no longer than that either.
	[[ $(head -n 1 accounted-all | cut -d'|' -f5) =~ ^([1-9]|1[0-5])$ ]] || fail "elapsed: $(cat accounted-all)"
	nothing_is_left
}

@test "surrogate: salloc, under a job called interactive" {
	local job until=$((SECONDS + 60 * PATIENCE))
	run login salloc --quiet --nodes=2 --ntasks=2 sh -c "$FUNCTIONS"'$SURROGATE -- sh -c "sleep 1; exit 4"; echo status $?'
	[[ $output == *'status 4' ]] || fail 'another status'
	job=$(job_of job)
	run login salloc --quiet --nodes=2 --ntasks=2 <<<"$FUNCTIONS"'$SURROGATE -- sh -c "exit 5"; echo status $?'
	[[ $output == *'status 5' ]] || fail 'another status, as a step'
	run accounted "$job" 1
	[[ $output =~ ^wsjob-[a-z0-9]{22}\ FAILED\ 4:0$ ]] || fail 'accounting is another'
	run accounted "$(job_of job)" 1
	[[ $output =~ wsjob-[a-z0-9]{22}\ FAILED\ 5:0$ ]] || fail 'accounting is another, as a step'
	# Until it knows better, accounting calls a job "allocation".
	until [[ $(login sacct --allocations --noheader --parsable2 --jobs="$(job_of job)" --format=JobName) == interactive ]]; do
		((SECONDS < until)) || fail "the job is not called interactive"
		sleep 0.5
	done
}

@test "surrogate: none under srun, one in a job that was made in a step" {
	run in_batch --nodes=2 --ntasks=2 <<-END
		srun --nodes=1 --ntasks=1 --overlap --mem=0 $DISTRUN surrogate --require -vv -- sh -c 'exit 0'
		srun --nodes=1 --ntasks=1 --overlap --mem=0 sh -c '
			unset SLURM_NTASKS SLURM_NPROCS
			salloc --quiet --nodes=1 --ntasks=1 $DISTRUN surrogate --require --name=nested -- sh -c "echo \\\$SLURM_JOB_ID >nested"'
	END
	same "the exit status" 0 "$status"
	[[ $output == *'distrun: debug: no surrogate step: Slurm already accounts for this step (process '* ]] ||
		fail 'it does not say why'
	run accounted "$(job_of job)" 2
	same "steps of the job" $'distrun COMPLETED 0:0\nsh COMPLETED 0:0' "$output"
	run accounted "$(cat nested)" 1
	same "steps of the job within" 'nested COMPLETED 0:0' "$output"
}

@test "surrogate: the step takes nothing from the command, which gets all of the job" {
	run in_batch --nodes=2 --ntasks=6 --mem=512 <<-'END'
		# --quiet: on a busy machine srun says that it waits for the end of the first step.
		$SURROGATE --require -- sh -c 'srun --quiet --label hostname | wc -l; srun --quiet --exact --ntasks=6 hostname | wc -l'
	END
	same "the tasks of two steps" $'6\n6' "$output"
}

@test "surrogate: the command starts at once: Slurm is asked beside it" {
	local attempt
	# What else the machine does can only add: the least of three is what counts.
	for attempt in 1 2 3; do
		run in_batch --nodes=1 --ntasks=1 <<<"$PYTHON $PROGRAMS/start-delay $DISTRUN"
		same "the exit status of attempt $attempt" 0 "$status"
		# Between the two are an execve, as the command alone has one, and a vfork; srun takes longer, and Slurm any time.
		! awk '{ exit !($6 < 10 || $6 < $2) }' <<<"$output" || break
	done
	awk '{ exit !($6 < 10 || $6 < $2) }' <<<"$output" || fail 'more than 10 ms, and than the command alone'
	nothing_is_left
}

# --- limits -----------------------------------------------------------------------------------------

@test "limits: they count running, and the job's time counts waiting" {
	run in_batch --nodes=1 --ntasks=2 <<-'END'
		# A queue for one accelerator: somebody else has it for 8 s.
		(flock 9; sleep 8) 9>queue &
		sleep 0.2
		flock queue -c "$(command -v true)"
		$SURROGATE --job-time-sec=2 --name=within -- sleep 1
		echo status $?
		$SURROGATE --job_time_sec=2 --name=beyond -- sleep 60
		echo status $?
	END
	# On a machine that is busy, it may be a little more than two seconds.
	same "what was printed" "$(printf '%s\n' 'status 0' \
		'distrun: error: the time limit of 2s is reached (Ns used): the command is asked to end, and killed 30s later' \
		'status 124')" "$(sed -E 's/\([0-9.]+s used\)/(Ns used)/' <<<"$output")"
	run accounted "$(job_of job)" 2
	same "accounting" $'within COMPLETED 0:0\nbeyond FAILED 124:0' "$output"
	[[ $(sed -n 's/^[^|]*|within|[^|]*|[^|]*|\([0-9]*\)|.*/\1/p' accounted-all) -lt 8 ]] || fail "waiting was counted: $(cat accounted-all)"
	[[ $(sed -n 's/^[^|]*|beyond|[^|]*|[^|]*|\([0-9]*\)|.*/\1/p' accounted-all) -lt 30 ]] || fail "the limit is late: $(cat accounted-all)"
}

@test "limits: a budget is shared by the runs of a script, and those at once count once" {
	run in_batch --nodes=1 --ntasks=2 <<-'END'
		limited() { $SURROGATE --job-time-sec=5 --job-time-budget=budget "$@"; }
		limited --name=first -- sleep 1.8 & limited --name=second -- sleep 1.8
		wait
		sleep 2
		limited --name=third -- sleep 60
		echo status $?
		limited --name=fourth -- touch started
		echo status $?
	END
	[[ $output =~ ^"distrun: error: the time limit of 5s is reached ("[0-9.]+"s used, "[0-9.]+"s of it by this run; the budget is '"[^\']*"/budget'): the command is asked to end, and killed 30s later"$'\n'"status 124"$'\n'"distrun: error: the time limit of 5s is used up ("[0-9.]+"s used by earlier runs; the budget is '"[^\']*"/budget'): nothing is started; a longer --job-time-sec allows more"$'\n'"status 124"$ ]] ||
		fail 'the messages are others'
	[[ ! -e started ]] || fail 'the fourth was started'
	run accounted "$(job_of job)" 3
	same "accounting" $'first COMPLETED 0:0\nsecond COMPLETED 0:0\nthird FAILED 124:0' "$(sort <<<"$output")"
}

# --- what Slurm does to a step ----------------------------------------------------------------------

@test "signals: what Slurm sends to the step reaches the command; a cancelled step ends it" {
	run in_batch --nodes=1 --ntasks=2 <<-'END'
		waits() { $SURROGATE -v --grace=2 --name=$1 -- sh -c "$2; sleep 60 & wait" >$1.out 2>&1; echo $? >$1.status; }
		waits term 'trap "echo got TERM; sleep 1; exit 9" TERM' &
		waits usr1 'trap "echo got USR1; exit 0" USR1' &
		waits cancelled 'true' &
		waits stubborn 'trap "" TERM; sleep 60' &
		scancel --signal=TERM $(step term)
		scancel --signal=USR1 $(step usr1)
		scancel $(step cancelled)
		scancel $(step stubborn)
		wait
	END
	same "the status after TERM" 9 "$(cat term.status)"
	grep -Fx 'got TERM' term.out
	same "the status after USR1" 0 "$(cat usr1.status)"
	grep -Fx 'got USR1' usr1.out
	same "the status of the cancelled" 143 "$(cat cancelled.status)"
	same "the status of the stubborn" 137 "$(cat stubborn.status)"
	grep -F 'distrun: warning: sh did not end within the grace period of 2s: it is killed' stubborn.out
	run accounted "$(job_of job)" 4
	same "accounting" "$(printf '%s\n' 'cancelled CANCELLED by 0 0:9' 'stubborn CANCELLED by 0 0:9' 'term FAILED 9:0' \
		'usr1 COMPLETED 0:0')" "$(sort <<<"$output")"
	nothing_is_left
}

@test "signals: scancel of the job reaches the command, which may end in order" {
	local job until=$((SECONDS + 30 * PATIENCE))
	cat >script <<-END
		#!/bin/sh
		$FUNCTIONS
		\$SURROGATE --name=whole -- sh -c 'trap "touch saved; exit 0" TERM; echo up >up; sleep 60 & wait'
	END
	job=$(login sbatch --parsable --nodes=1 --ntasks=1 script)
	until [[ -s up && $(login squeue --noheader --steps --jobs="$job" --format=%j) == *whole* ]]; do
		((SECONDS < until)) || fail 'it does not start'
		sleep 0.1
	done
	login scancel "$job"
	until [[ -e saved ]]; do
		((SECONDS < until + 30)) || fail 'it is not told'
		sleep 0.1
	done
	run accounted "$job" 1
	[[ $output =~ ^whole\ (COMPLETED|CANCELLED) ]] || fail 'accounting is another'
	nothing_is_left
}

@test "killed: distrun, and the step has failed within a second; srun, and the command runs on" {
	local ended
	run in_batch --nodes=1 --ntasks=2 <<-'END'
		$SURROGATE -v --name=dead -- sh -c 'echo $$ >dead.pid; exec sleep 60' 2>dead.out &
		dead=$!
		id=$(step dead)
		kill -KILL $dead
		date +%s >killed
		while squeue --noheader --steps=$id --format=%i | grep -q .; do sleep 0.05; done
		$SURROGATE -v --name=alone -- sh -c 'until [ -e go ]; do sleep 0.1; done; exit 6' 2>alone.out &
		alone=$!
		step alone >/dev/null
		pkill -KILL -P $alone srun
		until grep -q gone alone.out; do sleep 0.1; done
		touch go
		wait $alone
		echo status $?
	END
	[[ $output == *'status 6' ]] || fail 'another status'
	grep -x 'distrun: warning: step .* is gone: srun was killed by signal 9; the command continues without one' alone.out ||
		fail "it says: $(cat alone.out)"
	[[ ! -e /proc/$(cat dead.pid) ]] || fail 'the command of the killed one runs on'
	run accounted "$(job_of job)" 2
	# What the step of the killed srun comes to is Slurm's choice.
	[[ $output == $'dead FAILED 70:0\nalone '[A-Z]* ]] || fail 'accounting is another'
	# By accounting's clock, which has whole seconds: squeue itself takes long on a busy machine.
	ended=$(env -u TZ date --date="$(sed -n 's/^[^|]*|dead|.*|//p' accounted-all)" +%s)
	((ended - $(cat killed) <= 2)) || fail "the step ended $((ended - $(cat killed))) s later"
	nothing_is_left
}

# --- Slurm is ill -----------------------------------------------------------------------------------

@test "ill: a stale job, munge down, no slurmctld: the command runs, and one line says why" {
	local conf
	sed 's,^AuthInfo=.*,AuthInfo=socket=/nowhere/munge.sock,' "$CLUSTER/etc/slurm.conf" >munge.conf
	# Nobody listens: srun tries for a minute, which is not waited for.
	sed 's,^SlurmctldPort=.*,SlurmctldPort=9,' "$CLUSTER/etc/slurm.conf" >down.conf
	login env SLURM_CONF="$PWD/down.conf" SLURM_JOB_ID=1 \
		sh -c '"$@"; echo status $?' - "$DISTRUN" surrogate -- sh -c 'echo ran; exit 5' >down.out 2>&1 3>&- &
	# With the right configuration, it is the job that is wrong.
	for conf in "$CLUSTER/etc/slurm.conf" "$PWD/munge.conf"; do
		run login env SLURM_CONF="$conf" SLURM_JOB_ID=999999 \
			sh -c '"$@"; echo status $?' - "$DISTRUN" surrogate -- sh -c 'echo ran; exit 5'
		[[ $output == *ran* && $output == *'status 5'* ]] || fail "$conf: the command"
		same "lines of distrun ($conf)" 1 "$(grep -c '^distrun: ' <<<"$output")"
		grep '^distrun: warning: no surrogate step in job 999999: srun has ended with status 1: ' <<<"$output" || fail "$conf"
		run login env SLURM_CONF="$conf" SLURM_JOB_ID=999999 \
			sh -c '"$@"; echo status $?' - "$DISTRUN" surrogate --require -- sh -c 'echo ran; exit 5'
		[[ $output != *ran* && $output == *'status 125' ]] || fail "$conf, required: the command"
		grep '^distrun: error: a surrogate step is required (--require), but job 999999 gets none: ' <<<"$output" || fail "$conf"
	done
	wait $!
	same "without slurmctld" $'ran\ndistrun: warning: Slurm has not ended the surrogate step of job 1 within 10s: distrun stops waiting for it\nstatus 5' \
		"$(cat down.out)"
	nothing_is_left
}

# slurmctld: the PID of this cluster's.
slurmctld() {
	local process
	for process in /proc/[0-9]*; do
		[[ $(cat "$process/comm" 2>/dev/null) == slurmctld ]] || continue
		if [[ $(tr '\0' '\n' 2>/dev/null <"$process/environ") == *"$CLUSTER/"* ]]; then
			echo "${process#/proc/}"
			return
		fi
	done
}

@test "ill: slurmctld is stopped: nothing is waited for at the start, and not for long at the end" {
	local job pid until=$((SECONDS + 60 * PATIENCE))
	cat >script <<-END
		#!/bin/sh
		$FUNCTIONS
		\$SURROGATE --name=before -- sh -c 'echo up >up; until [ -e stopped ]; do sleep 0.1; done; exit 7' 2>before.out &
		until [ -e stopped ]; do sleep 0.1; done
		\$SURROGATE --name=during -- sh -c 'echo ran >ran; exit 8' 2>during.out
		echo \$? >during.status
		wait \$!
		echo \$? >before.status
	END
	job=$(login sbatch --parsable --nodes=1 --ntasks=2 script)
	until [[ -s up && $(login squeue --noheader --steps --jobs="$job" --format=%j) == *before* ]]; do
		((SECONDS < until)) || fail 'it does not start'
		sleep 0.1
	done
	pid=$(slurmctld)
	kill -STOP "$pid"
	touch stopped
	until [[ -s before.status && -s during.status ]]; do
		((SECONDS < until)) || { kill -CONT "$pid" && fail "they do not end: $(cat before.out during.out)"; }
		sleep 0.1
	done
	nothing_is_left || { kill -CONT "$pid" && return 1; }
	kill -CONT "$pid"
	same "the status of the first" 7 "$(cat before.status)"
	same "the status of the second" 8 "$(cat during.status)"
	[[ -s ran ]] || fail 'the second did not run'
	[[ $(cat during.out) == "distrun: warning: Slurm has not ended the surrogate step of job $job within 10s: distrun stops waiting for it" ]] ||
		fail "the second says: $(cat during.out)"
}

# --- the slow ones ----------------------------------------------------------------------------------

@test "a job's limit: the command gets the job's signal, which a batch script never does, and ends before the limit" {
	local until=$((SECONDS + 110 * PATIENCE)) name
	for name in ends ignores; do
		until [[ -z $(login squeue --noheader --jobs="$(cat "$SLOW-$name.job")" 2>/dev/null) ]]; do
			((SECONDS < until)) || fail "job $name does not end: $(cat "$SLOW-$name.out")"
			sleep 0.5
		done
	done
	grep -Fx 'got TERM' "$SLOW-ends.out"
	grep -Fx 'status 0' "$SLOW-ends.out"
	grep -F 'distrun: warning: sh did not end within the grace period of 4s: it is killed' "$SLOW-ignores.out"
	grep -Fx 'status 137' "$SLOW-ignores.out"
	run accounted "$(cat "$SLOW-ends.job")" 1
	same "accounting of the one that ends" 'ends COMPLETED 0:0' "$output"
	run accounted "$(cat "$SLOW-ignores.job")" 1
	[[ $output =~ ^ignores\ FAILED\ (137:0|9:0|0:9)$ ]] || fail 'accounting of the one that ignores it'
	for name in ends ignores; do
		same "the job's state" COMPLETED \
			"$(login sacct --allocations --noheader --parsable2 --jobs="$(cat "$SLOW-$name.job")" --format=State)"
	done
}

@test "ill: slurmctld is stopped for a minute: commands run, and afterwards nothing of ours is left, and no step" {
	local until=$((SECONDS + 110 * PATIENCE)) word
	until [[ -e $MINUTE/done ]]; do
		((SECONDS < until)) || fail "it does not end: $(cat "$MINUTE/log")"
		sleep 0.5
	done
	same "what went wrong" fine "$(cat "$MINUTE/done" "$MINUTE/log")"
	same "the statuses" '6 7 8 9' "$(cd "$MINUTE" && cat over.status ends.status begins.status after.status | xargs)"
	[[ $(cat "$MINUTE/begins.out") == *"has not ended the surrogate step of job "*" within 10s: distrun stops waiting for it"* ]] ||
		fail "the one that began says: $(cat "$MINUTE/begins.out")"
	for word in 'over|FAILED|6:0' 'ends|FAILED|7:0' 'after|FAILED|9:0'; do
		grep -Fx "$word" "$MINUTE/accounted" || fail "accounting: $(cat "$MINUTE/accounted")"
	done
}

@test "nothing of the cluster is left running" {
	cluster_down
	same "what is left" "" "$(remains)"
}
