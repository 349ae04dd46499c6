# SPDX-License-Identifier: Apache-2.0
"""
The scenario "init": distinit --init as PID 1, under a storm of orphans, signals and terminals.

Signals: each real-time signal carries its number, and comes in order, without a gap. Of the others, one at a time comes each time;
of many at once, the kernel merges some, and at least one comes.
"""

import ctypes
import fcntl
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from watch import Result, Watch, children_of, state_of, until

LIBC = ctypes.CDLL(None, use_errno=True)
REAL_TIME = range(34, 65)
# Not those that cannot be caught, what a child says with its end, and the end itself.
ONE_AT_A_TIME = [number for number in range(1, 32) if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGTERM)]
EAGAIN = 11
STATUS = 42
LIMIT_S = 60


class Lost(Exception):
    """Something did not come."""


class Storm:
    def __init__(self, program: str, result: Result, beat: float) -> None:
        self.result, self.beat = result, beat
        self.random = random.Random(1)
        self.sent: Counter[int] = Counter()
        self.merged: Counter[int] = Counter()
        self.done: Counter[str] = Counter()
        self.master, slave = os.openpty()
        ours, theirs = socket.socketpair()
        workload = str(Path(__file__).parent / "workload.py")
        command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "setsid", "--ctty", program, "--init", "--report=/dev/null",
                   "--", sys.executable, workload, str(theirs.fileno())]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        pass_fds=[theirs.fileno()])
        os.close(slave)
        theirs.close()
        self.control = ours.makefile("rw", encoding="utf-8")
        ours.settimeout(LIMIT_S)
        self.shown = b""
        threading.Thread(target=self.drain, daemon=True).start()
        self.hear("pid")
        self.init = children_of(self.process.pid)[0]
        self.workload = children_of(self.init)[0]

    def drain(self) -> None:
        """What the terminal shows."""
        try:
            while data := os.read(self.master, 65536):
                self.shown = (self.shown + data)[-4000:]
        except OSError:
            pass

    def hear(self, word: str) -> dict[str, Any]:
        """The workload's next line, which has to be about that."""
        try:
            line = self.control.readline()
        except (OSError, ValueError) as err:
            raise Lost(f"the workload does not say '{word}': {err}; the terminal shows {self.shown[-300:]!r}") from err
        said: dict[str, Any] = json.loads(line) if line else {}
        if word not in said:
            raise Lost(f"the workload said {said}, and not '{word}'; the terminal shows {self.shown[-300:]!r}")
        return said

    def tell(self, line: str) -> None:
        self.control.write(line + "\n")
        self.control.flush()

    def ask(self, line: str, word: str) -> dict[str, Any]:
        self.tell(line)
        return self.hear(word)

    # --- signals

    def queue(self, number: int) -> None:
        """Send the next of a real-time signal, with its number."""
        info = ctypes.create_string_buffer(128)
        struct.pack_into("=iiii", info, 0, number, 0, -1, 0)
        struct.pack_into("=iiQ", info, 16, os.getpid(), 0, self.sent[number])
        while LIBC.syscall(129, self.init, number, info) < 0:
            if ctypes.get_errno() != EAGAIN:
                raise Lost(f"signal {number} cannot be sent: {os.strerror(ctypes.get_errno())}")
            time.sleep(0.001)
        self.sent[number] += 1

    def kill(self, number: int) -> None:
        os.kill(self.init, number)
        self.sent[number] += 1

    def counts(self) -> Counter[int]:
        said = self.ask("counts", "counts")
        if said["wrong"]:
            raise Lost("; ".join(said["wrong"]))
        return Counter({int(number): count for number, count in said["counts"].items()})

    def settle(self, *numbers: int) -> None:
        """Wait until as many have come as were sent; and no more."""
        end = time.monotonic() + LIMIT_S
        while True:
            got = self.counts()
            if all(got[number] == self.sent[number] for number in numbers):
                return
            if time.monotonic() > end or any(got[number] > self.sent[number] for number in numbers):
                raise Lost("; ".join(f"signal {number}: {self.sent[number]} were sent, {got[number]} came" for number in numbers
                                     if got[number] != self.sent[number]))
            time.sleep(0.005)

    def many_numbered(self) -> None:
        for number in self.random.choices(REAL_TIME, k=self.random.randrange(1, 200)):
            self.queue(number)
        self.settle(*REAL_TIME)

    def each_once(self) -> None:
        for number in ONE_AT_A_TIME:
            self.kill(number)
            if number in (signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
                self.settle(number)  # the one takes the others away
        self.settle(*ONE_AT_A_TIME)

    def merge(self) -> None:
        """Many at once of a signal that the kernel merges: one comes, or more."""
        number = self.random.choice([signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGINT, signal.SIGWINCH])
        before = self.counts()[number]
        for _ in range(30):
            os.kill(self.init, number)
        # The last word is a numbered one; it comes behind those.
        if not until(lambda: self.counts()[number] > before, LIMIT_S):
            raise Lost(f"signal {number}: 30 were sent, none came")
        self.queue(REAL_TIME[0])
        self.settle(REAL_TIME[0])
        time.sleep(0.02)
        after = self.counts()[number]
        if after > before + 30:
            raise Lost(f"signal {number}: 30 were sent, {after - before} came")
        self.merged[number] += 30
        self.sent[number] = after

    # --- orphans, stops

    def orphans(self) -> None:
        self.ask(f"orphans {self.random.randrange(4, 40)} {self.random.random() * 4:.2f}", "orphans")

    def stop(self) -> None:
        """Stopped by STOP, with signals that wait; continued through distinit."""
        os.kill(self.workload, signal.SIGSTOP)
        if not until(lambda: state_of(self.workload) == "T", LIMIT_S):
            raise Lost("the workload does not stop")
        for number in REAL_TIME:
            self.queue(number)
        time.sleep(0.05)
        self.kill(signal.SIGCONT)
        if not until(lambda: state_of(self.workload) not in "TZ", LIMIT_S):
            raise Lost("the workload is not continued")
        self.settle(signal.SIGCONT, *REAL_TIME)

    def suspend(self) -> None:
        """Both are stopped, and distinit is continued: it finds the stop and the CONT at the same time."""
        os.kill(self.init, signal.SIGSTOP)
        os.kill(self.workload, signal.SIGSTOP)
        if not until(lambda: state_of(self.workload) == state_of(self.init) == "T", LIMIT_S):
            raise Lost("distinit and the workload do not stop")
        self.kill(signal.SIGCONT)
        if not until(lambda: state_of(self.workload) not in "TZ", LIMIT_S):
            raise Lost("the workload is not continued after both were stopped")
        self.settle(signal.SIGCONT)

    # --- the terminal

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def resize(self) -> None:
        height = self.random.randrange(20, 200)
        fcntl.ioctl(self.master, termios.TIOCGWINSZ, before := bytearray(8))
        if struct.unpack("HHHH", before)[0] == height:
            return
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, 80, 0, 0))
        self.sent[signal.SIGWINCH] += 1
        self.settle(signal.SIGWINCH)
        got = self.ask("counts", "counts")["heights"]
        if got != [height]:
            raise Lost(f"the terminal is {height} lines high, and the workload saw {got}")

    def job(self) -> None:
        """A job of the workload's: Ctrl-Z, fg, and Ctrl-C. None of these signals is for the workload."""
        self.ask("job", "job")
        for _ in range(2):
            self.type(b"\x1a")
            self.same("what stops the job", signal.SIGTSTP, self.hear("stopped")["stopped"])
            self.ask("fg", "fg")
        self.type(b"\x03")
        self.same("what ends the job", signal.SIGINT, self.hear("ended")["ended"])

    def same(self, what: str, wanted: object, got: object) -> None:
        if wanted != got:
            raise Lost(f"{what} is {got}, and should be {wanted}")

    def stop_key(self) -> None:
        """Ctrl-Z stops the workload itself, which nobody but distinit can continue."""
        self.ask("stoppable", "stoppable")
        self.type(b"\x1a")
        self.sent[signal.SIGCONT] += 1
        self.settle(signal.SIGCONT)
        self.same("the foreground after Ctrl-Z", True, self.ask("unstoppable", "stoppable")["foreground"])

    def away(self) -> None:
        """distinit has the foreground: it forwards what the terminal sends."""
        self.ask("away", "away")
        self.type(b"\x03")
        self.sent[signal.SIGINT] += 1
        self.settle(signal.SIGINT)
        self.resize()
        self.ask("back", "back")

    def read(self) -> None:
        """A background process that reads: distinit gives it the foreground."""
        self.tell("read")
        # What is typed stays in the terminal until somebody reads it.
        self.type(b"line\n")
        said = self.hear("read")
        self.same("what is read", "line\n", said["read"])
        self.same("the foreground after the read", True, said["foreground"])
        got = self.counts()
        # It was continued, once or more, by distinit.
        self.sent[signal.SIGCONT] = got[signal.SIGCONT]

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        always = [self.many_numbered, self.orphans]
        turns = [self.each_once, self.resize, self.job, self.merge, self.stop, self.suspend, self.orphans, self.stop_key, self.away, self.read]
        n = 0
        while time.monotonic() < end:
            for act in [*always, turns[n % len(turns)]]:
                act()
                self.done[act.__name__] += 1
            n += 1
            time.sleep(self.beat)

    def end(self) -> None:
        os.kill(self.init, signal.SIGTERM)
        said = self.hear("counts")
        self.result.figures["orphans made"] = said["orphans"]
        self.result.expect("the exit status", STATUS, self.process.wait(LIMIT_S))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


def soak(programs: dict[str, str], seconds: float, folder: str) -> Result:
    del folder
    result = Result("init", "distinit --init as PID 1, with orphans, signals, stops and a terminal")
    storm = Storm(programs["distinit"], result, min(1.0, max(0.05, seconds / 600)))
    watch = Watch(storm.init, min(5.0, seconds / 200))
    try:
        storm.run(seconds)
        # Those of the orphans that still live end meanwhile.
        watch.stop()
        until(lambda: len(children_of(storm.init)) == 1, LIMIT_S)
        result.expect("the number of its children at the end", 1, len(children_of(storm.init)))
        storm.end()
    except (Lost, OSError) as err:
        result.wrong.append(str(err))
    finally:
        storm.close()
    result.judge("distinit", watch, children=False)
    result.figures.update({
        "numbered signals": sum(storm.sent[number] for number in REAL_TIME),
        "other signals, one at a time": sum(storm.sent[number] for number in ONE_AT_A_TIME),
        "signals of bursts that may merge": sum(storm.merged.values()),
        **{f"times: {name}": count for name, count in storm.done.items()},
    })
    return result
