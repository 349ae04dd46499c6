# SPDX-License-Identifier: Apache-2.0
"""How the benchmark measures a program: by the clock, by its instructions, by its system calls.

A case is a program's path, its arguments and all of its environment. The tools written in C (timer.c,
steps.c) read it from a file; hyperfine and callgrind get it as any program does.
"""

import collections
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "bench"

SMALL = ["-static", "-no-pie", "-Os", "-s", "-fno-asynchronous-unwind-tables",
         "-Wl,-z,noseparate-code", "-Wl,--build-id=none"]  # as distinit itself is linked
TOOLS = {
    "timer": ["gcc", "-O2", "timer.c", "case.c"],
    "steps": ["gcc", "-O2", "steps.c", "case.c"],
    "floor-exec": ["musl-gcc", *SMALL, "floor-exec.c"],
    "stampede": ["gcc", "-O2", "-I", ROOT / "src/system", "stampede.c", ROOT / "src/system/net/backoff.c"],
    "floor-wait": ["musl-gcc", *SMALL, "floor-wait.c"],
    "load": ["gcc", "-O2", "load.c"],
    "bare": ["gcc", *SMALL, "-nostdlib", "-ffreestanding", "bare.c"],
}

CANNOT_RUN = "/nonexistent/workload"

Timing = collections.namedtuple("Timing", "runs median p10 p90")


class Failed(Exception):
    """Something could not be measured; says what."""


def private(pid: int) -> int:
    """The memory that process @pid has written to, in KiB; 0: it is not there."""
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(re.search(r"Private_Dirty: +(\d+)", text)[1])


class Case:
    def __init__(self, argv, env):
        self.argv = [str(word) for word in argv]
        self.env = env

    def write(self, path):
        strings = [*self.argv, "", *(f"{name}={value}" for name, value in self.env.items())]
        path.write_bytes(b"".join(text.encode() + b"\0" for text in strings))
        return path

    def with_workload(self, *workload):
        """The same, but for the last argument."""
        return Case([*self.argv[:-1], *workload], self.env)


def output_of(argv, what, **options):
    """A program's standard output; what it says on standard error only if it fails."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{what}: {(done.stderr.strip() or f'exit status {done.returncode}').splitlines()[-1]}")
    return done.stdout


def build_tools():
    BUILD.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in [*HERE.glob("*.[ch]"), *ROOT.glob("src/system/net/backoff.[ch]"), HERE / "measure.py"])
    for name, (compiler, *rest) in TOOLS.items():
        if (BUILD / name).exists() and (BUILD / name).stat().st_mtime > newest:
            continue
        command = [compiler, "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-o", BUILD / name, *rest]
        output_of(command, f"compiling {name}", cwd=HERE)


class Bench:
    """The tools, set to how long it may take, and the folder for what they read."""

    def __init__(self, rounds, budget_s, scratch):
        self.rounds = rounds
        self.budget_s = budget_s  # for one command in one table
        self.scratch = scratch
        self.cpu = max(os.sched_getaffinity(0))

    # --- the clock ------------------------------------------------------------------------------

    def run_timer(self, rounds, arguments):
        lines = output_of([BUILD / "timer", "-c", str(self.cpu), str(rounds), *arguments], "timer").splitlines()
        return [Timing(*(int(word) if i == 0 else int(word) / 1000 for i, word in enumerate(line.split())))
                for line in lines]

    def time(self, cases):
        """Microseconds that each takes, all of them in turns; {name: Timing}. Slow ones run less often."""
        paths = [case.write(self.scratch / f"{i}.case") for i, case in enumerate(cases.values())]
        arguments = []
        for path, probe in zip(paths, self.run_timer(3, paths)):
            wanted = probe.median * self.rounds / (self.budget_s * 1e6)
            every = max(1, min(int(wanted + 0.99), self.rounds // 5))
            arguments.append(f"{path}:{every}")
        return dict(zip(cases, self.run_timer(self.rounds, arguments)))

    def hyperfine(self, cases, runs, seed=1):
        """Milliseconds that each takes by hyperfine -N; {name: median}.

        It measures one command after the other; so it is asked four times, each time in another order.
        """
        batches = 4
        times = collections.defaultdict(list)
        report = self.scratch / "hyperfine.json"
        order = list(cases)
        draw = random.Random(seed)
        for batch in range(batches):
            draw.shuffle(order)
            for name in order:
                wanted = runs if not times[name] else int(batches * self.budget_s / statistics.median(times[name]))
                count = max(2, min(wanted, runs) // batches) if batch else 3
                output_of(["hyperfine", "-N", "--style=none", "--warmup=1", f"--runs={count}",
                           f"--export-json={report}", shlex.join(cases[name].argv)],
                          f"hyperfine: {name}", env=cases[name].env)
                times[name] += json.loads(report.read_text())["results"][0]["times"]
        return {name: statistics.median(times[name]) * 1000 for name in cases}

    # --- instructions, system calls -------------------------------------------------------------

    def steps(self, case, key, *options):
        path = case.write(self.scratch / f"{key}.case")
        return output_of([BUILD / "steps", *options, path], "steps").split()

    def instructions(self, case, key):
        return int(self.steps(case, key)[0])

    def syscalls(self, case, key):
        """The names of its system calls until it has become the workload, in order."""
        return [syscall_names().get(int(number), number) for number in self.steps(case, key, "-s")]


def callgrind(case, what, ends_with=0):
    """Instructions of a program that comes to its own end: callgrind tells nothing across execve()."""
    if not shutil.which("valgrind"):
        return None
    done = subprocess.run([shutil.which("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", *case.argv],
                          env=case.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != ends_with or not collected:
        raise Failed(f"callgrind: {what}: exit status {done.returncode}")
    return int(collected[1])


def syscall_names():
    """{number: name} of this processor, from the C library's header."""
    if not SYSCALLS:
        defined = output_of(["gcc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], "gcc")
        for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", defined, re.M):
            SYSCALLS[int(number)] = name
    return SYSCALLS


SYSCALLS = {}
