#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --init on a terminal: Ctrl-C, Ctrl-Z, fg and bg, with and without a shell. tests/programs/terminal
# types the keys.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the shells of the workloads expand the quoted texts

load helpers

setup() {
	requires python3
	cd "$BATS_TEST_TMPDIR" || return
	cat >workload <<-'END'
		#!/usr/bin/env python3
		# Prints each signal that it gets, and ends at TERM. It uses sigwait(), because
		# pause() would miss a signal that arrives just before it.
		import os, signal, sys
		told = {getattr(signal, "SIG" + name) for name in sys.argv[1:]}
		signal.pthread_sigmask(signal.SIG_BLOCK, told)
		def say(what):
		    os.write(1, b"%s, %s\n" % (what.encode(), b"in front" if os.tcgetpgrp(0) == os.getpgrp() else b"behind"))
		say("ready")
		while True:
		    number = signal.sigwait(told)
		    say("got " + signal.Signals(number).name)
		    if number == signal.SIGTERM:
		        sys.exit(3)
	END
	chmod +x workload
}

# typed STEP... -- COMMAND...: run it on a terminal; fails if the driver fails.
typed() {
	invoke "$BATS_TEST_DIRNAME/../programs/terminal" "$@" 3>&-
	[ "$status" -eq 0 ]
}

# shell: run an interactive shell without settings.
readonly SHELL_WORDS=(env PS1='$ ' HISTFILE= bash --norc --noprofile -i)

@test "terminal: the command has the foreground, and Ctrl-C reaches it once" {
	typed see='ready, in front' type=^C see='got SIGINT' type=^C see='got SIGINT' type=^backslash see='got SIGQUIT' -- \
		"$DISTINIT" --init -- ./workload INT QUIT
	[ "$(grep -c 'got SIGINT' <<<"$output")" -eq 2 ]
	[ "$(grep -c 'got SIGQUIT' <<<"$output")" -eq 1 ]
}

@test "terminal: Ctrl-C ends a command without a handler, with 130" {
	typed see=ready type=^C ends=130 -- "$DISTINIT" --init -- sh -c 'echo ready; exec sleep 1000'
	[[ $output == *'sh ended after '*': killed by SIGINT'* ]]
}

@test "terminal: in a script distinit sees Ctrl-C too, and says that it came from the terminal" {
	echo "trap : INT; \"$DISTINIT\" --init -- sh -c 'echo ready; exec sleep 1000'; exit 5" >script
	typed see=ready type=^C ends=5 -- sh script
	[[ $output == *'sh ended after '*': killed by SIGINT from the terminal'* ]]
}

@test "terminal: without a shell Ctrl-Z stops nothing, as it would not stop the command alone" {
	typed see='ready, in front' type=^Z type=^C see='got SIGINT' type=^C see='got SIGINT' -- \
		"$DISTINIT" --init -- ./workload INT
}

@test "terminal: as PID 1 likewise" {
	requires unshare
	unshare --pid --fork --mount-proc true 2>/dev/null || skip 'PID namespaces cannot be made here'
	typed see='ready, in front' type=^Z type=^C see='got SIGINT' type=^C see='got SIGINT' -- \
		unshare --pid --fork --mount-proc "$DISTINIT" --init -- ./workload INT
}

@test "terminal: under a shell, Ctrl-Z stops the job, and fg continues it in the foreground" {
	typed see='$ ' type="'$DISTINIT' --init -- ./workload INT CONT TERM^M" see='ready, in front' \
		type=^Z see=Stopped see='$ ' type=fg^M see='got SIGCONT, in front' type=^C see='got SIGINT' \
		type=^Z see=Stopped see='$ ' type=fg^M see='got SIGCONT, in front' type=^C see='got SIGINT' \
		type=^Z see=Stopped see='$ ' type='kill %1; fg^M' see='got SIGTERM' see='$ ' \
		type='echo "status $?"^M' see='status 3' type=exit^M ends=0 -- "${SHELL_WORDS[@]}"
	[ "$(grep -c 'got SIGTERM' <<<"$output")" -eq 1 ]
}

# (If Ctrl-C arrives just before a shell writes its prompt, the shell writes no prompt after it; so
# Enter is typed.)
@test "terminal: bg continues it in the background, and Ctrl-C goes to the shell" {
	typed see='$ ' type="'$DISTINIT' --init -- ./workload INT CONT TERM^M" see='ready, in front' \
		type=^Z see=Stopped see='$ ' type=bg^M see='got SIGCONT, behind' type='^C' type='^M' see='$ ' \
		type='kill %1; wait^M' see='got SIGTERM' see='$ ' type=exit^M ends=0 -- "${SHELL_WORDS[@]}"
	[[ $output != *'got SIGINT'* ]]
}

@test "terminal: a job that bg continued leaves the terminal to the shell when it ends" {
	typed see='$ ' type="'$DISTINIT' --init -- sh -c 'echo \$PPID >pid; exec ./workload CONT TERM'^M" see='ready, in front' \
		type=^Z see=Stopped see='$ ' type=bg^M see='got SIGCONT' until='kill -TERM $(cat pid)' \
		until='! [ -e /proc/$(cat pid) ]' type='echo "still $((40 + 2))"^M' see='still 42' see='$ ' type=exit^M ends=0 -- \
		"${SHELL_WORDS[@]}"
}

@test "terminal: in the background, a command that reads stops the job, and after fg it reads the input" {
	typed see='$ ' type="'$DISTINIT' --init -- sh -c 'read line; echo \"read <\$line>\"' &^M" see='$ ' \
		type='until jobs | grep Stop; do sleep 0.1; done^M' see=Stopped see='$ ' type='fg^M' see='read line' type='hello^M' see='read <hello>' \
		type='exit^M' ends=0 -- "${SHELL_WORDS[@]}"
}

@test "terminal: in a pipeline the others keep the terminal" {
	typed see='$ ' type="'$DISTINIT' --init -- ./workload INT CONT 2>&1 | (trap '' INT; cat)^M" see='ready, in front' type=^C \
		see='got SIGINT' type=^C see='got SIGINT' type=^Z see=Stopped see='$ ' type='fg^M' see='got SIGCONT' type=^C \
		see='got SIGINT' -- "${SHELL_WORDS[@]}"
	[ "$(grep -c 'got SIGINT' <<<"$output")" -eq 3 ]
}

@test "terminal: in a script, Ctrl-C reaches the script and the command, each once" {
	cat >script <<-END
		trap 'echo the script got INT' INT
		"$DISTINIT" --init -- ./workload INT TERM
		echo "status \$?"
	END
	typed see='ready, in front' type=^C see='got SIGINT' type=^C see='got SIGINT' -- sh script
	[ "$(grep -c 'got SIGINT' <<<"$output")" -eq 2 ]
}

@test "terminal: a change of the window's size is forwarded once" {
	typed see='ready, in front' resize=33 see='got SIGWINCH' type=^C see='got SIGINT' -- \
		"$DISTINIT" --init -- ./workload WINCH INT
	[ "$(grep -c 'got SIGWINCH' <<<"$output")" -eq 1 ]
	# In a script, where distinit and the command are both in the foreground.
	echo "\"$DISTINIT\" --init -- ./workload WINCH INT; true" >script
	typed see='ready, in front' resize=33 see='got SIGWINCH' type=^C see='got SIGINT' -- sh script
	[ "$(grep -c 'got SIGWINCH' <<<"$output")" -eq 1 ]
}

@test "terminal: a hangup reaches the command" {
	typed see=ready hangup ends=129 -- "$DISTINIT" --init -- sh -c 'echo ready; exec sleep 1000'
}

@test "terminal: a background job that writes with 'stty tostop' stops, and fg continues it" {
	typed see='$ ' type='stty tostop^M' see='$ ' \
		type="'$DISTINIT' --init -- sh -c 'sleep 0.2; echo wrote' &^M" see='$ ' \
		type='until jobs | grep Stop; do sleep 0.1; done^M' see=Stopped see='$ ' type='fg^M' see=wrote type='exit^M' ends=0 -- "${SHELL_WORDS[@]}"
}

@test "terminal: a terminal on stdin that is not the controlling one is not an error" {
	requires setsid
	typed see=ran ends=0 -- setsid --wait "$DISTINIT" --init -- sh -c 'echo ran'
}

@test "terminal: a resource manager stops both, and continues both: the CONT that comes with the stop is not lost" {
	cat >suspend <<-'END2'
		[ ! -e tried ] || exit 1
		touch tried
		read -r distinit workload <pids
		state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"; }
		kill -STOP "$distinit" "$workload"
		until [ "$(state "$distinit")$(state "$workload")" = TT ]; do sleep 0.02; done
		# distinit finds both: that its child has stopped, and its own CONT.
		kill -CONT "$distinit"
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			sleep 0.1
			[ "$(state "$distinit")$(state "$workload")" != SS ] || exit 0
		done
		exit 1
	END2
	typed see=ready until='sh suspend' until='touch end' see=done ends=0 -- \
		"$DISTINIT" --init -- sh -c 'echo "$PPID $$" >pids; echo ready; until [ -e end ]; do sleep 0.02; done; echo done'
}

# --- colour -----------------------------------------------------------------------------------------

@test "terminal: the words for errors and warnings have colour" {
	local warns='BACKENDAI_CLUSTER_SIZE=x'
	typed ends=125 -- env -i TERM=xterm $warns "$DISTINIT" -- true
	[[ $output == $'distinit: \e[1;31merror\e[m: BACKENDAI_CLUSTER_SIZE='* ]]
	typed ends=0 -- env -i TERM=xterm $warns "$DISTINIT" --lenient -- true
	[[ $output == $'distinit: \e[1;33mwarning\e[m: BACKENDAI_CLUSTER_SIZE='* ]]
	typed ends=0 -- env -i TERM=xterm "$DISTINIT" -v -- true
	[[ $output == 'distinit: info: '* ]]
	typed ends=3 -- env -i TERM=xterm "$DISTINIT" --init -- sh -c 'exit 3'
	[[ $output == $'distinit: \e[1;33mwarning\e[m: sh ended after '* ]]
}

@test "terminal: no colour with NO_COLOR, on a dumb terminal, without TERM, and in a file" {
	local variable
	for variable in 'NO_COLOR=1 TERM=xterm' TERM=dumb TERM= A=1; do
		for init in --init=0 --init; do
			# shellcheck disable=SC2086 # several words
			typed ends=125 -- env -i $variable BACKENDAI_CLUSTER_SIZE=x "$DISTINIT" $init -- true
			[[ $output == 'distinit: error: '* && $output != *$'\e'* ]]
		done
		# shellcheck disable=SC2086
		typed ends=3 -- env -i $variable "$DISTINIT" --init -- sh -c 'exit 3'
		[[ $output == 'distinit: warning: '* && $output != *$'\e'* ]]
	done
	typed ends=125 -- env -i TERM=xterm sh -c "BACKENDAI_CLUSTER_SIZE=x '$DISTINIT' -- true 2>file"
	typed ends=3 -- env -i TERM=xterm sh -c "'$DISTINIT' --init -- sh -c 'exit 3' 2>>file"
	[[ $(<file) == 'distinit: error: '*'distinit: warning: '* && $(<file) != *$'\e'* ]]
	# An empty NO_COLOR is none.
	typed ends=125 -- env -i NO_COLOR= TERM=xterm BACKENDAI_CLUSTER_SIZE=x "$DISTINIT" -- true
	[[ $output == *$'\e'* ]]
}

@test "terminal: the termination log has no colour" {
	mkdir -p root/dev
	: >root/dev/termination-log
	typed ends=138 -- env -i TERM=xterm "$DISTINIT" --root="$PWD/root" --init -- sh -c 'kill -USR1 $$'
	[[ $(<root/dev/termination-log) == 'distinit: warning: sh ended after '* ]]
}
