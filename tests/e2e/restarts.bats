#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --max-restarts on one node: the program starts again in place. rollcall/again.bats has several.

# shellcheck disable=SC2016 # another shell expands the scripts
# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "restarts: a program that fails starts again, at most N times, and knows which start it is" {
	invoke "$DISTINIT" --max-restarts=2 -- sh -c 'echo "start $DISTINIT_RESTART_COUNT in $(pwd)"; exit 3'
	[[ $status -eq 3 ]]
	[[ $output == "start 0 in $PWD"$'\n'"start 1 in $PWD"$'\n'"start 2 in $PWD" ]]
	[[ $stderr == *'exit status 3; starting again (1 of 2)'$'\n'* ]]
	[[ $stderr == *'exit status 3; starting again (2 of 2) in 1s'$'\n'* ]]
	[[ $stderr == *'exit status 3; not starting again: 2 of 2 restarts used' ]]
}

@test "restarts: another distinit leaves the number of the start to its program" {
	export DISTINIT_RESTART_COUNT=7
	invoke "$DISTINIT" --init -- sh -c 'echo "$DISTINIT_RESTART_COUNT"'
	[[ $output == 7 && -z $stderr ]]
}

@test "restarts: one that ends well is done; decisions come before --map-exit" {
	invoke "$DISTINIT" --max-restarts=unlimited --map-exit=3:0,4:77 -- sh -c '[ "$DISTINIT_RESTART_COUNT" = 1 ] && exit 0; exit 3'
	[[ $status -eq 0 && $stderr == *'starting again (1)'* && $stderr != *'(2)'* ]]
	invoke "$DISTINIT" --max-restarts=1 --map-exit=4:77 -- sh -c 'exit 4'
	[[ $status -eq 77 ]]
}

@test "restarts: what cannot be run, TERM and the time limit of all starts are final" {
	invoke "$DISTINIT" --max-restarts=5 -- sh -c 'echo x; exit 127'
	[[ $status -eq 127 && $output == x ]]
	invoke "$DISTINIT" --max-restarts=5 -- sh -c 'echo x; kill -TERM "$PPID"; exec sleep 10'
	[[ $status -eq 143 && $output == x ]]
	invoke "$DISTINIT" --max-restarts=5 -- sh -c 'echo x; trap "exit 3" TERM; kill -TERM "$PPID"; while :; do sleep 0.1; done'
	[[ $status -eq 3 && $output == x ]]
	invoke "$DISTINIT" --max-restarts=5 --time-limit=1500ms -- sh -c 'sleep 0.6; exit 1'
	[[ $status -eq 1 && $stderr == *'not starting again: the time limit is used up' ]]
	invoke "$DISTINIT" --max-restarts=5 --time-limit=1s -- sh -c '[ "$DISTINIT_RESTART_COUNT" = 0 ] && sleep 0.7 && exit 1; exec sleep 5'
	[[ $status -eq 124 ]]
}

@test "restarts: the statuses and signals of --no-restart are final, and the sentence says so" {
	invoke "$DISTINIT" --max-restarts=5 --no-restart=93,17 -- sh -c 'echo x; exit 17'
	[[ $status -eq 17 && $output == x && $stderr == *'exit status 17; not starting again: exit status 17 is final (--no-restart)' ]]
	invoke "$DISTINIT" --max-restarts=5 --no-restart=17,segv -- sh -c 'echo x; kill -SEGV $$'
	[[ $status -eq 139 && $output == x && $stderr == *'; not starting again: SIGSEGV (139) is final (--no-restart)' ]]
	# The report has the reason.
	"$DISTINIT" --max-restarts=5 --no-restart=17 --report=report -- sh -c 'exit $((17 * DISTINIT_RESTART_COUNT + 3 * !DISTINIT_RESTART_COUNT))' || true
	[[ $(grep -c '"event": *"restart"' report) -eq 1 && $(grep -c '"event": *"together"' report) -eq 1 ]]
	grep -q '"then": *"not starting again: exit status 17 is final (--no-restart)"' report
	# Other ends start again; the decision comes before --map-exit.
	invoke env DISTINIT_NO_RESTART=17 "$DISTINIT" --max-restarts=1 --map-exit=17:3,3:17 -- sh -c 'echo x; exit 3'
	[[ $status -eq 17 && $output == $'x\nx' ]]
	invoke "$DISTINIT" --max-restarts=1 --no-restart=9 -- sh -c 'echo x; exit 3'
	[[ $status -eq 3 && $output == $'x\nx' ]]
}

@test "restarts: three starts in a row that wrote nothing are the last" {
	mkdir files
	local files="$PWD/files/log*"
	invoke "$DISTINIT" --max-restarts=9 --progress="$files:1m" --report=report -- sh -c 'echo x; sleep 0.5; exit 3'
	[[ $status -eq 3 && $output == $'x\nx\nx' && $stderr == *"exit status 3; not starting again: 3 starts in a row wrote nothing to $files" ]]
	grep -F '"then": "not starting again: 3 starts in a row wrote nothing to ' report
	# A write counts, also if it is the last word of a start: the next one sees it.
	invoke "$DISTINIT" --max-restarts=2 --max-idle-starts=2 --progress="$files:1m" -- sh -c 'echo x; sleep 0.5; echo >"files/log.$DISTINIT_RESTART_COUNT"; exit 3'
	[[ $status -eq 3 && $output == $'x\nx\nx' && $stderr == *'exit status 3; not starting again: 2 of 2 restarts used' ]]
	# Another number; none; and where nothing is known of writes.
	invoke "$DISTINIT" --max-restarts=2 --max-idle-starts=1 --progress="$files:1m" -- sh -c 'echo x; sleep 0.5; exit 3'
	[[ $output == x && $stderr == *"exit status 3; not starting again: 1 start wrote nothing to $files" ]]
	invoke env DISTINIT_MAX_IDLE_STARTS=0 "$DISTINIT" --max-restarts=2 --progress="$files:1m" -- sh -c 'echo x; exit 3'
	[[ $output == $'x\nx\nx' && $stderr == *'2 of 2 restarts used' ]]
	invoke "$DISTINIT" --max-restarts=2 --max-idle-starts=1 -- sh -c 'echo x; exit 3'
	[[ $output == $'x\nx\nx' && $stderr == *'2 of 2 restarts used' ]]
	invoke "$DISTINIT" --max-restarts=2 --max-idle-starts=many --progress="$files:1m" -- true
	[[ $status -eq 125 && $stderr == "distinit: error: --max-idle-starts='many': expected 0 to 1000" ]]
	invoke "$DISTINIT" --max-idle-starts=1 -- true
	[[ $status -eq 125 && $stderr == 'distinit: error: --max-idle-starts needs --max-restarts' ]]
}

@test "restarts: --no-restart has statuses and signals, and needs --max-restarts" {
	local word
	for word in 0 256 -1 17,,93 ',' '17,' SEGF 1.5; do
		invoke "$DISTINIT" --max-restarts=1 --no-restart="$word" -- echo ran
		[[ $status -eq 125 && -z $output && $stderr == *"error: --no-restart: "*": expected exit statuses from 1 to 255 and signals, joined by ','"* ]]
	done
	[[ $(DISTINIT_NO_RESTART=SEGF "$DISTINIT" --max-restarts=1 -- true 2>&1) == *"error: DISTINIT_NO_RESTART: 'SEGF': "*"; did you mean 'SEGV'?" ]]
	invoke "$DISTINIT" --no-restart=17 --init -- echo ran
	[[ $status -eq 125 && -z $output && $stderr == *'error: --no-restart needs --max-restarts' ]]
	# A variable may be the image's.
	invoke env DISTINIT_NO_RESTART=17 "$DISTINIT" -- echo ran
	[[ $status -eq 0 && $output == ran ]]
}

@test "restarts: INT, QUIT and the statuses 125 and 126 are final, too; USR1 is not" {
	local signal status_
	for signal in INT QUIT; do
		invoke "$DISTINIT" --max-restarts=5 -- sh -c 'echo x; trap "exit 3" INT QUIT; kill -'"$signal"' "$PPID"; while :; do sleep 0.1; done'
		[[ $status -eq 3 && $output == x && $stderr != *'starting again'* ]]
	done
	for status_ in 125 126; do
		invoke "$DISTINIT" --max-restarts=5 -- sh -c 'echo x; exit '"$status_"
		[[ $status -eq $status_ && $output == x ]]
	done
	invoke "$DISTINIT" --max-restarts=1 -- sh -c 'echo x; trap "exit 3" USR1; kill -USR1 "$PPID"; while :; do sleep 0.1; done'
	[[ $status -eq 3 && $output == $'x\nx' ]]
}

@test "restarts: in the pause TERM is final, and USR1 kills nobody" {
	"$DISTINIT" --max-restarts=3 -- sh -c 'echo "$DISTINIT_RESTART_COUNT" >>starts; [ "$DISTINIT_RESTART_COUNT" = 2 ] && exit 0; exit 1' 2>err 3>&- &
	local pid=$!
	until grep -q 'in 1s' err; do nap 0.02; done
	kill -USR1 "$pid"
	wait "$pid"
	[[ $(cat starts) == $'0\n1\n2' ]]
	"$DISTINIT" --max-restarts=3 -- sh -c 'exit 1' 2>err.told 3>&- &
	pid=$!
	until grep -q 'in 1s' err.told; do nap 0.02; done
	kill -TERM "$pid"
	local got=0
	wait "$pid" || got=$?
	[[ $got -eq 143 ]]
	grep 'SIGTERM ended the pause before the next start' err.told
}

@test "restarts: no descriptor and no page more, start after start; the limits are the same" {
	cat >look <<-'END'
		# It is made at the first wait; the descriptors of children come and go.
		until ls -l /proc/$PPID/fd | grep -q signalfd; do sleep 0.02; done
		ls -l /proc/$PPID/fd | grep -Evc 'pidfd|/proc' >>fds
		awk '/^VmData/ { print $2 }' /proc/$PPID/status >>pages
		ulimit -n >>limits
		exit 1
	END
	invoke "$DISTINIT" --max-restarts=3 --cluster=none -- sh look
	[[ $status -eq 1 && $(wc -l <fds) -eq 4 ]]
	cat fds pages
	# The first start has room left in the memory that every run has.
	[[ $(sort -u fds | wc -l) -eq 1 && $(tail -n +2 pages | sort -u | wc -l) -eq 1 && $(sort -u limits) == "$(ulimit -n)" ]]
}

@test "restarts: the termination log has the last end only" {
	mkdir -p root/dev
	: >root/dev/termination-log
	invoke "$DISTINIT" --max-restarts=1 --root=root -- sh -c 'kill "-$((5 + DISTINIT_RESTART_COUNT))" $$'
	[[ $status -eq 134 ]]
	cat root/dev/termination-log
	run ! grep SIGTRAP root/dev/termination-log
	grep SIGABRT root/dev/termination-log
	# And why nothing starts again.
	[[ $(tail -n 1 root/dev/termination-log) == 'distinit: warning: killed by SIGABRT; not starting again: 1 of 1 restarts used' ]]
	: >root/dev/termination-log
	invoke "$DISTINIT" --max-restarts=2 --no-restart=17 --root=root -- sh -c 'exit $((17 * DISTINIT_RESTART_COUNT + 3 * !DISTINIT_RESTART_COUNT))'
	[[ $status -eq 17 && $(<root/dev/termination-log) == 'distinit: warning: exit status 17; not starting again: exit status 17 is final (--no-restart)' ]]
}

@test "restarts: bad words are refused before anything starts" {
	local word
	for word in --max-restarts=x --max-restarts=1001 '--max-restarts=1 --init=0' '--max-restarts=1 --grace=never' \
		'--max-restarts=1 --leftovers=leave' --max-restarts=-1 --max-restarts= '--max-restarts=1 --wait --for=all'; do
		# shellcheck disable=SC2086 # several words
		invoke "$DISTINIT" $word -- echo started
		[[ $status -eq 125 && -z $output && $stderr == *--max-restarts* ]]
	done
	invoke "$DISTINIT" wait --max-restarts=1
	[[ $status -eq 125 && $stderr == *max-restarts* ]]
}

@test "restarts: the first streams, descriptors, working folder, environment and SIGCHLD action; end of file comes at the very end" {
	cat >program <<-'END'
		import os, signal, sys
		print(os.environ["DISTINIT_RESTART_COUNT"], os.getcwd(), signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN, os.read(0, 6).decode().strip(),
		    os.read(7, 6).decode().strip(), os.environ.get("ONE"), sorted(os.listdir("/proc/self/fd"))[:-1], flush=True)
		os.environ["ONE"] = "changed"
		if os.environ["DISTINIT_RESTART_COUNT"] == "0":
		    os.close(7)
		    os.chdir("/")
		    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
		    sys.exit(1)
	END
	printf 'line1\nline2\n' | (sleep 0.1; printf 'other\nothee\n' >other; exec 7<other
		trap '' CHLD
		exec env ONE=1 python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \
			"$DISTINIT" --max-restarts=1 --set=ONE='x{ONE}' -- python3 program 2>err 3>&-) | cat >out
	cat err out
	[[ $(sed 's/\[.*//' out) == "0 $PWD True line1 other x{ONE} "$'\n'"1 $PWD True line2 othee x{ONE} " ]]
	[[ $(sed 's/.*\[//' out | sort -u | wc -l) -eq 1 ]]
}

@test "restarts: files of variables, the user and --check are of the first start" {
	[[ $EUID -eq 0 ]] || skip "only root can change users"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR"/.. 2>/dev/null || true
	echo FROM_FILE=1 >file
	local pid
	mkfifo gate
	: >report
	chmod 666 report
	"$DISTINIT" --max-restarts=1 --env-file=file --user=65534 --check --report=report -- sh -c '
		echo "$FROM_FILE $(id -u) $DISTINIT_RESTART_COUNT"; read -r _ <&5; exit 1' 5<>gate >out 2>err 3>&- &
	pid=$!
	until grep -qs '^1 65534 0' out || ! kill -0 "$pid"; do nap 0.02; done
	rm file
	printf 'go\ngo\n' >gate
	wait "$pid" || true
	cat out err
	[[ $(<out) == $'1 65534 0\n1 65534 1' ]]
	[[ $(grep -c 'derived' report) -eq 1 ]]
}

@test "restarts: TERM while leftovers are asked to end is final, and does not wait for them" {
	local signal
	for signal in TERM INT; do
		rm -f left err
		: >err
		env --default-signal "$DISTINIT" --max-restarts=3 --leftovers-grace=1000s -- sh -c 'echo "start $DISTINIT_RESTART_COUNT"
			sh -c "trap \"\" TERM; echo \$\$ >left; while :; do sleep 0.1; done" >/dev/null 2>&1 &
			until [ -s left ]; do sleep 0.02; done
			exit 3' >out 2>err 3>&- &
		local pid=$! got=0
		until grep -q 'starting again (1 of 3)' err; do nap 0.02; done
		sleep 0.2
		kill "-$signal" "$pid"
		wait "$pid" || got=$?
		cat out err
		[[ $got -eq $([[ $signal == TERM ]] && echo 143 || echo 130) && $(<out) == 'start 0' ]]
		run ! kill -0 "$(<left)"
	done
}

@test "restarts: as PID 1, with its output in a pipe: what ignores TERM is gone at the next start, who came from outside is not" {
	requires nsenter
	unshare --pid --fork --mount-proc true 2>unshare.err || skip "no PID namespace here: $(<unshare.err)"
	cat >program <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		if [ "$DISTINIT_RESTART_COUNT" = 1 ]; then
			kill -0 "$(cat left)" 2>/dev/null && echo "it is still there"
			pgrep -x sleep >/dev/null || echo "the one from outside is gone"
			exit 7
		fi
		sh -c 'trap "" TERM; echo $$ >left; while :; do read -r line <pipe; done' &
		until [ -s left ] && [ -e outside ]; do sleep 0.02; done
		exit 3
	END
	mkfifo pipe
	unshare --pid --fork --mount-proc "$DISTINIT" --max-restarts=1 --leftovers-grace=100ms -- sh program 2>err 3>&- > >(cat >out) &
	local outer=$! got=0
	until [[ -s left ]]; do nap 0.02; done
	nsenter --pid --target "$(pgrep -P "$outer" distinit)" sleep 100 3>&- &
	until pgrep -x sleep -P $! >/dev/null || [[ $(</proc/$!/comm) == sleep ]]; do nap 0.02; done
	touch outside
	wait "$outer" || got=$?
	[[ $got -eq 7 ]]
	until grep -q 'start 1' out; do nap 0.02; done
	cat err out
	[[ $(<out) == $'start 0\nstart 1' ]]
	grep 'left behind have not ended in 0.1s: they are killed' err
}

@test "restarts: as PID 1, who came from outside stays: what a shell left behind, and more than 16 from before the start" {
	requires nsenter setsid
	unshare --pid --fork --mount-proc true 2>unshare.err || skip "no PID namespace here: $(<unshare.err)"
	cat >program <<-'END'
		echo "start $DISTINIT_RESTART_COUNT"
		if [ "$DISTINIT_RESTART_COUNT" = 1 ]; then
			exec 2>/dev/null
			kill -0 $(cat own) && echo "one of its own is still there"
			kill -0 $(cat outside) || echo "one from outside is gone"
			kill -0 $(cat before) || echo "one from before is gone"
			exit 7
		fi
		setsid sh -c 'sleep 1001 & echo $! >>own; exit' &
		(sleep 1002 & echo $! >>own)
		until [ -e go ]; do sleep 0.02; done
		exit 3
	END
	cat >first <<-'END'
		for i in $(seq 20); do sleep 1003 >/dev/null 2>&1 & echo $! >>before; done
		exec "$@"
	END
	unshare --pid --fork --mount-proc sh first "$DISTINIT" --max-restarts=1 --leftovers-grace=100ms -- sh program 2>err 3>&- >out &
	local outer=$! got=0
	until [[ -s own ]] && (($(wc -l <own) == 2)); do nap 0.02; done
	local inner
	inner=$(pgrep -P "$outer" distinit)
	# As engines run them: in a session of their own, or in that of who called.
	env -i PATH="$PATH" nsenter --pid --mount --wd="$PWD" --target "$inner" setsid -w sh -c 'sleep 1004 >/dev/null 2>&1 3>&- & echo $! >>outside; exit' 3>&-
	env -i PATH="$PATH" nsenter --pid --mount --wd="$PWD" --target "$inner" sh -c 'sleep 1005 >/dev/null 2>&1 3>&- & echo $! >>outside; exit' 3>&-
	[[ $(wc -l <outside) -eq 2 ]]
	touch go
	wait "$outer" || got=$?
	cat err out
	[[ $got -eq 7 && $(<out) == $'start 0\nstart 1' ]]
}

# The one with shorter times waits for 1 s, in place of a minute. The process has changed its user, so only root could end it.
@test "restarts: what cannot be killed is named, and nothing starts again" {
	requires setpriv
	[[ $EUID -eq 0 ]] || skip "only root can make a program that changes its user"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR"/.. 2>/dev/null || true
	cp "$(command -v setpriv)" becomes-root
	chmod 4755 becomes-root
	chmod 777 .
	setpriv --reuid=65534 --regid=65534 --clear-groups ./becomes-root --reuid=0 true || skip "no setuid programs in this folder"
	[[ $(setpriv --reuid=65534 --regid=65534 --clear-groups ./becomes-root --reuid=0 id -u) == 0 ]] || skip "no setuid programs in this folder"
	cp "$BRISK" distinit
	local left
	time_begins
	invoke setpriv --reuid=65534 --regid=65534 --clear-groups ./distinit --max-restarts=3 --leftovers-grace=100ms -- sh -c '
		echo "start $DISTINIT_RESTART_COUNT"
		./becomes-root --reuid=0 sh -c "echo \$\$ >left; exec sleep 100" >/dev/null 2>&1 &
		until [ -s left ] && read -r _ name _ <"/proc/$(cat left)/stat" && [ "$name" = "(sleep)" ]; do sleep 0.02; done
		exit 3'
	left=$(<left)
	kill "$left"
	[[ $status -eq 125 && $output == 'start 0' ]]
	[[ $stderr == *"error: sh cannot be started again: it left processes behind that cannot be killed: $left (sleep)" ]]
	time_passed
	((CALM < 5000))
}
