#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --fill: placeholders and role marks in the words of the command. docs/words.md is the contract.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016,SC1003 # the texts are literal
# shellcheck disable=SC2054 # the commas belong to the lists

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >show
	chmod +x show
}

# The node @1 of three, by hand: n0 is the master.
node() {
	NODE=(DISTINIT_HOSTS=n0,n1,n2 DISTINIT_NODE_RANK="$1")
}

# A rank of a step of Slurm, the third of three nodes; and the job script of the same job.
readonly STEP=(
	SLURM_JOB_ID=55 'SLURM_STEP_NODELIST=n[1-3]' SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=3 SLURM_STEP_NUM_TASKS=6
	'SLURM_STEP_TASKS_PER_NODE=2(x3)' SLURM_PROCID=4 SLURM_NODEID=2 SLURM_LOCALID=0
)
readonly SCRIPT=(SLURM_JOB_ID=55 'SLURM_JOB_NODELIST=n[1-3]' SLURM_JOB_NUM_NODES=3 SLURMD_NODENAME=n1)

# fills VAR=VALUE... -- WORD... -- EXPECTED: with --fill, the words come out so.
fills() {
	local expected=${*: -1}
	distinit "${@:1:$#-2}"
	[[ $status -eq 0 && -z $stderr && $output == "$expected" ]]
}

# words VAR=VALUE... -- WORD... -- EXPECTED: the same, with --fill and the program that shows them.
words() {
	local -a variables arguments
	split "$@"
	local n=$((${#arguments[@]} - 2))
	fills "${variables[@]}" -- --fill -- ./show "${arguments[@]:0:n}" -- "${arguments[-1]}"
}

# wrong PATTERN VAR=VALUE... -- WORD...: an error, and nothing starts.
wrong() {
	local -a variables arguments
	split "${@:2}"
	distinit "${variables[@]}" -- --fill -- ./show "${arguments[@]}"
	fails_like 125 "$1"
}

# --- placeholders ---------------------------------------------------------------------------------

@test "words: nodes and master are the cluster's" {
	node 1
	words "${NODE[@]}" -- '{nnodes}' --r='{node-rank}' '{master-addr}' '{master-port}' tcp://'{master}'/x -- \
		'<3><--r=1><n0><29500><tcp://n0:29500/x>'
}

@test "words: the ranks are the launcher's" {
	words "${STEP[@]}" -- '{rank}' '{world-size}' '{local-rank}' '{local-world-size}' '{nnodes}' '{node-rank}' -- '<4><6><0><2><3><2>'
}

@test "words: a child of torchrun knows its ranks and the master" {
	local child=(TORCHELASTIC_RUN_ID=x RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=7)
	words "${child[@]}" -- '{rank}' '{world-size}' '{local-rank}' '{local-world-size}' '{master}' :workers: w :master: m -- '<3><4><1><2><h:7><w>'
	wrong '{nnodes} is not known here: a child of torchrun knows *' "${child[@]}" -- '{nnodes}'
	wrong '{node-addr} is not known here: a child of torchrun knows *' "${child[@]}" -- '{node-addr}'
}

@test "words: a rank of prterun knows its rank, and not how many there are" {
	distinit PRTE_LAUNCHED=1 PMIX_RANK=2 -- --fill -- echo '{rank}'
	[ "$status" -eq 0 ]
	[[ $output == *2 ]]
	distinit PRTE_LAUNCHED=1 PMIX_RANK=2 -- --fill -- echo '{world-size}'
	[ "$status" -eq 125 ]
	[[ $stderr == *"{world-size} is not known here: prrte does not provide it"* ]]
	# Several of them may share the job's only node.
	distinit PRTE_LAUNCHED=1 PMIX_RANK=1 SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n1 -- --fill -- echo :master: a :workers: b
	[ "$status" -eq 125 ]
}

@test "words: a cluster of one, recognised or not" {
	local expected='<1><0><0><1><0><1><127.0.0.1><29500><127.0.0.1:29500><127.0.0.1><127.0.0.1><127.0.0.1:8000>'
	local all=('{nnodes}' '{node-rank}' '{rank}' '{world-size}' '{local-rank}' '{local-world-size}' '{master-addr}' '{master-port}'
		'{master}' '{node-addr}' '{hosts}' '{hosts:8000}')
	words -- "${all[@]}" -- "$expected"
	words BACKENDAI_CLUSTER_SIZE=1 BACKENDAI_CLUSTER_HOST=main1 -- "${all[@]}" -- "$expected"
	words SLURM_JOB_ID=5 SLURM_JOB_NODELIST=n1 SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=n1 -- "${all[@]}" -- "$expected"
	words "${SESSION[@]}" DISTINIT_CLUSTER=none -- "${all[@]}" -- "$expected"
}

@test "words: the master's address and port are the user's, where there are such" {
	node 1
	words MASTER_ADDR=h MASTER_PORT=7 -- '{master}' -- '<h:7>'
	words "${NODE[@]}" MASTER_PORT=7 -- '{master}' -- '<n0:7>'
	words DISTINIT_MASTER_ADDR=h DISTINIT_MASTER_PORT=7 -- '{master-addr} {master-port}' -- '<h 7>'
	words "${NODE[@]}" DISTINIT_MASTER_PORT=8 -- '{master}' -- '<n0:8>'
	fills "${NODE[@]}" -- --fill --set MASTER_PORT=9 -- ./show '{master}' -- '<n0:9>'
	fills "${NODE[@]}" -- --fill --frameworks=none -- ./show '{master}' -- '<n0:29500>'
}

@test "words: a port that Kubernetes made for a service called master is none" {
	words MASTER_PORT=tcp://10.0.0.1:80 -- '{master-port}' -- '<29500>'
	node 1
	distinit "${NODE[@]}" MASTER_PORT=tcp://10.0.0.1:80 -- --fill --frameworks=none -- ./show '{master-port}'
	[[ $status -eq 0 && $output == '<29500>' ]]
}

@test "words: an IPv6 address has brackets before a port, and else none" {
	local six=(DISTINIT_HOSTS=fd00::1,fd00::2 DISTINIT_NODE_RANK=1)
	words "${six[@]}" -- '{master-addr}' '{master}' '{hosts}' '{hosts:80}' '{workers:80}' -- \
		'<fd00::1><[fd00::1]:29500><fd00::1,fd00::2><[fd00::1]:80,[fd00::2]:80><[fd00::2]:80>'
	words 'MASTER_ADDR=[fd00::7]' -- '{master-addr}' '{master}' -- '<fd00::7><[fd00::7]:29500>'
}

@test "words: hosts and workers are joined by commas, the master's first" {
	node 1
	words "${NODE[@]}" -- '{hosts}' '{workers}' '{hosts:8000}' '{workers:1}' -- '<n0,n1,n2><n1,n2><n0:8000,n1:8000,n2:8000><n1:1,n2:1>'
	words "${NODE[@]}" MASTER_ADDR=n2 -- '{hosts}' '{workers}' '{node-rank}' -- '<n2,n0,n1><n0,n1><2>'
	wrong '{workers} is not known here: there is only the master?s node' -- '{workers}'
	words -- :master: '{hosts}' :workers: '{workers}' -- '<127.0.0.1>'
}

@test "words: node-addr is this node's address on the way to the master, on the master to the others" {
	unshare --net ip link add d0 type veth peer name d1 2>/dev/null || skip 'no network namespaces, or no veth pairs'
	invoke unshare --net sh -euc '
		ip link add d0 type veth peer name d1
		ip addr add 192.0.2.1/24 dev d0
		for device in lo d0 d1; do ip link set "$device" up; done
		"$0" --fill --hosts=192.0.2.1,192.0.2.2 --node-rank=0 -- ./show {node-addr}
		"$0" --fill --hosts=192.0.2.2,192.0.2.1 --node-rank=1 -- ./show {node-addr} {node-addr}
		"$0" --fill --hosts=192.0.2.2,192.0.2.1 --node-rank=1 -- ./show {node-addr} {master-ip} {node-addr}' "$DISTINIT"
	[[ $status -eq 0 && $output == '<192.0.2.1><192.0.2.1><192.0.2.1><192.0.2.1><192.0.2.2><192.0.2.1>' ]]
	wrong "{node-addr} is not known here: 'no.invalid' *" DISTINIT_HOSTS=no.invalid,n1 DISTINIT_NODE_RANK=1 -- '{node-addr}'
}

@test "words: a number times a constant" {
	node 2
	words "${NODE[@]}" -- '{nnodes*8}' '{node-rank*4}' '{nnodes*0}' '{master-port*2}' '{nnodes*007}' -- '<24><8><0><59000><21>'
	words -- '{nnodes*2147483648}' -- '<2147483648>'
	wrong "'{nnodes\*2147483649}': the product with 1 is beyond 2^31" -- '{nnodes*2147483649}'
	wrong "'{nnodes\*1073741824}': the product with 3 is beyond 2^31" "${NODE[@]}" -- '{nnodes*1073741824}'
	wrong "'{nnodes\*99999999999999999999}': the product *" -- '{nnodes*99999999999999999999}'
	wrong "'{nnodes\*x}': expected NUMBER\*N*" -- '{nnodes*x}'
	wrong "'{nnodes\*}': expected NUMBER\*N*" -- '{nnodes*}'
	wrong "'{hosts\*2}': expected *" -- '{hosts*2}'
}

@test "words: variables are those of the program" {
	node 1
	words "${NODE[@]}" X_1=old _Y= -- '{MASTER_ADDR}' '{PET_NODE_RANK}' '{X_1}' '{_Y}' -- '<n0><1><old><>'
	fills X=old -- --fill --set X=new --set Z='a b' -- ./show '{X}' '{Z}' -- '<new><a b>'
	wrong "'{X}': the variable is not set; *" -- '{X}'
	distinit X=1 -- --fill --unset X -- ./show '{X}'
	fails_like 125 "'{X}': the variable is not set; *"
	wrong "'{DISTINIT_FILL}': *" DISTINIT_FILL=1 -- '{DISTINIT_FILL}'
}

@test "words: what is filled in is not filled again, and a word stays one word" {
	node 1
	words "${NODE[@]}" 'V={nnodes} :workers: $(X) \{rank}' E= -- '{V}' '{E}' 'a{V}b' -- \
		'<{nnodes} :workers: $(X) \{rank}><><a{nnodes} :workers: $(X) \{rank}b>'
	words V=:workers: -- '{V}' -- '<:workers:>'
	words $'V=a\nb\tc "d" *' -- '{V}' -- $'<a\nb\tc "d" *>'
}

@test "words: the program, too, and from the PATH that the directives leave" {
	mkdir bin && cp show bin/shower
	fills P=er -- --fill --set PATH="$PWD/bin:/bin:/usr/bin" -- 'show{P}' x -- '<x>'
}

# --- what stays ------------------------------------------------------------------------------------

@test "words: all else comes out byte for byte" {
	for word in '{"json": 1}' '{}' '{{x}}' '{x:y}' '{{nnodes}}' '{{{rank}}}' '${HOME}' '${node-rank}' '$(X)' '{rank:03d}' '{hosts:>10}' '{nnodes' \
		'nnodes}' '{ nnodes }' '{1}' '{1A}' '{Rank}' '{a,b}' '{1..3}' '{[]}' '{nnodes:8}' '{:8}' '{*2}' '\' '\{}' '\{x:y}' '\n' '{a{b' \
		'a:master:' ':8000:' '::' ':::' ':x:' $'{\n}' $'\xff{\xfe}' '' ' ' '{nnodes.x}'; do
		words -- "$word" -- "<$word>"
	done
	words -- '{"a":{"b":{nnodes}},"c":"{rank}"}' -- '<{"a":{"b":1},"c":"0"}>'
}

@test "words: a backslash makes text of what would be filled, and is a backslash elsewhere" {
	words -- '\{nnodes}' '\\{nnodes}' 'a\{rank*2}{rank}' '\{UNSET_NAME}' '\{node-rnk}' '\{nnodes*x}' '\x{nnodes}' -- \
		'<{nnodes}><\{nnodes}><a{rank*2}0><{UNSET_NAME}><{node-rnk}><{nnodes*x}><\x1>'
	# A mark has no such spelling, but a variable may hold its text.
	words M=:master: -- '\:master:' '{M}' -- '<\:master:><:master:>'
}

@test "words: without --fill they are exact" {
	distinit -- -- ./show '{nnodes}' '\{rank}' '{PATH}'
	succeeds_with '<{nnodes}><\{rank}><{PATH}>'
}

# --- roles -------------------------------------------------------------------------------------------

@test "roles: node 0 is the master, the others are workers, marks last until the next" {
	local all=(a :master: m1 m2 :workers: w :all: b :master: m3)
	node 0
	words "${NODE[@]}" -- "${all[@]}" -- '<a><m1><m2><b><m3>'
	node 1
	words "${NODE[@]}" -- "${all[@]}" -- '<a><w><b>'
	words -- "${all[@]}" -- '<a><m1><m2><b><m3>'
}

@test "roles: the master is where MASTER_ADDR is" {
	node 2
	words "${NODE[@]}" MASTER_ADDR=n2 -- :master: m '{node-rank}' :workers: w -- '<m><0>'
	node 0
	words "${NODE[@]}" MASTER_ADDR=n2 -- :master: m :workers: w '{node-rank}' -- '<w><1>'
}

@test "roles: among ranks rank 0 is the master, also on a node with others" {
	words "${STEP[@]}" -- :master: m :workers: w -- '<w>'
	words "${STEP[@]}" SLURM_PROCID=0 SLURM_NODEID=0 -- :master: m :workers: w -- '<m>'
	words "${STEP[@]}" SLURM_PROCID=1 SLURM_NODEID=0 SLURM_LOCALID=1 -- :master: m :workers: w -- '<w>'
}

@test "roles: the command itself may differ" {
	cp show other
	node 1
	fills "${NODE[@]}" -- --fill -- :master: ./show m :workers: ./other w -- '<w>'
	fills "${NODE[@]}" -- --fill -- :workers: ./other w :all: x :master: ./show -- '<w><x>'
}

@test "roles: one without a word is an error, everywhere" {
	for role in master workers; do
		node 0
		distinit "${NODE[@]}" -- --fill -- ":$role:" ./show
		fails_like 125 'the command has no word for :*:, nor for :all:'
	done
	distinit -- --fill -- :master: ./show
	refuses_with 'the command has no word for :workers:, nor for :all:'
	distinit -- --fill -- :all:
	refuses_with 'the command has no word for :master:, nor for :all:'
	distinit -- --fill -- ./show :workers:
	succeeds_with '<>'
}

@test "roles: words for the others are not filled, but checked" {
	words -- :master: m :workers: '{UNSET_NAME}' '{workers}' -- '<m>'
	wrong "'{node-rnk}': no placeholder; *" -- :master: m :workers: '{node-rnk}'
}

# --- errors -------------------------------------------------------------------------------------------

@test "errors: a name that is nearly known" {
	wrong "'{node-rnk}': no placeholder; the nearest is node-rank; a backslash before the brace makes it text" -- a '{node-rnk}'
	wrong "'{node_rank}': no placeholder; the nearest is node-rank;*" -- '--r={node_rank}'
	wrong "'{nnode\*8}': no placeholder; the nearest is nnodes;*" -- '{nnode*8}'
	wrong "'{host:8000}': no placeholder; the nearest is hosts;*" -- '{host:8000}'
	wrong "'{master-addr:80}': expected *hosts:PORT*" -- '{master-addr:80}'
	wrong "'{workers:0}': a port is 1 to 65535" -- '{workers:0}'
	wrong "'{hosts:65536}': a port is 1 to 65535" -- '{hosts:65536}'
}

@test "errors: ranks where there are nodes only" {
	node 1
	for name in rank world-size local-rank local-world-size; do
		wrong "{$name} is not known here: no launcher started this process as a rank; {node-rank} is this node's number" "${NODE[@]}" -- "{$name}"
	done
}

@test "errors: a job script is no rank: distinit goes behind srun" {
	for name in rank node-rank local-rank world-size node-addr; do
		wrong "{$name} is not known here: a job script has no rank: put distinit behind srun or mpirun" "${SCRIPT[@]}" -- "{$name}"
	done
	wrong 'the role is not known here: a job script has no rank: put distinit behind srun or mpirun' "${SCRIPT[@]}" -- :master: a :all: b
	words "${SCRIPT[@]}" -- '{nnodes}' '{hosts}' '{master}' -- '<3><n1,n2,n3><n1:21705>'
}

@test "errors: what the manager does not tell" {
	wrong '{hosts} is not known here: the hosts are not known: pass --hosts' "${STEP[@]:0:1}" OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 -- '{hosts}'
	local grove=(GROVE_PCLQ_NAME=a-wkr GROVE_PCLQ_POD_INDEX=1 GROVE_HEADLESS_SERVICE=s)
	wrong '{nnodes} is not known here: pass --hosts or --nnodes' "${grove[@]}" -- '{nnodes}'
	wrong '{workers} is not known here: the hosts are not known: pass --hosts' "${grove[@]}" -- '{workers}'
	wrong '{master} is not known here: set MASTER_ADDR, or pass --master-addr or --hosts' OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 -- '{master}'
	wrong '{local-rank} is not known here: openmpi does not provide it' OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 -- '{local-rank}'
	local unknown=(AZ_BATCH_HOST_LIST=192.0.2.4,192.0.2.5 AZ_BATCH_MASTER_NODE=192.0.2.4:6000 AZ_BATCH_IS_CURRENT_NODE_MASTER=false)
	wrong '{node-rank} is not known here: pass --node-rank' "${unknown[@]}" DISTINIT_HOSTNAME=c -- '{node-rank}'
	wrong 'the role is not known here: pass --node-rank' "${unknown[@]}" DISTINIT_HOSTNAME=c -- a :workers: b
}

@test "errors: a broken cluster is not a cluster of one" {
	distinit "${SESSION[@]}" BACKENDAI_CLUSTER_LOCAL_RANK=x -- --lenient --log=error --fill -- ./show '{nnodes}'
	fails_like 125 '{nnodes} is not known here: the variables of the cluster manager are broken'
	distinit "${SESSION[@]}" BACKENDAI_CLUSTER_LOCAL_RANK=x -- --lenient --log=error --fill -- ./show :master: x :all: y
	fails_like 125 'the role is not known here: the variables of the cluster manager are broken'
}

@test "errors: a word longer than the kernel takes" {
	local long
	long=$(printf '%70000s' x)
	wrong "'{L}': the word becomes longer than 131071 bytes" L="$long" -- '{L}{L}'
}

@test "errors: they come before a wait, and are in the report" {
	node 1
	distinit "${NODE[@]}" -- --fill --wait --report="$PWD/report" -- ./show '{rank}'
	fails_like 125 '{rank} is not known here: *'
	grep -q '"event": "failed".*{rank} is not known here' report
	# A name that does not resolve yet is waited for.
	distinit "${NODE[@]}" -- --fill --wait=1s -- ./show '{node-addr}'
	fails_like 124 '*'
}

# --- without --fill ------------------------------------------------------------------------------------

@test "forgotten: one warning, and nothing changes" {
	distinit -- -- ./show '{node-rank}' '{master-addr}' :workers:
	[[ $status -eq 0 && $output == '<{node-rank}><{master-addr}><:workers:>' ]]
	warns_with "'{node-rank}' is passed on as it is; --fill would fill it, --fill=0 says that it is meant so"
	distinit -- -- ./show a :master: b
	[[ $status -eq 0 && $stderr == *"':master:' is passed on"* ]]
	distinit -- -- ./show 'x{local-world-size*8}'
	[[ $status -eq 0 && $stderr == *warning* ]]
}

@test "forgotten: what other programs write gets no warning" {
	distinit -- -- ./show '{nnodes}' '{rank}' '{master}' '{hosts:80}' '{PATH}' '${node-rank}' '\{node-rank}' '{{node-rank}}' '{node-rnk}' ':x:'
	[[ $status -eq 0 && -z $stderr ]]
	distinit -- --fill=0 -- ./show '{node-rank}' :master:
	[[ $status -eq 0 && -z $stderr ]]
}

# --- other names ---------------------------------------------------------------------------------------

@test "names: an init fills by the variable, and warns of nothing" {
	"$DISTINIT" install --as tini "$PWD" || skip 'built without other names'
	node 1
	for name in tini dumb-init catatonit; do
		"$DISTINIT" install --as "$name" "$PWD"
		invoke env -i "${NODE[@]}" TINI_SUBREAPER= DISTINIT_FILL=1 "./$name" -- ./show '{node-rank}' :master: m :workers: w
		[[ $status -eq 0 && $output == *'<1><w>'* ]]
		invoke env -i "${NODE[@]}" TINI_SUBREAPER= "./$name" -- ./show '{node-rank}' :master:
		[[ $status -eq 0 && $output == *'<{node-rank}><:master:>'* && $stderr != *fill* ]]
	done
	invoke env -i DISTINIT_FILL=1 ./tini -- ./show '{node-rnk}'
	[[ $status -eq 1 && $output != *'<'* && $stderr == *'no placeholder; the nearest is node-rank'* ]]
}

@test "names: an engine's init leaves the words to the image" {
	node 1
	for name in docker-init podman-init; do
		"$DISTINIT" install --as "$name" "$PWD" || skip 'built without other names'
		invoke env -i "${NODE[@]}" TINI_SUBREAPER= DISTINIT_FILL=1 "./$name" -- ./show '{node-rank}' :workers:
		[[ $status -eq 0 && $output == *'<{node-rank}><:workers:>'* ]]
		invoke env -i "${NODE[@]}" TINI_SUBREAPER= DISTINIT_FILL=1 "./$name" -- "$DISTINIT" -- ./show '{node-rank}' '\{rank}' :workers: w
		[[ $status -eq 0 && $output == *'<1><{rank}><w>'* ]]
	done
}

@test "names: gosu's and su-exec's words are exact" {
	[ "$(id -u)" -eq 0 ] || skip 'not root'
	for name in gosu su-exec; do
		"$DISTINIT" install --as "$name" "$PWD" || skip 'built without other names'
		invoke env -i DISTINIT_FILL=1 "./$name" 0 ./show '{nnodes}'
		[[ $status -eq 0 && $output == '<{nnodes}>' && -z $stderr ]]
	done
}

# --- explain, check, report, launch ---------------------------------------------------------------------

@test "explain: the words as they will be, and where each value is from" {
	node 1
	distinit "${NODE[@]}" -- explain --fill -- ray start --n='{nnodes}' 'a b' :master: --head :workers: --address='{master}' '{PET_NNODES}'
	[[ $status -eq 0 && -z $stderr && $output == *"command        ray start --n=3 'a b' --address=n0:29500 3"$'\n'"role           workers"* ]]
	[[ $output == *$'\n{nnodes}       3 (DISTINIT_HOSTS)\n'* && $output == *$'\n{master}       n0:29500 (MASTER_ADDR; MASTER_PORT)\n'* ]]
	[[ $output == *"{PET_NNODES}   3 (the program's environment)"* ]]
	distinit "${NODE[@]}" -- explain -- ./show '{nnodes}'
	[[ $status -eq 0 && $output == *"command        ./show '{nnodes}'"* && $output != *role* ]]
	distinit "${NODE[@]}" -- explain
	[[ $status -eq 0 && $output != *$'\ncommand '* ]]
}

@test "explain: the same for programs" {
	node 0
	distinit "${NODE[@]}" -- explain --format=json --fill -- ./show '{nnodes}{nnodes}' :master: '{node-rank*2}' :workers: w
	python3 -c 'import json, sys
assert json.load(sys.stdin)["command"] == {"words": ["./show", "33", "0"], "role": "master", "filled": [
	{"placeholder": "{nnodes}", "value": "3", "why": "DISTINIT_HOSTS"},
	{"placeholder": "{node-rank*2}", "value": "0", "why": "DISTINIT_NODE_RANK"}]}' <<<"$output"
	distinit "${NODE[@]}" -- explain --format=json -- ./show '{x}'
	python3 -c 'import json, sys; assert json.load(sys.stdin)["command"] == {"words": ["./show", "{x}"], "role": None, "filled": []}' <<<"$output"
	distinit "${NODE[@]}" -- explain --format=json
	python3 -c 'import json, sys; assert json.load(sys.stdin)["command"] is None' <<<"$output"
}

@test "explain: secrets are masked, but not in the run" {
	distinit API_TOKEN=s3cret -- explain --fill -- ./show '--key={API_TOKEN}' --password hush '{API_TOKEN}'
	[[ $status -eq 0 && $output != *s3cret* && $output != *hush* && $output == *'{API_TOKEN}    ********'* ]]
	distinit API_TOKEN=s3cret -- explain --format=json --fill -- ./show '{API_TOKEN}'
	[[ $status -eq 0 && $output != *s3cret* ]]
	distinit API_TOKEN=s3cret -- explain --show-secrets --fill -- ./show '{API_TOKEN}'
	[[ $status -eq 0 && $output == *'./show s3cret'* ]]
	words API_TOKEN=s3cret -- '{API_TOKEN}' -- '<s3cret>'
}

@test "explain: errors and warnings are those of the run" {
	distinit -- explain --fill -- ./show '{node-rnk}'
	fails_like 125 "'{node-rnk}': no placeholder; *"
	distinit -- explain -- ./show '{node-rank}'
	[[ $status -eq 0 && $output == *"warning: '{node-rank}' is passed on as it is"* ]]
	distinit -- explain ./show
	refuses_with 'explain takes a command only after --: distinit explain -- COMMAND'
	distinit -- env --fill
	fails_like 125 '*--fill*'
	distinit DISTINIT_FILL=1 -- env
	succeeds_with ''
}

@test "check: words that cannot be filled are a finding" {
	"$DISTINIT" check --help >/dev/null 2>&1 || skip 'built without the roll call'
	distinit -- check --fill -- ./show '{node-rnk}'
	[[ $status -eq 1 && $output == *"finding: '{node-rnk}': no placeholder; "* ]]
	distinit -- check --fill -- ./show '{node-rank}'
	[[ $status -eq 0 && $output == *'no findings'* ]]
	argv=${output%%$'\n'*}
	distinit "${SESSION[@]}" -- check --fill -- ./show '{node-rank}'
	[[ $output == *$'\n'"$argv"$'\n'* ]]
	distinit -- check -- ./show '{node-rank}'
	[[ $status -eq 0 && $stderr == *'--fill would fill it'* ]]
}

@test "report: the program is the one that is filled in" {
	distinit P=show -- --fill --report="$PWD/report" -- './{P}' '{nnodes}'
	[[ $status -eq 0 && $output == '<1>' ]]
	grep -q '"event": "started".*"./show"' report
	distinit P=show -- --fill --init --report="$PWD/report2" -- :workers: false :master: './{P}' '{nnodes}'
	[[ $status -eq 0 && $output == '<1>' ]]
	grep -q '"event": "started".*"./show"' report2
}

@test "fill: {master-ip} is an address, on the master one of its own, and never the loopback among several nodes" {
	distinit -- --fill -- echo '{master-ip}'
	[[ $status -eq 0 && $output == 127.0.0.1 ]]
	distinit -- --hosts=192.0.2.1,192.0.2.2 --node-rank=1 --fill -- echo '{master-ip}'
	[[ $status -eq 0 && $output == 192.0.2.1 ]]
	distinit -- --hosts=192.0.2.1,192.0.2.2 --node-rank=0 --fill -- echo '{master-ip}'
	refuses_with "{master-ip}: '192.0.2.1' is no address of this node, which is the master; pass --master-addr"
	distinit -- --hosts=localhost,192.0.2.2 --node-rank=1 --fill -- echo '{master-ip}'
	[[ $status -eq 125 && $stderr == *"error: {master-ip}: 'localhost' is the loopback here, which other nodes cannot reach; pass --master-addr" ]]
	distinit -- --hosts=a.invalid,192.0.2.2 --node-rank=1 --wait=1s --for=dns --fill -- echo '{master-ip}'
	[[ $status -eq 124 && -z $output ]]
}

@test "fill: explain shows each word of a spread by itself, and none that is secret" {
	distinit ARGS="--max-len '4 0' x" -- explain --fill -- vllm '{ARGS...}'
	[[ $status -eq 0 && $output == *"vllm --max-len '4 0' x"* ]]
	distinit ARGS="--api-key s3cr3t1234" -- explain --fill -- vllm '{ARGS...}'
	[[ $status -eq 0 && $output != *s3cr3t1234* ]]
	distinit MORE="s3cr3t1234 x" -- explain --fill -- vllm --api-key '{MORE...}'
	[[ $status -eq 0 && $output != *s3cr3t1234* ]]
	distinit ARGS="--api-key s3cr3t1234 '" -- explain --fill -- vllm '{ARGS...}'
	[[ $output != *s3cr3t1234* && $stderr != *s3cr3t1234* ]]
}

@test "fill: what is nearly a mark is passed on, with a warning" {
	distinit -- --hosts=n1,n2 --node-rank=0 --fill -- ./show :worker: a
	[[ $output == '<:worker:><a>' ]]
	warns_with "--fill: ':worker:' is not a mark, and is passed on as it is; did you mean ':workers:'?"
	distinit -- --hosts=n1,n2 --node-rank=0 --fill -- ./show :8000: :x::y: :workers : x:master:
	[[ $status -eq 0 && -z $stderr ]]
	distinit -- -- ./show :worker:
	[[ $status -eq 0 && -z $stderr ]]
}
