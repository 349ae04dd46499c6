# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev faults, mutants, privileges, rights, soak, undone: how well the tests would notice. tests/README.md tells what each does.

readonly PKGS_FAULTS="$PKGS_BUILD python3 util-linux iproute2"

word_faults() {
	need "$PKGS_FAULTS"
	build_static
	hand_over tests/nets/faults/faults.py build/distinit build/distrun "$@"
}

word_privileges() {
	need "$PKGS_FAULTS"
	build_static
	hand_over tests/nets/privileges/privileges.py build/distinit "$@"
}

word_rights() {
	need "$PKGS_FAULTS"
	build_static
	hand_over tests/nets/privileges/rights.py build/distinit "$@"
}

word_mutants() {
	need "$PKGS_FAULTS $PKGS_TEST"
	fetch_sources
	hand_over tests/nets/mutants/mutants.py "$@"
}

readonly PKGS_SOAK="$PKGS_FAULTS slurmctld slurmd slurmdbd slurm-client mariadb-server munge"

word_soak() {
	need "$PKGS_SOAK"
	build_static
	compile build tests/crowd
	hand_over tests/nets/soak/soak.py build/distinit build/distrun build/tests/crowd "$@"
}

word_undone() {
	need "$PKGS_FAULTS rsync patch"
	fetch_sources
	hand_over tests/nets/undone/undone "$@"
}
