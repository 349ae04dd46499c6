#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tools/tally.py: what counts as a failure.

# shellcheck disable=SC2030,SC2031 # a test is a subshell

setup() {
	TALLY=$BATS_TEST_DIRNAME/../../tools/tally.py
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p one/meson-logs two/meson-logs
}

# log BUILD TAP: a test log of one program that said this.
log() {
	python3 -c 'import json, sys
print(json.dumps({"name": "distinit:unit / x", "result": "OK", "returncode": 0, "command": ["x"], "stdout": sys.argv[1]}))' \
		"$2" >"$1/meson-logs/testlog.json"
}

@test "tally: adds up all builds" {
	log one $'1..2\nok 1 a\nok 2 b'
	log two $'1..2\nok 1 a\nok 2 b # SKIP no reason'
	run python3 "$TALLY" one two
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
}

@test "a third: of the programs with engines each is in one of three, the commit's hash chooses, and outside of CI all run" {
	mkdir bin
	# shellcheck disable=SC2016 # for the shell that is started
	printf '#!/bin/sh\nfor name in f e d c b a g; do echo "distinit:engines / $name"; done\n' >bin/meson
	printf '#!/bin/sh\necho 0123456%07x0000000\n' 4 >bin/git
	chmod +x bin/meson bin/git
	third() {
		# shellcheck disable=SC2016 # the same
		env -u CI -u ENGINES_SHARE PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$@" bash -c 'source "$1/test.bash" && a_third build' - \
			"$BATS_TEST_DIRNAME/../../tools" | paste -s -d ' '
	}
	[[ $(third ENGINES_SHARE=0) == 'c f' && $(third ENGINES_SHARE=1) == 'a d g' && $(third ENGINES_SHARE=2) == 'b e' ]]
	[[ -z $(third) && -z $(third CI=true ENGINES_SHARE=all) ]]
	[[ $(third CI=true) == 'a d g' ]]
}

@test "a third: what a program with engines needs is built for it, whichever third has it" {
	# PROGRAM BUILD: each of these says "there is no build" where it lacks one.
	needs() {
		# shellcheck disable=SC2016 # for the shell that is started
		env -u CI OTHER=s390x bash -c 'source "$1/test.bash"; dpkg() { echo amd64; }; processors() { echo amd64 arm64 s390x; }; say() { :; }
			build_cross() { echo "cross $1"; }; compile() { :; }; build_fuzz() { echo fuzz; }; fuzz_targets() { :; }
			compile_for_engines "${@:2}"' - "$BATS_TEST_DIRNAME/../../tools" "$@" | sort -u | paste -s -d ' '
	}
	[[ $(needs docker) == 'cross arm64' && $(needs release tour) == 'cross arm64' && $(needs other) == 'cross s390x' ]]
	[[ $(needs emulated) == 'cross s390x' && $(needs random) == fuzz && -z $(needs mpi slurm) ]]
	[[ $(needs) == 'cross arm64 cross s390x fuzz' ]]
	# A test that asks for a build is of one of these programs.
	# shellcheck disable=SC2016 # the test's own words
	[[ $(grep -lE 'build-arm64/|build-deps/arm64|build-\$OTHER/|build-fuzz' "$BATS_TEST_DIRNAME"/../engines/*.bats | sed 's,.*/,,; s,[.]bats$,,' | paste -s -d ' ') \
		== 'docker other release' ]]
}

@test "tally: a build in which no test ran has failed, whatever the others did" {
	log one $'1..1\nok 1 a'
	: >two/meson-logs/testlog.json
	run python3 "$TALLY" one two
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED: two: the test log is empty: two/meson-logs/testlog.json"* ]]
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]

	rm two/meson-logs/testlog.json
	run python3 "$TALLY" one two
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED: two: no test log: No such file or directory: two/meson-logs/testlog.json"* ]]
}

@test "tally: a log that breaks off is a failure, told in a sentence" {
	log one $'1..1\nok 1 a'
	log two $'1..1\nok 1 a'
	truncate --size=20 two/meson-logs/testlog.json
	run python3 "$TALLY" one two
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED: two: the test log breaks off: two/meson-logs/testlog.json"* ]]
}

@test "tally: a program that breaks its plan has failed" {
	log one $'1..2\nok 1 a'
	run python3 "$TALLY" one
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED: one: unit / x: planned 2 tests and ran 1"* ]]
}

@test "tally: --strict makes a skip a failure, in a program of several suites if all of them are strict" {
	log one $'1..2\nok 1 a\nok 2 b # SKIP why'
	run python3 "$TALLY" --strict=unit one
	[[ $status -eq 1 && $output == *"FAILED: one: unit / x: b: skipped, where nothing may be: why"* ]]
	sed -i 's/:unit /:unit+size /' one/meson-logs/testlog.json
	run python3 "$TALLY" --strict=unit one
	[[ $status -eq 0 && ${lines[-1]} == "1 passed, 0 failed, 1 skipped" ]]
	run python3 "$TALLY" --strict=size --strict=unit one
	[ "$status" -eq 1 ]
	log one $'1..2\nok 1 a\nok 2 b # SKIP this release has no package b'
	run python3 "$TALLY" --strict=unit one
	[[ $status -eq 0 && ${lines[-1]} == "1 passed, 0 failed, 1 skipped" ]]
}

# The made tests take no time, so nothing that other work took is subtracted (tools/times.py).
export PRESSURE=/nowhere

# bats_log SUITE PROGRAM: a log of a bats file that has this one test, which says that it took 7 s, or BESIDE; alone it takes MS.
bats_log() {
	cat >again <<-END
		#!/bin/sh
		echo "\$@" >asked
		printf '1..1\nok 1 a (slow) one in %sms\n' "$MS"
	END
	chmod +x again
	python3 -c 'import json, sys
print(json.dumps({"name": f"distinit:{sys.argv[1]} / {sys.argv[2]}", "result": "OK", "returncode": 0, "command": ["./again"], "env": {},
                  "stdout": f"1..1\nok 1 a (slow) one in {sys.argv[3]}ms"}))' "$1" "$2" "${BESIDE:-7000}" >one/meson-logs/testlog.json
}

@test "tally: a test that takes more than 5 s is named; with --times it runs again, and fails if it does so alone" {
	MS=3000 bats_log e2e x
	run python3 "$TALLY" one
	[[ $status -eq 0 && $output == *"slow: e2e/x: a (slow) one: 7.0 s, beside others"* && ! -e asked ]]
	run env PATIENCE=1 python3 "$TALLY" --times one
	[[ $status -eq 0 && $(<asked) == '--filter ^a .?slow.? one$' ]]
	MS=6500 bats_log e2e x
	run env PATIENCE=1 python3 "$TALLY" --times one
	[[ $status -eq 1 && $output == *"FAILED: e2e/x: a (slow) one: 6.5 s, alone; one that has to take more than 5 s is in tests/slow.txt"* ]]
	# In CI, as with all limits of time, a slow machine has three times that. What takes less beside others takes less alone.
	rm asked
	run env PATIENCE=3 python3 "$TALLY" --times one
	[[ $status -eq 0 && $output == *"slow: e2e/x: a (slow) one: 7.0 s, beside others"* && ! -e asked ]]
	BESIDE=40000 MS=15500 bats_log e2e x
	run env PATIENCE=3 python3 "$TALLY" --times one
	[[ $status -eq 1 && $output == *"15.5 s, alone; one that has to take more than 15 s is"* ]]
	# What starts engines may.
	MS=6500 bats_log engines x
	run python3 "$TALLY" --times one
	[[ $status -eq 0 && $output != *slow:* ]]
}

@test "tally: the list of slow tests names tests only" {
	MS=1 bats_log rollcall together
	run python3 "$TALLY" one
	[[ $status -eq 1 && $output == *"FAILED: rollcall/together: together: a node without power is noticed within 25 s: tests/slow.txt names it, and there is no such test"* ]]
}

# runs_tests: a project with Meson, whose tests are those of tests.txt: a name, and in which run it passes. By ./dev's own function,
# and its tally. runs has a line for each run.
runs_tests() {
	ln -sfn "$BATS_TEST_DIRNAME/../../tools" tools
	cat >flaky <<-'END'
		#!/bin/sh
		echo "$1" >>"$PWD/runs"
		echo 1..1
		[ "$(grep -cx "$1" "$PWD/runs")" -ge "$2" ] && echo "ok 1 comes" && exit
		echo "not ok 1 comes"
		exit 1
	END
	chmod +x flaky
	{
		# Meson names suites if there are several.
		printf '%s\n' "project('distinit')" "test('other', find_program('flaky'), args: ['other', '1'], protocol: 'tap', suite: 'e2e', workdir: '$PWD')"
		sed "s|\\(.*\\) \\(.*\\)|test('\\1', find_program('flaky'), args: ['\\1', '\\2'], protocol: 'tap', suite: 'unit', workdir: '$PWD')|" tests.txt
	} >meson.build
	rm -rf runs one build-deps
	mkdir -p build-deps/logs
	meson setup one >/dev/null
	run bash -euc 'for name in common build test; do source "tools/$name.bash"; done; run_tests one; python3 tools/tally.py one'
	printf '%s\n' "$output"
}

@test "tally: what failed runs again, alone, up to twice, and is a defect if it passes then" {
	command -v meson >/dev/null || skip "meson is not installed (./dev build)"
	printf '%s\n' 'first 1' 'second 2' 'third 3' 'never 9' >tests.txt
	runs_tests
	[[ $status -eq 1 && ${lines[-1]} == "4 passed, 1 failed, 0 skipped" ]]
	[ "$(grep -v other runs | sort | uniq -c | awk '{ print $2 $1 }' | paste -s -d ' ')" = 'first1 never3 second2 third3' ]
	[[ $output == *'DEFECT, to mend in tests/unit/test-second.c: passed only when run again, alone: one: unit / second: comes'* ]]
	[[ $output == *'DEFECT, to mend in tests/unit/test-third.c: passed only when run a third time, alone: one: unit / third: comes'* ]]
	[[ $output == *'FAILED: one: unit / never: comes'* && $(grep -c '^DEFECT.*never' <<<"$output") -eq 0 ]]
}

@test "tally: twelve files that failed run again, and thirteen do not" {
	command -v meson >/dev/null || skip "meson is not installed (./dev build)"
	# Twelve may have met a busy machine; thirteen that fail are no accident.
	seq -f 'n%.0f 2' 12 >tests.txt
	runs_tests
	[[ $status -eq 0 && $(grep -c ^DEFECT <<<"$output") -eq 12 ]]
	echo 'n13 2' >>tests.txt
	runs_tests
	[[ $status -eq 1 && $(wc -l <runs) -eq 14 && ${lines[-1]} == "1 passed, 13 failed, 0 skipped" ]]
}

@test "tally: the file of a bats program is its own; the times of suites and programs are told" {
	log one $'1..1\nok 1 a'
	python3 -c 'import json
one = {"name": "distinit:e2e / x", "command": ["/t/tests/programs/run-bats", "/t/build/../tests/e2e/x.bats"], "duration": 12}
for name, result, text in ("testlog", "ERROR", "not ok 1 a"), ("again-1", "OK", "ok 1 a"):
    open(f"two/meson-logs/{name}.json", "w").write(json.dumps({**one, "result": result, "returncode": result != "OK", "stdout": "1..1\n" + text}) + "\n")'
	run python3 "$TALLY" one two
	printf '%s\n' "$output"
	[[ $status -eq 0 && $output == *"DEFECT, to mend in tests/e2e/x.bats: passed only when run again, alone: two: e2e / x: a"* ]]
	[[ $output == *"time of all processes: two e2e 12 s, one unit 0 s"*"longest: two e2e/x 12 s"* ]]
	run python3 "$TALLY" --failed two
	[[ $status -eq 0 && -z $output ]]
}

@test "tally: it says how many lines of C there are" {
	log one $'1..1\nok 1 a'
	run python3 "$TALLY" one
	[ "${lines[-2]}" = "$(cd "$BATS_TEST_DIRNAME/../.." && find src cmd -name '*.[ch]' -exec cat {} + | wc -l | sed -E 's/(...)$/,\1/') lines of C in src and cmd" ]
}

@test "tally: it says how many bytes the programs have, which are all there is to it" {
	log one $'1..1\nok 1 a'
	truncate --size=2345678 one/distinit
	truncate --size=1000 one/distrun
	run python3 "$TALLY" one
	[[ $status -eq 0 && ${lines[-3]} == "bytes of the programs in one: distinit 2,345,678, distrun 1,000" ]]
}
