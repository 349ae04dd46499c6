# SPDX-License-Identifier: Apache-2.0
"""
The scenario "restarts": jobs of fifty nodes with --max-restarts, one after the other, in which programs and nodes are killed at random.

Each start and each end is counted: all nodes take part in each start, once; a node that was killed is replaced, and its replacement
has the others' count; at the end one node gets TERM, and all end because of that. Beside them one small job runs all the time, and its
memory and descriptors may not grow.
"""

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

from room import Room
from watch import MEMORY_SLACK_KB, Result, children_of, fields, until

LIMIT_S = 90
STARTS = 4
ANOTHER = 123
# Who has started, and which start it is.
PROGRAM = 'echo "$PET_NODE_RANK $DISTINIT_RESTART_COUNT" >>"$1"; exec sleep 100000'


class Wrong(Exception):
    """A count or a status is another."""


class Job:
    def __init__(self, distinit: str, room: Room, name: str, size: int, port: int, most: str) -> None:
        self.distinit, self.room, self.name, self.size, self.port, self.most = distinit, room, name, size, port, most
        self.started = Path(room.folder, f"{name}.started")
        self.started.touch()
        self.nodes = [self.node(rank) for rank in range(size)]
        self.wanted: Counter[str] = Counter()
        self.starts = 0
        self.wait()

    def node(self, rank: int) -> "subprocess.Popen[bytes]":
        with open(Path(self.room.folder, f"{self.name}.err"), "ab") as err:
            return subprocess.Popen(self.room.command(
                self.distinit, f"--hosts=h[0-{self.size - 1}]", f"--node-rank={rank}", f"--hostname=h{rank}", "--together", f"--job={self.name}",
                f"--wait={LIMIT_S}s", f"--master-port={self.port}", f"--max-restarts={self.most}", "--", "sh", "-c", PROGRAM, "sh", str(self.started)),
                stdout=subprocess.DEVNULL, stderr=err)

    def wait(self) -> None:
        """Until all have started once more, and nobody twice."""
        self.wanted += Counter(f"{rank} {self.starts}" for rank in range(self.size))
        until(lambda: len(self.started.read_text(encoding="ascii").splitlines()) >= self.wanted.total(), LIMIT_S, 0.02)
        got = Counter(self.started.read_text(encoding="ascii").splitlines())
        if got != self.wanted:
            raise Wrong(f"{self.name}: start {self.starts}: missing {list((self.wanted - got).items())[:5]}, too many {list((got - self.wanted).items())[:5]}")
        self.starts += 1

    def fail(self, rank: int, lost: bool) -> None:
        """The program of a node is killed, or the node, which is replaced."""
        if lost:
            self.nodes[rank].kill()
            self.nodes[rank].wait()
            self.nodes[rank] = self.node(rank)
        else:
            os.kill(children_of(self.nodes[rank].pid)[0], signal.SIGKILL)
        self.wait()

    def end(self, rank: int) -> None:
        self.nodes[rank].send_signal(signal.SIGTERM)
        if not until(lambda: all(node.poll() is not None for node in self.nodes), LIMIT_S):
            raise Wrong(f"{self.name}: not all end: {[node.poll() for node in self.nodes]}")
        got = [node.returncode for node in self.nodes]
        if got != [128 + signal.SIGTERM if i == rank else ANOTHER for i in range(self.size)]:
            raise Wrong(f"{self.name}: the statuses are {got}; node {rank} got TERM")
        self.started.unlink()

    def close(self) -> None:
        for node in self.nodes:
            if node.poll() is None:
                node.kill()
                node.wait()


class Long(threading.Thread):
    """The job that stays."""

    def __init__(self, distinit: str, room: Room) -> None:
        super().__init__()
        self.job = Job(distinit, room, "long", 4, 29700, "unlimited")
        self.over = threading.Event()
        self.random = random.Random(1)
        self.wrong = ""
        # In each start, for the master and a member: KiB of memory that is of no file, and descriptors.
        self.seen: list[list[tuple[int, int]]] = []

    def look(self) -> list[tuple[int, int]]:
        pids = [node.pid for node in self.job.nodes[:2]]
        return [(fields(f"/proc/{pid}/smaps_rollup")["Anonymous"], len(os.listdir(f"/proc/{pid}/fd"))) for pid in pids]

    def run(self) -> None:
        try:
            # Each looks for new processes of its program once a second.
            while not self.over.wait(1.5):
                self.seen.append(self.look())
                self.job.fail(self.random.randrange(4), False)
        except (Wrong, OSError, IndexError) as err:
            self.wrong = str(err)


def soak(programs: dict[str, str], seconds: float, folder: str) -> Result:
    result = Result("restarts", "fifty nodes that start again in place: programs and nodes are killed at random")
    size = 50 if seconds >= 60 else 10
    room = Room(folder, [f"h{i}" for i in range(size)])
    chance = random.Random(1)
    jobs: list[Job] = []
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    long = Long(programs["distinit"], room)
    long.start()
    try:
        while time.monotonic() < end:
            job = Job(programs["distinit"], room, f"job{counts['jobs']}", size, 29800 + counts["jobs"] % 100, str(STARTS - 1))
            jobs = [job]
            for _ in range(STARTS - 1):
                lost = chance.random() < 0.4
                job.fail(chance.randrange(size), lost)
                counts["nodes killed" if lost else "programs killed"] += 1
            job.end(chance.randrange(size))
            counts["jobs"] += 1
            counts["starts of a program"] += job.wanted.total()
    except (Wrong, OSError, IndexError) as err:
        result.wrong.append(str(err))
    finally:
        long.over.set()
        long.join(2 * LIMIT_S)
        for i, title in enumerate(("the master", "a member")):
            kib, files = zip(*(seen[i] for seen in long.seen))
            result.figures[f"{title} of the long job in its second and last start"] = f"{kib[1]} and {kib[-1]} KiB, {files[1]} and {files[-1]} descriptors"
            if kib[-1] > kib[1] + MEMORY_SLACK_KB or files[-1] > files[1]:
                result.wrong.append(f"{title} of the long job grows: KiB {kib}, descriptors {files}")
        if long.wrong:
            result.wrong.append(long.wrong)
        result.figures |= counts
        result.figures["starts of the long job"] = long.job.starts
        for job in [*jobs, long.job]:
            job.close()
        room.close()
    return result
