# SPDX-License-Identifier: Apache-2.0
"""Starting again: from a failure until all run once more.

With many members: the coordinator is the real program, with a program that ends at TERM; the members are tests/rollcall/crowd. On four
nodes: tests/rollcall/rounds.py, beside torchrun with its own rendezvous, around a training with PyTorch and around a program that
imports nothing. distinit's pause before the second, third and fourth start is left out.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from measure import ROOT, Failed
from report import number, table
from rollcall import CROWD, LIMIT_S, PORT, digests_of, environment, member

sys.path.append(str(ROOT / "tests" / "rollcall"))
import rounds  # noqa: E402

SIZES = [4, 1000]
GOAL_MS = 500


def again(n):
    """@n of which one fails: ms until all have started again."""
    words = ["--together", "--max-restarts=1"]
    said = digests_of(n, *words)
    with subprocess.Popen(member(n, 0, ["--wait=30s", *words])[:-1] + ["sleep", "1000"], env=environment(), stderr=subprocess.PIPE) as coordinator:
        crowd = subprocess.run([CROWD, "call", str(n - 1), str(PORT), "--act=stay", "--again", "--fail=300", f"--size={n}", f"--digests={said}"],
                               capture_output=True, text=True, timeout=LIMIT_S, check=False)
        coordinator.terminate()
        text = coordinator.communicate(timeout=LIMIT_S)[1].decode()
    found = re.search(r"again_ms=([\d.]+)", crowd.stdout)
    if crowd.returncode or not found:
        raise Failed(f"{n} did not start again: {crowd.stdout}{crowd.stderr}{text}")
    return float(found[1])


def section_restarts(_bench, _rows, result, quick):
    subprocess.run(["ninja", "-C", ROOT / "build", "tests/crowd"], stdout=subprocess.DEVNULL, check=True)
    figures = {n: statistics.median(again(n) for _ in range(3 if quick else 7)) for n in SIZES}
    table("Starting again: from a failure until all are told to start, ms", ["members", "median"],
          [[number(n), number(ms, 1)] for n, ms in figures.items()], [])
    if rounds.can_run():
        print(f"not measured: four nodes: {rounds.can_run()}")
    else:
        lines = []
        for light in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                took = rounds.rounds(str(ROOT / "build" / "distinit"), pathlib.Path(folder), [*rounds.WAYS], 1 if quick else 3, light=light)
            figures["light" if light else "training"] = {way: statistics.median(times) for way, times in took.items()}
            lines.append(["imports nothing" if light else "PyTorch", *(number(statistics.median(times), 2) for times in took.values())])
        table("Starting again: four nodes with a network each, from a kill until all run, s",
              ["program", "distinit, torchrun", "distinit alone", "torchrun, c10d"], lines, ["Medians. distinit's pauses are left out."])
    result["restarts"] = figures


def targets_restarts(figures, targets):
    name, limit = "1,000 start again", f"at most {GOAL_MS} ms"
    if not figures:
        targets.missing(name, limit)
        return
    targets.add(name, limit, f"{figures[1000]:.0f} ms", figures[1000] <= GOAL_MS)
    for what in ("light", "training"):
        if what in figures:
            ratio = figures[what]["torchrun"] / figures[what]["direct"]
            targets.add(f"torchrun's own restart ({what})", "at least 5 times as long", f"{ratio:.1f} times", ratio >= 5)
