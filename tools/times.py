# SPDX-License-Identifier: Apache-2.0
"""The time of single tests, of which tally.py tells: bats says it (run-bats)."""

import os
import pathlib
import re
import subprocess

MOST_MS = 5000

# Alone, a test may take longer on a slow machine, as with all limits (test.bash).
MOST_ALONE_MS = MOST_MS * int(os.environ.get("PATIENCE") or 1)

# Reasons, and below each "<tab>SUITE/FILE: NAME" of the tests that may take longer.
EXCEPTIONS = pathlib.Path(__file__).resolve().parents[1] / "tests/slow.txt"

# They start what is no part of this tree, and take its time.
FREE_SUITES = {"engines", "kubernetes", "packages"}

TIMED = re.compile(r"(?:not )?ok \d+ (.*?)(?: #)? in (\d+) ?ms( # skip.*)?$")


def exceptions() -> set[str]:
    return {line[1:] for line in EXCEPTIONS.read_text().splitlines() if line.startswith("\t")}


def suites_of(run: dict) -> list[str]:
    """A name is "distinit:unit / num" or "distinit:e2e+size / static"."""
    return run["name"].partition(" / ")[0].partition(":")[2].split("+")


def times_of(run: dict) -> dict[str, int]:
    """The milliseconds of each test of a program, by "SUITE/FILE: NAME"."""
    file = f"{suites_of(run)[0]}/{run['name'].partition(' / ')[2]}"
    return {f"{file}: {match[1]}": int(match[2])
            for line in (run.get("stdout") or "").splitlines() if (match := TIMED.match(line))}


def stalled_ms() -> int:
    """The milliseconds since boot in which some process of this machine waited for a processor or a disk."""
    pressure = [pathlib.Path(os.environ.get("PRESSURE", "/proc/pressure")) / what for what in ("cpu", "io")]
    return sum(int(path.read_text().split("total=")[1].split()[0]) for path in pressure if path.exists()) // 1000


def alone(run: dict, test: str) -> int:
    """How long this test takes by itself: what other work of the machine takes meanwhile is not its own."""
    name = test.partition(": ")[2]
    # As run-bats has it: not all punctuation is the same in the file and in the name that bats compares.
    pattern = "^" + re.sub(r"[^A-Za-z0-9 ]", ".?", name) + "$"
    before = stalled_ms()
    done = subprocess.run([*run["command"], "--filter", pattern], env={**os.environ, **run.get("env", {})}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    return max(0, times_of({**run, "stdout": done.stdout}).get(test, 1 << 30) - (stalled_ms() - before))


def unknown_exceptions(runs: list[dict]) -> list[str]:
    """The list does not outlive its tests. Of programs that did not run nobody can say."""
    files = {test.partition(": ")[0]: run for run in runs for test in times_of(run)}
    known = {test for run in runs for test in times_of(run)}
    return sorted(test for test in exceptions() - known if test.partition(": ")[0] in files)


def slow(runs: list[dict]) -> list[tuple[dict, str, int]]:
    """The tests that took longer than a single one may, beside others, and may not."""
    return [(run, test, ms) for run in runs if not FREE_SUITES & set(suites_of(run))
            for test, ms in times_of(run).items() if ms > MOST_MS and test not in exceptions()]
