#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Three seconds of each fuzz target, from a random seed and the inputs that are kept.
#
#     random.sh BUILD [SEED]    BUILD: where ./dev fuzz builds them; SEED: one that was printed
#
# An input that breaks something is kept in BUILD/crashes.
set -euo pipefail

readonly SECONDS_EACH=3

build=$(realpath "$1")
seed=${2:-$((1 + RANDOM * 32768 + RANDOM))}
cd "$(dirname "$0")"
mapfile -t targets < <(find "$build/tests" -maxdepth 1 -type f -name 'fuzz-*' -printf '%f\n' 2>/dev/null | sort)
if ((${#targets[@]} == 0)); then
	echo '1..0 # SKIP the fuzz targets are not built: ./dev fuzz builds them, with clang'
	exit
fi
export ASAN_OPTIONS=detect_stack_use_after_return=1:malloc_context_size=5 UBSAN_OPTIONS=print_stacktrace=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$build/crashes"

# run TARGET: what it finds that is new is of no use to the next run, and goes to a folder that is removed.
run() {
	local seeds=$work/seeds-$1
	local -a inputs=("$work/new-$1" "corpus/$1")
	local -a options=(-seed="$seed" -max_total_time="$SECONDS_EACH" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1
		-artifact_prefix="$build/crashes/$1-")
	mkdir "$work/new-$1"
	if [[ -f seed-$1.py ]]; then
		python3 "seed-$1.py" "$seeds" "$seeds.dict"
		options+=(-dict="$seeds.dict")
		inputs+=("$seeds")
	fi
	timeout 120 "$build/tests/fuzz-$1" "${options[@]}" "${inputs[@]}" </dev/null >"$work/log" 2>&1
}

echo "# seed $seed; again: tests/fuzz/random.sh build-fuzz $seed"
echo "1..${#targets[@]}"
n=0
failed=0
for target in "${targets[@]}"; do
	name=${target#fuzz-}
	if run "$name"; then
		echo "ok $((++n)) - $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log") runs"
	else
		failed=1
		echo "not ok $((++n)) - $name, seed $seed"
		{ grep -aE 'ERROR|SUMMARY|runtime error|does not hold|Test unit written' "$work/log" || tail -n 5 "$work/log"; } | sed 's/^/# /'
	fi
done
exit "$failed"
