#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit explain: for people, and with --format=json a stable interface for programs. Each case of
# tests/vectors checks that it agrees with the real run.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the inner shells expand the quoted texts

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# json EXPRESSION VAR=VALUE... -- OPTION...: the JSON of explain is "said", and its variables by
# name are "v". Fails unless the Python EXPRESSION is true.
json() {
	local expression=$1
	shift
	local -a variables arguments
	split "$@"
	invoke env -i "${variables[@]}" "$DISTINIT" explain --format=json "${arguments[@]}"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	python3 -c 'import json, sys
said = json.load(sys.stdin)
v = {variable["name"]: variable for variable in said["variables"]}
assert eval("(" + sys.argv[1] + ")"), sys.argv[1]' "$expression" <<<"$output"
}

readonly STEP=(
	SLURM_JOB_ID=55 'SLURM_STEP_NODELIST=n[1-3]' SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=3 SLURM_STEP_NUM_TASKS=6
	'SLURM_STEP_TASKS_PER_NODE=2(x3)' SLURM_PROCID=4 SLURM_NODEID=2 SLURM_LOCALID=0
)

# --- for programs ---------------------------------------------------------------------------------

@test "json: in a cluster all keys exist, with the right types" {
	# shellcheck disable=SC2178 # a reference, not a string
	for which in SESSION STEP; do
		local -n variables=$which
		json 'set(said) >= {"version", "source", "launcher", "scope", "recognised_by", "cluster", "variables", "warnings"}
			and set(said["cluster"]) >= {"hosts", "nnodes", "node_rank", "nproc_per_node", "tasks_per_node", "world_size",
				"rank", "local_rank", "local_size", "job_id", "master_addr", "master_port"}
			and v and all(set(x) >= {"name", "value", "action", "by", "why"} for x in said["variables"])
			and all(x["action"] in ("set", "kept", "left-out", "unset") for x in said["variables"])
			and all(x["why"] is None or x["why"] for x in said["variables"])
			and said["warnings"] == []' "${variables[@]}" --
	done
}

@test "json: a session of Backend.AI" {
	json 'said["source"] == "backendai" and said["launcher"] is None and said["scope"] == "node"
		and said["recognised_by"] == "BACKENDAI_CLUSTER_SIZE"
		and said["cluster"] == {"hosts": ["main1", "sub1"], "nnodes": 2, "node_rank": 1, "nproc_per_node": None,
		"tasks_per_node": None, "world_size": None, "rank": None, "local_rank": None, "local_size": None,
		"job_id": None, "master_addr": "main1", "master_port": 29500}' "${SESSION[@]}" --
}

@test "json: a step of Slurm" {
	json 'said["source"] == "slurm" and said["launcher"] == "slurm" and said["scope"] == "task"
		and said["recognised_by"] == "SLURM_STEP_ID"
		and said["cluster"] == {"hosts": ["n1", "n2", "n3"], "nnodes": 3, "node_rank": 2, "nproc_per_node": 2,
		"tasks_per_node": [2, 2, 2], "world_size": 6, "rank": 4, "local_rank": 0, "local_size": 2,
		"job_id": "55", "master_addr": "n1", "master_port": 21705}' "${STEP[@]}" --
}

@test "json: no cluster" {
	json 'said["source"] is None and said["launcher"] is None and said["scope"] is None and said["cluster"] is None
		and said["recognised_by"] is None and said["variables"] == [] and said["warnings"] == []' --
}

@test "json: a cluster of one is described, and nothing is set" {
	json 'said["source"] == "backendai" and said["cluster"]["nnodes"] == 1 and said["cluster"]["hosts"] == ["main1"]
		and not any(x["action"] == "set" for x in said["variables"])' \
		BACKENDAI_CLUSTER_SIZE=1 BACKENDAI_CLUSTER_HOST=main1 --
}

@test "json: in a child of torchrun nothing is derived" {
	json 'said["launcher"] == "torchrun" and said["cluster"] is None and said["variables"] == []' \
		"${STEP[@]}" TORCHELASTIC_RUN_ID=x RANK=0 WORLD_SIZE=2 --
}

@test "json: the version is that of --version" {
	json "said['version'] == '$("$DISTINIT" --version | cut -d ' ' -f 2)'" --
}

@test "json: what set each variable" {
	json 'v["MASTER_ADDR"] | {"why": 0} == {"name": "MASTER_ADDR", "value": "main1", "action": "set", "by": "torch", "why": 0}' \
		"${SESSION[@]}" --
	json '(v["PET_NNODES"]["by"], v["TF_CONFIG"]["by"]) == ("torchrun", "tensorflow")' "${SESSION[@]}" --
	printf '\n\nset A=1\n' >file
	json '(v["A"]["by"], v["A"]["action"], v["A"]["value"]) == ("file:3", "set", "1")' -- --env-file file
	json '(v["A"]["by"], v["A"]["value"]) == ("DISTINIT_ENV:2", "1")' DISTINIT_ENV=$'# x\nA=1' --
	json '(v["A"]["by"], v["A"]["value"]) == ("--append", "x:1")' A=x -- --append A=1
}

@test "json: variables of the user are kept" {
	json '(v["MASTER_PORT"]["action"], v["MASTER_PORT"]["by"], v["MASTER_PORT"]["value"]) == ("kept", "user", "7")' \
		"${SESSION[@]}" MASTER_PORT=7 --
	json '(v["RANK"]["action"], v["RANK"]["value"]) == ("kept", "9")' "${STEP[@]}" RANK=9 --
}

@test "json: variables that were left out, and why" {
	json '(v["RANK"]["action"], v["RANK"]["value"]) == ("left-out", None) and "torchrun" in v["RANK"]["why"]' "${SESSION[@]}" --
	json 'v["TF_CONFIG"]["action"] == "left-out" and "port" in v["TF_CONFIG"]["why"]' "${SESSION[@]}" MASTER_PORT=65535 \
		-- --log=error
	json 'v["PET_NNODES"]["action"] == "left-out" and "PET_RDZV" in v["PET_NNODES"]["why"]' "${SESSION[@]}" \
		PET_RDZV_BACKEND=c10d --
}

@test "json: what a framework needs and the manager does not tell is the reason" {
	local grove=(GROVE_PCLQ_NAME=a-wkr GROVE_PCLQ_POD_INDEX=1 GROVE_HEADLESS_SERVICE=s)
	json 'v["JAX_PROCESS_ID"]["why"] == "the number of nodes is not known" and said["cluster"]["hosts"] is None' "${grove[@]}" -- --frameworks=jax
	json 'v["JAX_PROCESS_ID"]["why"] == "this node\x27s rank is not known"' AZ_BATCH_HOST_LIST=192.0.2.4,192.0.2.5 \
		AZ_BATCH_MASTER_NODE=192.0.2.4:6000 AZ_BATCH_IS_CURRENT_NODE_MASTER=false -- --hostname=c --frameworks=jax
	json 'v["JAX_PROCESS_ID"]["why"].startswith("this process is not a rank, ")' \
		SLURM_JOB_ID=1 'SLURM_JOB_NODELIST=n[1-2]' SLURM_JOB_NUM_NODES=2 -- --hostname=n1 --frameworks=jax
}

@test "json: removed variables" {
	json '(v["A"]["action"], v["A"]["value"], v["A"]["by"]) == ("unset", None, "--unset")' A=1 -- --unset A
	json '(v["A"]["action"], v["B"]["action"]) == ("unset", "set")' A=1 -- --clean --set B=1
	json '"NOPE" not in v' A=1 -- --unset NOPE
}

@test "json: a directive overrides a derived variable" {
	json '(v["MASTER_PORT"]["value"], v["MASTER_PORT"]["by"]) == ("9", "--set")' "${SESSION[@]}" -- --set MASTER_PORT=9
	json '[x["name"] for x in said["variables"]].count("MASTER_PORT") == 1' "${SESSION[@]}" -- --set MASTER_PORT=9
	json '"TF_CONFIG" not in v or v["TF_CONFIG"]["action"] != "set"' "${SESSION[@]}" -- --unset TF_CONFIG
}

@test "json: unchanged variables are not listed" {
	json 'v == {}' A=1 B=2 -- --set A=1
}

@test "json: warnings are in the JSON, not on stderr" {
	json 'said["warnings"] == ["BACKENDAI_CLUSTER_LOCAL_RANK=0, but BACKENDAI_CLUSTER_HOST=\x27sub1\x27 is number 1 of the hosts: 1 is used"]' \
		"${SESSION[@]}" BACKENDAI_CLUSTER_LOCAL_RANK=0 --
}

@test "json: valid JSON with any bytes in the environment" {
	json 'v["A"]["value"] == "\ufffd\"\\\n\t\x01\x7fä"' -- --set $'A=\xff"\\\n\t\x01\x7fä'
	json 'v["B\ufffd"]["value"] == ""' -- --set $'B\xff='
}

@test "json: 4,501 hosts" {
	json 'len(said["cluster"]["hosts"]) == said["cluster"]["nnodes"] == 4501 and len(said["warnings"]) == 1' \
		-- --hosts='n[0-4500].long-name-of-a-cluster.example' --node-rank=3
}

# --- secrets --------------------------------------------------------------------------------------

@test "secrets: values of names that look secret are masked" {
	local -a names=(HF_TOKEN TOKEN_OF_MINE AWS_SECRET_ACCESS_KEY SECRET DB_PASSWORD WANDB_API_KEY DB_PASSWD APIKEY MYSQL_PWD) set=() old=() append=()
	for name in "${names[@]}"; do
		set+=(--set "$name=hunter2")
		old+=("$name=old")
		append+=(--append "$name=hunter2")
	done
	json 'len(v) == 9 and all(x["value"] == "********" for x in v.values())' -- "${set[@]}"
	json 'len(v) == 9 and all(x["value"] == "********" for x in v.values())' "${old[@]}" -- "${append[@]}"
	distinit "${old[@]}" -- explain "${append[@]}"
	[[ $status -eq 0 && $output != *hunter2* && $output != *old* && -z $stderr ]]
	for name in "${names[@]}"; do
		[[ $output == *"$name="* ]]
	done
}

@test "secrets: values are masked in messages too" {
	distinit -- -vv --set HF_TOKEN=hunter2 --unset NOPE -- true
	[[ $status -eq 0 && $stderr != *hunter2* ]]
	distinit HF_TOKEN=hunter2 -- -vv --unset HF_TOKEN -- true
	[[ $status -eq 0 && $stderr != *hunter2* ]]
	distinit -- write --set API_TOKEN=hunter2 --password hunter2 --db=x://u:hunter2@h
	refuses_with "'write' is not a subcommand; to run a command: distinit -- write --set 'API_TOKEN=********' --password '********' '--db=x://u:********@h'"
	distinit -- API_TOKEN=hunter2 train
	refuses_with "'API_TOKEN=********' is not a subcommand; to run a command: distinit -- 'API_TOKEN=********' train"
	distinit -- --set A=1 API_TOKEN=hunter2
	refuses_with "'--' is missing before the command 'API_TOKEN=********'"
	distinit -- --sett=API_TOKEN=hunter2 -- true
	refuses_with "unknown option '--sett=API_TOKEN=********'; did you mean '--set'?; see --help"
	distinit -- --set API_TOKEN hunter2 -- true
	refuses_with "--set: 'API_TOKEN' has no '='; NAME=VALUE is expected; write --set API_TOKEN=********"
	distinit -- --unset API_TOKEN=hunter2 -- true
	refuses_with "--unset: 'API_TOKEN': expected a name without '='"
}

@test "secrets: other values are shown" {
	json 'len(v) == 5 and all(x["value"] == "hunter2" for x in v.values())' -- --set KEYBOARD=hunter2 \
		--set MONKEYS=hunter2 --set TOKE=hunter2 --set PASSWOR=hunter2 --set KEY_ID=hunter2
}

@test "secrets: the password in a URL is masked, the rest is shown" {
	json 'v["DB"]["value"] == "postgres://me:********@db:5432/x" and v["DB_PASSWORD_FILE"]["value"] == "/run/db"' -- \
		--set DB=postgres://me:hunter2@db:5432/x --set DB_PASSWORD_FILE=/run/db
	json 'v["DB"]["value"] == "postgres://me:hunter2@db:5432/x"' -- --show-secrets --set DB=postgres://me:hunter2@db:5432/x
}

@test "secrets: --show-secrets shows them" {
	json 'v["HF_TOKEN"]["value"] == "hunter2"' -- --show-secrets --set HF_TOKEN=hunter2
	distinit -- explain --show-secrets --set HF_TOKEN=hunter2
	[[ $output == *HF_TOKEN=hunter2* ]]
}

@test "secrets: the command gets them unchanged" {
	distinit -- --set HF_TOKEN=hunter2 -- env
	succeeds_with HF_TOKEN=hunter2
}

@test "secrets: no setting shows one in a message, in explain or in --log=debug" {
	requires python3
	python3 - "$DISTINIT" <<-'END'
		import re, subprocess, sys
		program = sys.argv[1]
		commands = ["", "env", "explain", "wait", "check", "install", "bundle", "hosts"]
		texts = ["API_TOKEN=hunter2", "set DB_PASSWORD hunter2", "DB_PASSWORD\thunter2", "http://u:hunter2@h/x y",
		         '{"token": "hunter2"}', "-H 'Authorization: Bearer hunter2'", "/a/b?sig=hunter2", "\x1bAPI_KEY[,]=hunter2",
		         "A=1\nAPI_TOKEN = hunter2", "ghp_hunter2hunter2hunter2", "x" * 100 + " API_TOKEN=hunter2", "COOKIE: hunter2"]

		def run(words, env):
		    return subprocess.run([program, *words], env={"PATH": "/usr/bin:/bin", **env}, stdin=subprocess.DEVNULL,
		                          capture_output=True, timeout=20)

		options = {}
		for command in commands:
		    text = run([*filter(None, [command]), "--help=all"], {}).stdout.decode()
		    options[command] = sorted(set(re.findall(r"--([a-z][a-z-]+)", text)) - {"help", "version", "show-secrets"})
		names = sorted(set(sum(options.values(), []))) + ["env", "bundle", "secret"]
		assert len(names) > 50, names
		runs, errors, found = 0, 0, []
		for text in texts:
		    tries = [([*filter(None, [command]), f"--{name}={text}"], {})
		             for command in ["", "explain", "check"] for name in options[command]]
		    tries += [([*words], {"DISTINIT_" + name.upper().replace("-", "_"): text})
		              for name in names for words in ([], ["explain"])]
		    for words, env in tries:
		        tail = ["--", "true"] if not words or words[0] not in ("explain", "check") else []
		        front, rest = (words[:1], words[1:]) if not tail else ([], words)
		        said = run([*front, "-vv", *rest, *tail] if tail else [*front, *rest], env)
		        shown = said.stderr + (said.stdout if front else b"")
		        # A list of hosts may have any word; such a host is shown as one.
		        host = text.isidentifier() and ("--hosts=" + text in words or "DISTINIT_HOSTS" in env)
		        if b"hunter2" in shown and not host:
		            found.append((words, env, shown))
		        runs, errors = runs + 1, errors + (said.returncode == 125)
		assert not found, found
		assert runs > 1500 and errors > 500, (runs, errors)
	END
}

@test "secrets: an ordinary wrong value is shown as it is" {
	distinit DISTINIT_GRACE=5x -- --init -- true
	fails_like 125 "DISTINIT_GRACE='5x' is not a duration*"
	distinit DISTINIT_SCOPE=API_TOKEN=hunter2 -- -- true
	fails_like 125 "DISTINIT_SCOPE='API_TOKEN=\*\*\*\*\*\*\*\*'*"
	distinit DISTINIT_ENV='set DB_PASSWORD hunter2' -- -- true
	refuses_with "DISTINIT_ENV:1:24: 'DB_PASSWORD ********' has no '='; NAME=VALUE is expected"
	distinit DISTINIT_READ='node-rank!=API_TOKEN nnodes=N' API_TOKEN=hunter2 N=2 -- -- true
	refuses_with "API_TOKEN='********' is not a whole number"
}

# --- the user's TF_CONFIG -------------------------------------------------------------------------

@test "TF_CONFIG of the user: its contents are shown" {
	json 'v["TF_CONFIG"]["action"] == "kept" and "worker 1 of 3" in v["TF_CONFIG"]["why"]' \
		"${SESSION[@]}" 'TF_CONFIG={"cluster":{"worker":["a:1","b:2","c:3"]},"task":{"type":"worker","index":1}}' --
}

@test "TF_CONFIG of the user: an index behind the last of its list is a warning" {
	for index in -1 3; do
		json "said['warnings'] == [\"TF_CONFIG says that this is 'worker $index' of 3, and is passed on as it is\"]" "${SESSION[@]}" \
			'TF_CONFIG={"cluster":{"worker":["a:1","b:2","c:3"]},"task":{"type":"worker","index":'$index'}}' --
	done
}

@test "TF_CONFIG of the user: invalid JSON is a warning that shows the place" {
	json 'len(said["warnings"]) == 1 and "is not JSON (line 1, column 28)" in said["warnings"][0]' \
		"${SESSION[@]}" 'TF_CONFIG={"cluster":{"worker":["a"]}' --
	json 'v["TF_CONFIG"]["action"] == "kept" and v["TF_CONFIG"]["value"] == "{"' "${SESSION[@]}" 'TF_CONFIG={' --
}

@test "TF_CONFIG of the user: very deep nesting is a warning, and causes no crash" {
	deep=$(head -c 60000 /dev/zero | tr '\0' '[')
	json 'len(said["warnings"]) == 1 and "nested more than 32 deep" in said["warnings"][0]' \
		"${SESSION[@]}" "TF_CONFIG=$deep" --
}

# --- for people -----------------------------------------------------------------------------------

@test "text: the manager, what identified it, the cluster, and this node's position" {
	distinit "${SESSION[@]}" -- explain
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *'backendai: Backend.AI session'*'recognised by BACKENDAI_CLUSTER_SIZE'* ]]
	[[ $output == *'2: main1,sub1'*'1 of 2, sub1'* ]]
	[[ $output == *'main1 (the host of rank 0), port 29500 (the default)'* ]]
}

@test "text: each variable with what set it and why; kept and left-out ones" {
	distinit "${SESSION[@]}" MASTER_PORT=7 OLD=1 -- explain --set A=1 --unset OLD
	[[ $output == *$'set       MASTER_ADDR=main1\n          by torch: '* ]]
	[[ $output == *$'kept      MASTER_PORT=7\n          by user: '* ]]
	[[ $output == *$'left-out  RANK\n          by torch: '* ]]
	[[ $output == *$'set       A=1\n          by --set'* ]]
	[[ $output == *$'unset     OLD\n          by --unset'* ]]
}

@test "text: a rank of a launcher" {
	distinit "${STEP[@]}" -- explain
	[[ $output == *"Slurm's srun"*'rank 4 of 6, on its node rank 0 of 2 (scope task)'*'3: n[1-3]'*'2 of 3, n3'* ]]
}

@test "text: a job script, with slots that are not ranks" {
	printf '%s\n' n1 n1 n2 n2 n3 >nodefile
	invoke env -i PBS_JOBID=7.server PBS_NODEFILE="$PWD/nodefile" "$DISTINIT" explain --hostname=n2
	[ "$status" -eq 0 ]
	[[ $output == *"manager        pbs: PBS and Torque jobs"*"(recognised by PBS_JOBID)"* ]]
	[[ $output == *"this process   no rank: a batch script or shell in the allocation (scope allocation)"* ]]
	[[ $output == *"nodes          3: n[1-3]"*"slots          2(x2),1, which are not used as ranks"* ]]
	[[ $output == *"this node      rank 1 of 3, n2"* ]]
}

@test "text: without a cluster, it says so" {
	distinit -- explain
	succeeds_with "$output"
	[[ $output == 'No cluster manager is recognised here'* ]]
}

@test "text: without a cluster, --cleanenv is named in Singularity and Apptainer only" {
	distinit -- explain
	[[ $output != *cleanenv* && $output != *ingularity* ]]
	distinit KUBERNETES_SERVICE_HOST=10.0.0.1 -- explain
	[[ $output != *cleanenv* && $output != *ingularity* ]]
	for variable in SINGULARITY_CONTAINER APPTAINER_CONTAINER; do
		distinit $variable=/x.sif -- explain
		[[ $output == *"Under --cleanenv a manager's variables do not arrive.)"* ]]
	done
}

@test "text: an index alone is not a cluster, and it shows what to pass" {
	distinit NOMAD_ALLOC_INDEX=2 -- explain
	succeeds_with "$output"
	[[ $output == *'nomad: Nomad allocation (recognised by NOMAD_ALLOC_INDEX)'*'this node      rank 2'* ]]
	[[ $output == *'lacks          the number of allocations and their hosts: pass --nnodes and --master-addr'* ]]
	[[ $output == *'no cluster yet, so nothing is derived'* && $output != *MASTER_ADDR* ]]
}

@test "text: nothing in it moves the terminal's cursor" {
	distinit -- explain --set $'A=\e[2J\rx\xff'
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2028 # a literal text
	[[ $output == *'A=\x1b[2J\x0dx\xff'* ]]
}

@test "text: a long value is cut, and its size is shown" {
	distinit -- explain --set "A=$(head -c 5000 /dev/zero | tr '\0' x)"
	[ "$status" -eq 0 ]
	[ "${#output}" -lt 1000 ]
	[[ $output == *'... (5000 bytes)'* ]]
}

@test "invalid variables are an error here too" {
	distinit BACKENDAI_CLUSTER_SIZE=x -- explain
	refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
	distinit BACKENDAI_CLUSTER_SIZE=x -- explain --format=json
	refuses_with "BACKENDAI_CLUSTER_SIZE='x' is not a whole number"
}

@test "an unknown format is refused, and the error lists the formats" {
	distinit -- explain --format=yaml
	refuses_with "--format='yaml': expected text or json"
}

@test "explain takes a command after --, and does not start it" {
	distinit -- explain -- sh -c 'echo started'
	[[ $status -eq 0 && $output == *"command        sh -c 'echo started'"* && $output != *$'\nstarted'* ]]
	distinit -- explain true
	refuses_with "explain takes a command only after --: distinit explain -- COMMAND"
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip 'there is no /dev/full'
	status=0
	message=$(env -i "$DISTINIT" explain 2>&1 >/dev/full) || status=$?
	[ "$status" -eq 125 ]
	[ "$message" = 'distinit: error: cannot write to stdout: No space left on device' ]
}

# --- the process ----------------------------------------------------------------------------------

@test "process: all keys exist, with the right types" {
	json 'set(said["process"]) >= {"pid", "container", "container_by", "uid", "gid", "groups", "capabilities", "seccomp",
			"no_new_privs", "user_namespace", "root_read_only", "signals_ignored", "signals_blocked", "memlock",
			"workload", "workload_error"}
		and set(said["process"]["capabilities"]) == {"effective", "permitted", "inheritable", "bounding", "ambient"}
		and all(name.startswith("cap_") for name in said["process"]["capabilities"]["bounding"])
		and set(said["process"]["workload"]) >= {"uid", "gid", "groups", "capabilities", "bounding", "no_new_privs"}
		and said["process"]["workload_error"] is None' --
	json "said['process']['uid'] == $(id -u) and said['process']['gid'] == $(id -g)
		and said['process']['workload']['uid'] == $(id -u)" --
}

@test "process: PID 1 is shown" {
	unshare --pid --fork --mount-proc true 2>/dev/null || skip 'this machine makes no PID namespaces for us'
	invoke unshare --pid --fork --mount-proc env -i "$DISTINIT" explain
	[[ $output == *$'\nprocess        PID 1, uid '* ]]
	[[ $output == *'container '*"the PID namespace is not the machine's"* || $output == *'container '*' (by '* ]]
}

@test "process: signals that were ignored or blocked at start are shown" {
	requires python3
	invoke python3 -c 'import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, 40})
os.execv(sys.argv[1], sys.argv[1:])' "$DISTINIT" explain
	[[ $output == *'ignored at start: HUP'* && $output == *'blocked at start: USR1 40'* ]]
	invoke python3 -c 'import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1, 40})
os.execv(sys.argv[1], sys.argv[1:])' "$DISTINIT" explain --format=json
	[[ $output == *'"signals_ignored": [1,'*'"signals_blocked": [10, 40]'* ]]
}

@test "process: groups, a filter of system calls, and each part on its line" {
	[[ $EUID -eq 0 ]] || skip 'only root can set groups'
	requires python3
	local filtered='import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
os.setgroups([5, 6])
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack("H6xQ", 1, ctypes.addressof(allow)))) == 0
os.execve(sys.argv[1], sys.argv[1:], {})'
	invoke python3 -c "$filtered" "$DISTINIT" explain
	succeeds_with "$output"
	grep -Eqx 'process        PID [0-9]+, uid 0, gid 0, groups 5,6' <<<"$output"
	[[ $(grep -cx '  capabilities .*' <<<"$output") -eq 2 ]]
	grep -Eqx 'restrictions   no_new_privs; seccomp filter(; .*)?' <<<"$output"
	grep -Eqx 'workload       uid 0, gid 0, groups 5,6, no_new_privs .*' <<<"$output"
	[[ $(grep -c '^[a-z]' <<<"$output") -eq 5 ]]
	invoke python3 -c "$filtered" "$DISTINIT" explain --format=json
	[[ $output == *'"groups": [5, 6], "capabilities"'*'"seccomp": "filter", "no_new_privs": true,'*'"groups": [5, 6], '* ]]
}

@test "process: no_new_privs, and the kind of container, by a file or a variable" {
	requires setpriv
	invoke setpriv --no-new-privs env -i "$DISTINIT" explain
	[[ $output == *$'\nrestrictions   no_new_privs'* ]]
	json 'said["process"]["workload"]["no_new_privs"]' -- --no-new-privs
	mkdir -p root/run
	json 'said["process"]["container"] == "kubernetes" and said["process"]["container_by"] == "KUBERNETES_SERVICE_HOST"' \
		KUBERNETES_SERVICE_HOST=10.0.0.1 -- --root=root
	# Also if a directive removes that variable for the workload.
	json 'said["process"]["container"] == "kubernetes"' KUBERNETES_SERVICE_HOST=10.0.0.1 -- --root=root --clean
	touch root/run/.containerenv
	json 'said["process"]["container"] == "podman"' container=podman -- --root=root
}

@test "process: a user other than root has no capabilities, and may lock little memory" {
	requires setpriv
	invoke as_nobody sh -c 'ulimit -l 64 && exec env -i "$0" explain --root=/nowhere' "$DISTINIT" 2>/dev/null
	if [ "$status" -ne 0 ]; then
		open_folder
		cp "$DISTINIT" "$OPEN_FOLDER/distinit"
		invoke as_nobody sh -c 'ulimit -l 64 && exec env -i "$0" explain --root=/nowhere' "$OPEN_FOLDER/distinit"
		remove_open_folder
	fi
	[ "$status" -eq 0 ]
	[[ $output == *$'\n  capabilities none; bounding set '* ]]
	[[ $output == *'locked memory 65536 bytes at most (RLIMIT_MEMLOCK), as ipc_lock is not effective'* ]]
}

@test "process: a read-only root, and no /proc" {
	unshare --mount true 2>/dev/null || skip 'this machine makes no mount namespaces for us'
	invoke unshare --mount sh -c 'umount -l /proc && exec env -i "$0" explain' "$DISTINIT"
	[ "$status" -eq 0 ]
	[[ $output == *'signals and seccomp are not known: /proc/self/status does not show them'* ]]
	invoke unshare --mount sh -c 'umount -l /proc && exec env -i "$0" explain --format=json' "$DISTINIT"
	[[ $output == *'"seccomp": null'*'"user_namespace": null'*'"signals_ignored": null'* ]]
	invoke unshare --mount sh -c 'mount -o remount,ro,bind / / 2>/dev/null || exit 77; exec env -i "$0" explain' "$DISTINIT"
	[ "$status" -ne 77 ] || skip '/ cannot be made read-only here'
	[[ $output == *'/ is read-only'* ]]
}

@test "explain: control characters in a name are shown as text" {
	# \x9b begins a control sequence too.
	distinit DISTINIT_ENV=$'A\x9b31mB=1' -- explain
	[[ $status -eq 0 && $output == *'A\x9b31mB=1'* ]]
}

@test "text: a manager that is nearly recognised, and what is missing" {
	distinit SLURM_JOB_ID=3 RANK=1 WORLD_SIZE=2 MASTER_ADDR=a -- explain
	succeeds_with "$output"
	[[ $output == *$'\n''nearly         slurm, which is recognised by SLURM_JOB_ID and SLURM_JOB_NODELIST or SLURM_NODELIST or SLURM_JOB_NODELIST_HET_GROUP_0; set: SLURM_JOB_ID; not set: SLURM_JOB_NODELIST|SLURM_NODELIST|SLURM_JOB_NODELIST_HET_GROUP_0'$'\n'* ]]
	# What many managers have says nothing of one.
	[[ $output != *'nearly '*volcano* && $output != *'nearly '*pai* && $output != *'perhaps '* ]]
}

@test "text: a manager that is nearly recognised names only what has to be set" {
	# LOCAL_RANK must not be set; of several names one is enough; a variable that may be missing is none.
	distinit NODE_LIST=a:8,b:8 INDEX=1 GPU_NUM_PER_NODE=8 -- explain
	succeeds_with "$output"
	[[ $output == *'nearly         tione, '*'; set: NODE_LIST INDEX GPU_NUM_PER_NODE; not set: WORLD_SIZE MASTER_ADDR RANK'$'\n'* ]]
	distinit MF_MASTER_ADDR=a MF_PARALLEL_NUM_NODES=2 -- explain
	[[ $output == *'nearly         metaflow, '*'; not set: MF_CONTROL_INDEX|MF_WORKER_REPLICA_INDEX+1|MF_PARALLEL_NODE_INDEX'$'\n'* ]]
	distinit MLP_WORKER_0_HOST=a MLP_ROLE_INDEX=0 -- explain
	[[ $output == *'nearly         volcengine, '*'; not set: MLP_WORKER_NUM'$'\n'* ]]
}

@test "text: variables of frameworks without a manager: what is kept, what that means, and the --read that would use it" {
	local mine=(WORLD_SIZE=4 RANK=1 MASTER_ADDR=n1)
	distinit "${mine[@]}" -- explain
	succeeds_with "$output"
	[[ $output == *$'\nkept           WORLD_SIZE RANK MASTER_ADDR: as they are set; nothing is derived from them, and they are not checked\n'* ]]
	[[ $output == *$'\n'"perhaps        --read='nnodes=WORLD_SIZE node-rank=RANK master-addr=MASTER_ADDR' (if they count nodes; "* ]]
	distinit "${mine[@]}" -- env --frameworks=torchrun --read='nnodes=WORLD_SIZE node-rank=RANK master-addr=MASTER_ADDR'
	succeeds_with "PET_NNODES='4'"$'\n'"PET_NODE_RANK='1'"$'\n'"PET_MASTER_ADDR='n1'"$'\n'"PET_MASTER_PORT='29500'"
	distinit NUM_NODES=2 NODE_RANK=1 MASTER_PORT=2222 -- explain
	[[ $output == *"--read='nnodes=NUM_NODES node-rank=NODE_RANK master-port=MASTER_PORT' "* ]]
	# Numbers that are none of a cluster's are kept, too.
	distinit WORLD_SIZE=1 RANK=0 TF_CONFIG='{}' -- explain
	[[ $output == *$'\nkept           WORLD_SIZE RANK TF_CONFIG: '* && $output != *'perhaps '* ]]
	distinit RANK= A=1 -- explain --set MASTER_ADDR=mine
	[[ $output != *$'\nkept '* ]]
}

@test "text: the --read line that would fit, and it does" {
	local acme=(ACME_NODES='a1;a2;a3' ACME_INDEX=1 ACME_COUNT=3 ACME_GPU_COUNT=3 OTHER_INDEX=1)
	distinit "${acme[@]}" -- explain --hostname=a2
	succeeds_with "$output"
	[[ $output == *$'\n'"perhaps        --read='hosts[;]=ACME_NODES nnodes=ACME_COUNT node-rank=ACME_INDEX' (these variables look like a cluster's)"$'\n'* ]]
	# It is only said.
	[[ $output != *MASTER_ADDR* ]]
	distinit "${acme[@]}" -- env --frameworks=torchrun --read='hosts[;]=ACME_NODES nnodes=ACME_COUNT node-rank=ACME_INDEX'
	[[ $output == *"PET_NODE_RANK='1'"* ]]
	distinit ACME_SIZE=3 ACME_INDEX=2 ACME_CHIEF=c1 ACME_CHIEF_PORT=5000 -- explain
	[[ $output == *"perhaps        --read='nnodes=ACME_SIZE node-rank=ACME_INDEX master-addr=ACME_CHIEF master-port=ACME_CHIEF_PORT' "* ]]
}

@test "text: why nothing is derived" {
	distinit "${SESSION[@]}" -- explain --cluster=none
	succeeds_with "$output"
	[[ $output == 'No cluster manager is asked for, by --cluster=none, so nothing is derived.'$'\n'* ]]
	distinit "${STEP[@]}" TORCHELASTIC_RUN_ID=x RANK=0 WORLD_SIZE=2 -- explain
	succeeds_with "$output"
	[[ $output == 'This is a child of torchrun, which has set all variables, so nothing is derived.'$'\n'* ]]
}

@test "text: warnings come last" {
	distinit "${SESSION[@]}" 'TF_CONFIG={' PET_NNODES=1:2 BACKENDAI_CLUSTER_LOCAL_RANK=0 -- explain
	succeeds_with "$output"
	[[ $output == *$'\n\nwarning: '*$'\nwarning: '* ]]
}

@test "text: what looks like no cluster is not suggested" {
	# This host in no list; an index beyond the size; a size alone; a service of Kubernetes; of GPUs; of several families.
	distinit A_NODES=a1,a2 B_SIZE=2 B_INDEX=2 C_SERVICE_COUNT=4 C_SERVICE_INDEX=1 D_GPU_COUNT=8 D_GPU_INDEX=1 E_COUNT=3 F_ID=1 \
		-- explain --hostname=b1
	succeeds_with "$output"
	[[ $output != *'perhaps '* ]]
}

# --- all nodes, colours ---------------------------------------------------------------------------

@test "explain --all-nodes: the variables of each node, as each node itself has them" {
	distinit -- explain --all-nodes --hosts='n[1-3]' --node-rank=0 --frameworks=torch,torchrun,jax
	succeeds_with "nodes          3: n[1-3]
all            MASTER_ADDR=n1
all            MASTER_PORT=29500
all            PET_NNODES=3
all            PET_MASTER_ADDR=n1
all            PET_MASTER_PORT=29500
all            JAX_COORDINATOR_ADDRESS=n1:29500
all            JAX_NUM_PROCESSES=3
0 n1           PET_NODE_RANK=0
0 n1           JAX_PROCESS_ID=0
1 n2           PET_NODE_RANK=1
1 n2           JAX_PROCESS_ID=1
2 n3           PET_NODE_RANK=2
2 n3           JAX_PROCESS_ID=2"
	local all=$output rank host
	for rank in 0 1 2; do
		host=n$((rank + 1))
		distinit -- env --format=docker --hosts='n[1-3]' --node-rank=$rank --frameworks=torch,torchrun,jax
		[ "$(sed -n "s/^all  *//p; s/^$rank $host  *//p" <<<"$all" | sort)" = "$(sort <<<"$output")" ]
	done
}

@test "explain --all-nodes: from any node, in a job script of Slurm, and with directives" {
	distinit "${SESSION[@]}" -- explain --all-nodes --frameworks=torchrun --ranks=always --set A=1
	first=$output
	[[ $output == *$'\nall            A=1\n0 main1        PET_NODE_RANK=0\n1 sub1         PET_NODE_RANK=1' ]]
	distinit "${SESSION[@]}" BACKENDAI_CLUSTER_HOST=main1 BACKENDAI_CLUSTER_LOCAL_RANK=0 -- explain --all-nodes --frameworks=torchrun --ranks=always --set A=1
	succeeds_with "$first"
	distinit SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=a[1-2]' SLURM_JOB_NUM_NODES=2 SLURM_NNODES=2 SLURM_NODEID=0 SLURM_PROCID=0 \
		-- explain --all-nodes --frameworks=torchrun
	[[ $status -eq 0 && $output == *$'\n0 a1           PET_NODE_RANK=0\n1 a2           PET_NODE_RANK=1' ]]
	# What this node has already may be another value on the others.
	distinit "${SESSION[@]}" MASTER_PORT=7 API_TOKEN=x -- explain --all-nodes --frameworks=torch --set DB_PASSWORD=secret
	[[ $output == *$'\nhere           MASTER_PORT=7'* && $output == *'all            DB_PASSWORD=********'* && $output != *secret* ]]
	# Where a variable is left out on one node.
	distinit -- explain --all-nodes --hosts=a,b --node-rank=1 --frameworks=llamacpp
	[ "$output" = $'nodes          2: a,b\n0 a            LLAMA_ARG_RPC=b:50052' ]
}

@test "explain --all-nodes: an error where the nodes are not known, and for programs" {
	distinit -- explain --all-nodes
	refuses_with '--all-nodes: the nodes are not known here; give --hosts'
	distinit -- explain --all-nodes --hosts=a,b --node-rank=0 --format=json
	refuses_with '--all-nodes is for people: --format=text'
}

@test "explain, check: colours only on a terminal, by --color and NO_COLOR" {
	distinit "${SESSION[@]}" -- explain
	plain=$output
	[[ $plain != *$'\e'* ]]
	distinit "${SESSION[@]}" -- explain --color=always
	[[ $output == *$'\e[1mmanager\e[m        backendai: '* && $output == *$'\n\e[1mmaster         main1 '*$'\e[m\n'* ]]
	[ "$(sed $'s/\e\\[[0-9;]*m//g; s/PID [0-9]*/PID/' <<<"$output")" = "$(sed $'s/\e//g; s/PID [0-9]*/PID/' <<<"$plain")" ]
	distinit -- check --color=always -- nosuch
	[[ $output == *$'\n\e[1;31mfinding: '* ]]
	distinit "${SESSION[@]}" MASTER_ADDR=localhost -- explain --color=always
	[[ $output == *$'\n\e[1;31mwarning: MASTER_ADDR='*$'\e[m' ]]
	distinit "${SESSION[@]}" -- explain --color=blue
	refuses_with "--color='blue': expected one of auto, always, never"
	terminal=("$BATS_TEST_DIRNAME/../programs/terminal" ends=0 -- env -i TERM=xterm "${SESSION[@]}")
	invoke "${terminal[@]}" "$DISTINIT" explain 3>&-
	[[ $status -eq 0 && $output == *$'\e[1mmanager\e[m'* ]]
	invoke "${terminal[@]}" NO_COLOR=1 "$DISTINIT" explain 3>&-
	[[ $status -eq 0 && $output == *manager* && $output != *$'\e'* ]]
	invoke "${terminal[@]}" DISTINIT_COLOR=never "$DISTINIT" explain 3>&-
	[[ $status -eq 0 && $output == *manager* && $output != *$'\e'* ]]
}

# cpu_ms N [FRAMEWORKS]: the milliseconds of the processor that all nodes of N take; the least of three runs.
cpu_ms() {
	local hosts=n0 i TIMEFORMAT='%U %S' took least=
	for ((i = 1; i < $1; i++)); do
		hosts+=,n$i
	done
	for i in 1 2 3; do
		took=$({ time "$DISTINIT" explain --all-nodes --hosts="$hosts" --node-rank=0 --frameworks="${2-torch,torchrun}" >all; } 2>&1)
		took=$(awk '{ printf "%d", ($1 + $2) * 1000 }' <<<"$took")
		[ "$(wc -l <all)" -ge "$1" ]
		[[ -n $least && $least -le $took ]] || least=$took
	done
	echo "$least"
}

@test "explain --all-nodes: twice the nodes take twice the time, not its square" {
	cd "$BATS_TEST_TMPDIR"
	half=$(cpu_ms 1000)
	whole=$(cpu_ms 2000)
	echo "1,000 nodes: $half ms; 2,000 nodes: $whole ms"
	((whole <= 4 * half + 50))
}

@test "explain --all-nodes: values that name all nodes cost little more, as only their beginning is shown" {
	cd "$BATS_TEST_TMPDIR"
	few=$(cpu_ms 2000)
	long=$(cpu_ms 2000 torch,torchrun,tensorflow)
	echo "without TF_CONFIG $few ms, with it $long ms"
	((long <= 10 * few + 200))
	# One that is given is read once.
	config='{"cluster":{"worker":["w0.ns:2222"'
	for ((i = 1; i < 2000; i++)); do config+=",\"w$i.ns:2222\""; done
	export TF_CONFIG="$config]},\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}"
	given=$(cpu_ms 2000 tensorflow)
	echo "with a given one $given ms"
	((given <= 10 * few + 200))
	[[ $(<all) == *'here           TF_CONFIG={"cluster":{"worker":["w0.ns:2222","w1.ns:2222",'*"... (${#TF_CONFIG} bytes)"* ]]
}

@test "explain: --all-nodes of a list needs no place of this machine in it" {
	distinit -- explain --all-nodes --hosts=n1,n2 --hostname=login
	[[ $status -eq 0 && -z $stderr && $output == *'PET_NODE_RANK=1'* ]]
	distinit -- explain --hosts=n1,n2 --hostname=login
	refuses_with "--hosts='n1,n2': this machine, 'login', is not in the list; pass --node-rank=N (0 to 1)"
}

# --- a run's options --------------------------------------------------------------------------------

# The same words, with and without "explain" in front.
@test "explain takes every option of a run, and shows what it would do; --dry-run is the same, and starts nothing" {
	# shellcheck disable=SC2054 # the commas are the lists'
	local -a words=(--hosts=n1,n2 --node-rank=0 --together=workers --max-restarts=3 --no-restart=17,SEGV --grace=20s --check '--clear=/dev/shm/nccl-*')
	distinit PATH="$PATH" -- explain "${words[@]}" -- touch ran
	[[ $status -eq 0 && $output == *$'\nbefore         a roll call: all nodes have to come within 600s\n'* ]]
	[[ $output == *$'\ninit           stays as the parent; KILL 20s after TERM\n'* ]]
	[[ $output == *$'\nrestarts       at most 3, in place, '*'final are exit status 0, 125 to 127, 17,SEGV, and TERM, INT and QUIT'* ]]
	[[ $output == *$'\nclear          /dev/shm/nccl-*\n'* && $output == *$'\ncheck          what was promised '* ]]
	local explained=$output
	distinit PATH="$PATH" -- --dry-run "${words[@]}" -- touch ran
	[[ $status -eq 0 && ${output//PID [0-9]*, uid/} == "${explained//PID [0-9]*, uid/}" && ! -e ran ]]
	distinit PATH="$PATH" -- explain --wait=20s --for=dns --hosts=n1,n2 --node-rank=1
	[[ $output == *$'\nbefore         the master\'s name has to resolve within 20s\n'* ]]
	distinit PATH="$PATH" -- explain --wait --hosts=n1,n2 --node-rank=0
	[[ $output == *$'\nbefore         nothing to wait for: '* ]]
	# By variables, too; without them there is no such line.
	distinit DISTINIT_TIME_LIMIT=2h -- explain
	[[ $output == *$'\ninit           stays as the parent; time limit 7200s'* ]]
	distinit -- explain
	[[ $output != *$'\nbefore  '* && $output != *$'\ninit  '* ]]
	# For programs.
	distinit PATH="$PATH" -- explain --format=json --init --max-restarts=unlimited --no-restart=93 --grace=1s
	local run
	run=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["run"])' <<<"$output")
	[[ $run == "{'wait_for': None, 'wait_ms': None, 'check': False, 'expected': [], 'init': True, 'grace_ms': 1000, 'time_limit_ms': None, 'max_restarts': 'unlimited', 'max_idle_starts': None, 'no_restart': '93'}" ]]
}

@test "explain, check and --dry-run refuse what a run refuses" {
	local words
	for words in '--init --grace=x' '--grace=3s' '--together=what' '--max-restarts=-1' '--wait=x' '--max-restarts=1 --grace=never' '--no-restart=17' '--init --signal=X:Y' '--wait --for=x'; do
		# shellcheck disable=SC2086 # words
		distinit PATH="$PATH" -- $words -- true
		local refused=$stderr
		[[ $status -eq 125 ]]
		for word in explain --dry-run; do
			# shellcheck disable=SC2086
			distinit PATH="$PATH" -- $word $words -- true
			[[ $status -eq 125 && $stderr == "$refused" ]] || { echo "$word $words: $stderr, not $refused" && return 1; }
		done
	done
	distinit PATH="$PATH" -- check --init --together --wait=1s -- true
	[[ $status -le 1 && $stderr != *error* ]]
	distinit PATH="$PATH" -- check --gracious -- true
	[[ $status -eq 125 && $stderr == *"unknown option '--gracious'"* ]]
}

@test "explain before a roll call says what the run would say" {
	distinit JOB_COMPLETION_INDEX=1 -- explain --wait --for=all -- true
	[[ $output == *"before         nothing would start: --for=all: indexedjob (JOB_COMPLETION_INDEX) does not provide the number of nodes"* ]]
	distinit JOB_COMPLETION_INDEX=1 -- --wait --for=all -- true
	refuses_with "--for=all: indexedjob (JOB_COMPLETION_INDEX) does not provide the number of nodes; set DISTINIT_NNODES, or pass --nnodes or --hosts"
	distinit -- explain --wait --for=all -- true
	[[ $output == *"before         nothing to wait for: no cluster manager is recognised here"* ]]
	distinit -- explain --together --hosts=a,b --node-rank=1 -- true
	[[ $output == *"before         a roll call: all nodes have to come within 600s"* ]]
}
