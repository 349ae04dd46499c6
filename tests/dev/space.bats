#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The tree in a folder whose name a shell, a compiler or sed would read otherwise: ./dev sets up its builds there.

setup() {
	local name
	for name in musl-gcc meson; do
		command -v "$name" >/dev/null || skip "$name is not installed (./dev build)"
	done
	TREE=$BATS_TEST_DIRNAME/../..
	CPU=$(uname -m)
	cd "$BATS_TEST_TMPDIR" || return
	mkdir 'a b'
}

@test "space: ./dev sets up the static build, and compiles a file of it" {
	[[ -e $TREE/subprojects/packagecache ]] || skip "the libraries' tarballs are not there (./dev build)"
	(cd "$TREE" && cp --parents -r LICENSE cmd cross dev meson* src subprojects/{packagecache,packagefiles,*.wrap} tests tools "$BATS_TEST_TMPDIR/a b/")
	cd 'a b'
	run bash -euc '
		ROOT=$PWD
		for name in common packages sources build cross; do source "tools/$name.bash"; done
		link_kernel_headers "$DEPS/$(dpkg --print-architecture)/kernel-headers" /usr/include "/usr/include/$(gcc -print-multiarch)"
		configure_musl build musl "$(dpkg --print-architecture)"
		compile build src/libbase.a.p/base_base_duration.c.o'
	echo "$output"
	[ "$status" -eq 0 ]
	[ -s build/src/libbase.a.p/base_base_duration.c.o ]
}

# The file that ./dev build --arch=ARCH makes, for this processor: no other compiler or C library is needed.
@test "space: the cross compiler finds musl in a folder with blanks, percents and quotes in its name" {
	local folder="a b/%c&'d"
	mkdir -p "$folder/usr/lib" "$folder/usr/include"
	cp -r "/usr/lib/$CPU-linux-musl" "$folder/usr/lib/"
	cp -r "/usr/include/$CPU-linux-musl" "$folder/usr/include/"
	echo '#define FOUND "found"' >"$folder/usr/include/$CPU-linux-musl/found.h"
	printf '#include <found.h>\n#include <stdio.h>\nint main(void) { puts(FOUND); }\n' >found.c
	# shellcheck source=../../tools/cross.bash
	source "$TREE/tools/cross.bash"
	musl_specs "$CPU" "$PWD/$folder" <"/usr/lib/$CPU-linux-musl/musl-gcc.specs" >there.specs
	gcc -specs="$PWD/there.specs" -static -Werror -o found found.c
	[ "$(./found)" = found ]
}
