#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Under a real Slurm of three nodes.
#
# shellcheck disable=SC2154 # told and ranks: by read_told() of helpers.bash
# shellcheck disable=SC2016 # what is quoted is for another shell

load helpers

setup_file() {
	cluster_up
}

teardown_file() {
	cluster_down
}

setup() {
	cluster_ready
}

teardown() {
	cluster_clean
}

# in_order HOST...: a step whose ranks are all known to each other, TF_CONFIG included.
in_order() {
	agree $#
	hosts_are "$@"
	master_is_rank_0
	tf_config_is_right
}

# is_allocation: the rendezvous is known, and this process is no rank.
is_allocation() {
	local name
	for name in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE TF_CONFIG \
		PET_NNODES PET_NODE_RANK PET_MASTER_ADDR PET_MASTER_PORT PET_NPROC_PER_NODE; do
		all_have "$name" -
	done
	all_have MASTER_ADDR n1
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
}

# --- allocations ------------------------------------------------------------------------------------

@test "slurm: a batch script is an allocation and no rank" {
	run batch --nodes=3 --ntasks-per-node=2 <<-END
		${TELL[*]} SLURM_PROCID SLURM_STEP_ID SLURM_JOB_ID
		$DISTINIT explain --format=json >explain.json
		$DISTINIT hosts >hosts
	END
	same "the exit status" 0 "$status"
	unlabelled
	# What would mislead: the script has a rank and no step (from Slurm 26.05 on, -5).
	all_have SLURM_PROCID 0
	all_match SLURM_STEP_ID '-|-5'
	all_have host n1
	is_allocation
	same "hosts" "n1 n2 n3" "$(xargs <"$BATS_TEST_TMPDIR/hosts")"
	run "$PYTHON" -c 'import json, sys
e = json.load(open(sys.argv[1]))
c = e["cluster"]
print(e["source"], e["launcher"], e["scope"], *c["hosts"], c["node_rank"], c["tasks_per_node"], c["rank"])' \
		"$BATS_TEST_TMPDIR/explain.json"
	same "what explain says" "slurm None allocation n1 n2 n3 0 [2, 2, 2] None" "$output"
}

@test "slurm: a step without the first node has its own master, also after distinit in the batch script" {
	run batch --nodes=3 <<-END
		eval "\$($DISTINIT env)"
		export MASTER_ADDR MASTER_PORT DISTINIT_DERIVED
		srun --label --nodes=2 --ntasks=2 --nodelist=n[2-3] ${TELL[*]}
	END
	same "the exit status" 0 "$status"
	read_told
	in_order n2 n3
	all_have MASTER_ADDR n2
	run batch --nodes=3 <<-END
		$DISTINIT -- srun --label --nodes=2 --ntasks=2 --nodelist=n[2-3] ${TELL[*]}
	END
	same "the exit status" 0 "$status"
	read_told
	in_order n2 n3
}

@test "slurm: a shell of salloc is an allocation, on a machine that is not of the job" {
	run login salloc --quiet --nodes=2 --ntasks=4 "${TELL[@]}" SLURM_PROCID SLURM_JOB_ID
	unlabelled
	all_have host login
	all_have SLURM_PROCID -
	is_allocation
}

@test "slurm: a shell of salloc for a heterogeneous job knows the nodes of all groups" {
	run login salloc --quiet --nodes=1 --ntasks=1 : --nodes=2 --ntasks=3 \
		sh -c '"$@" && $1 hosts --count' - "${TELL[@]}" SLURM_JOB_NODELIST SLURM_JOB_ID
	same "what 'distinit hosts --count' says" 3 "${lines[1]-}"
	unlabelled
	all_have SLURM_JOB_NODELIST -
	is_allocation
}

@test "slurm: an interactive step is an allocation, though it has a rank and a step" {
	run login salloc --quiet --nodes=2 --ntasks=4 <<<"${TELL[*]} SLURM_PROCID SLURM_STEP_ID SLURM_STEP_NUM_TASKS SLURM_JOB_ID"
	unlabelled
	all_have host n1
	all_match SLURM_STEP_ID '4294967290|-6'
	all_have SLURM_PROCID 0
	all_have SLURM_STEP_NUM_TASKS 1
	is_allocation
}

@test "slurm: explain --all-nodes in a batch script has what each node of the job's step gets" {
	cat >"$BATS_TEST_TMPDIR/compare.py" <<-'END'
		import json, sys

		rows = [line.split(None, 1) for line in open("all", encoding="utf-8").read().splitlines()]
		assert rows.pop(0) == ["nodes", "3: n[1-3]"], "the first line"
		same = dict(rest.split("=", 1) for word, rest in rows if word == "all")
		for node in range(3):
		    own = {}
		    for word, rest in rows:
		        if word == str(node):
		            host, _, text = rest.partition(" ")
		            assert host == f"n{node + 1}", rest
		            own |= [text.strip().split("=", 1)]
		    gets = dict(line.rstrip("\n").split("=", 1) for line in open(f"env.{node}", encoding="utf-8"))
		    # A task of srun is a rank, too.
		    ranks = {name: gets.pop(name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")}
		    assert ranks["RANK"] == str(node), ranks
		    assert same | own == gets, (node, same | own, gets)
		    assert {"PET_NODE_RANK", "TF_CONFIG"} == own.keys(), own
		print("the same")
	END
	run batch --nodes=3 --ntasks-per-node=1 <<-END
		$DISTINIT explain --all-nodes >all
		srun sh -c '$DISTINIT env --format=docker >env.\$SLURM_NODEID'
		$PYTHON compare.py
	END
	same "the exit status" 0 "$status"
	same "what is compared" "the same" "$output"
	# In a shell of salloc, on a machine that is not of the job.
	run login salloc --quiet --nodes=3 --ntasks-per-node=1 "$DISTINIT" explain --all-nodes --frameworks=torchrun
	same "the exit status" 0 "$status"
	same "the nodes' numbers" "0 n1 0 1 n2 1 2 n3 2" "$(sed -nE 's/^([0-9]) (n[0-9]) +PET_NODE_RANK=/\1 \2 /p' <<<"$output" | xargs)"
}

# --- examples ---------------------------------------------------------------------------------------

# requeue WORDS...: the example, in which distinit runs these words. What it prints is in the file "out".
requeue() {
	sed -e "s|distinit --together=workers --wait=10m --map-exit=told:143 -- torchrun /app/train.py|$DISTINIT $*|" \
		"$BATS_TEST_DIRNAME/../../examples/slurm/requeue.sbatch" >"$BATS_TEST_TMPDIR/requeue"
	grep -q "$DISTINIT" "$BATS_TEST_TMPDIR/requeue"
	login sbatch --parsable --chdir="$BATS_TEST_TMPDIR" --output="$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/requeue"
}

# eventually COMMAND...: poll.
eventually() {
	local until=$((SECONDS + LIMIT))
	until "$@"; do
		((SECONDS < until)) || fail "never: $*"
		sleep 0.2
	done
}

# shows JOB TEXT: what Slurm says of it has that.
shows() {
	[[ $(login scontrol show job "$1") == *"$2"* ]]
}

@test "slurm: requeue.sbatch: a master that does not come in time queues the job again" {
	local job
	job=$(requeue --init --wait=1s --master-port=9 -- true)
	eventually grep -qs 'queued again after exit status 124' "$BATS_TEST_TMPDIR/out"
	eventually shows "$job" Restarts=1
	shows "$job" 'JobState=PENDING'
	login scancel "$job"
}

@test "slurm: requeue.sbatch: the failure of another node's program queues the job again, or counts as what it is" {
	local job script="'if [ \$SLURM_PROCID = 0 ]; then exec sleep 60; fi; exit 7'"
	job=$(requeue --together --wait=20s -- sh -c "$script")
	eventually grep -qs 'queued again after exit status 123' "$BATS_TEST_TMPDIR/out"
	grep -E 'distinit: error: ended because n2 \(rank 1\) failed first: exit status 7, [0-9.]+s ago' "$BATS_TEST_TMPDIR/out"
	eventually shows "$job" Restarts=1
	login scancel "$job"
	job=$(requeue --together --map-exit=123:0 --wait=20s -- sh -c "$script")
	eventually shows "$job" ExitCode=7:0
	shows "$job" Restarts=0
}

@test "slurm: requeue.sbatch: who is preempted, saves and ends with 0, is queued again" {
	local job save="'trap \"sleep 0.3; exit 0\" TERM; touch run.\$SLURM_PROCID; while :; do sleep 0.1; done'"
	job=$(requeue --together=workers --map-exit=told:143 --wait=20s -- sh -c "$save")
	eventually test -e "$BATS_TEST_TMPDIR/run.0" -a -e "$BATS_TEST_TMPDIR/run.1"
	# What Slurm sends at the beginning of a partition's GraceTime.
	login scancel --signal=TERM "$job"
	eventually grep -qs 'queued again after exit status 143' "$BATS_TEST_TMPDIR/out"
	eventually shows "$job" Restarts=1
	login scancel "$job"
}

@test "slurm: requeue.sbatch: what fails by itself, or by a mistake, is not queued again" {
	local job
	job=$(requeue --init -- sh -c '"exit 7"')
	eventually shows "$job" ExitCode=7:0
	shows "$job" Restarts=0
	shows "$job" JobState=FAILED
	[[ $(<"$BATS_TEST_TMPDIR/out") == *'distinit: warning: sh ended after '*': exit status 7'* ]]
	job=$(requeue --init --grace=x -- true)
	eventually shows "$job" ExitCode=125:0
	shows "$job" Restarts=0
}

@test "slurm: requeue.sbatch: once all starts in place are used up, the job is queued again" {
	local job
	job=$(requeue --together --max-restarts=1 --wait=20s -- sh -c "'echo start \$SLURM_PROCID \$DISTINIT_RESTART_COUNT; if [ \$SLURM_PROCID = 0 ]; then exec sleep 60; fi; sleep 0.3; exit 7'")
	eventually grep -qs 'queued again after exit status 123' "$BATS_TEST_TMPDIR/out"
	same "the starts" "start 0 0|start 0 1|start 1 0|start 1 1" "$(grep '^start' "$BATS_TEST_TMPDIR/out" | sort | paste -sd '|')"
	grep -F 'n2 (rank 1) failed first: exit status 7; not starting again: 1 of 1 restarts used' "$BATS_TEST_TMPDIR/out"
	eventually shows "$job" Restarts=1
	login scancel "$job"
}

# --- starting again in place ------------------------------------------------------------------------

# again [OPTION OF SBATCH]...: three nodes whose programs say that they start, and go on until TERM; n2's fails once "fail" is there.
# Prints the job.
again() {
	cat >"$BATS_TEST_TMPDIR/program" <<-'END'
		#!/bin/sh
		echo "start $DISTINIT_RESTART_COUNT on $SLURMD_NODENAME, restarted by Slurm: ${SLURM_RESTART_COUNT:-0}"
		trap 'echo "TERM on $SLURMD_NODENAME"; exit 143' TERM
		while :; do
			[ "$DISTINIT_RESTART_COUNT.$SLURM_PROCID" != 0.1 ] || [ ! -e fail ] || exit 7
			sleep 0.1
		done
	END
	chmod 755 "$BATS_TEST_TMPDIR/program"
	cat >"$BATS_TEST_TMPDIR/script" <<-END
		#!/bin/sh
		srun $DISTINIT --together --max-restarts=3 --wait=30s -- ./program
		echo "srun's status: \$?"
	END
	login sbatch --parsable --chdir="$BATS_TEST_TMPDIR" --output="$BATS_TEST_TMPDIR/out" --open-mode=append --nodes=3 --ntasks-per-node=1 "$@" "$BATS_TEST_TMPDIR/script"
}

# node_is_back NAME: it takes jobs. One that answers comes back by itself, unless somebody has drained it.
node_is_back() {
	login scontrol update nodename="$1" state=resume 2>/dev/null || true
	[[ $(login sinfo --noheader --nodes="$1" --format=%T) == idle ]]
}

# is_started_again JOB: it is to start now, also if Slurm has put that off once more as the last processes went.
is_started_again() {
	login scontrol update jobid="$1" starttime=now 2>/dev/null || true
	starts 3 'start 0 on n., restarted by Slurm: 1'
}

# starts N TEXT: so many lines of "out" have TEXT.
starts() {
	[[ $(grep -c "$2" "$BATS_TEST_TMPDIR/out" 2>/dev/null) -eq $1 ]]
}

@test "slurm: --max-restarts: all start again in the same step, also on a node that is drained; scancel ends them for good" {
	local job
	job=$(again)
	eventually starts 3 'start 0 on n'
	login scontrol update nodename=n3 state=drain reason=test
	touch "$BATS_TEST_TMPDIR/fail"
	eventually starts 3 'start 1 on n'
	starts 3 'n2 (rank 1) failed first: exit status 7; starting again (1 of 3)' || fail "$(<"$BATS_TEST_TMPDIR/out")"
	same "the step" "$job.0" "$(login squeue --noheader --steps --jobs="$job" --format=%i | grep -v '[a-z]')"
	login scancel "$job"
	eventually shows "$job" JobState=CANCELLED
	eventually node_is_back n3
	# Slurm signals one process after the other: a program may end by TERM, and "starting again" be said, before its distinit has it.
	starts 0 'start 2' || fail "$(<"$BATS_TEST_TMPDIR/out")"
	eventually eval '[[ -z $(remains | grep "max-restarts") ]]'
}

@test "slurm: --max-restarts: a node is lost: Slurm ends the job and queues it again, and nothing starts in between" {
	local job
	job=$(again --requeue)
	eventually starts 3 'start 0 on n'
	touch "$BATS_TEST_TMPDIR/fail"
	eventually starts 3 'start 1 on n'
	login scontrol update nodename=n3 state=down reason=test
	eventually shows "$job" Restarts=1
	eventually eval '[[ -z $(remains | grep "max-restarts") ]]'
	starts 0 'start 2' || fail "$(<"$BATS_TEST_TMPDIR/out")"
	eventually node_is_back n3
	rm "$BATS_TEST_TMPDIR/fail"
	# Slurm puts the new start off by two minutes, as a node refuses a job's credential that is of the second of its last end.
	sleep 2
	# Its count begins anew.
	eventually is_started_again "$job"
	login scancel "$job"
}

# --- steps ------------------------------------------------------------------------------------------

@test "slurm: a step of 3 nodes with 2 tasks each" {
	launch login srun --label --nodes=3 --ntasks-per-node=2 "${TELL[@]}" SLURM_JOB_ID SLURM_STEP_ID SLURMD_NODENAME SLURM_PROCID
	in_order n1 n1 n2 n2 n3 n3
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" "${told[0.SLURM_STEP_ID]}")"
	all_have PET_NNODES -
	# Slurm's own word, beside the label and the host's name.
	for ((i = 0; i < 6; i++)); do
		same "SLURM_PROCID of $i" "$i" "${told[$i.SLURM_PROCID]}"
		same "SLURMD_NODENAME of $i" "${told[$i.host]}" "${told[$i.SLURMD_NODENAME]}"
	done
}

@test "slurm: a step of one task per node is one for torchrun too" {
	launch login srun --label --nodes=3 --ntasks-per-node=1 "${TELL[@]}"
	in_order n1 n2 n3
	all_have PET_NNODES 3
	all_have PET_MASTER_ADDR n1
	all_have PET_MASTER_PORT "${told[0.MASTER_PORT]}"
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
}

@test "slurm: a step over a part of the job's nodes" {
	launch batch --nodes=3 --ntasks-per-node=2 <<<"srun --label --nodes=2 --ntasks=4 --nodelist=n[2-3] ${TELL[*]}"
	in_order n2 n2 n3 n3
}

@test "slurm: a step with uneven nodes" {
	launch login srun --label --nodes=3 --ntasks=5 --distribution=block "${TELL[@]}"
	agree 5
	master_is_rank_0
	tf_config_is_right
	launch login srun --label --nodes=3 --ntasks=5 "${TELL[@]}"
	agree 5
	master_is_rank_0
	tf_config_is_right
}

@test "slurm: a cyclic step" {
	launch login srun --label --nodes=3 --ntasks-per-node=2 --distribution=cyclic "${TELL[@]}"
	in_order n1 n2 n3 n1 n2 n3
	launch login srun --label --nodes=3 --ntasks=5 --distribution=cyclic:block "${TELL[@]}"
	agree 5
	master_is_rank_0
	tf_config_is_right
	same "the host of rank 1" n2 "${told[1.host]}"
}

@test "slurm: a plane step has no TF_CONFIG, as the order of its ranks is not told" {
	launch login srun --label --nodes=2 --ntasks-per-node=4 --distribution=plane=2 "${TELL[@]}"
	agree 8
	hosts_are n1 n1 n2 n2 n1 n1 n2 n2
	master_is_rank_0
	all_have TF_CONFIG -
}

@test "slurm: an arbitrary step has its rendezvous where rank 0 is, not on the first node" {
	printf '%s\n' n2 n1 n2 >"$BATS_TEST_TMPDIR/hosts"
	launch login env SLURM_HOSTFILE="$BATS_TEST_TMPDIR/hosts" srun --label --ntasks=3 --distribution=arbitrary "${TELL[@]}"
	agree 3
	hosts_are n2 n1 n2
	master_is_rank_0
	all_have TF_CONFIG -

	printf '%s\n' n3 n1 n2 n1 >"$BATS_TEST_TMPDIR/hosts"
	launch login env SLURM_HOSTFILE="$BATS_TEST_TMPDIR/hosts" srun --label --ntasks=4 --distribution=arbitrary "${TELL[@]}"
	agree 4
	hosts_are n3 n1 n2 n1
	master_is_rank_0
}

@test "slurm: an arbitrary step whose host file is gone is refused where rank 0 cannot be known" {
	printf '%s\n' n3 n1 n2 >"$BATS_TEST_TMPDIR/hosts"
	run login env SLURM_HOSTFILE="$BATS_TEST_TMPDIR/hosts" srun --label --ntasks=3 --distribution=arbitrary \
		env SLURM_HOSTFILE=/nowhere "${TELL[@]}"
	same "the exit status" 125 "$status"
	[[ $output == *"distinit: error: SLURM_DISTRIBUTION=arbitrary"* ]] || fail "it does not say why"
}

@test "slurm: srun --mpi=pmi2" {
	[[ $(login srun --mpi=list 2>&1) == *pmi2* ]] || skip "this Slurm has no plugin mpi/pmi2"
	launch login srun --label --mpi=pmi2 --nodes=2 --ntasks-per-node=2 "${TELL[@]}" PMI_RANK
	in_order n1 n1 n2 n2
	same "PMI_RANK of 3" 3 "${told[3.PMI_RANK]}"
}

@test "slurm: srun --mpi=pmi2 with cyclic, uneven and single steps" {
	[[ $(login srun --mpi=list 2>&1) == *pmi2* ]] || skip "this Slurm has no plugin mpi/pmi2"
	launch login srun --label --mpi=pmi2 --nodes=3 --ntasks-per-node=2 --distribution=cyclic "${TELL[@]}" PMI_RANK
	in_order n1 n2 n3 n1 n2 n3
	for ((i = 0; i < 6; i++)); do
		same "PMI_RANK of $i" "$i" "${told[$i.PMI_RANK]}"
	done

	launch login srun --label --mpi=pmi2 --nodes=2 --ntasks=3 --distribution=block "${TELL[@]}" PMI_SIZE
	agree 3
	master_is_rank_0
	tf_config_is_right
	all_have PMI_SIZE 3

	# One task has nobody to meet, though PMI counts it.
	launch login srun --label --mpi=pmi2 --ntasks=1 "${TELL[@]}" PMI_SIZE
	all_have PMI_SIZE 1
	all_have RANK -
}

@test "slurm: srun --mpi=pmix" {
	[[ $(login srun --mpi=list 2>&1) == *pmix* ]] || skip "this Slurm has no plugin mpi/pmix"
	[[ $(login srun --version) != *' 22.'* ]] || skip "this release's plugin mpi/pmix finds no library"
	launch login srun --label --mpi=pmix --nodes=2 --ntasks-per-node=2 "${TELL[@]}" PMIX_RANK
	in_order n1 n1 n2 n2
	same "PMIX_RANK of 3" 3 "${told[3.PMIX_RANK]}"
}

@test "slurm: srun --overlap in the interactive step of salloc, and a part of the job with --exact" {
	launch login salloc --quiet --nodes=2 --ntasks-per-node=2 <<<"srun --label --overlap --nodes=2 --ntasks=4 --distribution=block ${TELL[*]}"
	agree 4
	master_is_rank_0
	launch login salloc --quiet --nodes=2 --ntasks-per-node=2 <<<"srun --label --overlap --exact --nodes=1 --ntasks=2 --relative=1 ${TELL[*]}"
	in_order n2 n2
}

@test "slurm: srun --container, by runc" {
	[[ -z $(missing runc busybox) ]] || skip "$(missing runc busybox)"
	[[ $(login srun --version) != *' 22.'* ]] || skip "this release's slurmstepd ends without a word"
	local bundle=$BATS_TEST_TMPDIR/bundle runc="runc --root=$BATS_TEST_TMPDIR/runc" id=%n.%u.%j.%s.%t
	"$PROGRAMS/runc-bundle" make "$bundle" "$DISTINIT"
	cp "$PROGRAMS/tell" "$bundle/rootfs/"
	# The host's name is the node's.
	(cd "$bundle" && runc spec && "$PYTHON" -c 'import json
c = json.load(open("config.json"))
del c["hostname"]
c["process"]["terminal"] = False
c["linux"]["namespaces"] = [n for n in c["linux"]["namespaces"] if n["type"] not in ("uts", "network", "cgroup")]
c["linux"].pop("resources", None)
c["mounts"] = [m for m in c["mounts"] if m["type"] not in ("cgroup", "mqueue")]
json.dump(c, open("config.json", "w"))')
	printf '%s\n' 'EnvExclude="^(SLURM_CONF|SLURM_CONF_SERVER)="' "RunTimeQuery=\"$runc state $id\"" "RunTimeKill=\"$runc kill -a $id\"" \
		"RunTimeDelete=\"$runc delete --force $id\"" "RunTimeRun=\"$runc run $id -b %b\"" >"$CLUSTER/etc/oci.conf"
	launch login srun --label --container="$bundle" --nodes=2 --ntasks-per-node=2 /distinit -- /tell
	rm "$CLUSTER/etc/oci.conf"
	agree 4
	hosts_are n1 n1 n2 n2
	master_is_rank_0
}

# --- heterogeneous steps ----------------------------------------------------------------------------

@test "slurm: a step over both groups of a heterogeneous job" {
	launch login salloc --quiet --nodes=1 --ntasks=1 : --nodes=2 --ntasks=4 --ntasks-per-node=2 \
		srun --label --het-group=0,1 --distribution=block "${TELL[@]}"
	agree 5
	hosts_are n1 n2 n2 n3 n3
	master_is_rank_0
	tf_config_is_right_or_absent
}

@test "slurm: groups dealt in different ways: TF_CONFIG is right, or left out by all" {
	# srun tells all tasks the distribution of one group, and not always of the same one.
	launch login salloc --quiet --nodes=2 --ntasks=4 --ntasks-per-node=2 : --nodes=1 --ntasks=1 \
		srun --label --het-group=0 --distribution=cyclic "${TELL[@]}" : --het-group=1 --distribution=block "${TELL[@]}"
	agree 5
	hosts_are n1 n2 n1 n2 n3
	master_is_rank_0
	tf_config_is_right_or_absent
}

@test "slurm: a cyclic step over both groups of a heterogeneous job" {
	launch login salloc --quiet --nodes=1 --ntasks=2 : --nodes=2 --ntasks=4 --ntasks-per-node=2 \
		srun --label --het-group=0,1 --distribution=cyclic "${TELL[@]}"
	agree 6
	hosts_are n1 n1 n2 n3 n2 n3
	master_is_rank_0
	tf_config_is_right_or_absent
}

@test "slurm: a step on the second group of a heterogeneous job" {
	launch login salloc --quiet --nodes=1 --ntasks=1 : --nodes=2 --ntasks=4 --ntasks-per-node=2 \
		srun --label --het-group=1 "${TELL[@]}"
	in_order n2 n2 n3 n3
}

@test "slurm: a heterogeneous step in a plain job: the order of its nodes is not told" {
	launch batch --nodes=3 --ntasks-per-node=2 <<<"srun --label --nodelist=n3 --nodes=1 --ntasks=1 ${TELL[*]} SLURM_NODEID : \
		--nodelist=n1,n2 --nodes=2 --ntasks=4 ${TELL[*]} SLURM_NODEID"
	agree 5
	hosts_are n3 n1 n1 n2 n2
	all_have MASTER_ADDR -
	all_have TF_CONFIG -
	[[ $output == *"0: distinit: warning: SLURM_NODEID=0 on 'n3' does not fit"* ]] || fail "rank 0 does not say why"

	# With one task on each node, and a master that is told, torchrun has what it needs.
	launch batch --nodes=3 <<<"export MASTER_ADDR=n3
		srun --label --nodelist=n3 --nodes=1 --ntasks=1 ${TELL[*]} : --nodelist=n1,n2 --nodes=2 --ntasks=2 ${TELL[*]}"
	agree 3
	hosts_are n3 n1 n2
	master_is_rank_0
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
}

# --- jobs -------------------------------------------------------------------------------------------

@test "slurm: what torchrun and mpirun have left of another job is not believed, what they set in this one is" {
	local torchrun="TORCHELASTIC_RUN_ID=none RANK=0 WORLD_SIZE=16 LOCAL_RANK=0 LOCAL_WORLD_SIZE=8 MASTER_ADDR=old7 MASTER_PORT=29400"
	local mpirun="OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=16 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=8 PMIX_HOSTNAME=old7"
	local travelled
	# From the submitter's environment; also below a shell in the task.
	for travelled in "$torchrun" "$mpirun"; do
		# shellcheck disable=SC2086 # words
		launch login env $travelled srun --label --nodes=2 --ntasks=2 sh -c "${TELL[*]} TORCHELASTIC_RUN_ID; :"
		in_order n1 n2
		all_have TORCHELASTIC_RUN_ID -
		[[ $output == *"0: distinit: warning: "*"old7"*"left over from another job"* ]] || fail "it does not say so"
	done
	# The other job had a host of this one: then its sizes show it.
	# shellcheck disable=SC2086 # words
	launch login env ${torchrun//old7/n1} WORLD_SIZE=8 srun --label --nodes=2 --ntasks=2 "${TELL[@]}" TORCHELASTIC_RUN_ID
	in_order n1 n2
	all_have TORCHELASTIC_RUN_ID -
	[[ $output == *"0: distinit: warning: "*"do not fit SLURM_STEP_NUM_NODES=2"* ]] || fail "it does not say so"
	launch batch --nodes=2 <<<"srun --label --ntasks=2 sh -c 'env ${torchrun//old7/n1} WORLD_SIZE=8 ${TELL[*]}; :'"
	all_have WORLD_SIZE 8
	[[ $output != *warning* ]] || fail "it warns"
	# Set in the task itself, as a torchrun there does: an alias, such as one of another network.
	launch batch --nodes=2 <<<"srun --label --ntasks=2 sh -c 'env $torchrun ${TELL[*]}; :'"
	all_have MASTER_ADDR old7
	all_have WORLD_SIZE 16
	[[ $output != *warning* ]] || fail "it warns"
}

@test "slurm: distinit in the batch script and again in the step" {
	launch batch --nodes=3 --ntasks-per-node=1 <<<"$DISTINIT -- srun --label ${TELL[*]} SLURM_JOB_ID"
	in_order n1 n2 n3
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
}

# inner_job COMMAND [OPTION]...: run it once, in task 3 of a step of four on two nodes.
inner_job() {
	login srun --nodes=2 --ntasks=4 --ntasks-per-node=2 --cpus-per-task=1 --mem=0 --overlap "${@:2}" \
		sh -c "[ \$SLURM_PROCID != 3 ] || { $1; }"
}

@test "slurm: sbatch inside a step: the script is an allocation, though it has the outer step's variables" {
	local at=$BATS_TEST_TMPDIR/inner shape
	for shape in "--nodes=2 --ntasks-per-node=2" "--nodes=1 --ntasks=3" "--nodes=2 --ntasks=3"; do
		rm -f "$at"
		run inner_job "sbatch --quiet --wait $shape --output=$at \
			--wrap '${TELL[*]} SLURM_JOB_ID SLURM_STEP_ID SLURM_STEP_NODELIST SLURM_PROCID' >/dev/null"
		same "the exit status" 0 "$status"
		output=$(cat "$at")
		unlabelled
		# What would mislead. (Slurm 26.05 sets the script's own.)
		all_match SLURM_STEP_ID '0|-5'
		all_have SLURM_PROCID 0
		[[ $shape == --nodes=1* ]] || all_have SLURM_STEP_NODELIST "n[1-2]"
		all_have RANK -
		all_have PET_NNODES -
		all_have TF_CONFIG -
		[[ ${told[0.MASTER_ADDR]} == "${told[0.host]}" ]] || fail "MASTER_ADDR is another host's"
		all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
	done
}

@test "slurm: sbatch inside a step of srun --mpi=pmi2: PMI's rank has leaked too" {
	[[ $(login srun --mpi=list 2>&1) == *pmi2* ]] || skip "this Slurm has no plugin mpi/pmi2"
	local at=$BATS_TEST_TMPDIR/inner
	run inner_job "sbatch --quiet --wait --nodes=2 --ntasks=3 --output=$at \
		--wrap '${TELL[*]} PMI_RANK PMI_SIZE SLURM_JOB_ID' >/dev/null" --mpi=pmi2
	same "the exit status" 0 "$status"
	output=$(cat "$at")
	unlabelled
	all_have PMI_RANK 3
	all_have PMI_SIZE 4
	is_allocation
}

@test "slurm: sbatch inside a step: a step of the new job is one, with its own ranks" {
	local at=$BATS_TEST_TMPDIR/inner
	run inner_job "sbatch --quiet --wait --nodes=2 --ntasks-per-node=2 --output=$at --wrap 'srun --label ${TELL[*]}' >/dev/null"
	same "the exit status" 0 "$status"
	output=$(cat "$at")
	read_told
	agree 4
	master_is_rank_0
	tf_config_is_right
}

@test "slurm: salloc inside a step: the shell is an allocation of its own nodes" {
	run inner_job "salloc --quiet --nodes=3 --ntasks=3 ${TELL[*]} SLURM_JOB_ID SLURM_STEP_NODELIST SLURM_PROCID"
	same "the exit status" 0 "$status"
	unlabelled
	all_have SLURM_STEP_NODELIST "n[1-2]"
	all_have SLURM_PROCID 3
	is_allocation
}

@test "slurm: --scope=node, where one of us is started on each node without srun" {
	run login salloc --quiet --nodes=3 --ntasks-per-node=1 sh -c '
		for i in 1 2 3; do
			SLURMD_NODENAME=n$i "$@" | sed "s/^/$((i - 1)): /"
		done' - "$DISTINIT" --scope=node "${TELL[@]:1}"
	read_told
	same "the number of those who tell" 3 "$ranks"
	all_have MASTER_ADDR n1
	all_have RANK -
	for ((i = 0; i < 3; i++)); do
		same "PET_NODE_RANK of $i" "$i" "${told[$i.PET_NODE_RANK]}"
	done
}

@test "slurm: two steps at once in one job have ports of their own" {
	run batch --nodes=2 --ntasks-per-node=2 <<-END
		srun --label --exact --nodes=2 --ntasks=2 sh -c '${TELL[*]}; sleep 1' >first &
		srun --label --exact --nodes=2 --ntasks=2 sh -c '${TELL[*]}; sleep 1' >second &
		wait
	END
	same "the exit status" 0 "$status"
	output=$(cat "$BATS_TEST_TMPDIR/first")
	read_told
	in_order n1 n2
	local port=${told[0.MASTER_PORT]}
	output=$(cat "$BATS_TEST_TMPDIR/second")
	read_told
	in_order n1 n2
	[[ $port != "${told[0.MASTER_PORT]}" ]] || fail "both have port $port"
}

@test "slurm: the tasks of an array are jobs of their own" {
	local at=$BATS_TEST_TMPDIR/array until=$((SECONDS + LIMIT)) first
	login sbatch --quiet --array=1-2 --nodes=2 --ntasks-per-node=1 --output="$at.%a" \
		--wrap "srun --label ${TELL[*]} SLURM_JOB_ID SLURM_ARRAY_TASK_ID"
	until [[ $(cat "$at".[12] | grep -c host=) -eq 4 ]]; do
		((SECONDS < until)) || fail "the array does not end"
		sleep 0.2
	done 2>/dev/null
	output=$(cat "$at.1")
	read_told
	agree 2
	master_is_rank_0
	tf_config_is_right
	all_have SLURM_ARRAY_TASK_ID 1
	first=${told[0.MASTER_PORT]}
	output=$(cat "$at.2")
	read_told
	agree 2
	all_have SLURM_ARRAY_TASK_ID 2
	all_have MASTER_PORT "$(job_port "${told[0.SLURM_JOB_ID]}" 0)"
	[[ $first != "${told[0.MASTER_PORT]}" ]] || fail "both have port $first"
}

@test "slurm: sbatch --export=NONE" {
	launch batch --export=NONE --nodes=2 --ntasks-per-node=2 <<<"srun --label ${TELL[*]}"
	in_order n1 n1 n2 n2
}

@test "slurm: what the user has set is kept in each task" {
	launch login env MASTER_PORT=23456 TF_CONFIG=mine srun --label --nodes=2 --ntasks=2 "${TELL[@]}"
	agree 2
	all_have MASTER_PORT 23456
	all_have TF_CONFIG mine
}

@test "slurm: ports that Slurm reserves for a step" {
	# With MpiParams Slurm reserves ports for every step.
	echo MpiParams=ports=19000-19099 >>"$CLUSTER/etc/slurm.conf"
	login scontrol reconfigure
	launch login srun --label --nodes=2 --ntasks-per-node=2 --resv-ports=3 "${TELL[@]}" SLURM_STEP_RESV_PORTS
	sed -i /^MpiParams=/d "$CLUSTER/etc/slurm.conf"
	login scontrol reconfigure
	in_order n1 n1 n2 n2
	local range=${told[0.SLURM_STEP_RESV_PORTS]} port=${told[0.MASTER_PORT]}
	[[ $range =~ ^190[0-9]{2}-190[0-9]{2}$ ]] || fail "Slurm reserved no three ports, but '$range'"
	((port >= ${range%-*} && port <= ${range#*-})) || fail "$port is not in $range"
}

# --- host lists -------------------------------------------------------------------------------------

# random_lists N SEED: as Slurm's grammar has them, with up to two pairs of brackets in a name.
random_lists() {
	"$PYTHON" - "$@" <<-'END'
		import random, sys

		lists, seed = map(int, sys.argv[1:])
		random.seed(seed)

		def one_range():
		    width = random.randint(1, 4)
		    first = random.randrange(random.choice([12, 120, 1200]))
		    text = f"{first:0{width}}"
		    if random.random() < 0.5:
		        text += f"-{first + random.randrange(4):0{width}}"
		    return text

		def brackets():
		    return "[" + ",".join(one_range() for _ in range(random.randint(1, 3))) + "]"

		def name():
		    text = random.choice(["n", "node-", "gpu-a100-", "ip-10-0-12-", "rack1-c", "x"])
		    shape = random.randrange(6)
		    if shape == 0:
		        return text + str(random.randrange(100))
		    if shape == 1:
		        return text + brackets() + random.choice(["n", "-s", "node"]) + brackets()
		    return text + brackets()

		for _ in range(lists):
		    print(",".join(name() for _ in range(random.randint(1, 4))))
	END
}

@test "slurm: 'distinit hosts' and 'scontrol show hostnames' agree on 400 random lists" {
	{
		random_lists 300 "${SEED:-1}"
		"$PROGRAMS/host-lists" 100 2
	} >"$BATS_TEST_TMPDIR/lists"
	login sh -c 'while read -r list; do echo "= $list"; scontrol show hostnames "$list"; done' \
		<"$BATS_TEST_TMPDIR/lists" >"$BATS_TEST_TMPDIR/scontrol"
	while read -r list; do
		echo "= $list"
		"$DISTINIT" hosts "$list"
	done <"$BATS_TEST_TMPDIR/lists" >"$BATS_TEST_TMPDIR/distinit"
	run diff -u "$BATS_TEST_TMPDIR/scontrol" "$BATS_TEST_TMPDIR/distinit"
	same "the difference" "" "$output"
	(($(grep -vc ^= "$BATS_TEST_TMPDIR/distinit") > 1500)) || fail "there are too few hosts for the test to mean much"
}

@test "slurm: what 'distinit hosts --compress' writes, Slurm reads" {
	random_lists 100 "${SEED:-2}" >"$BATS_TEST_TMPDIR/lists"
	while read -r list; do
		echo "= $list"
		"$DISTINIT" hosts "$list"
	done <"$BATS_TEST_TMPDIR/lists" >"$BATS_TEST_TMPDIR/before"
	while read -r list; do
		echo "$list $("$DISTINIT" hosts --compress "$list")"
	done <"$BATS_TEST_TMPDIR/lists" |
		login sh -c 'while read -r list short; do echo "= $list"; scontrol show hostnames "$short"; done' \
			>"$BATS_TEST_TMPDIR/after"
	run diff -u "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	same "the difference" "" "$output"
	(($(grep -vc ^= "$BATS_TEST_TMPDIR/after") > 500)) || fail "there are too few hosts for the test to mean much"
}

# --- engines that take flags ------------------------------------------------------------------------

@test "slurm: Dask's scheduler and two workers by one command line, and they compute" {
	command -v dask >/dev/null || skip "python3-distributed is not installed"
	run batch --nodes=3 --ntasks-per-node=1 <<-END
		export HOME=$BATS_TEST_TMPDIR
		srun $DISTINIT --fill --wait=60s --for=all -- dask :master: scheduler --port=8786 --no-dashboard \
			:workers: worker 'tcp://{master-addr}:8786' --nthreads=1 --no-dashboard --no-nanny --name={node-rank} >dask.log 2>&1 &
		$PYTHON $PROGRAMS/dask-client n1:8786 2 || cat dask.log
		wait
	END
	same "the exit status" 0 "$status"
	# Before it or behind it, Dask may tell that the scheduler has gone.
	grep -qx "1 2: 285" <<<"$output" || fail "the client does not say so"
}

# --- last -------------------------------------------------------------------------------------------

@test "slurm: nothing of the cluster is left running" {
	cluster_down
	same "what is left" "" "$(remains)"
}
