# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev faults, mutants, privileges, undone: how well the tests would notice. tests/README.md tells what each does.

readonly PKGS_FAULTS="$PKGS_BUILD python3 util-linux iproute2"

word_faults() {
	need "$PKGS_FAULTS"
	build_static
	hand_over tests/faults/faults.py build/distinit build/distrun "$@"
}

word_privileges() {
	need "$PKGS_FAULTS"
	build_static
	hand_over tests/privileges/privileges.py build/distinit "$@"
}

word_mutants() {
	need "$PKGS_FAULTS $PKGS_TEST"
	fetch_sources
	hand_over tests/mutants/mutants.py "$@"
}

word_undone() {
	need "$PKGS_FAULTS rsync patch"
	fetch_sources
	hand_over tests/undone/undone "$@"
}
