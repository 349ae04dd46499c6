#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes each system call of each scenario fail once: with each error that its manual page allows, with less than it was asked
for, and with a kill before and after. What may come out: what comes out without the fault, or one error line, with nothing
started and nothing left. As root, as TAP.

    faults.py DISTINIT DISTRUN [--seconds=N --seed=N] [--first] [SCENARIO]...

--seconds: stop after so many, and choose at random what to try. --first: stop at the first finding. Known and accepted outcomes are in accepted.txt.
"""

import argparse
import ctypes
import fcntl
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
from collections import Counter
from errno import EINTR, errorcode
from pathlib import Path
from typing import NamedTuple, Optional

import syscalls
from scenarios import SCENARIOS, Scenario, Stage, files_of
from tracer import Call, Fault, Traced, Tracer

# After EINTR, these are called again.
RETRIED = (*syscalls.COUNTED, "wait4", "waitid", "poll", "ppoll", "nanosleep", "clock_nanosleep", "rt_sigtimedwait", "accept", "accept4")
NAMES_CALLED = ("gosu", "tini")


class Outcome(NamedTuple):
    status: Optional[int]
    out: str
    err: str
    before: dict[str, tuple[int, bytes]]
    after: dict[str, tuple[int, bytes]]
    traced: Traced


def enter_room(folder: str) -> None:
    """A network of our own, in which h0 to h9 are addresses; and orphans come to us."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000 | 0x00020000) < 0:
        print("1..0 # SKIP no namespaces for mounts and networks here")
        sys.exit(0)
    libc.prctl(36, 1, 0, 0, 0)
    Path(folder, "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.{100 + i} h{i}\n" for i in range(10)))
    Path(folder, "resolv.conf").write_text("nameserver 127.0.0.1\n")
    subprocess.run(f"mount --make-rprivate / && mount --bind {folder}/hosts /etc/hosts && mount --bind {folder}/resolv.conf "
                   "/etc/resolv.conf", shell=True, check=True)
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))


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
                                            stage.peer.pid if stage.peer else 0)
        texts = [Path(folder, name).read_text(errors="replace") for name in (".out", ".err")]
        return Outcome(traced.status, scenario.tidy(texts[0].replace(folder, "")), texts[1], stage.before, files_of(folder), traced)
    finally:
        stage.close()
        shutil.rmtree(folder, ignore_errors=True)


def same_files(a: dict[str, tuple[int, bytes]], b: dict[str, tuple[int, bytes]], scenario: Scenario) -> bool:
    return {name: a[name] for name in a if name not in scenario.logs} == {name: b[name] for name in b if name not in scenario.logs}


def leaves_out(plain: Outcome, got: Outcome) -> bool:
    """Something that is not needed is left out, and a warning says so."""
    lines = plain.out.replace("\0", "\n").splitlines()
    return got.status == plain.status and " left out" in got.err and ": warning: " in got.err and all(
        line in lines for line in got.out.replace("\0", "\n").splitlines())


def error_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if ": error: " in line or line.startswith(("error:", "gosu:"))]


def judge_kill(scenario: Scenario, plain: Outcome, got: Outcome) -> str:
    """Killed at any point, files are whole: as before, or as after. A new one beside, not yet renamed, may stay."""
    for name, content in got.after.items():
        known = name in got.before or name in plain.after
        beside = any(name.startswith(f"{other}.") for other in plain.after) or name.endswith(scenario.may_leave or ("//",))
        if not known and not beside:
            return "after a kill, there is a file that should not be"
        if known and name not in scenario.logs and content not in (got.before.get(name), plain.after.get(name)):
            return f"after a kill, the file {name} is neither as before nor as after"
    lost = [name for name in got.before if name not in got.after]
    return f"after a kill, the file {lost[0]} is gone" if lost else ""


def judge(scenario: Scenario, fault: Fault, plain: Outcome, got: Outcome) -> str:
    """What is wrong; '' if nothing is."""
    if got.status is None:
        return "it hangs"
    if fault.kind.startswith("kill"):
        return judge_kill(scenario, plain, got)
    if got.traced.left != plain.traced.left and "they are left running" not in got.err:
        return f"it leaves processes behind: {got.traced.left}"
    if got.status == plain.status and got.out == plain.out and same_files(got.after, plain.after, scenario):
        return "it says an error, and goes on" if error_lines(got.err) and not error_lines(plain.err) else ""
    if leaves_out(plain, got):
        return ""
    if fault.kind == "short" or (fault.kind == "error" and fault.value == EINTR and fault.name in RETRIED):
        return f"it must go on, but: status {got.status}"
    if fault.kind == "signal":
        expected = scenario.signals or (-fault.value,)
        return "" if got.status in (*expected, -fault.value) else f"after a signal, the status is {got.status}"
    statuses = (125, *scenario.statuses, *((126, 127) if fault.name == "execve" else ()))
    if got.status not in statuses:
        return f"status {got.status}; {'the same' if got.out == plain.out else 'another'} output"
    # What could not be written cannot be taken back.
    writes_out = fault.name in ("write", "writev") and plain.out.startswith(got.out)
    if got.out and not writes_out:
        return f"status {got.status}, but something was started or printed"
    if len(error_lines(got.err)) != 1 and not (fault.name in ("write", "writev") and not got.err):
        return f"status {got.status}, and {len(error_lines(got.err))} error lines"
    if not same_files(got.after, got.before, scenario):
        return f"status {got.status}, but files have changed"
    return ""


def faults_of(call: Call, scenario: Scenario) -> list[Fault]:
    at = call[:3]
    errors = syscalls.errors_of(call.name, call.arguments)
    if call.pipe:
        errors = [EINTR] if call.name == "read" else [error for error in errors if error != EINTR]
    out = [Fault(*at, "error", error) for error in errors]
    atomic = call.pipe and call.name == "write"
    if call.name in syscalls.COUNTED and not atomic and call.arguments[2] > 1 and call.result > 1:
        out += [Fault(*at, "short", value) for value in {1, max(1, call.result // 2), call.result - 1}]
    if scenario.kills and call.name not in ("brk", "mmap", "munmap", "mprotect", "arch_prctl", "set_tid_address"):
        out += [Fault(*at, "kill-before"), Fault(*at, "kill-after")]
    if scenario.signals and call.process == "0":
        out.append(Fault(*at, "signal", signal.SIGTERM))
    return out


def accepted() -> list[tuple[str, str, str]]:
    """(scenario or *, call and kind, what is judged), each with its reason in the file."""
    out = []
    for line in (Path(__file__).parent / "accepted.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "\t")):
            scenario, call, verdict = line.split(None, 2)
            out.append((scenario, call, verdict))
    return out


def told(fault: Fault) -> str:
    what = errorcode.get(fault.value, str(fault.value)) if fault.kind == "error" else f"{fault.kind}" + (
        f"={fault.value}" if fault.value else "")
    return f"{fault.name}#{fault.nth}:{what}"


def is_accepted(scenario: Scenario, fault: Fault, verdict: str, known: list[tuple[str, str, str]]) -> bool:
    call = told(fault)
    for whose, pattern, says in known:
        name, _, kind = pattern.partition(":")
        if whose in ("*", scenario.name) and verdict.startswith(says) and name in (fault.name, call.split(":")[0]) and (
                kind in ("", call.split(":")[1])):
            return True
    return False


class Run:
    def __init__(self, programs: dict[str, str], room: str, deadline: float, choose: Optional[random.Random], first: bool) -> None:
        self.programs, self.room, self.deadline, self.choose, self.first = programs, room, deadline, choose, first
        self.known = accepted()
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []

    def plan(self, scenario: Scenario) -> tuple[Outcome, list[Fault]]:
        for _ in range(3):
            plain = perform(scenario, self.programs, None, self.room)
            if plain.status is not None and not error_lines(plain.err):
                break  # else a busy machine may have been too slow for it
        if plain.status is None or error_lines(plain.err):
            self.findings.append(f"{scenario.name}: it fails without any fault: status {plain.status}: {plain.err.strip()}")
            print("# " + self.findings[-1], flush=True)
            return plain, []
        faults = [fault for call in plain.traced.calls for fault in faults_of(call, scenario)]
        return plain, list(dict.fromkeys(faults))

    def try_one(self, scenario: Scenario, plain: Outcome, fault: Fault) -> None:
        got = perform(scenario, self.programs, fault, self.room)
        if not got.traced.reached:
            self.counts["not reached"] += 1
            return
        self.counts["tried"] += 1
        verdict = judge(scenario, fault, plain, got)
        if verdict and not is_accepted(scenario, fault, verdict, self.known):
            # Two that race with each other, or a busy machine, are no finding.
            again = judge(scenario, fault, plain, perform(scenario, self.programs, fault, self.room))
            if again == verdict:
                said = got.err.strip().replace("\n", " | ")[:200]
                self.findings.append(f"{scenario.name} {fault.process} {told(fault)}: {verdict} ({said})")
                print("# " + self.findings[-1], flush=True)
        elif verdict:
            self.counts["accepted"] += 1

    def run(self, scenarios: list[Scenario]) -> None:
        plans = [(scenario, *self.plan(scenario)) for scenario in scenarios]
        for scenario, plain, faults in plans:
            print(f"# {scenario.name}: status {plain.status}, {len(plain.traced.calls)} calls, {len(faults)} faults", flush=True)
        work = [(scenario, plain, fault) for scenario, plain, faults in plans for fault in faults]
        if self.choose:
            self.choose.shuffle(work)
        for scenario, plain, fault in work:
            if time.monotonic() > self.deadline or (self.first and self.findings):
                break
            self.try_one(scenario, plain, fault)


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("distrun")
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", action="store_true")
    asked = parser.parse_intermixed_args()
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        print("1..0 # SKIP it needs root, on x86-64")
        return 0
    programs = {"distinit": os.path.realpath(asked.distinit), "distrun": os.path.realpath(asked.distrun)}
    chosen = [scenario for scenario in SCENARIOS if not asked.scenarios or scenario.name in asked.scenarios]
    seed = asked.seed or random.randrange(1 << 30)
    with tempfile.TemporaryDirectory(prefix="faults-") as room:
        os.chmod(room, 0o755)
        enter_room(room)
        listener = socket.create_server(("", 29501))
        run = Run(programs, room, time.monotonic() + (asked.seconds or 1e9), random.Random(seed) if asked.seconds else None,
                  asked.first)
        run.run(chosen)
        listener.close()
        subprocess.run("umount /etc/hosts /etc/resolv.conf", shell=True, check=False)
    print(f"# {run.counts['tried']} faults tried in {len(chosen)} scenarios, {len(run.findings)} findings, {run.counts['accepted']} accepted "
          f"outcomes, {run.counts['not reached']} not reached" + (f"; seed {seed}" if asked.seconds else ""))
    print("1..1\n" + ("not ok" if run.findings or not run.counts["tried"] else "ok") + " 1 - each system call may fail once")
    return bool(run.findings)


if __name__ == "__main__":
    sys.exit(main())
