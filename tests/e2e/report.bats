#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --report: a line of JSON for each event, as docs/report.schema.json has it.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the shells of the workloads expand the quoted texts

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	python3 -c 'import jsonschema' 2>/dev/null || skip 'python3-jsonschema is not installed'
}

# told [EXPRESSION]: the events of the file "report", or what a Python expression makes of its lines.
told() {
	"$BATS_TEST_DIRNAME/../programs/check-report" report ${1:+"print(($1))"}
}

@test "report: what was derived, and that the command starts, with this node's rank" {
	distinit "${SESSION[@]}" -- --report=report --frameworks=torch --unset=HOME -- /bin/sh -c 'exit 3'
	[[ $status -eq 3 && -z $stderr ]]
	[ "$(told)" = 'derived started' ]
	[ "$(told '{(e["node_rank"], e["rank"], e["version"]) for e in all}')" = '{(1, None, 1)}' ]
	[ "$(told 'all[0]["derived"]["source"], all[0]["derived"]["cluster"]["hosts"], all[0]["derived"]["set"]')" = \
		"('backendai', ['main1', 'sub1'], ['MASTER_ADDR', 'MASTER_PORT'])" ]
	[ "$(told 'all[1]["started"]["program"], all[1]["started"]["init"], all[1]["started"]["pid"] == all[1]["pid"]')" = \
		"('/bin/sh', False, True)" ]
}

@test "report: the time is that of the event, in UTC" {
	distinit TZ=Asia/Tokyo -- --report=report -- /bin/true
	[ "$(told '__import__("datetime").datetime.now(__import__("datetime").timezone.utc) - __import__("datetime").datetime.fromisoformat(all[0]["time"].replace("Z", "+00:00")) < __import__("datetime").timedelta(minutes=2)')" = True ]
}

@test "report: without a cluster, and DISTINIT_REPORT" {
	distinit DISTINIT_REPORT=report -- -- /usr/bin/env
	succeeds_with ''
	[ "$(told 'all[0]["derived"]["cluster"], all[0]["node_rank"]')" = '(None, None)' ]
	distinit DISTINIT_REPORT= -- -- /bin/true
	succeeds_with ''
}

@test "report: a relative file is found from the first working directory, and lines are added to it" {
	mkdir folder
	echo '{}' >report
	distinit -- --report=report -- /bin/true
	[[ $(head -n 1 report) == '{}' && $(wc -l <report) -eq 3 ]]
	rm report
	(umask 077; distinit -- --report=report -- /bin/true)
	[ "$(stat -c %a report)" = 644 ]
}

@test "report: why nothing was started" {
	distinit PATH=/bin -- --report=report -- no-such
	[ "$status" -eq 127 ]
	[ "$(told)" = 'derived started failed' ]
	[ "$(told 'all[2]["failed"]')" = "{'status': 127, 'error': \"'no-such' was not found in PATH='/bin'\"}" ]
	rm report
	distinit BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=main1,sub1 BACKENDAI_CLUSTER_LOCAL_RANK=one -- --report=report -- /bin/true
	[[ $status -eq 125 && $(told) == failed ]]
	rm report
	distinit -- --report=report --hosts=127.0.0.1,b --node-rank=1 --master-port=9 --wait=100ms -- /bin/true
	[[ $status -eq 124 && $(told) == 'derived failed' ]]
	[ "$(told 'all[1]["failed"]["status"], all[1]["failed"]["error"][:35]')" = "(124, '127.0.0.1:9 could not be reached wi')" ]
	rm report
	distinit -- wait --report=report --hosts=127.0.0.1,b --node-rank=1 --master-port=9 --for=tcp --timeout=100ms
	[[ $status -eq 124 && $(told) == 'derived failed' ]]
}

@test "report: values are not in it, and names and messages are valid JSON" {
	raw A=1 DISTINIT_SET=x SECRET=hunter2 $'DISTINIT_ENV=set TOKEN=hunter3\nset "T\xff"=1' -- \
		"$DISTINIT" --report=report --set=$'B\t=\xffhunter4' -- /bin/true 2>/dev/null || true
	distinit -- --report=report -- /no/such$'\xff"\n'
	told >/dev/null
	run ! grep hunter report
}

@test "report: a full disk, a folder, no folder, a FIFO: one warning, and the command runs" {
	mkfifo fifo
	local file why
	while IFS='|' read -r file why; do
		distinit PATH="$PATH" -- "--report=$file" -- echo ran
		[[ $status -eq 0 && $output == ran ]]
		[[ $stderr == "distinit: warning: --report: '"*"$file' cannot be written: $why" ]]
	done <<-'END'
		/dev/full|No space left on device
		/proc|Is a directory
		none/report|No such file or directory
		fifo|no process reads this FIFO, device or socket
	END
	[[ ! -e none ]]
	distinit DISTINIT_REPORT=/dev/full PATH="$PATH" -- -- echo ran
	[[ $output == ran && $stderr == "distinit: warning: DISTINIT_REPORT: '/dev/full'"* ]]
}

@test "report: a pipe or a socket that nobody reads holds nobody beside a program" {
	local name
	for name in tini dumb-init; do
		ln -s "$DISTINIT" "$name"
	done
	invoke python3 - "$DISTINIT" "${PATIENCE:-1}" <<-'END'
		import os, socket, subprocess, sys
		def pipe():
		    ours, theirs = os.pipe()
		    return ours, theirs
		def stream():
		    return tuple(s.detach() for s in socket.socketpair())
		def packets():
		    return tuple(s.detach() for s in socket.socketpair(type=socket.SOCK_SEQPACKET))
		program, patience = sys.argv[1], 60 * float(sys.argv[2])
		ended = ["--", "sh", "-c", "exit 7"]
		for make in pipe, stream, packets:
		    ours, theirs = make()
		    os.set_blocking(theirs, False)
		    for size in 4096, 1:
		        try:
		            while True:
		                os.write(theirs, b"x" * size)
		        except BlockingIOError:
		            pass
		    os.set_blocking(theirs, True)
		    for words in [program, "--init", "--report=/dev/stdout"], ["./tini", "-s", "-vvv"], ["./dumb-init", "-v"]:
		        errors = subprocess.DEVNULL if "--init" in words else theirs
		        child = subprocess.Popen(words + ended, stdout=theirs, stderr=errors)
		        try:
		            print(child.wait(patience))
		        except subprocess.TimeoutExpired:
		            child.kill()
		            print(make.__name__, *words, "hangs")
	END
	[[ $status -eq 0 && $output == "$(yes 7 | head -n 9)" ]]
}

@test "report: a line that the disk had no room for is not continued by the next" {
	[ "$EUID" -eq 0 ] || skip 'only root can mount'
	unshare --mount sh -c 'mkdir -p small && mount -t tmpfs -o size=4k none small' || skip 'nothing can be mounted here'
	unshare --mount sh -c 'mount -t tmpfs -o size=4k none small &&
		head -c 3600 /dev/zero | tr "\0" "\n" >small/report &&
		"$1" --report=small/report -- nosuch || cp small/report .' - "$DISTINIT" 2>err || true
	[ "$(grep -c 'cannot be written: No space left' err)" -eq 1 ]
	run ! grep '}{' report
}

@test "report: eight processes write to one file, and each line stays whole" {
	local i
	local -a writers=()
	for i in 1 2 3 4 5 6 7 8; do
		for _ in 1 2 3 4 5; do
			"$DISTINIT" --hosts='n[1-300]' --node-rank="$i" --report=report -- true
		done &
		writers+=("$!")
	done
	wait "${writers[@]}"
	[ "$(told 'len(all), sorted({e["node_rank"] for e in all})')" = '(80, [1, 2, 3, 4, 5, 6, 7, 8])' ]
}

@test "report: without memory, --init still ends as the command did, and reports it" {
	requires prlimit
	# So long a job id does not fit in the memory that a line has at first.
	distinit PATH="$PATH" AZ_BATCH_HOST_LIST=10.0.0.4,10.0.0.5 AZ_BATCH_MASTER_NODE=10.0.0.4:6000 \
		AZ_BATCH_IS_CURRENT_NODE_MASTER=true AZ_BATCH_JOB_ID="$(printf 'x%.0s' {1..4000})" -- \
		--report=report --init -- sh -c 'prlimit --pid "$PPID" --as=1; exit 3'
	[ "$status" -eq 3 ]
	[ "$(told)" = 'derived started ended' ]
	[ "$(told 'len(all[2]["job_id"])')" = 4000 ]
}

@test "report: a PIPE or XFSZ that waits while another signal is reported is forwarded, too" {
	env --default-signal "$DISTINIT" --report=report --init -- sh -c 'trap "echo PIPE >>got" PIPE; trap "echo XFSZ >>got" XFSZ
		trap "echo USR1 >>got" USR1; touch ready; until [ -e end ]; do sleep 0.02; done' 3>&- &
	local pid=$! name
	until [[ -e ready ]]; do nap 0.02; done
	kill -STOP "$pid"
	for name in USR1 PIPE XFSZ CONT; do kill -s "$name" "$pid"; done
	until grep -q XFSZ report; do nap 0.02; done
	touch end
	wait "$pid"
	[ "$(sort got | xargs)" = 'PIPE USR1 XFSZ' ]
}

@test "termination log: whatever ends distinit before the command is there" {
	mkdir -p root/dev
	# ended STATUS PATTERN ARG...
	ended() {
		: >root/dev/termination-log
		distinit PATH=/usr/bin:/bin -- --root="$PWD/root" "${@:3}"
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $status -eq $1 && $(<root/dev/termination-log) == "distinit: error: "$2 && $(<root/dev/termination-log) == "$stderr" ]]
	}
	for init in --init=0 --init; do
		ended 127 "'nosuch' was not found in PATH='/usr/bin:/bin'" $init -- nosuch
		ended 126 "'/dev/null' cannot be started: *" $init -- /dev/null
		ended 125 "--hosts='a[', *" $init --hosts='a[' -- true
		ended 125 "--check='x': expected one of findings, hints" $init --check=x -- true
	done
	ended 125 "--grace='x' *" --init --grace=x -- true
	# Whose rights would open the file is not known.
	: >root/dev/termination-log
	distinit -- --root=root --user=no-such-user -- true
	[[ $status -eq 125 && -z $(<root/dev/termination-log) ]]
	distinit -- --root=root --no-such-option -- true
	[[ $status -eq 125 && -z $(<root/dev/termination-log) ]]
}

@test "termination log: Kubernetes' own is written to for a bad option, too" {
	[[ $EUID -eq 0 ]] || skip "only root can have another /dev"
	requires unshare
	mkdir dev
	mknod dev/null c 1 3
	: >dev/termination-log
	# as_pod ARG...
	as_pod() {
		# shellcheck disable=SC2016 # for the shell that is started
		invoke unshare --mount --pid --fork --mount-proc bash -c 'mount --bind dev /dev && exec env -i "$@"' - "$DISTINIT" "$@"
	}
	as_pod --no-such-option -- true
	[[ $status -eq 125 && -n $stderr && $(<dev/termination-log) == "$stderr" ]]
	: >dev/termination-log
	as_pod
	[[ $status -eq 125 && $(<dev/termination-log) == *"no command"* ]]
	: >dev/termination-log
	as_pod --user=no-such-user -- true
	[[ $status -eq 125 && $(<dev/termination-log) == *no-such-user* ]]
	# A link, and a file that is not regular, are left alone.
	rm dev/termination-log
	: >secret
	ln -s "$PWD/secret" dev/termination-log
	as_pod --no-such-option -- true
	[[ $status -eq 125 && ! -s secret ]]
}

@test "termination log: a probe, kubectl exec, and a distinit below a running one do not write to it" {
	[[ $EUID -eq 0 ]] || skip "only root can have another /dev"
	requires unshare nsenter pgrep
	mkdir dev
	mknod dev/null c 1 3
	: >dev/termination-log
	# pod SCRIPT: distinit as PID 1, that starts this.
	pod() {
		rm -f ready
		# shellcheck disable=SC2016 # for the shell that is started
		unshare --mount --pid --fork --mount-proc bash -c 'mount --bind dev /dev && exec env -i PATH="$PATH" "$@"' - \
			"$DISTINIT" --init --log=error -- sh -c "$1" distinit "$DISTINIT" 3>&- &
		outer=$!
		until [[ -e ready ]]; do nap 0.02; done
		init=$(pgrep -P "$outer") || true
	}
	# from_outside ARG...: of distinit, by a shell, as a probe's may be.
	from_outside() {
		invoke env -i PATH="$PATH" nsenter --target "$init" --pid --mount --wd="$PWD" sh -c '"$@"; exit "$?"' - "$DISTINIT" "$@"
		[[ $status -ne 0 && ! -s dev/termination-log ]]
	}
	local away=('--hosts=n1.invalid,n2' --node-rank=1 --master-port=1 --timeout=200ms)
	pod 'touch ready; until [ -e end ]; do sleep 0.05; done; kill -KILL $$'
	from_outside wait "${away[@]}"
	from_outside wait --hosts='a['
	from_outside env --hosts='a['
	from_outside check --hosts='a['
	from_outside --no-such-option -- true
	from_outside -- no-such-program
	from_outside --init -- sh -c 'kill -KILL $$'
	touch end
	status=0
	wait "$outer" || status=$?
	[[ $status -eq 137 && $(<dev/termination-log) == 'distinit: warning: sh ended after '*'SIGKILL'* ]]
	# Beside the program, too.
	: >dev/termination-log
	pod '"$1" wait --hosts=n1.invalid,n2 --node-rank=1 --master-port=1 --timeout=200ms; touch ready; kill -KILL $$'
	wait "$outer" || true
	[[ $(<dev/termination-log) == 'distinit: warning: sh ended after '*'SIGKILL'* ]]
	# A shell in the container that waits first tells what it waited for.
	: >dev/termination-log
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --mount-proc sh -c 'mount --bind dev /dev; "$@"; exit "$?"' - "$DISTINIT" wait "${away[@]}" || true
	[[ $(<dev/termination-log) == *'could not be reached within 0.2s'* ]]
}

# A control group cannot be made everywhere: what it is called is another file here.
@test "termination log: in a pod that shares its processes, the main program has none of PID 1's, and writes" {
	[[ $EUID -eq 0 ]] || skip "only root can have another /dev"
	requires unshare nsenter pgrep
	local outer
	mkdir dev
	mknod dev/null c 1 3
	: >dev/termination-log
	echo 0::/pause >group
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --mount-proc sh -c 'mount --bind dev /dev; mount --bind group /proc/1/cgroup; touch ready; exec sleep 60' 3>&- &
	outer=$!
	until [[ -e ready ]]; do nap 0.02; done
	invoke nsenter --target "$(pgrep -P "$outer")" --pid --mount --wd="$PWD" "$DISTINIT" --init -- sh -c 'kill -KILL $$'
	kill "$(pgrep -P "$outer")"
	[[ $status -eq 137 && $(<dev/termination-log) == "$stderr" && -n $stderr ]]
}

# docs/report.md: the report never has values of variables or words of the command.
@test "report: no value of a variable and no word of the command is in it" {
	distinit "${SESSION[@]}" MINE=value-of-mine A_TOKEN=value-of-token PATH="$PATH" -- --report=report --init --frameworks=torch --set=NEW=value-of-new \
		--map-exit=3:4 --wait=10s --for=dns --master-addr=127.0.0.1 -- sh -c 'kill -USR1 $PPID; trap : USR1; exit 3' word-of-the-command --key=word-of-it
	[[ $status -eq 4 || $status -gt 128 ]]
	[[ $(told) == *'derived'*'started'*'ended'* ]]
	run ! grep -E 'value-of|word-of' report
	# Where nothing starts, the message shows what is wrong, and no secret.
	distinit PATH=/bin -- --report=wrong -- nosuch word-of-the-command --key=value-of-key
	[[ $status -eq 127 ]]
	run ! grep -E 'value-of|word-of' wrong
	distinit A_TOKEN=value-of-token -- --report=wrong --read='hosts=A_TOKEN nnodes=A_TOKEN' -- /bin/true
	[[ $status -eq 125 ]]
	grep -q '"error": ".*A_TOKEN' wrong
	run ! grep -E 'value-of|word-of' wrong
	distinit MINE=value-of-mine DISTINIT_REPORT=failed DISTINIT_SECRET=value-of-secret -- --grace=1s -- nosuch word-of-the-command
	run ! grep -E 'value-of|word-of' failed
}
