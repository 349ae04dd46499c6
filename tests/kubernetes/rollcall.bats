#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Roll calls between pods, and what follows them: each kind of job, pods that come again, end, fail, or lose the network.
#
# shellcheck disable=SC2016,SC2154 # for shells in pods; play() and others set some

load helpers

# called MANIFEST MASTER: all three pods of the job answered to their names, proved who they are, and met there.
called() {
	spec --wait=3m --for=all --secret-required --log=info -- torchrun train.py
	play --spec-of "$BATS_TEST_TMPDIR/spec" --size 3 "$1"
	same "their statuses" "0 0 0" "$statuses"
	same "how many met" 3 "$(grep -c '^met all 3$' <<<"$output")"
	same "where" 3 "$(grep -c ", master $2," <<<"$output")"
	says "roll call: all 3 nodes are here" "; authenticated"
}

# --- each kind of job -------------------------------------------------------------------------------

@test "roll call: an Indexed Job" {
	called "$EXAMPLES/indexed-job.yaml" "train-0.train.$NAMESPACE.svc.cluster.local:29500"
}

@test "roll call: a JobSet" {
	called "$EXAMPLES/jobset.yaml" "train-node-0-0.train.$NAMESPACE.svc.cluster.local:29500"
}

@test "roll call: a LeaderWorkerSet" {
	called "$EXAMPLES/leaderworkerset.yaml" "train-0.train.$NAMESPACE:29500"
}

@test "roll call: a PyTorchJob" {
	called "$EXAMPLES/pytorchjob.yaml" train-master-0:23456
}

@test "roll call: a TrainJob" {
	cat >"$BATS_TEST_TMPDIR/job.yaml" <<-'END'
		{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: train}, spec: {trainer: {numNodes: 3}}}
	END
	called "$BATS_TEST_TMPDIR/job.yaml" train-node-0-0.train:29500
}

@test "roll call: a job of Volcano" {
	cat >"$BATS_TEST_TMPDIR/job.yaml" <<-'END'
		{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train},
		 spec: {tasks: [{name: master, replicas: 1}, {name: worker, replicas: 2}]}}
	END
	called "$BATS_TEST_TMPDIR/job.yaml" train-master-0.train:29500
}

# --- a StatefulSet, by its real controller ------------------------------------------------------------

# stateful_set REPLICAS COMMAND...: of three pods by their names, of which there are so many.
stateful_set() {
	local command
	command=$(printf ', "%s"' "${@:2}")
	kubectl create --filename=- >/dev/null <<-END
		{"apiVersion": "v1", "kind": "List", "items": [
		  {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "train"},
		   "spec": {"clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "train"}}},
		  {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "train"},
		   "spec": {"serviceName": "train", "replicas": $1, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "train"}},
		    "template": {"metadata": {"labels": {"app": "train"}}, "spec": {"terminationGracePeriodSeconds": 5, "containers": [
		     {"name": "main", "image": "registry.example/train", "imagePullPolicy": "Never",
		      "command": ["/distinit"$command],
		      "env": [{"name": "DISTINIT_HOSTS", "value": "train-[0-2].train"}, {"name": "DISTINIT_WAIT", "value": "5m"},
		              {"name": "DISTINIT_FOR", "value": "all"}]}]}}}}]}
	END
}

@test "roll call: a StatefulSet; its controller starts it again when it has ended, so it may call again" {
	stateful_set 3 -- sh -c 'echo started >/dev/termination-log; sleep 1'
	pods again train-0 train-1 train-2
	output=$(for pod in train-0 train-1 train-2; do kubectl get pod "$pod" --output=jsonpath='{.status.containerStatuses[0].lastState.terminated}'; done)
	same "how many started, and ended well" "3 3" "$(grep -o '"message":"started' <<<"$output" | wc -l) $(grep -o '"exitCode":0' <<<"$output" | wc -l)"
}

@test "roll call: the master's pod is made anew, with another address, before all are there" {
	local before after
	stateful_set 2 --init -- sh -c 'echo started; sleep 1000'
	pods run train-0 train-1
	before=$(address_of train-0)
	# The other one has found it, and is counted.
	until_true is_connected train-1
	kubectl delete pod train-0 --timeout="${LIMIT}s" >/dev/null
	until_true kubectl get pod train-0
	pods run train-0
	after=$(address_of train-0)
	kubectl scale statefulset train --replicas=3 >/dev/null
	until_true has_started train-0 train-1 train-2
	[[ $before != "$after" ]] || fail "it has the same address again, $before"
}

address_of() {
	kubectl get pod "$1" --output=jsonpath='{.status.podIP}'
}

# is_connected POD: it has a connection that is established.
is_connected() {
	kubectl exec "$1" -- grep -q ' 01 [0-9A-F]*:[0-9A-F]* ' /proc/net/tcp
}

has_started() {
	local pod
	for pod; do
		kubectl logs "$pod" | grep -qx started || return
	done
}

# --- the end of a job ---------------------------------------------------------------------------------

# A program that counts TERM, and takes a second to end with the first.
SAVES='n=0; trap "n=\$((n+1)); echo term \$n" TERM; echo started; until test $n -gt 0; do sleep 0.1; done; sleep 1; echo saved; exit 0'

@test "roll call: a whole job of --together is deleted: each program gets TERM once, may save, and keeps its status" {
	local pod i
	local -a following=()
	spec --together --wait=3m --for=all -- sh -c "$SAVES"
	render --spec-of "$BATS_TEST_TMPDIR/spec" --size 3 "$EXAMPLES/indexed-job.yaml"
	pods run "${names[@]}"
	until_true has_started "${names[@]}"
	for pod in "${names[@]}"; do
		kubectl logs --follow "$pod" >"$BATS_TEST_TMPDIR/$pod" 2>/dev/null 3>&- &
		following+=("$!")
	done
	kubectl delete pods --all --wait=false >/dev/null
	wait "${following[@]}" || true
	output=$(cd "$BATS_TEST_TMPDIR" && tail -n 100 "${names[@]}")
	for i in 0 1 2; do
		same "what ${names[i]} says of TERM" "term 1" "$(grep '^term' "$BATS_TEST_TMPDIR/${names[i]}")"
		grep -qx saved "$BATS_TEST_TMPDIR/${names[i]}" || fail "${names[i]} could not save"
		grep -q 'warning: sh ended after .*: exit status 0, .* after SIGTERM from outside' "$BATS_TEST_TMPDIR/${names[i]}" ||
			fail "${names[i]} does not say that it ended"
	done
}

@test "roll call: --together: what kubectl exec starts cannot join by the pod's variables, and is told how it can run" {
	SIZE=2 spec --together --wait=3m --for=all -- sh -c 'echo started; exec sleep 1000'
	render --spec-of "$BATS_TEST_TMPDIR/spec" --size 2 "$EXAMPLES/indexed-job.yaml"
	pods run "${names[@]}"
	until_true has_started "${names[@]}"
	run kubectl exec "${names[1]}" -- env DISTINIT_TOGETHER=1 timeout 20 /distinit -- echo joined
	same "its status" 125 "$status"
	says "DISTINIT_TOGETHER: a process of this node is in the job already" "--options-from=command-line"
	run kubectl exec "${names[1]}" -- env DISTINIT_TOGETHER=1 /distinit --options-from=command-line -- echo beside
	same "its status with that" 0 "$status"
	says beside
}

@test "roll call: --together: one pod's program fails, and the others end with 123 and say why in their state" {
	spec --together --wait=3m --for=all -- sh -c 'case $JOB_COMPLETION_INDEX in 1) sleep 1; exit 7;; esac; exec sleep 1000'
	play --spec-of "$BATS_TEST_TMPDIR/spec" --size 3 "$EXAMPLES/indexed-job.yaml"
	same "their statuses" "123 7 123" "$statuses"
	output=$(status_of "${names[2]}" message)
	says "distinit: error: ended because train-1" "(rank 1) failed first: exit status 7"
}

@test "roll call: --together: a pod whose network is cut is lost, and the others end with 123" {
	local link
	spec --together --wait=3m --for=all -- sh -c 'echo started; exec sleep 1000'
	render --spec-of "$BATS_TEST_TMPDIR/spec" --size 3 "$EXAMPLES/indexed-job.yaml"
	pods run "${names[@]}"
	until_true has_started "${names[@]}"
	# The number of its other end, on the node's bridge.
	link=$(kubectl exec "${names[2]}" -- cat /sys/class/net/eth0/iflink)
	in_cluster ip -oneline link | sed -n "s/^$link: \([^@:]*\)[@:].*/\1/p" >"$BATS_TEST_TMPDIR/link"
	in_cluster ip link set "$(cat "$BATS_TEST_TMPDIR/link")" down
	pods ended "${names[@]}"
	output=$(logs "${names[@]}")
	same "the status of the master" 123 "$(status_of "${names[0]}")"
	same "the status of who was cut off" 123 "$(status_of "${names[2]}")"
	says "train-2"
}

# --- who may not be found -----------------------------------------------------------------------------

@test "roll call: a readiness probe that keeps the master's name back: the message names the service's setting" {
	CONTAINER='"readinessProbe": {"exec": {"command": ["test", "-e", "/tmp/ready"]}},' \
		spec --wait=20s --for=all -- torchrun train.py
	sed '/publishNotReadyAddresses/d' "$EXAMPLES/indexed-job.yaml" >"$BATS_TEST_TMPDIR/job.yaml"
	play --spec-of "$BATS_TEST_TMPDIR/spec" --size 3 "$BATS_TEST_TMPDIR/job.yaml"
	same "their statuses" "124 124 124" "$statuses"
	output=$(status_of "${names[1]}" message)
	says "a service publishes the names of pods that are not ready only with publishNotReadyAddresses: true"
}

@test "roll call: forty pods at once start within a moment of each other" {
	local -a times
	SIZE=40 spec --wait=5m --for=all -- sh -c 'cut -d . -f 1 /proc/uptime; exit 0'
	play --spec-of "$BATS_TEST_TMPDIR/spec" --size 40 "$EXAMPLES/indexed-job.yaml"
	mapfile -t times < <(grep -E '^[0-9]+$' <<<"$output" | sort -n)
	same "how many started" 40 "${#times[@]}"
	# Not at all when each is there, which takes half a minute. The machine has few processors for so many.
	((times[39] - times[0] <= 5)) || fail "they started within $((times[39] - times[0])) s"
}
