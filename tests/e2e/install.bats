#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit install DIR, as in an init container.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # scripts for another shell
# shellcheck disable=SC2030,SC2031 # each test has its own status

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir dir
}

teardown() {
	remove_open_folder
}

# is_whole DIR: the folder contains the complete program, and nothing else.
is_whole() {
	[[ $(ls -A "$1") == distinit && ! -L $1/distinit && $(stat -c %a "$1/distinit") == 555 ]] &&
		cmp "$DISTINIT" "$1/distinit"
}

# in_mounts SCRIPT ARG...: invoke a shell script in its own mount namespace.
in_mounts() {
	unshare --mount true 2>/dev/null || skip 'no mount namespaces here'
	invoke env -i DISTINIT="$DISTINIT" PATH="$PATH" unshare --mount sh -ec "mount --make-rprivate /; $1" sh "${@:2}"
}

# injecting RULE... -- ARG...: invoke distinit under strace, which changes the results of its system
# calls.
injecting() {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	local -a rules=()
	while [[ $1 != -- ]]; do
		rules+=(-e "inject=$1")
		shift
	done
	shift
	invoke env -i strace -o trace "${rules[@]}" "$DISTINIT" "$@"
}

@test "install: copies itself, mode 0555 whatever the umask, and is silent" {
	(umask 077 && distinit -- install dir && succeeds_with '')
	is_whole dir
	[ "$(dir/distinit --version)" = "$("$DISTINIT" --version)" ]
	rm -f dir/distinit
	(umask 0 && distinit -- install dir/ && succeeds_with '')
	is_whole dir
}

@test "install: the copy installs itself" {
	mkdir next
	distinit -- install dir
	invoke env -i dir/distinit install next
	succeeds_with ''
	is_whole next
}

@test "install: a second time succeeds, and writes nothing" {
	distinit -- install dir
	local before after
	before=$(stat -c '%i %Y %Z' dir/distinit)
	distinit -- install -v dir
	[ "$status" -eq 0 ]
	[ "$stderr" = 'distinit: info: dir/distinit is up to date' ]
	after=$(stat -c '%i %Y %Z' dir/distinit)
	[ "$before" = "$after" ]
	is_whole dir
}

@test "install: an existing file is replaced: another file, a short one, a wrong mode, a link" {
	echo other >dir/distinit
	distinit -- install -v dir
	[ "$stderr" = 'distinit: info: dir/distinit is written' ]
	is_whole dir
	head -c 1000 "$DISTINIT" >half && mv -f half dir/distinit
	distinit -- install dir
	is_whole dir
	chmod 4755 dir/distinit
	distinit -- install dir
	is_whole dir
	{ head -c -1 "$DISTINIT" && printf x; } >last && chmod 555 last && mv -f last dir/distinit
	distinit -- install dir
	is_whole dir
	echo untouched >target
	ln -sf ../target dir/distinit
	distinit -- install dir
	is_whole dir
	[ "$(cat target)" = untouched ]
	rm -f dir/distinit
	mkfifo dir/distinit
	distinit -- install dir
	is_whole dir
}

@test "install: one that is there is left alone, also without stdin" {
	distinit -- install dir
	local there
	there=$(stat -c '%i %Y' dir/distinit)
	env -i "$DISTINIT" install dir
	env -i "$DISTINIT" install dir <&-
	[ "$(stat -c '%i %Y' dir/distinit)" = "$there" ]
}

@test "install: an older one that runs is replaced, and runs on" {
	cp "$(command -v sleep)" dir/distinit
	dir/distinit 1000 3>&- &
	local pid=$!
	# Wait until the process runs that program, instead of this shell.
	until [[ $(readlink /proc/$pid/exe) == */dir/distinit ]]; do nap 0.01; done
	distinit -- install dir
	local after=$status
	kill -0 "$pid"
	kill "$pid"
	wait "$pid" || true
	[ "$after" -eq 0 ]
	is_whole dir
}

@test "install: as any uid, on a read-only root, without HOME, from another folder" {
	open_folder
	mkdir "$OPEN_FOLDER/tools"
	chmod 1777 "$OPEN_FOLDER/tools"
	cp "$DISTINIT" "$OPEN_FOLDER/program"
	chmod 755 "$OPEN_FOLDER/program"
	cd "$OPEN_FOLDER"
	invoke as_nobody env -i ./program install tools
	succeeds_with ''
	[ "$(stat -c %a tools/distinit)" = 555 ]
	cmp program tools/distinit
	# A folder on a read-only file system works if it contains the program already.
	cd "$BATS_TEST_TMPDIR"
	distinit -- install dir
	in_mounts 'mount --bind dir dir; mount -o remount,bind,ro dir; "$DISTINIT" install dir'
	succeeds_with ''
}

@test "install: runs no other program, and needs only /proc" {
	requires strace
	in_mounts 'mount -t tmpfs none dir; cd dir; mkdir proc tools; cp "$DISTINIT" program; mount -t proc none proc
		chroot . /program install /tools; cmp program tools/distinit; stat -c %a tools/distinit; ls -A tools'
	succeeds_with $'555\ndistinit'
	injecting -- install dir
	[ "$status" -eq 0 ]
	[ "$(grep -cE 'execve|fork|clone' trace)" -eq 1 ]
}

@test "install: where there are no locks, the file's name is of random bytes that nothing else uses" {
	local bytes
	injecting flock:error=ENOLCK -- install dir
	[ "$status" -eq 0 ]
	is_whole dir
	cat trace
	bytes=$(sed -nE 's/.*getrandom\("((\\x[0-9a-f]{2}){4})", 4, GRND_NONBLOCK\) += 4/\1/p' trace)
	bytes=${bytes//\\x/}
	[ "${#bytes}" -eq 8 ]
	grep -F ".distinit.new.${bytes:6:2}${bytes:4:2}${bytes:2:2}${bytes:0:2}" trace
	rm -rf dir/*
	injecting flock:error=ENOLCK getrandom:error=EAGAIN -- install dir
	[ "$status" -eq 0 ]
	is_whole dir
}

@test "install: without /proc, an error says what to do" {
	in_mounts 'mount -t tmpfs none dir; cd dir; mkdir tools; cp "$DISTINIT" program; chroot . /program install /tools'
	refuses_with 'this program cannot read itself from /proc/self/exe: No such file or directory; mount /proc, or copy the file when the image is built'
}

@test "install: a wrong command line" {
	distinit -- install
	refuses_with 'install needs the folder to copy to: distinit install DIR'
	distinit -- install ''
	refuses_with 'install needs the folder to copy to: distinit install DIR'
	distinit -- install a b
	refuses_with "install takes one folder, not also 'b'; put options first"
	distinit -- install --force dir
	fails_like 125 "unknown option '--force'*"
}

@test "install: the target is not a folder" {
	distinit -- install none
	refuses_with "the folder 'none' cannot be opened: No such file or directory; create it first, or mount a volume there"
	echo x >file
	distinit -- install file
	refuses_with "the folder 'file' cannot be opened: Not a directory; expected a folder, into which this program is copied as distinit"
	distinit -- install "$DISTINIT"
	fails_like 125 '*Not a directory*'
}

@test "install: a folder with the name of the program" {
	mkdir dir/distinit
	distinit -- install dir
	refuses_with "distinit cannot be written in 'dir': Is a directory; a folder with that name exists"
	[ "$(ls -A dir)" = distinit ]
}

@test "install: a read-only folder" {
	in_mounts 'mount --bind dir dir; mount -o remount,bind,ro dir; "$DISTINIT" install dir'
	refuses_with "distinit cannot be written in 'dir': Read-only file system"
	[ -z "$(ls -A dir)" ]
}

@test "install: a folder without write permission" {
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/program"
	mkdir "$OPEN_FOLDER/tools"
	[[ $EUID -eq 0 ]] || chmod 555 "$OPEN_FOLDER/tools"
	invoke as_nobody env -i "$OPEN_FOLDER/program" install "$OPEN_FOLDER/tools"
	refuses_with "distinit cannot be written in '$OPEN_FOLDER/tools': Permission denied"
}

@test "install: a folder that is mounted noexec gets a warning, each time" {
	in_mounts 'mount -t tmpfs -o noexec none dir; "$DISTINIT" install dir; "$DISTINIT" install dir; ls -A dir'
	[ "$output" = distinit ]
	warns_with "programs in 'dir' cannot be run, because it is mounted noexec; mount it without noexec where they are used" \
		"programs in 'dir' cannot be run, because it is mounted noexec; mount it without noexec where they are used"
}

@test "install: a full disk is an error, and the old file stays complete" {
	in_mounts 'mount -t tmpfs -o size=64k none dir; "$DISTINIT" install dir || echo "status $?"; ls -A dir'
	[ "$output" = 'status 125' ]
	[ "$stderr" = "distinit: error: distinit cannot be written in 'dir': No space left on device" ]
	in_mounts 'mount -t tmpfs -o size=64k none dir; echo old >dir/distinit; "$DISTINIT" install dir || echo "status $?"
		ls -A dir; cat dir/distinit'
	[ "$output" = $'status 125\ndistinit\nold' ]
}

@test "install: an interrupted call is made again" {
	injecting read:error=EINTR:when=2 write:error=EINTR:when=1 fsync:error=EINVAL -- install dir
	succeeds_with ''
	is_whole dir
	[[ $(grep -c INJECTED trace) == 3 ]]
}

@test "install: a disk that becomes full in the middle, or only at the end" {
	local call
	for call in write fsync fchmod; do
		echo old >dir/distinit
		injecting "$call:error=ENOSPC:when=1" -- install dir
		refuses_with "distinit cannot be written in 'dir': No space left on device"
		[[ $(ls -A dir) == distinit && $(cat dir/distinit) == old ]]
	done
}

# killed_anywhere OLD RULE...: kill it at each system call in turn, with the old file OLD, unless
# that is empty. Each time the folder must contain the old file or the complete new one, and the
# next run completes it and removes leftovers. Counts in $leftovers how often there were any.
killed_anywhere() {
	local call number old=$1
	shift
	local -A seen=()
	[[ -z $old ]] || echo "$old" >dir/distinit
	injecting "$@" -- install dir
	[ "$status" -eq 0 ] || return
	leftovers=0
	while read -r call; do
		number=$((${seen[$call]-0} + 1))
		seen[$call]=$number
		# If the caller has a rule for a call, it is the only one for it.
		[[ $call != execve && $* != *"$call:"* ]] || continue
		rm -f dir/distinit
		[[ -z $old ]] || echo "$old" >dir/distinit
		echo "at $call, the ${number}th"
		injecting "$@" "$call:signal=KILL:when=$number" -- install dir
		[ "$status" -eq 137 ] || return
		if [[ -e dir/distinit || -n $old ]]; then
			[[ $(head -c 4 dir/distinit | tr -d '\0') == "$old" ]] || cmp "$DISTINIT" dir/distinit || return
		fi
		[[ ! -e dir/.distinit.new ]] || leftovers=$((leftovers + 1))
		distinit -- install dir
		[ "$status" -eq 0 ] || return
		is_whole dir || return
	done < <(sed -nE 's/^([a-z0-9_]+)\(.*/\1/p' trace | sed '/^exit/d')
	echo "killed ${#seen[@]} kinds of calls, with $leftovers leftovers"
	[[ -n ${seen[fsync]-} ]]
}

@test "install: killed anywhere, it leaves nothing or the complete file, and the next run cleans up" {
	killed_anywhere ''
	[ "$leftovers" -gt 0 ]
}

@test "install: killed anywhere during a replacement, it leaves the old or the complete new file, and the next run cleans up" {
	killed_anywhere old
	[ "$leftovers" -gt 0 ]
}

# --- other processes in the folder ----------------------------------------------------------------

@test "install: a folder or file of another user with the temporary name does no harm" {
	mkdir dir/.distinit.new
	distinit -- install dir
	succeeds_with ''
	[[ $(ls -A dir) == $'.distinit.new\ndistinit' ]]
	cmp "$DISTINIT" dir/distinit
	[[ $EUID -eq 0 ]] || skip 'no other user is to be had'
	open_folder
	chmod 1777 "$OPEN_FOLDER"
	echo theirs >"$OPEN_FOLDER/.distinit.new"
	cp "$DISTINIT" program && chmod 755 . program
	cp program "$OPEN_FOLDER/program"
	invoke as_nobody env -i "$OPEN_FOLDER/program" install "$OPEN_FOLDER"
	succeeds_with ''
	cmp program "$OPEN_FOLDER/distinit"
	[ "$(cat "$OPEN_FOLDER/.distinit.new")" = theirs ]
	[ "$(ls -A "$OPEN_FOLDER")" = $'.distinit.new\ndistinit\nprogram' ]
}

@test "install: a lock that another process holds only delays it" {
	flock dir sleep 1000 3>&- &
	local pid=$!
	until ! flock -n dir true; do nap 0.01; done
	invoke env -i timeout 30 "$DISTINIT" install dir
	kill "$pid"
	pkill -P "$pid" || true
	succeeds_with ''
	is_whole dir
}

@test "install: an identical copy of another user is replaced, in a sticky folder and in any other" {
	[[ $EUID -eq 0 ]] || skip 'no other user is to be had'
	open_folder
	chmod 1777 "$OPEN_FOLDER"
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	chmod 555 "$OPEN_FOLDER/distinit"
	chown 1234 "$OPEN_FOLDER/distinit"
	distinit -- install "$OPEN_FOLDER"
	succeeds_with ''
	[ "$(stat -c %u "$OPEN_FOLDER/distinit")" = 0 ]
	# A user who may not replace it gets an error.
	chown 1234 "$OPEN_FOLDER/distinit"
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" install "$OPEN_FOLDER"
	refuses_with "distinit cannot be written in '$OPEN_FOLDER': Operation not permitted; does the existing file belong to another user?"
	[ "$(ls -A "$OPEN_FOLDER")" = distinit ]
	# A copy of root is trusted.
	chown 0 "$OPEN_FOLDER/distinit"
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" install "$OPEN_FOLDER"
	succeeds_with ''
	local mode
	for mode in 755 777; do
		chmod "$mode" "$OPEN_FOLDER"
		chown 1234 "$OPEN_FOLDER/distinit"
		distinit -- install --log=info "$OPEN_FOLDER"
		[[ $stderr == *' is written' ]]
		[ "$(stat -c %u "$OPEN_FOLDER/distinit")" = 0 ]
	done
}

@test "install: the file can be started as soon as it exists" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	# Stopped at that moment: no process may still have it open for writing.
	env -i strace -o trace -e inject=renameat:delay_exit=2s "$DISTINIT" install dir 3>&- &
	local pid=$!
	until [[ -e dir/distinit ]]; do
		kill -0 "$pid"
		nap 0.01
	done
	invoke dir/distinit --version
	[ "$status" -eq 0 ]
	wait "$pid"
}

@test "install: a second run waits until the first ends" {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
	echo old >dir/distinit
	# Stopped between its last two steps, where the other could take its file for a leftover.
	env -i strace -o trace -e inject=renameat:delay_enter=2s "$DISTINIT" install dir 3>&- &
	local pid=$!
	until [[ -e dir/.distinit.new ]]; do
		kill -0 "$pid"
		nap 0.01
	done
	distinit -- install -v dir
	[ "$status" -eq 0 ]
	[ "$stderr" = 'distinit: info: dir/distinit is up to date' ]
	wait "$pid"
	is_whole dir
}

@test "install: many simultaneous runs leave one complete file" {
	local old pid
	for old in '' old; do
		rm -f dir/distinit
		[[ -z $old ]] || echo "$old" >dir/distinit
		local -a pids=()
		for pid in {1..10}; do
			env -i "$DISTINIT" install dir 3>&- &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid"
		done
		is_whole dir
	done
}
