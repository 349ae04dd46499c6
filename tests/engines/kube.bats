#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The pods of examples/kubernetes, under podman kube play, with what their controllers tell them (tests/programs/pods-of):
# each kind of job, with distinit in the image, installed by an initContainer, waiting in one, or writing a file in one.
#
# In place of PyTorch's image: one of busybox, with a stand-in for torchrun that meets the others. What only a
# kubelet does is not here: seccompProfile, fsGroup, the termination log.
#
# shellcheck disable=SC2030,SC2031,SC2154 # ended() of containers.bash sets status and output

load helpers
load containers

EXAMPLES=$BATS_TEST_DIRNAME/../../examples/kubernetes

setup_file() {
	podman_up
	[[ -z $NO_PODMAN ]] || return 0
	make_images >/dev/null
	pod_network cluster
}

make_images() {
	cp "$PROGRAMS/torchrun-stand-in" "$BATS_FILE_TMPDIR/torchrun"
	cp "$DISTINIT" "$BATS_FILE_TMPDIR/distinit"
	made_of localhost/distinit "$BATS_FILE_TMPDIR/distinit" <<-'END'
		FROM scratch
		COPY distinit /distinit
		USER 65534:65534
		ENTRYPOINT ["/distinit"]
	END
	made_of localhost/pytorch "$BATS_FILE_TMPDIR/torchrun" <<-'END'
		FROM localhost/busybox
		COPY torchrun /bin/torchrun
		WORKDIR /app
		RUN ["/bin/busybox", "touch", "train.py", "file"]
		RUN ["/bin/busybox", "chown", "1000", "file"]
	END
	"$PROGRAMS/podman-private" debian "$ENGINE"
	made_of localhost/train "$BATS_FILE_TMPDIR/distinit" <<-'END'
		FROM localhost/pytorch
		COPY distinit /distinit
		ENTRYPOINT ["/distinit", "--"]
		CMD ["torchrun", "train.py"]
	END
}

teardown_file() {
	podman_down
}

setup() {
	podman_ready
	"$PYTHON" -c 'import yaml' || skip "python3-yaml is not installed"
}

# play MANIFEST [MANIFEST OF THE SPEC]: the pods of a job, the last one first, from their start to their end. What each
# says is in $output, in the order of ranks. With MOUNT, that folder of this machine is in their containers.
play() {
	local dir=$BATS_TEST_TMPDIR/pods name i
	local -a names pids=()
	rm -rf "$dir"
	mkdir -p "$dir"
	"$PROGRAMS/pods-of" --image registry.example/train=localhost/train --image registry.example/distinit=localhost/distinit \
		--image pytorch/pytorch=localhost/pytorch ${VOLUME:+--image-volume "registry.example/distinit=$VOLUME"} \
		${MOUNT:+--mount "$MOUNT"} ${2:+--spec-of "$EXAMPLES/$2"} "$EXAMPLES/$1" "$dir" >"$dir/names"
	mapfile -t names <"$dir/names"
	for ((i = ${#names[@]} - 1; i >= 0; i--)); do
		run_pod "$dir" "${names[i]}" >"$dir/${names[i]}.log" 2>&1 3>&- &
		pids+=($!)
	done
	status=0
	for i in "${pids[@]}"; do
		wait "$i" || status=$?
	done
	output=$(for name in "${names[@]}"; do cat "$dir/$name.log"; done)
}

# run_pod DIR NAME: what its main container says, and its exit status.
run_pod() {
	local status=0
	# In a folder that has none of the images' names, which podman would take for one to build.
	cd "$1" || return
	if pod kube play --network cluster "$1/$2.yaml" >"$1/$2.play" 2>&1; then
		status=$(pod wait "$2-pytorch")
		pod logs "$2-pytorch"
	else
		status=1
		cat "$1/$2.play"
	fi
	# Not "kube down", which gives up where two do it at once. What another pod uses of the volumes stays.
	until_true pod pod rm --force --time 0 --ignore "$2"
	pod volume ls --quiet --filter "name=${2%%.*}-" | xargs -r "$PROGRAMS/podman-private" on "$ENGINE" volume rm >/dev/null 2>&1 || true
	return "$status"
}

# meet MASTER SCRIPT: two pods met there, and each is as narrow as its manifest says.
meet() {
	local rank
	same "the exit status" 0 "$status"
	for rank in 0 1; do
		[[ $output == *"torchrun $2: node $rank of 2, master $1, user 1000, CapPrm= NoNewPrivs=1"* ]] ||
			fail "node $rank was told another thing, or may too much"
	done
	same "how many met, on a read-only root" "2 2" "$(grep -c '^met all 2$' <<<"$output") $(grep -c '^read-only$' <<<"$output")"
}

# --- each example as it is --------------------------------------------------------------------------

INDEXED=train-0.train.default.svc.cluster.local:29500
JOBSET=train-node-0-0.train.default.svc.cluster.local:29500
LWS=train-0.train.default:29500
PYTORCHJOB=train-master-0:23456

@test "kube: indexed-job.yaml, with distinit in the image" {
	play indexed-job.yaml
	meet $INDEXED train.py
}

@test "kube: jobset.yaml, with an initContainer that waits" {
	play jobset.yaml
	meet $JOBSET train.py
}

@test "kube: leaderworkerset.yaml, with an initContainer that writes the variables down" {
	play leaderworkerset.yaml
	meet $LWS /app/train.py
}

@test "kube: pytorchjob.yaml, with an initContainer that installs, and a wait before the command" {
	play pytorchjob.yaml
	meet $PYTORCHJOB /app/train.py
}

@test "kube: image-volume.yaml, with distinit's image as a volume" {
	VOLUME=$(pod image mount localhost/distinit)
	VOLUME=$VOLUME play image-volume.yaml
	meet $INDEXED /app/train.py
	# Another kind of job takes the same pods; only the size has to be told.
	VOLUME=$VOLUME play leaderworkerset.yaml image-volume.yaml
	meet $LWS /app/train.py
}

# --- each way with each kind --------------------------------------------------------------------------

# DISTINIT_NNODES is the Indexed Job's and the JobSet's to say: the pods of the other two ways do not have it.
@test "kube: baked in, in the other kinds of jobs" {
	play leaderworkerset.yaml indexed-job.yaml
	meet $LWS train.py
	play pytorchjob.yaml indexed-job.yaml
	meet $PYTORCHJOB train.py
}

@test "kube: waiting, in an Indexed Job and a LeaderWorkerSet" {
	play indexed-job.yaml jobset.yaml
	meet $INDEXED train.py
	play leaderworkerset.yaml jobset.yaml
	meet $LWS train.py
}

@test "kube: installed, in a LeaderWorkerSet" {
	play leaderworkerset.yaml pytorchjob.yaml
	meet $LWS /app/train.py
}

# with_nnodes MANIFEST: the example, telling the size in each container.
with_nnodes() {
	"$PYTHON" - "$EXAMPLES/$1" >"$BATS_TEST_TMPDIR/$1" <<-'END'
		import sys, yaml
		def visit(node):
		    if isinstance(node, dict):
		        if "image" in node:
		            node["env"] = [{"name": "DISTINIT_NNODES", "value": "2"}]
		        node = list(node.values())
		    if isinstance(node, list):
		        for each in node:
		            visit(each)
		document = yaml.safe_load(open(sys.argv[1]))
		visit(document)
		yaml.safe_dump(document, sys.stdout)
	END
}

@test "kube: installed, and written down, in an Indexed Job and a JobSet" {
	with_nnodes pytorchjob.yaml
	with_nnodes leaderworkerset.yaml
	local up
	EXAMPLES=$(realpath "$EXAMPLES")
	up=$(realpath --relative-to="$EXAMPLES" "$BATS_TEST_TMPDIR")
	play indexed-job.yaml "$up/pytorchjob.yaml"
	meet $INDEXED /app/train.py
	play jobset.yaml "$up/leaderworkerset.yaml"
	meet $JOBSET /app/train.py
}

# In Kubernetes, for services that publish the names of pods that are not ready.
@test "kube: an initContainer calls the roll, and writes the variables down" {
	local manifest=$BATS_TEST_TMPDIR/roll-call.yaml
	sed 's,args: \[env\, --output=/cluster/env\],args: [wait\, --for=all\, --timeout=60s\, --output=/cluster/env\, --format=shell],' \
		"$EXAMPLES/leaderworkerset.yaml" >"$manifest"
	grep -q -- --for=all "$manifest"
	EXAMPLES=/ play "$manifest"
	meet $LWS /app/train.py
}

# --- the component ----------------------------------------------------------------------------------

# rendered JOB: the file of a job, with the component. By the stand-in; where kubectl can do it, both must agree.
rendered() {
	local dir=$BATS_TEST_TMPDIR/rendered
	rm -rf "$dir"
	mkdir "$dir"
	cp -r "$EXAMPLES/component" "$EXAMPLES/overlay" "$dir/"
	[[ $1 == overlay/job.yaml ]] || cp "$1" "$dir/overlay/job.yaml"
	"$PROGRAMS/kustomize-stand-in" "$dir/overlay" >"$dir/job.yaml" || return
	if command -v kubectl >/dev/null && kubectl kustomize --help | grep -q -- --enable-alpha-plugins; then
		kubectl kustomize "$dir/overlay" >"$dir/other.yaml" || return
		same_documents "$dir/job.yaml" "$dir/other.yaml" || return
	fi
	printf '%s\n' "$dir/job.yaml"
}

same_documents() {
	"$PYTHON" - "$@" <<-'END'
		import sys, yaml
		one, other = (sorted(yaml.safe_load_all(open(path)), key=str) for path in sys.argv[1:])
		sys.exit(0 if one == other else f"not the same: {one}\n{other}")
	END
}

# without_distinit EXAMPLE: the job as somebody writes it who does not know distinit. With MORE, it has an initContainer.
without_distinit() {
	"$PYTHON" - "$EXAMPLES/$1" "${MORE-}" >"$BATS_TEST_TMPDIR/plain.yaml" <<-'END'
		import sys, yaml
		more = [{"name": "more", "image": "pytorch/pytorch", "command": ["/bin/busybox", "true"]}]
		def visit(node):
		    if isinstance(node, dict):
		        if "containers" in node:
		            node.pop("initContainers", None)
		            if sys.argv[2]:
		                node["initContainers"] = more
		            node["containers"][0].pop("args", None)
		            node["containers"][0] |= {"image": "pytorch/pytorch", "command": ["torchrun", "/app/train.py"]}
		        node = list(node.values())
		    if isinstance(node, list):
		        for each in node:
		            visit(each)
		documents = list(yaml.safe_load_all(open(sys.argv[1])))
		visit(documents)
		yaml.safe_dump_all(documents, sys.stdout)
	END
	printf '%s\n' "$BATS_TEST_TMPDIR/plain.yaml"
}

# play_rendered JOB
play_rendered() {
	local file
	file=$(rendered "$1") || fail "it is not rendered"
	EXAMPLES=/ play "$file"
}

@test "kube: the component adds distinit to the job of its example" {
	play_rendered overlay/job.yaml
	meet $INDEXED /app/train.py
}

@test "kube: the component adds distinit to a JobSet" {
	play_rendered "$(without_distinit jobset.yaml)"
	meet $JOBSET /app/train.py
}

@test "kube: the component adds distinit to a LeaderWorkerSet, and keeps its initContainer" {
	play_rendered "$(MORE=1 without_distinit leaderworkerset.yaml)"
	grep -q 'name: more' "$BATS_TEST_TMPDIR/rendered/job.yaml"
	meet $LWS /app/train.py
}

@test "kube: the component adds distinit to a PyTorchJob" {
	play_rendered "$(without_distinit pytorchjob.yaml)"
	meet $PYTORCHJOB /app/train.py
}

@test "kube: the component refuses a job whose command it cannot see" {
	local plain
	plain=$(without_distinit indexed-job.yaml)
	sed -i '/command:/,/train.py/d' "$plain"
	ended rendered "$plain"
	[[ $status -ne 0 && $output == *"add operation does not apply"* ]] || fail "it is taken"
	plain=$(without_distinit pytorchjob.yaml)
	sed -i 's/^    Master:/    Other:/' "$plain"
	ended rendered "$plain"
	[[ $status -ne 0 && $output == *"add operation does not apply"* ]] || fail "it is taken"
}

# --- engines that take flags ------------------------------------------------------------------------

@test "kube: Dask's scheduler and two workers by one template of a LeaderWorkerSet, and they compute" {
	command -v dask >/dev/null || skip "python3-distributed is not installed"
	local manifest=$BATS_TEST_TMPDIR/dask.yaml client
	"$PYTHON" - "$EXAMPLES/vllm-lws.yaml" >"$manifest" <<-'END'
		import sys, yaml
		document = yaml.safe_load(open(sys.argv[1]))
		template = document["spec"]["leaderWorkerTemplate"]
		template["size"] = 3
		container, = template["workerTemplate"]["spec"]["containers"]
		container |= {"name": "pytorch", "image": "localhost/debian", "workingDir": "/tmp", "env": [{"name": "HOME", "value": "/tmp"}]}
		container["command"] = ["/tools/distinit", "--fill", "--wait=60s", "--for=all", "--"]
		container["args"] = ["dask", ":master:", "scheduler", "--port=8786", "--no-dashboard", ":workers:", "worker",
		                     "tcp://{master-addr}:8786", "--nthreads=1", "--no-dashboard", "--no-nanny", "--name={node-rank}"]
		del container["resources"]
		yaml.safe_dump(document, sys.stdout)
	END
	pod run --rm --name client --network cluster --volume /usr:/usr:ro --volume "$(realpath "$PROGRAMS"):/programs:ro" --env HOME=/tmp \
		localhost/debian /usr/bin/python3 /programs/dask-client vllm-0.vllm.default:8786 2 >"$BATS_TEST_TMPDIR/client" 2>&1 3>&- &
	client=$!
	MOUNT=/usr EXAMPLES=/ play "$manifest"
	wait "$client" || fail "the client: $(<"$BATS_TEST_TMPDIR/client")"
	# Before it or behind it, Dask may tell that the scheduler has gone.
	grep -qx "1 2: 285" "$BATS_TEST_TMPDIR/client" || fail "the client says: $(<"$BATS_TEST_TMPDIR/client")"
}

# --- what goes wrong --------------------------------------------------------------------------------

# action STATUS: what the rules of failure-policy.yaml do with it: in the container, whose are comments there, else in the job.
action() {
	"$PYTHON" - "$EXAMPLES/failure-policy.yaml" "$1" <<-'END'
		import re, sys, yaml
		text, found = re.subn(r"(?m)^( +)# (?=restartPolicy|  -|    exitCodes)", r"\1", open(sys.argv[1]).read())
		assert found == 6
		status, (_, job) = int(sys.argv[2]), yaml.safe_load_all(text)
		container, = job["spec"]["template"]["spec"]["containers"]
		def first(rules, key):
		    for rule in rules:
		        codes = rule.get(key, {"operator": "In", "values": []})
		        assert codes["operator"] == "In" and codes.get("containerName", container["name"]) == container["name"]
		        if status in codes["values"]:
		            return rule["action"]
		    return "Count"
		print(first(container["restartPolicyRules"], "exitCodes"), first(job["spec"]["podFailurePolicy"]["rules"], "onExitCodes"))
	END
}

# played_with CHANGE POD: the second pod alone, with a change to the manifest by sed. Its exit status is in $code, and
# what it says in $output.
played_with() {
	local dir=$BATS_TEST_TMPDIR/changed pod=train-1.train.default.svc.cluster.local
	rm -rf "$dir"
	mkdir "$dir"
	sed "$1" "$EXAMPLES/failure-policy.yaml" >"$dir/job.yaml"
	"$PROGRAMS/pods-of" --image registry.example/train=localhost/train "$dir/job.yaml" "$dir" >/dev/null
	ended run_pod "$dir" "$pod"
	code=$status
}

@test "kube: failure-policy.yaml" {
	play failure-policy.yaml
	meet $INDEXED "train.py"
}

@test "kube: success-policy.yaml, with its sidecar" {
	play success-policy.yaml
	meet $INDEXED "train.py"
}

@test "kube: failure-policy.yaml: what fails by itself counts, and says so" {
	played_with 's/DISTINIT_TOGETHER/DISTINIT_INIT/; s/value: workers/value: "1"/; s/DISTINIT_WAIT/OTHER/; s/args: .*/args: [sh, -c, exit 7]/'
	same "the rules" "Count Count" "$(action "$code")"
	[[ $output == *'distinit: warning: sh ended after '*': exit status 7' ]] || fail "it does not say why"
}

@test "kube: failure-policy.yaml: a master that does not come counts, a mistake ends the job" {
	played_with 's/value: 10m/value: 1s/'
	same "the rules for a master that never comes" "124 Count Count" "$code $(action "$code")"
	played_with 's/DISTINIT_WAIT/DISTINIT_HOSTS/'
	same "the status of a mistake" 125 "$code"
	same "its rules" "Count FailJob" "$(action "$code")"
	played_with 's/DISTINIT_TOGETHER/OTHER/; s/DISTINIT_WAIT/ANOTHER/; s/args: .*/args: [no-such-program]/'
	same "the rules for $code" "Count FailJob" "$(action "$code")"
}

@test "kube: failure-policy.yaml: a pod whose program is ended because of another starts again, and does not count" {
	local dir=$BATS_TEST_TMPDIR/together name
	mkdir "$dir"
	cd "$dir"
	# shellcheck disable=SC2016 # for the pod's shell
	sed 's/args: .*/args: [sh, -c, "case $JOB_COMPLETION_INDEX in 0) sleep 60;; esac; exit 7"]/' "$EXAMPLES/failure-policy.yaml" >job.yaml
	"$PROGRAMS/pods-of" --image registry.example/train=localhost/train job.yaml . >names
	mapfile -t names <names
	for name in "${names[@]}"; do pod kube play --network cluster "$name.yaml" >/dev/null 3>&-; done
	same "the exit status" "123 7" "$(pod wait "${names[@]/%/-pytorch}" | xargs)"
	output=$(for name in "${names[@]}"; do pod logs "$name-pytorch" 2>&1; done)
	pod pod rm --force --time 0 --all >/dev/null
	[[ $output == *'distinit: error: ended because train-1.'*' (rank 1) failed first: exit status 7, '*'s ago'* ]] || fail "it does not say why"
	same "the rules for 123" "Restart Ignore" "$(action 123)"
	same "the rules of the first" "Count Count" "$(action 7)"
}

@test "kube: a master that never comes ends the wait, and the main container does not start" {
	local dir=$BATS_TEST_TMPDIR/alone
	mkdir "$dir"
	sed 's/timeout=10m/timeout=1s/' "$EXAMPLES/jobset.yaml" >"$dir/jobset.yaml"
	"$PROGRAMS/pods-of" --image registry.example/train=localhost/train "$dir/jobset.yaml" "$dir" >"$dir/names"
	ended run_pod "$dir" train-node-0-1.train.default.svc.cluster.local
	[[ $status -ne 0 && $output != *torchrun* ]] || fail "the main container ran"
	[[ $output == *124* ]] || fail "podman does not tell the exit status 124"
}

@test "kube: an initContainer that ran before runs again, into the same volume" {
	local dir=$BATS_TEST_TMPDIR/again
	mkdir "$dir"
	cat >"$dir/again.yaml" <<-'END'
		apiVersion: v1
		kind: Pod
		metadata: {name: again}
		spec:
		  restartPolicy: Never
		  initContainers:
		  - {name: first, image: localhost/distinit, args: [install, /tools], volumeMounts: [{name: again, mountPath: /tools}]}
		  - {name: second, image: localhost/distinit, args: [install, /tools], volumeMounts: [{name: again, mountPath: /tools}]}
		  containers:
		  - {name: pytorch, image: localhost/pytorch, command: [/tools/distinit, --version], volumeMounts: [{name: again, mountPath: /tools}]}
		  volumes: [{name: again, emptyDir: {}}]
	END
	
	ended run_pod "$dir" again
	same "what it says" "$("$DISTINIT" --version)" "$output"
}
