#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What only a kubelet makes of a pod: restrictions, volumes, its termination log, its end, and the namespaces that it shares.
#
# shellcheck disable=SC2016,SC2154 # for shells in pods; bats and helpers set some

load helpers

# alone NAME [FIELDS] <<CONTAINER: a pod, until it ended. What it said is in $output, its status in $statuses.
alone() {
	pod "$@"
	statuses=$(pods ended "$1" | cut -d ' ' -f 2)
	output=$(kubectl logs "$1")
}

# --- restrictions and volumes -----------------------------------------------------------------------

@test "pods: install into a volume with all restrictions: not root, read-only, no capabilities, the runtime's seccomp" {
	alone install '
securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
volumes: [{name: tools, emptyDir: {}}]
initContainers:
- name: distinit
  image: registry.example/distinit
  imagePullPolicy: Never
  args: [install, /tools]
  securityContext: &narrow {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
  resources: {limits: {cpu: 50m, memory: 20Mi}}
  volumeMounts: [{name: tools, mountPath: /tools}]' <<-'END'
		command: [/tools/distinit, --init, --, sh, -c, 'ls -ln /tools; grep -E "^(Seccomp|NoNewPrivs|CapBnd):" /proc/self/status | xargs']
		securityContext: *narrow
		volumeMounts: [{name: tools, mountPath: /tools, readOnly: true}]
	END
	same "its status" 0 "$statuses"
	says "-r-xr-xr-x    1 1000 " "CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2"
}

@test "pods: an initContainer that ran before runs again, into the same volume" {
	alone again '
volumes: [{name: tools, emptyDir: {}}]
initContainers:
- &install {name: first, image: registry.example/distinit, imagePullPolicy: Never, args: [install, /tools], volumeMounts: [{name: tools, mountPath: /tools}]}
- {<<: *install, name: second}' <<-'END'
		command: [/tools/distinit, --version]
		volumeMounts: [{name: tools, mountPath: /tools}]
	END
	same "what it says" "$("$DISTINIT" --version)" "$output"
}

@test "pods: a directive file of a ConfigMap, which is a link in its volume, also with fsGroup" {
	kubectl create configmap settings --from-literal=train.env='set TRAINED=yes' >/dev/null
	alone mounted '
securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000}
volumes: [{name: settings, configMap: {name: settings, defaultMode: 0440}}]' <<-'END'
		args: [sh, -c, 'echo "TRAINED=$TRAINED"; test -L /settings/train.env']
		env: [{name: DISTINIT_ENV_FILE, value: /settings/train.env}]
		volumeMounts: [{name: settings, mountPath: /settings}]
	END
	same "what it says" TRAINED=yes "$output"
	same "its status" 0 "$statuses"
}

# --- last words -------------------------------------------------------------------------------------

# last_words POD STATUS PATTERN: they are in the pod's state.
last_words() {
	pods ended "$1" >/dev/null
	output=$(status_of "$1" message)
	same "the status of $1" "$2" "$(status_of "$1")"
	says "$3"
}

@test "pods: the termination log says why it ended with 124, 125, 126, 127 or the program's own status" {
	pod s124 <<<'args: [torchrun]
env: [{name: DISTINIT_WAIT, value: 1s}, {name: DISTINIT_HOSTS, value: "10.77.0.1,10.77.0.2"}, {name: DISTINIT_NODE_RANK, value: "1"}]'
	pod s125 <<<'args: [torchrun]
env: [{name: DISTINIT_HOSTS, value: "a,a"}]'
	pod option <<<'command: [/distinit, --no-such-option, --, sleep]'
	pod contradiction <<<'command: [/distinit, --grace=1s, --, "true"]'
	pod s126 <<<'args: [/app/train.py]'
	pod s127 <<<'args: [no-such-program]'
	pod s7 <<<'command: [/distinit, --init, --, sh, -c, exit 7]'
	last_words s124 124 "distinit: error: 10.77.0.1:29500 could not be reached within 1s"
	last_words s125 125 "distinit: error: DISTINIT_HOSTS"
	last_words option 125 "distinit: error: unknown option '--no-such-option'"
	last_words contradiction 125 "distinit: error: --grace"
	last_words s126 126 "distinit: error: '/app/train.py'"
	last_words s127 127 "distinit: error: 'no-such-program' was not found"
	last_words s7 7 "distinit: warning: sh ended after"
}

@test "pods: FallbackToLogsOnError shows the same, with another terminationMessagePath too" {
	pod fallback <<<'args: [no-such-program]
terminationMessagePolicy: FallbackToLogsOnError
terminationMessagePath: /tmp/last-words'
	last_words fallback 127 "distinit: error: 'no-such-program' was not found"
}

@test "pods: a terminationMessagePath of its own gets nothing: a kubelet does not provide its name" {
	pod elsewhere <<<'args: [no-such-program]
terminationMessagePath: /tmp/last-words'
	pods ended elsewhere
	same "the last words" "" "$(status_of elsewhere message)"
}

@test "pods: a program that the kernel kills for lack of memory: OOMKilled, or a sentence" {
	pod memory <<<'command: [/distinit, --init, --, sh, -c, "head -c 300m /dev/zero | tail -n 1 >/dev/null; exit 3"]
resources: {limits: {memory: 60Mi}}'
	pods ended memory
	output=$(status_of memory reason)$(status_of memory message)
	says "OOMKilled"
	says "processes that the kernel killed for lack of memory: "
}

# --- its end ----------------------------------------------------------------------------------------

# deletion POD WORDS: delete it, and set $took to the microseconds until the process whose command line ends with WORDS is
# gone. (The pod itself goes seconds later.)
deletion() {
	local process began
	process=$(in_cluster pgrep --oldest --full "$2\$")
	began=$EPOCHREALTIME
	kubectl delete pod "$1" --wait=false >/dev/null
	in_cluster timeout "$LIMIT" tail --pid="$process" --sleep-interval=0.1 --follow /dev/null
	took=$((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}))
}

@test "pods: deletion waits the whole grace for a plain sleep as PID 1, and not for one under --init" {
	pod plain <<<'args: [sleep, "1001"]'
	pod init <<<'command: [/distinit, --init, --, sleep, "1002"]'
	pods run plain init
	deletion init 'distinit --init -- sleep 1002'
	((took < 9000000)) || fail "under --init it took $took us"
	deletion plain 'sleep 1001'
	((took > 9500000)) || fail "without it took $took us only"
}

# ended_by_deletion POD: delete it; what it says until its end is in $output.
ended_by_deletion() {
	kubectl logs --follow "$1" >"$BATS_TEST_TMPDIR/log" 2>/dev/null 3>&- &
	kubectl delete pod "$1" --wait=false >/dev/null
	wait $! || true
	output=$(cat "$BATS_TEST_TMPDIR/log")
}

# has_said POD WORD
has_said() {
	[[ $(kubectl logs "$1") == *$2* ]]
}

@test "pods: a program that saves at TERM has the whole grace, and its status is kept" {
	pod saves <<<'command: [/distinit, --init, --, sh, -c, "trap \"sleep 3; echo saved; exit 0\" TERM; echo up; while :; do sleep 0.1; done"]'
	pods run saves
	until_true has_said saves up
	ended_by_deletion saves
	says saved "exit status 0, 3" "s after SIGTERM from outside"
}

# --- shared namespaces ------------------------------------------------------------------------------

# A program that leaves one behind, which says so if it gets TERM, and ends with 4.
LEAVES='- --
- sh
- -c
- (trap "echo asked; exit" TERM; echo up >/tmp/up; while :; do sleep 0.1; done) & until test -e /tmp/up; do sleep 0.1; done; exit 4'

# leaves [OPTION]...: the container of such a program, under --init.
leaves() {
	printf 'command:\n'
	printf -- '- %s\n' /distinit --init "$@"
	printf '%s\n' "$LEAVES"
}

@test "pods: shareProcessNamespace: leftovers of the program are asked to end, those of other containers stay" {
	pod shared 'shareProcessNamespace: true' '
- name: other
  image: registry.example/train
  imagePullPolicy: Never
  command: [/distinit, --init, --, sleep, "5"]' < <(leaves)
	pods ended shared
	output=$(kubectl logs shared --container=main)
	says asked "exit status 4"
	same "the other's status" 0 "$(kubectl get pod shared --output=jsonpath='{.status.containerStatuses[?(@.name=="other")].state.terminated.exitCode}')"
}

@test "pods: kubectl exec: leftovers of what it starts are asked to end, and the pod's program stays" {
	pod open <<<'command: [/distinit, --init, --, sleep, "1004"]'
	pods run open
	run kubectl exec open -- /distinit --init -- \
		sh -c '(trap "echo asked >/tmp/asked; exit" TERM; echo up >/tmp/up; while :; do sleep 0.1; done) & until test -e /tmp/up; do sleep 0.1; done; exit 4'
	same "its status" 4 "$status"
	same "what the leftover said" asked "$(kubectl exec open -- cat /tmp/asked)"
}

@test "pods: hostPID: leftovers are left, unless --leftovers=end says otherwise" {
	alone left 'hostPID: true' < <(leaves)
	same "its status" 4 "$statuses"
	[[ $output != *asked* ]] || fail "they were asked"
	alone ended 'hostPID: true' < <(leaves --leftovers=end)
	same "its status" 4 "$statuses"
	says asked
}

@test "pods: hostPID: it is asked to end by a process of the machine, and ends at once" {
	pod host 'hostPID: true' <<<'command: [/distinit, --init, --, sleep, "1003"]'
	pods run host
	ended_by_deletion host
	says "killed by SIGTERM from pid "
}

# --- names ------------------------------------------------------------------------------------------

# indexed [FIELDS]: what distinit tells pod 1 of an Indexed Job of two, in $output.
indexed() {
	alone one "hostname: train-1
subdomain: train
$1" <<-'END'
		args: [sh, -c, 'echo "MASTER_ADDR=$MASTER_ADDR"']
		env: [{name: JOB_COMPLETION_INDEX, value: "1"}, {name: DISTINIT_NNODES, value: "2"}, {name: DISTINIT_LOG, value: error}]
	END
}

headless() {
	kubectl create --filename=- >/dev/null <<-'END'
		{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "train"},
		 "spec": {"clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "test"}}}
	END
}

@test "pods: setHostnameAsFQDN, and dnsPolicy None, change nothing for an Indexed Job" {
	headless
	indexed 'setHostnameAsFQDN: true'
	same "what it is told" "MASTER_ADDR=train-0.train.$NAMESPACE.svc.cluster.local" "$output"
	kubectl delete pod one >/dev/null
	indexed 'dnsPolicy: None
dnsConfig: {nameservers: [10.77.0.1]}'
	same "what it is told" "MASTER_ADDR=train-0.train.$NAMESPACE.svc.cluster.local" "$output"
}

@test "pods: hostNetwork: an Indexed Job needs DISTINIT_MASTER_ADDR, and the wait says so" {
	headless
	indexed 'hostNetwork: true'
	same "what it is told" "MASTER_ADDR=" "$output"
	pod waits "hostNetwork: true
hostname: train-1
subdomain: train" <<-'END'
		command: [/distinit, wait]
		env: [{name: JOB_COMPLETION_INDEX, value: "1"}, {name: DISTINIT_NNODES, value: "2"}]
	END
	last_words waits 125 "its address is not known: set MASTER_ADDR, or pass --master-addr"
	alone told "hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
hostname: train-0
subdomain: train" <<-'END'
		command: [/distinit, wait, --timeout=1m]
		env: [{name: JOB_COMPLETION_INDEX, value: "0"}, {name: DISTINIT_NNODES, value: "2"}, {name: DISTINIT_MASTER_ADDR, value: train-0.train}]
	END
	same "its status, told the address" 0 "$statuses"
}

@test "pods: services called distinit, distinit-x and pet-master change nothing, and one called master is replaced" {
	local name
	for name in distinit distinit-master distinit-x pet-master master; do
		kubectl create service clusterip "$name" --tcp=80:80 >/dev/null
	done
	headless
	alone links 'hostname: train-1
subdomain: train' <<-'END'
		args: [sh, -c, 'echo "ports: $MASTER_PORT $PET_MASTER_PORT; $DISTINIT_X_PORT_80_TCP_PROTO"']
		env: [{name: JOB_COMPLETION_INDEX, value: "1"}, {name: DISTINIT_NNODES, value: "2"}]
	END
	says "ports: 29500 29500; tcp" "warning: MASTER_PORT" "warning: PET_MASTER_PORT"
	same "how many warnings" 2 "$(grep -c warning <<<"$output")"
}
