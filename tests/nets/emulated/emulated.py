#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The tests of a build for another processor, by QEMU: the tools are the machine's own, the programs under test are not. As root, as
TAP.

    emulated.py BUILD [SUITE/NAME]...     BUILD: the folder of "./dev build --arch=ARCH", with its tests compiled; "build-": for the
                                          processor OTHER (tools/test.bash chooses it), or arm64

Without names, those in SAME are left out, and on other processors than arm64 those of e2e.

cannot.txt, beside this file, names what cannot work under QEMU. Each name there has to be a test, and a check of a unit test
has to fail: the list does not outlive its reasons.
"""

import argparse
import contextlib
import fnmatch
import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOM = HERE.parents[1] / "programs" / "emulated-room"
LIST = HERE / "cannot.txt"
SUITES = ("unit", "replay", "e2e")

# The machine in an ELF header, and what uname and QEMU call it.
CPUS = {183: "aarch64", 21: "ppc64le", 243: "riscv64", 22: "s390x"}

Test = dict[str, Any]  # as Meson describes it

# These take longest.
FIRST = ("e2e/init", "e2e/wait", "e2e/distrun", "e2e/names", "e2e/install")

# Words in, words out: the same on each processor, as the vectors are, which tests/engines/arm64.bats runs. They take as long as
# all others together.
SAME = ("e2e/analyze", "e2e/bundle", "e2e/csrun", "e2e/directives", "e2e/docs", "e2e/explain", "e2e/frameworks", "e2e/hosts",
        "e2e/options", "e2e/security")

# Not the seconds of the other processor.
SLOWER = 3
OF_ONE_TEST = "200"

# How long the end of the output may take.
PIPE_S = 5


def cpu_of(program: Path) -> str:
    header = program.read_bytes()[:20]
    return CPUS[int.from_bytes(header[18:20], "little" if header[5] == 1 else "big")]


def tests_of(build: Path) -> list[Test]:
    found = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True, stdout=subprocess.PIPE, text=True)
    tests = []
    for test in json.loads(found.stdout):
        test["id"] = test["suite"][0].partition(":")[2] + "/" + test["name"]
        if test["id"].startswith(tuple(suite + "/" for suite in SUITES)):
            tests.append(test)
    return sorted(tests, key=lambda test: (not test["is_parallel"], FIRST.index(test["id"]) if test["id"] in FIRST else len(FIRST)))


def checks_left_out(name: str) -> list[str]:
    """What the list has of a unit test. run-bats reads what it has of a bats file."""
    return [line[len(name) + 3:] for line in LIST.read_text().splitlines() if line.startswith(f"\t{name}: ")]


class Results:
    def __init__(self) -> None:
        self.count = 0
        self.failed = 0

    def say(self, good: bool, name: str, note: str = "") -> None:
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{note}", flush=True)

    def read(self, test: Test, tap: str, status: str) -> None:
        """Print one program's TAP as part of ours, with its name in front."""
        name, plan, ran, failed = test["id"], -1, 0, self.failed
        left = checks_left_out(name) if not name.startswith("e2e/") else []
        for line in tap.splitlines():
            if match := re.match(r"(not )?ok\b\s*\d*\s*(?:- )?(.*)$", line):
                ran += 1
                expected = next((text for text in left if fnmatch.fnmatchcase(match[2], text + "*")), "")
                if match[1] and expected:
                    left.remove(expected)
                    print(f"# left out: {name}: {expected}")
                else:
                    self.say(not match[1], f"{name}: " + re.sub(r"(?: #)? in \d+ ?ms(?=$| #)", "", match[2]))
            elif match := re.match(r"1\.\.(\d+)", line):
                plan = int(match[1])
            elif line:
                print("# " + line.lstrip("# "))
        for text in left:
            self.say(False, f"{name}: {LIST.name} names what does not fail: {text}")
        if plan != ran:
            self.say(False, f"{name}: {status}, and {ran} of {plan} tests")
        elif status != "exit status 0" and self.failed == failed and not checks_left_out(name):
            self.say(False, f"{name}: {status}")


def run_one(build: Path, test: Test) -> tuple[str, str, float]:
    """Its TAP, how it ended, and the seconds."""
    environment = {**os.environ, **test["env"], "LEFT_OUT": str(LIST)}
    if "BATS_TEST_TIMEOUT" in environment:
        environment["BATS_TEST_TIMEOUT"] = OF_ONE_TEST
    began = time.monotonic()
    lines: list[str] = []
    # Not closed: who is left behind may have it, too.
    # pylint: disable-next=consider-using-with
    process = subprocess.Popen(test["cmd"], cwd=build, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    assert process.stdout
    reader = threading.Thread(target=lines.extend, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        status = f"exit status {process.wait(test['timeout'] * SLOWER)}"
    except subprocess.TimeoutExpired:
        status = "it ran out of time"
    reader.join(PIPE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return "".join(lines), status, time.monotonic() - began


def run_all(build: Path, wanted: list[str]) -> int:
    """Inside of the room."""
    results = Results()
    same = SAME if cpu_of(build / "distinit") == "aarch64" else ("e2e/*",)
    tests = [test for test in tests_of(build)
             if (test["id"] in wanted if wanted else not any(fnmatch.fnmatchcase(test["id"], pattern) for pattern in same))]
    beside = [test for test in tests if test["is_parallel"]]
    alone = [test for test in tests if not test["is_parallel"]]
    for group, workers in ((beside, os.cpu_count() or 1), (alone, 1)):
        with ThreadPoolExecutor(workers) as pool:
            for test, (tap, status, seconds) in zip(group, pool.map(lambda test: run_one(build, test), group)):
                results.read(test, tap, status)
                print(f"# {test['id']}: {seconds:.1f} s")
    used = os.times()
    print(f"# processor time: {used.children_user + used.children_system:.0f} s")
    print(f"1..{results.count}")
    return 1 if results.failed or not results.count else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    if build.name == "build-":
        build = build.with_name("build-" + os.environ.get("OTHER", "arm64"))
    if options.inside:
        return run_all(build, options.tests)
    if not (build / "distinit").exists():
        print(f"1..0 # SKIP {build / 'distinit'} is not there (./dev build --arch={build.name.partition('-')[2]})")
        return 0
    cpu = cpu_of(build / "distinit")
    if platform.machine() == cpu:
        print("ok 1 - this machine has the processor: all tests run for it\n1..1")
        return 0
    room = subprocess.run([ROOM, cpu, "true"], stderr=subprocess.PIPE, text=True, check=False)
    if room.returncode == 77:
        print(f"1..0 # SKIP {room.stderr.strip()}")
        return 0
    sys.stdout.flush()
    return subprocess.run([ROOM, cpu, sys.executable, __file__, "--inside", str(build), *options.tests], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
