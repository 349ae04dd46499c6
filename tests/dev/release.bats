#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ./dev release without its builds: what is packed, and that it is always the same; the completions in real shells.

# shellcheck disable=SC2016 # for other shells

setup_file() {
	TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	: "${DISTINIT:=$TREE/build/distinit}" "${DISTRUN:=$TREE/build/distrun}"
	ARCH=$(dpkg --print-architecture 2>/dev/null) || ARCH=
	WHY=
	[[ -n $ARCH ]] || WHY="this is no Debian"
	[[ -e $TREE/subprojects/packagecache ]] || WHY="the libraries' tarballs are not there (./dev build)"
	command -v rpmbuild >/dev/null || WHY="rpmbuild is not installed"
	export TREE DISTINIT DISTRUN ARCH WHY
	[[ -n $WHY ]] || packed "$BATS_FILE_TMPDIR/one"
}

setup() {
	[[ -z $WHY ]] || skip "$WHY"
	ONE=$BATS_FILE_TMPDIR/one
	cd "$BATS_TEST_TMPDIR" || return
}

# packed FOLDER [VERSION [URL]]: pack a copy of the tree there, as ./dev release does for one processor, into FOLDER/out.
packed() {
	local name
	mkdir -p "$1/build" "$1/out"
	cp --no-preserve=mode "$DISTINIT" "$1/build/distinit"
	cp --no-preserve=mode "$DISTRUN" "$1/build/distrun"
	chmod +x "$1"/build/*
	(
		cd "$TREE" || return
		cp --parents -r LICENSE {README,CHANGELOG,SECURITY}.md docs examples python meson.build cmd/*/*.1 tools subprojects/*.wrap \
			subprojects/packagefiles subprojects/packagecache "$1/"
	)
	[[ -z ${2-} ]] || sed -i "s/^\tversion: .*/\tversion: '$2',/" "$1/meson.build"
	[[ -z ${3+given} ]] || sed -i "s|^readonly RELEASE_URL=.*|readonly RELEASE_URL='$3'|" "$1/tools/release.bash"
	in_copy "$1" 'release_one "$ARCH" build out'
}

# in_copy FOLDER SCRIPT: with the functions of ./dev.
in_copy() {
	(cd "$1" && SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME="Some Body" DEBEMAIL=body@debian.org bash -euc 'ROOT=$PWD
		for name in common sources release deb rpm; do source "tools/$name.bash"; done
		mkdir -p "$LOGS"
		'"$2")
}

missing() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

@test "release: the same files in another folder, with a space in its path, at another time, with another umask, zone and locale" {
	(
		umask 077
		TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 HOME=/nowhere packed "$BATS_TEST_TMPDIR/a/much longer/path"
	)
	[ "$(find "$ONE/out" -type f | wc -l)" -eq 5 ]
	diff -r "$ONE/out" "a/much longer/path/out"
	# And where the files are older than the commit.
	find a -exec touch --date=2001-02-03 {} +
	rm "a/much longer/path"/out/*
	in_copy "a/much longer/path" 'release_one "$ARCH" build out'
	diff -r "$ONE/out" "a/much longer/path/out"
}

@test "release: the tarball has the programs, manuals, completions and the licences" {
	tar -xzf "$ONE"/out/*.tar.gz
	cd distinit-*-linux-"$ARCH"
	cmp distinit "$DISTINIT"
	cmp distrun "$DISTRUN"
	[ "$(find . -maxdepth 2 -type f ! -path './docs/*' ! -path './examples/*' -printf '%P\n' | LC_ALL=C sort | tr '\n' ' ')" = 'CHANGELOG.md LICENSE README.md SECURITY.md THIRD-PARTY-LICENSES completions/_distinit completions/_distrun completions/distinit.bash completions/distinit.fish completions/distrun.bash completions/distrun.fish distinit distinit.1 distrun distrun.1 ' ]
	[ "$(tar -tvzf "$ONE"/out/*.tar.gz | awk '{ print $2, $4 }' | sort -u)" = '0/0 2023-11-14' ]
}

@test "release: the pages for users are in the tarball and in both packages, and their links lead to files in them" {
	local doc
	missing cpio
	mkdir tar deb rpm
	tar -C tar -xzf "$ONE"/out/*.tar.gz
	dpkg-deb --extract "$ONE"/out/*.deb deb
	(cd rpm && rpm2cpio "$ONE"/out/*.rpm | cpio --quiet -idm)
	# base-files has it, on each Debian.
	install -D /dev/null deb/usr/share/common-licenses/Apache-2.0
	for doc in tar/distinit-* {deb,rpm}/usr/share/doc/distinit; do
		"$TREE/tests/docs/links" "$doc"
		[ "$(cd "$TREE" && tree_files docs examples python)" = "$(cd "$doc" && find docs examples python -type f | LC_ALL=C sort)" ]
		[[ -s $doc/README.md && -s $doc/SECURITY.md ]]
		cmp "$doc/examples/README.md" "$TREE/examples/README.md"
	done
	# The check can fail.
	rm "$doc/docs/pid1.md"
	run "$TREE/tests/docs/links" "$doc"
	[[ $status -eq 1 && $output == *'README.md: docs/pid1.md: there is no such file'* ]]
}

# tree_files FOLDER...: the files of the tree below them.
tree_files() {
	find "$@" -type f ! -path '*/__pycache__/*' | LC_ALL=C sort
}

@test "release: the licences of all libraries are in each package" {
	missing cpio
	local licences=$ONE/build-deps/release/$ARCH/THIRD-PARTY-LICENSES name
	for name in 'Rich Felker' 'Dave Gamble' 'Thomas Pornin' '2. Redistributions in binary form must reproduce'; do
		grep -qF "$name" "$licences"
	done
	! grep "GENERAL PUBLIC LICENSE" "$licences" || return 1
	tar -xOzf "$ONE"/out/*.tar.gz --wildcards '*/THIRD-PARTY-LICENSES' | cmp - "$licences"
	dpkg-deb --fsys-tarfile "$ONE"/out/*.deb | tar -xO ./usr/share/doc/distinit/copyright | tail -n "$(wc -l <"$licences")" | cmp - "$licences"
	rpm2cpio "$ONE"/out/*.rpm | cpio --quiet -i --to-stdout ./usr/share/licenses/distinit/THIRD-PARTY-LICENSES | cmp - "$licences"
}

# older: sets OLDER, a release of 0.0.9 that the tests of this file share.
older() {
	OLDER=$BATS_FILE_TMPDIR/older
	[[ -e $OLDER ]] || packed "$OLDER" 0.0.9
}

@test "release: the Debian package installs into an empty root, upgrades, and is purged without a trace" {
	[[ $EUID -eq 0 ]] || skip 'only root can install'
	older
	mkdir -p root/var/lib/dpkg/{info,updates} root/var/log
	touch root/var/lib/dpkg/{status,available}
	local -a dpkg=(dpkg --root="$PWD/root" --force-not-root --log=/dev/null)
	"${dpkg[@]}" --install "$OLDER"/out/*.deb
	"${dpkg[@]}" --install "$ONE"/out/*.deb
	[[ $(dpkg-query --admindir=root/var/lib/dpkg --show --showformat='${Version}' distinit) == "$(version)-1" ]]
	cmp root/usr/bin/distinit "$DISTINIT"
	[[ $(stat -c '%a %u:%g' root/usr/bin/distinit) == '755 0:0' ]]
	(cd root && md5sum --check --quiet var/lib/dpkg/info/distinit.md5sums)
	"${dpkg[@]}" --install "$ONE"/out/*.deb
	"${dpkg[@]}" --purge distinit
	[ -z "$(find root/usr -type f)" ]
}

version() {
	sed -n "s/^\tversion: '\(.*\)',/\1/p" "$TREE/meson.build"
}

@test "release: the RPM package installs into an empty root, upgrades, and is erased without a trace" {
	[[ $EUID -eq 0 ]] || skip 'only root can install'
	older
	mkdir root
	local -a rpm=(rpm --root "$PWD/root" --dbpath /var/lib/rpm)
	"${rpm[@]}" --install "$OLDER"/out/*.rpm
	"${rpm[@]}" --upgrade "$ONE"/out/*.rpm
	[[ $("${rpm[@]}" --query distinit) == "distinit-$(version)-1.$(uname -m)" ]]
	cmp root/usr/bin/distinit "$DISTINIT"
	"${rpm[@]}" --verify distinit
	[[ $("${rpm[@]}" --query --requires distinit | grep -v '^rpmlib(') == '' ]]
	"${rpm[@]}" --erase distinit
	[ -z "$(find root/usr -type f)" ]
}

@test "release: the SBOM follows SPDX 2.3, and names each library with its version, hash and licence" {
	local sbom name
	sbom=$(echo "$ONE"/out/*.spdx.json)
	"$TREE/tests/programs/check-spdx" "$sbom"
	cat >expected <<-END
		distinit $(version) Apache-2.0 $(sha256sum <"$(echo "$ONE"/out/*.tar.gz)" | cut -c 1-64)
		musl $(dpkg-query -W -f '${Version}' musl-dev) MIT $(sha256sum <"/usr/lib/$(uname -m)-linux-musl/libc.a" | cut -c 1-64)
		bearssl 0.6 MIT $(sha256sum <"$(echo "$TREE"/subprojects/packagecache/bearssl*)" | cut -c 1-64)
		cjson 1.7.19 MIT $(sha256sum <"$TREE/subprojects/packagecache/cjson_1.7.19.orig.tar.gz" | cut -c 1-64)
		libcap 2.78 BSD-3-Clause $(sha256sum <"$TREE/subprojects/packagecache/libcap2_2.78.orig.tar.xz" | cut -c 1-64)
	END
	python3 - "$sbom" >found <<-'PYTHON'
		import json, sys
		for p in json.load(open(sys.argv[1]))["packages"]:
		    print(p["name"], p["versionInfo"], p["licenseConcluded"], p["checksums"][0]["checksumValue"])
	PYTHON
	diff expected found
	# The check can fail.
	sed 's/"SPDX-2.3"/"SPDX-9"/' "$sbom" >other
	run "$TREE/tests/programs/check-spdx" other
	[[ $status -eq 1 && $output == "6: spdxVersion is 'SPDX-9'" ]]
}

# The archive's own checks: names, hashes and sizes in RECORD, and what an index asks of the metadata.
@test "release: the wheel is whole: 'wheel unpack' and 'twine check' say so, and its tags are those of its name" {
	local wheel cpu name
	wheel=$(echo "$ONE"/out/*.whl)
	cpu=$(uname -m)
	name=distinit-$(version)
	[ "${wheel##*/}" = "$name-py3-none-manylinux_2_17_$cpu.manylinux2014_$cpu.musllinux_1_1_$cpu.whl" ]
	missing twine
	twine check --strict "$wheel"
	# Debian's python3 has it.
	/usr/bin/python3 -c 'import wheel' || skip "python3-wheel is not installed"
	/usr/bin/python3 -m wheel unpack --dest unpacked "$wheel"
	cd "unpacked/$name"
	same_lines "$(find . -type f -printf '%P\n' | LC_ALL=C sort)" "$(printf '%s\n' \
		"$name.data/data/share/"{bash-completion/completions/distinit,fish/vendor_completions.d/distinit.fish,man/man1/distinit.1,zsh/site-functions/_distinit} \
		"$name.data/scripts/distinit" "$name.dist-info/"{LICENSE,METADATA,RECORD,THIRD-PARTY-LICENSES,WHEEL} \
		distinit/{__init__.py,__main__.py,environment.py,py.typed})"
	grep -x 'Author: the distinit maintainers' "$name.dist-info/METADATA"
	[ "$(sed -n 's/^Tag: //p' "$name.dist-info/WHEEL" | tr '\n' ' ')" = \
		"py3-none-manylinux_2_17_$cpu py3-none-manylinux2014_$cpu py3-none-musllinux_1_1_$cpu " ]
	[ "$(python3 -m zipfile --list "$wheel" | grep -c ' 2023-11-14 22:13:20 ')" -eq 14 ]
	# The check can fail.
	cd ../..
	python3 -m zipfile --extract "$wheel" broken
	echo x >>broken/distinit/__init__.py
	(cd broken && python3 -m zipfile --create "../${wheel##*/}" ./*)
	run /usr/bin/python3 -m wheel unpack --dest again "${wheel##*/}"
	[[ $status -ne 0 && $output == *"distinit/__init__.py"* ]]
}

# same_lines FOUND EXPECTED
same_lines() {
	diff <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

@test "release: pip installs the wheel without a network: the program is on PATH, with a module of the same version; and removes it" {
	python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3-venv is not installed"
	python3 -m venv venv
	find venv -type f -not -name '*.pyc' | LC_ALL=C sort >before
	venv/bin/pip install --no-index --quiet --disable-pip-version-check "$ONE"/out/*.whl
	venv/bin/pip check
	cmp venv/bin/distinit "$DISTINIT"
	[ "$(stat -c %a venv/bin/distinit)" = 755 ]
	PATH=$PWD/venv/bin:$PATH
	[ "$(distinit --hosts=n1,n2 --node-rank=1 -- sh -c 'echo $MASTER_ADDR')" = n1 ]
	[ "$(distinit --version)" = "distinit $(version)" ]
	[ "$(python -c 'import distinit.environment, importlib.metadata as m; print(m.version("distinit"))')" = "$(version)" ]
	[ "$(python -c 'import distinit; print(distinit.__version__)')" = "$(version)" ]
	[ "$(python -m distinit --version)" = "distinit $(version)" ]
	[[ -s venv/share/man/man1/distinit.1 && -s venv/share/bash-completion/completions/distinit ]]
	# In one that is not activated; and into a folder.
	[ "$(PATH=/usr/bin:/bin venv/bin/python -c 'import distinit, subprocess; print(subprocess.run([distinit.path(), "--version"], stdout=-1, text=True).stdout, end="")')" = "distinit $(version)" ]
	pip install --no-index --quiet --disable-pip-version-check --target=there "$ONE"/out/*.whl
	[ "$(PYTHONPATH=there /usr/bin/python3 -c 'import distinit; print(distinit.path())')" = "$PWD/there/bin/distinit" ]
	# One for another processor is not for this machine.
	local other=aarch64 wheel
	[[ $(uname -m) == x86_64 ]] || other=x86_64
	wheel=$(echo "$ONE"/out/*.whl)
	wheel=${wheel##*/}
	cp "$ONE/out/$wheel" "${wheel//$(uname -m)/$other}"
	run pip install --no-index --disable-pip-version-check --force-reinstall "./${wheel//$(uname -m)/$other}"
	[[ $status -eq 1 && $output == *'not a supported wheel on this platform'* ]]
	pip uninstall --yes --quiet distinit
	find venv -type f -not -name '*.pyc' | LC_ALL=C sort | diff before -
}

# homes FOLDER: the home page, as each file of a release in FOLDER names it.
homes() {
	dpkg-deb --show --showformat="\${Homepage}\n" "$1"/*.deb
	rpm --query --queryformat '%{URL}\n' --package "$1"/*.rpm
	python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(next(z.read(n).decode() for n in z.namelist() if n.endswith("METADATA")))' "$1"/*.whl | sed -n 's/^Home-page: //p'
	python3 -c 'import json, sys; print([p.get("homepage") for p in json.load(open(sys.argv[1]))["packages"]])' "$1"/*.spdx.json
}

@test "release: packages, wheel and SBOM name the home page, if RELEASE_URL has one" {
	packed "$PWD/homed" "$(version)" https://distinit.example/a~b
	[ "$(homes homed/out)" = $'https://distinit.example/a~b\nhttps://distinit.example/a~b\nhttps://distinit.example/a~b\n'"['https://distinit.example/a~b', None, None, None, None]" ]
	"$TREE/tests/programs/check-spdx" homed/out/*.spdx.json
	packed "$PWD/homeless" "$(version)" ''
	[ "$(homes homeless/out)" = $'\n(none)\n[None, None, None, None, None]' ]
	local url
	in_copy homed "release_check_url ''; release_check_url https://distinit.example/a~b"
	for url in distinit.example 'https://a b' $'https://a\nDepends: b' 'https://a"b'; do
		run in_copy homed "release_check_url '$url'"
		[[ $status -eq 1 && $output == *"RELEASE_URL='$url' in tools/release.bash is no address"* ]]
	done
	# Before anything is built.
	sed -i "s/^readonly RELEASE_URL=.*/readonly RELEASE_URL=x/" homed/tools/release.bash
	run in_copy homed word_release
	[[ $status -eq 1 && $output == *"RELEASE_URL='x'"* ]]
}

# --- the signature ----------------------------------------------------------------------------------

# A key of the maintainers, and one of somebody else.
keys() {
	missing minisign
	minisign -G -f -W -s key -p "$ONE/minisign.pub" >/dev/null
	minisign -G -f -W -s other -p other.pub >/dev/null
	(cd "$ONE/out" && rm -f SHA256SUMS* && sha256sum -- distinit* >SHA256SUMS)
}

@test "release: --key signs SHA256SUMS, and README's two lines verify it" {
	keys
	in_copy "$ONE" "release_sign out '$PWD/key'"
	# The lines are README's (tests/docs/run).
	cat >verify <<-'END'
		minisign -Vm SHA256SUMS -p minisign.pub
		sha256sum --check --ignore-missing SHA256SUMS
	END
	cp "$ONE"/out/* "$ONE/minisign.pub" .
	run bash -e verify
	printf '%s\n' "$output"
	[[ $status -eq 0 && $output == *"Trusted comment: distinit $(version)"* && $output == *'.tar.gz: OK'* ]]
	# The same key gives the same signature.
	in_copy "$ONE" "release_sign out '$PWD/key'"
	cmp SHA256SUMS.minisig "$ONE/out/SHA256SUMS.minisig"
	echo x >>"$(echo distinit*.deb)"
	run bash -e verify
	[ "$status" -ne 0 ]
	sha256sum -- distinit* >SHA256SUMS
	run bash -e verify
	[[ $status -ne 0 && $output != *OK* ]]
}

@test "release: a signature that users could not verify is refused" {
	keys
	run in_copy "$ONE" "release_sign out '$PWD/other'"
	[[ $status -eq 1 && $output == *"minisign.pub is not the public key of --key=$PWD/other"* && ! -e $ONE/out/SHA256SUMS.minisig ]]
	run in_copy "$ONE" "release_check_key '$PWD/nowhere'"
	[[ $status -eq 1 && $output == *"--key=$PWD/nowhere is not there"* ]]
	rm "$ONE/minisign.pub"
	run in_copy "$ONE" "release_check_key '$PWD/key'"
	[[ $status -eq 1 && $output == *'minisign.pub is not there'* ]]
	run in_copy "$ONE" 'word_release --sign'
	[[ $status -eq 1 && $output == *"unknown option '--sign'"* ]]
}


# --- completions ------------------------------------------------------------------------------------

completions() {
	echo "$ONE/build-deps/release/$ARCH/completions"
}

# in_bash WORD...: what bash offers for the last word.
in_bash() {
	bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1" 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' bash \
		"$(completions)/$1.bash" "$@"
}

@test "release: every option of --help and every subcommand is in each completion" {
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
		run bash --norc look "$program" "$(completions)"
		printf '%s\n' "$output"
		[[ $status -eq 0 && -z $output ]]
	done
	# The look can fail.
	mkdir less
	sed 's/ -l map-exit / /' "$(completions)/distinit.fish" >less/distinit.fish
	sed 's/--map-exit[=[]//' "$(completions)/_distinit" >less/_distinit
	sed 's/--map-exit=\?//g' "$(completions)/distinit.bash" >less/distinit.bash
	run bash --norc look "$DISTINIT" "$PWD/less"
	[[ $output == $'bash:  --map-exit\nzsh:  --map-exit\nfish:  --map-exit' ]]
}

@test "release: bash completes subcommands, options, and commands after '--'" {
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
	[ "$(in_bash distinit managers --format=j)" = --format=json ]
	in_bash distinit --user=roo | grep -qx -- --user=root
	[ "$(in_bash distrun where --format=j)" = --format=json ]
	# The programs take what is offered.
	local word
	for word in $(in_bash distinit --for=) $(in_bash distinit --cluster=) $(in_bash distinit --frameworks=) $(in_bash distinit --signal=) $(in_bash distinit --cap-drop=); do
		! "$DISTINIT" --init --wait=1s "$word" -- true 2>&1 | grep -E 'expected|there is no such|is not a signal' || return 1
	done
	for word in env wait explain check; do
		for format in $(in_bash distinit $word --format=); do
			! "$DISTINIT" $word "$format" 2>&1 >/dev/null | grep expected || return 1
		done
	done
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
	in_fish 'distinit --for=d' | grep -qx -- --for=dns
	in_fish 'distinit explain --format=j' | grep -qx -- --format=json
	in_fish 'distinit --cluster=slu' | grep -qx -- --cluster=slurm
	in_fish 'distinit --frameworks=torch,j' | grep -qx -- --frameworks=torch,jax
	in_fish 'distinit --cap-keep=ipc_l' | grep -qx -- --cap-keep=ipc_lock
	[ "$(in_fish 'distinit help exp')" = explain ]
	in_fish 'distinit --user=roo' | grep -qx -- --user=root
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
		distinit --for=dn|--for=dns
		distinit explain --format=js|--format=json
		distinit --cluster=slu|--cluster=slurm
		distinit --frameworks=torch,ja|--frameworks=torch,jax
		distinit --cap-keep=ipc_l|--cap-keep=ipc_lock
		distinit help exp|explain
		distinit --user=roo|--user=root
	TYPED
}

# Each shell on a terminal of its own, with a distinit that says what it was called with.
@test "release: in a terminal, bash, zsh and fish complete what is typed" {
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
		run timeout 90 python3 terminal.py $shell "$(completions)" </dev/null 3>&-
		[[ $status -eq 0 && $output == "$shell completes" ]] || { echo "$output" && return 1; }
	done
}
