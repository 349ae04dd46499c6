# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For tests in a real cluster, which "./dev kube" starts, and names in KUBE. Each test has a namespace of its own, which is
# deleted when it ends.
#
# shellcheck disable=SC2034,SC2154 # used by the files that load this; bats sets some

TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
DISTINIT=${DISTINIT:-$TREE/build/distinit}
EXAMPLES=$TREE/examples/kubernetes
CLUSTER=$TREE/tests/kubernetes/cluster
# Seconds that pods may take. The machine may be busy, and begin forty at once.
LIMIT=${LIMIT:-240}
export BATS_TEST_TIMEOUT=$(((LIMIT + 60) * ${PATIENCE:-1}))

setup() {
	[[ -n ${KUBE-} ]] || skip "no cluster: ./dev kube starts one"
	NAMESPACE=t$BATS_TEST_NUMBER-$$
	kubectl create namespace "$NAMESPACE" >/dev/null
	# Without it no pod can be created.
	until_true kubectl get serviceaccount default
}

teardown() {
	clean_up
}

clean_up() {
	[[ -n ${NAMESPACE-} ]] || return 0
	kubectl delete pods --all --force --grace-period=0 --wait=false >/dev/null 2>&1
	in_cluster kubectl delete namespace "$NAMESPACE" --wait=false >/dev/null
}

in_cluster() {
	"$CLUSTER/cluster" on "$KUBE" "$@"
}

kubectl() {
	in_cluster kubectl --namespace="${NAMESPACE-default}" "$@"
}

# fail MESSAGE: with what was printed, and how the pods are.
fail() {
	printf '%s\n--- printed was:\n%s\n--- the pods:\n%s\n' "$1" "${output-}" "$(kubectl get pods --output=wide 2>&1)"
	return 1
}

# same WHAT WANTED FOUND
same() {
	[[ $2 == "$3" ]] || fail "$1 is '$3', and should be '$2'"
}

# says TEXT...: $output has these.
says() {
	local text
	for text; do
		[[ $output == *"$text"* ]] || fail "it does not say '$text'"
	done
}

# until_true COMMAND...: poll, for what cannot be watched.
until_true() {
	local until=$((SECONDS + LIMIT))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < until)) || fail "not within $LIMIT s: $*"
		sleep 0.3
	done
}

# pods CONDITION POD...: wait for it (cluster/pods).
pods() {
	in_cluster "$CLUSTER/pods" "$1" "$LIMIT" "$NAMESPACE" "${@:2}"
}

# logs POD...: what their main containers said.
logs() {
	local pod
	for pod; do
		kubectl logs "$pod"
	done
}

# status_of POD [FIELD]: of the first container's end: exitCode, message, reason, startedAt, finishedAt.
status_of() {
	kubectl get pod "$1" --output=jsonpath="{.status.containerStatuses[0].state.terminated.${2-exitCode}}"
}

# spec WORD...: a manifest of pods, for render --spec-of: they run distinit WORD..., and share a secret. There are SIZE; CONTAINER
# is more fields of the container.
spec() {
	local word
	{
		printf '{"containers": [{"name": "pytorch", "image": "registry.example/train", "command": ["/distinit"'
		for word; do
			printf ", '%s'" "${word//\'/\'\'}"
		done
		printf '], %s "volumeMounts": [{"name": "key", "mountPath": "/key"}], "env": [' "${CONTAINER-}"
		printf '{"name": "DISTINIT_NNODES", "value": "%s"}, {"name": "DISTINIT_SECRET_FILE", "value": "/key/word"}]}],' "${SIZE-3}"
		printf '"volumes": [{"name": "key", "secret": {"secretName": "train", "defaultMode": 288}}], "restartPolicy": "Never",'
		printf '"terminationGracePeriodSeconds": 30, "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000}}\n'
	} >"$BATS_TEST_TMPDIR/spec"
	kubectl create secret generic train --from-literal=word="$(openssl rand -hex 16)" >/dev/null
}

# render [OPTION]... MANIFEST: what its controller makes of it, into the cluster; the names of the pods in $names, in the
# order of ranks.
render() {
	"$TREE/tests/kubernetes/rendered" "${@:1:$#-1}" "${!#}" "$NAMESPACE" "$BATS_TEST_TMPDIR/objects.json" >"$BATS_TEST_TMPDIR/names"
	mapfile -t names <"$BATS_TEST_TMPDIR/names"
	create "$BATS_TEST_TMPDIR/objects.json"
}

# create FILE: without a look at fields that 1.20 does not know yet.
create() {
	kubectl create --validate=false --filename="$1" >/dev/null
}

# play [OPTION]... MANIFEST: render it, until all pods have ended. What they said is in $output, their statuses in $statuses.
play() {
	render "$@"
	statuses=$(pods ended "${names[@]}" | cut -d ' ' -f 2 | xargs)
	output=$(logs "${names[@]}")
}

# pod NAME [FIELDS [CONTAINERS]] <<CONTAINER: a pod, whose first container has these lines of YAML. FIELDS are fields of its
# spec, CONTAINERS the items of more containers.
pod() {
	{
		printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: test}}\nspec:\n' "$1"
		printf '  restartPolicy: Never\n  terminationGracePeriodSeconds: 10\n'
		[[ -z ${2-} ]] || printf '%s\n' "$2" | sed 's/^/  /'
		printf '  containers:\n  - name: main\n    image: registry.example/train\n    imagePullPolicy: Never\n'
		sed 's/^/    /'
		[[ -z ${3-} ]] || printf '%s\n' "$3" | sed 's/^/  /'
	} >"$BATS_TEST_TMPDIR/$1.yaml"
	create "$BATS_TEST_TMPDIR/$1.yaml"
}
