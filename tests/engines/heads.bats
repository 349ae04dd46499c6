#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The commands at the head of each example, typed as they are written there, in a copy of the tree: by podman and podman-compose under
# the name of docker, a real Slurm, Charliecloud under the name of apptainer, and kubectl without a cluster, if it is installed. PyTorch
# and engines are programs that say what they were told.
#
# shellcheck disable=SC2016 # what is quoted is for another shell
# shellcheck disable=SC2030,SC2031,SC2154 # ended() of containers.bash sets status and output

load helpers
load containers

# What cannot be typed here, and why.
declare -gA NOT_RUN=(
	[docker/Dockerfile.debian]='it compiles for a minute: docker.bats builds it, for both processors, as buildx does with an emulator'
	[docker/Dockerfile.alpine]='it needs the packages of Alpine: docker.bats builds it with a stand-in for apk'
	[examples/engines/compose.yaml]='it needs two machines, with RDMA cards: e2e/manifests.bats runs its command on each'
	[examples/packaging/package.nix]='it needs nixpkgs, from the network'
)
# No commands are at the head, as the file is a part of another, or of a machine; packaging.bats types that of debian/rules.
PARTS='\.md$|debian/|\.py$|daemon\.json|containers\.conf|train\.service|recipe\.yaml|bootstrap\.sh$|Dockerfile\.release$'
# How a manifest is started is the same for all (examples/README.md). tests/kubernetes/examples.bats starts most of them.
MANIFESTS='^examples/(kubernetes|engines)/'

setup_file() {
	export BIN=$BATS_FILE_TMPDIR/bin
	mkdir -p "$BIN"
	podman_up
	[[ -n $NO_PODMAN ]] || make_images 3>&-
	cluster_up --nodes=4 --gpus=8
	make_programs
}

# What stands for PyTorch's image; and the one that the first line of most heads builds (docker.bats builds it by that line).
make_images() {
	printf '#!/bin/sh\necho "torchrun $*: node $PET_NODE_RANK of $PET_NNODES at $PET_MASTER_ADDR"\n' >"$BATS_FILE_TMPDIR/torchrun"
	printf '#!/bin/sh\necho "python3 $*: start ${DISTINIT_RESTART_COUNT-}"\nexec /bin/busybox sleep 1000\n' >"$BATS_FILE_TMPDIR/python3"
	chmod 755 "$BATS_FILE_TMPDIR/torchrun" "$BATS_FILE_TMPDIR/python3"
	cp "$DISTINIT" "$BATS_FILE_TMPDIR/distinit"
	made_of localhost/pytorch "$BATS_FILE_TMPDIR/torchrun" "$BATS_FILE_TMPDIR/python3" <<<$'FROM localhost/busybox\nCOPY torchrun python3 /bin/'
	pod tag localhost/pytorch docker.io/pytorch/pytorch
	made_of localhost/alone "$BATS_FILE_TMPDIR/distinit" <<<$'FROM scratch\nCOPY distinit /distinit'
	printf '#!/bin/sh\nexec "%s" on "%s" "$@"\n' "$(realpath "$PROGRAMS")/podman-private" "$ENGINE" >"$BATS_FILE_TMPDIR/podman"
	cat >"$BIN/docker" <<-END
		#!/bin/sh
		case "\$*" in
		"build -f docker/Dockerfile.debian -t distinit .") exec $BATS_FILE_TMPDIR/podman tag localhost/alone localhost/distinit ;;
		"build "*) shift && exec $BATS_FILE_TMPDIR/podman build --network none "\$@" ;;
		"run "*) shift && exec $BATS_FILE_TMPDIR/podman run --network none "\$@" ;;
		# podman-compose 1.3.0 looks for the file from that file's folder.
		"compose -f "*)
			file=\$(realpath "\$3") && shift 3
			exec podman-compose --podman-path $BATS_FILE_TMPDIR/podman -f "\$file" "\$@"
			;;
		esac
		echo "docker: not known here: \$*" >&2
		exit 1
	END
	chmod 755 "$BATS_FILE_TMPDIR/podman" "$BIN/docker"
}

# make_program NAME <<SCRIPT
make_program() {
	{ echo '#!/bin/bash' && cat; } >"$BIN/$1"
	chmod 755 "$BIN/$1"
}

make_programs() {
	local name
	ln -s "$DISTINIT" "$BIN/distinit"
	for name in torchrun python; do
		make_program $name <<<"echo \"$name \$*: node \${PET_NODE_RANK-} of \${PET_NNODES-}, rank \${RANK-} of \${WORLD_SIZE-} at \${MASTER_ADDR-}\""
	done
	# But for what the tests themselves run by it.
	make_program python3 <<-'END'
		case "$*" in
		*/app/train.py | '-m sglang.'*) echo "python3 $*: rank ${RANK-} of ${WORLD_SIZE-}" ;;
		*) exec /usr/bin/python3 "$@" ;;
		esac
	END
	# The head stays until it is asked to end.
	make_program ray <<-END
		[[ \$1 != symmetric-run ]] || exec echo "ray \$*"
		[[ \$1 == start ]] || exec test -e $BATS_FILE_TMPDIR/head
		echo "ray \$*"
		[[ " \$* " != *' --head '* ]] || touch $BATS_FILE_TMPDIR/head
		exec sleep 1000
	END
	# An image is a folder. It is from busybox, with what stands for PyTorch.
	make_program apptainer <<-END
		if [[ \$1 == build ]]; then
			mkdir -p "\$2"/{app,bin,dev,etc,home,mnt,proc,root,run,sys,tmp,usr/bin,var}
			cp $(command -v busybox) "\$2/bin/busybox" && ln -s busybox "\$2/bin/sh"
			cp $BIN/torchrun "\$2/bin/torchrun" && sed -i 's,bin/bash,bin/sh,' "\$2/bin/torchrun" && cp "\$2/bin/torchrun" "\$2/bin/python"
			touch "\$2"/etc/{passwd,group,hosts,resolv.conf}
			chmod 755 "\$2"
		fi
		# The jobs' heads make no image: it is that of train.def, whose runscript starts distinit.
		[[ -d \$2 ]] || exec distinit -- "\${@:3}"
		exec $PROGRAMS/apptainer-stand-in "\$@"
	END
	# pyxis takes --container-image, and runs each task in that image, which has distinit as /distinit.
	make_program srun <<-'END'
		image='' words=()
		for word; do
			[[ $word != --container-image=* ]] || { image=${word#*=} && continue; }
			[[ -z $image || $word != /distinit ]] || word=distinit
			words+=("$word")
		done
		exec REAL "${words[@]}"
	END
	sed -i "s|REAL|$(type -P srun)|" "$BIN/srun"
	# Where it is not installed, for the one line that the heads have.
	if [[ -n $(type -P kubectl) ]]; then
		make_program kubectl <<<"exec $(type -P kubectl) \"\$@\" --dry-run=client --output=json"
	else
		make_program kubectl <<-'END'
			[[ $# == 5 && "$1 $2 $3" == 'create secret generic' && $5 == --from-literal=?*=?* ]] || { echo "kubectl: not known here: $*" && exit 1; }
			pair=${5#--from-literal=}
			printf '{"kind": "Secret", "metadata": {"name": "%s"}, "data": {"%s": "%s"}}\n' "$4" "${pair%%=*}" "$(printf %s "${pair#*=}" | base64)"
		END
	fi
	# One container after the other starts what -c has, with what Backend.AI tells it; one of them waits for all.
	make_program backend.ai <<-'END'
		[[ "$1 $2 $3 $4" == 'session create -t batch' ]] || { echo "backend.ai: not known here: $*" && exit 2; }
		shift 4
		while (($# > 1)); do
			case $1 in
			--cluster-size) size=$2 ;;
			--cluster-mode) mode=$2 ;;
			-c) command=$2 ;;
			*) echo "backend.ai: not known here: $1" && exit 2 ;;
			esac
			shift 2
		done
		[[ $mode == multi-node && $1 == IMAGE ]]
		export BACKENDAI_CLUSTER_SIZE=$size BACKENDAI_CLUSTER_HOSTS=127.0.0.1
		for ((i = 2; i <= size; i++)); do BACKENDAI_CLUSTER_HOSTS+=,127.0.0.$i; done
		for ((i = 0; i < size; i++)); do
			BACKENDAI_CLUSTER_HOST=127.0.0.$((i + 1)) BACKENDAI_CLUSTER_LOCAL_RANK=$i sh -c "$command" &
		done
		wait -n && wait
	END
}

teardown_file() {
	cluster_down
	podman_down
}

teardown() {
	cluster_clean
}

# head_of FILE: the commands at its head.
head_of() {
	sed -nE 's/^#     (.*)$/\1/p' "$TREE/$1"
}

# typed FILE [COMMAND]...: its head, in a copy of the tree; by "COMMAND... bash -c".
typed() {
	local copy=$BATS_TEST_TMPDIR/tree
	mkdir -p "$copy/build"
	cp -r "$TREE"/{docker,examples,.dockerignore} "$copy/"
	cp "$DISTINIT" "$copy/build/distinit"
	cd "$copy" || return
	PATH=${FIRST:+$FIRST:}$BIN:$PATH ended "${@:2}" bash -euo pipefail -c "$(head_of "$1")"
	same "the exit status" 0 "$status"
}

# has TEXT...: it was printed.
has() {
	local text
	for text; do
		[[ $output == *"$text"* ]] || fail "nothing is printed of: $text"
	done
}

# submitted FILE TEXT...: the job of its head ends well, and has printed that.
submitted() {
	cluster_ready
	local job
	typed "$1" login
	[[ $output == "Submitted batch job "* ]] || fail "nothing was submitted"
	job=${output##* }
	local until=$((SECONDS + LIMIT))
	until ended_job "$job" || ((SECONDS >= until)); do sleep 0.1; done
	output=$(<"slurm-$job.out")
	[[ $(login scontrol show job "$job") == *JobState=COMPLETED* ]] || fail "the job failed: $(login scontrol show job "$job")"
	has "${@:2}"
}

ended_job() {
	[[ $(login scontrol show job "$1") =~ JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL) ]]
}

@test "heads: each example is started by a test, or has no start of its own, or cannot be started here" {
	local file
	cd "$TREE"
	while read -r file; do
		[[ ! $file =~ $PARTS ]] || continue
		if grep -q "^@test \"heads: $file" "$BATS_TEST_FILENAME"; then
			continue
		elif [[ $file =~ $MANIFESTS && -z $(head_of "$file") ]]; then
			# A file of its own, or one of the folder of a component or overlay.
			grep -qE "${file##*/}|EXAMPLES/$(basename "${file%/*}")\"" tests/kubernetes/examples.bats tests/engines/kube.bats tests/e2e/network.bats tests/e2e/manifests.bats ||
				fail "nothing starts $file"
		elif [[ -z ${NOT_RUN[$file]-} ]]; then
			fail "no test types the head of $file"
		fi
	done < <(find docker examples -type f)
	for file in "${!NOT_RUN[@]}"; do
		[[ -n $(head_of "$file") ]] || grep -q '^# For Nix: ' "$file" || fail "$file has no head"
	done
}

@test "heads: docker/Dockerfile.example" {
	podman_ready
	typed docker/Dockerfile.example
	ended pod run --rm --network none localhost/train
	has 'torchrun train.py: '
}

@test "heads: examples/pytorch/Dockerfile" {
	podman_ready
	pod rmi --force localhost/distinit localhost/train >/dev/null 2>&1 || true
	typed examples/pytorch/Dockerfile
	ended pod run --rm --network none localhost/train
	has 'torchrun train.py: '
}

@test "heads: examples/pytorch/Dockerfile: without its first line there is no image distinit" {
	podman_ready
	pod rmi --force localhost/distinit localhost/train >/dev/null 2>&1 || true
	cd "$TREE"
	PATH=$BIN:$PATH ended bash -euo pipefail -c "$(head_of examples/pytorch/Dockerfile | sed 1d)"
	[[ $status -ne 0 && $output == *distinit* ]] || fail "it works without an image distinit"
}

@test "heads: examples/compose/compose.yaml" {
	podman_ready
	command -v podman-compose || skip "podman-compose is not installed"
	pod rmi --force localhost/distinit localhost/train >/dev/null 2>&1 || true
	typed examples/compose/compose.yaml
	has 'torchrun train.py: node 0 of 2 at main1' 'torchrun train.py: node 1 of 2 at main1'
	pod rm --all --force --time 0 >/dev/null
}

@test "heads: examples/compose/service.yaml" {
	podman_ready
	command -v podman-compose || skip "podman-compose is not installed"
	pod rmi --force localhost/distinit localhost/train >/dev/null 2>&1 || true
	# It stays up, until somebody ends it.
	local copy=$BATS_TEST_TMPDIR/tree
	(typed examples/compose/service.yaml) >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	until_true both_serve
	pod rm --all --force --time 0 >/dev/null
	wait $! || true
}

both_serve() {
	[[ $(pod logs compose_main1_1 2>&1) == *"python3 -m http.server 8000: start 0"* && $(pod logs compose_sub1_1 2>&1) == *": start 0"* ]]
}

@test "heads: examples/singularity/train.def" {
	cluster_ready
	[[ -z $(missing ch-run busybox setpriv) ]] || skip "$(missing ch-run busybox setpriv)"
	# Others than root use the image.
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	typed examples/singularity/train.def login
	has 'torchrun /app/train.py: node 0 of 2, ' 'torchrun /app/train.py: node 1 of 2, '
}

@test "heads: examples/slurm/pyxis.sbatch" {
	submitted examples/slurm/pyxis.sbatch 'torchrun /app/train.py: node 0 of 2' 'torchrun /app/train.py: node 1 of 2'
}

@test "heads: examples/slurm/singularity.sbatch" {
	submitted examples/slurm/singularity.sbatch 'torchrun /app/train.py: node 0 of 2' 'torchrun /app/train.py: node 1 of 2'
}

@test "heads: examples/slurm/singularity-ranks.sbatch" {
	submitted examples/slurm/singularity-ranks.sbatch 'rank 0 of 4 at n1' 'rank 3 of 4 at n1'
}

@test "heads: examples/slurm/requeue.sbatch" {
	submitted examples/slurm/requeue.sbatch 'torchrun /app/train.py: node 0 of 2' 'torchrun /app/train.py: node 1 of 2'
}

@test "heads: examples/slurm/roll-call.sbatch" {
	submitted examples/slurm/roll-call.sbatch 'python3 /app/train.py: rank 0 of 8' 'python3 /app/train.py: rank 7 of 8'
}

@test "heads: examples/slurm/sglang.sbatch" {
	submitted examples/slurm/sglang.sbatch '--tp-size=16 --nnodes=2 --node-rank=0 --dist-init-addr=n1:' '--node-rank=1 --dist-init-addr=n1:'
}

@test "heads: examples/slurm/ray.sbatch" {
	# This cluster's names are the loopback, which is no node's address for others.
	FIRST=$BATS_TEST_TMPDIR/first
	mkdir "$FIRST"
	printf '198.51.100.1 n%s\n' 1 2 3 4 >"$FIRST/hosts"
	cat >"$FIRST/distinit" <<-END
		#!/bin/sh
		exec unshare --mount sh -euc 'mount --bind $FIRST/hosts /etc/hosts && exec "\$@"' sh $DISTINIT "\$@"
	END
	chmod 755 "$FIRST/distinit"
	submitted examples/slurm/ray.sbatch ' --head --port=6379' '--address=n1:6379' 'python3 /app/train.py: '
}

@test "heads: examples/slurm/ray.sbatch: where no cluster comes up, the job ends, too" {
	cluster_ready
	mkdir -p "$BATS_TEST_TMPDIR/first"
	printf '#!/bin/sh\nexit 7\n' >"$BATS_TEST_TMPDIR/first/distinit"
	chmod 755 "$BATS_TEST_TMPDIR/first/distinit"
	rm -f "$BATS_FILE_TMPDIR/head"
	FIRST=$BATS_TEST_TMPDIR/first typed examples/slurm/ray.sbatch login
	until_true ended_job "${output##* }"
	[[ $(login scontrol show job "${output##* }") == *JobState=FAILED* ]] || fail "it ends otherwise"
}

@test "heads: examples/engines/ray-symmetric.sbatch" {
	submitted examples/engines/ray-symmetric.sbatch 'ray symmetric-run --address=n1:6379 --min-nodes=2 -- vllm serve'
	same "how many nodes have these words" 2 "$(grep -c ' --min-nodes=2 -- vllm serve Qwen/Qwen3-32B .*--tensor-parallel-size=16$' <<<"$output")"
}

@test "heads: examples/engines/nim.sbatch" {
	# The master's address has to be one of its own, and no loopback; the image has the program.
	FIRST=$BATS_TEST_TMPDIR/first
	mkdir -p "$FIRST/opt/nim"
	printf '198.51.100.1 n%s\n' 1 2 3 4 >"$FIRST/hosts"
	printf '#!/bin/sh\necho "nim: node $NIM_NODE_RANK of $NIM_NUM_COMPUTE_NODES, leader $NIM_LEADER_ROLE, at $NIM_LEADER_IP_ADDRESS"\n' >"$FIRST/opt/nim/start_server.sh"
	cat >"$FIRST/distinit" <<-END
		#!/bin/sh
		exec unshare --net --mount sh -euc 'ip link set lo up && ip addr add 198.51.100.1/32 dev lo
			mount --bind $FIRST/hosts /etc/hosts && mount --bind $FIRST/opt /opt && exec "\$@"' sh $DISTINIT "\$@"
	END
	chmod 755 "$FIRST/distinit" "$FIRST/opt/nim/start_server.sh"
	submitted examples/engines/nim.sbatch 'nim: node 0 of 2, leader 1, at 198.51.100.1' 'nim: node 1 of 2, leader 0, at 198.51.100.1'
}

@test "heads: examples/kubernetes/roll-call.yaml, and the secret that its pods name" {
	secret_of examples/kubernetes/roll-call.yaml
}

@test "heads: examples/kubernetes/vllm-restarts.yaml, and the secret that its pods name" {
	secret_of examples/kubernetes/vllm-restarts.yaml
}

# secret_of FILE: its head makes a secret of 32 digits, under the name and the key by which the pods have it.
secret_of() {
	[[ -n $(type -P openssl) ]] || skip "openssl is not installed"
	typed "$1"
	cat >"$BATS_TEST_TMPDIR/compare.py" <<-'END'
		import base64, json, sys, yaml

		def references(value):
		    """Each secretKeyRef in a manifest."""
		    found = [value["secretKeyRef"]] if isinstance(value, dict) and "secretKeyRef" in value else []
		    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
		        found += references(one)
		    return found

		made, manifest = json.loads(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read()
		found = [one for part in yaml.safe_load_all(manifest) for one in references(part)]
		assert found, "the pods name no secret"
		for one in found:
		    text = base64.b64decode(made["data"][one["key"]]).decode()
		    assert (made["kind"], made["metadata"]["name"]) == ("Secret", one["name"]), made
		    assert len(text) == 32 and int(text, 16), text
	END
	"$PYTHON" "$BATS_TEST_TMPDIR/compare.py" "$output" "$TREE/$1" || fail "another secret than the pods want"
}

@test "heads: examples/github/explain.yaml: its steps, each by bash as GitHub starts it" {
	podman_ready
	cat >"$BATS_TEST_TMPDIR/steps.py" <<-'END'
		import json, sys, yaml

		flow = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
		assert flow[True] == ["pull_request"] and flow["jobs"]["explain"]["runs-on"]
		print("\n".join(f"export {name}={json.dumps(value)}" for name, value in flow["env"].items()))
		print("export IMAGE=localhost/alone")
		for step in flow["jobs"]["explain"]["steps"]:
		    assert list(step) == ["run"]
		    print(step["run"])
	END
	"$PYTHON" "$BATS_TEST_TMPDIR/steps.py" "$TREE/examples/github/explain.yaml" >"$BATS_TEST_TMPDIR/script"
	pod build --quiet --network none --tag localhost/alone - <<<$'FROM localhost/alone\nENTRYPOINT ["/distinit"]' 3>&-
	PATH=$BIN:$PATH ended bash --noprofile --norc -eo pipefail "$BATS_TEST_TMPDIR/script"
	same "the exit status" 0 "$status"
	has $'nodes          4: n[1-4]\nall            MASTER_ADDR=n1\n' $'\n3 n4           PET_NODE_RANK=3\n' \
		'rank 0 of 4, n1' 'rank 1 of 4, n2' 'rank 2 of 4, n3' 'rank 3 of 4, n4'
}

@test "heads: examples/kubernetes/worker-probe.yaml: its command, where the leader serves, and where it does not" {
	[[ -z $(missing unshare ip) ]] || skip "$(missing unshare ip)"
	local -a probe
	mapfile -t probe < <("$PYTHON" -c 'import sys, yaml
container = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))["spec"]["containers"][0]
words = container["livenessProbe"]["exec"]["command"]
assert words == container["startupProbe"]["exec"]["command"]
print(*words, sep="\n")' "$TREE/examples/kubernetes/worker-probe.yaml")
	same "the program" /distinit "${probe[0]}"
	ended env -i PATH="$PATH" DISTINIT_HOSTS=127.0.0.1,127.0.0.2 DISTINIT_NODE_RANK=1 DISTINIT_LOG=error unshare --net -- bash -c '
		ip link set lo up
		"$@"
		echo "before: $?"
		/usr/bin/python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &
		until "$@" 2>/dev/null; do :; done
		"$@"
		echo "then: $?"
		kill $!' bash "$DISTINIT" "${probe[@]:1}"
	[[ $output == *"before: 124"*"then: 0" ]] || fail "another answer"
}

@test "heads: examples/backendai/roll-call.sh" {
	[[ -z $(missing unshare ip) ]] || skip "$(missing unshare ip)"
	# In its folder, where Backend.AI's users have it.
	local root=$BATS_TEST_TMPDIR/root rank
	mkdir -p "$root/home/config/ssh" "$BATS_TEST_TMPDIR/tree/examples"
	head -c 16 /dev/urandom | od -An -tx1 >"$root/home/config/ssh/id_cluster"
	printf '%s\n' 'cd examples/backendai' "$(head_of examples/backendai/roll-call.sh)" >"$BATS_TEST_TMPDIR/script"
	cp -r "$TREE/examples/backendai" "$BATS_TEST_TMPDIR/tree/examples/"
	cd "$BATS_TEST_TMPDIR/tree"
	ended env PATH="$BIN:$PATH" DISTINIT="$DISTINIT" DISTINIT_ROOT="$root" unshare --net -- sh -c 'ip link set lo up && exec bash -eu "$1"' sh "$BATS_TEST_TMPDIR/script"
	same "the exit status" 0 "$status"
	for rank in 0 1 2 3; do
		has "torchrun train.py: node $rank of 4, rank  of  at 127.0.0.1"
	done
}
