# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev fuzz: runs libFuzzer on the parsers.

readonly PKGS_FUZZ="$PKGS_BUILD pkg-config libcap-dev clang-14 libclang-rt-14-dev llvm-14 python3"

# fuzz_one NAME SECONDS: run one target. Output goes to a log, new inputs to build-fuzz/corpus/NAME. A target that has a
# tests/fuzz/seed-NAME.py gets the inputs and the dictionary that it makes.
fuzz_one() {
	local name=$1 seconds=$2 log=$LOGS/fuzz-$1.log seeds=build-fuzz/seeds/$1
	local -a folders=("build-fuzz/corpus/$name" "tests/fuzz/corpus/$name")
	local -a options=(-max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1
		-artifact_prefix="build-fuzz/crashes/$name-")
	mkdir -p "${folders[@]}" build-fuzz/crashes
	if [[ -f tests/fuzz/seed-$name.py ]]; then
		rm -rf "$seeds"
		python3 "tests/fuzz/seed-$name.py" "$seeds" "$seeds.dict"
		options+=(-dict="$seeds.dict")
		folders+=("$seeds")
	fi
	build-fuzz/tests/fuzz-"$name" "${options[@]}" "${folders[@]}" >"$log" 2>&1 </dev/null &
	# shellcheck disable=SC2064 # expand the id now
	trap "kill $! 2>/dev/null; exit 1" TERM
	if wait $!; then
		say "fuzz $name: no crash, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, $(find "build-fuzz/corpus/$name" -type f | wc -l) inputs of its own"
		return
	fi
	grep -aE 'ERROR|SUMMARY|runtime error|Assertion' "$log" | head -n 5 >&2 || true
	say "fuzz $name: FAILED ($log)"
	local reproducer
	reproducer=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	[[ -z $reproducer ]] || say "  again: build-fuzz/tests/fuzz-$name $reproducer" \
		"- once mended, keep the input: cp $reproducer tests/fuzz/corpus/$name/"
	return 1
}

# fuzz_merge NAME: add new inputs to the corpus, if they reach code that the corpus does not reach.
fuzz_merge() {
	local corpus=tests/fuzz/corpus/$1 before
	mkdir -p "$corpus" "build-fuzz/corpus/$1"
	before=$(find "$corpus" -type f | wc -l)
	step "merge-$1" "A crash in there? ./dev fuzz $1 shows it." \
		build-fuzz/tests/fuzz-"$1" -merge=1 "$corpus" "build-fuzz/corpus/$1"
	say "fuzz $1: $(($(find "$corpus" -type f | wc -l) - before)) inputs added to $corpus"
}

# The targets, as tests/meson.build lists them.
fuzz_targets() {
	sed -n "s/^fuzzers = \[\(.*\)\]/\1/p" tests/meson.build | tr -d "'," | xargs -n 1
}

# build_fuzz TARGET...: compile them in build-fuzz.
build_fuzz() {
	need "$PKGS_FUZZ"
	fetch_sources
	# Build cJSON from source: only instrumented code guides the fuzzer.
	CC=clang-14 configure build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Doptimization=1 -Ddebug=true --force-fallback-for=cjson
	compile build-fuzz "${@/#/tests/fuzz-}"
}

word_fuzz() {
	local seconds=600 merge='' failed='' name
	local -a targets=() known
	mapfile -t known < <(fuzz_targets)
	while (($#)); do
		case $1 in
		--time=[0-9]*) seconds=${1#--time=} ;;
		--merge) merge=yes ;;
		-*) die "fuzz: unknown option '$1'" "./dev fuzz [--time=SECONDS] [--merge] [TARGET]..." ;;
		*)
			[[ " ${known[*]} " == *" $1 "* ]] || die "fuzz: no target '$1'" "There are: ${known[*]}"
			targets+=("$1")
			;;
		esac
		shift
	done
	((${#targets[@]})) || targets=("${known[@]}")

	build_fuzz "${targets[@]}"
	export ASAN_OPTIONS=detect_stack_use_after_return=1:malloc_context_size=5 UBSAN_OPTIONS=print_stacktrace=1
	export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-14

	if [[ -n $merge ]]; then
		for name in "${targets[@]}"; do
			fuzz_merge "$name"
		done
		return
	fi
	say "fuzzing ${targets[*]}: $seconds s each, two at a time"
	# Background jobs ignore Ctrl-C.
	trap 'jobs -p | xargs -r kill 2>/dev/null || true' EXIT
	for name in "${targets[@]}"; do
		while (($(jobs -pr | wc -l) >= 2)); do
			wait -n || failed=yes
		done
		fuzz_one "$name" "$seconds" &
	done
	while (($(jobs -p | wc -l))); do
		wait -n || failed=yes
	done
	[[ -z $failed ]] || die "fuzz: a target failed; its reproducer is in build-fuzz/crashes/"
}
