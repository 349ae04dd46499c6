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
	cd "$BATS_TEST_TMPDIR" || return
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

# As rattler-build does it: the tree, and the other sources where the recipe wants them. What Meson asks of this machine's BearSSL is
# not found, as in conda-forge.
@test "packagers: the recipe for conda-forge builds the roll call, from the source that it names" {
	python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	local copy=$BATS_TEST_TMPDIR/copy recipe=$TREE/examples/packaging/recipe.yaml name value
	mkdir "$copy"
	(cd "$TREE" && cp --parents -r -t "$copy" LICENSE cmd meson* src subprojects/{packagefiles,*.wrap} tests tools)
	cat >read.py <<-'END'
		import sys, yaml

		recipe = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
		(source,) = [one for one in recipe["source"] if "url" in one]
		print("url", source["url"])
		print("sha256", source["sha256"])
		print("file", source["target_directory"] + "/" + source["file_name"])
		for line in recipe["build"]["script"]:
		    print("script", line)
		for line in recipe["tests"][0]["script"]:
		    print("test", line)
		for line in recipe["about"]["license_file"]:
		    print("licence", line)
	END
	python3 read.py "$recipe" >told
	file=$(sed -n 's/^file //p' told)
	[[ -e $TREE/subprojects/packagecache/${file##*/} ]] || skip "the libraries' tarballs are not there (./dev build)"
	for name in url sha256; do
		grep -qx "source_$([[ $name == url ]] && echo url || echo hash) = $(sed -n "s/^$name //p" told)" "$TREE/subprojects/bearssl.wrap"
	done
	install -D "$TREE/subprojects/packagecache/${file##*/}" "$copy/$file"
	cat >cc <<-'END'
		#!/bin/sh
		for word; do
			[ ! -f "$word" ] || ! grep -qs '<bearssl.h>' "$word" || exit 1
		done
		exec gcc "$@"
	END
	chmod +x cc
	(cd "$copy" && CC=$BATS_TEST_TMPDIR/cc PREFIX=$BATS_TEST_TMPDIR/prefix bash -euc "$(sed -n 's/^script //p' ../told | head -n 1)") >log 2>&1 || { cat log && return 1; }
	grep -q HAVE_ROLL_CALL "$copy/build-conda/build.ninja"
	meson introspect --projectinfo "$copy/build-conda" | grep -q '"name": "bearssl"'
	while read -r value; do
		[[ -s $copy/$value ]]
	done < <(sed -n 's/^licence //p' told)
	# Its tests, with the program that is here.
	ln -s "${DISTINIT:-$TREE/build/distinit}" distinit
	while read -r value; do
		env -i PATH="$PWD:$PATH" sh -euc "$value"
	done < <(sed -n 's/^test //p' told)
}
