#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The rights in SECURITY.md. The command line belongs to the image; variables, and the folders that
# they name, may come from another user.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2054 # the commas belong to the lists

load helpers

setup() {
	requires setpriv python3
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	DISTINIT=$OPEN_FOLDER/distinit
	cd "$OPEN_FOLDER" || return
	# A volume with the files of another user.
	mkdir -p vol/etc vol/dev vol/opt/ml/input/config theirs
	printf 'nobody:x:0:0::/root:/bin/sh\n' >vol/etc/passwd
	printf 'root:x:0:nobody\n' >vol/etc/group
	# A file that only root may read.
	printf 'hunter2-of-root\n' >secret
	chmod 600 secret
	chown 4321 theirs 2>/dev/null || true
}

teardown() {
	cd / || return
	remove_open_folder
}

# These tests need setuid programs to take effect.
requires_setuid() {
	requires_root
	cp /usr/bin/id id
	chmod 4755 id
	[[ $(as_nobody ./id -u) == 0 ]] || skip 'setuid programs gain nothing in this folder'
}

# It failed with status 125, before anything ran, and did not show the secret.
keeps_the_secret() {
	[[ $status -eq 125 && -z $output && $stderr == *'distinit: error: '* && $stderr != *hunter2* ]]
}

@test "security: each refusal of SECURITY.md has a test that names it" {
	cd "$BATS_TEST_DIRNAME" || return
	local refused tested
	refused=$(sed -n '/^## What it refuses/,/^## What it does not/s/^- \*\*\(.*\)\*\*.*/\1/p' ../../SECURITY.md | sort)
	tested=$(sed -n 's/^# SECURITY.md: \(.*\)$/\1/p' security.bats privileges.bats wait.bats init.bats | sort)
	[[ -n $refused ]]
	diff <(echo "$refused") <(echo "$tested")
	[[ $(wc -w <../../SECURITY.md) -lt 600 ]]
}

# --- files that a variable names are opened with the rights of the workload's user ----------------

# SECURITY.md: A variable opens no file that the workload could not open.
@test "security: a directive file that a variable names is read with the rights of --user" {
	requires_root
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --user=4321:4321 -- echo ran
	keeps_the_secret
	fails_like 125 "DISTINIT_ENV_FILE '$PWD/secret' cannot be read: Permission denied; a file that a variable names is opened with the rights of the workload, uid 4321, gid 4321"
	# Nor with a group of root, or with a capability that root has and the user does not have.
	chmod 640 secret
	invoke setpriv --groups=0 env -i PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" "$DISTINIT" --user=4321:4321 -- echo ran
	keeps_the_secret
	# The user's own groups and capabilities count.
	chgrp 4321 secret
	echo 'FOO=group' >secret
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --user=4321:4321 -- printenv FOO
	succeeds_with group
}

@test "security: files that the command line names are read with all rights" {
	requires_root
	echo 'FOO=mine' >secret
	distinit PATH="$PATH" -- --user=4321:4321 --env-file=secret -- printenv FOO
	succeeds_with mine
	printf 'n0\nn1\n' >secret
	distinit PATH="$PATH" -- --user=4321:4321 --hostfile="$PWD/secret" --node-rank=1 -- printenv PET_NODE_RANK
	succeeds_with 1
	# Both together.
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --user=4321:4321 --hostfile="$PWD/secret" --node-rank=1 -- echo ran
	keeps_the_secret
}

@test "security: without capabilities root cannot read files that need them either" {
	requires_root
	chown 4321 secret
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --cap-drop=all -- echo ran
	keeps_the_secret
	# The user has the capabilities that are kept.
	echo 'FOO=kept' >secret
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --user=4322:4322 --cap-keep=dac_override -- printenv FOO
	succeeds_with kept
}

@test "security: with DISTINIT_USER, files are opened with that user's rights too" {
	requires_root
	distinit PATH="$PATH" DISTINIT_USER=4321:4321 DISTINIT_ENV_FILE="$PWD/secret" -- -- echo ran
	keeps_the_secret
}

@test "security: a host file that a variable names is read with the rights of --user" {
	requires_root
	distinit PATH="$PATH" DISTINIT_HOSTFILE="$PWD/secret" DISTINIT_NODE_RANK=0 -- --user=4321:4321 -- echo ran
	keeps_the_secret
	[[ $stderr == *'Permission denied; a file that a variable names is opened with '*', uid 4321, gid 4321' ]]
}

@test "security: so are the files of managers" {
	requires_root
	local variables
	for variables in \
		"PBS_JOBID=7 PBS_NODEFILE=$PWD/secret" \
		"COBALT_JOBID=7 COBALT_NODEFILE=$PWD/secret" \
		"LOADL_STEP_ID=x.7.0 LOADL_HOSTFILE=$PWD/secret" \
		"LSB_JOBID=7 LSB_DJOB_HOSTFILE=$PWD/secret" \
		"JOB_ID=7 SGE_ROOT=/x ARC=x PE_HOSTFILE=$PWD/secret"; do
		# shellcheck disable=SC2086 # split into words
		distinit PATH="$PATH" $variables -- --user=4321:4321 -- echo ran
		keeps_the_secret
		[[ $stderr == *'Permission denied'* ]]
	done
	local -a arbitrary=(SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NODELIST='n[1-3]' SLURM_STEP_NUM_NODES=3 SLURM_STEP_NUM_TASKS=3
		SLURM_NODEID=1 SLURM_PROCID=1 SLURM_NTASKS=3 SLURM_LOCALID=0 SLURM_STEP_TASKS_PER_NODE='1(x3)'
		SLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE="$PWD/secret")
	distinit PATH="$PATH" "${arbitrary[@]}" -- --user=4321:4321 -- echo ran
	keeps_the_secret
	[[ $stderr == *'Permission denied'* ]]
	cp -p secret vol/opt/ml/input/config/resourceconfig.json
	distinit PATH="$PATH" SM_CURRENT_HOST=n1 SM_HOSTS='["n1","n2"]' DISTINIT_ROOT="$PWD/vol" -- --user=4321:4321 -- echo ran
	keeps_the_secret
	[[ $stderr == *'Permission denied'* ]]
}

@test "security: root follows no link below DISTINIT_ROOT before --user: cards of RDMA, marks of engines" {
	requires_root
	requires strace
	local port=vol/sys/class/infiniband/mlx5_0/ports/1
	mkdir -p $port/gids $port/gid_attrs/{types,ndevs} vol/run
	echo '4: ACTIVE' >$port/state
	echo Ethernet >$port/link_layer
	echo 0000:0000:0000:0000:0000:ffff:0a00:0001 >$port/gids/0
	echo 'RoCE v2' >$port/gid_attrs/types/0
	# What it leads to is a part of the path of the next file.
	ln -s "$PWD/secret" $port/gid_attrs/ndevs/0
	ln -s "$PWD/private/there" vol/.dockerenv
	mkdir -m 700 private
	touch private/there
	local -a variables=(DISTINIT_HOSTS=n1,n2 DISTINIT_NODE_RANK=0 DISTINIT_FRAMEWORKS=rdma DISTINIT_ROOT="$PWD/vol")
	env -i "${variables[@]}" strace -f -o trace "$DISTINIT" --user=4321:4321 -- "$PWD/distinit" --version
	grep -qF 'ndevs/0' trace
	[[ $(<trace) != *hunter2* ]]
	distinit "${variables[@]}" -- explain --format=json --user=4321:4321
	[[ $status -eq 0 && $output != *'"docker"'* ]]
}

# SECURITY.md: No file is written that the workload could not write.
@test "security: a host file that a variable names is written with the rights of --user" {
	requires_root
	local -a two=(PATH="$PATH" DISTINIT_HOSTS=n0,n1 DISTINIT_NODE_RANK=0 DISTINIT_FRAMEWORKS=mpi)
	distinit "${two[@]}" DISTINIT_HOSTFILE_OUTPUT="$PWD/vol/hosts" -- --user=4321:4321 -- echo ran
	[[ $status -eq 125 && -z $output && $stderr == *'cannot be written: Permission denied; '*', uid 4321, gid 4321' ]]
	[ ! -e vol/hosts ]
	distinit "${two[@]}" DISTINIT_HOSTFILE_OUTPUT="$PWD/theirs/hosts" -- --user=4321:4321 -- id -u
	succeeds_with 4321
	[[ $(stat -c %u:%g theirs/hosts) == 4321:4321 ]]
	# Also where the command line names it.
	distinit "${two[@]}" -- --hostfile-output="$PWD/vol/hosts" --user=4321:4321 -- id -u
	[[ $status -eq 125 && -z $output && $stderr == *'cannot be written: Permission denied; '* && ! -e vol/hosts ]]
	distinit -- env --set=A=1 --output="$PWD/vol/env" --user=4321:4321
	[[ $status -eq 125 && -z $output && $stderr == *'cannot be written: Permission denied; '* && ! -e vol/env ]]
	distinit -- env --set=A=1 --output="$PWD/theirs/env" --user=4321:4321
	[[ $status -eq 0 && $(stat -c %u:%g theirs/env) == 4321:4321 ]]
}

@test "security: subcommands open them likewise" {
	requires_root
	local subcommand
	for subcommand in env explain wait; do
		distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- "$subcommand" --user=4321:4321
		keeps_the_secret
	done
	# Also if the workload could not be started.
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- env --user=4321:4321 --cap-keep=cap_62
	keeps_the_secret
}

@test "security: opening files with fewer rights does not change the workload's rights" {
	requires_root
	echo 'FOO=bar' >open
	local show='printenv FOO; grep -E "^(Uid|Gid|Groups|Cap)" /proc/self/status'
	distinit PATH="$PATH" -- --set FOO=bar --user=4321:4321 --cap-keep=ipc_lock -- sh -c "$show"
	local expected=$output
	[[ -n $expected ]]
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/open" -- --user=4321:4321 --cap-keep=ipc_lock -- sh -c "$show"
	succeeds_with "$expected"
}

# each_early_error COMMAND...: run it with each variable that is refused early, and DISTINIT_REPORT and
# DISTINIT_HOSTFILE_OUTPUT on root's file; it stays as it is.
each_early_error() {
	local early
	for early in GRACE=' x ' SCOPE=x RANKS=x SIGNAL=x MAP_EXIT=x LEFTOVERS=x LEFTOVERS_GRACE=x PDEATHSIG=x TIME_LIMIT=x \
		TOGETHER=x LINGER=x LOG=x LENIENT=x FRAMEWORKS=x TF_ROLES=x HOSTS=a,a CLUSTER=x NNODES=x MASTER_PORT=x READ=x \
		AGREE=x WAIT=x FOR=x SECRET=x ENV=x APP=x; do
		invoke env -i PATH="$PATH" DISTINIT_HOSTS=n0,n1 DISTINIT_NODE_RANK=0 DISTINIT_FRAMEWORKS=mpi \
			DISTINIT_REPORT="$PWD/secret" DISTINIT_HOSTFILE_OUTPUT="$PWD/secret" "DISTINIT_$early" "$@"
		[[ $(<secret) == hunter2-of-root && $(stat -c %u:%a secret) == 0:600 ]]
		invoke env -i PATH="$PATH" DISTINIT_REPORT="$PWD/new" "DISTINIT_$early" "$@"
		[[ ! -e new || $(stat -c %u new) != 0 ]]
		rm -f new
	done
}

@test "security: after an early error, the report and the host file are not written as root" {
	requires_root
	each_early_error "$DISTINIT" --user=4321:4321 --no-new-privs --init -- true
	each_early_error "$DISTINIT" wait --user=4321:4321 --timeout=100ms
	# The user itself is wrong: nobody knows with whose rights.
	distinit DISTINIT_REPORT="$PWD/secret" -- --user=no-such-user -- true
	[[ $status -eq 125 && $(<secret) == hunter2-of-root ]]
	[[ $stderr == *"warning: DISTINIT_REPORT: '$PWD/secret' cannot be written: the rights of the workload, which open it, are not known"* ]]
}

@test "security: nor as root without capabilities, where the change of user fails" {
	requires_root
	local -a bare=(setpriv --bounding-set=-all --inh-caps=-all)
	each_early_error "${bare[@]}" "$DISTINIT" --user=4321:4321 --init -- true
	each_early_error "${bare[@]}" "$DISTINIT" wait --user=4321:4321 --timeout=100ms
	local subcommand
	for subcommand in env explain wait; do
		invoke "${bare[@]}" env -i DISTINIT_ENV_FILE="$PWD/secret" "$DISTINIT" "$subcommand" --user=4321:4321
		keeps_the_secret
	done
}

# --- folders of others ------------------------------------------------------------------------------

# SECURITY.md: Root writes nothing through another user's symlink
# swapped COMMAND...: run it 100 times, while the owner of the folder vol swaps what vol/file is: nothing, a FIFO, links to
# a file of root's, to its folder and to nowhere, and a file. Nothing of root's changes.
swapped() {
	chown 4321:4321 vol
	mkdir -p mine
	echo before >mine/file
	chmod 600 mine/file
	chmod 755 mine
	python3 - "$PWD/vol" "$PWD/mine" "${SWAPPED:-file}" <<-'PYTHON' 3>&- &
		import itertools, os, sys
		folder, mine, name = sys.argv[1:]
		os.setgroups([])
		os.setresgid(4321, 4321, 4321)
		os.setresuid(4321, 4321, 4321)
		def fifo(at):
		    os.mkfifo(at)
		def file(at):
		    open(at, "w").close()
		kinds = [fifo, lambda at: os.symlink(mine + "/file", at), file, lambda at: os.symlink(mine + "/new", at)]
		os.mkdir(folder + "/real")
		for i in itertools.count():
		    if os.getppid() == 1:
		        break
		    try:
		        kinds[i % 4](folder + "/next")
		        os.rename(folder + "/next", folder + "/" + name)
		        # The folder below is now a folder, now a link.
		        os.symlink(mine if i % 2 else "real", folder + "/link")
		        os.rename(folder + "/link", folder + "/way")
		    except OSError:
		        pass
	PYTHON
	local swapper=$! status=0
	until [ -d vol/real ]; do nap 0.01; done
	timeout $((60 * ${PATIENCE:-1})) bash -c 'for i in {1..100}; do "$@" >/dev/null 2>&1; done; :' - "$@" || status=$?
	kill "$swapper"
	[ "$status" -eq 0 ]
	wait "$swapper" || true
	[[ $(<mine/file) == before && $(stat -c %u:%g:%a mine/file) == 0:0:600 && $(ls mine) == file ]]
}

# Each writer of a file, at a path that is swapped, and below a folder that is.
@test "security: env --output in a folder of somebody else writes nothing elsewhere" {
	requires_root
	swapped "$DISTINIT" env --set=A=1 --output=vol/file
	rm -rf vol/*
	swapped "$DISTINIT" env --set=A=1 --output=vol/way/file
}

@test "security: nor does --hostfile-output" {
	requires_root
	swapped "$DISTINIT" --hosts=n0,n1 --node-rank=0 --frameworks=mpi --hostfile-output="$PWD/vol/file" -- true
	rm -rf vol/*
	swapped "$DISTINIT" --hosts=n0,n1 --node-rank=0 --frameworks=mpi --hostfile-output="$PWD/vol/way/file" -- true
}

@test "security: nor does bundle --output, which also hands nothing to a FIFO" {
	requires_root
	swapped "$DISTINIT" bundle --track=PATH --output=vol/file
	rm -rf vol/*
	swapped "$DISTINIT" bundle --track=PATH --output=vol/way/file
	rm -rf vol/*
	mkfifo vol/fifo
	timeout 100 cat vol/fifo >got 3>&- &
	invoke timeout 100 "$DISTINIT" bundle --track=PATH --output=vol/fifo
	fails_like 125 "--output: 'vol/fifo' cannot be written: *"
	kill $! && [ ! -s got ]
}

@test "security: in a sticky folder, no other user writes through another user's symlink either, whatever the kernel does" {
	requires_root
	mkdir sticky own
	chmod 1777 sticky
	chown 65534:65534 own
	ln -s ../own sticky/way
	chown -h 4321 sticky/way
	invoke as_nobody "$DISTINIT" env --set=A=1 --output=sticky/way/file
	fails_like 125 "*'sticky/way/file' cannot be written: a symlink on the way belongs to another user*"
	[ -z "$(ls own)" ]
	# It is the folder's owner whose link it is, or a folder without the sticky bit: the kernel follows these.
	chown 4321 sticky
	invoke as_nobody "$DISTINIT" env --set=A=1 --output=sticky/way/file
	[[ $status -eq 0 && $(ls own) == file ]]
	invoke "$DISTINIT" env --set=A=1 --output=sticky/way/file
	fails_like 125 "*'sticky/way/file' cannot be written: a symlink on the way belongs to another user*"
}

@test "security: no writer writes into another user's FIFO or device" {
	requires_root
	local kind reader
	for kind in p 'c 1 7'; do
		mkdir -p world/dev
		# shellcheck disable=SC2086 # several words
		mknod vol/it $kind && mknod world/dev/termination-log $kind || skip 'no device can be made here'
		chown 4321:4321 vol/it world/dev/termination-log
		chmod 666 vol/it world/dev/termination-log
		# Open for both, so no writer waits for a reader.
		[[ $kind != p ]] || exec 8<>vol/it 9<>world/dev/termination-log
		invoke timeout 20 "$DISTINIT" env --set=A=1 --output=vol/it
		fails_like 125 "*'vol/it' cannot be written: it belongs to another user, or *"
		invoke timeout 20 "$DISTINIT" bundle --track=PATH --output=vol/it
		fails_like 125 "*'vol/it' cannot be written: it belongs to another user, or *"
		invoke timeout 20 "$DISTINIT" --hosts=n0,n1 --node-rank=0 --frameworks=mpi --hostfile-output="$PWD/vol/it" -- echo ran
		fails_like 125 "*/vol/it' cannot be written: it belongs to another user, or *"
		invoke timeout 20 "$DISTINIT" --report=vol/it -- echo ran
		[[ $status -eq 0 && $output == ran && $stderr == *"/vol/it' cannot be written: it belongs to another user, or "* ]]
		invoke timeout 20 "$DISTINIT" wait --root="$PWD/world" --hosts=127.0.0.1,127.0.0.2 --node-rank=1 --master-port=x
		[ "$status" -eq 125 ]
		if [[ $kind == p ]]; then
			for reader in 8 9; do
				[ -z "$(timeout 0.1 cat <&$reader)" ]
			done
			exec 8>&- 9>&-
		fi
		rm vol/it world/dev/termination-log
	done
}

@test "security: nor does --report" {
	requires_root
	swapped "$DISTINIT" --report=vol/file -- true
	rm -rf vol/*
	swapped "$DISTINIT" --report=vol/way/file -- true
}

@test "security: nor does the termination log" {
	requires_root
	mkdir world
	ln -s "$PWD/vol" world/dev
	SWAPPED=termination-log swapped "$DISTINIT" wait --root="$PWD/world" --hosts=127.0.0.1,127.0.0.2 --node-rank=1 --master-port=x
}

@test "security: nor does install" {
	requires_root
	swapped "$DISTINIT" install vol/way
	rm -rf vol/*
	SWAPPED=distinit swapped "$DISTINIT" install vol
}

@test "security: the report is written with the rights of --user" {
	[ "$EUID" -eq 0 ] || skip 'only root can change users'
	open_folder
	cd "$OPEN_FOLDER"
	touch mine
	chmod 600 mine
	distinit -- --report=mine --user=4321:4321 -- /bin/true
	[[ $status -eq 0 && ! -s mine && $stderr == *'mine'*'cannot be written: Permission denied'* ]]
	# Also where nothing is started, and the rights have not been dropped yet.
	distinit BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_LOCAL_RANK=one -- --report=mine --user=4321:4321 -- /bin/true
	[[ $status -eq 125 && ! -s mine ]]
	chown 4321:4321 mine
	distinit -- --report=mine --user=4321:4321 -- /bin/true
	[[ -z $stderr && $(wc -l <mine) -eq 2 ]]
	# wait has several lines, and the termination log after them.
	mkdir -p vol/dev
	: >vol/dev/termination-log
	chown 4321:4321 vol/dev/termination-log
	chmod 600 vol/dev/termination-log
	distinit -- wait --report=mine --user=4321:4321 --root="$PWD/vol" --hosts=127.0.0.1,b --node-rank=1 --master-port=9 \
		--for=tcp --timeout=100ms
	[[ $status -eq 124 && $(wc -l <mine) -eq 4 && -s vol/dev/termination-log ]]
	cd /
	remove_open_folder
}

# SECURITY.md: The termination log is never a symlink.
@test "security: the termination log is not written through a symlink" {
	echo before >target
	ln -s "$PWD/target" vol/dev/termination-log
	local -a nobody_there=(DISTINIT_HOSTS=127.0.0.1,127.0.0.2 DISTINIT_NODE_RANK=1 DISTINIT_MASTER_PORT=1)
	distinit "${nobody_there[@]}" DISTINIT_ROOT="$PWD/vol" -- wait --for=tcp --timeout=300ms
	[[ $status -eq 124 && $(<target) == before ]]
	distinit "${nobody_there[@]}" -- wait --root="$PWD/vol" --for=tcp --timeout=300ms
	[[ $status -eq 124 && $(<target) == before ]]
}

@test "security: the termination log is opened with the rights of --user" {
	requires_root
	: >vol/dev/termination-log
	local -a nobody_there=(DISTINIT_HOSTS=127.0.0.1,127.0.0.2 DISTINIT_NODE_RANK=1 DISTINIT_MASTER_PORT=1)
	distinit "${nobody_there[@]}" DISTINIT_ROOT="$PWD/vol" -- wait --user=4321:4321 --for=tcp --timeout=300ms
	[[ $status -eq 124 && ! -s vol/dev/termination-log ]]
	distinit "${nobody_there[@]}" DISTINIT_ROOT="$PWD/vol" -- wait --for=tcp --timeout=300ms
	[[ $status -eq 124 && -s vol/dev/termination-log ]]
}

# --- privileges that are fixed on the command line ------------------------------------------------

@test "security: the users of --user are those of the image, not of DISTINIT_ROOT" {
	requires_root
	distinit PATH="$PATH" DISTINIT_ROOT="$PWD/vol" -- --user=nobody -- sh -c 'id -u; id -G'
	[[ $status -eq 0 && $output == "$(id -u nobody)"$'\n'"$(id -G nobody)" ]]
	warns_with "users and groups are looked up in /etc, not under DISTINIT_ROOT, because --user is on the command line"
	# --root is on the command line.
	distinit PATH="$PATH" -- --root="$PWD/vol" --user=nobody -- id -u
	succeeds_with 0
}

# SECURITY.md: A privilege on the command line is fixed.
@test "security: if one privilege is on the command line, no variable changes another" {
	requires_root
	local option variable
	for option in --user=4321:4321 --groups=none --cap-drop=chown --cap-keep=kill --no-new-privs; do
		for variable in DISTINIT_USER=4322:4322 DISTINIT_GROUPS=init DISTINIT_CAP_DROP=nothing DISTINIT_CAP_KEEP=nothing \
			DISTINIT_NO_NEW_PRIVS=maybe; do
			local own=${option%%=*} name=${variable%%=*}
			own=${own#--}
			own=DISTINIT_${own^^}
			[[ ${own//-/_} != "$name" ]] || continue
			distinit PATH="$PATH" "$variable" -- "$option" -- echo ran
			[[ $output == ran ]]
			warns_with "$name is ignored: ${option%%=*} is on the command line"
		done
	done
	distinit PATH="$PATH" DISTINIT_CAP_KEEP=dac_override -- --user=4321:4321 -- sed -n 's/^CapEff:\t//p' /proc/self/status
	[[ $output == 0000000000000000 ]]
	distinit PATH="$PATH" DISTINIT_USER=0 -- --cap-drop=all -- printenv DISTINIT_USER
	[[ $status -eq 1 && -z $output ]]
	# Otherwise variables may set all of them.
	distinit PATH="$PATH" DISTINIT_USER=4321:4321 DISTINIT_CAP_KEEP=kill -- -- id -u
	succeeds_with 4321
}

# SECURITY.md: A closed command line stays closed.
@test "security: --options-from=command-line ignores all DISTINIT_* variables" {
	local -a cluster=(PATH="$PATH" DISTINIT_HOSTS=n0,n1 DISTINIT_NODE_RANK=1)
	distinit "${cluster[@]}" -- -- printenv PET_NODE_RANK
	succeeds_with 1
	distinit "${cluster[@]}" -- --options-from=all -- printenv PET_NODE_RANK
	succeeds_with 1
	distinit "${cluster[@]}" DISTINIT_LENIENT=maybe DISTINIT_ENV='set X=1' -- --options-from=command-line -- env
	[[ $output == "PATH=$PATH" ]]
	warns_with 'DISTINIT_HOSTS is ignored: --options-from=command-line' \
		'DISTINIT_NODE_RANK is ignored: --options-from=command-line' \
		'DISTINIT_LENIENT is ignored: --options-from=command-line' \
		'DISTINIT_ENV is ignored: --options-from=command-line'
	# The secret counts for nothing, and is gone.
	distinit PATH="$PATH" DISTINIT_SECRET=0123456789abcdefgh -- --options-from=command-line -- env
	[[ $output == "PATH=$PATH" ]]
	warns_with 'DISTINIT_SECRET is ignored: --options-from=command-line'
	# No variable turns it on or off.
	distinit PATH="$PATH" DISTINIT_OPTIONS_FROM=all DISTINIT_ENV='set X=1' -- --options-from=command-line -- printenv X
	[[ $status -eq 1 && -z $output ]]
	distinit PATH="$PATH" -- --options-from=comand-line -- echo ran
	refuses_with "--options-from='comand-line': expected one of command-line, all; did you mean 'command-line'?"
}

# SECURITY.md: A change of privileges is never half done.
@test "security: if a change of privileges is impossible, nothing is changed and nothing runs" {
	requires_root
	# A host file that a variable names is not written either.
	invoke env -i PATH="$PATH" DISTINIT_HOSTS=n0,n1 DISTINIT_NODE_RANK=0 DISTINIT_FRAMEWORKS=mpi \
		DISTINIT_HOSTFILE_OUTPUT="$PWD/theirs/hosts" setpriv --bounding-set=-setgid --inh-caps=-all "$DISTINIT" \
		--user=4321:4321 -- sh -c 'echo ran'
	fails_like 125 "--user='4321:4321': this process is root, but lacks cap_setgid*"
	[ ! -e theirs/hosts ]
	distinit PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" -- --user=4321:4321 --cap-keep=cap_62 -- echo ran
	fails_like 125 '--cap-keep: this kernel has no cap_62*'
}

@test "security: a change of privileges that a sandbox says was done, and was not, is found by reading it back" {
	requires_root
	# setuid, setgid, setgroups, capset and prctl.
	# shellcheck disable=SC2034 # the helper's
	local call FILTERED_AS=(setpriv --groups=7)
	for call in 105:'a uid is 0*' 106:'a gid is 0*' 116:'the supplementary groups differ*' 126:'*' 157:'*'; do
		ANSWER=0 filtered "${call%%:*}" "$DISTINIT" --user=4321:4321 --cap-drop=all --cap-keep=ipc_lock --no-new-privs -- echo ran
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $status -eq 125 && -z $output && ${stderr#*done as planned: } == ${call#*:} ]]
	done
}

# --- setuid, setgid, file capabilities ------------------------------------------------------------

# SECURITY.md: A setuid or setgid copy does not run.
@test "security: a setuid or setgid copy refuses to run" {
	requires_setuid
	chmod 4755 distinit
	invoke as_nobody env -i PATH="$PATH" ./distinit -- echo ran
	fails_like 125 'the real uid 65534 and the effective uid 0 differ*setuid*chmod ug-s*'
	invoke as_nobody env -i PATH="$PATH" ./distinit install "$PWD/theirs"
	fails_like 125 'the real uid*'
	chown 0:7 distinit
	chmod 2755 distinit
	invoke as_nobody env -i PATH="$PATH" ./distinit explain
	fails_like 125 'the real gid 65534 and the effective gid 7 differ*setgid*chmod ug-s*'
	# If the bit has no effect, it is not refused.
	invoke as_nobody setpriv --no-new-privs env -i PATH="$PATH" ./distinit -- echo ran
	succeeds_with ran
}

# with_ids RUID EUID RGID EGID ARG...: invoke distinit from a process with these ids.
with_ids() {
	# shellcheck disable=SC2016 # a program in Python
	invoke python3 -c 'import os, sys
ruid, euid, rgid, egid = map(int, sys.argv[1:5])
os.setgroups([])
os.setresgid(rgid, egid, egid)
os.setresuid(ruid, euid, euid)
os.execve(sys.argv[5], sys.argv[5:], {"PATH": os.environ["PATH"]})' "${@:1:4}" "$DISTINIT" "${@:5}"
}

@test "security: real and effective ids that differ are refused, whatever the cause" {
	requires_root
	local -a what
	for what in '--no-new-privs -- echo ran' '--cap-drop=all -- echo ran' explain; do
		# shellcheck disable=SC2206 # split into words
		what=($what)
		with_ids 1000 1000 1000 50 "${what[@]}"
		fails_like 125 'the real gid 1000 and the effective gid 50 differ*'
		with_ids 1000 0 1000 1000 "${what[@]}"
		fails_like 125 'the real uid 1000 and the effective uid 0 differ*'
	done
}

# SECURITY.md: A copy whose file has capabilities changes no ids.
@test "security: a copy whose file has capabilities runs, but changes no user and opens no files by them" {
	requires_root
	requires setcap
	setcap cap_setuid,cap_setgid,cap_dac_override,cap_ipc_lock=ep distinit || skip 'files have no capabilities here'
	cp /bin/sed sed
	setcap cap_kill=ep sed
	[[ $(as_nobody ./sed -n 's/^CapEff:\t//p' /proc/self/status) == *20 ]] || skip 'capabilities of files give nothing here'
	invoke as_nobody env -i PATH="$PATH" ./distinit -- id -u
	succeeds_with 65534
	local option
	for option in --user=0 --user=4321:4321 --user=:0 --groups=none; do
		# This process has groups that it could lose.
		invoke setpriv --reuid=65534 --regid=65534 --groups=7 env -i PATH="$PATH" ./distinit "$option" -- echo ran
		fails_like 125 "$option: *file has capabilities*" || fails_like 125 "${option/=/=\'}': *file has capabilities*"
	done
	invoke as_nobody env -i PATH="$PATH" DISTINIT_USER=0 ./distinit -- echo ran
	fails_like 125 "DISTINIT_USER='0': *file has capabilities*"
	invoke as_nobody env -i PATH="$PATH" ./distinit --env-file="$PWD/secret" -- echo ran
	keeps_the_secret
	invoke as_nobody env -i PATH="$PATH" DISTINIT_ENV_FILE="$PWD/secret" ./distinit -- echo ran
	keeps_the_secret
	invoke as_nobody env -i PATH="$PATH" ./distinit install "$PWD/vol"
	[[ $status -eq 125 && ! -e vol/distinit ]]
	# Nor as root that is none (SECBIT_NOROOT), which the kernel does not mark as such.
	local -a root_is_none=(setpriv --securebits=+noroot env -i PATH="$PATH")
	echo n0 >theirs/hosts
	chmod 600 theirs/hosts
	chown 4321 theirs/hosts
	[[ $("${root_is_none[@]}" ./distinit -- sed -n 's/^CapEff:\t//p' /proc/self/status) == 0000000000000000 ]]
	invoke "${root_is_none[@]}" ./distinit --env-file=theirs/hosts -- echo ran
	keeps_the_secret
	invoke "${root_is_none[@]}" DISTINIT_ENV_FILE=theirs/hosts ./distinit -- echo ran
	keeps_the_secret
	invoke "${root_is_none[@]}" PBS_JOBID=1.x PBS_NODEFILE="$PWD/theirs/hosts" ./distinit -- echo ran
	keeps_the_secret
	[[ $stderr == *'Permission denied'* ]]
	# It is that user already, so nothing changes. It can pass a capability on, which is the
	# purpose of such a copy.
	invoke as_nobody env -i PATH="$PATH" ./distinit --user=65534:65534 --groups=keep --cap-keep=ipc_lock -- \
		sed -n 's/^CapEff:\t//p' /proc/self/status
	succeeds_with 0000000000004000
}
