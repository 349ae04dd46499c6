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
	debian_archives() {
		printf 'file:%s bookworm\n' "$PWD/empty" "$PWD/archive"
	}
	POOL=archive/pool/main/libc/libcap2
	mkdir -p "$POOL" subprojects/packagecache
	echo "the right tarball" >libcap2_1.orig.tar.xz
	echo "another tarball" >other
	wrap libcap libcap2_1.orig.tar.xz libcap2_1.orig.tar.xz
}

sha256() {
	sha256sum "$1" | cut -d ' ' -f 1
}

# wrap NAME TARBALL FILE: it wants a TARBALL like FILE, which upstream does not have.
wrap() {
	printf '%s\n' '[wrap-file]' "source_url = file:$PWD/nowhere/$2" "source_filename = $2" \
		"source_hash = $(sha256 "$3")" >"subprojects/$1.wrap"
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

@test "sources: an archive that lacks the tarball is no obstacle" {
	begin
	cp libcap2_1.orig.tar.xz "$POOL/"
	fetch
	[ "$status" -eq 0 ]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz
	# And it is kept for other clones.
	cmp libcap2_1.orig.tar.xz home/.cache/distinit/libcap2_1.orig.tar.xz
}

@test "sources: another file of that name is refused" {
	begin
	cp other "$POOL/libcap2_1.orig.tar.xz"
	fetch
	[ "$status" -eq 1 ]
	[ ! -e subprojects/packagecache/libcap2_1.orig.tar.xz ]
}

@test "sources: a package's folder in the pool begins with its first letter" {
	begin
	mkdir -p archive/pool/main/c/cjson
	cp other archive/pool/main/c/cjson/cjson_1.orig.tar.gz
	wrap cjson cjson_1.orig.tar.gz other
	run fetch_source cjson subprojects/packagecache/cjson_1.orig.tar.gz log
	[ "$status" -eq 0 ]
	cmp other subprojects/packagecache/cjson_1.orig.tar.gz
}

@test "sources: apt's sources are read in both formats, without package lists" {
	mkdir -p etc/sources.list.d etc/apt.conf.d
	echo "deb [trusted=yes] file:$PWD/one/debian bookworm main" >etc/sources.list
	printf '%s\n' 'Types: deb' "URIs: file:$PWD/two/debian" 'Suites: trixie trixie-updates' 'Components: main' \
		>etc/sources.list.d/debian.sources
	export APT_CONFIG=$PWD/apt.conf
	echo "Dir::Etc \"$PWD/etc\";" >"$APT_CONFIG"
	run bash -c 'source "$1/tools/common.bash"; source "$1/tools/sources.bash"; debian_archives' test "$TREE"
	[ "$output" = "file:$PWD/one/debian bookworm
file:$PWD/two/debian trixie
file:$PWD/two/debian trixie-updates" ]
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
	cp libcap2_1.orig.tar.xz "$POOL/"
	fetch
	[ "$status" -eq 0 ]
	cmp libcap2_1.orig.tar.xz subprojects/packagecache/libcap2_1.orig.tar.xz
}

@test "sources: without a home nothing is kept, and nothing is missed" {
	begin
	cp libcap2_1.orig.tar.xz "$POOL/"
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
