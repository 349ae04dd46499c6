#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tools/outdated: what it says of the wraps. The archive is a folder, the apt a real one.

setup() {
	command -v apt-get >/dev/null || skip "apt-get is not installed"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p tree/tools tree/subprojects archive/dists/sid/main/source
	cp "$BATS_TEST_DIRNAME/../../tools/outdated" tree/tools/
	printf 'source_filename = libone_1.10.orig.tar.xz\n' >tree/subprojects/one.wrap
	printf 'source_filename = two_2.0+dfsg.orig.tar.gz\n' >tree/subprojects/two.wrap
}

# archive PACKAGE=VERSION...: these are the sources of sid.
archive() {
	local one sources=archive/dists/sid/main/source/Sources
	for one; do
		printf 'Package: %s\nBinary: x\nVersion: %s\nDirectory: pool\nFormat: 1.0\nFiles:\n %032d 1 %s.dsc\n\n' "${one%%=*}" "${one#*=}" 0 "$one"
	done >"$sources"
	printf 'Origin: x\nSuite: sid\nCodename: sid\nComponents: main\nDate: Thu, 26 Nov 2026 00:00:00 UTC\nSHA256:\n %s %s main/source/Sources\n' \
		"$(sha256sum <"$sources" | cut -d ' ' -f 1)" "$(stat -c %s "$sources")" >archive/dists/sid/Release
}

outdated() {
	run tree/tools/outdated --archive="file:$PWD/archive"
	echo "$output"
}

@test "outdated: as new as Debian's is fine, and so is newer; of several versions the newest counts" {
	archive libone=1.9-1 libone=1:1.10-2+b1 two=1.9+dfsg-1 another=9
	outdated
	[[ $status -eq 0 && $output == $'one 1.10: sid has 1.10\ntwo 2.0+dfsg: sid has 1.9+dfsg' ]]
}

@test "outdated: a library that is older than Debian's, or that Debian does not have, is a failure" {
	archive libone=1.11-1
	outdated
	[[ $status -eq 1 && $output == $'one 1.10: outdated: sid has 1.11\ntwo 2.0+dfsg: sid has no source package two' ]]
}

@test "outdated: where there is no archive, and where a wrap names no source of Debian's, it says so" {
	rm -r archive
	outdated
	[[ $status -eq 2 && $output == "outdated: the sources of sid in file:$PWD/archive cannot be read: "* ]]
	printf 'source_filename = one.zip\n' >tree/subprojects/one.wrap
	outdated
	[[ $status -eq 2 && $output == "outdated: $PWD/tree/subprojects/one.wrap: source_filename is not NAME_VERSION.orig.tar.*, as Debian's sources are" ]]
}
