#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Add up the test results of build folders, after "meson test".

    tally.py [--strict=SUITE]... [--times] BUILD...

Lists each failure and each skip with its reason. The last line is "N passed, N failed, N skipped".
Single TAP tests are counted. A program that crashed, timed out or did not complete its plan adds one
failure. A build without tests in its log has failed. --strict: skips in that suite are failures, unless the reason begins with
"this release"; in a program of several suites, if all of them are strict. The exit status is 1 if anything failed, or nothing passed.

A single test may take 5 s, but for those in tests/slow.txt. One that took longer beside the others is named. With
--times one that took more than PATIENCE times 5 s (1, or 3 in CI) runs again, alone, and has failed if it takes so long then, too.

A program that failed has run again, alone, up to twice (meson test --logbase=again-1, again-2): the last run counts. What
passed only then is named as a defect, with its file: a test has to hold on a machine with other work. --failed: print only the
names of the programs whose last run failed.

At the end it says how long each suite ran, and which programs longest.
"""

import argparse
import json
import os
import pathlib
import re
import sys

import times

PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.I)
TEST = re.compile(r"(not )?ok\b\s*\d*\s*(?:- )?(.*)$")
TIMING = re.compile(r"(?: #)? in \d+ ?ms$")  # bats --timing
DIRECTIVE = re.compile(r"^(.*?)(?:^|\s)#\s*(skip|todo)\S*\s*(.*)$", re.I)

PASSED = ("OK", "SKIP", "EXPECTEDFAIL")

SHOWN = 60  # lines of a program that failed


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.again = []

    def skip(self, name, reason, strict):
        reason = reason.strip() or "no reason given"
        if strict and not reason.startswith("this release"):
            self.failed.append((name, "skipped, where nothing may be: " + reason))
        else:
            self.skipped.append((name, reason))


def read_tap(text, name, tally, strict):
    """Count one program's TAP. Returns what is wrong with the program as a whole, or None."""
    plan = None
    ran = 0
    for line in text.splitlines():
        if line.startswith("Bail out!"):
            return line
        if match := PLAN.match(line):
            plan = int(match[1])
            if plan == 0:
                tally.skip(name, match[2] or "", strict)
        elif match := TEST.match(line):
            ran += 1
            count_test(match[1], match[2], name, tally, strict)
    if plan is None:
        return "printed no plan: it did not get to its end"
    if ran != plan:
        return f"planned {plan} tests and ran {ran}"
    return None


def count_test(failed, text, program, tally, strict):
    directive = DIRECTIVE.match(text)
    name = f"{program}: {TIMING.sub('', directive[1] if directive else text)}".rstrip(": ")
    if directive and directive[2].lower() == "skip":
        tally.skip(name, directive[3], strict)
    elif failed and not directive:
        tally.failed.append((name, ""))
    elif failed:
        tally.skip(name, "to do: " + directive[3], False)
    else:
        tally.passed += 1


def count_program(run, build, tally, strict_suites):
    name = f"{build.name}: " + run["name"].partition(":")[2]
    strict = strict_suites.issuperset(times.suites_of(run))
    failures = len(tally.failed)
    wrong = read_tap(run.get("stdout") or "", name, tally, strict)
    code = run.get("returncode", 0)
    if run["result"] in ("TIMEOUT", "INTERRUPT"):
        wrong = "ran out of time"
    elif code < 0 or code > 128:
        wrong = f"ended by signal {-code if code < 0 else code - 128}"
    elif not wrong and code != 0 and len(tally.failed) == failures:
        wrong = f"exit status {code}, though no test of it failed"
    if wrong:
        tally.failed.append((name, wrong))
    if len(tally.failed) > failures:
        show_program(run, name)


def show_program(run, name):
    """Print the output of a failed program, without the tests that passed."""
    lines = [line for line in (run.get("stdout") or "").splitlines() if not re.match(r"ok\b|1\.\.", line)]
    lines += (run.get("stderr") or "").splitlines()
    print(f"--- {name}: {' '.join(run['command'])}")
    for line in lines[:SHOWN]:
        print("    " + line)
    if len(lines) > SHOWN:
        print(f"    ... and {len(lines) - SHOWN} lines more, in meson-logs/testlog.txt")


def read_log(log):
    return [json.loads(line) for line in log.read_text(errors="replace").splitlines()]


def read_times(runs, tally, alone):
    for run, test, ms in times.slow(runs):
        print(f"slow: {test}: {ms / 1000:.1f} s, beside others")
        if alone and ms > times.MOST_ALONE_MS and (ms := times.alone(run, test)) > times.MOST_ALONE_MS:
            tally.failed.append((test, f"{ms / 1000:.1f} s, alone; one that has to take more than {times.MOST_ALONE_MS // 1000} s is in tests/slow.txt"))
    for test in times.unknown_exceptions(runs):
        tally.failed.append((test, "tests/slow.txt names it, and there is no such test"))


def read_again(build):
    """The runs after the first one, in their order, by program."""
    again = {}
    for number in (1, 2):
        log = build / "meson-logs" / f"again-{number}.json"
        for run in read_log(log) if log.exists() else []:
            again.setdefault(run["name"], []).append(run)
    return again


def file_of(run):
    """Where the tests of a program are, to be read by people."""
    name = run["name"].partition(" / ")[2]
    if "unit" in times.suites_of(run):
        return f"tests/unit/test-{name}.c"
    if "replay" in times.suites_of(run):
        return f"tests/fuzz/fuzz-{name}.c"
    files = [word for word in map(os.path.normpath, run["command"]) if "/tests/" in word]
    return "tests/" + files[-1].rpartition("/tests/")[2] if files else name


def read_build(build, tally, strict_suites, alone):
    log = build / "meson-logs" / "testlog.json"
    try:
        runs = read_log(log)
    except OSError as error:
        tally.failed.append((build.name, f"no test log: {error.strerror}: {log}"))
        return
    except json.JSONDecodeError:
        tally.failed.append((build.name, f"the test log breaks off: {log}"))
        return
    if not runs:
        tally.failed.append((build.name, f"the test log is empty: {log}"))
        return
    again = read_again(build)
    for run in runs:
        if run["result"] in PASSED or run["name"] not in again:
            count_program(run, build, tally, strict_suites)
            continue
        first = Tally()
        count_program(run, build, first, strict_suites)
        failures = len(tally.failed)
        count_program(again[run["name"]][-1], build, tally, strict_suites)
        if len(tally.failed) == failures:
            how = "run again, alone" if len(again[run["name"]]) == 1 else "run a third time, alone"
            tally.again += [(file_of(run), f"{name}: {reason}".rstrip(": "), how) for name, reason in first.failed]
    read_times(runs, tally, alone)


def lines_of_c():
    tree = pathlib.Path(__file__).resolve().parents[1]
    return sum(len(path.read_text().splitlines()) for folder in ("src", "cmd") for path in (tree / folder).rglob("*.[ch]"))


def sizes_of(build):
    """The sizes of the programs that are in @build, each with its name."""
    programs = [build / name for name in ("distinit", "distrun")]
    return ", ".join(f"{path.name} {path.stat().st_size:,}" for path in programs if path.exists())


def print_failed(build):
    """The names of the programs that failed, for "meson test"."""
    last = {run["name"]: run for run in read_log(build / "meson-logs" / "testlog.json")}
    last.update({name: runs[-1] for name, runs in read_again(build).items()})
    for name in sorted({name.partition(" / ")[2] for name, run in last.items() if run["result"] not in PASSED}):
        print(name)


def print_times(builds):
    """Where the time goes: many programs run at once, so these are no seconds of a clock on the wall."""
    suites = {}
    programs = []
    for build in builds:
        try:
            runs = read_log(build / "meson-logs" / "testlog.json")
        except (OSError, json.JSONDecodeError):
            continue
        for run in runs:
            suite = f"{build.name} {times.suites_of(run)[0]}"
            suites[suite] = suites.get(suite, 0) + run.get("duration", 0)
            programs.append((run.get("duration", 0), f"{suite}/{run['name'].partition(' / ')[2]}"))
    if programs:
        print("time of all processes:", ", ".join(f"{name} {seconds:.0f} s" for name, seconds in sorted(suites.items(), key=lambda one: -one[1])))
        print("longest:", ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(programs, reverse=True)[:8]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strict", action="append", default=[], metavar="SUITE")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("builds", nargs="+", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--failed", action="store_true")
    options = parser.parse_args()
    if options.failed:
        for build in options.builds:
            print_failed(build)
        return 0

    tally = Tally()
    for build in options.builds:
        read_build(build, tally, set(options.strict), options.times)

    for name, reason in tally.skipped:
        print(f"skipped: {name}: {reason}")
    for file, name, how in tally.again:
        print(f"DEFECT, to mend in {file}: passed only when {how}: {name}")
    for name, reason in tally.failed:
        print(f"FAILED: {name}" + (f": {reason}" if reason else ""))
    print_times(options.builds)
    for build in options.builds:
        if sizes := sizes_of(build):
            print(f"bytes of the programs in {build.name}: {sizes}")
    print(f"{lines_of_c():,} lines of C in src and cmd")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
