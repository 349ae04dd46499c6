#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# HACKING.md, "Adding a manager": its very steps, in a copy of the tree, make a manager that derives.

setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree
	cd "$BATS_TEST_DIRNAME/../.." || return
	# What is not built or fetched.
	mkdir "$TREE"
	tar -c --exclude=./.git --exclude='./build*' --exclude='./subprojects/[!p]*' . | tar -x -C "$TREE"
	cd "$TREE" || return
	block c >>src/derive/source/rows.c
	sed -i '/^SOURCE(hostfile)/a ROW(acme)' src/derive/source/list.h
	block text >tests/vectors/acme.txt
	block python >>tests/properties/makers_basic.py
	meson setup build-acme --buildtype=plain --optimization=0 >setup.log 2>&1 || { cat setup.log && return 1; }
	ninja -C build-acme distinit >ninja.log 2>&1 || { tail -n 20 ninja.log && return 1; }
}

# block LANGUAGE: that block of HACKING.md's section.
block() {
	awk -v fence="   \`\`\`$1" '
		/^## / { inside = $0 == "## Adding a manager" }
		inside && taking && /^   ```$/ { exit }
		taking { sub(/^   /, ""); print }
		inside && $0 == fence { taking = 1 }' HACKING.md
}

@test "adding: the steps name what they add" {
	cd "$TREE"
	[ "$(grep -c '^ROW(acme)$' src/derive/source/list.h)" -eq 1 ]
	grep -q '^const struct source source_acme = {$' src/derive/source/rows.c
	grep -q '^\[second of two\]$' tests/vectors/acme.txt
	grep -q '^@manager("acme")$' tests/properties/makers_basic.py
}

@test "adding: the manager derives, by its vectors" {
	cd "$TREE"
	run sh tests/vectors/run.sh "$TREE/build-acme/distinit" tests/vectors/acme.txt
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok 1 "* ]]
	[[ $output != *"not ok"* ]]
}

@test "adding: it is listed, and it can be asked for by name" {
	cd "$TREE"
	build-acme/distinit managers | grep -q '^  acme '
	run env -i ACME_NODES=a1,a2 ACME_INDEX=1 build-acme/distinit env --cluster=acme --frameworks=torch
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"MASTER_ADDR='a1'"* ]]
}

@test "adding: the vectors stop the build where they are missing" {
	cd "$TREE"
	mv tests/vectors/acme.txt aside.txt
	run meson setup build-none
	mv aside.txt tests/vectors/acme.txt
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"acme.txt"* ]]
}

@test "adding: its maker is asked for, and holds" {
	cd "$TREE"
	run sh tests/properties/run.sh "$TREE/build-acme/distinit" acme
	echo "$output" | grep acme
	[[ $output == *"ok 1 - manager acme: "* && $output != *"not ok"* ]]
	sed -i '/^@manager("acme")$/,$d' tests/properties/makers_basic.py
	run sh tests/properties/run.sh "$TREE/build-acme/distinit" acme
	echo "$output" | grep acme
	[[ $output == *"not ok"*acme* ]]
}

@test "adding: the tables of the pages and the manual have it, made anew" {
	cd "$TREE"
	tools/docs-tables build-acme/distinit
	# shellcheck disable=SC2016 # the page's own quotes
	grep -q '`acme`' docs/managers.md
	grep -qx '\.It Cm acme' cmd/distinit/distinit.1
	tools/docs-tables --check build-acme/distinit
}
