#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ./dev release without its builds: what is packed, and that it is always the same; the completions in real shells.

# shellcheck disable=SC2016 # for other shells

setup_file() {
	TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	: "${DISTINIT:=$TREE/build/distinit}" "${DISTRUN:=$TREE/build/distrun}"
	export TREE DISTINIT DISTRUN
	packed "$BATS_FILE_TMPDIR/one"
}

setup() {
	ONE=$BATS_FILE_TMPDIR/one
	cd "$BATS_TEST_TMPDIR" || return
}

# packed FOLDER: pack a copy of the tree there, as if for amd64, into FOLDER/out.
packed() {
	local name
	mkdir -p "$1/build" "$1/out"
	cp --no-preserve=mode "$DISTINIT" "$1/build/distinit"
	cp --no-preserve=mode "$DISTRUN" "$1/build/distrun"
	chmod +x "$1"/build/*
	for name in LICENSE README.md CHANGELOG.md meson.build cmd/distinit/distinit.1 cmd/distrun/distrun.1 tools/common.bash \
		tools/release.bash tools/completions; do
		mkdir -p "$1/$(dirname "$name")"
		cp "$TREE/$name" "$1/$name"
	done
	(cd "$1" && SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME="Some Body" DEBEMAIL=body@debian.org bash -euc 'ROOT=$PWD
		source tools/common.bash
		source tools/release.bash
		mkdir -p "$LOGS"
		release_one amd64 build out')
}

missing() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

@test "release: the same files in another folder, at another time, with another umask, zone and locale" {
	(
		umask 077
		TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 HOME=/nowhere packed "$BATS_TEST_TMPDIR/a/much/longer/path"
	)
	[ "$(find "$ONE/out" -type f | wc -l)" -eq 2 ]
	diff -r "$ONE/out" a/much/longer/path/out
	# And where the files are older than the commit.
	find a -exec touch --date=2001-02-03 {} +
	rm a/much/longer/path/out/*
	(cd a/much/longer/path && SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME="Some Body" DEBEMAIL=body@debian.org bash -euc 'ROOT=$PWD
		source tools/common.bash
		source tools/release.bash
		release_one amd64 build out')
	diff -r "$ONE/out" a/much/longer/path/out
}

@test "release: the tarball has the programs, manuals, completions and the licence" {
	tar -xzf "$ONE"/out/*.tar.gz
	cd distinit-*-linux-amd64
	cmp distinit "$DISTINIT"
	cmp distrun "$DISTRUN"
	[ "$(find . -type f -printf '%P\n' | LC_ALL=C sort | tr '\n' ' ')" = 'CHANGELOG.md LICENSE README.md completions/_distinit completions/_distrun completions/distinit.bash completions/distinit.fish completions/distrun.bash completions/distrun.fish distinit distinit.1 distrun distrun.1 ' ]
	[ "$(tar -tvzf "$ONE"/out/*.tar.gz | awk '{ print $2, $4 }' | sort -u)" = '0/0 2023-11-14' ]
}

@test "release: the package installs into an empty root, and is removed without a trace" {
	missing dpkg
	[[ $EUID -eq 0 ]] || skip 'only root can install'
	mkdir -p root/var/lib/dpkg/{info,updates} root/var/log
	touch root/var/lib/dpkg/{status,available}
	local -a dpkg=(dpkg --root="$PWD/root" --force-architecture --force-not-root --log=/dev/null)
	"${dpkg[@]}" --install "$ONE"/out/*.deb
	cmp root/usr/bin/distinit "$DISTINIT"
	[[ $(stat -c '%a %u:%g' root/usr/bin/distinit) == '755 0:0' ]]
	(cd root && md5sum --check --quiet var/lib/dpkg/info/distinit.md5sums)
	"${dpkg[@]}" --install "$ONE"/out/*.deb
	"${dpkg[@]}" --purge distinit
	[ -z "$(find root/usr -type f)" ]
}

@test "release: lintian has nothing to say" {
	missing lintian
	readelf -lW "$DISTINIT" | grep -q INTERP && skip 'that of the static program'
	run lintian --allow-root "$ONE"/out/*.deb
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	if grep -E '^[EW]:' <<<"$output"; then
		return 1
	fi
}

# --- completions ------------------------------------------------------------------------------------

completions() {
	echo "$ONE/build-deps/release/amd64/completions"
}

# in_bash WORD...: what bash offers for the last word.
in_bash() {
	bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1" 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' bash \
		"$(completions)/$1.bash" "$@"
}

@test "release: every option of --help and every subcommand is in each completion" {
	local program sub option
	for program in "$DISTINIT" "$DISTRUN"; do
		for sub in '' $("$program" --help | sed -n '/^Subcommands/,/^$/s/^  \([a-z]*\)  .*/\1/p'); do
			# shellcheck disable=SC2086 # one word or none
			for option in $("$program" $sub --help | sed -nE 's/^  (-.,|   ) --([a-z-]+).*/\2/p'); do
				# shellcheck disable=SC2086
				in_bash "${program##*/}" $sub "--$option" | grep -qxE -- "--$option=?" || { echo "$sub --$option" && return 1; }
				grep -qE -- "--$option(=|\[)" "$(completions)/_${program##*/}"
				grep -qF -- " -l $option " "$(completions)/${program##*/}.fish"
			done
		done
	done
	[ -n "$option" ]
}

@test "release: bash completes subcommands, options, and commands after '--'" {
	[ "$(in_bash distinit exp)" = explain ]
	[ "$(in_bash distinit --clus)" = --cluster= ]
	[ "$(in_bash distinit env --form)" = --format= ]
	[ -z "$(in_bash distinit env --kill-g)" ]
	in_bash distinit --init -- mkdi | grep -qx mkdir
	[ "$(in_bash distrun surr)" = surrogate ]
}

@test "release: fish completes the same" {
	missing fish
	in_fish() {
		HOME=$BATS_TEST_TMPDIR fish --no-config -c "source $(completions)/distinit.fish; complete -C '$1'" | cut -f 1
	}
	[ "$(in_fish 'distinit exp')" = explain ]
	in_fish 'distinit --clus' | grep -qx -- --cluster
	in_fish 'distinit env --form' | grep -qx -- --format
	[ -z "$(in_fish 'distinit env --kill-g')" ]
	in_fish 'distinit --init -- mkdi' | grep -qx mkdir
}

@test "release: zsh completes the same" {
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
		python3 type.py "$(completions)" "$typed" "$expected" >out </dev/null
		grep -qF -- "$expected" out || { echo "$typed: $(<out)" && return 1; }
	done <<-'TYPED'
		distinit exp|explain
		distinit --clus|--cluster=
		distinit env --form|--format=
		distinit --init -- mkdi|mkdir
	TYPED
}
