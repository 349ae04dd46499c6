#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
--together with PyTorch's torchrun on four nodes: each is a container of its own making, with a network at the end of a cable. One
thing fails, by turns; who is named, with which status, and after how long? As root, as TAP.

    launchers.py DISTINIT [--count=N | --seconds=S] [--within=S] [--seed=S] [--lines=FILE] [CASE]...

--count: how often each case; 20. --seconds: as many as that time has room for, in another order each time. --within: with
--together=workers, all nodes end within so many seconds of the failure; 2. Most of that is torchrun's own end, which takes longer where
all four share a busy machine. --lines: a line of JSON for each trial. CASE: a pattern for the lines of the cases, such as "killed" or "1 worker .*=workers". TERM ends it after the trials of
that moment.

What fails:
    killed     a worker is killed with -9            raise     a worker raises an exception
    memory     a worker takes more memory than its   exit      a worker exits with 1
               node has: the kernel kills it         agent     torchrun is killed with -9
    lost       the cable of a node is pulled         master    that of the master is
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Callable, NamedTuple

NODES = 4
TORCHRUN = "/usr/bin/torchrun"
# What a node may use, where a cgroup for it can be made.
MEMORY = 1_500_000_000
# For what hangs. In CI it is three times as long, as with all limits of time.
LIMIT_S = 100 * float(os.environ.get("PATIENCE") or 1)
ENDED_BY_ANOTHER = 123

# Each worker of the node whose rank is in the file "fail" looks for it.
TRAIN = """
import os, signal, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
node, local = os.environ["GROUP_RANK"], os.environ["LOCAL_RANK"]

def note():
    with open("died", "w") as file:
        file.write(str(time.time()))

def fail(how):
    if how == "memory":
        taken = []
        while True:
            taken.append(bytearray(b"x") * (1 << 25))
            note()
    note()
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "agent":
        os.kill(os.getppid(), signal.SIGKILL)
    elif how == "exit":
        os._exit(1)
    raise RuntimeError("a bad batch")

open(f"here.{node}.{local}", "w").close()
x = torch.ones(1000)
while True:
    dist.all_reduce(x)
    x /= dist.get_world_size()
    if os.path.exists(f"fail.{node}.{local}"):
        fail(open(f"fail.{node}.{local}").read())
    time.sleep(0.02)
"""

# A node is what a container has: names, a network, and a place for it. The switch has the other ends of the cables.
HOLD = """
set -e
mount --make-rprivate /
mount --bind hosts /etc/hosts
ip link set lo up
echo >"ready.$1"
exec sleep infinity
"""


class Case(NamedTuple):
    what: str
    mode: str
    workers: int

    def __str__(self) -> str:
        return f"{self.what}, {self.workers} worker{'s' * (self.workers > 1)} a node, {self.mode}"

    @property
    def loses(self) -> bool:
        return self.what in ("lost", "master")


def all_cases() -> list[Case]:
    modes = {"killed": 2, "memory": 2, "raise": 2, "exit": 2, "agent": 1}
    found = [Case(what, mode, workers) for mode in ("--together=workers", "--together") for what in modes for workers in (1, 2)]
    return found + [Case(what, "--together=workers", 1) for what in ("lost", "master")]


def run(*words: str) -> None:
    subprocess.run(words, check=True)


class Network:
    """A switch, and four nodes at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        Path(folder, "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{i + 1} n{i}\n" for i in range(NODES)), encoding="utf-8")
        self.holders = [self.hold(f"n{i}") for i in range(NODES)]
        self.switch = self.hold("switch")
        self.at_switch("ip", "link", "add", "br0", "type", "bridge")
        self.at_switch("ip", "link", "set", "br0", "up")
        for i, node in enumerate(self.holders):
            self.at_switch("ip", "link", "add", f"port{i}", "type", "veth", "peer", "name", "eth0", "netns", str(node.pid))
            self.at_switch("ip", "link", "set", f"port{i}", "master", "br0", "up")
            run(*self.inside(node), "ip", "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0")
            run(*self.inside(node), "ip", "link", "set", "eth0", "up")
            run(*self.inside(node), "hostname", f"n{i}")
        self.groups = [self.group(i) for i in range(NODES)]

    def hold(self, name: str) -> "subprocess.Popen[bytes]":
        holder = subprocess.Popen(["unshare", "--net", "--mount", "--uts", "sh", "-c", HOLD, "sh", name], cwd=self.folder)
        end = time.monotonic() + 10
        while not Path(self.folder, f"ready.{name}").exists():
            if time.monotonic() > end or holder.poll() is not None:
                raise OSError("no namespaces for networks and mounts can be made here")
            time.sleep(0.01)
        return holder

    @staticmethod
    def inside(node: "subprocess.Popen[bytes]") -> list[str]:
        return ["nsenter", f"--target={node.pid}", "--net", "--mount", "--uts", "--"]

    def at_switch(self, *words: str) -> None:
        run(*self.inside(self.switch), *words)

    def plug(self, node: int, state: str) -> None:
        self.at_switch("ip", "link", "set", f"port{node}", state)

    def group(self, node: int) -> Path | None:
        """A cgroup with a limit of memory; None: there can be none."""
        v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        path = Path("/sys/fs/cgroup" if v2 else "/sys/fs/cgroup/memory", f"distinit-{self.folder.name}-{node}")
        try:
            path.mkdir()
            Path(path, "memory.max" if v2 else "memory.limit_in_bytes").write_text(str(MEMORY), encoding="ascii")
        except OSError:
            return None
        return path

    def start(self, node: int, command: list[str], err: Path) -> "subprocess.Popen[bytes]":
        """Start @command as the first process of its container."""
        group = self.groups[node]
        enter = f"echo $$ >{group}/cgroup.procs; " if group else ""
        with open(err, "wb") as file:
            return subprocess.Popen(
                ["sh", "-c", enter + 'exec "$@"', "sh", *self.inside(self.holders[node]), "unshare", "--pid", "--fork", "--kill-child",
                 "--mount-proc", "env", "-i", "--default-signal", f"--chdir={err.parent}", "PATH=/usr/bin:/bin", "HOME=/root",
                 "GLOO_SOCKET_IFNAME=eth0", "OMP_NUM_THREADS=1", *command], stdout=file, stderr=subprocess.STDOUT)

    def close(self) -> None:
        for holder in [*self.holders, self.switch]:
            holder.kill()
            holder.wait()
        for group in filter(None, self.groups):
            # Those that were killed leave it a little later.
            while Path(group, "cgroup.procs").read_text(encoding="ascii"):
                time.sleep(0.01)
            group.rmdir()


class Trial:
    """One job, and what fails in it."""

    def __init__(self, distinit: str, network: Network, case: Case, folder: Path, rng: random.Random) -> None:
        self.network, self.case, self.folder = network, case, folder
        self.node = 0 if case.what == "master" else rng.randrange(1, NODES) if case.loses else rng.randrange(NODES)
        self.local = rng.randrange(case.workers)
        # Processes are looked for each second: it may happen at any time of that.
        self.pause = rng.random()
        Path(folder, "train.py").write_text(TRAIN, encoding="utf-8")
        # With Python 3.11, PyTorch 1.13 needs -r and -t.
        launcher = [TORCHRUN, f"--nproc_per_node={case.workers}", "--max_restarts=0", "-r", "1", "-t", "1", "--log_dir", str(folder / "log"), "train.py"]
        hosts = ",".join(f"n{i}" for i in range(NODES))
        self.processes = [network.start(i, [distinit, f"--hosts={hosts}", f"--node-rank={i}", "--wait=60s", "--job=trial",
                                            f"--report={folder}/{i}.report", case.mode, "--", *launcher], folder / f"{i}.err") for i in range(NODES)]
        self.ended: list[float] = [0.0] * NODES
        self.at = 0.0

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} in {LIMIT_S} s")
            time.sleep(0.004)

    def all_ended(self) -> bool:
        for i, process in enumerate(self.processes):
            if not self.ended[i] and process.poll() is not None:
                self.ended[i] = time.time()
        return all(self.ended)

    def all_here(self) -> bool:
        if any(process.poll() is not None for process in self.processes):
            raise TimeoutError("a node ended before all had begun")
        return len(list(self.folder.glob("here.*"))) == NODES * self.case.workers

    def happen(self) -> None:
        self.wait(self.all_here, "not all workers began")
        time.sleep(self.pause)
        if self.case.loses:
            self.at = time.time()
            self.network.plug(self.node, "down")
        else:
            Path(self.folder, "whole").write_text(self.case.what, encoding="ascii")
            Path(self.folder, "whole").rename(self.folder / f"fail.{self.node}.{self.local}")
        self.wait(self.all_ended, "not all nodes ended")
        if not self.case.loses:
            self.at = float(Path(self.folder, "died").read_text(encoding="ascii"))

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.case.loses:
            self.network.plug(self.node, "up")

    def named(self) -> list[tuple[int, str]]:
        """Whom each node names, and the sentence."""
        out = []
        for i in range(NODES):
            text = Path(self.folder, f"{i}.err").read_text(encoding="utf-8", errors="replace")
            found = re.search(r"^distinit: (?:warning|error): (n\d \(rank (\d)\) (?:failed first|is lost|was asked to end): .*?); ending", text, re.M)
            out.append((int(found[2]), found[1]) if found else (-1, "nobody is named"))
        return out

    def told(self) -> list[float]:
        """When each node knew, from what happened on."""
        out = []
        for i in range(NODES):
            path = Path(self.folder, f"{i}.report")
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            times = [line["time"] for line in map(json.loads, text.splitlines()) if line["event"] == "together"]
            out += [round(datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() - self.at, 3) for at in times]
        return out

    def line(self) -> dict[str, object]:
        names = self.named()
        return {"case": str(self.case), "node": self.node, "named": [rank for rank, _ in names], "sentence": names[(self.node + 1) % NODES][1],
                "statuses": [process.returncode for process in self.processes], "told": self.told(), "after": [round(ended - self.at, 3) for ended in self.ended]}

    def judge(self, line: dict[str, object]) -> list[str]:
        """What is wrong."""
        killed = self.case.what in ("killed", "memory", "agent")
        status = 128 + signal.SIGKILL if killed else 1
        if self.case.mode == "--together" and self.processes[self.node].returncode == 1:
            # Its torchrun has ended before it was known that its worker was the first: the status is torchrun's own.
            status = status if self.case.what == "agent" else 1
        statuses = [status if i == self.node else ENDED_BY_ANOTHER for i in range(NODES)]
        named = [self.node] * NODES
        if self.case.loses:
            # A node alone sees that the others have gone: a member the master, the master one of the members.
            statuses = [ENDED_BY_ANOTHER] * NODES
            found = line["named"]
            assert isinstance(found, list)
            named[self.node] = found[self.node] if self.node == 0 and found[0] > 0 else 0
        out = []
        if line["named"] != named:
            out.append(f"named are the nodes {line['named']}, and should be {named}")
        if line["statuses"] != statuses:
            out.append(f"the statuses are {line['statuses']}, and should be {statuses}")
        if self.case.what == "memory" and self.network.groups[0] and "lack of memory: 1" not in str(line["sentence"]):
            out.append(f"memory is not told as the reason: {line['sentence']}")
        return out


class Lane(threading.Thread):
    """Trials one after the other, in a network of their own."""

    def __init__(self, asked: argparse.Namespace, cases: list[Case], folder: Path, over: threading.Event) -> None:
        super().__init__()
        self.over = over
        self.asked, self.cases, self.folder = asked, cases, folder
        self.rng = random.Random(f"{asked.seed} {folder.name}")
        self.lines: list[dict[str, object]] = []
        self.failure = ""

    def run(self) -> None:
        end = time.monotonic() + self.asked.seconds if self.asked.seconds else float("inf")
        network = None
        try:
            self.folder.mkdir()
            network = Network(self.folder)
            for number in range(self.asked.count):
                for case in self.rng.sample(self.cases, len(self.cases)):
                    if time.monotonic() < end and not self.over.is_set():
                        self.trial(network, case, self.folder / f"{number}.{self.cases.index(case)}")
        except (OSError, subprocess.SubprocessError, TimeoutError) as err:
            self.failure = str(err)
        finally:
            if network:
                network.close()

    def trial(self, network: Network, case: Case, folder: Path) -> None:
        folder.mkdir()
        trial = Trial(self.asked.distinit, network, case, folder, self.rng)
        wrong = []
        try:
            trial.happen()
        except TimeoutError as err:
            wrong = [str(err)]
        finally:
            trial.close()
        line = trial.line()
        line["wrong"] = wrong or trial.judge(line)
        self.lines.append(line)
        if self.asked.lines:
            with open(self.asked.lines, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        if line["wrong"]:
            print(f"# {json.dumps(line)}; see {folder}", flush=True)
        else:
            shutil.rmtree(folder)


def tell(number: int, case: Case, lines: list[dict[str, object]], within: float) -> bool:
    """The line of a case. Returns whether all is as it should be."""
    right = [line for line in lines if not line["wrong"]]
    told, ended = (sorted(max(times) for line in lines if isinstance(times := line[what], list) and times) for what in ("told", "after"))
    late = case.mode == "--together=workers" and not case.loses and ended[-1] > within
    # Who raises an exception tears its group down before it ends: sometimes another dies first.
    needed = 0.8 if case.what == "raise" else 1
    good = len(right) >= needed * len(lines) and not late
    print(f"{'ok' if good else 'not ok'} {number} - launchers: {case}: {len(right)} of {len(lines)} as they should be")
    for what, times in (("knew", told), ("had ended", ended)):
        if times:
            print(f"# all {what} after {median(times):.1f} s (median), {times[-1]:.1f} s (most)")
    print(f"# {lines[0]['sentence']}", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit", type=os.path.realpath)
    parser.add_argument("cases", nargs="*", default=[""])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--within", type=float, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 16))
    parser.add_argument("--lines", default="")
    asked = parser.parse_intermixed_args()
    if os.geteuid() != 0 or not os.path.exists(TORCHRUN):
        print("1..0 # SKIP it needs root, and PyTorch's torchrun")
        return 0
    if subprocess.run(["/usr/bin/python3", Path(__file__).parents[2] / "tools/demo/libuv.py"]).returncode:
        print("1..0 # SKIP this release's PyTorch was built without libuv, so its torchrun cannot run")
        return 0
    print(f"# --seed={asked.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="launchers-"))
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    chosen = [case for case in all_cases() if any(re.search(pattern, str(case)) for pattern in asked.cases)]
    lanes = [Lane(asked, cases, folder / name, over) for name, cases in (
        ("fail", [case for case in chosen if not case.loses]), ("lose", [case for case in chosen if case.loses])) if cases]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    lines = [line for lane in lanes for line in lane.lines]
    tried = {case: [line for line in lines if line["case"] == str(case)] for case in chosen}
    results = [tell(i, case, of, asked.within) for i, (case, of) in enumerate(((case, of) for case, of in tried.items() if of), 1)]
    for lane in lanes:
        if lane.failure:
            print(f"not ok {len(results) + 1} - launchers: {lane.failure}")
            results.append(False)
    print(f"1..{len(results)}")
    if all(results):
        shutil.rmtree(folder)
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
