#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# In a pool of HTCondor that is this one machine: its vanilla and its parallel universe, and what condor_rm sends.
#
# shellcheck disable=SC2016,SC2154 # what is quoted is for the shells of jobs; read_told() of helpers.bash sets told

load helpers

setup_file() {
	local name
	NO_POOL=$(not_in_release condor)
	[[ -n $NO_POOL ]] || NO_POOL=$(missing condor_master condor_submit)
	export NO_POOL POOL
	[[ -z $NO_POOL ]] || return 0
	POOL=$(mktemp -d /dev/shm/condor.XXXXXX)
	"$PROGRAMS/private-room" up "$POOL"
	mkdir "$POOL"/{log,spool,execute,lock,run,jobs}
	cp "$DISTINIT" "$PROGRAMS/tell" "$POOL/"
	cat >"$POOL/config" <<-END
		$(for name in log spool execute lock run; do echo "${name^^} = $POOL/$name"; done)
		LOCAL_DIR = $POOL
		RELEASE_DIR = /usr
		LIBEXEC = /usr/libexec/condor
		SBIN = /usr/sbin
		BIN = /usr/bin
		CONDOR_HOST = 127.0.0.1
		NETWORK_INTERFACE = 127.0.0.1
		BIND_ALL_INTERFACES = False
		NO_DNS = True
		DEFAULT_DOMAIN_NAME = test
		UID_DOMAIN = test
		FILESYSTEM_DOMAIN = test
		DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
		$(for name in READ WRITE ADMINISTRATOR DAEMON NEGOTIATOR; do echo "ALLOW_$name = *"; done)
		SEC_DEFAULT_AUTHENTICATION = OPTIONAL
		SEC_DEFAULT_AUTHENTICATION_METHODS = FS
		DISCARD_SESSION_KEYRING_ON_STARTUP = False
		NUM_CPUS = 4
		SLOT_TYPE_1 = cpus=1
		NUM_SLOTS_TYPE_1 = 4
		SLOT_TYPE_1_PARTITIONABLE = False
		START = True
		PREEMPT = False
		RunBenchmarks = False
		NEGOTIATOR_INTERVAL = 2
		NEGOTIATOR_CYCLE_DELAY = 1
		SCHEDD_INTERVAL = 2
		SCHEDD_MIN_INTERVAL = 1
		UPDATE_INTERVAL = 2
		CLAIM_WORKLIFE = 0
		SCHEDD_NAME = pool@
		DedicatedScheduler = "DedicatedScheduler@pool@"
		STARTD_ATTRS = \$(STARTD_ATTRS) DedicatedScheduler
	END
	chmod 755 "$POOL" "$POOL/tell" "$POOL/distinit"
	chown -R nobody "$POOL"/{log,spool,execute,lock,run,jobs}
	# Without DNS, a machine's name is its address.
	printf '%s\n' '127.0.0.1 localhost 127-0-0-1.test' >"$POOL/hosts"
	"$PROGRAMS/private-room" on "$POOL" mount --bind "$POOL/hosts" /etc/hosts
	pool condor_master -f >"$POOL/room/master" 2>&1 3>&- &
	until_true has_slots
}

teardown_file() {
	[[ -z ${POOL-} ]] || "$PROGRAMS/private-room" down "$POOL"
}

setup() {
	[[ -z $NO_POOL ]] || skip "$NO_POOL"
	JOB=$POOL/jobs/$BATS_TEST_NUMBER
	mkdir "$JOB"
	chown nobody "$JOB"
}

# pool COMMAND...: as an ordinary user, as HTCondor starts nothing as root.
pool() {
	"$PROGRAMS/private-room" on "$POOL" env -i --chdir="$POOL/jobs" CONDOR_CONFIG="$POOL/config" HOME="$POOL/jobs" \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

has_slots() {
	[[ $(pool condor_status -af Name | wc -l) -eq 4 ]]
}

# until_true COMMAND...: poll.
until_true() {
	local until=$((SECONDS + LIMIT))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < until)) || fail "not within $LIMIT s: $*"
		sleep 0.2
	done
}

# submit UNIVERSE ARGUMENTS [LINE]: distinit with these arguments, in HTCondor's own quotes. What node N says is in $JOB/N.out.
submit() {
	local node=0
	[[ $1 != parallel ]] || node='$(NODE)'
	printf '%s\n' "universe = $1" "executable = $POOL/distinit" 'transfer_executable = False' 'should_transfer_files = NO' \
		"arguments = \"$2\"" "initialdir = $JOB" "output = $JOB/$node.out" "error = $JOB/$node.err" "log = $JOB/log" "${3-}" queue >"$JOB/job"
	pool condor_submit -terse "$JOB/job"
}

# ended: wait for the job; what it printed is in $output.
ended() {
	until_true pool condor_wait -wait 5 "$JOB/log"
	output=$(tail -n 100 "$JOB"/?.{out,err})
}

@test "htcondor: a job of the vanilla universe is a cluster of one" {
	submit vanilla "--log=debug -- $POOL/tell BATCH_SYSTEM"
	ended
	unlabelled
	all_have BATCH_SYSTEM HTCondor
	all_have MASTER_ADDR -
	all_have RANK -
	[[ $(<"$JOB/0.err") == 'distinit: info: no cluster' ]] || fail "it derives"
}

@test "htcondor: two nodes of the parallel universe know each other, and meet in a roll call" {
	local node
	submit parallel "--wait=60s --for=all -- $POOL/tell _CONDOR_PROCNO" 'machine_count = 2'
	ended
	for node in 0 1; do
		output=$(cat "$JOB/$node".{out,err})
		unlabelled
		all_have _CONDOR_PROCNO "$node"
		all_have PET_NNODES 2
		all_have PET_NODE_RANK "$node"
		[[ ${told[0.MASTER_ADDR]} != - ]] || fail "node $node has no master"
	done
}

# A program whose child saves at TERM, which takes a moment. sh ends with TERM at once.
SAVES="sh -c '(trap ''sleep 0.3; echo saved; exit'' TERM; echo up; while :; do sleep 0.1; done) & wait'"

# removed ARGUMENTS: what that job's child says until condor_rm has ended it.
removed() {
	local id
	id=$(submit vanilla "$1" | sed 's/ .*//')
	until_true grep -qx up "$JOB/0.out"
	pool condor_rm "$id"
	ended
	grep -x saved "$JOB/0.out" || true
}

@test "htcondor: condor_rm tells the first process alone; with --init --leftovers=end, what it leaves behind, too" {
	same "what is saved without --init" "" "$(removed "-- $SAVES" | grep -x saved)"
	rm "$JOB"/*
	same "what is saved with it" saved "$(removed "--init --leftovers=end -- $SAVES" | grep -x saved)"
}
