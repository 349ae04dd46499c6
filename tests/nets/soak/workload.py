#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The workload of the scenario "init": it counts its signals, makes orphans, and is the shell of a terminal. What it is told
comes as lines on the descriptor of its argument, and each is answered there with a line of JSON.
"""

import ctypes
import json
import os
import select
import signal
import struct
import sys
import termios
import time
from collections import Counter
from typing import Optional

CONTROL = int(sys.argv[1])
TERMINAL = 0
STATUS = 42
LIBC = ctypes.CDLL(None, use_errno=True)
EVERY = range(1, 65)
# struct signalfd_siginfo: ssi_signo, ssi_errno, ssi_code, ssi_pid; ssi_int.
INFO_BYTES = 128
SI_QUEUE = -1
FIRST_REAL_TIME = 34


def block(how: int, *signals: int) -> None:
    """As pthread_sigmask(), which Python does not let see all signals."""
    mask = sum(1 << (number - 1) for number in signals)
    LIBC.syscall(14, how, ctypes.byref(ctypes.c_uint64(mask)), None, 8)


def leave_as(action: int) -> None:
    """End a child, by a signal or with a status."""
    block(signal.SIG_UNBLOCK, *EVERY)
    if action:
        os.kill(os.getpid(), action)
    os._exit(7)


class Workload:
    def __init__(self) -> None:
        block(signal.SIG_BLOCK, *EVERY)
        # Python's own way would end a job with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        mask = ctypes.c_uint64((1 << 64) - 1)
        self.signals = LIBC.syscall(289, -1, ctypes.byref(mask), 8, os.O_CLOEXEC)
        self.counts: Counter[int] = Counter()
        # The number that comes next, for each real-time signal.
        self.next: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.job = 0
        self.rest = b""
        self.heights: list[int] = []
        self.orphans = 0

    def answer(self, **what: object) -> None:
        os.write(CONTROL, json.dumps(what).encode() + b"\n")

    # --- signals

    def take_signals(self) -> None:
        data = os.read(self.signals, INFO_BYTES * 256)
        for at in range(0, len(data), INFO_BYTES):
            number, _, code = struct.unpack_from("=Iii", data, at)
            value = struct.unpack_from("=i", data, at + 44)[0]
            if number == signal.SIGCHLD:
                self.reap()
                continue
            self.counts[number] += 1
            if number >= FIRST_REAL_TIME:
                if code != SI_QUEUE or value != self.next[number]:
                    self.wrong.append(f"signal {number}: number {value} came (code {code}), and {self.next[number]} was due")
                self.next[number] = value + 1
            elif number == signal.SIGWINCH:
                self.heights.append(os.get_terminal_size(TERMINAL).lines)
            elif number == signal.SIGTERM:
                self.tell_counts()
                sys.exit(STATUS)

    def tell_counts(self) -> None:
        self.answer(counts=self.counts, wrong=self.wrong[:5], heights=self.heights[-1:], orphans=self.orphans)

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.job:
                os.tcsetpgrp(TERMINAL, os.getpgrp())
                if os.WIFSTOPPED(status):
                    self.answer(stopped=os.WSTOPSIG(status))
                else:
                    self.job = 0
                    self.answer(ended=-os.waitstatus_to_exitcode(status))

    # --- orphans

    def orphan(self, index: int, seconds: float) -> None:
        """Four kinds: it is gone before its parent, lives on, is killed, or leaves one more in a session of its own."""
        os.close(CONTROL)
        kind = index % 4
        if kind == 0:
            leave_as(0)
        time.sleep(seconds * (index % 7) / 7)
        if kind == 3:
            os.setsid()
            if os.fork() == 0:
                time.sleep(seconds / 3)
                leave_as(0)
        leave_as((0, 0, signal.SIGKILL, 0)[kind] or (signal.SIGHUP if index % 8 == 1 else 0))

    def do_orphans(self, number: str, seconds: str) -> None:
        """Forked twice: the one between ends at once."""
        between = os.fork()
        if between == 0:
            for index in range(int(number)):
                if os.fork() == 0:
                    self.orphan(index, float(seconds))
            os._exit(0)
        # A quarter leaves one more.
        self.orphans += int(number) + int(number) // 4
        self.answer(orphans=self.orphans)

    # --- the terminal

    def do_job(self) -> None:
        """A job in the foreground."""
        ready, told = os.pipe()
        self.job = os.fork()
        if self.job == 0:
            os.close(CONTROL)
            os.setpgid(0, 0)
            os.tcsetpgrp(TERMINAL, os.getpgrp())
            block(signal.SIG_UNBLOCK, *EVERY)
            os.write(told, b".")
            while True:
                signal.pause()
        os.read(ready, 1)
        os.close(ready)
        os.close(told)
        self.answer(job=self.job)

    def do_fg(self) -> None:
        os.tcsetpgrp(TERMINAL, self.job)
        os.kill(-self.job, signal.SIGCONT)
        self.answer(fg=self.job)

    def do_stoppable(self) -> None:
        """From here on, Ctrl-Z stops us."""
        block(signal.SIG_UNBLOCK, signal.SIGTSTP)
        self.answer(stoppable=True)

    def do_unstoppable(self) -> None:
        block(signal.SIG_BLOCK, signal.SIGTSTP)
        self.answer(stoppable=False, foreground=os.tcgetpgrp(TERMINAL) == os.getpgrp())

    def do_away(self) -> None:
        """Our parent gets the foreground."""
        os.tcsetpgrp(TERMINAL, os.getpgid(1))
        self.answer(away=True)

    def do_back(self) -> None:
        os.tcsetpgrp(TERMINAL, os.getpgrp())
        self.answer(back=True)

    def do_read(self) -> None:
        """Read from the terminal while our parent has it: we are stopped, and get it."""
        os.tcsetpgrp(TERMINAL, os.getpgid(1))
        block(signal.SIG_UNBLOCK, signal.SIGTTIN)
        text = os.read(TERMINAL, 100).decode()
        block(signal.SIG_BLOCK, signal.SIGTTIN)
        self.answer(read=text, foreground=os.tcgetpgrp(TERMINAL) == os.getpgrp())

    # --- the loop

    def obey(self, line: str) -> None:
        word, *words = line.split()
        if word == "counts":
            self.tell_counts()
        else:
            getattr(self, f"do_{word}")(*words)

    def run(self) -> None:
        mode = termios.tcgetattr(TERMINAL)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(TERMINAL, termios.TCSANOW, mode)
        self.answer(pid=os.getpid())
        while True:
            for fd in select.select([self.signals, CONTROL], [], [])[0]:
                if fd == self.signals:
                    self.take_signals()
                    continue
                data = os.read(CONTROL, 65536)
                if not data:
                    sys.exit(3)
                *lines, self.rest = (self.rest + data).split(b"\n")
                for line in lines:
                    self.obey(line.decode())


def main() -> Optional[int]:
    Workload().run()
    return None


if __name__ == "__main__":
    sys.exit(main())
