#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Changes one operator, bound, constant or branch of src/ or cmd/ at random, builds, and runs the fast tests that reach the
changed line (cover.py), until one fails. A change that no test notices is a survivor: a test is missing, the code does not
matter, or the change means the same (equivalent.txt, with the reason).

    mutants.py [--count=N] [--seed=S] [--seconds=S] [--jobs=N] [--only=PREFIX,...] [--again] [--by=sim]

--by=sim: by simulation alone, of the roll call and --together unless --only says otherwise; nothing is kept.
--seconds: for the tests of one mutant. --again: try those again that survived. Results are kept in build-mutants/results, so
that a run that was stopped goes on: a mutant is tried again when its file has changed. Works on copies of the tree, as root
(see room.py).
"""

import argparse
import hashlib
import json
import os
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Lock

from by_sim import ONLY, Simulator
from cover import coverage
from sites import Mutant, mutants_of
from tree import WORK, Tree

HERE = Path(__file__).resolve().parent
RESULTS = WORK / "results"

# How many tests are built and run at first, then next: most mutants do not survive the first few.
STAGES = (4, 12, 40, 10000)

SANITIZED = Lock()


class Reach:
    """Which tests can notice a change of a line."""

    def __init__(self, covered: dict[str, dict]):
        self.tests = covered
        self.of_line: dict[str, dict[int, set[str]]] = {}
        for name, its in covered.items():
            for place in its["lines"]:
                path, line = place.rsplit(":", 1)
                self.of_line.setdefault(path, {}).setdefault(int(line), set()).add(name)
        # How much a test has to do with a file: it reaches lines of it that few others reach.
        self.about: dict[str, dict[str, float]] = {}
        for path, of_lines in self.of_line.items():
            about = self.about[path] = {}
            for names in of_lines.values():
                for name in names:
                    about[name] = about.get(name, 0) + 1 / len(names)
        self.killers: dict[str, Counter[str]] = {}

    def of(self, mutant: Mutant, lines: list[str]) -> set[str]:
        """Those that reach its line. A line without code of its own belongs to its neighbours; a table to its file."""
        known = self.of_line.get(mutant.path, {})
        out: set[str] = set()
        for step in (-1, 1):
            at = mutant.line
            while 0 <= at < len(lines) and at + 1 not in known and not lines[at].startswith("}"):
                at += step
            out |= known.get(at + 1, set())
        inside = any(re.match(r"[\w].*\) \{$", line) for line in lines[: mutant.line])
        return out if inside else {name for its in known.values() for name in its} or set(self.tests)

    def ordered(self, mutant: Mutant, lines: list[str]) -> list[str]:
        """First what is quick, killed its neighbours, or has much to do with this file."""
        killers, about = self.killers.get(mutant.path, Counter()), self.about.get(mutant.path, {})
        return sorted(self.of(mutant, lines), key=lambda name: (
            bool(self.tests[name]["why"]), (0.2 + self.tests[name]["seconds"]) / (0.1 + about.get(name, 0) + 5 * killers[name])))

    def learn(self, path: str, result: str) -> None:
        for name in self.tests:
            if result.startswith((f"killed {name}: ", f"killed sanitized {name}: ")):
                self.killers.setdefault(path, Counter())[name] += 1


def equivalents() -> set[tuple[str, str, str]]:
    """(path, line, changed line) of each known one. In the file: the path, '- LINE', '+ LINE', and the reason."""
    out, path, before = set(), "", ""
    for line in (HERE / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("src/", "cmd/")):
            path = line
        elif line.startswith("- "):
            before = line[2:]
        elif line.startswith("+ "):
            out.add((path, before, line[2:]))
    return out


def in_stages(tree: Tree, tests: list[dict], seconds: float) -> str:
    begin = 0
    for size in STAGES:
        some = tests[begin : begin + size]
        begin += size
        if not some:
            break
        if not tree.make("distinit", "distrun", *{test["target"] for test in some if test["target"]}):
            return "does not build"
        result = tree.room(some, str(seconds))
        seconds -= sum(test["seconds"] for test in some)
        if result != "survived" or seconds <= 0:
            return result if result != "survived" or begin >= len(tests) else "time is over"
    return "survived" if tests else "survived: no test reaches it"


class Bench:
    """A tree, and its tests by name."""

    def __init__(self, name: str, *options: str):
        self.tree = Tree(name, *options)
        self.tree.make_plain()
        self.tests = {test["name"]: test for test in self.tree.tests()}

    def judge(self, mutant: Mutant, names: list[str], reach: Reach, seconds: float) -> str:
        with self.tree.changed(mutant):
            return in_stages(self.tree, [{**self.tests[name], "seconds": reach.tests[name]["seconds"]} for name in names], seconds)


def try_one(bench: Bench, sanitized: Bench, mutant: Mutant, reach: Reach, seconds: float) -> str:
    """A survivor may still break the rules of C: then a unit test notices, under sanitizers, as in ./dev test."""
    names = reach.ordered(mutant, (bench.tree.path / mutant.path).read_text(encoding="utf-8").split("\n"))
    result = bench.judge(mutant, names, reach, seconds)
    units = [name for name in names if name.startswith("unit/")]
    if not result.startswith(("survived", "time")) or not units:
        return result
    with SANITIZED:
        again = sanitized.judge(mutant, units, reach, seconds)
    return again.replace("killed ", "killed sanitized ") if again.startswith("killed") else result


def choose(tree: Tree, count: int, seed: int, only: str) -> list[tuple[str, Mutant]]:
    """Those with the lowest hashes: a change of the tree changes the choice only where it is. With the key of its result."""
    known, out, possible = equivalents(), [], 0
    for file in sorted(tree.path.glob("src/**/*.c")) + sorted(tree.path.glob("cmd/**/*.c")):
        name = str(file.relative_to(tree.path))
        if not name.startswith(tuple(only.split(","))):
            continue
        text = file.read_text(encoding="utf-8")
        seen: Counter[tuple[str, str]] = Counter()
        for mutant in mutants_of(name, text):
            possible += 1
            seen[mutant.before, mutant.after] += 1
            words = (name, mutant.before, mutant.after, seen[mutant.before, mutant.after])
            rank = hashlib.sha256(repr((seed, words)).encode()).hexdigest()
            key = hashlib.sha256(repr((words, text)).encode()).hexdigest()[:16]
            if (name, mutant.before.strip(), mutant.after.strip()) not in known:
                out.append((rank, key, mutant))
    print(f"mutants: {possible} are possible; {len(known)} known equivalents are left out; seed {seed}", flush=True)
    return [(key, mutant) for _, key, mutant in sorted(out)[:count]]


def show(number: int, result: str, mutant: Mutant) -> None:
    print(f"{number} {result}\n  {mutant.path}:{mutant.line + 1} ({mutant.what})\n  - {mutant.before.strip()}\n"
          f"  + {mutant.after.strip()}", flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--by", choices=["tests", "sim"], default="tests")
    return parser.parse_args()


def by_simulation(asked: argparse.Namespace) -> int:
    simulators: Queue[Simulator] = Queue()
    for number in range(asked.jobs):
        simulator = Simulator(number)
        simulators.put(simulator)
    if why := simulator.why_killed(asked.seconds):
        sys.exit(f"mutants: without a change: {why}")
    counts: Counter[str] = Counter()

    def take(work: tuple[int, tuple[str, Mutant]]) -> None:
        number, (_, mutant) = work
        mine = simulators.get()
        try:
            result = mine.judge(mutant, asked.seconds)
        finally:
            simulators.put(mine)
        counts[result.split()[0].rstrip(":")] += 1
        show(number, result, mutant)

    with ThreadPoolExecutor(asked.jobs) as pool:
        for _ in pool.map(take, enumerate(choose(simulator.tree, asked.count, asked.seed, asked.only or ONLY), 1)):
            pass
    print(f"mutants: {counts['killed']} killed by simulation, of {counts['killed'] + counts['survived']}; {counts['outside']} are "
          f"outside of what jobs can show, {counts['does']} did not build")
    return 0


def main() -> int:
    asked = options()
    if asked.by == "sim":
        return by_simulation(asked)
    if os.geteuid() != 0:
        sys.exit("mutants: only root can make the namespaces that a mutant needs around it")
    benches: Queue[Bench] = Queue()
    for number in range(asked.jobs):
        bench = Bench(f"tree-{number}", "-Ddebug=false")
        benches.put(bench)
    sanitized = Bench("sanitized", "-Ddebug=false", "-Db_sanitize=address,undefined")
    reach = Reach(coverage(list(bench.tests.values()), bench.tree, asked.jobs))
    kept = dict(json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()) if RESULTS.exists() else {}
    counts: Counter[str] = Counter()

    def take(work: tuple[int, tuple[str, Mutant]]) -> None:
        number, (key, mutant) = work
        result = kept.get(key, "")
        if not result or asked.again and not result.startswith("killed"):
            mine = benches.get()
            try:
                result = try_one(mine, sanitized, mutant, reach, asked.seconds)
            finally:
                benches.put(mine)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, result]) + "\n")
        reach.learn(mutant.path, result)
        counts[result.split()[0].rstrip(":")] += 1
        show(number, result, mutant)

    with ThreadPoolExecutor(asked.jobs) as pool:
        for _ in pool.map(take, enumerate(choose(bench.tree, asked.count, asked.seed, asked.only), 1)):
            pass
    ran = counts["killed"] + counts["survived"] + counts["time"]
    print(f"mutants: {counts['killed']} killed of {ran}; {counts['survived']} survived, {counts['time']} were not killed in time, "
          f"{counts['does']} did not build")
    return 0


if __name__ == "__main__":
    sys.exit(main())
