#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What 'distinit completion' prints, in real shells.

# shellcheck disable=SC2016 # for other shells
# shellcheck disable=SC2154 # distinit() of helpers.bash sets status, output and stderr

load helpers

setup_file() {
	export COMPLETIONS=$BATS_FILE_TMPDIR/completions
	"$BATS_TEST_DIRNAME/../../tools/completions" "$COMPLETIONS" "${DISTINIT:-$BATS_TEST_DIRNAME/../../build/distinit}" \
		"${DISTRUN:-$BATS_TEST_DIRNAME/../../build/distrun}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "completion: a shell that reads what it prints completes it; other words are refused" {
	local shell
	[[ $(bash --norc -c 'source <("$1" completion bash); complete -p distinit' bash "$DISTINIT") == "complete -F _distinit distinit" ]]
	for shell in ksh ''; do
		distinit -- completion $shell
		[[ $status -eq 125 && $stderr == "distinit: error: completion"*"expected a shell: bash, zsh or fish" ]]
	done
	distinit -- completion bash zsh
	[[ $status -eq 125 && $stderr == 'distinit: error: completion takes one shell: bash, zsh or fish' ]]
	missing zsh
	zsh -f -c 'autoload -Uz compinit; compinit -u -D; source <("$1" completion zsh); print $_comps[distinit]' zsh "$DISTINIT" >out
	[[ $(<out) == _distinit ]]
}

missing() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# in_bash WORD...: what bash offers for the last word.
in_bash() {
	bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1" 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' bash \
		"$COMPLETIONS/$1.bash" "$@"
}

@test "completion: every option of --help and every subcommand is in each completion" {
	local program
	# bash without bats' traps: it looks at hundreds of options.
	cat >look <<-'END'
		program=$1 name=${1##*/} folder=$2
		source "$folder/$name.bash"
		zsh=$(<"$folder/_$name") fish=$(<"$folder/$name.fish")
		all=--help
		[[ $program != *distinit ]] || all=--help=all
		for sub in '' $("$program" --help | sed -n '/^Subcommands/,/^$/s/^  \([a-z]*\)  .*/\1/p'); do
			for option in $("$program" $sub $all | sed -nE 's/^  (-.,|   ) --([a-z-]+).*/\2/p'); do
				COMP_WORDS=("$name" $sub "--$option") COMP_CWORD=${sub:+2} COMP_CWORD=${COMP_CWORD:-1} COMPREPLY=()
				"_$name" 2>/dev/null
				[[ " ${COMPREPLY[*]} " == *" --$option "* || " ${COMPREPLY[*]} " == *" --$option= "* ]] || echo "bash: $sub --$option"
				[[ $zsh == *"--$option="* || $zsh == *"--$option["* ]] || echo "zsh: $sub --$option"
				[[ $fish == *" -l $option "* ]] || echo "fish: $sub --$option"
				seen+=("$option")
			done
		done
		((${#seen[@]} > 20)) || echo "options seen: ${#seen[@]}"
	END
	for program in "$DISTINIT" "$DISTRUN"; do
		run bash --norc look "$program" "$COMPLETIONS"
		printf '%s\n' "$output"
		[[ $status -eq 0 && -z $output ]]
	done
	# The look can fail.
	mkdir less
	sed 's/ -l map-exit / /' "$COMPLETIONS/distinit.fish" >less/distinit.fish
	sed 's/--map-exit[=[]//' "$COMPLETIONS/_distinit" >less/_distinit
	sed 's/--map-exit=\?//g' "$COMPLETIONS/distinit.bash" >less/distinit.bash
	run bash --norc look "$DISTINIT" "$PWD/less"
	[[ $output == $'bash:  --map-exit\nzsh:  --map-exit\nfish:  --map-exit' ]]
}

@test "completion: bash completes subcommands, options, and commands after '--'" {
	[ "$(in_bash distinit exp)" = explain ]
	[ "$(in_bash distinit --clus)" = --cluster= ]
	[ "$(in_bash distinit env --form)" = --format= ]
	[ -z "$(in_bash distinit env --kill-g)" ]
	in_bash distinit --init -- mkdi | grep -qx mkdir
	# Values, also as readline parts words at '='.
	[ "$(in_bash distinit --for=)" = $'--for=tcp\n--for=dns\n--for=all' ]
	[ "$(in_bash distinit wait --for = d)" = dns ]
	[ "$(in_bash distinit --for =)" = $'tcp\ndns\nall' ]
	[ "$(in_bash distinit explain --format = j)" = json ]
	[ "$(in_bash distinit env --cluster slu)" = slurm ]
	[ "$(in_bash distinit --frameworks=torchr)" = --frameworks=torchrun ]
	[ "$(in_bash distinit --signal=TERM:I)" = --signal=TERM:INT ]
	[ "$(in_bash distinit --frameworks=torch,j)" = --frameworks=torch,jax ]
	[ "$(in_bash distinit --frameworks = torch,j)" = torch,jax ]
	[ "$(in_bash distinit --cap-keep=ipc)" = $'--cap-keep=ipc_lock\n--cap-keep=ipc_owner' ]
	[ "$(in_bash distinit --cap-drop=kill,mkn)" = --cap-drop=kill,mknod ]
	[ "$(in_bash distinit explain --color = al)" = always ]
	[ "$(in_bash distinit help exp)" = explain ]
	[ "$(in_bash distinit completion z)" = zsh ]
	# Words, and no files.
	[ "$(in_bash distinit --together=)" = $'--together=failures\n--together=workers\n--together=always' ]
	[ "$(in_bash distinit --together = workers,)" = $'workers,failures\nworkers,always' ]
	[ "$(in_bash distinit install --as=ti)" = $'--as=tini\n--as=tini-static' ]
	[ "$(in_bash distinit install --as = dist)" = distinit ]
	[ "$(in_bash distinit --scope=)" = $'--scope=auto\n--scope=node\n--scope=allocation' ]
	[ "$(in_bash distrun exec --runtime=pod)" = --runtime=podman ]
	# What is in a list already does not come again, nor what stands alone.
	in_bash distinit --frameworks=torch, | grep -qx -- --frameworks=torch,jax
	run ! grep -E '=torch,(torch|none|all)$' <(in_bash distinit --frameworks=torch,)
	in_bash distinit --frameworks=no | grep -qx -- --frameworks=none
	[ "$(in_bash distinit managers --format=j)" = --format=json ]
	in_bash distinit --user=roo | grep -qx -- --user=root
	[ "$(in_bash distrun where --format=j)" = --format=json ]
	# The programs take what is offered.
	local word
	for word in $(in_bash distinit --for=) $(in_bash distinit --cluster=) $(in_bash distinit --frameworks=) $(in_bash distinit --together=) $(in_bash distinit --agree=) $(in_bash distinit --ranks=) $(in_bash distinit --signal=) $(in_bash distinit --cap-drop=); do
		! "$DISTINIT" --init --wait=1s "$word" -- true 2>&1 | grep -E 'expected|there is no such|is not a signal' || return 1
	done
	for word in env wait explain check; do
		for format in $(in_bash distinit $word --format=); do
			! "$DISTINIT" $word "$format" 2>&1 >/dev/null | grep expected || return 1
		done
	done
	[ "$(in_bash distrun surr)" = surrogate ]
}

@test "completion: fish completes the same" {
	missing fish
	in_fish() {
		HOME=$BATS_TEST_TMPDIR fish --no-config -c "source $COMPLETIONS/distinit.fish; complete -C '$1'" | cut -f 1
	}
	[ "$(in_fish 'distinit exp')" = explain ]
	in_fish 'distinit --clus' | grep -qx -- --cluster
	in_fish 'distinit env --form' | grep -qx -- --format
	in_fish 'distinit --for=d' | grep -qx -- --for=dns
	in_fish 'distinit explain --format=j' | grep -qx -- --format=json
	in_fish 'distinit --cluster=slu' | grep -qx -- --cluster=slurm
	in_fish 'distinit --frameworks=torch,j' | grep -qx -- --frameworks=torch,jax
	in_fish 'distinit --cap-keep=ipc_l' | grep -qx -- --cap-keep=ipc_lock
	[ "$(in_fish 'distinit help exp')" = explain ]
	[ "$(in_fish 'distinit completion z')" = zsh ]
	[ "$(in_fish 'distinit --together=' | sort)" = $'--together=always\n--together=failures\n--together=workers' ]
	[ "$(in_fish 'distinit install --as=tini-')" = --as=tini-static ]
	run ! grep -E '=torch,(torch|none|all)$' <(in_fish 'distinit --frameworks=torch,')
	in_fish 'distinit --user=roo' | grep -qx -- --user=root
	[ -z "$(in_fish 'distinit env --kill-g')" ]
	in_fish 'distinit --init -- mkdi' | grep -qx mkdir
}

@test "completion: zsh completes the same" {
	missing zsh
	cat >type.py <<-'PYTHON'
		import os, pty, select, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(PS1="> ", TERM="dumb", HOME=os.getcwd())
		    os.execvp("zsh", ["zsh", "-f", "-i"])
		def read(until, seconds):
		    out, end = "", time.monotonic() + seconds
		    while until not in out and time.monotonic() < end:
		        if select.select([fd], [], [], 0.1)[0]:
		            out += os.read(fd, 4096).decode(errors="replace")
		    return out
		os.write(fd, f"fpath=({sys.argv[1]} $fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy\n".encode())
		read("ready", 30)
		os.write(fd, (sys.argv[2] + "\t").encode())
		print(read(sys.argv[3], 20))
		os.write(fd, b"\x03exit\n")
		os.close(fd)
	PYTHON
	local typed
	while IFS='|' read -r typed expected; do
		python3 type.py "$COMPLETIONS" "$typed" "$expected" >out </dev/null
		grep -qF -- "$expected" out || { echo "$typed: $(<out)" && return 1; }
	done <<-'TYPED'
		distinit exp|explain
		distinit --clus|--cluster=
		distinit env --form|--format=
		distinit --init -- mkdi|mkdir
		distinit --for=dn|--for=dns
		distinit explain --format=js|--format=json
		distinit --cluster=slu|--cluster=slurm
		distinit --frameworks=torch,ja|--frameworks=torch,jax
		distinit --cap-keep=ipc_l|--cap-keep=ipc_lock
		distinit help exp|explain
		distinit completion z|zsh
		distinit --together=wor|--together=workers
		distinit install --as=tini-|--as=tini-static
		distinit --frameworks=none,tor|--frameworks=none,tor
		distinit --user=roo|--user=root
	TYPED
}

# Each shell on a terminal of its own, with a distinit that says what it was called with.
@test "completion: in a terminal, bash, zsh and fish complete what is typed" {
	local shell
	cat >terminal.py <<-'PYTHON'
		import fcntl, os, pty, re, select, struct, sys, termios, time

		shell, folder = sys.argv[1:]
		start = {
		    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source {folder}/distinit.bash; distinit() {{ printf '<%s>' \"$@\"; echo; }}"),
		    "zsh": (["zsh", "-f", "-i"], f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; distinit() {{ printf '<%s>' \"$@\"; echo; }}"),
		    "fish": (["fish", "--no-config", "-i"], f"source {folder}/distinit.fish; function distinit; printf '<%s>' $argv; echo; end"),
		}
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(PS1="> ", TERM="xterm", HOME=os.getcwd(), LC_ALL="C.UTF-8")
		    os.execvp(start[shell][0][0], start[shell][0])
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))

		def until(*wanted):
		    """What the terminal shows, until all of @wanted is there."""
		    shown, end = "", time.monotonic() + 20
		    while not all(one in shown for one in wanted):
		        if time.monotonic() > end:
		            sys.exit(f"{shell} shows {shown!r}, and not {wanted}")
		        if select.select([fd], [], [], 0.1)[0]:
		            shown += re.sub(r"\x1b\[[\d;?>=]*[ -/]*[@-~]|\x1b[()].|\x1b[=>]", "", os.read(fd, 4096).decode(errors="replace"))
		    return shown

		def type_in(text):
		    os.write(fd, text.encode())

		type_in(start[shell][1] + "; echo rea''dy\n")
		until("ready\r\n")
		for typed, word in [("distinit help exp", "<help><explain>"), ("distinit expl", "<explain>"),
		                    ("distinit --frameworks=torch,j", "<--frameworks=torch,jax>"), ("distinit --cap-keep=ipc_l", "<--cap-keep=ipc_lock>"),
		                    ("distinit --cap-drop=kill,mkn", "<--cap-drop=kill,mknod>"), ("distinit wait --for=d", "<wait><--for=dns>")]:
		    type_in(typed + "\t\n")
		    until(word + "\r\n")
		# Several would do: what they share is typed, and then they are shown.
		type_in("distinit --cap-keep=ipc\t\t\t")
		until("ipc_lock", "ipc_owner")
		print(f"{shell} completes")
		os.close(fd)
	PYTHON
	for shell in bash zsh fish; do
		missing $shell
		run timeout 90 python3 terminal.py $shell "$COMPLETIONS" </dev/null 3>&-
		[[ $status -eq 0 && $output == "$shell completes" ]] || { echo "$output" && return 1; }
	done
}
