#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Pods on two nodes, and the cable between these is pulled: with --together, both sides know within the 25 s that together.md tells.
#
# shellcheck disable=SC2016,SC2154 # for shells in pods; spec and render set names

load helpers

PROMISED=25000 # milliseconds

teardown() {
	[[ -z ${KUBE-} ]] || "$CLUSTER/cluster" cable "$KUBE" in
	clean_up
}

# job NODES SCRIPT [OPTION]...: an Indexed Job of two pods on these nodes (NODE,NODE in the order of ranks), until its program runs.
job() {
	SIZE=2 spec --together --wait=3m --for=all "${@:3}" -- sh -c "echo \"start \${DISTINIT_RESTART_COUNT:-0}\"; $2"
	render --spec-of "$BATS_TEST_TMPDIR/spec" --size 2 --on "$1" "$EXAMPLES/indexed-job.yaml"
	pods run "${names[@]}"
	until_true say "start 0" "${names[@]}"
	same "their nodes" "${1/,/ }" "$(kubectl get pod "${names[@]}" --output=jsonpath='{.items[*].spec.nodeName}')"
}

# say TEXT POD...: each has.
say() {
	local pod
	for pod in "${@:2}"; do
		[[ $(kubectl logs "$pod") == *"$1"* ]] || return
	done
}

# cable out|in: and the time of that, in milliseconds, is in $at.
cable() {
	at=$(date +%s%3N)
	"$CLUSTER/cluster" cable "$KUBE" "$1"
}

# after TEXT POD...: each said TEXT within the promised time after $at. Its node wrote down when.
after() {
	local pod line took
	for pod in "${@:2}"; do
		line=$(kubectl logs --timestamps "$pod" | grep --fixed-strings --max-count=1 "$1") || fail "$pod does not say '$1'"
		took=$(($(date --date="${line%% *}" +%s%3N) - at))
		echo "# $pod knows after $took ms" >&3
		((took <= PROMISED)) || fail "$pod said it after $took ms only"
	done
}

# ends NODES: the cable is pulled under such a job; both end with 123, and say what may be wrong.
ends() {
	local -a on
	local near far
	IFS=, read -ra on <<<"$1"
	job "$1" 'exec sleep 1000'
	cable out
	[[ ${on[0]} == node ]] && near=0 || near=1
	far=$((1 - near))
	pods ended "${names[near]}"
	same "the status where the network works" 123 "$(status_of "${names[near]}")"
	output=$(status_of "${names[near]}" message)
	says "distinit: error: ended because " "(rank $far) is lost: " "or the network of this node, train-$near" ", has failed"
	after "is lost" "${names[near]}"
	# Nobody could ask that node yet.
	same "the phase of the other" Running "$(kubectl get pod "${names[far]}" --output=jsonpath='{.status.phase}')"
	"$CLUSTER/cluster" cable "$KUBE" in
	pods ended "${names[far]}"
	same "the status where it was pulled" 123 "$(status_of "${names[far]}")"
	output=$(status_of "${names[far]}" message)
	says "distinit: error: ended because " "(rank $near) is lost: " "or the network of this node, train-$far" ", has failed"
	after "is lost" "${names[far]}"
}

@test "nodes: the cable of a node is pulled: both sides end with 123 in time, and name the other or their own network" {
	ends node,far
}

@test "nodes: the same with the cable of the master's node" {
	ends far,node
}

@test "nodes: a cable that is back after five seconds ends nothing, and the connection is still there" {
	job node,far 'until test -e /tmp/fail; do sleep 0.1; done; exit 7'
	cable out
	sleep 5
	cable in
	until_true kubectl exec "${names[1]}" -- touch /tmp/fail
	pods ended "${names[@]}"
	same "their statuses" "123 7" "$(status_of "${names[0]}") $(status_of "${names[1]}")"
	output=$(status_of "${names[0]}" message)
	says "(rank 1) failed first: exit status 7"
}

# again NODES: with --max-restarts both sides wait for each other in place, and start again once the cable is back.
again() {
	local near=0
	[[ $1 == node,* ]] || near=1
	job "$1" 'test "$DISTINIT_RESTART_COUNT" = 1 || exec sleep 1000' --max-restarts=2
	cable out
	until_true say "starting again (1 of 2)" "${names[near]}"
	after "is lost" "${names[near]}"
	same "their phases" "Running Running" "$(kubectl get pod "${names[@]}" --output=jsonpath='{.items[*].status.phase}')"
	# Longer than the other side takes to know.
	sleep 15
	"$CLUSTER/cluster" cable "$KUBE" in
	pods ended "${names[@]}"
	same "their statuses" "0 0" "$(status_of "${names[0]}") $(status_of "${names[1]}")"
	after "starting again (1 of 2)" "${names[@]}"
	until_true say "start 1" "${names[@]}"
	same "the restart counts" "0 0" "$(kubectl get pod "${names[@]}" --output=jsonpath='{.items[*].status.containerStatuses[*].restartCount}')"
}

@test "nodes: --max-restarts: the cable is pulled and comes back: both start again in place" {
	again node,far
}

@test "nodes: --max-restarts: the same with the cable of the master's node" {
	again far,node
}
