#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The tools that test the tests: what they change, judge and accept.

# shellcheck disable=SC2154 # run sets output

bats_require_minimum_version 1.5.0

setup() {
	export TESTS=$BATS_TEST_DIRNAME/.. PYTHONDONTWRITEBYTECODE=1
}

# with FOLDER SCRIPT: Python that sees the modules of tests/nets/FOLDER.
with() {
	PYTHONPATH=$TESTS/nets/$1 python3 -c "$2"
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
from judge import accepted
from scenarios import SCENARIOS
from situations import SITUATIONS
from syscalls import ERRORS, NAMES
calls = {*ERRORS, *NAMES.values()}
names = {s.name for s in (*SCENARIOS, *SITUATIONS)} | {"*"}
assert len(names) == len(SCENARIOS) + len(SITUATIONS) + 1
for scenario, call, _ in accepted():
    assert scenario in names and call.split(":")[0].split("#")[0] in calls, (scenario, call)
lines = (Path(os.environ["TESTS"]) / "nets/faults/accepted.txt").read_text().splitlines()
assert sum(line.startswith("\t") for line in lines) >= len(accepted())'
}

@test "faults: a choice begins with one fault of each scenario, in any order after that" {
	run -0 with faults '
import random
from collections import Counter
from faults import Row, in_order
from scenarios import SCENARIOS
from situations import SITUATIONS
from tracer import Fault
rows = [Row(s, None, [Fault("0", "open", 0, "error", e) for e in range(1, 9)]) for s in SCENARIOS]
todo = in_order(rows, random.Random(1))
assert [row for row, _ in todo[:len(rows)]] == rows and len(todo) == 9 * len(rows)
assert [fault for _, fault in in_order(rows[:1], None)] == rows[0].faults'
}

@test "faults: reading and writing have the errors of what is behind the descriptor" {
	run -0 with faults '
from errno import *
from syscalls import errors_of
assert errors_of("read", (0, 0, 9), "file") == [EIO, EISDIR] and EINTR in errors_of("read", (0, 0, 9), "socket")
assert EINTR not in errors_of("sendto", (0, 0, 9), "socket!") and errors_of("write", (0, 0, 9), "pipe") == [EPIPE]
assert errors_of("fcntl", (0, 4, 0)) == [] and errors_of("prlimit64", (0, 7, 0)) == [] and errors_of("epoll_ctl", (0, 1, 2))'
}

@test "faults: a lost status, a process left behind, a changed file and a second error line are findings" {
	run -0 with faults '
from judge import Outcome, judge
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

@test "faults: a lost signal, another node that hangs, a cut log and processes after a kill are findings" {
	run -0 with faults '
from judge import Outcome, judge
from scenarios import Scenario
from tracer import Call, Fault, Traced
calls = [Call("0", name, 0, (), result, "") for name, result in (("open", 3), ("rt_sigtimedwait", 17), ("wait4", 9), ("close", 0))]
def outcome(status, after={}, left=[], beside=0, err="", peer="", again=None):
    return Outcome(status, "x", err, {}, after, Traced(status, calls, True, left, beside), peer, again)
plain = outcome(7)
s, term = Scenario("s", [], ends=(9,), peer_ends=(0,)), lambda name: Fault("0", name, 0, "signal", 15)
assert not judge(s, term("open"), plain, outcome(9)) and not judge(s, term("open"), plain, outcome(-15))
assert judge(s, term("open"), plain, plain) and judge(s, term("rt_sigtimedwait"), plain, plain)
assert not judge(s, term("wait4"), plain, plain) and not judge(s, Fault("0", "open", 0, "signal", 17), plain, plain)
kill = Fault("0", "open", 0, "kill-before")
assert judge(s, kill, plain, outcome(-9, beside=None)) and judge(s, kill, plain, outcome(-9, beside=5))
assert not judge(s, kill, plain, outcome(-9)) and not judge(s, kill, plain, outcome(-9, left=["sleep"]))
assert judge(Scenario("s", [], dies=True), kill, plain, outcome(-9, left=["sleep"]))
assert judge(s, kill, plain, outcome(-9, again=(1, {}))) and not judge(s, kill, plain, outcome(-9, again=(7, {})))
assert judge(s, Fault("0", "open", 0, "error", 5), plain, outcome(125, err="d: error: nothing was started\n", peer="started"))
log = Scenario("s", [], logs={"log": "(a\n)*"})
assert judge(log, kill, plain, outcome(-9, {"log": (0, b"a\na")})) and not judge(log, kill, outcome(7, {"log": (0, b"")}), outcome(-9, {"log": (0, b"a\n")}))'
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

@test "soak: what grows by more than two pages, a descriptor that stays, and a zombie are found" {
	run -0 with soak '
from types import SimpleNamespace
from watch import Sample, growth, zombies
def samples(private=lambda at: 100, files=lambda at: 5, children=lambda at: 1):
    return [Sample(at, 300, private(at), files(at), 1, children(at), 0) for at in range(100)]
assert not growth(samples()) and not growth(samples(private=lambda at: 100 + (at > 50) * 8))
assert not growth(samples(private=lambda at: at * 100 if at < 10 else 1000, files=lambda at: 5 + at % 7 * 100))
for wrong in (samples(private=lambda at: 100 + at // 8), samples(files=lambda at: 5 + (at > 80)), samples(children=lambda at: 1 + at // 50),
              samples()[:30]):
    assert growth(wrong), wrong
assert zombies(SimpleNamespace(oldest_zombie=5.1)) and not zombies(SimpleNamespace(oldest_zombie=4.9))'
}

@test "soak: a status, a time limit and accounting that are others are found" {
	run -0 with soak '
from slurm import judge_step, same_code
fine = {"name": "limit-0-1", "status": 124, "wanted": 124, "ran": 2.1, "told": ""}
assert not judge_step(fine, 2)
for change in ({"status": 0}, {"ran": 1.9}, {"ran": 5.1}, {"ran": -1.0}, {"told": "it-was-started"}):
    assert judge_step({**fine, **change}, 2), change
assert same_code(("COMPLETED", "0:0"), 0) and same_code(("FAILED", "7:0"), 7) and same_code(("FAILED", "10:0"), 138)
assert not same_code(("COMPLETED", "0:0"), 7) and not same_code(("FAILED", "7:0"), 0) and not same_code(("RUNNING", "0:0"), 0)'
}

@test "soak: the graph is XML, and each sample is in it" {
	run -0 with soak '
from xml.etree import ElementTree
from report import draw, ticks
from watch import Sample
samples = [Sample(at * 5.0, 300 + at, 100, 5, 1, 1, 0) for at in range(720)]
lines = [e for e in ElementTree.fromstring(draw("coordinator: x", samples)).iter() if e.tag.endswith("polyline")]
assert len(lines) == 5 and all(len(e.get("points").split()) == 720 for e in lines)
assert ticks(0) == [0, 1] and ticks(7)[-1] >= 7 and ticks(5011)[-1] >= 5011 and len(ticks(5011)) <= 7'
}

@test "emulated: each test that cannot work under QEMU is a test, has a reason, and is named once" {
	local name
	run ! grep -P '^\t(?!(e2e|unit|replay)/[a-z_]+: .)' "$TESTS/nets/emulated/cannot.txt"
	[ -z "$(grep -P '^\t' "$TESTS/nets/emulated/cannot.txt" | sort | uniq -d)" ]
	while IFS= read -r name; do
		grep -qxF -e "@test \"${name#*: }\" {" "$TESTS/${name%%: *}.bats" || {
			echo "no test: $name"
			return 1
		}
	done < <(sed -n 's#^	\(e2e/\)#\1#p' "$TESTS/nets/emulated/cannot.txt")
	# A reason stands above each group.
	run ! grep -Pzo '\n\n\t' "$TESTS/nets/emulated/cannot.txt"
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

@test "privileges: the model knows who decides, what --init keeps, and who opens a file" {
	run -0 with privileges '
from dataclasses import replace
from model import KILL, State, Wish, may, opener, supervisor
from privileges import Options, Told, USERS_OF
root = State((0,) * 3, (0,) * 3, frozenset(), 0, 0x1ff, 0x1ff, 0x1ff, 0, 0, False)
to = Wish(user=7, group=7, groups=frozenset({9}), drop=-1)
assert supervisor(root, to, 0, True).permitted == KILL and supervisor(replace(root, securebits=32), Wish(user=7, group=7), 0, True).permitted == 0
user = opener(root, to)
assert may(root, 5, 5, 0, 4) and not may(user, 5, 5, 0o640, 4) and may(user, 5, 9, 0o640, 4) and not may(user, 5, 9, 0o640, 2)
nothing, other = Options("", "", "", "", False), Options("0:0", "", "", "", False)
assert Told("run", nothing, other, False, (0, 0, 0)).decides() == (other, "volume")
assert Told("run", nothing, other, True, (0, 0, 0)).decides() == (nothing, "image")
assert Told("run", Options("", "", "all", "", False), other, False, (0, 0, 0)).decides()[0].user == ""
'
}

@test "undone: each patch still applies, and names words of ./dev that look for it" {
	command -v patch >/dev/null || skip "patch is not installed"
	cd "$TESTS/.."
	local patch words
	for patch in tests/nets/undone/*.patch; do
		patch --dry-run -p1 --silent --force <"$patch"
		words=$(sed -n 's/^net: //p' "$patch")
		[[ $words =~ ^(faults|privileges|rights|fuzz|sim|test)\  && $(sed -n 1p "$patch") != net:* ]]
	done
}

@test "faults: a situation says what is right without a fault, and what no signal can reach" {
	run -0 with faults '
from types import SimpleNamespace as N
from situations import Situation
s = Situation("s", [], status=7, as_pid_1=True, expects=lambda got: got.out == "x")
assert s.is_right(N(status=7, out="x"), False)
assert not s.is_right(N(status=7, out="y"), False) and not s.is_right(N(status=0, out="x"), False) and not s.is_right(N(status=7, out="x"), True)
def calls(*names): return [N(name=name, nth=0) for name in names]
early, late = calls("getpid", "rt_sigprocmask", "openat"), calls("openat", "rt_sigprocmask")
assert s.is_lost_to_anybody(early, early[0]) and not s.is_lost_to_anybody(early, early[2]) and not s.is_lost_to_anybody(late, late[0])
'
}

@test "rollcall: a test looks for processes by their command lines in its own room alone" {
	# The tests beside it have the same command lines in theirs.
	run grep -nE '\b(pkill|pgrep)\b.* (-[a-zA-Z]*f|--full) ' "$TESTS"/rollcall/*.ba*
	[[ $status -eq 0 ]]
	# shellcheck disable=SC2016 # as the tests write it
	run ! grep -vF -- '--ns "$ROOM" --nslist net ' <<<"$output"
}
