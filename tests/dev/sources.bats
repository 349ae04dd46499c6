#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tools/sources.bash: from where ./dev takes the tarballs of libraries. The archive is a folder, the apt a real one.
#
# shellcheck disable=SC2034 # for what is sourced

setup() {
	command -v apt-get >/dev/null || skip "apt-get is not installed"
	cd "$BATS_TEST_TMPDIR" || return
	ROOT=$PWD HOME=$PWD/home
	unset XDG_CACHE_HOME
	TREE=$BATS_TEST_DIRNAME/../..
	# shellcheck source=../../tools/common.bash
	source "$TREE/tools/common.bash"
	# shellcheck source=../../tools/sources.bash
	source "$TREE/tools/sources.bash"
	# Instead of the machine's own archives.
	# shellcheck disable=SC2317 # fetch_from_debian calls it
	debian_source_entries() {
		echo "deb-src [trusted=yes] file:$PWD/archive ./" >"$1/debian.list"
	}
	mkdir -p archive subprojects/packagecache
	echo "the right tarball" >libcap2_1.orig.tar.xz
	echo "another tarball" >other
	wrap libcap libcap2_1.orig.tar.xz libcap2_1.orig.tar.xz
	: >archive/Sources
}

sha256() {
	sha256sum "$1" | cut -d ' ' -f 1
}

# wrap NAME TARBALL FILE: it wants a TARBALL like FILE, which upstream does not have.
wrap() {
	printf '%s\n' '[wrap-file]' "source_url = file:$PWD/nowhere/$2" "source_filename = $2" \
		"source_hash = $(sha256 "$3")" >"subprojects/$1.wrap"
}

# lists VERSION FILE: the archive lists a version of libcap2 whose tarball is like FILE. It has it if it is put there.
lists() {
	mkdir -p "archive/$1"
	cat >>archive/Sources <<-END
		Package: libcap2
		Format: 3.0 (quilt)
		Binary: libcap2
		Architecture: any
		Version: $1
		Directory: $1
		Files:
		 $(md5sum "$2" | cut -d ' ' -f 1) $(stat -c %s "$2") libcap2_1.orig.tar.xz
		Checksums-Sha256:
		 $(sha256 "$2") $(stat -c %s "$2") libcap2_1.orig.tar.xz

	END
}

# fetch: libcap's tarball, as ./dev does.
fetch() {
	run fetch_source libcap subprojects/packagecache/libcap2_1.orig.tar.xz log
	cat log
	echo "$output"
}

begin() {
	mkdir -p "$LOGS"
	: >log
}

@test "sources: a version whose tarball the archive lacks is no obstacle, nor one with another tarball" {
	begin
	lists 1-4 libcap2_1.orig.tar.xz # listed only
	lists 1-3 other
	cp other archive/1-3/libcap2_1.orig.tar.xz
	lists 1-2 libcap2_1.orig.tar.xz
	cp libcap2_1.orig.tar.xz archive/1-2/
	fetch
	[ "$status" -eq 0 ]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz
	[ "$(grep '^dev: libcap2' log)" = $'dev: libcap2 1-4\ndev: libcap2 1-2' ]
	# And it is kept for other clones.
	cmp libcap2_1.orig.tar.xz home/.cache/distinit/libcap2_1.orig.tar.xz
}

@test "sources: what this machine has kept is taken, if it is the right file" {
	begin
	mkdir -p home/.cache/distinit
	cp libcap2_1.orig.tar.xz home/.cache/distinit/
	fetch
	[ "$status" -eq 0 ] && [ -z "$output" ]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz

	rm subprojects/packagecache/*
	cp other home/.cache/distinit/libcap2_1.orig.tar.xz
	lists 1-2 libcap2_1.orig.tar.xz
	cp libcap2_1.orig.tar.xz archive/1-2/
	fetch
	[ "$status" -eq 0 ]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz
}

@test "sources: without a home nothing is kept, and nothing is missed" {
	begin
	lists 1-2 libcap2_1.orig.tar.xz
	cp libcap2_1.orig.tar.xz archive/1-2/
	unset HOME
	# Whatever it would be kept as.
	keep_source() { echo "kept as $2"; }
	fetch
	[ "$status" -eq 0 ]
	[[ $output != *"kept as"* ]]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz
}

@test "sources: where nobody has it, it ends at once, and says what can be done by hand" {
	begin
	lists 1-4 libcap2_1.orig.tar.xz
	echo "put here by hand" >subprojects/packagecache/libcap2_1.orig.tar.xz
	SECONDS=0
	fetch
	[ "$status" -eq 1 ]
	((SECONDS < 20))
	[[ $output == *"dev: error: the source of libcap cannot be had, neither from Debian's archive nor from upstream"* ]]
	[[ $output == *"By hand: download file:$PWD/nowhere/libcap2_1.orig.tar.xz"* ]]
	[[ $output == *"put it here as subprojects/packagecache/libcap2_1.orig.tar.xz"* ]]
	[[ $output == *"SHA-256: $(sha256 libcap2_1.orig.tar.xz)"* ]]
	# What was there is left alone.
	[ "$(<subprojects/packagecache/libcap2_1.orig.tar.xz)" = "put here by hand" ]
}

@test "sources: what is installed on the machine does not matter" {
	private_apt "$PWD/apt"
	run apt-config "${PRIVATE_APT[@]}" dump Dir::State::status
	[ "$output" = 'Dir::State::status "/dev/null";' ]
}
