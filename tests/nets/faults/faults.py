#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes each system call of each scenario fail once: with each error that its manual page allows, with less than it was asked
for, with a kill before and after, and with a signal before. What may come out is in judge.py. As root, as TAP.

    faults.py DISTINIT DISTRUN [--seconds=N --seed=N] [--jobs=N] [--first] [SCENARIO]...

--first: stop at the first finding. --seconds: try for so long, and choose at random what to try: first one fault of each
scenario. --jobs: so many at once, each in a network of its own (default: 32 for each processor, as most only wait).
Accepted outcomes are in accepted.txt.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Optional

import judge
import syscalls
from crew import at_once, enter_room, leave_room
from judge import Outcome, error_lines, told
from scenarios import SCENARIOS, Files, Scenario, Stage
from situations import SITUATIONS, Situation
from tracer import Call, Fault, Tracer

NAMES_CALLED = ("gosu", "tini", "dumb-init", "catatonit")
# A kill before one of these leaves what a kill before the call in front of it leaves.
NO_TRACE = ("brk", "mmap", "munmap", "mprotect", "arch_prctl", "set_tid_address", "getpid", "gettid", "getppid", "uname", "clock_gettime",
            "getresuid", "getresgid", "getgroups", "capget", "rt_sigpending", "sched_getaffinity", "readlink", "fstat", "stat", "lstat")


def perform(scenario: Scenario, programs: dict[str, str], fault: Optional[Fault], room: str) -> Outcome:
    folder = tempfile.mkdtemp(dir=room)
    os.chmod(folder, 0o755)
    stage = Stage(scenario, programs, folder)
    try:
        program = programs[scenario.program]
        argv = [word.replace("FOLDER", folder) for word in scenario.words]
        if argv[0] not in NAMES_CALLED:
            argv.insert(0, program)
        traced = Tracer(program, fault).run(program, argv, stage.environment(), stage.prepare, scenario.seconds,
                                            stage.peer.pid if stage.peer else 0, scenario.peer_seconds if scenario.peer_ends else 0,
                                            scenario.as_pid_1, scenario.outsider)
        after, out, err = stage.files(), stage.text(".out").replace(folder, ""), stage.text(".err")
        again = None
        if fault and fault.kind.startswith("kill") and scenario.files and not scenario.peer:
            again = run_again(program, argv, stage)
        return Outcome(traced.status, scenario.tidy(out), err, stage.before, after, traced, stage.text(".peer") if stage.peer else "", again,
                       {name: os.lstat(f"{folder}/{name}").st_uid for name in after if os.path.lexists(f"{folder}/{name}")})
    finally:
        stage.close()
        shutil.rmtree(folder, ignore_errors=True)


def run_again(program: str, argv: list[str], stage: Stage) -> tuple[int, Files]:
    """Who was killed is started again: what comes out."""
    with subprocess.Popen(argv, executable=program, env=stage.environment(), preexec_fn=stage.prepare) as process:  # noqa: PLW1509
        try:
            status = process.wait(stage.scenario.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            status = -signal.SIGKILL
    return status, stage.files()


def faults_of(call: Call, scenario: Scenario, last: bool) -> list[Fault]:
    at = call[:3]
    out = [Fault(*at, "error", error, call.on) for error in syscalls.errors_of(call.name, call.arguments, call.on)]
    # A datagram of netlink, which the C library does not wait for, comes as a whole; and a look shows all that is there.
    whole = call.name == "recvfrom" and (call.arguments[3] == socket.MSG_DONTWAIT or call.arguments[3] & socket.MSG_PEEK)
    atomic = whole or (call.on.startswith("pipe") and call.name == "write" and call.arguments[2] <= 4096)
    if call.name in syscalls.COUNTED and not atomic and call.arguments[2] > 1 and call.result > 1:
        out += [Fault(*at, "short", value, call.on) for value in {1, max(1, call.result // 2), call.result - 1}]
    if scenario.kills and call.name not in NO_TRACE:
        out.append(Fault(*at, "kill-before"))
        # The first process may share memory with a child: only there a kill after this call is not one before the next.
        if last or call.process != "0":
            out.append(Fault(*at, "kill-after"))
    if call.process == "0":
        out += [Fault(*at, "signal", number) for number in scenario.signals]
    return out


def works(scenario: Scenario, plain: Outcome) -> bool:
    return scenario.is_right(plain, bool(error_lines(plain.err)))


def plan(scenario: Scenario, plain: Outcome) -> list[Fault]:
    calls = plain.traced.calls
    if isinstance(scenario, Situation) and scenario.once:
        return []

    def place_of(call: tuple[str, int]) -> int:
        return [(other.process, other.name, other.nth) for other in calls].index(("0", *call))

    calls = calls[place_of(scenario.since) if scenario.since else 0:place_of(scenario.until) if scenario.until else None]
    mine = [i for i, call in enumerate(calls) if call.process == "0"]
    faults = [fault for i, call in enumerate(calls) for fault in faults_of(call, scenario, bool(mine) and i == mine[-1])]
    return list(dict.fromkeys(faults))


class Result(NamedTuple):
    """Of one fault. word: tried, accepted, suspect or missed (the call did not come)."""

    word: str
    seconds: float
    text: str = ""


@dataclass
class Row:
    """What the table says of a scenario."""

    scenario: Scenario
    plain: Outcome
    faults: list[Fault]
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0
    shown: bool = False

    def all(self) -> int:
        return self.counts["tried"] + self.counts["accepted"] + self.counts["suspect"]

    def show(self) -> None:
        if not self.shown:
            c = self.counts
            print(f"# {self.scenario.name:22}{len(self.plain.traced.calls):7}{len(self.faults):8}{self.all():8}{c['accepted']:10}{c['missed']:8}"
                  f"{c['suspect']:9}{self.seconds:9.1f}", flush=True)
            self.shown = True


class Run:
    def __init__(self, programs: dict[str, str], room: str, jobs: int) -> None:
        self.programs, self.room, self.jobs = programs, room, jobs
        self.known = judge.accepted()
        self.findings: list[str] = []

    def find(self, text: str) -> None:
        self.findings.append(text)
        print("# " + text, flush=True)

    def plain(self, scenario: Scenario) -> Outcome:
        """What comes out without a fault. A busy machine may be too slow for it, so it is tried again."""
        for _ in range(3):
            outcome = perform(scenario, self.programs, None, self.room)
            if works(scenario, outcome):
                break
        return outcome

    def plan(self, scenarios: list[Scenario]) -> list[Row]:
        tasks = [partial(self.plain, scenario) for scenario in scenarios]
        found = dict(at_once(self.jobs, self.room, tasks, float("inf")))
        slow = [number for number, plain in found.items() if not works(scenarios[number], plain)]
        for again, plain in at_once(1 if slow else 0, self.room, [tasks[number] for number in slow], float("inf")):
            found[slow[again]] = plain
            if not works(scenarios[slow[again]], plain):
                self.find(f"{scenarios[slow[again]].name}: it is wrong without any fault: status {plain.status}: {plain.err.strip()} "
                          f"{plain.out[-200:]!r}")
        return [Row(scenarios[number], plain, plan(scenarios[number], plain) if works(scenarios[number], plain) else [])
                for number, plain in sorted(found.items())]

    def attempt(self, row: Row, fault: Fault) -> Result:
        start = time.monotonic()
        word, text = self.judged(row, fault)
        return Result(word, time.monotonic() - start, text)

    def judged(self, row: Row, fault: Fault) -> tuple[str, str]:
        """Returns the word and the text of a result."""
        got = perform(row.scenario, self.programs, fault, self.room)
        if not got.traced.reached:
            return "missed", ""
        verdict = judge.judge(row.scenario, fault, row.plain, got)
        if not verdict:
            return "tried", ""
        if judge.is_accepted(row.scenario, fault, verdict, self.known):
            return "accepted", ""
        said = got.err.strip().replace("\n", " | ")[-300:]
        return "suspect", f"{row.scenario.name} {fault.process} {told(fault)}: {verdict} ({said})"

    def run(self, todo: list[tuple[Row, Fault]], deadline: float, first: bool) -> None:
        """first: until the first finding."""
        suspects = []
        for number, result in at_once(self.jobs, self.room, [partial(self.attempt, row, fault) for row, fault in todo], deadline):
            row = todo[number][0]
            row.counts[result.word] += 1
            row.seconds += result.seconds
            if result.word == "suspect":
                suspects.append(todo[number])
                if first:
                    self.try_again(suspects[-1:])
                    suspects.pop()
                    if self.findings:
                        break
            if sum(row.counts.values()) == len(row.faults):
                row.show()
        if suspects:
            self.try_again(suspects)

    def try_again(self, suspects: list[tuple[Row, Fault]]) -> None:
        """One after the other. What passes is no finding: two raced with each other, or the machine was busy."""
        print(f"# {len(suspects)} once more, alone", flush=True)
        for _, result in at_once(1, self.room, [partial(self.attempt_thrice, row, fault) for row, fault in suspects], float("inf")):
            if result.word == "suspect":
                self.find(result.text)

    def attempt_thrice(self, row: Row, fault: Fault) -> Result:
        for _ in range(3):
            result = self.attempt(row, fault)
            if result.word != "suspect":
                break
        return result


def in_order(rows: list[Row], choose: Optional[random.Random]) -> list[tuple[Row, Fault]]:
    """All; or in random order, first one of each scenario."""
    todo = [(row, fault) for row in rows for fault in row.faults]
    if not choose:
        return todo
    first = [(row, choose.choice(row.faults)) for row in rows if row.faults]
    choose.shuffle(todo)
    return first + todo


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("distrun")
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--jobs", type=int, default=32 * (os.cpu_count() or 1))
    asked = parser.parse_intermixed_args()
    unknown = set(asked.scenarios) - {scenario.name for scenario in (*SCENARIOS, *SITUATIONS)}
    if unknown:
        parser.error(f"no such scenario: {' '.join(sorted(unknown))}")
    return asked


def main() -> int:
    asked = read_arguments()
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        print("1..0 # SKIP it needs root, on x86-64")
        return 0
    # In a short run, nothing that takes seconds without a fault.
    every: list[Scenario] = [*SCENARIOS, *(s for s in SITUATIONS if not (asked.seconds and s.once))]
    chosen = [scenario for scenario in every if not asked.scenarios or scenario.name in asked.scenarios]
    seed, start = asked.seed or random.randrange(1 << 30), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as room:
        os.chmod(room, 0o755)
        enter_room(room)
        # Copies, as somebody may build meanwhile.
        programs = {name: shutil.copy(path, f"{room}/{name}") for name, path in (("distinit", asked.distinit), ("distrun", asked.distrun))}
        run = Run(programs, room, asked.jobs)
        rows = run.plan(chosen)
        print(f"# {'scenario':22}{'calls':>7}{'faults':>8}{'tried':>8}{'accepted':>10}{'missed':>8}{'suspect':>9}{'seconds':>9}")
        if not (asked.first and run.findings):
            run.run(in_order(rows, random.Random(seed) if asked.seconds else None), time.monotonic() + (asked.seconds or float("inf")), asked.first)
        leave_room()
    for row in rows:
        row.show()
    tried, total = sum(row.all() for row in rows), Counter[str]()
    for row in rows:
        total.update(row.counts)
    print(f"# {tried} of {sum(len(row.faults) for row in rows)} faults tried in {len(chosen)} scenarios in {time.monotonic() - start:.0f} s, "
          f"{len(run.findings)} findings, {total['accepted']} accepted outcomes, {total['missed']} not reached" +
          (f"; seed {seed}" if asked.seconds else ""))
    print("1..1\n" + ("not ok" if run.findings or not rows else "ok") + " 1 - each system call may fail once")
    return bool(run.findings)


if __name__ == "__main__":
    sys.exit(main())
