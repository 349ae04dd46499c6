#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a distribution's packager does: plain Meson with the system's libraries, and no download.

setup_file() {
	TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	PLAIN=$BATS_FILE_TMPDIR/plain
	export TREE PLAIN
	local name
	for name in libcap libcjson; do
		pkg-config --exists $name || export WHY="pkg-config knows no $name"
	done
	[[ -n ${WHY-} ]] || meson setup "$PLAIN" "$TREE" --prefix=/usr --wrap-mode=nodownload >"$BATS_FILE_TMPDIR/log" 2>&1
}

setup() {
	[[ -z ${WHY-} ]] || skip "$WHY"
}

@test "packagers: 'meson install' has the programs, their manuals and completions, and the licence" {
	cat >"$BATS_TEST_TMPDIR/expected" <<-'END'
		/usr/bin/distinit
		/usr/bin/distrun
		/usr/share/bash-completion/completions/distinit.bash
		/usr/share/bash-completion/completions/distrun.bash
		/usr/share/fish/vendor_completions.d/distinit.fish
		/usr/share/fish/vendor_completions.d/distrun.fish
		/usr/share/licenses/distinit/LICENSE
		/usr/share/man/man1/distinit.1
		/usr/share/man/man1/distrun.1
		/usr/share/zsh/site-functions/_distinit
		/usr/share/zsh/site-functions/_distrun
	END
	meson introspect --installed "$PLAIN" | python3 -c 'import json, sys; print(*sorted(json.load(sys.stdin).values()), sep="\n")' |
		diff "$BATS_TEST_TMPDIR/expected" -
}

@test "packagers: a flag of theirs is the only package note of the program" {
	! grep -q package-metadata "$PLAIN/build.ninja" || return 1
}
