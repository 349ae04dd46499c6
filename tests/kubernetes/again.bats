#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --max-restarts in pods: an engine that dies with 0, a pod that is lost and made anew, and what probes do to it.
#
# shellcheck disable=SC2016 # for shells in pods

load helpers

# An engine. It ends with 0 once somebody has made /tmp/die.
ENGINE='echo start $DISTINIT_RESTART_COUNT; until test -e /tmp/die; do sleep 0.1; done; rm /tmp/die; exit 0'

# One that ends with 0 once the connection between both is gone.
PEERS='echo start $DISTINIT_RESTART_COUNT; rm -f /tmp/fifo; mkfifo /tmp/fifo; if test $HOSTNAME = serve-1; then nc -l -p 7000 <>/tmp/fifo; exit 0; fi;'
PEERS+=' until nc serve-1.serve 7000 <>/tmp/fifo; do sleep 0.2; done; exit 0'

# pair WORDS ENGINE: two pods of a StatefulSet with that engine and these words of --together, each with a sidecar.
pair() {
	kubectl create --filename=- >/dev/null <<-END
		{"apiVersion": "v1", "kind": "List", "items": [
		  {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "serve"},
		   "spec": {"clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "serve"}}},
		  {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "serve"},
		   "spec": {"serviceName": "serve", "replicas": 2, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "serve"}},
		    "template": {"metadata": {"labels": {"app": "serve"}}, "spec": {"terminationGracePeriodSeconds": 5, "containers": [
		     {"name": "main", "image": "registry.example/train", "imagePullPolicy": "Never",
		      "command": ["/distinit", "--together=$1", "--max-restarts=unlimited", "--", "sh", "-c", "$2"],
		      "env": [{"name": "DISTINIT_HOSTS", "value": "serve-[0-1].serve"}, {"name": "DISTINIT_WAIT", "value": "5m"},
		              {"name": "DISTINIT_JOB", "value": "serve"}]},
		     {"name": "sidecar", "image": "registry.example/train", "imagePullPolicy": "Never",
		      "command": ["/distinit", "--init", "--", "sleep", "100000"]}]}}}}]}
	END
	until_true kubectl get pod serve-0
	until_true kubectl get pod serve-1
	pods run serve-0 serve-1
}

# started N POD...: the engine of each has begun its start N.
started() {
	local pod
	for pod in "${@:2}"; do
		kubectl logs "$pod" --container=main | grep -qx "start $1" || return
	done
}

# counts: how often the containers of both pods were restarted.
counts() {
	kubectl get pods --output=jsonpath='{.items[*].status.containerStatuses[*].restartCount}'
}

@test "again: an engine dies with 0: both start again in place; sidecars and kubectl exec do not notice" {
	local before
	pair workers,always "$ENGINE"
	until_true started 0 serve-0 serve-1
	before=$(kubectl get pods --output=jsonpath='{.items[*].status.containerStatuses[*].containerID}')
	kubectl exec serve-0 --container=main -- sh -c 'touch /tmp/guest; while test -e /tmp/guest; do sleep 0.1; done; echo still here' \
		>"$BATS_TEST_TMPDIR/exec" 3>&- &
	local exec=$!
	until_true kubectl exec serve-0 --container=main -- test -e /tmp/guest
	kubectl exec serve-1 --container=main -- touch /tmp/die
	until_true started 1 serve-0 serve-1
	kubectl exec serve-0 --container=main -- rm /tmp/guest
	wait "$exec"
	same "what the one from outside says" "still here" "$(<"$BATS_TEST_TMPDIR/exec")"
	same "the restart counts" "0 0 0 0" "$(counts)"
	same "the containers" "$before" "$(kubectl get pods --output=jsonpath='{.items[*].status.containerStatuses[*].containerID}')"
	output=$(kubectl logs serve-0 --container=main)
	says '(rank 1) failed first: exit status 0, though nobody asked it to end; starting again (1)'
}

# made_anew POD: delete it; its controller makes another.
made_anew() {
	local uid
	uid=$(kubectl get pod "$1" --output=jsonpath='{.metadata.uid}')
	kubectl delete pod "$1" --wait=false >/dev/null
	until_true eval "[[ \$(kubectl get pod $1 --output=jsonpath='{.metadata.uid}') != $uid ]]"
	pods run serve-0 serve-1
}

@test "again: --together=failures: a pod is deleted: the other one waits in place until it is made anew; also the master" {
	pair failures,always "$PEERS"
	until_true started 0 serve-0 serve-1
	until_true is_connected serve-0
	made_anew serve-1
	until_true started 1 serve-0 serve-1
	until_true is_connected serve-0
	made_anew serve-0
	until_true started 2 serve-0 serve-1
	same "the restart counts" "0 0 0 0" "$(counts)"
}

# is_connected POD: its engine, to the other one.
is_connected() {
	kubectl exec "$1" --container=main -- grep -q ':1B58 01 ' /proc/net/tcp
}

@test "again: a pod is deleted: it was asked to end, so its kubelet starts the other's container, and both meet anew" {
	pair workers,always "$ENGINE"
	until_true started 0 serve-0 serve-1
	made_anew serve-1
	pods again serve-0
	pods run serve-0 serve-1
	until_true started 0 serve-0 serve-1
	same "the last exit status" 123 "$(kubectl get pod serve-0 --output=jsonpath='{.status.containerStatuses[0].lastState.terminated.exitCode}')"
}

@test "again: a liveness probe kills a node that loads again, though a startup probe let it load at first; readiness does not" {
	local loads='rm -f /tmp/loaded; echo start $DISTINIT_RESTART_COUNT; sleep 4; touch /tmp/loaded; until test -e /tmp/die; do sleep 0.1; done; rm /tmp/die /tmp/loaded; exit 1'
	local probe='exec: {command: [test, -e, /tmp/loaded]}, periodSeconds: 1, timeoutSeconds: 20' name
	for name in liveness readiness; do
		pod "$name" '' <<-END
			command: [/distinit, --max-restarts=5, --, sh, -c, '$loads']
			startupProbe: {$probe, failureThreshold: 120}
			${name}Probe: {$probe, failureThreshold: 2}
		END
	done
	# One that has no readiness probe is never ready here, if it has a startup probe.
	for name in liveness readiness; do
		until_true eval "[[ \$(kubectl get pod $name --output=jsonpath='{.status.containerStatuses[0].started}') == true ]]"
	done
	for name in liveness readiness; do
		kubectl exec "$name" -- touch /tmp/die
	done
	# restartPolicy Never: what the probe kills has ended.
	pods ended liveness
	until_true eval '[[ $(kubectl logs readiness) == *"start 1"* ]]'
	pods ready readiness
	same "the restart count with a readiness probe" 0 "$(kubectl get pod readiness --output=jsonpath='{.status.containerStatuses[0].restartCount}')"
}

@test "again: vllm-restarts.yaml: its engines, which end with 0 at once, start again and again, with their flags" {
	kubectl create secret generic vllm --from-literal=roll-call="$(openssl rand -hex 16)" >/dev/null
	render "$EXAMPLES/vllm-restarts.yaml"
	local words="vllm serve Qwen/Qwen3-32B --tensor-parallel-size=16 --nnodes=2"
	until_true eval '[[ $(kubectl logs vllm-0) == *"starting again (2) in 1s"* && $(kubectl logs vllm-1) == *"starting again (2) in 1s"* ]]'
	output=$(logs vllm-0 vllm-1)
	says "$words --node-rank=0 --master-addr=vllm-0.vllm" "$words --node-rank=1 --master-addr=vllm-0.vllm --master-port=29500 --headless"
	same "the restart counts" "0 0" "$(counts)"
}
