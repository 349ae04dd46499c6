#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tools/tally.py: what counts as a failure.

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
}
