#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ./dev release without its builds: what is packed, and that it is always the same.

# shellcheck disable=SC2016 # for other shells

setup_file() {
	TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	: "${DISTINIT:=$TREE/build/distinit}" "${DISTRUN:=$TREE/build/distrun}" "${CORE:=$TREE/build/distinit-core}"
	ARCH=$(dpkg --print-architecture 2>/dev/null) || ARCH=
	WHY=
	[[ -n $ARCH ]] || WHY="this is no Debian"
	[[ -e $TREE/subprojects/packagecache ]] || WHY="the libraries' tarballs are not there (./dev build)"
	command -v rpmbuild >/dev/null || WHY="rpmbuild is not installed"
	export TREE DISTINIT DISTRUN CORE ARCH WHY
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
	cp --no-preserve=mode "$CORE" "$1/build/distinit-core"
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
		for name in common sources cross release deb rpm; do source "tools/$name.bash"; done
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
	cmp distinit-core "$CORE"
	[ "$(find . -maxdepth 2 -type f ! -path './docs/*' ! -path './examples/*' -printf '%P\n' | LC_ALL=C sort | tr '\n' ' ')" = 'CHANGELOG.md LICENSE README.md SECURITY.md THIRD-PARTY-LICENSES completions/_distinit completions/_distrun completions/distinit.bash completions/distinit.fish completions/distrun.bash completions/distrun.fish distinit distinit-core distinit.1 distrun distrun.1 ' ]
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
