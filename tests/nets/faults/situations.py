# SPDX-License-Identifier: Apache-2.0
"""
Scenarios that need more than a folder: a PID namespace, a reader of the output, limits, files of other users. Each says what
comes out without any fault. To add one, add a row.
"""

import ctypes
import fcntl
import os
import resource
import shutil
import signal
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping

from crew import NEW_MOUNTS, libc
from scenarios import PROBE, SESSION, SHOW, SITE, SRUN, TRAP, Scenario



@dataclass
class Situation(Scenario):
    # The status without any fault, and what else is true of the outcome then.
    status: int = 0
    expects: Callable[[Any], bool] = lambda got: True
    # It is tried without faults only: it takes long, or it is about an error.
    once: bool = False
    # stdout is a pipe, and a child that it has from the start reads it: slowly, and says when it sees the end of file.
    reader: bool = False
    # setrlimit(2): both limits.
    limits: dict[int, int] = field(default_factory=dict)
    # There is no /proc.
    no_proc: bool = False
    # Variables that the environment has a second time.
    twice: dict[str, str] = field(default_factory=dict)
    # Copies of the program, and devices (as /dev/null): name, owner.
    copies: dict[str, int] = field(default_factory=dict)
    devices: dict[str, int] = field(default_factory=dict)
    # A folder that everybody may write to, as /tmp; and one that another process keeps locked.
    sticky: str = ""
    locked: str = ""

    def furnish(self, folder: str, program: str) -> None:
        for name, owner in self.copies.items():
            shutil.copy(program, f"{folder}/{name}")
            os.chown(f"{folder}/{name}", owner, owner)
            os.chmod(f"{folder}/{name}", 0o555)
        for name, owner in self.devices.items():
            os.mknod(f"{folder}/{name}", 0o020666, os.makedev(1, 3))
            os.chown(f"{folder}/{name}", owner, owner)
        if self.sticky:
            os.chmod(f"{folder}/{self.sticky}", 0o1777)

    def enter(self, folder: str) -> None:
        """In the child, before it becomes the program."""
        if self.no_proc and (libc.unshare(NEW_MOUNTS) or libc.mount(b"none", b"/proc", b"tmpfs", 0, None)):
            raise OSError(ctypes.get_errno(), "/proc cannot be hidden")
        if self.reader:
            ours, theirs = os.pipe()
            if os.fork() == 0:
                os.close(theirs)
                read_slowly(ours)
            os.dup2(theirs, 1)
            os.close(ours)
            os.close(theirs)
        if self.locked:
            lock(f"{folder}/{self.locked}")
        for number, limit in self.limits.items():
            resource.setrlimit(number, (limit, limit))

    def is_right(self, got: Any, fails: bool) -> bool:
        return bool(got.status == self.status) and fails == (self.status in (1, 125)) and self.expects(got)

    def is_lost_to_anybody(self, calls: list[Any], call: Any) -> bool:
        """The kernel drops what PID 1 does not wait for. It may not open a file, or wait, before it blocks signals."""
        names = [(one.name, one.nth) for one in calls]
        before = names[:names.index(("rt_sigprocmask", 0)) + 1] if ("rt_sigprocmask", 0) in names else []
        return self.as_pid_1 and (call.name, call.nth) in before and "openat" not in dict(before) and "open" not in dict(before)

    def environment_of(self, environment: dict[str, str]) -> Mapping[str, str]:
        return Twice(environment, self.twice) if self.twice else environment


class Twice(Mapping[str, str]):
    """For execve(): some names come twice."""

    def __init__(self, first: dict[str, str], second: dict[str, str]) -> None:
        self.pairs = [*first.items(), *second.items()]

    def __getitem__(self, name: str) -> str:
        return dict(self.pairs)[name]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self.pairs])

    def keys(self) -> Any:
        return [name for name, _ in self.pairs]

    def values(self) -> Any:
        return [value for _, value in self.pairs]


def read_slowly(ours: int) -> None:
    """TERM does not end it: whoever reads the output of a command has to see all of it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(0.05)
    text = b""
    while piece := os.read(ours, 100):
        text += piece
    os.write(1, text + b"end of file\n")
    os._exit(0)


def lock(path: str) -> None:
    """By a process that stays until we have ended."""
    ready, told = os.pipe()
    parent = os.getpid()
    if os.fork() == 0:
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)
        held = os.open(path, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        os.write(told, b"x")
        while os.getppid() == parent:
            time.sleep(0.1)
        os._exit(0)
    os.read(ready, 1)
    os.close(ready)
    os.close(told)


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def alone(text: str) -> str:
    """Its reader may see the end of an output that is empty."""
    return text.removeprefix("end of file\n")


LEFTOVERS = ["--init", "--leftovers=end", "--leftovers-grace=60s"]


def forged(result: str) -> dict[str, str]:
    """Files of a site. The pipeline that is measured prints what a probe prints."""
    probe = PROBE.replace('say result "cpus=40', f'say result "{result}"\nsay result "cpus=40')
    return {**SITE, "bin/srun": probe}


ANALYZE = ["analyze", "--runtime=none", "--distinit=none", "--threads=1", "--workers-per-node=1", "--warmup=0", "--seconds=1s", "--", "true"]

SITUATIONS = [
    Situation("pid1", ["--init", "--frameworks=all", "--", *shell(TRAP)], SESSION, as_pid_1=True, status=7, signals=(signal.SIGTERM,), ends=(9,)),
    Situation("pid1-reader", ["--init", "--", *shell("seq 1 300; exit 7")], as_pid_1=True, reader=True, tidy=alone, status=7,
              expects=lambda got: got.out.endswith("300\nend of file\n")),
    Situation("reader", ["--init", "--leftovers=end", "--", *shell("seq 1 300; exit 7")], reader=True, tidy=alone, status=7,
              expects=lambda got: got.out.endswith("300\nend of file\n")),
    # As an open shell of an engine's exec.
    Situation("pid1-outsider", [*LEFTOVERS, "--", *shell("sleep 0.2; exit 7")], as_pid_1=True, outsider=shell("trap '' TERM; sleep 100"),
              status=7, once=True, seconds=20),
    # Who is reaped later has the number of the command.
    Situation("pid1-number-again", ["--init", "--", *shell(
        "(trap '' TERM; sleep 0.05; echo 1 >/proc/sys/kernel/ns_last_pid; sh -c 'exit 3' & exec sleep 0.1) & exit 7")], as_pid_1=True, status=7),
    Situation("pid1-listen", ["--init", "--", *SHOW], {"LISTEN_PID": "1", "LISTEN_FDS": "0"}, as_pid_1=True, twice={"LISTEN_PID": "1"},
              expects=lambda got: got.out.count("LISTEN_PID=2\0") == 2 and "\0\0" not in got.out),
    # TERM comes while leftovers are waited for.
    Situation("leftovers-term", [*LEFTOVERS, "--", *shell("(trap '' TERM; sleep 0.3; kill -TERM $PPID; exec sleep 100) & exit 7")],
              status=7, once=True, seconds=20),
    Situation("leftovers-unseen", ["--init", "--leftovers=end", "--leftovers-grace=1s", "--", *shell("(exec sleep 100) & exit 7")], status=7,
              no_proc=True, once=True, expects=lambda got: bool(got.traced.left) == ("they are left running" in got.err)),
    Situation("daemon", ["--init", "--", *shell("(exec sleep 100) & exit 7")], status=7, once=True,
              expects=lambda got: bool(got.traced.left)),
    # A program that answers INT, and one that saves for long after TERM.
    Situation("interrupt", ["--init", "--grace=200ms", "--", *shell("trap '' INT; kill -INT $PPID; sleep 1; exit 7")], status=7, once=True),
    Situation("saves", ["--init", "--", *shell("trap 'sleep 6; exit 9' TERM; kill -TERM $PPID; sleep 1 & wait $!; exit 7")], status=9, once=True),
    Situation("env-onto-device", ["env", "--output=null"], SESSION, devices={"null": 0}, expects=lambda got: "null" not in got.after),
    Situation("env-onto-fifo", ["env", "--output=fifo"], SESSION, fifo="fifo", expects=lambda got: b"PET_" in got.after["fifo"][1]),
    Situation("squeue-endless", ["where"], {"SLURM_JOB_ID": "12", "SLURM_STEP_ID": "3"}, "distrun", once=True,
              files={"bin/squeue": "#!/bin/sh\nexec yes\n"}, limits={resource.RLIMIT_AS: 1 << 26},
              expects=lambda got: "squeue printed more than a megabyte" in got.out),
    Situation("analyze-forged-unit", ANALYZE, {}, "distrun", once=True, expects=lambda got: " 20.0" in got.out,
              files=forged("unit=77 cpus=40 memory_total=10737418240 span_ms=1000 looks=10 rate=20000 cpu_ms=900 memory=1048576")),
    Situation("analyze-forged-rate", ANALYZE, {}, "distrun", status=1, once=True, expects=lambda got: "no lines on stdout" in got.out,
              files=forged("cpus=0 memory_total=0 span_ms=0 looks=0 rate=0 cpu_ms=0 memory=0")),
    Situation("clear", ["--clear=/proc/self/cwd/shm/nccl-*", "--cluster=none", "--", *SHOW], files={"shm/nccl-1": "", "shm/nccl-2": "", "shm/other": ""},
              sticky="shm", expects=lambda got: "shm/other" in got.after and not [name for name in got.after if "nccl" in name]),
    Situation("install-foreign", ["install", "to"], files={"to/other": ""}, copies={"to/distinit": 4321}, sticky="to",
              expects=lambda got: got.owners["to/distinit"] == 0),
    Situation("install-owner", ["install", "to"], files={"to/other": ""}, copies={"to/distinit": 4321},
              expects=lambda got: got.owners["to/distinit"] == 0),
    Situation("install-locked", ["install", "to"], files={"to/other": ""}, locked="to", once=True,
              expects=lambda got: "to/distinit" in got.after),
    Situation("install-folder", ["install", "to"], files={"to/.distinit.new/of-another": ""}, once=True,
              expects=lambda got: "to/distinit" in got.after),
]
