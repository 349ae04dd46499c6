# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev test: runs "meson test", and adds up the results.

readonly PKGS_TEST="$PKGS_BUILD pkg-config libcjson-dev libcap-dev libbearssl-dev bats python3 python3-jsonschema python3-yaml mandoc procps util-linux strace iproute2"
readonly PKGS_CONTAINERS="podman runc netavark aardvark-dns iptables catatonit tini dumb-init busybox-static iproute2 docker.io charliecloud-runtime podman-compose python3-yaml"
readonly PKGS_ENGINES="slurmctld slurmd slurmdbd slurm-client mariadb-server munge openmpi-bin mpich gridengine-master gridengine-exec gridengine-client python3-torch python3-xgboost python3-distributed $PKGS_CONTAINERS"

# run_tests DIR OPTION...: run the tests. The tally reports failures, from Meson's log. Failed tests
# run once more, alone, because real engines sometimes time out on a busy machine. The tally names
# those that passed only then.
run_tests() {
	local dir=$1 log=$LOGS/test-${1##*/}.log
	shift
	rm -f "$dir"/meson-logs/{testlog,again}.json
	# More than there are processors: many tests wait most of their time.
	meson test -C "$dir" --num-processes=$((3 * $(nproc))) "$@" >"$log" 2>&1 </dev/null && return
	if [[ ! -f $dir/meson-logs/testlog.json ]]; then
		tail -n 20 "$log" >&2
		return
	fi
	local -a again
	mapfile -t again < <(python3 tools/tally.py --failed "$dir")
	((${#again[@]} > 0 && ${#again[@]} <= 6)) || return 0
	say "failed, and run again, one at a time: ${again[*]}"
	meson test -C "$dir" --logbase=again --num-processes=1 "${again[@]}" >"${log%.log}-again.log" 2>&1 </dev/null ||
		true
}

word_test() {
	local all='' native='' suite
	local -a suites=() strict=()
	while (($#)); do
		case $1 in
		--all) all=yes ;;
		--native) native=yes ;;
		-*) die "test: unknown option '$1'" "./dev test [--all] [--native] [SUITE]..." ;;
		*) suites+=("--suite=$1") ;;
		esac
		shift
	done

	local -a selection=(--no-suite=engines --no-suite=kubernetes)
	[[ -z $all ]] || selection=(--no-suite=kubernetes)
	((${#suites[@]} == 0)) || selection=("${suites[@]}") native=yes
	# Where a test may not be skipped, as no other machine runs it, nor be slow (.ci/run).
	for suite in ${REQUIRE_SUITES-}; do strict+=("--strict=$suite" --times); done

	need "$PKGS_TEST${all:+ $PKGS_ENGINES $PKGS_PACKAGING}"
	build_static
	# In a subshell: if the build fails, for example without a network, its tests are skipped.
	[[ -z $all || $(dpkg --print-architecture) == arm64 ]] || (build_cross arm64 && compile build-arm64 meson-test-prereq) || say "no build for arm64"
	# The same; fuzz/random.sh is skipped then.
	# shellcheck disable=SC2046 # a word each
	[[ -z $all ]] || (build_fuzz $(fuzz_targets)) || say "no build of the fuzz targets"
	local -a builds=(build)
	# Of some suites Meson compiles no more than they need.
	((${#suites[@]})) || compile build meson-test-prereq
	if [[ -z $native ]]; then
		builds+=(build-asan)
		configure build-asan -Db_sanitize=address,undefined -Doptimization=1 -Ddebug=true --wrap-mode=nofallback
		compile build-asan meson-test-prereq
	fi
	say "testing build/ (static)${all:+, with real engines}"
	run_tests build "${selection[@]}"
	if [[ -z $native ]]; then
		say "testing build-asan/ (AddressSanitizer, UndefinedBehaviorSanitizer)"
		run_tests build-asan --suite=unit --suite=replay
	fi
	python3 tools/tally.py "${strict[@]}" "${builds[@]}"
}
