# SPDX-License-Identifier: Apache-2.0
"""Judges mutants by simulation alone (tests/sim): jobs from one seed on, and the tapes. A job that breaks a promise kills a mutant."""

import re
import subprocess
import sys

from sites import Mutant
from tree import ROOT, Tree

# What the simulator runs; what it plays itself, or makes easy, is not asked for.
ONLY = "src/meet/rollcall/,src/meet/together/"

SEED = 1

# The name of a descriptor, and of a time.
DESCRIPTOR = r"\w*(?:fd|listener|held|epoll|reserved)\w*"
TIME = r"(?:now|age|ago|\w*(?:_ms|_MS|_at|deadline|until|started|since))\b"


def function_of(lines: list[str], number: int) -> str:
    """The name of the function around a line; "" for none."""
    for line in reversed(lines[: number + 1]):
        match = re.match(r"[a-z].*?(\w+)\(", line)
        if match and not line.endswith(";"):
            return match[1]
    return ""


def only(mutant: Mutant, before: str, after: str) -> bool:
    """Whether the change is this one in one place, and nothing else: patterns with the same groups."""
    for match in re.finditer(before, mutant.before):
        changed = mutant.before[: match.start()] + re.sub(before, after, match[0]) + mutant.before[match.end() :]
        if changed == mutant.after:
            return True
    return False


def why_outside(mutant: Mutant, lines: list[str]) -> str:
    """Why no simulated job can show this change; "" if one can. Each rule holds for all changes of its form; what means the same in one
    place only is in equivalent.txt. They are named in the output, and not counted."""
    if mutant.path.endswith("/together/look.c"):
        return "real files: its child is played by the simulator"
    if "SYS_ioctl" in mutant.before:
        return "kernels that do not know PIDFD_GET_INFO"
    if function_of(lines, mutant.line) == "node_of_task" or "SCOPE_TASK" in mutant.before:
        return "tasks: jobs are of nodes"
    if only(mutant, rf"({DESCRIPTOR}) >= 0", r"\1 > 0") or only(mutant, rf"({DESCRIPTOR}) < 0", r"\1 <= 0") or only(mutant, rf"({DESCRIPTOR}) < 0", r"\1 < 1"):
        return "descriptor 0 is inherited: none of ours is 0"
    if only(mutant, rf"({DESCRIPTOR} = )-1", r"\1-2") or only(mutant, r"(watch_poll\(.*), -1, 0,", r"\1, -2, 0,"):
        return "all negative descriptors are none"
    if re.search(r"\breturn .*\? (failed|err_set)\(", mutant.before) and only(mutant, r" : 0;", " : 1;"):
        return "who calls asks for less than 0"
    for before, after in ((">=", ">"), (">", ">="), ("<", "<="), ("<=", "<")):
        if only(mutant, rf"({TIME}[^&|]*? ){before} ", rf"\1{after} ") or only(mutant, rf" {before} ([^&|]*{TIME})", rf" {after} \1"):
            return "a millisecond of a time limit"
    return ""


class Simulator:
    """A tree with its simulator."""

    def __init__(self, number: int):
        self.tree = Tree(f"sim-{number}", "-Doptimization=2", "-Danalyze=false")
        self.accepted = ",".join(
            [line.split(":")[0] for line in self.lines("accepted.txt")] + [line[9:] for line in self.lines("known.txt") if line.startswith("promise: ")])
        self.tapes = [str(tape) for tape in sorted((ROOT / "tests/sim/found").glob("*.tape"))
                      if f"tape: {tape.stem}" not in self.lines("known.txt")]
        if not self.tree.make("tests/sim"):
            sys.exit("mutants: the simulator does not build")

    def lines(self, name: str) -> list[str]:
        text = (ROOT / "tests/sim" / name).read_text(encoding="utf-8")
        return [line for line in text.splitlines() if line and not line.startswith("#")]

    def why_killed(self, seconds: float) -> str:
        sim = [str(self.tree.build / "tests/sim"), f"--accept={self.accepted}"]
        for words in ([*self.tapes] if self.tapes else None, [f"--seed={SEED}", f"--processor={seconds}", "--stop", "--no-shrink"]):
            if words is None:
                continue
            try:
                done = subprocess.run(sim + words, capture_output=True, text=True, errors="replace", timeout=60 * seconds + 300, check=False)
            except subprocess.TimeoutExpired:
                return "it hangs"
            if done.returncode:
                broken = [line for line in done.stdout.splitlines() if line.startswith(("broken", "# job "))]
                return broken[0][:160] if broken else f"status {done.returncode}"
        return ""

    def judge(self, mutant: Mutant, seconds: float) -> str:
        why = why_outside(mutant, (self.tree.path / mutant.path).read_text(encoding="utf-8").split("\n"))
        if why:
            return f"outside: {why}"
        with self.tree.changed(mutant):
            if not self.tree.make("tests/sim"):
                return "does not build"
            why = self.why_killed(seconds)
            return f"killed sim: {why}" if why else "survived"
