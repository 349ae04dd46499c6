#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The batch script of the scenario "slurm": surrogate steps, one after the other in each of two lanes, until the file "enough" is there.
What came of each is a line of JSON in "steps".

    steps.py DISTRUN PAUSE
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

LANES = 2
LIMIT_S = 2
# Says when it is asked to end.
TIMED = 'trap "date +%s.%N >{0}.end; exit 0" TERM; sleep 1000 & wait'


class Lane(threading.Thread):
    def __init__(self, distrun: str, pause: float, number: int) -> None:
        super().__init__()
        self.distrun, self.pause, self.number = distrun, pause, number
        self.random = random.Random(number)
        self.count = 0

    def step(self, kind: str, wanted: int, options: list[str], script: str) -> None:
        name = f"{kind}-{self.number}-{self.count}"
        self.count += 1
        began = time.time()
        with open(f"{name}.err", "w", encoding="utf-8") as err:
            status = subprocess.call([self.distrun, "surrogate", "-v", f"--name={name}", *options, "--", "sh", "-c", script.format(name)],
                                     stderr=err)
        told = Path(f"{name}.err").read_text(encoding="utf-8")
        ran = -1.0
        if Path(f"{name}.end").exists():
            # Never less than it was, and as a busy machine needs longer to start a command, it may be more.
            ran = float(Path(f"{name}.end").read_text(encoding="utf-8")) - began
        for end in ("err", "end"):
            Path(f"{name}.{end}").unlink(missing_ok=True)
        line = json.dumps({"name": name, "wanted": wanted, "status": status, "began": began, "took": time.time() - began, "ran": ran,
                           "mirrored": "mirrors the command" in told, "told": told[-1500:]})
        with open("steps", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def turn(self) -> None:
        """One of each kind."""
        number = self.random.randrange(1, 100)
        self.step("exit", number, [], f"sleep 1; exit {number}")
        self.step("signal", 138, [], "kill -USR1 $$")
        self.step("limit", 124, [f"--job-time-sec={LIMIT_S}", "--grace=2"], TIMED)
        self.step("fine", 0, [f"--job-time-sec={LIMIT_S + 30}"], "sleep 1")
        budget = f"budget-{self.number}-{self.count}"
        for wanted, script in ((0, "sleep 1"), (124, "sleep 1000"), (124, "echo it-was-started >&2")):
            self.step("budget", wanted, ["--job-time-sec=3", f"--job-time-budget={budget}", "--grace=2"], script)
        Path(budget).unlink()

    def run(self) -> None:
        while not os.path.exists("enough"):
            self.turn()
            time.sleep(self.pause)


def main() -> None:
    lanes = [Lane(sys.argv[1], float(sys.argv[2]), number) for number in range(LANES)]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    Path("finished").touch()
    # Accounting has the steps of a job that still runs.
    while not os.path.exists("released"):
        time.sleep(0.5)


main()
