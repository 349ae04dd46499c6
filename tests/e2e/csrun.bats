#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distrun exec (csrun_cpu) and distrun launch (csrun_wse), with recorders instead of srun and the
# container runtimes: the arguments of these, and the errors before. tests/engines/csrun.bats runs
# the real programs.
#
# shellcheck disable=SC2154,SC2030,SC2031 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # what is quoted is to stay so

load helpers

: "${DISTRUN:=$(dirname "$DISTINIT")/distrun}"

# quoted WORD: as a shell takes it. The tree's path may have blanks.
quoted() {
	python3 -c 'import shlex, sys; print(shlex.quote(sys.argv[1]))' "$1"
}

setup() {
	BIN=$BATS_TEST_TMPDIR/bin
	SITE=$BATS_TEST_TMPDIR/site.conf
	IMAGE=$BATS_TEST_TMPDIR/image.sif
	HERE=$(realpath "$(dirname "$DISTRUN")")
	mkdir -p "$BIN" "$BATS_TEST_TMPDIR/data"
	touch "$IMAGE"
	for name in srun singularity apptainer ch-run podman; do
		recorder "$name"
	done
	printf '#!/bin/sh\necho "test*|4|8"\n' >"$BIN/sinfo"
	printf '#!/bin/sh\nexit 1\n' >"$BIN/squeue"
	chmod +x "$BIN"/*
	for name in csrun_cpu csrun_wse; do
		ln -s "$DISTRUN" "$BATS_TEST_TMPDIR/$name"
	done
	site SINGULARITY_IMAGE="$IMAGE" DEF_NODES=2 DEF_TASKS_PER_NODE=3 DEF_CPUS_PER_TASK=2
}

# recorder NAME: create a program that prints its arguments, each in <>, and the variables that
# matter.
recorder() {
	cat >"$BIN/$1" <<-'END'
		#!/bin/sh
		printf '%s' "${0##*/}"
		printf ' <%s>' "$@"
		echo
		for name in PYTHONPATH LD_LIBRARY_PATH CBCORE SLURM_NTASKS DISTINIT_BUNDLE; do
			eval "[ -z \"\${$name+set}\" ] || printf '%s=%s\n' $name \"\$$name\""
		done
	END
}

# site LINE...: the site's file.
site() {
	printf '%s\n' "$@" >"$SITE"
}

# csrun NAME VAR=VALUE... -- ARG...: invoke csrun_NAME.
csrun() {
	local -a variables arguments
	local name=$1
	shift
	split "$@"
	invoke env -i PATH="$BIN:/usr/bin:/bin" CSRUN_SITE="$SITE" "${variables[@]}" \
		"$BATS_TEST_TMPDIR/csrun_$name" "${arguments[@]}"
}

# cpu, wse: the same, without variables.
cpu() {
	csrun cpu -- "$@"
}

wse() {
	csrun wse -- "$@"
}

# ran WORDS: it succeeded, and ran this command. The options for distinit and for its mount are
# written as DISTINIT and BIND; what stands before the runtime is left out.
ran() {
	local first=${output%%$'\n'*}
	first=${first//"<$HERE/distinit:/distinit:ro>"/BIND}
	first=${first//",$HERE/distinit:/distinit:ro>"/,BIND>}
	first=${first//"<$HERE/distinit> <carry> "/}
	first=${first//"</distinit> <--carried> <-->"/DISTINIT}
	[[ $status -eq 0 && $first == "$1" ]] || {
		printf 'wanted: %s\ncalled: %s\n' "$1" "$first"
		return 1
	}
}

# refuses STATUS TEXT: it printed one error line, and called nothing.
refuses() {
	[[ $status -eq $1 && -z $output && $stderr == *": error: $2" && $stderr != *$'\n'* ]]
}

# --- csrun_cpu ------------------------------------------------------------------------------------

@test "exec: srun, the runtime, distinit and the command, byte for byte" {
	cpu python -c 'print("a b")' '' '$(touch x); `y`' "it's" $'two\nlines' '*'
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <python> <-c> <print(\"a b\")> <> <\$(touch x); \`y\`> <it's> <two"
	[[ $output == *$'<two\nlines> <*>'* && -z $stderr ]]
}

@test "exec: --alloc-node=False runs it here, as does CSRUN_ALLOC_NODE; the option beats the variable" {
	for value in False false 0 no; do
		cpu --alloc-node="$value" true
		ran "singularity <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	done
	cpu --alloc_node False true
	ran "singularity <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	csrun cpu CSRUN_ALLOC_NODE=False -- true
	ran "singularity <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	csrun cpu CSRUN_ALLOC_NODE=False -- --alloc-node=True true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	cpu --alloc-node python train.py
	refuses 125 "--alloc-node='python': expected True or False"
}

@test "exec: a node with the special resource is excluded" {
	site SINGULARITY_IMAGE="$IMAGE" GRES_NODE=n9
	cpu true
	ran "srun <--nodes=1> <--exclude=n9> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	cpu --exclude_gres=False true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	cpu --gres-node='n[7-9]' true
	ran "srun <--nodes=1> <--exclude=n[7-9]> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <true>"
	site SINGULARITY_IMAGE="$IMAGE" GRES_NODE=
	cpu true
	[[ $output != *--exclude=* ]]
}

@test "exec: folders are joined into one list, without empty entries" {
	local d=$BATS_TEST_TMPDIR/data
	site SINGULARITY_IMAGE="$IMAGE" "MOUNT_DIRS=\"$d/,/tmp\""
	cpu true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> <$d,/tmp,BIND> <$IMAGE> DISTINIT <true>"
	cpu --mount-dirs="/tmp,$d:/d:ro," --mount_dirs /usr true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> <$d,/tmp,$d:/d:ro,/usr,BIND> <$IMAGE> DISTINIT <true>"
	csrun cpu CSRUN_MOUNT_DIRS=/usr -- true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> <$d,/tmp,/usr,BIND> <$IMAGE> DISTINIT <true>"
}

@test "exec: a missing folder is an error before srun" {
	cpu --mount-dirs=/tmp,/nonexistent/x true
	refuses 125 "--mount-dirs: '/nonexistent/x' cannot be mounted: No such file or directory"
	site SINGULARITY_IMAGE="$IMAGE" '' MOUNT_DIRS=/nonexistent/y
	cpu true
	refuses 125 "$SITE:3: MOUNT_DIRS: '/nonexistent/y' cannot be mounted: No such file or directory"
	site SINGULARITY_IMAGE="$IMAGE"
	cpu --mount-dirs=data true
	refuses 125 "--mount-dirs: 'data' is not an absolute path such as '/data'"
}

@test "exec: '--' ends the options, and so does the first word" {
	cpu -- python -x --dry-run
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <python> <-x> <--dry-run>"
	cpu python --help
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <python> <--help>"
	cpu -- -x
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <-x>"
}

@test "exec: --pty with a terminal, and only then" {
	cpu true
	[[ $output != *--pty* && -z $stderr ]]
	invoke env -i PATH="$BIN:/usr/bin:/bin" CSRUN_SITE="$SITE" TERM=dumb \
		script --quiet --return --command "$BATS_TEST_TMPDIR/csrun_cpu true" /dev/null
	[[ $status -eq 0 && $output == 'srun <--pty> <--nodes=1> '* ]]
}

@test "exec: variables that disturb containers are unset, with a message; tracked variables are passed on" {
	csrun cpu PYTHONPATH=/p LD_LIBRARY_PATH=/l CBCORE= -- true
	[[ $output != *PYTHONPATH=* && $output != *LD_LIBRARY_PATH=* && $output != *BUNDLE=* ]]
	[[ $stderr == 'csrun_cpu: warning: unset, as csrun_cpu does: PYTHONPATH, LD_LIBRARY_PATH; '*DISTINIT_TRACK* ]]
	csrun cpu PYTHONPATH=/p HF_HOME='/h "q"' HF_TOKEN=s3cret DISTINIT_TRACK='PYTHONPATH:HF_*' -- true
	[[ -z $stderr && $output != *$'\nPYTHONPATH='* ]]
	[[ $output == *'DISTINIT_BUNDLE=[distinit bundle 1]'*'set PYTHONPATH=/p'*'[end crc32='* ]]
	# Not on a command line, which other users can see.
	[[ ${output%%$'\n'*} != *s3cret* ]]
}

@test "exec: tracked variables that exceed the limit of one variable are refused" {
	printf 'export A=%0100000d B=%0100000d\n' 0 0 >"$BATS_TEST_TMPDIR/large"
	invoke sh -c '. "$0"; exec "$@"' "$BATS_TEST_TMPDIR/large" \
		env PATH="$BIN:/usr/bin:/bin" CSRUN_SITE="$SITE" DISTINIT_TRACK=A:B "$DISTRUN" exec true
	[[ $status -eq 125 && -z $output && $stderr == *"DISTINIT_TRACK='A:B': the tracked variables have 200"*"'distinit bundle'"* ]]
}

@test "exec: answers csrun_cpu's questions about the site" {
	site SINGULARITY_IMAGE=/i.sif DEF_NODES=2 DEF_TASKS_PER_NODE=3 DEF_CPUS_PER_TASK=4 MOUNT_DIRS=/a,/b \
		GRES_RESOURCE=cs:1 GRES_NODE=n9
	local -A wanted=([def_nodes]=2 [def_tasks]=3 [def_cpus]=4 [singularity]=/i.sif [def_mount_dirs]="/a,/b"
		[def_gres]=cs:1 [def_gres_node]=n9)
	for question in "${!wanted[@]}"; do
		cpu "--$question"
		succeeds_with "${wanted[$question]}"
		cpu "--${question//_/-}"
		succeeds_with "${wanted[$question]}"
	done
	site GRES_NODE=
	cpu --def_gres
	succeeds_with ''
	cpu --def_nodes
	refuses 125 "$SITE: DEF_NODES is not set; add it there"
}

# --- csrun_wse ------------------------------------------------------------------------------------

# laid WORDS: srun got this layout, up to the runtime.
laid() {
	local line=${output%% "<$HERE/distinit> <carry> <singularity>"*}
	line=${line//[<>]/}
	[[ $status -eq 0 && $line == "srun --unbuffered --kill-on-bad-exit $1" ]] || {
		printf 'wanted: %s\ncalled: %s\n' "$1" "$line"
		return 1
	}
}

@test "launch: the site's layout, in a heterogeneous step" {
	wse python -c '$(x) ; y'
	ran "srun <--unbuffered> <--kill-on-bad-exit> <--nodes=1> <--tasks-per-node=3> <--cpus-per-task=2> <:> <--nodes=1> <--tasks-per-node=3> <--cpus-per-task=2> <--exclusive> <singularity> <exec> <-B> BIND <$IMAGE> DISTINIT <python> <-c> <\$(x) ; y>"
	site SINGULARITY_IMAGE="$IMAGE" DEF_NODES=1 DEF_TASKS_PER_NODE=3 DEF_CPUS_PER_TASK=2 GRES_RESOURCE=cs:1
	wse true
	laid '--exclusive --nodes=1 --tasks-per-node=3 --cpus-per-task=2 --gres=cs:1'
	wse --total-nodes=3 true
	laid '--nodes=1 --tasks-per-node=3 --cpus-per-task=2 --gres=cs:1 : --nodes=2 --tasks-per-node=3 --cpus-per-task=2 --exclusive'
	wse --total-nodes=4 --single-task-nodes=2 --cyclic true
	laid '--exclusive --nodes=1 --tasks-per-node=1 --gres=cs:1 : --nodes=1 --tasks-per-node=1 --exclusive : --nodes=2 --tasks-per-node=3 --cpus-per-task=2 --distribution=cyclic --exclusive'
}

@test "launch: both spellings of each option, and csrun_wse's other names" {
	local layout='--nodes=1 --tasks-per-node=5 --cpus-per-task=1 : --nodes=2 --tasks-per-node=5 --cpus-per-task=1 --exclusive'
	wse --nodes=3 --tasks_per_worker=5 --cpus_per_task=1 true
	laid "$layout"
	wse --total_nodes 3 --tasks-per-worker 5 --cpus-per-task 1 true
	laid "$layout"
	wse --total-nodes=3 --tasks_per_node=5 --cpus_per-task=1 true
	laid "$layout"
}

@test "launch: the number of tasks or of CPUs is enough" {
	# 8 CPUs a node: four tasks of two fit, five do not.
	wse --nodes=1 --tasks-per-node=4 true
	laid '--exclusive --nodes=1 --tasks-per-node=4 --cpus-per-task=2'
	wse --nodes=1 --tasks-per-node=5 true
	laid '--exclusive --nodes=1 --tasks-per-node=5'
	wse --nodes=1 --cpus-per-task=3 true
	laid '--exclusive --nodes=1 --tasks-per-node=2 --cpus-per-task=3'
	wse --nodes=1 --cpus-per-task=9 true
	refuses 125 '--cpus-per-task=9, but a node has 8 (sinfo)'
	rm "$BIN/sinfo"
	csrun wse PATH="$BIN" -- --nodes=1 --cpus-per-task=2 true
	refuses 125 '--cpus-per-task without --tasks-per-node: sinfo does not report how many CPUs a node has; set both'
}

@test "launch: an option overrides a variable, which overrides the site" {
	csrun wse CSRUN_NODES=1 CSRUN_TASKS_PER_NODE=2 CSRUN_CPUS_PER_TASK=1 -- true
	laid '--exclusive --nodes=1 --tasks-per-node=2 --cpus-per-task=1'
	csrun wse CSRUN_NODES=3 CSRUN_SINGLE_TASK_NODES=1 CSRUN_CYCLIC=1 -- --tasks-per-node=4 --nodes=2 true
	laid '--exclusive --nodes=1 --tasks-per-node=1 : --nodes=1 --tasks-per-node=4 --cpus-per-task=2 --distribution=cyclic --exclusive'
	csrun wse CSRUN_NODES= -- true
	laid '--nodes=1 --tasks-per-node=3 --cpus-per-task=2 : --nodes=1 --tasks-per-node=3 --cpus-per-task=2 --exclusive'
	csrun wse CSRUN_NODE=1 -- true
	[[ $stderr == "csrun_wse: warning: 'CSRUN_NODE' is not a setting of distrun; did you mean 'CSRUN_NODES'?" ]]
}

@test "launch: invalid numbers, and numbers that are too large" {
	wse --nodes=two true
	refuses 125 "--nodes='two' is not a whole number from 1 to 4294967294"
	wse --nodes=0 true
	refuses 125 "--nodes='0' is not a whole number from 1 to 4294967294"
	csrun wse CSRUN_CYCLIC=round -- true
	refuses 125 "CSRUN_CYCLIC='round': expected True or False"
	wse --nodes=5 true
	refuses 125 '--nodes=5, but the partition has 4 (sinfo)'
	wse --nodes=2 --single-task-nodes=2 true
	refuses 125 '--single-task-nodes=2: at least one of 2 nodes (--nodes) must remain for several tasks'
	site SINGULARITY_IMAGE="$IMAGE" DEF_TASKS_PER_NODE=3x
	wse --nodes=2 true
	refuses 125 "$SITE:2: DEF_TASKS_PER_NODE='3x' is not a whole number from 1 to 4294967294"
	wse true
	refuses 125 "the number of nodes is missing; set --total-nodes=N, CSRUN_NODES, or DEF_NODES in the site file"
	site SINGULARITY_IMAGE="$IMAGE"
	wse --nodes=2 true
	refuses 125 "the number of tasks is missing; set --tasks-per-node=N, CSRUN_TASKS_PER_NODE, or DEF_TASKS_PER_NODE in the site file"
}

@test "launch: variables of sbatch do not change the layout of our step" {
	csrun wse SLURM_NTASKS=99 SLURM_NPROCS=99 SLURM_DISTRIBUTION=cyclic -- true
	[[ $status -eq 0 && $output != *SLURM_NTASKS=* ]]
}

@test "launch: --for=all is distinit's, with the user's duration if there is one" {
	wse --for=all --nodes=1 true
	[[ $status -eq 0 && $output == *'</distinit> <--carried> <--wait> <--for=all> <--> <true>'* ]]
	csrun wse DISTINIT_WAIT=1h -- --for=all --nodes=1 true
	[[ $status -eq 0 && $output == *'</distinit> <--carried> <--for=all> <--> <true>'* ]]
	wse --for=some true
	refuses 125 "--for='some': expected all"
	wse --for=all --distinit=none true
	refuses 125 '--for=all: distinit calls the roll, but --distinit=none leaves it out'
}

@test "launch: --fill is distinit's, and the words arrive as they are" {
	wse --fill --nodes=1 true '{rank}' :workers: x
	[[ $status -eq 0 && $output == *'</distinit> <--carried> <--fill> <--> <true> <{rank}> <:workers:> <x>'* ]]
	wse --fill --for=all --nodes=1 true
	[[ $status -eq 0 && $output == *'</distinit> <--carried> <--fill> <--wait> <--for=all> <--> <true>'* ]]
	wse --fill --distinit=none true
	refuses 125 '--fill: distinit fills words, but --distinit=none leaves it out'
}

@test "launch: the tasks get a fresh secret, which is in no command line" {
	printf '#!/bin/sh\necho "$DISTINIT_SECRET"\ntr "\\0" " " </proc/$$/cmdline' >"$BIN/srun"
	wse true
	local first=${output%%$'\n'*}
	[[ $status -eq 0 && $first =~ ^[0-9a-f]{32}$ && $(grep -c "$first" <<<"$output") -eq 1 && $stderr != *"$first"* ]]
	wse true
	[[ ${output%%$'\n'*} =~ ^[0-9a-f]{32}$ && ${output%%$'\n'*} != "$first" ]]
	wse --dry-run -v true
	[[ $status -eq 0 && ! $output$stderr =~ [0-9a-f]{32} ]]
	csrun wse DISTINIT_SECRET=the-secret-of-the-user -- true
	[[ ${output%%$'\n'*} == the-secret-of-the-user ]]
	wse --distinit=none true
	[[ $status -eq 0 && -z ${output%%$'\n'*} ]]
	cpu true
	[[ $status -eq 0 && -z ${output%%$'\n'*} ]]
}

# --- the site -------------------------------------------------------------------------------------

@test "site: an existing csrun_cpu serves as a site file" {
	cat >"$SITE" <<-END
		#!/bin/bash
		SINGULARITY_IMAGE=$IMAGE
		MOUNT_DIRS="/tmp,/usr/"
		DEF_NODES=1
		DEF_TASKS_PER_NODE=2
		DEF_CPUS_PER_TASK=4
		GRES_RESOURCE=
		die() {
		    exit 1
		}
		MOUNT_DIRS="\${MOUNT_DIRS},\${EXTRA_MOUNT_DIRS}"
	END
	wse true
	ran "srun <--unbuffered> <--kill-on-bad-exit> <--exclusive> <--nodes=1> <--tasks-per-node=2> <--cpus-per-task=4> <singularity> <exec> <-B> </tmp,/usr,BIND> <$IMAGE> DISTINIT <true>"
}

@test "site: an unknown name, and a missing file" {
	site SINGULARITY_IMAGE="$IMAGE" DEF_NODE=3
	cpu true
	refuses 125 "$SITE:2: unknown name 'DEF_NODE'; did you mean 'DEF_NODES'?"
	cpu --site=/nonexistent/site.conf true
	[[ $status -eq 125 && $stderr == *--site*/nonexistent/site.conf*'No such file'* ]]
	csrun cpu CSRUN_SITE=/nonexistent/site.conf -- true
	[[ $status -eq 125 && $stderr == *CSRUN_SITE*/nonexistent/site.conf*'No such file'* ]]
}

@test "site: /etc/distinit/site.conf is read" {
	mkdir -p "$BATS_TEST_TMPDIR/root/etc/distinit"
	mv "$SITE" "$BATS_TEST_TMPDIR/root/etc/distinit/site.conf"
	csrun cpu CSRUN_SITE= -- --root="$BATS_TEST_TMPDIR/root" --def-nodes
	succeeds_with 2
}

@test "an image and a command that begin with '-' are no options of other programs" {
	local runtime
	for runtime in apptainer podman singularity charliecloud pyxis; do
		cpu --alloc-node="$([[ $runtime == pyxis ]] && echo 1 || echo 0)" --runtime="$runtime" --image=--bind=/etc:/mnt true
		refuses 125 "--image: the image '--bind=/etc:/mnt' begins with '-', so $runtime would read it as an option"
	done
	cpu --image=-x true
	refuses 125 "--image: the image '-x' begins with '-', so singularity would read it as an option"
	cpu --runtime=none --distinit=none -- --nodelist=n1 true
	refuses 125 "the command '--nodelist=n1' begins with '-', so it would be read as an option of another program; name it by its path"
}

@test "site: a missing image is an error that names file and line" {
	site '# nothing' SINGULARITY_IMAGE=
	cpu true
	refuses 125 "$SITE:2: SINGULARITY_IMAGE is empty; set an image with --image=IMAGE, or use --runtime=none"
	site DEF_NODES=1
	cpu true
	refuses 125 "$SITE: SINGULARITY_IMAGE is not set; set an image with --image=IMAGE, or use --runtime=none"
	csrun cpu CSRUN_SITE= -- --root=/nonexistent true
	[[ $status -eq 125 && $stderr == *'no image: there is no site file (/etc/distinit/site.conf);'* ]]
	cpu --image=/nonexistent/x.sif true
	refuses 125 "--image: the image '/nonexistent/x.sif' cannot be read: No such file or directory"
	site '' SINGULARITY_IMAGE=/nonexistent/y.sif
	cpu true
	refuses 125 "$SITE:2: SINGULARITY_IMAGE: the image '/nonexistent/y.sif' cannot be read: No such file or directory"
}

@test "site: partition and account for a new job, SRUN_ARGS for each part, split by no shell" {
	site SINGULARITY_IMAGE="$IMAGE" DEF_NODES=2 DEF_TASKS_PER_NODE=1 PARTITION=p ACCOUNT=a \
		"SRUN_ARGS=--mem=0 --comment='a  b'" RUNTIME_ARGS=--nv
	cpu true
	ran "srun <--nodes=1> <--exclusive> <--partition=p> <--account=a> <--mem=0> <--comment=a  b> <singularity> <exec> <-B> BIND <--nv> <$IMAGE> DISTINIT <true>"
	wse --partition=q true
	laid '--nodes=1 --tasks-per-node=1 --partition=q --account=a --mem=0 --comment=a  b : --nodes=1 --tasks-per-node=1 --exclusive --partition=q --account=a --mem=0 --comment=a  b'
	cpu --srun-args='$(touch x)' true
	[[ $status -eq 125 && -z $output && $stderr == *"--srun-args='\$(touch x)': '\$' is special in a shell"* ]]
}

# --- runtimes -------------------------------------------------------------------------------------

@test "runtime: each gets its own options, and distinit as the first program" {
	local d=$BATS_TEST_TMPDIR/data i=$BATS_TEST_TMPDIR/dir
	mkdir -p "$i/mnt/0" "$i$d"
	cd "$d"
	cpu --alloc-node=0 --runtime=apptainer --mount-dirs="$d" true
	ran "apptainer <exec> <-B> <$d,BIND> <$IMAGE> DISTINIT <true>"
	cpu --alloc-node=0 --runtime=charliecloud --image="$i" --mount-dirs="$d" true
	ran "ch-run <-b> <$d:$d> <-b> <$HERE:/mnt/0> <--cd=$d> <$i> <--> </mnt/0/distinit> <--carried> <--> <true>"
	cpu --alloc-node=0 --runtime=podman --image=docker.io/x:1 true
	ran "podman <run> <--rm> <--interactive> <--network=host> <--ipc=host> <--env-host> <--volume=$d:$d> <--volume=$HERE/distinit:/distinit:ro> <--workdir=$d> <--env=DISTINIT_CARRIED> <--entrypoint=> <docker.io/x:1> </distinit> <--carried> <--init> <--> <true>"
	cpu --runtime=pyxis --image=x:1 true
	ran "srun <--nodes=1> <--exclusive> <--container-image=x:1> <--container-mounts=$d:$d,BIND> <--container-workdir=$d> </distinit> <--> <true>"
	cpu --alloc-node=False --runtime=pyxis --image=x:1 true
	refuses 125 '--alloc-node=False: srun starts the container with pyxis, so a node must be allocated; leave --alloc-node out'
	cpu --runtime=none /bin/true
	ran "srun <--nodes=1> <--exclusive> <$HERE/distinit> <--> </bin/true>"
}

@test "runtime: what a container needs of the environment travels in one variable, whatever is in it" {
	local value given=() dir=$BATS_TEST_TMPDIR/eval
	mkdir "$dir"
	cd "$dir"
	for value in '$(touch x)' '`touch x`' '"; touch x; "' "'; touch x; '" $'two\nlines' $'\\' '\"$(touch x)"' '%41&%' 'ä !*?~#|>x' ''; do
		# It arrives also where a shell has evaluated the variable in between.
		given=(env -i PATH=/usr/bin:/bin SLURM_JOB_NAME="$value" DISTINIT_SECRET=s DISTINIT_KEEP_CONFIG=1 PWD=/x OTHER=1)
		invoke "${given[@]}" "$DISTINIT" carry sh -c '
			set -eu
			[ "$APPTAINERENV_DISTINIT_CARRIED" = "$SINGULARITYENV_DISTINIT_CARRIED" ]
			eval "double=\"$APPTAINERENV_DISTINIT_CARRIED\""
			eval "single='"'\$APPTAINERENV_DISTINIT_CARRIED'"'"
			for text in "$DISTINIT_CARRIED" "$double" "$single"; do
				env -i PATH=/usr/bin:/bin DISTINIT_CARRIED="$text" "$0" --carried --cluster=none -- \
					env --null
			done | tr "\0" "@"' "$DISTINIT"
		value="PATH=/usr/bin:/bin@SLURM_JOB_NAME=$value@DISTINIT_KEEP_CONFIG=1@"
		[[ $status -eq 0 && -z $stderr && $output == "$value$value$value" && -z $(ls) ]]
	done
}

@test "runtime: a container that clears the environment is refused, and what is set in it stays" {
	distinit -- --carried -- true
	[[ $status -eq 125 && $stderr == *"error: DISTINIT_CARRIED, in which distrun hands over ranks and variables, has not arrived"* ]]
	for value in 'A' 'A=%' 'A=%4' 'A=%4g' 'A=%00' 'A=1&'; do
		distinit DISTINIT_CARRIED="$value" -- --carried -- true
		[[ $status -eq 125 && $stderr == 'distinit: error: DISTINIT_CARRIED was changed on its way; distrun has set it, and it has to arrive as it was' ]]
	done
	distinit DISTINIT_CARRIED='SLURM_X=1&MASTER_PORT=2' MASTER_PORT=3 -- --carried -- sh -c 'echo "$SLURM_X $MASTER_PORT ${DISTINIT_CARRIED-none}"'
	[[ $status -eq 0 && $output == '1 3 none' && -z $stderr ]]
}

@test "runtime: nothing to carry is no error" {
	invoke env -i PATH=/usr/bin:/bin "$DISTINIT" carry "$DISTINIT" --carried --cluster=none -- echo ran
	[[ $status -eq 0 && $output == ran && -z $stderr ]]
	# A variable that something emptied on its way is.
	invoke env -i PATH=/usr/bin:/bin DISTINIT_CARRIED= "$DISTINIT" --carried --cluster=none -- echo ran
	[[ $status -eq 125 && -z $output && $stderr == *'DISTINIT_CARRIED was changed on its way'* ]]
}

@test "runtime: a secret that was carried stays neither in the environment of distinit inside nor in its memory" {
	requires python3
	local secret=a-secret-0123456789abcdef how port
	# A runtime may pass the variable itself, too.
	for how in 'env -u DISTINIT_SECRET' env; do
		# It waits for the other node. It listens once it has its key.
		port=$((20000 + RANDOM % 10000))
		# shellcheck disable=SC2086 # words
		env -i PATH=/usr/bin:/bin DISTINIT_SECRET="$secret" "$DISTINIT" carry $how "$DISTINIT" --carried --hosts=127.0.0.1,127.0.0.2 \
			--node-rank=0 --master-port="$port" --wait=60s --for=all -- true 3>&- &
		local pid=$!
		until grep -qs ":$(printf %04X "$port") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; do
			kill -0 "$pid"
			sleep 0.05
		done
		invoke python3 - "$pid" "$secret" <<-'END'
			import sys
			pid, secret = sys.argv[1], sys.argv[2].encode()
			environ = open(f"/proc/{pid}/environ", "rb").read()
			assert b"APPTAINERENV_DISTINIT_CARRIED=" in environ and secret not in environ, "environ"
			memory = open(f"/proc/{pid}/mem", "rb", 0)
			for line in open(f"/proc/{pid}/maps"):
			    first, last = (int(x, 16) for x in line.split()[0].split("-"))
			    if line.split()[1].startswith("rw"):
			        memory.seek(first)
			        assert secret not in memory.read(last - first), line
		END
		kill "$pid"
		[ "$status" -eq 0 ]
	done
}

@test "runtime: auto selects an installed runtime that supports the image" {
	mkdir -p "$BATS_TEST_TMPDIR/dir/mnt/0"
	rm "$BIN/singularity"
	csrun cpu -- --dry-run --alloc-node=0 true
	[[ $output == "$(quoted "$HERE/distinit") carry apptainer exec "* ]]
	rm "$BIN/apptainer"
	csrun cpu -- --dry-run --alloc-node=0 --image="$BATS_TEST_TMPDIR/dir" true
	[[ $output == "$(quoted "$HERE/distinit") carry ch-run "*'# runtime=charliecloud '*'the first in PATH that can run this image'* ]]
	csrun cpu PATH="$BIN" -- --alloc-node=0 --runtime=singularity --image="$IMAGE" true
	[[ $status -eq 127 && $stderr == *singularity* ]]
	rm "$BIN"/{ch-run,podman}
	csrun cpu PATH="$BIN" -- --alloc-node=0 true
	refuses 125 "no container runtime for '$IMAGE' is in PATH; name the one on the nodes with --runtime=NAME or CONTAINER_RUNTIME=NAME, or use --runtime=none to run without a container"
	cpu --runtime=docker true
	[[ $status -eq 125 && $stderr == *"--runtime='docker' is not a container runtime; expected one of auto, singularity,"* ]]
}

@test "runtime: distinit at another path, disabled, or missing" {
	cp "$DISTINIT" "$BATS_TEST_TMPDIR/other"
	cpu --distinit="$BATS_TEST_TMPDIR/other" true
	ran "srun <--nodes=1> <--exclusive> <$BATS_TEST_TMPDIR/other> <carry> <singularity> <exec> <-B> <$BATS_TEST_TMPDIR/other:/distinit:ro> <$IMAGE> DISTINIT <true>"
	csrun cpu DISTINIT_TRACK=HOME -- --distinit=none true
	ran "srun <--nodes=1> <--exclusive> <singularity> <exec> <$IMAGE> <true>"
	[[ $stderr == "csrun_cpu: warning: DISTINIT_TRACK='HOME': no variable is carried, because distinit is not in the container" ]]
	cpu --distinit=/nonexistent/distinit true
	refuses 125 "--distinit: '/nonexistent/distinit' is not a program; set its path on the nodes with --distinit=PATH, or use --distinit=none"
}

# --- the command line -----------------------------------------------------------------------------

@test "csrun: a wrong command line exits with 2 as csrun_*, and with 125 as distrun" {
	cpu --alloc-nod=False true
	refuses 2 "unknown option '--alloc-nod=False'; did you mean '--alloc-node'?; see --help"
	wse --nods=3 true
	refuses 2 "unknown option '--nods=3'; did you mean '--nodes'?; see --help"
	cpu
	refuses 2 'no command; usage: csrun_cpu [OPTION]... COMMAND [ARG]... (see --help)'
	wse --
	refuses 2 'no command; usage: csrun_wse [OPTION]... COMMAND [ARG]... (see --help)'
	wse --total-nodes
	refuses 2 '--total-nodes needs N'
	for word in exec launch; do
		invoke "$DISTRUN" "$word" --alloc-nodez
		[[ $status -eq 125 && $stderr == 'distrun: error: unknown option '* ]]
		invoke "$DISTRUN" "$word"
		[[ $status -eq 125 && $stderr == "distrun: error: no command; usage: distrun $word "* ]]
	done
}

@test "csrun: --help shows the site's settings" {
	cpu --help
	[[ $status -eq 0 && -z $stderr && $output == 'usage: csrun_cpu [OPTION]... COMMAND [ARG]...'* ]]
	[[ $output == *"The site's settings ($SITE):"*"SINGULARITY_IMAGE=$IMAGE"*DEF_NODES=2* ]]
	invoke env -i CSRUN_SITE="$SITE" "$DISTRUN" launch --help
	[[ $status -eq 0 && $output == 'usage: distrun launch '*--total-nodes=N*DEF_TASKS_PER_NODE=3* ]]
	site NONSENSE=1
	cpu --help
	[[ $status -eq 0 && $output == *"cannot be read: $SITE:1: unknown name 'NONSENSE'"* ]]
}

@test "csrun: --dry-run prints the command, quoted, and where each setting came from" {
	rm "$BIN/srun"
	csrun wse CSRUN_NODES=3 HF_HOME=/h DISTINIT_TRACK=HF_HOME -- --dry-run --cpus-per-task=4 python -c 'print("a b")' "it's"
	[[ $status -eq 0 && -z $stderr ]]
	local line=${output%%$'\n'*}
	[[ $line == "srun --unbuffered --kill-on-bad-exit --nodes=1 --tasks-per-node=2 "*" -c 'print(\"a b\")' 'it'\\''s'" ]]
	for row in "# image=$IMAGE +$SITE:1: SINGULARITY_IMAGE" '# total-nodes=3 +CSRUN_NODES' \
		'# cpus-per-task=4 +--cpus-per-task' '# tasks-per-node=2 +as many as fit in 8 CPUs \(sinfo\)' \
		'# runtime=singularity +the first in PATH that can run this image' '# tasks in all: 6' \
		'# carried into the container: HF_HOME'; do
		grep -Eq "^$row\$" <<<"$output" || {
			echo "no line like $row"
			return 1
		}
	done
	# A shell parses the line into the same words.
	recorder srun
	chmod +x "$BIN/srun"
	PATH=$BIN:$PATH invoke sh -c "$line"
	[[ $output == *"<-c> <print(\"a b\")> <it's>"* ]]
}

@test "csrun: --logging=True and -v say what runs" {
	for option in -v --logging=True --logging=true; do
		cpu "$option" true
		[[ $status -eq 0 && $stderr == "csrun_cpu: info: running: srun --nodes=1 --exclusive $(quoted "$HERE/distinit") carry singularity exec "*" true" ]]
	done
	cpu --logging False true
	[[ $status -eq 0 && -z $stderr ]]
	cpu --logging=maybe true
	refuses 125 "--logging='maybe': expected True or False"
}

@test "csrun: without srun nothing is started" {
	rm "$BIN/srun"
	csrun cpu PATH="$BIN" -- true
	refuses 125 "srun is not in PATH ('$BIN'); this host is not part of a Slurm cluster"
	csrun wse PATH="$BIN" -- true
	refuses 125 "srun is not in PATH ('$BIN'); this host is not part of a Slurm cluster"
}

@test "csrun: a job that has ended is an error" {
	printf '#!/bin/sh\necho "slurm_load_jobs error: Invalid job id specified" >&2\nexit 1\n' >"$BIN/squeue"
	csrun cpu SLURM_JOB_ID=99 -- true
	refuses 125 "SLURM_JOB_ID='99' is not a running job; 'unset SLURM_JOB_ID' lets srun create one, or get one with salloc"
	printf '#!/bin/sh\n' >"$BIN/squeue"
	csrun wse SLURM_JOB_ID=99 -- true
	refuses 125 "SLURM_JOB_ID='99' is not a running job; 'unset SLURM_JOB_ID' lets srun create one, or get one with salloc"
	csrun wse SLURM_JOB_ID=abc -- true
	refuses 125 "SLURM_JOB_ID='abc' is not a running job; 'unset SLURM_JOB_ID' lets srun create one, or get one with salloc"
	# If squeue cannot be asked, srun reports the error.
	printf '#!/bin/sh\necho "Unable to contact slurm controller" >&2\nexit 1\n' >"$BIN/squeue"
	csrun wse SLURM_JOB_ID=99 -- true
	laid '--nodes=1 --tasks-per-node=3 --cpus-per-task=2 : --nodes=1 --tasks-per-node=3 --cpus-per-task=2 --exclusive'
}

@test "csrun: in a job, its nodes, partition and account are used" {
	printf '#!/bin/sh\necho 2\necho 1\n' >"$BIN/squeue"
	site SINGULARITY_IMAGE="$IMAGE" DEF_TASKS_PER_NODE=1 PARTITION=p ACCOUNT=a
	csrun wse SLURM_JOB_ID=7 -- true
	laid '--nodes=1 --tasks-per-node=1 : --nodes=2 --tasks-per-node=1 --exclusive'
	csrun wse SLURM_JOB_ID=7 -- --nodes=4 true
	refuses 125 '--nodes=4, but the job has 3 (SLURM_JOB_ID)'
	csrun wse SLURM_JOB_ID=7 'SLURM_JOB_CPUS_PER_NODE=8(x2),4' -- --nodes=1 --cpus-per-task=2 true
	laid '--exclusive --nodes=1 --tasks-per-node=2 --cpus-per-task=2'
}

@test "csrun: the exit status is the command's, or srun's" {
	printf '#!/bin/sh\nexit 3\n' >"$BIN/srun"
	cpu true
	[[ $status -eq 3 && -z $stderr ]]
	printf '#!/bin/sh\nkill -TERM $$\n' >"$BIN/srun"
	wse true
	[[ $status -eq 143 && -z $stderr ]]
}

@test "exec: becomes srun, the very process" {
	printf '#!/bin/sh\necho $$\n' >"$BIN/srun"
	invoke env -i PATH="$BIN:/usr/bin:/bin" CSRUN_SITE="$SITE" sh -c 'echo $$; exec "$0" true' "$BATS_TEST_TMPDIR/csrun_cpu"
	[[ $status -eq 0 && $output =~ ^[0-9]+$'\n'[0-9]+$ && ${output%$'\n'*} == "${output#*$'\n'}" ]]
}

@test "csrun: leaves no file behind" {
	# Not in /tmp itself, which other processes use.
	mkdir "$BATS_TEST_TMPDIR/clean" "$BATS_TEST_TMPDIR/tmp"
	cd "$BATS_TEST_TMPDIR/clean"
	csrun wse HF_HOME=/x DISTINIT_TRACK=HF_HOME TMPDIR="$BATS_TEST_TMPDIR/tmp" -- --cpus-per-task=2 true
	[[ $status -eq 0 && -z $(ls -A .) && -z $(ls -A ../tmp) ]]
}
