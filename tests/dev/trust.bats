#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The tools that test the tests: what they change, judge and accept.

# shellcheck disable=SC2154 # run sets output

bats_require_minimum_version 1.5.0

setup() {
	export TESTS=$BATS_TEST_DIRNAME/.. PYTHONDONTWRITEBYTECODE=1
}

# with FOLDER SCRIPT: Python that sees the modules of tests/FOLDER.
with() {
	PYTHONPATH=$TESTS/$1 python3 -c "$2"
}

@test "mutants: comments, texts, declarations and preprocessor lines are left alone" {
	run -0 with mutants '
from sites import mutants_of
text = "int a = 1;\n#define B (1 + 2)\n/**\n\t * a == b\n\t */\n\tputs(\"a == b\"); // 1 < 2\n\treturn 0;\n"
print(sorted(m.after for m in mutants_of("x.c", text)))'
	[ "$output" = '[]' ]
}

@test "mutants: operators, bounds, constants and branches change" {
	run -0 with mutants '
from sites import mutants_of
text = "\tif (a < 10 || b) {\n\t\treturn -EINVAL;\n"
for m in mutants_of("x.c", text): print(m.after.strip())'
	[[ $output == *'if (a <= 10 || b) {'* && $output == *'if (a < 10 && b) {'* && $output == *'if (a < 11 || b) {'* ]]
	[[ $output == *'if (1 || (a < 10 || b)) {'* && $output == *'if (0 && (a < 10 || b)) {'* && $output == *'return 0; return -EINVAL;'* ]]
}

@test "mutants: each equivalent one is still there, and is a change that the tool makes" {
	run -0 with mutants '
import os
from pathlib import Path
from mutants import equivalents
from sites import mutants_of
root = Path(os.environ["TESTS"]).resolve().parent
for path, before, after in equivalents():
    made = {(m.before.strip(), m.after.strip()) for m in mutants_of(path, (root / path).read_text())}
    assert (before, after) in made, (path, before, after)'
}

@test "faults: each accepted outcome names a scenario and a system call, and has a reason" {
	run -0 with faults '
import os
from pathlib import Path
from faults import accepted
from scenarios import SCENARIOS
from syscalls import ERRORS
names = {s.name for s in SCENARIOS} | {"*"}
assert len(names) == len(SCENARIOS) + 1
for scenario, call, _ in accepted():
    assert scenario in names and call.split(":")[0].split("#")[0] in ERRORS, (scenario, call)
lines = (Path(os.environ["TESTS"]) / "faults/accepted.txt").read_text().splitlines()
assert sum(line.startswith("\t") for line in lines) >= len(accepted())'
}

@test "faults: a lost status, a process left behind, a changed file and a second error line are findings" {
	run -0 with faults '
from faults import Outcome, judge
from scenarios import Scenario
from tracer import Fault, Traced
s, fault = Scenario("s", []), Fault("0", "open", 0, "error", 5)
def outcome(status, out="x", err="", after={}, left=[]): return Outcome(status, out, err, {}, after, Traced(status, [], True, left))
plain, error = outcome(3), "distinit: error: no\n"
assert not judge(s, fault, plain, plain) and not judge(s, fault, plain, outcome(125, "", error))
assert not judge(s, fault, plain, outcome(3, "", "distinit: warning: A is left out: no\n"))
for wrong in (outcome(None), outcome(0), outcome(-6, ""), outcome(125, "", ""), outcome(125, "", error * 2), outcome(125, "x", error),
              outcome(3, left=["sleep"]), outcome(125, "", error, {"f": (0, b"")}), outcome(3, "y"), outcome(3, "x", error)):
    assert judge(s, fault, plain, wrong), wrong
assert judge(s, Fault("0", "write", 0, "short", 1), plain, outcome(125, "", error))'
}

@test "privileges: the model has the examples of capabilities(7)" {
	run -0 with privileges '
from dataclasses import replace
from model import NOROOT, Refused, State, Wish, after_exec, workload
root = State((0,) * 3, (0,) * 3, frozenset(), 0, 0, 0, 0xff, 0, 0, False)
assert after_exec(root).effective == 0xff and after_exec(replace(root, securebits=NOROOT)).permitted == 0
user = replace(root, uid=(7,) * 3, permitted=0xff, ambient=0)
assert after_exec(user).permitted == 0 and after_exec(replace(user, ambient=1, inheritable=1)).effective == 1
assert after_exec(replace(root, no_new_privs=True)).permitted == 0
to = workload(replace(root, bounding=0x1ff), Wish(user=7, group=7, groups=frozenset(), drop=-1, keep=2))
assert (to.uid, to.permitted, to.effective, to.ambient, to.bounding) == ((7,) * 3, 2, 2, 2, 2)
try:
    workload(user, Wish(user=8))
    raise SystemExit("not refused")
except Refused:
    pass'
}

@test "emulated: each test that cannot work under QEMU is a test, has a reason, and is named once" {
	local name
	run ! grep -P '^\t(?!(e2e|unit|replay)/[a-z_]+: .)' "$TESTS/emulated/cannot.txt"
	[ -z "$(grep -P '^\t' "$TESTS/emulated/cannot.txt" | sort | uniq -d)" ]
	while IFS= read -r name; do
		grep -qxF -e "@test \"${name#*: }\" {" "$TESTS/${name%%: *}.bats" || {
			echo "no test: $name"
			return 1
		}
	done < <(sed -n 's#^	\(e2e/\)#\1#p' "$TESTS/emulated/cannot.txt")
	# A reason stands above each group.
	run ! grep -Pzo '\n\n\t' "$TESTS/emulated/cannot.txt"
}

# listed LINE: run a file of two tests without those of a list.
listed() {
	printf '@test "%s" {\n\ttrue\n}\n' 'one: a (b)' 'two: [x]' >"$BATS_TEST_TMPDIR/some.bats"
	printf 'A reason.\n%s\n' "$1" >"$BATS_TEST_TMPDIR/list"
	run env -i PATH=/usr/local/bin:/usr/bin:/bin LEFT_OUT="$BATS_TEST_TMPDIR/list" "$TESTS/programs/run-bats" "$BATS_TEST_TMPDIR/some.bats"
}

@test "emulated: run-bats leaves out what the list names, nothing else, and refuses a name that is no test" {
	listed $'\te2e/some: one: a (b)'
	[[ $status -eq 0 && $output == *1..1* && $output == *'ok 1 two: '* && $output != *one* ]]
	listed $'\te2e/other: one: a (b)'
	[[ $status -eq 0 && $output == *1..2* ]]
	listed $'\te2e/some: one'
	[[ $status -ne 0 && $output == 'Bail out! '*': one' ]]
}

@test "emulated: a failure, a crash, a short plan and a check that does not fail any more are failures; a listed one is not" {
	run -0 with emulated '
import emulated
from pathlib import Path
emulated.LIST = Path("'"$BATS_TEST_TMPDIR"'/list")
emulated.LIST.write_text("\tunit/a: 7* lost\n")
def failures(name, tap, status="exit status 0"):
    results = emulated.Results()
    results.read({"id": name}, tap, status)
    return results.failed
print("FOUND", failures("unit/b", "1..2\nok 1 - x\nok 2 - y\n"), failures("unit/b", "1..1\nnot ok 1 - x\n", "exit status 1"),
      failures("unit/b", "1..2\nok 1 - x\n"), failures("unit/b", "1..1\nok 1 - x\n", "exit status -11"), failures("unit/b", ""),
      failures("unit/a", "1..1\nnot ok 1 - 7 of 8 lost one\n", "exit status 1"), failures("unit/a", "1..1\nok 1 - 7 lost\n"))'
	[[ $output == *'FOUND 0 1 1 1 1 0 1'* ]]
}
