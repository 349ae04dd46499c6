#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun analyze (cs_input_analyzer) under a real Slurm of two nodes with 8 CPUs each. The pipelines sleep between their records: what they make does
# not depend on the machine. What is made of other measurements: tests/e2e/analyze.bats.
#
# shellcheck disable=SC2016 # what is quoted is for another shell

bats_require_minimum_version 1.5.0
load helpers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"

setup_file() {
	cluster_up --nodes=2
	if [[ -z $NO_CLUSTER ]]; then
		DISTRUN=$(realpath "$DISTRUN")
		ln -s "$DISTRUN" "$CLUSTER/cs_input_analyzer"
		# A pipeline that makes 20 records a second, or a little less, whatever it has; it fails with 4 CPUs if told so.
		cat >"$CLUSTER/read_data" <<-'END'
			#!/bin/sh
			if [ "$1" = fails ] && [ "$SLURM_CPUS_PER_TASK" = "$2" ]; then
				echo "cannot read train.tfrecord" >&2
				exit 3
			fi
			while :; do
				echo record
				sleep 0.05
			done
		END
		chmod +x "$CLUSTER/read_data"
	fi
}

teardown_file() {
	cluster_down
}

setup() {
	cluster_ready
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return
}

teardown() {
	local left
	left=$(ls -A "$BATS_TEST_TMPDIR/work")
	[[ -z $left ]] || fail "files are left: $left"
	no_step
	cluster_clean
}

# pipelines: those that run, by their numbers.
pipelines() {
	pgrep -f "^(/bin/sh $CLUSTER/|sh -c .*)read_data" || true
}

# no_step: no job of the analyzer's runs or waits any more, and no pipeline.
no_step() {
	local until=$((SECONDS + 30 * PATIENCE))
	[[ -z ${NO_CLUSTER-} ]] || return 0
	while [[ -n $(pipelines) || -n $(login squeue --noheader --name=distrun-analyze) ]]; do
		((SECONDS < until)) || fail "left: $(login squeue) $(pipelines)"
		sleep 0.1
	done
}

# analyze ARG...: its report in $output, what it says in $stderr.
analyze() {
	run --separate-stderr login "$CLUSTER/cs_input_analyzer" --runtime=none --distinit=none "$@"
	# shellcheck disable=SC2154 # run sets it
	output+=$'\n'$stderr
	printf '%s\n' "$output"
}

# report EXPRESSION: of the JSON report r, and its candidates c, by Python.
report() {
	"$PYTHON" -c 'import json, sys
r = json.JSONDecoder().raw_decode(sys.stdin.read())[0]
c = r["candidates"]
print(eval(sys.argv[1]))' "$1" <<<"$output"
}

@test "analyze: recommends what makes the most in all, with a row for each candidate and the line to paste" {
	analyze --seconds=1 --warmup=200ms -- "$CLUSTER/read_data"
	same "the exit status" 0 "$status"
	[[ $output =~ csrun_wse\ --total-nodes=2\ --tasks-per-node=4\ --cpus-per-task=2 ]]
	same "the rows left out" 3 "$(grep -c 'left out: needs .* CPUs, and a node has 8$' <<<"${output%%cs_input_analyzer:*}")"
	same "the best row" '> 2 4' "$(awk '/^>/ { print $1, $2, $3 }' <<<"$output")"
	same "the bars" 3 "$(grep -c '^ *[842] x [124]  #' <<<"$output")"
	[[ $output == *"2 nodes are an estimate: one node was measured alone, and linear scaling is assumed."* ]]
	[[ $output == *"on n"[12]", "* ]]
}

@test "analyze: the JSON report's numbers belong together" {
	analyze --seconds=1 --warmup=200ms --threads=8,2,12 --available-nodes=1 --report json -- "$CLUSTER/read_data"
	same "the exit status" 0 "$status"
	same "the candidates" "[(8, 1, 'measured', False), (2, 4, 'measured', True), (12, 0, 'left-out', False)]" \
		"$(report '[(i["threads"], i["workers_per_node"], i["outcome"], i["best"]) for i in c]')"
	same "rates" True "$(report 'all(0 < i["per_worker"] <= 25 and abs(i["per_worker"] * i["workers_per_node"] - i["per_node"]) < 0.01
		and i["estimate"] == i["per_node"] for i in c[:2])')"
	same "usage" True "$(report 'all(i["memory_bytes"] > 50000 and i["cpu_percent"] < 90 and i["limit"] is None for i in c[:2])')"
	same "the line" "csrun_wse --total-nodes=1 --tasks-per-node=4 --cpus-per-task=2" "$(report 'r["launch"]')"
}

@test "analyze: a candidate that fails says so with its status, and the others go on; all fail: 1" {
	analyze --seconds=300ms --warmup=0 --threads=8,4 -- "$CLUSTER/read_data" fails 4
	same "the exit status" 0 "$status"
	[[ $output =~ 4\ +2\ +failed:\ exit\ status\ 3\ of\ worker\ [01]:\ \'cannot\ read\ train.tfrecord\' ]]
	same "the best row" '> 8 1' "$(awk '/^>/ { print $1, $2, $3 }' <<<"$output")"

	analyze --threads=4 -- "$CLUSTER/read_data" fails 4
	same "the exit status" 1 "$status"
	[[ $output == *"error: no candidate could be measured; the report says why"* ]]
	analyze --threads=12 -- "$CLUSTER/read_data"
	same "the exit status" 1 "$status"
	[[ $output == *"left out: needs 12 CPUs, and a node has 8"* ]]
}

@test "analyze: a pipeline that hangs is ended, one that prints nothing is an error, one that is not there fails" {
	analyze --seconds=1 --warmup=0 --threads=4 -- sh -c 'trap "" TERM; echo record; while :; do sleep 0.1; done' read_data
	same "the exit status" 0 "$status"
	analyze --seconds=200ms --warmup=0 --threads=4 -- sh -c 'while :; do sleep 0.1; done' read_data
	same "the exit status" 1 "$status"
	[[ $output == *"failed: no lines on stdout; print a line for each record, or a last line 'samples=N', or use --unit=bytes"* ]]
	analyze --threads=4 -- /nowhere/read_data
	same "the exit status" 1 "$status"
	[[ $output == *"failed: exit status 127 (not found) of worker "[01]* ]]
	analyze --threads=4 --srun-args=--partition=nobodys -- "$CLUSTER/read_data"
	same "the exit status" 1 "$status"
	[[ $output == *"failed: srun failed: '"* ]]
}

# begun ARG...: it runs in the background as $PID, and Slurm runs its step.
begun() {
	"$PROGRAMS/slurm-cluster" on "$CLUSTER" login "$CLUSTER/cs_input_analyzer" --runtime=none --distinit=none --seconds=100 "$@" \
		-- "$CLUSTER/read_data" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	PID=$!
	local until=$((SECONDS + 30 * PATIENCE))
	until [[ -n $(pipelines) ]]; do
		((SECONDS < until)) || fail "no pipeline: $(cat "$BATS_TEST_TMPDIR/out")"
		sleep 0.1
	done
}

@test "analyze: Ctrl-C ends the step; so does the end of the analyzer, however it ends" {
	begun --threads=2,4
	kill -INT "$PID"
	status=0
	wait "$PID" || status=$?
	output=$(<"$BATS_TEST_TMPDIR/out")
	same "the exit status" 130 "$status"
	[[ $output == *"error: ended by signal 2; nothing was left running" ]]
	no_step

	begun --threads=2
	kill -KILL "$PID"
	wait "$PID" || true
	no_step
}

@test "analyze: in a batch job its steps are the job's; a job that has ended is refused" {
	run batch --nodes=2 --exclusive <<-END
		cd "$BATS_TEST_TMPDIR/work" && "$CLUSTER/cs_input_analyzer" --runtime=none --distinit=none --seconds=2 --warmup=0 \\
			--threads=4,2 "$CLUSTER/read_data"
	END
	same "the exit status" 0 "$status"
	[[ $output == *"csrun_wse --total-nodes=2 --tasks-per-node=4 --cpus-per-task=2"* ]]
	run -125 login env SLURM_JOB_ID=99999 "$CLUSTER/cs_input_analyzer" --runtime=none --distinit=none -- true
	[[ $output == *"error: SLURM_JOB_ID='99999' is not a running job"* ]]
}
