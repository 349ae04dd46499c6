#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Long runs: nothing is lost, and neither memory nor descriptors grow. As root, as TAP; all scenarios at the same time.

    soak.py DISTINIT DISTRUN CROWD [--time=SECONDS] [--to=FOLDER] [SCENARIO]...

--time: how long each runs; 3600 s. --to: where the report goes; build-soak.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import coordinator
import init
import report
import restarts
import slurm
from watch import Result

SCENARIOS = {"init": init.soak, "coordinator": coordinator.soak, "slurm": slurm.soak, "restarts": restarts.soak}


class Run(threading.Thread):
    def __init__(self, name: str, programs: dict[str, str], seconds: float) -> None:
        super().__init__()
        self.name_of, self.programs, self.seconds = name, programs, seconds
        self.result = Result(name, "it did not run")

    def run(self) -> None:
        began = time.monotonic()
        folder = tempfile.mkdtemp(prefix=f"soak-{self.name_of}-")
        try:
            self.result = SCENARIOS[self.name_of](self.programs, self.seconds, folder)
        except Exception:  # pylint: disable=broad-except # the others go on
            self.result.wrong.append(traceback.format_exc())
        self.result.seconds = time.monotonic() - began
        if not self.result.wrong:
            shutil.rmtree(folder)
        else:
            self.result.figures["what was written is in"] = folder
        self.tell()

    def tell(self) -> None:
        for what in self.result.wrong:
            print(f"# {self.name_of}: {what}", flush=True)
        figures = "; ".join(f"{name}: {figure}" for name, figure in self.result.figures.items())
        print(f"# {self.name_of}: {self.result.seconds:.0f} s; {figures}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("distrun")
    parser.add_argument("crowd")
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []])
    parser.add_argument("--time", type=float, default=3600)
    parser.add_argument("--to", default="build-soak")
    asked = parser.parse_intermixed_args()
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        print("1..0 # SKIP it needs root, on x86-64")
        return 0
    programs = {name: os.path.realpath(getattr(asked, name)) for name in ("distinit", "distrun", "crowd")}
    runs = [Run(name, programs, asked.time) for name in asked.scenarios or SCENARIOS]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    folder = Path(asked.to)
    folder.mkdir(parents=True, exist_ok=True)
    path = report.write([run.result for run in runs], folder)
    print(f"# {path}\n1..{len(runs)}")
    for number, run in enumerate(runs, 1):
        skipped = f" # SKIP {run.result.skipped}" if run.result.skipped else ""
        print(f"{'not ok' if run.result.wrong else 'ok'} {number} - soak: {run.result.about}{skipped}")
    return any(run.result.wrong for run in runs)


if __name__ == "__main__":
    sys.exit(main())
