#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun analyze (cs_input_analyzer) without Slurm: its command line, the arguments of srun, and
# the evaluation of the probes' results. The probes run here too, under a fake srun that starts one
# task. With a real Slurm: tests/engines/analyze.bats.
#
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
# shellcheck disable=SC2016 # what is quoted is for another shell

load helpers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"

setup() {
	DISTRUN=$(realpath "$DISTRUN")
	BIN=$BATS_TEST_TMPDIR/bin
	RECORD=$BATS_TEST_TMPDIR/record
	mkdir -p "$BIN" "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/tmp"
	cd "$BATS_TEST_TMPDIR/work" || return
	node "test*|5|40"
	tool squeue <<<'exit 1'
	srun_here
}

# No process is left with our folder in its environment, and no file in the current folder or in
# that for temporary files.
teardown() {
	local until=$((SECONDS + 20)) left
	# Ignore failures of grep: a process may have ended meanwhile.
	while left=$(grep -alF "MARK=$BATS_TEST_TMPDIR" /proc/[0-9]*/environ 2>/dev/null || true) && [[ -n $left ]]; do
		((SECONDS < until)) || { echo "left: $left" && return 1; }
		sleep 0.1
	done
	left=$(ls -A . ../tmp)
	[[ $left == $'.:\n\n../tmp:' ]] || { echo "left: $left" && return 1; }
}

# tool NAME <<SCRIPT: create a replacement for a program of Slurm.
tool() {
	{
		echo '#!/bin/sh'
		cat
	} >"$BIN/$1"
	chmod +x "$BIN/$1"
}

# node LINE...: set the output of sinfo.
node() {
	{
		echo "cat <<'LINES'"
		printf '%s\n' "$@" LINES
	} | tool sinfo
}

# srun_here: an srun that records its arguments, and becomes its only task.
srun_here() {
	tool srun <<-'END'
		{ printf '<%s>' "$@"; echo; } >>"$RECORD"
		while case $1 in -*) ;; *) false ;; esac do shift; done
		SLURM_PROCID=0 exec "$@"
	END
}

# srun_tells: an srun whose probes report what RESULT contains for a candidate with that many
# threads.
srun_tells() {
	tool srun <<-'END'
		for word; do
			case $word in
			--ntasks=*) workers=${word#*=} ;;
			--cpus-per-task=*) threads=${word#*=} ;;
			esac
		done
		each() {
			i=0
			while [ $i -lt "$workers" ]; do
				echo "distrun-probe $1 rank=$i $2 node=n1"
				i=$((i + 1))
			done
		}
		echo "a prolog says hello"
		each ready memory_total=10737418240
		read -r order && [ "$order" = go ] || exit 1
		each tick count=5
		each result "cpus=40 memory_total=10737418240 span_ms=10000 looks=10 $(eval echo "\$RESULT_$threads")"
		cat >/dev/null
	END
}

# analyze VAR=VALUE... -- ARG...: invoke it with our replacements for Slurm's programs, without a
# container.
analyze() {
	local -a variables arguments
	split "$@"
	invoke env -i PATH="$BIN:/usr/bin:/bin" MARK="$BATS_TEST_TMPDIR" RECORD="$RECORD" TMPDIR="$BATS_TEST_TMPDIR/tmp" \
		"${variables[@]}" "$DISTRUN" analyze --runtime=none --distinit=none "${arguments[@]}"
}

# one ARG...: the same with a single worker that has one thread.
one() {
	analyze -- --threads=1 --workers-per-node=1 --warmup=0 "$@"
}

# says TEXT: stderr contains TEXT, besides the progress.
says() {
	[[ $stderr == *"$1"* ]] || {
		printf 'not said: %s\n' "$1"
		return 1
	}
}

# prints TEXT: stdout contains TEXT.
prints() {
	[[ $output == *"$1"* ]] || {
		printf 'not printed: %s\n' "$1"
		return 1
	}
}

# json EXPRESSION: evaluate a Python expression on the report r.
json() {
	python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <<<"$output"
}

# --- the command line -----------------------------------------------------------------------------

@test "analyze: --help has its options; cs_input_analyzer is its name" {
	ln -s "$DISTRUN" "$BIN/cs_input_analyzer"
	invoke env -i "$BIN/cs_input_analyzer" --help
	[[ $status -eq 0 && -z $stderr ]]
	prints 'usage: cs_input_analyzer [OPTION]... COMMAND [ARG]...'
	local option
	for option in --threads=LIST --workers-per-node=LIST --available-nodes=N --unit=UNIT --seconds=DURATION \
		--warmup=DURATION --report=FORMAT --mount-dirs=DIRS; do
		prints "$option"
	done
	local manual=$BATS_TEST_DIRNAME/../../cmd/distrun/distrun.1
	while read -r option; do
		grep -q -- "Fl ${option#-}\\>" "$manual" || { echo "not in the manual: $option" && return 1; }
	done < <(sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p' <<<"$output")
	invoke env -i "$DISTRUN" --help
	prints $'\n  analyze '
	[[ $output != *probe* ]]
	invoke env -i "$BIN/cs_input_analyzer"
	[[ $status -eq 2 && -z $output && $stderr == "cs_input_analyzer: error: no command; usage: cs_input_analyzer "* ]]
}

# refuses STATUS TEXT: it printed one error line, and did not call srun.
refuses() {
	[[ $status -eq $1 && -z $output && $stderr == "distrun: error: $2" && ! -e $RECORD ]]
}

@test "analyze: errors are reported before srun is called" {
	analyze --
	refuses 125 'no command; usage: distrun analyze [OPTION]... COMMAND [ARG]... (see --help)'
	analyze -- --unit=line x
	refuses 125 "--unit='line': expected one of lines, bytes, samples; did you mean 'lines'?"
	analyze -- --seconds=ten x
	refuses 125 "--seconds='ten' is not a duration such as 90, 1.5s, 500ms, 5m or 1h30m"
	analyze -- --seconds=99ms x
	refuses 125 "--seconds='99ms' is too short; the minimum is 0.1s"
	analyze -- --report=yaml x
	refuses 125 "--report='yaml': expected one of text, json"
	analyze -- --threads=4,x x
	refuses 125 "--threads='4,x': 'x' is not a whole number from 1 to 65535"
	analyze -- --workers_per_node=0 x
	refuses 125 "--workers-per-node='0': '0' is not a whole number from 1 to 65535"
	analyze -- --thread=4 x
	refuses 125 "unknown option '--thread=4'; did you mean '--threads'?; see --help"
	analyze -- --available_nodes=6 x
	refuses 125 "--available-nodes=6, but the partition has 5 (sinfo)"
	analyze SLURM_JOB_ID=77 -- x
	[[ $status -eq 125 && -z $output && ! -e $RECORD ]]
}

@test "analyze: an error outside Slurm, and if Slurm does not describe the node" {
	rm "$BIN/srun"
	analyze PATH="$BIN" -- x
	[[ $status -eq 125 && $stderr == "distrun: error: srun is not in PATH"* ]]
	srun_here
	tool sinfo <<<'echo "slurm_load_partitions: Unable to contact slurm controller" >&2; exit 1'
	analyze -- x
	refuses 125 'Slurm does not report how many CPUs a node has; set --threads and --workers-per-node'
	analyze -- --threads=1 --workers-per-node=1 --seconds=30 echo
	[[ $status -eq 0 ]]
}

@test "analyze: srun gets one whole node, the candidate, and this program as the probe" {
	one --seconds=500ms --available-nodes=3 --partition=big --srun-args='--qos=low' -- printf '%s\n' 'a b' '$(touch x)' ''
	[[ $status -eq 0 ]]
	prints 'csrun_wse --total-nodes=3 --tasks-per-node=1 --cpus-per-task=1'
	local line
	line=$(<"$RECORD")
	[[ $line == "<--job-name=distrun-analyze><--exclusive><--nodes=1><--ntasks=1><--ntasks-per-node=1><--cpus-per-task=1><--mem=0><--mpi=none>"* ]]
	[[ $line == *"<--partition=big><--qos=low><$DISTRUN><probe><--unit=lines><--warmup=0ms><--seconds=500ms><--><printf><%s\\n><a b><\$(touch x)><>" ]]
}

@test "analyze: --dry-run shows the commands, and the candidates that are left out" {
	node 'a|2|64' 'test*|2|14'
	analyze -- --dry-run cat 'a b'
	[[ $status -eq 0 && ! -e $RECORD ]]
	[[ $(grep -c '^srun ' <<<"$output") -eq 4 ]]
	prints '--ntasks=4 --ntasks-per-node=4 --cpus-per-task=3 '
	prints "--unit=lines --warmup=5000ms --seconds=10000ms -- cat 'a b'"
	prints '# 16 threads: left out: needs 16 CPUs, and a node has 14'
	prints '# 20 threads: left out: needs 20 CPUs, and a node has 14'
}

@test "analyze: with pyxis, srun mounts this program into the container, and starts it there" {
	analyze -- --runtime=pyxis --image=x:1 --dry-run --threads=1 --workers-per-node=1 cat
	[[ $status -eq 0 ]]
	prints "$DISTRUN:/distrun:"
	prints " /distrun probe "
}

@test "analyze: nodes that are for GRES only are left out" {
	analyze CSRUN_GRES_NODE=gpu1 -- --dry-run --threads=1 --workers-per-node=1 cat
	prints ' --exclude=gpu1 '
	analyze CSRUN_GRES_NODE= -- --dry-run --threads=1 --workers-per-node=1 cat
	[[ $output != *--exclude* ]]
}

@test "analyze: a candidate that is given twice is measured once" {
	analyze -- --dry-run --threads=10,20,20 cat
	[[ $status -eq 0 && $(grep -c '^srun ' <<<"$output") -eq 2 ]]
}

@test "analyze: if no candidate fits, it says so and exits with 1" {
	analyze -- --threads=41 --workers-per-node=1,2 cat
	[[ $status -eq 1 && ! -e $RECORD ]]
	says 'error: no candidate could be measured; the report says why'
	prints 'left out: needs 41 CPUs, and a node has 40'
	prints 'left out: needs 82 CPUs, and a node has 40'
}

# --- evaluation of the measurements ---------------------------------------------------------------

# Of 40 CPUs: 3 workers of 12, busy; 2 of 16, waiting for storage; 2 of 20, which need the memory.
TOLD=(
	'RESULT_12=rate=20000 cpu_ms=108000 memory=1048576'
	'RESULT_16=rate=26000 cpu_ms=16000 memory=1048576 by_rss=1 read=104857600 waits=8'
	'RESULT_20=rate=33000 cpu_ms=20000 memory=5368709120'
)

@test "analyze: the report has a row for each candidate, a chart, the best and the line to paste" {
	srun_tells
	analyze "${TOLD[@]}" -- --seconds=10 read_data
	[[ $status -eq 0 ]]
	diff - <(printf '%s\n' "$output") <<-'END'
		input pipeline: read_data
		measured: lines for 10s, after 5s of warm-up; on n1, 40 CPUs, 10.0 GiB

		  threads workers     a worker      a node    est. 5 nodes    CPU      memory         read  limit
		       12       3         20.0        60.0             300    90%     1.0 MiB        0 B/s  cpu
		       16       2         26.0        52.0             260    10%    1.0 MiB*   10.0 MiB/s  storage
		>      20       2         33.0        66.0             330    10%     5.0 GiB        0 B/s  memory  best

		lines per second, of a node
		     12 x 3  ####################################     60.0
		     16 x 2  ###############################          52.0
		     20 x 2  ######################################## 66.0  best

		The figures for 5 nodes are an estimate: one node was measured alone, and linear scaling is assumed.
		The node's memory limits the best candidate: use fewer or smaller workers.
		*: RSS, which counts shared pages for each process.

		csrun_wse --total-nodes=5 --tasks-per-node=2 --cpus-per-task=20
	END
	says 'distrun analyze: 20 threads x 2 workers: measuring'
	says 'distrun analyze: 20 threads x 2 workers: 66.0 lines/s a node'
	analyze "${TOLD[@]}" -- --log=error read_data
	[[ $status -eq 0 && -z $stderr ]]
}

@test "analyze: --report=json has the same numbers" {
	srun_tells
	analyze "${TOLD[@]}" -- --report=json --threads=12,16,20,41 read_data 'a"b'
	[[ $status -eq 0 ]]
	[[ $(json 'r["command"]') == "['read_data', 'a\"b']" ]]
	[[ $(json 'r["nodes"], r["warmup_seconds"], r["measured_seconds"]') == '(5, 5.0, 10.0)' ]]
	[[ $(json 'r["launch"]') == 'csrun_wse --total-nodes=5 --tasks-per-node=2 --cpus-per-task=20' ]]
	diff - <(json '"\n".join(" ".join(str(c.get(k)) for k in ("threads", "workers_per_node", "outcome", "per_worker", "per_node",
		"estimate", "cpu_percent", "memory_bytes", "memory_by", "read_bytes_per_second", "storage_wait_percent", "limit", "best"))
		for c in r["candidates"])') <<-'END'
		12 3 measured 20.0 60.0 300.0 90 1048576 pss 0 0 cpu False
		16 2 measured 26.0 52.0 260.0 10 1048576 rss 10485760 80 storage False
		20 2 measured 33.0 66.0 330.0 10 5368709120 pss 0 0 memory True
		41 0 left-out None None None None None None None None None False
	END
	[[ $(json 'r["candidates"][3]["why"]') == 'needs 41 CPUs, and a node has 40' ]]
}

@test "analyze: shared storage is named, with the throughput that all nodes would need" {
	srun_tells
	analyze "${TOLD[@]}" -- --threads=16 read_data
	prints 'Storage limits the best candidate, as far as measured: if the nodes share the storage, more nodes are not faster.'
	prints 'For the estimate, storage must deliver 100 MiB/s.'
	analyze "${TOLD[@]}" -- --threads=16 --nodes=1 read_data
	prints 'Measured on one node, alone.'
	prints 'Storage must deliver 20.0 MiB/s.'
	[[ $output != *estimate* ]]
}

@test "analyze: a failed candidate is reported with its exit status, and the others run" {
	srun_tells
	analyze "${TOLD[@]}" 'RESULT_20=ended=1 status=3' -- read_data
	[[ $status -eq 0 ]]
	prints '20       2   failed: exit status 3 of worker 0'
	prints 'csrun_wse --total-nodes=5 --tasks-per-node=3 --cpus-per-task=12'
	analyze "${TOLD[@]}" 'RESULT_20=ended=1 status=137' -- --report=json --threads=20,12 read_data
	[[ $status -eq 0 ]]
	[[ $(json '[(c["outcome"], c["exit_status"], c["why"]) for c in r["candidates"]][0]') == "('failed', 137, 'ended by signal 9 of worker 0')" ]]
	analyze 'RESULT_12=ended=1 status=3' 'RESULT_16=ended=1' 'RESULT_20=status=1' -- read_data
	[[ $status -eq 1 ]]
	says 'error: no candidate could be measured; the report says why'
	prints "16       2   failed: ended with status 0, and no lines on stdout"
}

@test "analyze: measurements that cannot be compared get a warning" {
	srun_tells
	analyze "${TOLD[@]}" 'RESULT_20=rate=1000000 unit=2' -- read_data
	[[ $status -eq 0 ]]
	says 'warning: the candidates were measured differently'
}

@test "analyze: if srun fails, the candidate fails" {
	tool srun <<<'echo "srun: error: Unable to allocate resources: Invalid qos specification" >&2; exit 1'
	one x
	[[ $status -eq 1 ]]
	prints "failed: srun failed: 'Unable to allocate resources: Invalid qos specification'"
}

# --- measurements of a probe ----------------------------------------------------------------------

# counted UNIT: the only candidate was measured in UNIT.
counted() {
	[[ $status -eq 0 && $(json '[(c["outcome"], c["unit"], c["per_node"] > 0) for c in r["candidates"]]') == "[('measured', '$1', True)]" ]]
}

@test "analyze: if the probes cannot be told to begin, the candidate fails at once" {
	tool srun <<-'END'
		exec <&-
		echo "distrun-probe ready rank=0 memory_total=10737418240 node=n1"
		exec sleep 50
	END
	SECONDS=0
	one --seconds=1 -- true
	[[ $status -eq 1 && $SECONDS -lt 40 ]]
	says 'srun is gone'
	says 'failed: srun failed'
}

@test "analyze: counts lines, bytes, or the N of a last line 'samples=N'" {
	one --report=json --seconds=30 printf 'a\nb\nc\n'
	counted lines
	[[ $(json 'r["candidates"][0]["node"]') == "$(uname -n)" ]]
	one --report=json --seconds=30 --unit=bytes printf 'abc'
	counted bytes
	one --report=json --seconds=30 printf 'step 1\nstep 2\nsamples=4000\n'
	counted samples
	one --report=json --seconds=30 --unit=samples printf 'samples=4000\nbye\n'
	counted samples
	[[ $(json 'r["candidates"][0]["counted_over_whole_run"]') == 1 ]]
}

@test "analyze: an endless pipeline is ended at the limit, with all processes that it started" {
	one --report=json --seconds=2 sh -c 'trap "" TERM; (trap "" TERM; sleep 600) & while :; do echo r; sleep 0.02; done'
	counted lines
	[[ $(json 'r["candidates"][0]["memory_bytes"] > 10000') == True ]]
}

@test "analyze: a pipeline that hangs is measured up to the limit" {
	one --seconds=2 sh -c 'echo a; echo b; sleep 600'
	[[ $status -eq 0 ]]
	one --seconds=2 --unit=samples bash -c 'trap "echo samples=77; exit" TERM; while :; do sleep 0.1; done'
	[[ $status -eq 0 ]]
	prints 'counted over the whole run, start included; it was ended at the time limit'
}

@test "analyze: a pipeline that prints nothing is an error that explains what is counted" {
	one --seconds=200ms sleep 600
	[[ $status -eq 1 ]]
	prints "failed: no lines on stdout; print a line for each record, or a last line 'samples=N', or use --unit=bytes"
	one --seconds=30 --unit=bytes true
	[[ $status -eq 1 ]]
	prints "failed: ended with status 0, and no bytes on stdout; print the records, or a last line 'samples=N'"
	one --seconds=200ms --unit=samples sh -c 'while :; do echo a; sleep 0.02; done'
	[[ $status -eq 1 ]]
	prints "failed: no line 'samples=N' on stdout; --unit=samples counts only such lines"
}

@test "analyze: the status and last output of a failed pipeline are shown; also if it cannot be started" {
	one --seconds=30 sh -c 'echo a; echo "no such file: train.tfrecord" >&2; exit 3'
	[[ $status -eq 1 ]]
	prints "failed: exit status 3: 'no such file: train.tfrecord'"
	one --seconds=30 sh -c 'echo a; kill -SEGV $$'
	prints 'failed: ended by signal 11'
	one --seconds=30 /nowhere/read_data
	prints 'failed: exit status 127 (not found)'
	one --seconds=30 /etc/passwd
	prints 'failed: exit status 126'
}

@test "analyze: CPU time of children that have ended counts" {
	one --report=json --seconds=30 sh -c 'echo a; sh -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i + 1)); done"; sh -c :'
	counted lines
	[[ $(json 'r["candidates"][0]["cpu_percent"] > 5') == True ]]
}

# --- signals --------------------------------------------------------------------------------------

# begin ARG...: start it in the background as $PID, and wait until its pipeline runs.
begin() {
	env -i PATH="$BIN:/usr/bin:/bin" MARK="$BATS_TEST_TMPDIR" RECORD="$RECORD" TMPDIR="$BATS_TEST_TMPDIR/tmp" \
		"$DISTRUN" analyze --runtime=none --distinit=none --threads=1,2 --workers-per-node=1 --seconds=300 \
		sh -c 'trap "" TERM; while :; do echo r; echo >../runs; sleep 0.02; done' >../out 2>../err 3>&- &
	PID=$!
	local until=$((SECONDS + 30))
	until [[ -e ../runs ]]; do
		((SECONDS < until)) || { cat ../err && return 1; }
		sleep 0.05
	done
}

@test "analyze: a signal ends the step, and it exits with 128+N" {
	begin
	kill -TERM "$PID"
	status=0
	wait "$PID" || status=$?
	cat ../err
	[[ $status -eq 143 && ! -s ../out ]]
	[[ $(wc -l <"$RECORD") -eq 1 ]]
	[[ $(tail -n 1 ../err) == 'distrun: error: ended by signal 15; nothing was left running' ]]
}

@test "analyze: when it is killed, its step ends by itself" {
	begin
	kill -KILL "$PID"
	status=0
	wait "$PID" || status=$?
	[[ $status -eq 137 ]]
	# teardown waits for it
}

@test "analyze: forged messages of a pipeline cause no crash" {
	local forged
	# Each begins like the result of the only worker, and arrives before the true result.
	for forged in unit=99999 'rate=18446744073709551615 unit=77' 'rate=9223372036854775808' "rate=1 status=4294967296"; do
		tool srun <<-END
			echo 'distrun-probe ready rank=0 cpus=4 memory_total=10737418240 node=n1'
			read -r order
			echo 'distrun-probe result rank=0 $forged span_ms=10 looks=1 node=n1'
			echo 'distrun-probe result rank=0 rate=5000 cpus=4 memory_total=10737418240 span_ms=10000 looks=10 node=n1'
			cat >/dev/null
		END
		one -- read_data
		[[ $status -eq 0 && $output == *'1       1          5.0'* ]]
	done
	srun_here
}

@test "analyze: the report has tenths of seconds" {
	srun_tells
	analyze "${TOLD[@]}" -- --threads=12 --seconds=1900ms --warmup=900ms read_data
	prints 'measured: lines for 1.9s, after 0.9s of warm-up'
}

@test "analyze: a probe whose client goes ends before its time, with what it started" {
	local out=$BATS_TEST_TMPDIR/out
	(echo go && echo go && sleep 3) | env -i PATH="$PATH" MARK="$BATS_TEST_TMPDIR" timeout 30 "$DISTRUN" probe --warmup=0 --seconds=1h -- \
		sh -c 'while :; do echo x; sleep 0.1; done' >"$out"
	[[ $(head -n 1 "$out") == 'distrun-probe ready '* && $(<"$out") != *result* ]]
	# The time of a tick counts from the start.
	[[ $(tail -n 1 "$out") =~ ' tick '.*' at_ms='([0-9]+)' ' ]]
	((BASH_REMATCH[1] < 30000))
}
