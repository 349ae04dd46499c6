# SPDX-License-Identifier: Apache-2.0
"""Judges mutants by simulation alone (tests/sim): jobs from one seed on, and the tapes. A job that breaks a promise kills a mutant."""

import subprocess
import sys

from sites import Mutant
from tree import ROOT, Tree

# What the simulator runs; what it plays itself, or makes easy, is not asked for.
ONLY = "src/rollcall/,src/together/"

SEED = 1


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
        for words in ([*self.tapes] if self.tapes else None, [f"--seed={SEED}", f"--time={seconds}", "--stop", "--no-shrink"]):
            if words is None:
                continue
            try:
                done = subprocess.run(sim + words, capture_output=True, text=True, errors="replace", timeout=seconds + 70, check=False)
            except subprocess.TimeoutExpired:
                return "it hangs"
            if done.returncode:
                broken = [line for line in done.stdout.splitlines() if line.startswith(("broken", "# job "))]
                return broken[0][:160] if broken else f"status {done.returncode}"
        return ""

    def judge(self, mutant: Mutant, seconds: float) -> str:
        file = self.tree.path / mutant.path
        original = file.read_text(encoding="utf-8")
        lines = original.split("\n")
        lines[mutant.line] = mutant.after
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            if not self.tree.make("tests/sim"):
                return "does not build"
            why = self.why_killed(seconds)
            return f"killed sim: {why}" if why else "survived"
        finally:
            file.write_text(original, encoding="utf-8")
