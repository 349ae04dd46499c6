# SPDX-License-Identifier: Apache-2.0
"""The roll call with many members, beside PyTorch's TCPStore with as many clients.

The coordinator is the real program. Its members are tests/rollcall/crowd, one process on the same machine, so both
share the processors. PyTorch's clients are processes. "All told" is from the first connection to the last GO. With --together it is from the first
failure until the last member knows.
"""

import os
import re
import statistics
import subprocess
import sys
import time

from measure import ROOT, Failed, private
from report import number, table

DISTINIT = ROOT / "build" / "distinit"
CROWD = ROOT / "build" / "tests" / "crowd"
SIZES = [2, 256, 1000, 4000, 10000]
STORE_SIZES = [256, 1000, 4000]
TOGETHER_SIZES = [1000, 10000]
PORT = 23471
LIMIT_S = 60

# The clients are processes, as in a job: threads of one Python would wait for each other. They begin at one moment.
STORE = """
import datetime, gc, os, sys, time
from torch.distributed import TCPStore
n, port, role = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
patience = datetime.timedelta(seconds=60)
if role == "master":
    print("here", flush=True)
    TCPStore("127.0.0.1", port, n, True, patience)
    sys.stdin.read()
    os._exit(0)
gc.freeze()
begin, done = os.pipe(), os.pipe()
children = []
for _ in range(n - 1):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(begin[1])
        os.read(begin[0], 1)
        try:
            store = TCPStore("127.0.0.1", port, n, False, patience)
            os.write(done[1], b".")
        finally:
            os._exit(0)
os.close(done[1])
began = time.monotonic()
os.close(begin[1])
here = 0
while part := os.read(done[0], 65536):
    here += len(part)
    over = time.monotonic()
for child in children:
    os.waitpid(child, 0)
if here == n - 1:
    print(f"{(over - began) * 1e3:.1f}", flush=True)
"""


def member(n: int, rank: int, more: list[str]) -> list[str]:
    return [str(DISTINIT), f"--hosts=h[0-{n - 1}]", f"--node-rank={rank}", f"--hostname=h{rank}", f"--master-port={PORT}",
            *more, "--", "true"]


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "MASTER_ADDR": "127.0.0.1", "DISTINIT_JOB": "room"}


def digests_of(n: int, *more: str) -> str:
    """What a member of such a job says of its facts: the crowd says the same."""
    with subprocess.Popen([CROWD, "hear", str(PORT)], stdout=subprocess.PIPE, text=True) as hear:
        with subprocess.Popen(member(n, 1, ["--wait=10s", "--for=all", *more]), env=environment(), stderr=subprocess.DEVNULL) as one:
            out = hear.communicate(timeout=LIMIT_S)[0]
            one.terminate()
    return out.strip()


def resident(pid: int) -> int:
    """The most memory that it has had since its exec, in KiB; 0 before distinit and after it."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return int(found[1]) if found and text.startswith("Name:\tdistinit") else 0


def call(n: int) -> dict[str, float]:
    """One roll call of @n: the crowd's figures, and the coordinator's."""
    digests = digests_of(n)
    coordinator = subprocess.Popen(member(n, 0, ["--wait=30s", "--for=all"]), env=environment(), stderr=subprocess.PIPE)
    crowd = subprocess.Popen([CROWD, "call", str(n - 1), str(PORT), f"--size={n}", f"--digests={digests}"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    rss = 0
    while crowd.poll() is None:
        rss = max(rss, resident(coordinator.pid))
        time.sleep(0.01)
    told = crowd.stdout.read() if crowd.stdout else ""
    said = coordinator.stderr.read() if coordinator.stderr else b""
    _, status, used = os.wait4(coordinator.pid, 0)
    coordinator.returncode = status
    if crowd.returncode or status:
        raise Failed(f"a roll call of {n} failed: {told}{said.decode()}")
    figures = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", told)}
    return {**figures, "coordinator_ms": (used.ru_utime + used.ru_stime) * 1e3, "rss_kib": rss}


def fail(n: int) -> dict[str, float]:
    """@n that stay (--together), of which one fails: until all others know, and the coordinator's memory."""
    digests = digests_of(n, "--together")
    coordinator = subprocess.Popen(member(n, 0, ["--wait=30s", "--together"]), env=environment(), stderr=subprocess.PIPE)
    crowd = subprocess.Popen([CROWD, "call", str(n - 1), str(PORT), "--act=stay", "--fail=500", f"--size={n}", f"--digests={digests}"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    kib = 0
    while crowd.poll() is None:
        kib = private(coordinator.pid) or kib
        time.sleep(0.05)
    told = crowd.stdout.read() if crowd.stdout else ""
    said = coordinator.communicate(timeout=LIMIT_S)[1]
    figures = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", told)}
    if crowd.returncode or coordinator.returncode or figures["end"] != n - 1:
        raise Failed(f"{n} together failed: {told}{said.decode()}")
    return {"told_ms": figures["told_ms"], "private_kib": kib}


def store_once(python: list[str], n: int) -> float | None:
    with subprocess.Popen([*python, str(n), str(PORT + 1), "master"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as master:
        if master.stdout:
            master.stdout.readline()
        clients = subprocess.run([*python, str(n), str(PORT + 1), "client"], capture_output=True, text=True,
                                 timeout=LIMIT_S * 5, check=False)
        if master.stdin:
            master.stdin.close()
        master.kill()
    return float(clients.stdout) if clients.returncode == 0 and clients.stdout else None


def store(n: int, rounds: int) -> float | None:
    """The same number of clients of PyTorch's store: until all are there; the median. None: PyTorch is not there, or failed."""
    python = [sys.executable if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True,
                                               check=False).returncode == 0 else "/usr/bin/python3", "-c", STORE]
    took = [ms for _ in range(rounds) if (ms := store_once(python, n)) is not None]
    return statistics.median(took) if took else None


def pair(more: list[str], rounds: int) -> float:
    """The median time, in ms, of two nodes from start to the end of both programs."""
    took = []
    for _ in range(rounds):
        began = time.monotonic()
        both = [subprocess.Popen(member(2, rank, more), env=environment()) for rank in (0, 1)]
        for one in both:
            if one.wait(timeout=LIMIT_S):
                raise Failed("two nodes did not start")
        took.append((time.monotonic() - began) * 1e3)
    return statistics.median(took)


def section_rollcall(_bench, _rows, result, quick):
    subprocess.run(["ninja", "-C", ROOT / "build", "tests/crowd"], stdout=subprocess.DEVNULL, check=True)
    rounds = 3 if quick else 5
    figures, lines = {}, []
    # First: the kernel keeps the connections of thousands for a minute, and takes longer to bind their port again.
    without, with_it = pair([], 20), pair(["--wait", "--for=all"], 20)
    figures["pair"] = {"without_ms": without, "with_ms": with_it}
    for n in SIZES:
        runs = sorted((call(n) for _ in range(rounds)), key=lambda run: run["wall_ms"])
        best = runs[len(runs) // 2]
        theirs = store(n, rounds if n < 4000 else 1) if n in STORE_SIZES and not (quick and n > 1000) else None
        figures[n] = {**best, "least_ms": runs[0]["wall_ms"], "store_ms": theirs}
        lines.append([number(n), number(best["wall_ms"], 1), number(runs[0]["wall_ms"], 1), number(best["skew_ms"], 1),
                      number(best["coordinator_ms"] * 1e3 / n, 0), number(best["rss_kib"]), number(theirs, 0)])
    table("Roll call: until all are told, ms",
          ["members", "median", "least", "first to last GO", "us CPU each", "KiB", "TCPStore"], lines,
          [f"Two nodes, from start to the end of both programs: {without:.1f} ms without, {with_it:.1f} ms with it "
           f"({with_it - without:+.1f} ms). Coordinator and members share {len(os.sched_getaffinity(0))} processors."])
    figures["together"] = {}
    for n in TOGETHER_SIZES:
        runs = sorted((fail(n) for _ in range(rounds)), key=lambda run: run["told_ms"])
        figures["together"][n] = {**runs[len(runs) // 2], "least_ms": runs[0]["told_ms"]}
    table("Together: from the first failure until all know, ms", ["members", "median", "least", "private KiB"],
          [[number(n), number(f["told_ms"], 1), number(f["least_ms"], 1), number(f["private_kib"])]
           for n, f in figures["together"].items()], [])
    result["rollcall"] = figures


def targets_rollcall(figures, targets):
    for n, goal in {1000: 50, 10000: 300}.items():
        name, limit = f"{n:,} are told of a failure", f"at most {goal} ms"
        if figures and n in figures.get("together", {}):
            least = figures["together"][n]["least_ms"]
            targets.add(name, limit, f"{least:.1f} ms at least", least <= goal)
        else:
            targets.missing(name, limit)
    goals = {256: 15, 1000: 60, 4000: 250, 10000: 1000}
    for n, goal in goals.items():
        name, limit = f"roll call of {n:,}", f"at most {goal} ms"
        if figures and n in figures:
            targets.add(name, limit, f"{figures[n]['wall_ms']:.1f} ms", figures[n]["wall_ms"] <= goal)
        else:
            targets.missing(name, limit)
        if figures and figures.get(n, {}).get("store_ms"):
            ratio = figures[n]["store_ms"] / figures[n]["wall_ms"]
            targets.add(f"TCPStore with {n:,} clients", "at least 10 times as long", f"{ratio:.0f} times", ratio >= 10)
    if figures:
        more = figures["pair"]["with_ms"] - figures["pair"]["without_ms"]
        each, kib = figures[10000]["coordinator_ms"] * 1e3 / 10000, figures[10000]["rss_kib"]
        targets.add("roll call of two", "at most 3 ms more than without", f"{more:.1f} ms", more <= 3)
        targets.add("coordinator of 10,000", "at most 35 us of CPU a member, 6 MiB", f"{each:.0f} us, {kib:.0f} KiB",
                    each <= 35 and kib <= 6144)
