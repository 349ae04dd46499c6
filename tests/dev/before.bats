#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The list of what runs with root's rights, in docs/privileges.md.

setup() {
	TREE=$BATS_TEST_DIRNAME/../..
	command -v addr2line >/dev/null || skip "addr2line is not installed"
	[[ $(id -u) -eq 0 ]] || skip "it drops root's rights"
}

@test "before the drop: docs/privileges.md lists the files that run with root's rights" {
	cd "$BATS_TEST_TMPDIR"
	meson setup probe "$TREE" >log 2>&1 || skip "not all libraries are installed: $(tail -n 1 log)"
	run "$TREE/tools/before-drop" --check "$BATS_TEST_TMPDIR"
	echo "$output"
	[ "$status" -eq 0 ]
}
