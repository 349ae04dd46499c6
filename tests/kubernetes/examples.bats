#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The manifests of examples/kubernetes in a real cluster: their pods as their controllers render them (rendered, which names
# these), with services, name server, volumes and restrictions as they are.
#
# shellcheck disable=SC2016,SC2154 # for shells in pods; play() sets names, statuses and output

load helpers

# meet MASTER SCRIPT: two pods met there, and each is as narrow as its manifest says.
meet() {
	local rank
	same "their statuses" "0 0" "$statuses"
	for rank in 0 1; do
		says "torchrun $2: node $rank of 2, master $1, user 1000, CapPrm= NoNewPrivs=1"
	done
	same "how many met, on a read-only root" "2 2" "$(grep -c '^met all 2$' <<<"$output") $(grep -c '^read-only$' <<<"$output")"
}

@test "examples: indexed-job.yaml, with distinit in the image" {
	play "$EXAMPLES/indexed-job.yaml"
	meet "train-0.train.$NAMESPACE.svc.cluster.local:29500" train.py
}

@test "examples: jobset.yaml, with an initContainer that waits" {
	play "$EXAMPLES/jobset.yaml"
	meet "train-node-0-0.train.$NAMESPACE.svc.cluster.local:29500" train.py
}

@test "examples: leaderworkerset.yaml, with an initContainer that writes the variables down" {
	play "$EXAMPLES/leaderworkerset.yaml"
	meet "train-0.train.$NAMESPACE:29500" /app/train.py
}

@test "examples: pytorchjob.yaml, with an initContainer that installs, and a wait before the command" {
	play "$EXAMPLES/pytorchjob.yaml"
	meet train-master-0:23456 /app/train.py
}

@test "examples: failure-policy.yaml" {
	play "$EXAMPLES/failure-policy.yaml"
	meet "train-0.train.$NAMESPACE.svc.cluster.local:29500" "train.py"
}

@test "examples: the component adds distinit to a job that knows nothing of it" {
	"$TREE/tests/programs/kustomize-stand-in" "$EXAMPLES/overlay" >"$BATS_TEST_TMPDIR/job.yaml"
	play "$BATS_TEST_TMPDIR/job.yaml"
	meet "train-0.train.$NAMESPACE.svc.cluster.local:29500" /app/train.py
}

@test "examples: roll-call.yaml, with its secret" {
	kubectl create secret generic train --from-literal=roll-call="$(openssl rand -hex 16)" >/dev/null
	play "$EXAMPLES/roll-call.yaml"
	same "their statuses" "0 0 0 0" "$statuses"
	same "how many met" 4 "$(grep -c '^met all 4$' <<<"$output")"
}

@test "examples: vllm-lws.yaml: leader and worker get their flags" {
	local words="vllm serve Qwen/Qwen3-32B --tensor-parallel-size=16 --nnodes=2"
	local master="--master-addr=vllm-0.vllm.$NAMESPACE --master-port=29500"
	play "$EXAMPLES/vllm-lws.yaml"
	same "their statuses" "0 0" "$statuses"
	same "their words" "$words --node-rank=0 $master
$words --node-rank=1 $master --headless" "$output"
}

@test "examples: kserve.yaml: the leader's address as a number, which the workers wait for" {
	play "$EXAMPLES/../engines/kserve.yaml"
	same "their statuses" "0 0" "$statuses"
	local all="vllm serve /mnt/models --served-model-name=qwen --port=8000 --enable-expert-parallel --data-parallel-size=16 --data-parallel-size-local=8"
	local address
	address=$(kubectl get pod "${names[0]}" --output=jsonpath='{.status.podIP}')
	local more="--data-parallel-address=$address --data-parallel-rpc-port=5555"
	same "their words" "$all --data-parallel-start-rank=0 $more --api-server-count=8 --max-model-len 16384
$all --data-parallel-start-rank=8 $more --headless --max-model-len 16384" "$output"
}

@test "examples: llm-d.yaml: every node serves" {
	play "$EXAMPLES/../engines/llm-d.yaml"
	same "their statuses" "0 0" "$statuses"
	local all="vllm serve deepseek-ai/DeepSeek-V3 --port=8200 --enable-expert-parallel --data-parallel-size=16 --data-parallel-size-local=8"
	local more="--data-parallel-address=vllm-0.vllm.$NAMESPACE --data-parallel-rpc-port=5555 --data-parallel-hybrid-lb"
	same "their words" "$all --data-parallel-start-rank=0 $more
$all --data-parallel-start-rank=8 $more" "$output"
}

@test "examples: kthena.yaml: each pod of a role is a rank" {
	play "$EXAMPLES/../engines/kthena.yaml"
	same "their statuses" "0 0 0 0" "$statuses"
	same "their ranks" "0 1 2 3" "$(sed -n 's/.* --data-parallel-rank=\([0-9]*\) .*/\1/p' <<<"$output" | xargs)"
	same "how many have the entry pod's address" 4 "$(grep -c -- "--data-parallel-address=qwen-0-serve-0-0.$NAMESPACE " <<<"$output")"
}

# started POD: whether its startup probe has passed.
started() {
	[[ $(kubectl get pod "$1" --output=jsonpath='{.status.containerStatuses[0].started}') == true ]]
}

@test "examples: worker-probe.yaml: a worker has started once the leader serves, and is killed if that ends" {
	local program='if [ $LWS_WORKER_INDEX = 1 ]; then trap "exit 9" TERM; sleep 1000 \& wait; fi; until [ -e /tmp/loaded ]; do sleep 0.2; done; httpd -p 8000; until [ -e /tmp/over ]; do sleep 0.2; done'
	sed -e "s|image: train|image: registry.example/train\n      args: [sh, -c, '$program']|; s/^\( *\)timeoutSeconds: 5/&\n\1periodSeconds: 1/; /periodSeconds: 10/d" \
		"$EXAMPLES/worker-probe.yaml" >"$BATS_TEST_TMPDIR/spec"
	render --spec-of "$BATS_TEST_TMPDIR/spec" "$EXAMPLES/vllm-lws.yaml"
	pods run "${names[@]}" >/dev/null
	# The leader asks itself, and need not wait.
	until_true started "${names[0]}"
	until_true eval 'kubectl get events | grep -q "Startup probe failed: distinit: error: .*could not be reached within 2s"'
	same "whether the worker has started before the leader serves" false "$(kubectl get pod "${names[1]}" --output=jsonpath="{.status.containerStatuses[0].started}")"
	kubectl exec "${names[0]}" -- touch /tmp/loaded
	until_true started "${names[1]}"
	kubectl exec "${names[0]}" -- touch /tmp/over
	pods ended "${names[@]}" >/dev/null
	output=$(kubectl get events)
	says "Liveness probe failed: distinit: error: "
	same "how the worker ended" 9 "$(status_of "${names[1]}")"
}

@test "examples: rdma.yaml: a user other than root, who may lock memory" {
	sed 's/args: .*/args: [sh, -c, "id -u; grep -E ^Cap.*: \/proc\/self\/status"]/; /DISTINIT_CHECK/,+1d' \
		"$EXAMPLES/rdma.yaml" >"$BATS_TEST_TMPDIR/rdma.yaml"
	play "$BATS_TEST_TMPDIR/rdma.yaml"
	same "its status" 0 "$statuses"
	says 1000 $'CapEff:\t0000000000004000'
}

@test "examples: a master that never comes ends the wait of an initContainer, and the main container does not start" {
	sed 's/timeout=10m/timeout=2s/' "$EXAMPLES/jobset.yaml" >"$BATS_TEST_TMPDIR/jobset.yaml"
	"$TREE/tests/kubernetes/rendered" "$BATS_TEST_TMPDIR/jobset.yaml" "$NAMESPACE" "$BATS_TEST_TMPDIR/objects.json" >"$BATS_TEST_TMPDIR/names"
	mapfile -t names <"$BATS_TEST_TMPDIR/names"
	/usr/bin/python3 - "$BATS_TEST_TMPDIR/objects.json" <<-'END'
		import json, sys
		objects = json.load(open(sys.argv[1]))
		objects["items"] = [each for each in objects["items"] if not each["metadata"]["name"].startswith("train-node-0-0")]
		json.dump(objects, open(sys.argv[1], "w"))
	END
	create "$BATS_TEST_TMPDIR/objects.json"
	pods ended "${names[1]}"
	output=$(kubectl get pod "${names[1]}" --output=jsonpath='{.status.initContainerStatuses[0].state.terminated}{.status.containerStatuses[0].state}')
	says '"exitCode":124' 'distinit: error: ' 'could not be reached within 2s' PodInitializing
}

@test "examples: file-key.yaml, which 1.20 cannot run: each variable that it names is in the file, in the form that a kubelet reads" {
	local key
	local -a keys
	env -i LWS_LEADER_ADDRESS=train-0.train.default LWS_GROUP_SIZE=2 LWS_WORKER_INDEX=1 "$DISTINIT" env --output="$BATS_TEST_TMPDIR/env"
	output=$(cat "$BATS_TEST_TMPDIR/env")
	mapfile -t keys < <(sed -n 's/.*fileKeyRef:.*key: \(.*\)}/\1/p' "$EXAMPLES/file-key.yaml")
	for key in "${keys[@]}"; do
		grep -qE "^$key='[^']*'\$" "$BATS_TEST_TMPDIR/env" || fail "$key is not there"
	done
	same "how many it names" 4 "${#keys[@]}"
}

# not_known MANIFEST: the fields, or the kind, that this version does not know, by a dry run.
not_known() {
	kubectl create --dry-run=server --filename="$1" 2>&1 >/dev/null | grep -oE 'unknown field "[^"]*"|no matches for kind "[^"]*"|^Error.*' |
		sed -E 's/^[a-z].*"(.*)"$/\1/' | sort -u | xargs
}

@test "examples: a dry run by the server: of each, what is newer than this version, or a controller's own, and nothing else is unknown" {
	local file name
	local -A newer=(
		[failure-policy]="completionMode podFailurePolicy" [file-key]=LeaderWorkerSet [image-volume]="completionMode image"
		[indexed-job]=completionMode [jobset]=JobSet [leaderworkerset]=LeaderWorkerSet [pytorchjob]=PyTorchJob [rdma]=""
		[roll-call]=completionMode [success-policy]="completionMode hostUsers restartPolicy successPolicy"
		[vllm-lws]=LeaderWorkerSet [vllm-restarts]="" [worker-probe]="")
	for file in "$EXAMPLES"/*.yaml; do
		name=${file##*/}
		name=${name%.yaml}
		same "what is unknown in $name.yaml" "${newer[$name]-not in this table}" "$(not_known "$file")"
		# Their other fields and values are valid, then.
		[[ ${newer[$name]} == [A-Z]* ]] || kubectl create --dry-run=server --validate=false --filename="$file" >/dev/null ||
			fail "the server refuses $name.yaml"
	done
}
