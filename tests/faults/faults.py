#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes each system call of each scenario fail once: with each error that its manual page allows, with less than it was asked
for, with a kill before and after, and with a signal before. What may come out is in judge.py. As root, as TAP.

    faults.py DISTINIT DISTRUN [--seconds=N --seed=N] [--jobs=N] [SCENARIO]...

--seconds: stop after so many, and choose at random what to try: first one fault of each scenario. --jobs: so many at once,
each in a network of its own (default: five for each processor, as most only wait). Accepted outcomes are in accepted.txt.
"""

import argparse
import ctypes
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Optional

import judge
import syscalls
from judge import Outcome, error_lines, told
from scenarios import SCENARIOS, Files, Scenario, Stage
from tracer import Call, Fault, Tracer

NAMES_CALLED = ("gosu", "tini", "dumb-init", "catatonit")
NEW_NETWORK, NEW_MOUNTS, SUBREAPER, DEATH_SIGNAL = 0x40000000, 0x00020000, 36, 1
# A kill before one of these leaves what a kill before the call in front of it leaves.
NO_TRACE = ("brk", "mmap", "munmap", "mprotect", "arch_prctl", "set_tid_address", "getpid", "gettid", "getppid", "uname", "clock_gettime",
            "getresuid", "getresgid", "getgroups", "capget", "rt_sigpending", "sched_getaffinity", "readlink", "fstat", "stat", "lstat")

libc = ctypes.CDLL(None, use_errno=True)


def enter_room(folder: str) -> None:
    """Mounts and a network of our own, in which h0 to h9 are addresses; and orphans come to us."""
    if libc.unshare(NEW_NETWORK | NEW_MOUNTS) < 0:
        print("1..0 # SKIP no namespaces for mounts and networks here")
        sys.exit(0)
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    Path(folder, "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.{100 + i} h{i}\n" for i in range(10)))
    Path(folder, "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    subprocess.run(f"mount --make-rprivate / && mount --bind {folder}/hosts /etc/hosts && mount --bind {folder}/resolv.conf "
                   "/etc/resolv.conf", shell=True, check=True)
    loopback_up()


def loopback_up() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))


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
                                            stage.peer.pid if stage.peer else 0, scenario.peer_seconds if scenario.peer_ends else 0)
        after, out, err = stage.files(), stage.text(".out").replace(folder, ""), stage.text(".err")
        again = None
        if fault and fault.kind.startswith("kill") and scenario.files and not scenario.peer:
            again = run_again(program, argv, stage)
        return Outcome(traced.status, scenario.tidy(out), err, stage.before, after, traced, stage.text(".peer") if stage.peer else "", again)
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
    atomic = call.on.startswith("pipe") and call.name == "write" and call.arguments[2] <= 4096
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


def plan(scenario: Scenario, plain: Outcome) -> list[Fault]:
    calls = plain.traced.calls
    if scenario.since:
        found = [i for i, call in enumerate(calls) if call[:3] == ("0", *scenario.since)]
        calls = calls[found[0]:] if found else []
    mine = [i for i, call in enumerate(calls) if call.process == "0"]
    faults = [fault for i, call in enumerate(calls) for fault in faults_of(call, scenario, bool(mine) and i == mine[-1])]
    return list(dict.fromkeys(faults))


class Result(NamedTuple):
    """Of one fault. word: tried, accepted, finding or missed (the call did not come)."""

    number: int
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
        return self.counts["tried"] + self.counts["accepted"] + self.counts["finding"]

    def show(self) -> None:
        if not self.shown:
            c = self.counts
            print(f"# {self.scenario.name:22}{len(self.plain.traced.calls):7}{len(self.faults):8}{self.all():8}{c['accepted']:10}{c['missed']:8}"
                  f"{c['finding']:10}{self.seconds:9.1f}", flush=True)
            self.shown = True


class Run:
    def __init__(self, programs: dict[str, str], room: str, deadline: float) -> None:
        self.programs, self.room, self.deadline = programs, room, deadline
        self.known = judge.accepted()
        self.findings: list[str] = []

    def find(self, text: str) -> None:
        self.findings.append(text)
        print("# " + text, flush=True)

    def row(self, scenario: Scenario) -> Row:
        for _ in range(3):
            plain = perform(scenario, self.programs, None, self.room)
            if plain.status is not None and not error_lines(plain.err):
                return Row(scenario, plain, plan(scenario, plain))
            # else a busy machine may have been too slow for it
        self.find(f"{scenario.name}: it fails without any fault: status {plain.status}: {plain.err.strip()}")
        return Row(scenario, plain, [])

    def attempt(self, row: Row, fault: Fault) -> tuple[str, str]:
        """Returns the word and the text of a result."""
        got = perform(row.scenario, self.programs, fault, self.room)
        if not got.traced.reached:
            return "missed", ""
        verdict = judge.judge(row.scenario, fault, row.plain, got)
        if not verdict:
            return "tried", ""
        if judge.is_accepted(row.scenario, fault, verdict, self.known):
            return "accepted", ""
        # Two that race with each other, or a busy machine, are no finding.
        for _ in range(2):
            got = perform(row.scenario, self.programs, fault, self.room)
            if got.traced.reached and judge.judge(row.scenario, fault, row.plain, got) == verdict:
                said = got.err.strip().replace("\n", " | ")[-300:]
                return "finding", f"{row.scenario.name} {fault.process} {told(fault)}: {verdict} ({said})"
        return "tried", f"{row.scenario.name} {fault.process} {told(fault)}: only once: {verdict}"

    def work(self, todo: list[tuple[Row, Fault]], numbers: int, results: int) -> None:
        """In a process of its own: take the next number, as long as there is one."""
        libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
        libc.unshare(NEW_NETWORK)
        loopback_up()
        with socket.create_server(("", 29501)):
            while time.monotonic() < self.deadline:
                bytes_read = os.read(numbers, 4)
                if not bytes_read:
                    break
                number, = struct.unpack("i", bytes_read)
                start = time.monotonic()
                word, text = self.attempt(*todo[number])
                os.write(results, json.dumps(Result(number, word, time.monotonic() - start, text[:3000])).encode() + b"\n")

    def start_worker(self, todo: list[tuple[Row, Fault]], pipes: tuple[tuple[int, int], tuple[int, int]]) -> int:
        (numbers, more), (taken, results) = pipes
        worker = os.fork()
        if worker == 0:
            status = 1
            try:
                os.close(more)
                os.close(taken)
                self.work(todo, numbers, results)
                status = 0
            except BaseException:  # pylint: disable=broad-exception-caught # whatever it is, the parent must not go on here
                traceback.print_exc()
            finally:
                os._exit(status)
        return worker

    def take(self, todo: list[tuple[Row, Fault]], result: Result) -> None:
        row, _ = todo[result.number]
        row.counts[result.word] += 1
        row.seconds += result.seconds
        if result.word == "finding":
            self.find(result.text)
        elif result.text:
            print("# " + result.text, flush=True)
        if sum(row.counts.values()) == len(row.faults):
            row.show()

    def run(self, todo: list[tuple[Row, Fault]], jobs: int) -> None:
        pipes = (os.pipe(), os.pipe())
        (numbers, more), (taken, results) = pipes
        fcntl.fcntl(more, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.write(more, b"".join(struct.pack("i", number) for number in range(len(todo))))
        workers = [self.start_worker(todo, pipes) for _ in range(jobs)]
        for number in (numbers, more, results):
            os.close(number)
        with os.fdopen(taken, encoding="utf-8") as lines:
            for line in lines:
                values: list[Any] = json.loads(line)
                self.take(todo, Result(*values))
        for worker in workers:
            if os.waitpid(worker, 0)[1]:
                self.find("a worker of this tool has failed")


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
    parser.add_argument("--jobs", type=int, default=5 * (os.cpu_count() or 1))
    asked = parser.parse_intermixed_args()
    unknown = set(asked.scenarios) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        parser.error(f"no such scenario: {' '.join(sorted(unknown))}")
    return asked


def main() -> int:
    asked = read_arguments()
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        print("1..0 # SKIP it needs root, on x86-64")
        return 0
    chosen = [scenario for scenario in SCENARIOS if not asked.scenarios or scenario.name in asked.scenarios]
    seed, start = asked.seed or random.randrange(1 << 30), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as room:
        os.chmod(room, 0o755)
        enter_room(room)
        # Copies, as somebody may build meanwhile.
        programs = {name: shutil.copy(path, f"{room}/{name}") for name, path in (("distinit", asked.distinit), ("distrun", asked.distrun))}
        run = Run(programs, room, start + (asked.seconds or 1e9))
        with socket.create_server(("", 29501)):
            rows = [run.row(scenario) for scenario in chosen]
        print(f"# {'scenario':22}{'calls':>7}{'faults':>8}{'tried':>8}{'accepted':>10}{'missed':>8}{'findings':>10}{'seconds':>9}")
        run.run(in_order(rows, random.Random(seed) if asked.seconds else None), asked.jobs)
        subprocess.run("umount /etc/hosts /etc/resolv.conf", shell=True, check=False)
    for row in rows:
        row.show()
    tried, total = sum(row.all() for row in rows), Counter[str]()
    for row in rows:
        total.update(row.counts)
    print(f"# {tried} of {sum(len(row.faults) for row in rows)} faults tried in {len(chosen)} scenarios in {time.monotonic() - start:.0f} s, "
          f"{len(run.findings)} findings, {total['accepted']} accepted outcomes, {total['missed']} not reached" +
          (f"; seed {seed}" if asked.seconds else ""))
    print("1..1\n" + ("not ok" if run.findings or not tried else "ok") + " 1 - each system call may fail once")
    return bool(run.findings)


if __name__ == "__main__":
    sys.exit(main())
