# SPDX-License-Identifier: Apache-2.0
"""Samples of a process over time, and whether it grows."""

import os
import threading
import time
from statistics import median
from typing import Callable, NamedTuple

# Memory may be larger by so much at the end than after the warm-up: two pages.
MEMORY_SLACK_KB = 8
# A process that has ended is reaped within this time.
ZOMBIE_S = 5.0


class Sample(NamedTuple):
    at: float
    rss: int  # VmRSS, KiB
    private: int  # memory that is of no file, KiB; also while a child shares it
    files: int  # open descriptors
    threads: int
    children: int
    zombies: int


def fields(path: str) -> dict[str, int]:
    """The numbers of a file like /proc/PID/status."""
    out = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, _, rest = line.partition(":")
            words = rest.split()
            if words and words[0].isdigit():
                out[name] = int(words[0])
    return out


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def state_of(pid: int) -> str:
    """The letter of its state; '' if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


class Watch:
    """Samples a process in a thread of its own, until it ends or stop() is called."""

    def __init__(self, pid: int, interval: float) -> None:
        self.pid, self.interval = pid, interval
        self.samples: list[Sample] = []
        self.oldest_zombie = 0.0
        self.seen: dict[int, float] = {}
        self.over = threading.Event()
        self.began = time.monotonic()
        self.cpu = 0.0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def look(self) -> Sample:
        now = time.monotonic()
        children = children_of(self.pid)
        dead = [child for child in children if state_of(child) == "Z"]
        # An age counts from the sample that has seen it first: who is in one sample only has none.
        self.seen = {child: self.seen.get(child, now) for child in dead}
        self.oldest_zombie = max([self.oldest_zombie, *(now - first for first in self.seen.values())])
        status = fields(f"/proc/{self.pid}/status")
        smaps = fields(f"/proc/{self.pid}/smaps_rollup")
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            times = file.read().rpartition(")")[2].split()
        self.cpu = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        return Sample(now - self.began, status["VmRSS"], smaps["Anonymous"], len(os.listdir(f"/proc/{self.pid}/fd")), status["Threads"],
                      len(children) - len(dead), len(dead))

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self.samples.append(self.look())
            except (OSError, KeyError, IndexError):
                return  # it has ended
            self.over.wait(self.interval)

    def stop(self) -> list[Sample]:
        self.over.set()
        self.thread.join()
        return self.samples


def tenth(samples: list[Sample], number: int) -> list[Sample]:
    """The samples of that tenth of the time, from 1."""
    start, length = samples[0].at, (samples[-1].at - samples[0].at) / 10
    return [s for s in samples if length * (number - 1) <= s.at - start <= length * number]


def growth(samples: list[Sample], *, children: bool = True) -> list[str]:
    """
    What has grown, from the second tenth of the time to the last one. Memory: the median. Descriptors, threads and children come
    and go with the load: the least of them, which is what is left when the load has gone. Not @children: the load never goes.
    """
    if len(samples) < 40:
        return [f"only {len(samples)} samples: too few to judge growth"]
    before, after = tenth(samples, 2), tenth(samples, 10)
    out = []
    memory = [median(s.private for s in part) for part in (before, after)]
    if memory[1] > memory[0] + MEMORY_SLACK_KB:
        out.append(f"private memory grew from {memory[0]:.0f} to {memory[1]:.0f} KiB")
    what: list[tuple[str, Callable[[Sample], int]]] = [("descriptors", lambda s: s.files), ("threads", lambda s: s.threads),
                                                      ("children", lambda s: s.children)]
    for name, get in what[: 3 if children else 2]:
        least = [min(map(get, part)) for part in (before, after)]
        if least[1] > least[0]:
            out.append(f"{name}: at least {least[0]} in the second tenth of the time, {least[1]} in the last")
    return out


def zombies(watch: Watch) -> list[str]:
    if watch.oldest_zombie > ZOMBIE_S:
        return [f"a process that has ended was not reaped for {watch.oldest_zombie:.1f} s"]
    return []


def until(condition: Callable[[], object], seconds: float, pause: float = 0.01) -> bool:
    """Wait until it is true. Returns whether it was, within that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


class Result:
    """What a scenario hands to the report."""

    def __init__(self, name: str, about: str) -> None:
        self.name, self.about = name, about
        self.figures: dict[str, object] = {}
        self.wrong: list[str] = []
        # (title, samples)
        self.watched: list[tuple[str, list[Sample]]] = []
        self.seconds = 0.0
        # Why it did not run here.
        self.skipped = ""

    def expect(self, what: str, wanted: object, got: object) -> None:
        if wanted != got:
            self.wrong.append(f"{what} is {got}, and should be {wanted}")

    def judge(self, title: str, watch: Watch, *, children: bool = True) -> None:
        samples = watch.stop()
        self.watched.append((title, samples))
        self.wrong += [f"{title}: {what}" for what in growth(samples, children=children) + zombies(watch)]
        self.figures[f"{title}: its own CPU seconds"] = round(watch.cpu, 2)
        self.figures[f"{title}: oldest zombie, s"] = round(watch.oldest_zombie, 2)
