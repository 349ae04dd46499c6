# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev sim: plays jobs of the roll call and of --together over a simulated kernel.

readonly PKGS_SIM="$PKGS_BUILD pkg-config libcap-dev libcjson-dev libbearssl-dev python3"

build_sim() {
	need "$PKGS_SIM"
	configure build-sim -Doptimization=2 -Ddebug=true -Danalyze=false --wrap-mode=nofallback
	compile build-sim tests/sim
}

# word_sim [--time=SECONDS] [--seed=N] [--one] [TAPE]... [OPTION OF SIM]...: all cores, unless one job is wanted.
word_sim() {
	local word
	build_sim
	for word; do
		[[ $word != --one && $word == -* ]] || hand_over build-sim/tests/sim "$@"
	done
	hand_over tests/sim/play.py build-sim/tests/sim --cores="$(nproc)" "$@"
}
