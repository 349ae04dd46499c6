#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
--max-restarts with PyTorch's torchrun on four nodes (launchers.py): in each round a worker is killed, on each node in turn; then all
start again from the last checkpoint. The result has to be that of a training without failures. As root, as TAP.

    rounds.py DISTINIT [--jobs=N] [--way=WAY]... [--light]

--jobs: so many trainings with a kill on each of the four nodes; 5. The pauses before the starts are then 0, 1, 2 and 4 s. --way: who
starts them again:
    distinit    distinit --max-restarts=4 -- torchrun --max_restarts=0
    direct      distinit --max-restarts=4 -- python3, with the ranks by distinit
    torchrun    torchrun --max_restarts=4 with its own rendezvous (c10d)

--light: a program that imports nothing, so that only those who start it take time.

For each kill: how long until all four train again, without distinit's pause.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Callable

from launchers import NODES, TORCHRUN, Network

STEPS = 400
LIMIT_S = 300
WAYS = ("distinit", "direct", "torchrun")
PAUSES = (0, 1, 2, 4)

# Each node saves, as it would with disks of its own. What all have saved is the last one that counts.
TRAIN = """
import glob, os, time
import torch, torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters
dist.init_process_group("gloo")
rank, steps = dist.get_rank(), int(os.environ["STEPS"])
torch.manual_seed(1)
model = torch.nn.Linear(20, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
saved = torch.tensor(max([-1] + [int(name.split(".")[2]) for name in glob.glob(f"saved.{rank}.*[0-9]")]))
dist.all_reduce(saved, dist.ReduceOp.MIN)
first = saved.item() + 1
if first:
    state = torch.load(f"saved.{rank}.{first - 1}")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
for step in range(first, steps):
    generator = torch.Generator().manual_seed(step * 1000 + rank)
    x, y = torch.randn(32, 20, generator=generator), torch.randn(32, 5, generator=generator)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    # DistributedDataParallel sums in another order after its first step: the last bits would differ.
    sums = parameters_to_vector(p.grad for p in model.parameters())
    dist.all_reduce(sums)
    vector_to_parameters(sums / dist.get_world_size(), (p.grad for p in model.parameters()))
    optimizer.step()
    if step % 10 == 9:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "part.%d" % rank)
        os.rename("part.%d" % rank, f"saved.{rank}.{step}")
    if step == first:
        with open("part.%d" % rank, "w") as file:
            file.write(f"{time.time()} {first} {os.getpid()}")
        os.rename("part.%d" % rank, f"running.{rank}.{os.getpid()}")
    time.sleep(float(os.environ["PAUSE"]))
torch.save(model.state_dict(), "part.%d" % rank)
os.rename("part.%d" % rank, f"result.{rank}")
"""

LIGHT = """
import glob, os, time
rank, steps = int(os.environ["RANK"]), int(os.environ["STEPS"])
first = max([-1] + [int(name.split(".")[2]) for name in glob.glob(f"saved.{rank}.*[0-9]")]) + 1
with open("part.%d" % rank, "w") as file:
    file.write(f"{time.time()} {first} {os.getpid()}")
os.rename("part.%d" % rank, f"running.{rank}.{os.getpid()}")
for step in range(first, steps):
    if step % 10 == 9:
        open(f"saved.{rank}.{step}", "w").close()
    time.sleep(float(os.environ["PAUSE"]))
open(f"result.{rank}", "w").close()
"""

SAME = """
import sys, torch
all_of = [torch.load(name) for name in sys.argv[1:]]
assert all(torch.equal(one[key], all_of[0][key]) for one in all_of for key in all_of[0])
"""


class Wrong(Exception):
    """Something is not as it should be."""


class Training:
    """One job on four nodes."""

    def __init__(self, distinit: str, network: Network, way: str, folder: Path, program: str, pause: float) -> None:
        self.way, self.folder, self.light = way, folder, program == LIGHT
        folder.mkdir()
        Path(folder, "train.py").write_text(program, encoding="utf-8")
        train = [f"PAUSE={pause}", f"STEPS={STEPS}"]
        # With Python 3.11, PyTorch 1.13 needs -r and -t.
        launch = [TORCHRUN, "--nproc_per_node=1", "-r", "1", "-t", "1", "--log_dir", str(folder / "log")]
        hosts = ",".join(f"n{i}" for i in range(NODES))
        self.processes = []
        for i in range(NODES):
            ours = [*train, distinit, f"--hosts={hosts}", f"--node-rank={i}", "--wait=60s", "--job=rounds", "--together=workers", "--max-restarts=4"]
            command = {"distinit": [*ours, "--", *launch, "--max_restarts=0", "train.py"],
                       "direct": [*ours, "--ranks=always", "--", "/usr/bin/python3", "train.py"],
                       "torchrun": [*train, *launch, f"--nnodes={NODES}", "--max_restarts=4", "--monitor_interval=0.1", "--rdzv_backend=c10d", "--rdzv_endpoint=n0:29500",
                                    "--rdzv_id=rounds", "train.py"]}[way]
            self.processes.append(network.start(i, command, folder / f"{i}.err"))

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end or any(process.poll() for process in self.processes):
                said = "".join(f"\n{i}: {line}" for i in range(NODES) for line in Path(self.folder, f"{i}.err").read_text().splitlines()[-15:])
                raise Wrong(f"{what}: statuses {[process.poll() for process in self.processes]}; they said:{said}")
            time.sleep(0.005)

    def all_train(self) -> float:
        """Wait until all four do, after whoever did so before. Returns since when."""
        self.wait(lambda: len(list(self.folder.glob("running.*"))) == NODES, "not all train")
        self.workers, since, first = {}, [], set()
        for path in self.folder.glob("running.*"):
            at, step, _ = path.read_text(encoding="ascii").split()
            since.append(float(at))
            first.add(step)
            self.workers[int(path.name.split(".")[1])] = path
        if (len(first) != 1 and not self.light) or len(self.workers) != NODES:
            raise Wrong(f"they do not start at the same step: {first}")
        self.first = int(first.pop())
        return max(since)

    def kill(self, node: int) -> float:
        """The worker of @node, once there is another checkpoint. Returns how long it took until all trained again."""
        self.wait(lambda: all(list(self.folder.glob(f"saved.{rank}.*")) for rank in range(NODES)), "no checkpoint")
        saved = len(list(self.folder.glob("saved.*")))
        self.wait(lambda: len(list(self.folder.glob("saved.*"))) >= saved + NODES, "no checkpoint more")
        # Its rank may be another than that of its node, under torchrun's own rendezvous.
        inside = self.workers[node].name.split(".")[2]
        for path in self.workers.values():
            path.unlink()
        pid = self.outside(int(inside), node)
        at = time.time()
        os.kill(pid, 9)
        before = self.first
        since = self.all_train() - at
        if self.first <= before and not self.light:
            raise Wrong(f"it began at step {self.first} again")
        return since

    def outside(self, inside: int, rank: int) -> int:
        """The pid of the worker here, whose pid in its container is @inside."""
        for path in Path("/proc").glob("[0-9]*"):
            try:
                pids = re.search(r"^NSpid:\s+(.*)$", (path / "status").read_text(encoding="utf-8"), re.M)
                environ = (path / "environ").read_bytes().split(b"\0")
                if pids and pids[1].split()[-1] == str(inside) and b"RANK=%d" % rank in environ and (path / "cwd").samefile(self.folder):
                    return int(path.name)
            except OSError:
                pass
        raise Wrong(f"there is no worker {inside}")

    def end(self) -> None:
        """Wait until all have ended well."""
        self.wait(lambda: all(process.poll() is not None for process in self.processes), "not all end")
        if self.way == "torchrun":
            return
        for i in range(NODES):
            said = re.findall(r"starting again \((\d) of 4\)", Path(self.folder, f"{i}.err").read_text(encoding="utf-8"))
            if self.kills and said != [str(n + 1) for n in range(self.kills)]:
                raise Wrong(f"node {i} said of its starts: {said}")

    kills = 0
    first = 0
    workers: dict[int, Path] = {}

    def run(self, kills: int) -> list[float]:
        """Returns how long each start took, without the pause."""
        took = []
        try:
            self.all_train()
            for number in range(kills):
                took.append(self.kill(number) - (0 if self.way == "torchrun" else PAUSES[number]))
                self.kills += 1
            self.end()
        finally:
            for process in self.processes:
                process.kill()
                process.wait()
        return took


def same(folders: list[Path], light: bool) -> None:
    """All results of all trainings are the same, bit by bit."""
    results = [str(path) for folder in folders for path in sorted(folder.glob("result.*"))]
    done = subprocess.run(["/usr/bin/python3", "-c", "" if light else SAME, *results], stderr=subprocess.PIPE, text=True)
    if len(results) != NODES * len(folders) or done.returncode:
        raise Wrong(f"the results differ: {done.stderr}")


def rounds(distinit: str, folder: Path, ways: list[str], jobs: int, *, light: bool = False) -> dict[str, list[float]]:
    """Train without failures, and then in each way. Returns how long each start took, in s."""
    network, program = Network(folder), LIGHT if light else TRAIN
    took: dict[str, list[float]] = {way: [] for way in ways}
    try:
        Training(distinit, network, "direct", folder / "whole", program, 0).run(0)
        for number in range(jobs):
            for way in ways:
                done = folder / f"{way}.{number}"
                took[way] += Training(distinit, network, way, done, program, 0.02).run(NODES)
                same([folder / "whole", done], light)
                print(f"# {way}, training {number + 1}: after each kill all trained again in {', '.join(f'{s:.2f}' for s in took[way][-NODES:])} s; "
                      "the result is the same", flush=True)
                shutil.rmtree(done)
    finally:
        network.close()
    return took


def can_run() -> str:
    """Why it cannot run here, or nothing."""
    if os.geteuid() != 0 or not os.path.exists(TORCHRUN):
        return "it needs root, and PyTorch's torchrun"
    if subprocess.run(["/usr/bin/python3", Path(__file__).parents[2] / "tools/demo/libuv.py"]).returncode:
        return "torchrun cannot run, as PyTorch was built without libuv"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit", type=os.path.realpath)
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--light", action="store_true")
    asked = parser.parse_args()
    why = can_run()
    if why:
        print(f"1..0 # SKIP {why}")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="rounds-"))
    try:
        took = rounds(asked.distinit, folder, asked.way or ["distinit"], asked.jobs, light=asked.light)
    except (Wrong, OSError, subprocess.SubprocessError) as err:
        text = str(err).replace("\n", "\n# ")
        print(f"# {text}\n# see {folder}\nnot ok 1 - rounds\n1..1")
        return 1
    for way, times in took.items():
        print(f"# {way}: {len(times)} kills; until all trained again {median(times):.2f} s (median), {min(times):.2f} to {max(times):.2f} s")
    print("ok 1 - rounds: whoever is killed, the result is that of a training without failures\n1..1")
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
