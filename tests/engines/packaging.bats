#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The recipe for Debian in examples/packaging, by Debian's own tools. That for conda-forge is in tests/dev/packagers.bats.

load helpers

# It builds the tree.
export BATS_TEST_TIMEOUT=$((300 * ${PATIENCE:-1}))

setup() {
	local command
	for command in dpkg-buildpackage dh lintian git; do
		[[ -n $(type -P "$command") ]] || skip "$command is not installed"
	done
	dpkg-checkbuilddeps "$TREE/examples/packaging/debian/control" 2>/dev/null || skip "not all that the package needs is installed"
}

@test "packaging: Debian's recipe builds a package of which lintian has nothing to say, with its copyright where Debian looks" {
	local copy=$BATS_TEST_TMPDIR/distinit head
	mkdir "$copy"
	cd "$TREE"
	git -c safe.directory="$TREE" ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
	cp -r examples/packaging/debian "$copy/"
	cd "$copy"
	head=$(sed -nE 's/^#     (.*)$/\1/p' debian/rules)
	[[ $head == dpkg-buildpackage* ]]
	run bash -euc "$head"
	same "the exit status" 0 "$status"
	cd "$BATS_TEST_TMPDIR"
	run lintian --allow-root --fail-on warning --suppress-tags initial-upload-closes-no-bugs distinit_*.deb
	same "the exit status of lintian" 0 "$status"
	dpkg-deb --extract distinit_0*.deb root
	cmp root/usr/share/doc/distinit/copyright "$copy/debian/copyright"
	[[ ! -e root/usr/share/licenses && -s root/usr/share/zsh/vendor-completions/_distinit && -s root/usr/share/man/man1/distinit.1.gz ]]
	root/usr/bin/distinit --hosts=localhost --wait --for=all -- true
	same "the version" "$(dpkg-deb --field distinit_0*.deb Version)" "$(root/usr/bin/distinit --version | cut -d ' ' -f 2)-1"
}
