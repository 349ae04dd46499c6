# SPDX-License-Identifier: Apache-2.0
"""
Runs a program under ptrace: records its system calls, or makes one of them fail. Only x86-64.

The program's own processes are followed until they become another program. A call has an address: the process ("0", and
"0.1" for the first that it makes), the name, and how many of that name came before it in that process.
"""

import ctypes
import errno
import os
import signal
import time
from typing import Any, Callable, Mapping, NamedTuple, Optional

import syscalls

TRACEME, CONT, SYSCALL, GETREGS, SETREGS, DETACH, SETOPTIONS, EVENTMSG, CALLINFO = 0, 7, 24, 12, 13, 17, 0x4200, 0x4201, 0x420E
# System calls, fork, vfork, clone and exec stop it; it dies with us.
OPTIONS = 1 | 2 | 4 | 8 | 16 | 0x100000
FORKS, EXEC = (1, 2, 3), 4
WALL, NEW_PIDS = 0x40000000, 0x20000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
    ).split()]


class Call(NamedTuple):
    process: str
    name: str
    nth: int
    arguments: tuple[int, ...]
    result: int
    # What it reads or writes: "pipe", "socket", the same with O_NONBLOCK: "pipe!", "socket!", "file", "other" (a signalfd,
    # a timer, ...); "" for other calls.
    on: str


class Fault(NamedTuple):
    """What happens to one call. kind: error (value: the errno), short, kill-before, kill-after, signal (value: which)."""

    process: str
    name: str
    nth: int
    kind: str
    value: int = 0
    on: str = ""  # only if the call reads or writes that


class Traced(NamedTuple):
    status: Optional[int]  # None: it did not end in time
    calls: list[Call]
    reached: bool
    left: list[str]  # command lines of processes that were left behind
    beside: Optional[int] = None  # the status of the process beside, if it was waited for and ended in time


class Task:
    def __init__(self, label: str) -> None:
        self.label, self.children, self.inside, self.fresh = label, 0, False, False
        self.counts: dict[str, int] = {}
        self.current: Optional[tuple[str, int, tuple[int, ...]]] = None


def ptrace(request: int, pid: int, data: Any = 0) -> bool:
    return bool(libc.ptrace(request, pid, None, ctypes.cast(data, ctypes.c_void_p) if not isinstance(data, int) else data) == 0)


def is_entry(pid: int) -> bool:
    info = ctypes.create_string_buffer(128)
    libc.ptrace(CALLINFO, pid, len(info), ctypes.cast(info, ctypes.c_void_p))
    return info.raw[0] == 1


def registers(pid: int) -> Optional[Registers]:
    regs = Registers()
    return regs if ptrace(GETREGS, pid, ctypes.byref(regs)) else None


def set_registers(pid: int, regs: Registers) -> None:
    ptrace(SETREGS, pid, ctypes.byref(regs))


def is_done_anyway(fault: Fault) -> bool:
    """Linux closes a descriptor whatever close() says, and goes on connecting after EINTR."""
    return fault.name == "close" or (fault.name, fault.value) == ("connect", errno.EINTR)


def kind_of(pid: int, name: str, arguments: tuple[int, ...]) -> str:
    if name not in syscalls.READ and name not in syscalls.WRITE:
        return ""
    try:
        word = os.readlink(f"/proc/{pid}/fd/{arguments[0]}").split(":")[0]
        with open(f"/proc/{pid}/fdinfo/{arguments[0]}", encoding="ascii") as file:
            waitless = int(file.read().split("flags:")[1].split()[0], 8) & os.O_NONBLOCK
    except OSError:
        return ""
    if word in ("pipe", "socket"):
        return word + ("!" if waitless else "")
    return "file" if word.startswith("/") else "other"


class TimeIsOver(Exception):
    pass


class Tracer:
    options = OPTIONS

    def __init__(self, program: str, fault: Optional[Fault]) -> None:
        self.program, self.fault, self.records = program, fault, not fault
        self.tasks: dict[int, Task] = {}
        self.calls: list[Call] = []
        self.reached = False
        self.unknown: set[int] = set()
        self.beside, self.beside_status = 0, None  # type: int, Optional[int]

    def run(self, program: str, argv: list[str], environment: Mapping[str, str], prepare: Callable[[], None], seconds: float,
            beside: int = 0, beside_seconds: float = 0, as_pid_1: bool = False,
            outsider: Optional[list[str]] = None) -> Traced:
        """beside: a process of ours that is no concern of this one's; wait so long for it then. outsider: what to start in the namespace of PID 1, as ours."""
        self.beside = beside
        ours = os.open("/proc/self/ns/pid", os.O_RDONLY)
        if as_pid_1:
            libc.unshare(NEW_PIDS)
        first = os.fork()
        if first == 0:
            try:
                prepare()
                libc.ptrace(TRACEME, 0, None, None)
                os.kill(os.getpid(), signal.SIGSTOP)
                os.execve(program, argv, environment)
            finally:
                os._exit(99)
        if outsider and os.fork() == 0:
            os.execvp(outsider[0], outsider)
        libc.setns(ours, NEW_PIDS)
        os.close(ours)
        os.waitpid(first, 0)
        ptrace(SETOPTIONS, first, self.options)
        self.tasks[first] = Task("0")
        self.go_on(first)
        status = self.loop(first, time.monotonic() + seconds)
        if status is not None and beside_seconds:
            self.reap(beside_seconds, lambda: self.beside_status is not None)
        return Traced(status, self.calls, self.reached, [] if status is None else self.left_behind(), self.beside_status)

    def loop(self, first: int, deadline: float) -> Optional[int]:
        """Until the first process has ended, and no other is traced."""
        status = None

        def alarm(*_: object) -> None:
            raise TimeIsOver

        signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, max(0.01, deadline - time.monotonic()))
        try:
            while status is None or self.tasks:
                pid, how = os.waitpid(-1, WALL)
                if os.WIFSTOPPED(how):
                    self.stopped(pid, how)
                    continue
                self.ended(pid, how)
                if pid == first:
                    status = os.waitstatus_to_exitcode(how)
        except TimeIsOver:
            status = None
        except ChildProcessError:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if status is None:
            self.end_all(first)
        return status

    def end_all(self, first: int) -> None:
        try:
            os.killpg(first, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for pid in children():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.reap(2.0, lambda: not children())

    def ended(self, pid: int, how: int) -> None:
        self.tasks.pop(pid, None)
        if pid == self.beside:
            self.beside_status = os.waitstatus_to_exitcode(how)

    def others(self) -> list[int]:
        return [pid for pid in children() if pid != self.beside]

    def reap(self, seconds: float, done: Callable[[], bool]) -> None:
        """Reap what ends, until it is done or the time is over."""
        until, pause = time.monotonic() + seconds, 0.0005
        while time.monotonic() < until and not done():
            try:
                pid, how = os.waitpid(-1, os.WNOHANG | WALL)
            except ChildProcessError:
                return
            if pid and not os.WIFSTOPPED(how):
                self.ended(pid, how)
            elif not pid:
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)

    def left_behind(self) -> list[str]:
        """Processes that are still there a moment later. They are ended."""
        self.reap(0.5, lambda: not self.others())
        left = []
        for pid in self.others():
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                left.append(file.read().replace(b"\0", b" ").decode(errors="replace"))
            os.kill(pid, signal.SIGKILL)
        self.reap(2.0, lambda: not self.others())
        return left

    def stopped(self, pid: int, how: int) -> None:
        sig, event = os.WSTOPSIG(how), how >> 16
        if pid not in self.tasks:
            self.unknown.add(pid)  # a new process, which its parent has not told of yet
            return
        task = self.tasks[pid]
        if event in FORKS:
            self.born(pid, task)
        elif event == EXEC:
            try:
                task.inside = os.path.realpath(f"/proc/{pid}/exe") == self.program
            except FileNotFoundError:  # somebody has killed it since
                task.inside = False
            task.current = None
            if not task.inside:
                self.tasks.pop(pid)
                ptrace(DETACH, pid)
                return
        elif sig == signal.SIGTRAP | 0x80:
            self.at_call(pid, task)
        elif sig == signal.SIGSTOP and task.fresh:
            task.fresh = False
        elif event == 0 and sig != signal.SIGTRAP:
            self.go_on(pid, sig)
            return
        self.go_on(pid)

    def go_on(self, pid: int, sig: int = 0) -> None:
        """Stop again at a call only where a fault is still to come: each stop takes time."""
        fault = self.fault
        stops = self.records or (fault and fault.process == self.tasks[pid].label)
        ptrace(SYSCALL if stops else CONT, pid, sig)

    def born(self, pid: int, parent: Task) -> None:
        message = ctypes.c_ulong()
        ptrace(EVENTMSG, pid, ctypes.byref(message))
        parent.children += 1
        child = self.tasks[message.value] = Task(f"{parent.label}.{parent.children}")
        child.inside = parent.inside
        if message.value in self.unknown:
            self.unknown.discard(message.value)
            self.go_on(message.value)
        else:
            child.fresh = True

    def at_call(self, pid: int, task: Task) -> None:
        regs = registers(pid)
        if regs is None or not task.inside:
            return
        if is_entry(pid):
            self.enter(pid, task, regs)
        elif task.current:
            self.leave(pid, task, regs)

    def hit(self, task: Task, name: str, nth: int) -> Optional[Fault]:
        fault = self.fault
        return fault if fault and (fault.process, fault.name, fault.nth) == (task.label, name, nth) else None

    def enter(self, pid: int, task: Task, regs: Registers) -> None:
        name = syscalls.NAMES.get(regs.orig_rax, str(regs.orig_rax))
        nth = task.counts.get(name, 0)
        task.counts[name] = nth + 1
        task.current = (name, nth, (regs.rdi, regs.rsi, regs.rdx, regs.r10))
        fault = self.hit(task, name, nth)
        if not fault:
            return
        if fault.on and kind_of(pid, name, task.current[2]) != fault.on:
            self.fault = None  # this time the calls come in another order
            return
        self.reached = True
        if fault.kind == "error" and not is_done_anyway(fault):
            regs.orig_rax = 2**64 - 1
            set_registers(pid, regs)
        elif fault.kind == "short":
            # The kernel itself does less: what it says is true.
            regs.rdx = min(regs.rdx, fault.value)
            set_registers(pid, regs)
        elif fault.kind == "kill-before":
            os.kill(pid, signal.SIGKILL)
        elif fault.kind == "signal":
            os.kill(pid, fault.value)
        if fault.kind not in ("error", "kill-after"):
            self.fault = None

    def leave(self, pid: int, task: Task, regs: Registers) -> None:
        assert task.current
        name, nth, arguments = task.current
        task.current = None
        fault = self.hit(task, name, nth)
        if fault and fault.kind == "error":
            regs.rax = 2**64 - fault.value
            set_registers(pid, regs)
        elif fault and fault.kind == "kill-after":
            os.kill(pid, signal.SIGKILL)
        self.fault = None if fault else self.fault
        if self.records:
            self.calls.append(Call(task.label, name, nth, arguments, ctypes.c_longlong(regs.rax).value, kind_of(pid, name, arguments)))


def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]
