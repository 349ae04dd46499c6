# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev test: runs "meson test", and adds up the results, on this machine or in another release of Debian.

readonly PKGS_TEST="$PKGS_BUILD pkg-config libcjson-dev libcap-dev libbearssl-dev bats python3 python3-jsonschema python3-yaml mandoc man-db procps util-linux strace iproute2 zsh fish"
readonly PKGS_CONTAINERS="podman runc netavark aardvark-dns iptables nftables catatonit tini dumb-init busybox-static iproute2 docker.io runsc charliecloud-runtime podman-compose python3-yaml openssl"
readonly PKGS_ENGINES="slurmctld slurmd slurmdbd slurm-client mariadb-server munge openmpi-bin mpich gridengine-master gridengine-exec gridengine-client python3-torch python3-xgboost python3-distributed $PKGS_CONTAINERS"
# Some releases do not have these, or have them in another package.
readonly PKGS_ENGINES_IF_ANY="docker-cli condor libpmix2t64"

# Limits of time are for what hangs, not for a machine that has other work: in CI they are three times what they are elsewhere.
# Meson's follow from this, and those of bats and of the helpers (tests/programs/run-bats, tests/*/helpers.bash).
export PATIENCE=${PATIENCE:-${CI:+3}}
PATIENCE=${PATIENCE:-1}

# run_tests DIR OPTION...: run the tests. The tally reports failures, from Meson's log. Tests that failed run again, alone, and
# those that fail then a second time: real engines sometimes time out on a busy machine. The tally names those that passed only
# then, as defects.
run_tests() {
	local dir=$1 log=$LOGS/test-${1##*/} round
	local -a again meson=(meson test -C "$dir" --timeout-multiplier="$PATIENCE")
	shift
	rm -f "$dir"/meson-logs/{testlog,again-1,again-2}.json
	# More than there are processors: many tests wait most of their time.
	"${meson[@]}" --num-processes=$((3 * $(nproc))) "$@" >"$log.log" 2>&1 </dev/null && return
	if [[ ! -f $dir/meson-logs/testlog.json ]]; then
		tail -n 20 "$log.log" >&2
		return
	fi
	# ALONE_AFTER: a process that would be beside them (.ci/run).
	[[ -z ${ALONE_AFTER-} ]] || tail --pid="$ALONE_AFTER" --sleep-interval=1 --follow /dev/null
	for round in 1 2; do
		mapfile -t again < <(python3 tools/tally.py --failed "$dir")
		# More than that is no accident.
		((${#again[@]} > 0 && ${#again[@]} <= 12)) || return 0
		say "failed, and run again, one at a time: ${again[*]}"
		"${meson[@]}" --logbase="again-$round" --num-processes=1 "${again[@]}" >"$log-again-$round.log" 2>&1 </dev/null || true
	done
}

# in_root SUITE ARG...: "./dev test --all ARG..." in that release of Debian, with its engines. Its root and all that is built
# there stay in build-deps.
in_root() {
	local folder=$DEPS/root-$1 words
	[[ $1 =~ ^[a-z]+$ ]] || die "test: --root takes a release of Debian, such as trixie, not '$1'"
	[[ $EUID -eq 0 ]] || die "test: only root can make a root of its own"
	mkdir -p "$DEPS"
	exec {ROOT_LOCK}>"$folder.lock"
	flock "$ROOT_LOCK"
	if [[ ! -d $folder ]]; then
		say "installing Debian $1 in $folder"
		rm -rf --one-file-system "$folder.new"
		step "root-$1" "Is the network up? Does the archive have '$1'?" tools/fresh-root make "$folder.new" "$1"
		mv "$folder.new" "$folder"
	fi
	copy_tree "$folder/root/distinit"
	printf -v words ' %q' "REQUIRE_SUITES=${REQUIRE_SUITES-}" "PATIENCE=$PATIENCE" "IN_ROOT=$1" ./dev test --all "${@:2}"
	say "testing in $folder"
	tools/fresh-root run "$folder" "cd ~/distinit && env$words"
}

# copy_tree FOLDER: the tree as it is, without what is built; what an earlier copy had, and the tree has no more, goes.
copy_tree() {
	local list
	list=$(mktemp)
	mkdir -p "$1/build-deps" "$1/$TARBALLS"
	git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard --deduplicate |
		while IFS= read -r file; do [[ ! -e $file && ! -L $file ]] || printf '%s\n' "$file"; done | sort >"$list"
	[[ ! -f $1/build-deps/copied ]] || (cd "$1" && comm -13 "$list" build-deps/copied | xargs --no-run-if-empty -d '\n' rm -f)
	tar --create --verbatim-files-from --files-from="$list" | tar --extract --directory="$1"
	cp --update "$TARBALLS"/* "$1/$TARBALLS/" 2>/dev/null || true
	mv "$list" "$1/build-deps/copied"
}

# known PACKAGE...: print those that this release has.
known() {
	local package
	for package; do
		[[ -z $(apt-cache madison "$package" 2>/dev/null) ]] || printf '%s ' "$package"
	done
}

# by_commit FROM N: in CI, print a number below N that the commit's hash chooses by its seven digits from FROM on. Elsewhere nothing.
by_commit() {
	local hash
	[[ -n ${CI-} ]] && hash=$(git -c safe.directory="$PWD" rev-parse HEAD 2>/dev/null) || return 0
	echo $((16#${hash:$1:7} % $2))
}

# other_processor: print the other processor whose program is tested: OTHER, or arm64. In CI it is one of all, by the commit's hash,
# so that no run takes longer than for one.
other_processor() {
	local arch choice
	local -a others=()
	for arch in $(processors); do
		[[ $arch == "$(dpkg --print-architecture)" ]] || others+=("$arch")
	done
	choice=$(by_commit 0 "${#others[@]}")
	choice=${choice:+${others[choice]}}
	echo "${OTHER:-${choice:-arm64}}"
}

# a_third DIR SELECTION...: print the programs that a commit's CI runs of those with engines: every third by name, from one on that the
# commit's hash chooses. ENGINES_SHARE=0, 1 or 2 chooses; with "all", and outside of CI, it prints nothing, and all run.
a_third() {
	local share
	share=${ENGINES_SHARE:-$(by_commit 7 3)}
	[[ ${share:-all} != all ]] || return 0
	meson test -C "$1" --list "${@:2}" 2>/dev/null | sed -n 's,.* / ,,p' | sort -u | awk -v share="$share" 'NR % 3 == share'
}

# compile_for_engines [NAME]...: what these programs with engines need beside the static build; without names: all. In subshells: if a
# build fails, for example without a network, its tests are skipped.
compile_for_engines() {
	local names=" ${*:-docker emulated other random release} "
	OTHER=$(other_processor)
	export OTHER
	if [[ $names == *' docker '* || $names == *' release '* ]] && [[ $(dpkg --print-architecture) != arm64 ]]; then
		(build_cross arm64) || say "no build for arm64"
	fi
	if [[ $names == *' emulated '* || $names == *' other '* ]]; then
		(build_cross "$OTHER" && compile "build-$OTHER" meson-test-prereq) || say "no build for $OTHER"
	fi
	if [[ $names == *' random '* ]]; then
		# shellcheck disable=SC2046 # a word each
		(build_fuzz $(fuzz_targets)) || say "no build of the fuzz targets"
	fi
}

word_test() {
	local all='' native='' root='' suite
	local -a suites=() strict=()
	while (($#)); do
		case $1 in
		--all) all=yes ;;
		--native) native=yes ;;
		--root=*) root=${1#*=} ;;
		-*) die "test: unknown option '$1'" "./dev test [--all] [--native] [--root=RELEASE] [SUITE]..." ;;
		*) suites+=("--suite=$1") ;;
		esac
		shift
	done

	if [[ -n $root ]]; then
		((${#suites[@]})) || suites=(--suite=engines --suite=rollcall)
		in_root "$root" "${suites[@]#--suite=}"
		return
	fi

	# packages needs what only --all installs.
	local -a selection=(--no-suite=engines --no-suite=kubernetes --no-suite=packages)
	[[ -z $all ]] || selection=(--no-suite=kubernetes)
	((${#suites[@]} == 0)) || selection=("${suites[@]}") native=yes
	# Where a test may not be skipped, as no other machine runs it, nor be slow (.ci/run).
	for suite in ${REQUIRE_SUITES-}; do strict+=("--strict=$suite" --times); done

	# In another release, its engines are what matters.
	local packaging=$PKGS_PACKAGING more=$all
	[[ -z ${IN_ROOT-} ]] || packaging='' more=''
	# shellcheck disable=SC2086 # words
	need "$PKGS_TEST${all:+ $PKGS_ENGINES $(known $PKGS_ENGINES_IF_ANY) $packaging}"
	build_static
	local -a third=()
	[[ -z $all || -n ${IN_ROOT-} ]] || mapfile -t third < <(a_third build "${selection[@]}")
	((${#third[@]} == 0)) || say "a third of the programs with engines, by the commit (ENGINES_SHARE=all: all): ${third[*]}"
	[[ -z $more ]] || compile_for_engines "${third[@]}"
	local -a builds=(build)
	# Of some suites Meson compiles no more than they need.
	((${#suites[@]})) || compile build meson-test-prereq
	if [[ -z $native ]]; then
		builds+=(build-asan)
		configure build-asan -Db_sanitize=address,undefined -Doptimization=1 -Ddebug=true --wrap-mode=nofallback
		compile build-asan meson-test-prereq
	fi
	say "testing build/ (static)${all:+, with real engines}"
	run_tests build "${selection[@]}" "${third[@]}"
	if [[ -z $native ]]; then
		say "testing build-asan/ (AddressSanitizer, UndefinedBehaviorSanitizer)"
		run_tests build-asan --suite=unit --suite=replay --suite=sim
	fi
	python3 tools/tally.py "${strict[@]}" "${builds[@]}"
}
